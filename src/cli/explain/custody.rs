//! Refusals by the rule of custody, and what to do about each.

use std::error::Error;

use urepo::custody::Refusal;
use urepo::identity::RepositoryName;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

/// The failure of a change of `name` that the rule refuses with `error`. Where something is wrong with the item, its row of the
/// table of remedies says what to do; the hint stands where nothing is.
pub(super) fn refused(
    error: &(dyn Error + 'static),
    refusal: &Refusal,
    name: &RepositoryName,
) -> Failure {
    let failure = match refusal {
        Refusal::Deleted => {
            return Failure::of(Exit::Deleted, error)
                .hint(format!("`urepo show {name}` says when and why"))
                .in_common(common(refusal));
        }
        Refusal::Damaged { .. } => Failure::of(Exit::Damage, error),
        _ => Failure::of(Exit::Conflict, error),
    };
    let failure = failure.in_common(common(refusal));
    match refusal {
        Refusal::DeletedThere { .. } => {
            failure.hint(format!("`urepo restore {name}` there brings it back first"))
        }
        Refusal::GivesUp { .. } => {
            failure.hint("repeat with `--discard` to give them up").about(name)
        }
        Refusal::HolderUnseen { .. } => {
            failure.hint("mount its collection, or name it with `--with COLLECTION`").about(name)
        }
        Refusal::Copy { .. } | Refusal::Elsewhere { .. } | Refusal::Deleted => {
            failure.elsewhere(name)
        }
        Refusal::Damaged { .. }
        | Refusal::Ceded { .. }
        | Refusal::Newer { .. }
        | Refusal::Fork { .. }
        | Refusal::OriginalBehind { .. } => {
            failure.hint(format!("`urepo status {name}` shows where it is")).about(name)
        }
    }
}

/// The words for many items of one `refusal`.
fn common(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Elsewhere { .. } => "that are elsewhere",
        Refusal::Deleted => "that are deleted",
        Refusal::Damaged { .. } => "that are damaged",
        Refusal::Ceded { .. } => "with an unfinished migration",
        Refusal::Copy { .. } => "that are Copies",
        Refusal::Newer { .. } => "with a newer state elsewhere",
        Refusal::Fork { .. } => "that were changed in two places",
        Refusal::OriginalBehind { .. } => "whose Original is older",
        Refusal::DeletedThere { .. } => "deleted at the destination",
        Refusal::HolderUnseen { .. } => "whose Original was not seen",
        Refusal::GivesUp { .. } => "with other contents elsewhere",
    }
}
