//! The change lock of a collection: one process at a time changes what the collection has.
//!
//! Everything long comes first and without a lock: reading, staging, syncing what is staged. Under the lock a writer looks
//! again at what its decision rests on, renames, syncs the directories and appends the lines to the ledger; so the ledger
//! has the changes in their order. Readers take no lock: an item is changed in one step, so they find the old or the new
//! one.

use std::time::Duration;

use crate::agent::Agent;
use crate::collection::{Collection, CollectionError};
use crate::disk::{Holder, Lock, LockError, LockMode, PathError};
use crate::layout;
use crate::wait::Waiter;

/// How long a change keeps others waiting, as a rule.
const MOMENT: Duration = Duration::from_secs(1);

/// The change locks of some collections, released on drop.
#[derive(Debug)]
#[must_use = "the collections are locked for as long as this lives"]
pub struct ChangeLocks {
    /// By the ids of the collections.
    locks: Vec<(String, Lock)>,
}

/// Locks `collections`, waiting for each by itself.
///
/// A process locks all that it needs at once, in the order of their ids. So there is no deadlock.
pub fn lock_changes<'c>(
    collections: impl IntoIterator<Item = &'c Collection>,
    agent: &Agent,
    waiter: &Waiter<'_>,
) -> Result<ChangeLocks, CollectionError> {
    lock_changes_with(collections, [], agent, waiter)
}

/// Locks `ours`, and those of `others` that this user may change: the decision rests on what they have.
pub fn lock_changes_with<'c>(
    ours: impl IntoIterator<Item = &'c Collection>,
    others: impl IntoIterator<Item = &'c Collection>,
    agent: &Agent,
    waiter: &Waiter<'_>,
) -> Result<ChangeLocks, CollectionError> {
    let ours = ours.into_iter().map(|collection| (collection, true));
    let others = others.into_iter().map(|collection| (collection, false));
    let mut wanted: Vec<_> = ours.chain(others).collect();
    wanted.sort_by_key(|(collection, is_ours)| (collection.id(), !is_ours));
    wanted.dedup_by_key(|(collection, _)| collection.id());
    let holder = agent.holder(waiter.clock);
    let mut locks = Vec::with_capacity(wanted.len());
    // Nothing is made in a collection that is only looked at.
    wanted.retain(|(collection, is_ours)| *is_ours || !matches!(collection.own(), Ok(None)));
    for (collection, is_ours) in wanted {
        match collection.take_change_lock(&holder, waiter) {
            Ok(lock) => {
                locks.push((collection.id().to_owned(), lock));
                collection.follow_ledger()?;
            }
            Err(LockError::Disk(error)) if !is_ours && (error.is_refusal() || error.is_full()) => {}
            Err(error) => {
                return Err(CollectionError::locked(&collection.settings().name, error));
            }
        }
    }
    Ok(ChangeLocks { locks })
}

impl ChangeLocks {
    /// Whether `collection`, or a clone of it, is locked.
    pub(crate) fn cover(&self, collection: &Collection) -> bool {
        self.locks.iter().any(|(id, _)| id == collection.id())
    }
}

impl Collection {
    fn take_change_lock(&self, holder: &Holder, waiter: &Waiter<'_>) -> Result<Lock, LockError> {
        Lock::take(self.ensure_own()?, layout::CHANGE_LOCK, LockMode::Exclusive, holder, waiter)
    }

    /// Whether no process is changing the collection, at some moment of the next second. A user who may not change the
    /// collection cannot ask.
    pub(crate) fn is_at_rest(&self) -> Result<bool, PathError> {
        let Some(own) = self.own()? else { return Ok(true) };
        let file = match own.open_file_if_there(layout::CHANGE_LOCK) {
            Ok(Some(file)) => file,
            Err(error) if !error.is_refusal() => return Err(error),
            Ok(None) | Err(_) => return Ok(true),
        };
        match Lock::wait_for_file(file, LockMode::Shared, &self.waiter().up_to(MOMENT)) {
            Ok(_) => Ok(true),
            Err(LockError::Disk(error)) => Err(error),
            Err(LockError::Held { .. } | LockError::Interrupted { .. }) => Ok(false),
        }
    }
}
