//! Errors of repairs as failures.

use urepo::repair::RepairError;

use super::Explain;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::shell;

impl Explain for RepairError {
    fn explain(&self) -> Failure {
        let exit = if self.is_damage() { Exit::Damage } else { Exit::Failure };
        let failure = Failure::of(exit, self);
        match self {
            Self::Collection(error) => error.explain(),
            Self::Disk(error) => error.explain(),
            Self::Lost { .. } => failure
                .hint("`--from COLLECTION` names more collections; `--partial` repairs the rest"),
            Self::NoRecord { .. } => failure
                .hint("`--from COLLECTION` names a collection with a good copy"),
            Self::Disagreement { .. } => failure
                .hint("name with `--from` only the collection whose copy is right"),
            Self::StateUnknown { .. } => failure.hint(
                "name the collection of the Original with `--from`, or say `--state original` or \
                 `--state copy`",
            ),
            Self::PerhapsDeleted { .. } => failure
                .hint("if it was not deleted, say what it was: `--state original` or `--state copy`"),
            Self::Deleted { .. } => failure.hint("bring `item.toml` back from a backup"),
            Self::Handover { .. } => failure
                .hint(super::transfer::finished_here(None) + "; repair the item then"),
            Self::SecondOriginal { .. } => {
                Failure::of(Exit::Conflict, self).hint("repair it with `--state copy`")
            }
            Self::IbipTaken { .. } => {
                Failure::of(Exit::Conflict, self).hint("remove `ibip` from the edited sidecar, or put its own back")
            }
            Self::PerhapsElsewhere { .. } => failure.hint("repair the item there first"),
            Self::LaterElsewhere { name, root } => {
                failure.hint(format!("`urepo repair {name} --from {}`", shell::word(root)))
            }
            Self::Unconfirmed { name } => failure.hint(format!(
                "`--from COLLECTION` names a collection with a good copy; if you edited the sidecar, `urepo meta accept {name}`"
            )),
            Self::Unproven { .. } => failure.hint(
                "look at both with `urepo show`; `--reseal` keeps this one as it is, and makes the other \
                 collection's differ from it",
            ),
            Self::LaterFormat { .. } => failure.hint("use that version, or a later one"),
            Self::Changed { .. } => failure.hint("repeat the command when no program writes to it"),
            Self::NotWholeInPlace { .. } => failure
                .hint("check the disk; the old item is in the trash"),
            Self::NotWhole { .. } => failure.hint("check the disk; the item is as it was"),
            Self::Sidecar { .. } => failure,
            Self::Interrupted => Failure::of(Exit::Interrupted, self),
        }
    }
}
