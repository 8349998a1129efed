//! Why an item does not become an Original, and what to do about it.

use urepo::holdings::OriginalError;
use urepo::sidecar::Party;

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
                "the identifier is that of this item: `urepo -c {} copy {name} --to COLLECTION` brings a Copy of it; \
                 `urepo whereis {name}` shows its Original",
                shell::word(path)
            )),
            Self::Unopened { .. } => Failure::of(Exit::Conflict, self)
                .hint("mount it, and repeat; if it is lost permanently, `--force missing`"),
            Self::HandoverOpen { party: Party::From(id), .. } => Failure::of(Exit::Conflict, self)
                .hint(super::transfer::finished_from(id, None, None)),
            Self::HandoverOpen { party: Party::To(_), .. } => {
                Failure::of(Exit::Conflict, self).hint(super::transfer::finished_here(None))
            }
            Self::HandedOver { path, giver, .. } => Failure::of(Exit::Conflict, self).hint(format!(
                "{}; if its other side is lost, promote the item in `{}`",
                super::transfer::finished_by(giver),
                path.display()
            )),
            Self::Unreadable { name, path } => Failure::of(Exit::Damage, self).hint(format!(
                "`urepo -c {} verify --quick {name}` says what is wrong",
                shell::word(path)
            )),
            Self::Vanished { name, path } => Failure::of(Exit::Damage, self).hint(format!(
                "`urepo -c {0} repair {name} --from COLLECTION` brings it back from a collection that has it; \
                 `urepo -c {0} recover --inventory` gives it up",
                shell::word(path)
            )),
            Self::Unseen { .. } => Failure::of(Exit::Conflict, self).hint(
                "mount it, and name it with `--with COLLECTION` unless the settings do; if it is lost \
                 permanently, `--force missing`",
            ),
            Self::Untraced { .. } => Failure::of(Exit::Conflict, self).hint(
                "name all collections that may hold it with `--with COLLECTION`; if none does, \
                 `--force missing`",
            ),
            Self::Departed { name, path, .. } => Failure::of(Exit::Conflict, self).hint(format!(
                "`urepo -c {0} recover` ends a migration that was cut short; if the directory was put back by hand, \
                 `urepo -c {0} demote {name} --to-copy-of COLLECTION`; if this is the Original, `urepo -c {0} \
                 recover --inventory` records that",
                shell::word(path)
            )),
            Self::CopyInPlace { path, .. } => Failure::of(Exit::Conflict, self).hint(format!(
                "put the Original back from a backup; if it is lost, `urepo -c {} recover --inventory` accepts the Copy",
                shell::word(path)
            )),
        }
    }
}
