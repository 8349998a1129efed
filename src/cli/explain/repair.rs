//! Errors of repairs as failures.

use urepo::repair::RepairError;

use super::Explain;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

/// The ways on where no collection has good bytes. `item` is its name, or a word for each of several.
pub(crate) fn lost(item: &str) -> String {
    format!(
        "`--from COLLECTION` names more collections; if none has it: `urepo recover --accept-loss {item}`"
    )
}

impl Explain for RepairError {
    fn explain(&self) -> Failure {
        let exit = if self.is_damage() { Exit::Damage } else { Exit::Failure };
        let failure = Failure::of(exit, self);
        match self {
            Self::Collection(error) => error.explain(),
            Self::Disk(error) => error.explain(),
            Self::Lost { name, .. } => failure.hint(lost(name.as_str())),
            Self::NoRecord { name, .. } => failure.hint(format!(
                "`--from COLLECTION` names a collection with a good copy; `urepo repair {name} --accept` takes what \
                 was edited by hand"
            )),
            Self::Outdated { name } => failure
                .hint("`--from COLLECTION` names one with a newer copy; `urepo status ITEM` shows where that is")
                .about(name),
            Self::CustodyDiffers { name } => failure
                .hint("put `[custody]` of the sidecar back as it was, or repair it from a good copy")
                .about(name),
            Self::MoreDiffers { name } => failure
                .hint(format!("`urepo repair {name} --dry-run` shows what; it repairs that"))
                .about(name),
            Self::CopyEdited { name } => failure
                .hint(format!(
                    "`urepo meta set` changes the Original, `urepo repair {name} --from COLLECTION` makes the Copy like it \
                     again"
                ))
                .about(name),
            Self::PerhapsDeleted { name } => failure
                .hint("bring `item.toml` back from a backup; if the item was not deleted, remove the directory and copy it")
                .about(name),
            Self::Deleted { name } => {
                failure.hint("bring `item.toml` back from a backup").about(name)
            }
            Self::Unproven { name } => failure.hint(format!(
                "`urepo show {name}` prints what it says now; `urepo repair {name} --reseal` seals that if it is right"
            )),
            Self::Migrating { name } => failure.hint("`urepo recover` ends it").about(name),
            Self::IbipTaken { .. } => {
                Failure::of(Exit::Conflict, self).hint("remove `ibip` from the edited sidecar, or put its own back")
            }
            Self::LaterFormat { .. } => failure.hint("use that version, or a later one"),
            Self::Unread { .. } => failure.hint(super::REPEAT),
            Self::Changed { .. } => failure.hint("repeat the command when no program writes to it"),
            Self::NotWholeInPlace { .. } => failure
                .hint("check the disk; the old item is in the trash"),
            Self::NotWhole { .. } => failure.hint("check the disk; the item is as it was"),
            Self::Sidecar { .. } => failure,
            Self::Interrupted => Failure::of(Exit::Interrupted, self),
        }
    }
}
