//! Why an item is not deleted or restored, and what to do about it.

use std::path::PathBuf;

use urepo::removal::RemovalError;

use super::Explain;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::shell;

impl Explain for RemovalError {
    fn explain(&self) -> Failure {
        match self {
            Self::Refused { name, refusal } => super::custody::refused(self, refusal, name),
            Self::Collection(error) => error.explain(),
            Self::Disk(error) => error.explain(),
            Self::AlreadyDeleted { name } => Failure::of(Exit::Deleted, self).hint(format!(
                "`urepo show {name}` says when and why; `urepo restore {name}` brings it back \
                 until it is purged"
            )),
            Self::LastHolding { looked_at, .. } => {
                let which = if looked_at.is_empty() {
                    "name one that does"
                } else {
                    "name another collection"
                };
                let failure = Failure::of(Exit::Conflict, self).hint(format!(
                    "{which} with `--with COLLECTION`, or delete it all the same with `--force last`"
                ));
                looked_at.iter().fold(failure, |failure, place| {
                    failure.caused_by(format!("`{}`: {}", place.path.display(), place.lack))
                })
            }
            Self::Damaged { name, .. } => Failure::of(Exit::Damage, self).hint(format!(
                "`urepo verify {name}` says what is wrong, and what to do; `--force damaged` does it all the same"
            )),
            Self::TrashDamaged { .. } => Failure::of(Exit::Damage, self)
                .hint("`--force damaged` brings it back as it is; nothing was moved"),
            Self::NotInTrash { kept, .. } => Failure::of(Exit::Deleted, self)
                .hint(copied_from_trash(kept).unwrap_or_else(|| {
                    "it was purged; name a collection that has a Copy with `--from`".to_owned()
                })),
            Self::NotDeleted { absence, kept } => {
                let mut failure = absence.explain();
                let hints = [failure.hint.take(), copied_from_trash(kept)];
                failure.hint(hints.into_iter().flatten().collect::<Vec<_>>().join("; "))
            }
            Self::Needed { name, .. } => Failure::of(Exit::Conflict, self).hint(format!(
                "move `doc` from `.urepo/trash` back to where `urepo show --path {name}` says, and verify it"
            )),
            Self::Beside { name } => Failure::of(Exit::Damage, self)
                .hint(format!("`urepo delete {name}` moves them to the trash; then repeat")),
            Self::NotTransferable { .. } => Failure::of(Exit::Conflict, self)
                .hint("it belongs to this collection; `--force permanent` deletes it all the same"),
            Self::Interrupted => Failure::of(Exit::Interrupted, self),
        }
    }
}

/// The hint for entries of the trash that no command restores.
pub(crate) fn copied_from_trash(kept: &[PathBuf]) -> Option<String> {
    let entries: Vec<_> = kept.iter().map(shell::word).collect();
    (!entries.is_empty()).then(|| {
        format!("`cp -a {} DIRECTORY` copies what the trash keeps of it", entries.join(" "))
    })
}
