//! Why an item keeps its state, and what to do about it.

use urepo::holdings::OriginalError;
use urepo::promotion::PromotionError;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::shell;

impl From<PromotionError> for Failure {
    fn from(error: PromotionError) -> Failure {
        let exit = match &error {
            PromotionError::Damaged { .. } => Exit::Damage,
            PromotionError::Interrupted => Exit::Interrupted,
            PromotionError::GroupFailed => {
                return Failure::of(Exit::Failure, &error).in_common(super::WITH_THE_GROUP);
            }
            PromotionError::Original(OriginalError::Untraced { .. }) => Exit::Conflict,
            PromotionError::Original(_)
            | PromotionError::Collection(_)
            | PromotionError::Disk(_) => {
                return match error {
                    PromotionError::Original(error) => error.into(),
                    PromotionError::Collection(error) => error.into(),
                    PromotionError::Disk(error) => error.into(),
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

fn hint_for(error: &PromotionError) -> Option<String> {
    Some(match error {
        PromotionError::NotACopy { name, .. }
        | PromotionError::NotAnOriginal { name, .. }
        | PromotionError::NoOriginalThere { name, .. } => {
            format!("`urepo whereis {name}` shows which collections hold it")
        }
        PromotionError::Unseen { holder, .. } => format!(
            "if that collection is lost as well, repeat with `--lost {holder}`; if not, name it with \
             `--with`"
        ),
        PromotionError::OfAnother { name } => {
            format!("`urepo show {name}` shows what its sidecar says")
        }
        PromotionError::HandoverOpen { party, .. } => format!(
            "`urepo recover` finishes it; if the other collection is lost, repeat with `--lost {}`",
            party.id()
        ),
        PromotionError::LaterCopy { path, .. } => {
            format!("promote that one: `urepo -c {} promote`", shell::word(path))
        }
        PromotionError::OtherCopy { name, path } => {
            format!("`urepo -c {} verify {name}` says whether it is damaged", shell::word(path))
        }
        PromotionError::Different { .. } => {
            "compare both; `--force different` moves this one to the trash".to_owned()
        }
        PromotionError::Damaged { name, path, .. } => {
            format!("`urepo -c {} repair {name}` mends it from a good copy", shell::word(path))
        }
        PromotionError::SameCollection(_) => {
            "name another collection with `--to-copy-of`".to_owned()
        }
        PromotionError::Original(OriginalError::Untraced { .. }) => {
            "name all collections that may hold it with `--with COLLECTION`; if none does, \
             `--force untraced`"
                .to_owned()
        }
        PromotionError::GroupFailed
        | PromotionError::Interrupted
        | PromotionError::Original(_)
        | PromotionError::Collection(_)
        | PromotionError::Disk(_) => return None,
    })
}
