//! Why an item is not deleted or brought back, and what to do about it.

use std::path::PathBuf;

use urepo::removal::RemovalError;
use urepo::sidecar::Party;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::shell;

impl From<RemovalError> for Failure {
    fn from(error: RemovalError) -> Failure {
        let exit = match &error {
            RemovalError::Original(_) | RemovalError::Collection(_) | RemovalError::Disk(_) => {
                return match error {
                    RemovalError::Original(error) => error.into(),
                    RemovalError::Collection(error) => error.into(),
                    RemovalError::Disk(error) => error.into(),
                    error => Failure::of(Exit::Failure, &error),
                };
            }
            RemovalError::AlreadyDeleted { .. } | RemovalError::NotInTrash { .. } => Exit::Deleted,
            RemovalError::Damaged { .. }
            | RemovalError::TrashDamaged { .. }
            | RemovalError::Intent { .. } => Exit::Damage,
            RemovalError::LastHolding { .. }
            | RemovalError::HandoverOpen { .. }
            | RemovalError::Needed { .. } => Exit::Conflict,
            RemovalError::NotMoved { .. } => Exit::Failure,
            RemovalError::NotDeleted { absence, .. } => super::exit_of(absence),
            RemovalError::Interrupted => Exit::Interrupted,
        };
        let mut failure = Failure::of(exit, &error);
        if let RemovalError::LastHolding { looked_at, .. } = &error {
            for place in looked_at {
                let cause = format!("`{}`: {}", place.path.display(), place.lack);
                failure = failure.caused_by(cause);
            }
        }
        match hint_for(&error) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

/// How to get at the entries of the trash that nothing restores.
pub(crate) fn copied_from_trash(kept: &[PathBuf]) -> Option<String> {
    let entries: Vec<_> = kept.iter().map(shell::word).collect();
    (!entries.is_empty()).then(|| {
        format!("`cp -a {} DIRECTORY` copies what the trash keeps of it", entries.join(" "))
    })
}

fn hint_for(error: &RemovalError) -> Option<String> {
    Some(match error {
        RemovalError::AlreadyDeleted { name } => format!(
            "`urepo show {name}` says when and why; `urepo restore {name}` brings it back \
             until it is purged"
        ),
        RemovalError::LastHolding { looked_at, .. } if looked_at.is_empty() => {
            "name a collection that holds it with `--with COLLECTION`, or delete the last one with \
             `--force last`"
                .to_owned()
        }
        RemovalError::LastHolding { .. } => {
            "name another collection with `--with COLLECTION`, or delete the last one with `--force last`"
                .to_owned()
        }
        RemovalError::HandoverOpen { party: Party::From(id), .. } => {
            format!("`urepo recover` finishes it, in the collection with the id `{id}`")
        }
        RemovalError::HandoverOpen { .. } => "`urepo recover` finishes it".to_owned(),
        RemovalError::Damaged { name, .. } => format!(
            "`urepo verify {name}` says what is wrong; `--force damaged` does it all the same"
        ),
        RemovalError::TrashDamaged { .. } => {
            "`--force damaged` brings it back as it is; nothing was moved".to_owned()
        }
        RemovalError::NotInTrash { kept, .. } => copied_from_trash(kept).unwrap_or_else(|| {
            "it was purged; a Copy elsewhere may still have the files".to_owned()
        }),
        RemovalError::NotDeleted { absence, kept } => {
            let hints = [super::hint_for(absence), copied_from_trash(kept)];
            hints.into_iter().flatten().collect::<Vec<_>>().join("; ")
        }
        RemovalError::Needed { name, .. } => format!(
            "move `doc` from `.urepo/trash` back to where `urepo path {name}` says, and verify it"
        ),
        RemovalError::NotMoved { name, .. } => {
            format!("repeat `urepo delete {name}`, which finishes it")
        }
        RemovalError::Intent { .. } => {
            "look at the items it names, then remove the file".to_owned()
        }
        RemovalError::Interrupted
        | RemovalError::Original(_)
        | RemovalError::Collection(_)
        | RemovalError::Disk(_) => return None,
    })
}
