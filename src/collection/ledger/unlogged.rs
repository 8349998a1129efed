//! Events that change nothing: they are in the ledger where there is room.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::Event;
use crate::collection::Collection;
use crate::disk::PathError;

/// Events that happened and are not in the ledgers of some collections.
#[derive(Debug, Default)]
pub struct Unlogged(Mutex<BTreeMap<PathBuf, Gap>>);

/// Events that are not in the ledger of a collection.
#[derive(Debug)]
pub struct Gap {
    /// Their number.
    pub events: u64,
    /// Why the first of them is missing.
    pub cause: PathError,
}

impl Unlogged {
    fn add(&self, collection: &Path, events: u64, cause: PathError) {
        let mut gaps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let gap = gaps.entry(collection.to_path_buf()).or_insert(Gap { events: 0, cause });
        gap.events += events;
    }

    /// The gaps since the last call, by the roots of the collections.
    pub fn take(&self) -> BTreeMap<PathBuf, Gap> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Collection {
    /// Records `events` that leave every holding as it was, or counts them as left out: a full disk must not make a purge
    /// fail.
    pub(crate) fn note(&self, events: &[Event]) {
        if let Err(error) = self.record(events, self.clock()) {
            self.unlogged.add(self.path(), events.len() as u64, error);
        }
    }

    /// Counts the events that are left out of the ledger in `unlogged`.
    #[must_use]
    pub fn with_unlogged(self, unlogged: Arc<Unlogged>) -> Collection {
        Collection { unlogged, ..self }
    }
}
