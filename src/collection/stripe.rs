//! Locks on items: what exists is changed by one process at a time.
//!
//! Items share 256 lock files, the *stripes*, so that a million items need no million locks. Readers
//! take none: an item is changed in one step, so they find it as it was or as it is. Nor do those who
//! make new items, because a name can be taken only once; except of an item that brings its name: the name
//! may have left here, and who publishes it makes sure that it has not.
//!
//! A lock file is made when it is first needed, by who holds the lock on the directory of them all. On a
//! disk that has no room for the file, that lock stands for it: nobody else can make it meanwhile.

use std::time::Duration;

use super::{Collection, CollectionError};
use crate::agent::Agent;
use crate::digest::Digest;
use crate::disk::{Dir, DirLock, Lock, LockError, LockMode, PathError};
use crate::identity::RepositoryName;
use crate::layout;
use crate::wait::Waiter;

/// The locks on some items. Dropping them lets go.
#[derive(Debug)]
#[must_use = "the items are locked for as long as this lives"]
pub struct ItemLocks {
    _locks: Vec<Lock>,
    _directories: Vec<DirLock>,
}

/// Locks all of `items`, waiting for each stripe by itself.
///
/// Every process takes its stripes in the same order, of collection ids and then of stripes, and takes
/// them all at once: so none waits for another in a circle.
pub fn lock_items<'a>(
    items: impl IntoIterator<Item = (&'a Collection, &'a RepositoryName)>,
    agent: &Agent,
    waiter: &Waiter<'_>,
) -> Result<ItemLocks, CollectionError> {
    let mut stripes: Vec<(&Collection, u8)> =
        items.into_iter().map(|(collection, name)| (collection, stripe(name))).collect();
    stripes.sort_by(|a, b| (a.0.id(), a.1).cmp(&(b.0.id(), b.1)));
    stripes.dedup_by(|a, b| (a.0.id(), a.1) == (b.0.id(), b.1));
    let holder = agent.holder(waiter.clock);
    let mut locks = Vec::with_capacity(stripes.len());
    let mut directories = Vec::new();
    for group in stripes.chunk_by(|a, b| a.0.id() == b.0.id()) {
        let Some((collection, _)) = group.first() else { continue };
        let locked = |error| match error {
            LockError::Held { holder, .. } => CollectionError::ItemLocked {
                collection: collection.settings().name.clone(),
                cause: holder,
            },
            error => CollectionError::locked(&collection.settings().name, error),
        };
        let dir = collection.ensure_own()?.ensure_dir(layout::ITEM_LOCKS)?;
        let mut files: Vec<_> = group.iter().map(|(_, stripe)| format!("{stripe:02x}")).collect();
        // Before any of the others is locked: who holds one of these waits for no directory.
        directories.extend(make_missing(&dir, &mut files, waiter).map_err(locked)?);
        for file in files {
            let lock = Lock::take(&dir, &file, LockMode::Exclusive, &holder, waiter);
            locks.push(lock.map_err(locked)?);
        }
    }
    Ok(ItemLocks { _locks: locks, _directories: directories })
}

/// Locks `ours`, and those of `theirs` that can be locked: nobody changes what is read-only, and what is somebody
/// else's is not ours to lock. All others stay locked, so that of two runs that can see each other one waits.
pub(crate) fn lock_items_with<'a>(
    ours: impl IntoIterator<Item = (&'a Collection, &'a RepositoryName)>,
    theirs: impl IntoIterator<Item = (&'a Collection, &'a RepositoryName)>,
    agent: &Agent,
    waiter: &Waiter<'_>,
) -> Result<ItemLocks, CollectionError> {
    let ours: Vec<_> = ours.into_iter().collect();
    let mut theirs: Vec<_> = theirs.into_iter().collect();
    loop {
        let all = ours.iter().chain(&theirs).copied();
        let error = match lock_items(all, agent, waiter) {
            Err(CollectionError::Disk(error)) if error.is_refusal() => error,
            outcome => return outcome,
        };
        let before = theirs.len();
        theirs.retain(|(other, _)| !error.path().starts_with(other.path()));
        if theirs.len() == before {
            return Err(error.into());
        }
    }
}

/// Makes those of the lock `files` in `dir` that are missing. Those that the disk has no room for are taken
/// out; the lock on the directory stands for them.
fn make_missing(
    dir: &Dir,
    files: &mut Vec<String>,
    waiter: &Waiter<'_>,
) -> Result<Option<DirLock>, LockError> {
    let mut missing = Vec::new();
    for file in &*files {
        if dir.stat(file)?.is_none() {
            missing.push(file.clone());
        }
    }
    if missing.is_empty() {
        return Ok(None);
    }
    let lock = match dir.wait_for_lock(waiter) {
        Err(LockError::Disk(error)) if error.is_without_directory_locks() => None,
        outcome => Some(outcome?),
    };
    let mut without = Vec::new();
    for file in missing {
        match dir.open_lock_file(&file) {
            Err(error) if error.is_full() && lock.is_some() => without.push(file),
            outcome => drop(outcome?),
        }
    }
    files.retain(|file| !without.contains(file));
    Ok(lock.filter(|_| !without.is_empty()))
}

impl Collection {
    /// Whether no process holds the lock of the item `name` at this moment.
    pub(super) fn is_unlocked(&self, name: &RepositoryName) -> Result<bool, PathError> {
        let Some(locks) = self.own_dir(layout::ITEM_LOCKS)? else { return Ok(true) };
        let Some(file) = locks.open_file_if_there(format!("{:02x}", stripe(name)))? else {
            // On a full disk, the lock on the directory stands for it.
            return match locks.try_lock() {
                Err(error) if error.is_without_directory_locks() => Ok(true),
                lock => Ok(lock?.is_some()),
            };
        };
        match Lock::wait_for_file(file, LockMode::Shared, &Waiter::default().up_to(Duration::ZERO))
        {
            Ok(_) => Ok(true),
            Err(LockError::Disk(error)) => Err(error),
            Err(LockError::Held { .. } | LockError::Interrupted { .. }) => Ok(false),
        }
    }
}

/// The stripe of an item: the same for every spelling of its name.
fn stripe(name: &RepositoryName) -> u8 {
    Digest::of(name.folded().as_bytes()).first_byte()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::init_without_names;
    use crate::disk::Watcher;

    #[test]
    fn the_lock_on_the_directory_stands_for_a_missing_file() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().join("archive");
        let collection = init_without_names(&root, "archive", &Watcher::default()).unwrap();
        let name: RepositoryName = "example.org/archive/2026/11.21.02.13".parse().unwrap();
        assert!(collection.is_unlocked(&name).unwrap());
        let locks = collection.ensure_own().unwrap().ensure_dir(layout::ITEM_LOCKS).unwrap();
        assert!(collection.is_unlocked(&name).unwrap());
        let held = locks.try_lock().unwrap();
        assert!(!collection.is_unlocked(&name).unwrap());
        drop(held);
        assert!(collection.is_unlocked(&name).unwrap());
    }
}
