//! Locks on items: an existing item is changed by one process at a time.
//!
//! Items share 256 lock files, the *stripes*, so that a million items need no million locks. Readers take
//! none: an item is changed in one step, so they find the old or the new one. New items need none either,
//! because a name can be taken only once. The exception is an item with a given name: the publisher locks the
//! name to make sure that no item of that name has left.
//!
//! A lock file is created on first use, by the holder of the lock on the directory of lock files. On a full
//! disk, that lock replaces the file: no other process can create it meanwhile.

use std::collections::HashSet;
use std::time::Duration;

use crate::agent::Agent;
use crate::collection::{Collection, CollectionError};
use crate::digest::Digest;
use crate::disk::{Dir, DirLock, Holder, Lock, LockError, LockMode, PathError};
use crate::identity::RepositoryName;
use crate::layout;
use crate::wait::Waiter;

/// The locks on some items, released on drop.
#[derive(Debug)]
#[must_use = "the items are locked for as long as this lives"]
pub struct ItemLocks {
    /// The ids of the collections and the stripes in them, sorted.
    stripes: Vec<(String, u8)>,
    _locks: Vec<Lock>,
    _directories: Vec<DirLock>,
}

/// Locks all of `items`, waiting for each stripe by itself.
///
/// Every process takes all its stripes at once, ordered by collection id and then by stripe. So there is no
/// deadlock.
pub fn lock_items<'a>(
    items: impl IntoIterator<Item = (&'a Collection, &'a RepositoryName)>,
    agent: &Agent,
    waiter: &Waiter<'_>,
) -> Result<ItemLocks, CollectionError> {
    Ok(lock_stripes(&items.into_iter().collect::<Vec<_>>(), &[], agent, waiter)?.0)
}

/// Locks `ours`, and those of `theirs` that can be locked. In a collection that this user may not change,
/// existing lock files are used: so of two users who may each change one of two collections, one waits for
/// the other. A collection without lock files, or one that cannot be read, is not locked.
pub(crate) fn lock_items_with<'a>(
    ours: impl IntoIterator<Item = (&'a Collection, &'a RepositoryName)>,
    theirs: impl IntoIterator<Item = (&'a Collection, &'a RepositoryName)>,
    agent: &Agent,
    waiter: &Waiter<'_>,
) -> Result<ItemLocks, CollectionError> {
    let ours: Vec<_> = ours.into_iter().collect();
    let theirs: Vec<_> = theirs.into_iter().collect();
    loop {
        let (locks, absent) = lock_stripes(&ours, &theirs, agent, waiter)?;
        // Another user, who found none of our lock files, may have created one since.
        let is_made = |(locks, file): &(Dir, String)| Ok(locks.stat(file)?.is_some());
        if !absent.iter().map(is_made).collect::<Result<Vec<_>, PathError>>()?.contains(&true) {
            return Ok(locks);
        }
    }
}

/// The locks on the relations of some collections, released on drop.
#[derive(Debug)]
#[must_use = "the relations are locked for as long as this lives"]
pub struct RelationLocks(#[expect(dead_code, reason = "held, not read")] Vec<Lock>);

/// Locks the relations of `collections`, in the order of their ids: relations are planned and made by one
/// process at a time, because a plan depends on items that it does not change. Items are locked after this. A
/// collection that this user may not change, or that is full, is not locked.
pub fn lock_relations<'a>(
    collections: impl IntoIterator<Item = &'a Collection>,
    agent: &Agent,
    waiter: &Waiter<'_>,
) -> Result<RelationLocks, CollectionError> {
    let mut collections: Vec<_> = collections.into_iter().collect();
    collections.sort_by_key(|collection| collection.id());
    collections.dedup_by_key(|collection| collection.id());
    let holder = agent.holder(waiter.clock);
    let lock = |collection: &Collection| {
        let dir = collection.ensure_own()?.ensure_dir(layout::ITEM_LOCKS)?;
        Lock::take(&dir, layout::RELATIONS_LOCK, LockMode::Exclusive, &holder, waiter)
    };
    let mut locks = Vec::with_capacity(collections.len());
    for collection in collections {
        match lock(collection) {
            Ok(lock) => locks.push(lock),
            Err(LockError::Disk(error)) if error.is_refusal() || error.is_full() => {}
            Err(error) => {
                return Err(CollectionError::locked(&collection.settings().name, error));
            }
        }
    }
    Ok(RelationLocks(locks))
}

/// Missing lock files of others, which this user may not create.
type Absent = Vec<(Dir, String)>;

fn lock_stripes(
    ours: &[(&Collection, &RepositoryName)],
    theirs: &[(&Collection, &RepositoryName)],
    agent: &Agent,
    waiter: &Waiter<'_>,
) -> Result<(ItemLocks, Absent), CollectionError> {
    let is_ours: HashSet<_> = ours.iter().map(|(collection, _)| collection.id()).collect();
    let mut stripes: Vec<(&Collection, u8)> =
        ours.iter().chain(theirs).map(|(collection, name)| (*collection, stripe(name))).collect();
    stripes.sort_by(|a, b| (a.0.id(), a.1).cmp(&(b.0.id(), b.1)));
    stripes.dedup_by(|a, b| (a.0.id(), a.1) == (b.0.id(), b.1));
    let holder = agent.holder(waiter.clock);
    let (mut locks, mut directories) = (Vec::with_capacity(stripes.len()), Vec::new());
    let (mut absent, mut covered) = (Absent::new(), Vec::with_capacity(stripes.len()));
    for group in stripes.chunk_by(|a, b| a.0.id() == b.0.id()) {
        let Some((collection, _)) = group.first() else { continue };
        let files: Vec<_> = group.iter().map(|(_, stripe)| format!("{stripe:02x}")).collect();
        let locked = match lock_files(collection, files.clone(), &holder, waiter) {
            Err(LockError::Disk(error))
                if error.is_refusal() && !is_ours.contains(collection.id()) =>
            {
                lock_files_of_others(collection, files, &mut absent, waiter)
                    .map(|locks| (locks, None))
            }
            outcome => {
                covered.extend(group.iter().map(|(it, stripe)| (it.id().to_owned(), *stripe)));
                outcome
            }
        };
        let (files, directory) = locked.map_err(|error| match error {
            LockError::Held { holder, .. } => CollectionError::ItemLocked {
                collection: collection.settings().name.clone(),
                cause: holder,
            },
            error => CollectionError::locked(&collection.settings().name, error),
        })?;
        locks.extend(files);
        directories.extend(directory);
    }
    let locks = ItemLocks { stripes: covered, _locks: locks, _directories: directories };
    Ok((locks, absent))
}

impl ItemLocks {
    /// Whether these include the lock of the item `name` of `collection`, or of a clone of it. They never
    /// include a lock of a collection that this user may not change.
    pub(crate) fn cover(&self, collection: &Collection, name: &RepositoryName) -> bool {
        let wanted = (collection.id(), stripe(name));
        self.stripes.binary_search_by(|(id, stripe)| (&**id, *stripe).cmp(&wanted)).is_ok()
    }
}

/// Locks `files`, which are created if missing.
fn lock_files(
    collection: &Collection,
    mut files: Vec<String>,
    holder: &Holder,
    waiter: &Waiter<'_>,
) -> Result<(Vec<Lock>, Option<DirLock>), LockError> {
    let dir = collection.ensure_own()?.ensure_dir(layout::ITEM_LOCKS)?;
    // Before any of the others is locked: a holder of one of these waits for no directory.
    let directory = make_missing(&dir, &mut files, waiter)?;
    let lock = |file: &String| Lock::take(&dir, file, LockMode::Exclusive, holder, waiter);
    Ok((files.iter().map(lock).collect::<Result<_, _>>()?, directory))
}

/// Locks those of `files` that can be read, without writing anything.
fn lock_files_of_others(
    collection: &Collection,
    files: Vec<String>,
    absent: &mut Absent,
    waiter: &Waiter<'_>,
) -> Result<Vec<Lock>, LockError> {
    let dir = match collection.own_dir(layout::ITEM_LOCKS) {
        Ok(Some(dir)) => dir,
        Ok(None) => return Ok(Vec::new()),
        Err(error) if error.is_refusal() => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut locks = Vec::new();
    for file in files {
        match dir.open_file_if_there(&file) {
            Ok(Some(file)) => match Lock::wait_for_file(file, LockMode::Exclusive, waiter) {
                // NFS locks only files that are open for writing.
                Err(LockError::Disk(error)) if error.is_for_writers() => {}
                lock => locks.push(lock?),
            },
            Ok(None) => absent.push((dir.try_clone()?, file)),
            Err(error) if error.is_refusal() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(locks)
}

/// Creates missing lock `files` in `dir`. Those that do not fit on the disk are removed from the list; the
/// lock on the directory replaces them.
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
    pub(in crate::collection) fn is_unlocked(
        &self,
        name: &RepositoryName,
    ) -> Result<bool, PathError> {
        let Some(locks) = self.own_dir(layout::ITEM_LOCKS)? else { return Ok(true) };
        let Some(file) = locks.open_file_if_there(format!("{:02x}", stripe(name)))? else {
            // On a full disk, the lock on the directory replaces it.
            return match locks.try_lock_shared() {
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
        // Another process checks at the same moment.
        let asked = locks.open_dir(".").unwrap().try_lock_shared().unwrap();
        assert!(asked.is_some() && collection.is_unlocked(&name).unwrap());
    }
}
