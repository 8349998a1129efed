//! Why an item does not become an Original, and what to do about it.

use urepo::holdings::OriginalError;

use super::Explain;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::shell;

impl Explain for OriginalError {
    fn explain(&self) -> Failure {
        match self {
            Self::Collection(error) => error.explain(),
            Self::Disk(error) => error.explain(),
            Self::Elsewhere { name, path } => Failure::of(Exit::Conflict, self).hint(format!(
                "an item has one Original: `urepo -c {0} copy {name} --to COLLECTION` brings a Copy of it, \
                 `urepo -c {0} migrate {name} --to COLLECTION` the Original itself",
                shell::word(path)
            )),
            Self::Deleted { name, path } => Failure::of(Exit::Conflict, self)
                .hint(format!("`urepo -c {} show {name}` says when and why", shell::word(path))),
            Self::Copied { name, path } => Failure::of(Exit::Conflict, self).hint(format!(
                "the identifier is that of this item: `urepo -c {} copy {name} --to COLLECTION` brings a Copy of it",
                shell::word(path)
            )),
            Self::Unopened { .. } => Failure::of(Exit::Conflict, self)
                .hint("mount it, and repeat; if it is lost permanently, `--force missing`"),
            Self::Unreadable { name, path } => Failure::of(Exit::Damage, self).hint(format!(
                "`urepo -c {} verify --quick {name}` says what is wrong",
                shell::word(path)
            )),
        }
    }
}
