//! Refusals by the rule of custody, and what to do about each.

use std::error::Error;

use urepo::custody::Refusal;
use urepo::identity::RepositoryName;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

/// The failure of a change of `name` that the rule refuses with `error`. `here` is the root of the collection that was to be
/// changed or to give the item, as it is typed.
pub(super) fn refused(
    error: &(dyn Error + 'static),
    refusal: &Refusal,
    name: &RepositoryName,
    here: &str,
) -> Failure {
    let (exit, hint) = match refusal {
        Refusal::Elsewhere { .. } => {
            (Exit::Conflict, format!("`urepo whereis {name}` shows where its Original is"))
        }
        Refusal::Deleted => {
            (Exit::Deleted, format!("`urepo -c {here} show {name}` says when and why"))
        }
        Refusal::Damaged { .. } => (
            Exit::Damage,
            format!(
                "`urepo verify {name}` there says what is wrong, `urepo repair {name}` mends it"
            ),
        ),
        Refusal::Ceded { .. } => {
            (Exit::Conflict, "`urepo recover` there finishes or withdraws it".to_owned())
        }
        Refusal::Copy { .. } => (
            Exit::Conflict,
            format!(
                "`urepo whereis {name}` shows where its Original is; change that, then copy it here"
            ),
        ),
        Refusal::Newer { .. } => (
            Exit::Conflict,
            format!(
                "`urepo whereis {name}` shows it; `urepo -c {here} recover --with COLLECTION` brings this one into line \
                 with it"
            ),
        ),
        Refusal::Fork { .. } => (
            Exit::Conflict,
            format!(
                "the item was changed in two collections: compare them with `urepo show {name}`, and `urepo promote \
                 {name}` in the one whose line goes on"
            ),
        ),
        Refusal::OriginalBehind { .. } => (
            Exit::Conflict,
            format!(
                "`urepo -c HOLDER repair {name} --from {here}` brings it up, if its collection was put back from a backup; if \
                 that is lost, `urepo -c {here} promote {name} --lost HOLDER`"
            ),
        ),
        Refusal::DeletedThere { .. } => {
            (Exit::Conflict, format!("`urepo restore {name}` there brings it back first"))
        }
        Refusal::HolderUnseen { .. } => (
            Exit::Conflict,
            format!(
                "mount its collection, or name it with `--with COLLECTION`; if it is lost permanently, `urepo -c {here} \
                 promote {name} --lost COLLECTION`"
            ),
        ),
        Refusal::GivesUp { .. } => {
            (Exit::Conflict, "repeat with `--discard` to give them up".to_owned())
        }
    };
    Failure::of(exit, error).hint(hint).in_common(common(refusal))
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
        Refusal::Fork { .. } => "that were changed in two collections",
        Refusal::OriginalBehind { .. } => "whose Original is behind",
        Refusal::DeletedThere { .. } => "deleted at the destination",
        Refusal::HolderUnseen { .. } => "whose Original was not seen",
        Refusal::GivesUp { .. } => "with other contents elsewhere",
    }
}
