//! Why an item does not become an Original, and what to do about it.

use urepo::holdings::OriginalError;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::shell;

impl From<OriginalError> for Failure {
    fn from(error: OriginalError) -> Failure {
        let exit = match &error {
            OriginalError::Unreadable { .. } | OriginalError::Vanished { .. } => Exit::Damage,
            OriginalError::Collection(_) | OriginalError::Disk(_) => {
                return match error {
                    OriginalError::Collection(error) => (*error).into(),
                    OriginalError::Disk(error) => error.into(),
                    error => Failure::of(Exit::Failure, &error),
                };
            }
            _ => Exit::Conflict,
        };
        let failure = Failure::of(exit, &error);
        match hint_for(&error) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

fn hint_for(error: &OriginalError) -> Option<String> {
    Some(match error {
        OriginalError::Elsewhere { name, path } => format!(
            "an item has one Original: `urepo -c {0} copy {name} --to COLLECTION` brings a Copy of it, \
             `urepo -c {0} migrate {name} --to COLLECTION` the Original itself",
            shell::word(path)
        ),
        OriginalError::Deleted { name, path } => {
            format!("`urepo -c {} show {name}` says when and why", shell::word(path))
        }
        OriginalError::HandedOver { path, giver, .. } => format!(
            "{}; if its other side is lost, promote the item in `{}`",
            super::transfer::finished_by(giver),
            path.display()
        ),
        OriginalError::Unreadable { name, path } => {
            format!("`urepo -c {} verify --quick {name}` says what is wrong", shell::word(path))
        }
        OriginalError::Vanished { name, path } => format!(
            "`urepo -c {0} repair {name} --from COLLECTION` brings it back from a collection that has it; \
             `urepo -c {0} recover --inventory` gives it up",
            shell::word(path)
        ),
        OriginalError::Unseen { .. } => {
            "mount it, and name it with `--with COLLECTION` unless the \
             settings do; if it is lost permanently, `--force missing`"
                .to_owned()
        }
        OriginalError::Untraced { .. } => "name all collections that may hold it with `--with \
             COLLECTION`; if none does, `--force missing`"
            .to_owned(),
        OriginalError::Departed { name, path, .. } => format!(
            "if its directory was put back by hand, `urepo -c {0} demote {name} --to-copy-of COLLECTION`; if \
             this is the Original, `urepo -c {0} recover --inventory` records that",
            shell::word(path)
        ),
        OriginalError::Collection(_) | OriginalError::Disk(_) => return None,
    })
}
