//! Errors of repairs as failures.

use urepo::repair::RepairError;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

impl From<RepairError> for Failure {
    fn from(error: RepairError) -> Failure {
        let exit = match &error {
            RepairError::SecondOriginal { .. } => Exit::Conflict,
            RepairError::Interrupted => Exit::Interrupted,
            error if error.is_damage() => Exit::Damage,
            _ => Exit::Failure,
        };
        let hint = match &error {
            RepairError::Lost { .. } => {
                "`--from COLLECTION` names more collections; `--partial` mends the rest"
            }
            RepairError::NoRecord { .. } => {
                "`--from COLLECTION` names a collection with a good copy"
            }
            RepairError::Disagreement { .. } => {
                "name with `--from` only the collection whose copy is right"
            }
            RepairError::StateUnknown { .. } => {
                "name the collection of the Original with `--from`, or say `--state original` or \
                 `--state copy`"
            }
            RepairError::PerhapsDeleted { .. } => {
                "if it was not deleted, say what it was: `--state original` or `--state copy`"
            }
            RepairError::Deleted { .. } => "bring `item.toml` back from a backup",
            RepairError::Handover { .. } => "`urepo recover` finishes it; repair the item then",
            RepairError::SecondOriginal { .. } => "repair it with `--state copy`",
            RepairError::PerhapsElsewhere { .. } => {
                "repair the item there first, or name with `--from` only other collections"
            }
            RepairError::Unconfirmed { .. } => {
                "name a copy with `--from`, or believe it as it is with `--reseal`"
            }
            RepairError::Unproven { .. } => {
                "look at both with `urepo show`; `--reseal` keeps this one as it is, and makes the other \
                 collection's differ from it"
            }
            RepairError::LaterFormat { .. } => "use that version, or a later one",
            RepairError::Changed { .. } => "repeat the command when nobody writes to it",
            RepairError::NotWholeInPlace { .. } => "check the disk; the old item is in the trash",
            RepairError::NotWhole { .. } => "check the disk; the item is as it was",
            RepairError::Sidecar { .. } | RepairError::Interrupted => {
                return Failure::of(exit, &error);
            }
            RepairError::Collection(_) | RepairError::Disk(_) => {
                return match error {
                    RepairError::Collection(error) => error.into(),
                    RepairError::Disk(error) => error.into(),
                    error => Failure::of(exit, &error),
                };
            }
        };
        Failure::of(exit, &error).hint(hint)
    }
}
