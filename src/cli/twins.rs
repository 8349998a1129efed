//! Other roots of one collection, such as backups: only one of them goes on.

use urepo::collection::Collection;
use urepo::disk::PathError;

use super::context::Context;
use super::exit::Exit;
use super::failure::Failure;
use super::{Done, shell};

/// Two roots of one collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Twin {
    /// The other one has nothing that this one lacks.
    Backup,
    /// This one has nothing that the other lacks, which has more.
    Ahead,
    /// Both have lines that the other lacks.
    Apart,
}

impl Twin {
    /// The kind of `other`, another root of `this`.
    pub(super) fn of(this: &Collection, other: &Collection) -> Result<Twin, PathError> {
        Ok(if other.is_continued_in(this)? {
            Twin::Backup
        } else if this.is_continued_in(other)? {
            Twin::Ahead
        } else {
            Twin::Apart
        })
    }
}

impl Context {
    /// Makes sure that no other root in the settings goes on in place of `collection`, which is to be changed.
    pub(crate) fn check_twins(&self, collection: &Collection) -> Done {
        let paths = self.config.collections.values().map(|found| found.value.clone());
        let opened = self.open_all(paths.filter(|path| path != collection.path()));
        for twin in opened.into_iter().flatten().filter(|it| it.id() == collection.id()) {
            if collection.has_same_root(&twin)? {
                continue;
            }
            let [here, there] = [collection, &twin].map(|it| shell::word(it.path()));
            let failure = Failure::new(
                Exit::Conflict,
                match Twin::of(collection, &twin)? {
                    Twin::Backup => {
                        self.printer.detail(&format!("`{there}` is a backup of `{here}`"));
                        continue;
                    }
                    Twin::Ahead => format!("`{here}` is a backup of `{there}`, which has gone on"),
                    Twin::Apart => format!(
                        "`{here}` and `{there}` are one collection, and each has changes that the other lacks"
                    ),
                },
            );
            return Err(failure.hint(format!(
                "work in one of them, and leave the other out of the settings; `urepo -c {here} recover --new-id` makes \
                 another collection of this one"
            )));
        }
        Ok(())
    }
}
