//! Other roots of one collection, such as backups: only one of them goes on.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use urepo::collection::Collection;
use urepo::disk::{PathError, Watcher};

use super::context::Context;
use super::exit::Exit;
use super::failure::Failure;
use super::{Done, shell};

/// How long a collection of the settings is waited for: its disk may hang.
const LIMIT: Duration = Duration::from_secs(3);

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
        let mut twins = self.in_settings(collection);
        twins.retain(|it| it.id() == collection.id());
        for twin in twins {
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

    /// The collections in the settings, as far as they answer soon.
    fn in_settings(&self, besides: &Collection) -> Vec<Collection> {
        let paths = self.config.collections.values().map(|found| found.value.clone());
        let (send, found) = mpsc::channel();
        for path in paths.filter(|path| path != besides.path()) {
            let send = send.clone();
            // A thread that hangs ends with the process.
            let _ = std::thread::Builder::new().spawn(move || {
                if let Ok(collection) = Collection::open(&path, &Watcher::default()) {
                    let _ = send.send(collection);
                }
            });
        }
        drop(send);
        let (begun, mut collections) = (Instant::now(), Vec::new());
        while let Ok(collection) = found.recv_timeout(LIMIT.saturating_sub(begun.elapsed())) {
            collections.push(collection);
        }
        collections
    }
}
