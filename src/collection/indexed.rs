//! The index of a collection: found, opened when it is needed, kept open.
//!
//! A collection has one once somebody has asked for it (`catalog`). Whoever uses it shares the lock
//! `index.lock`, only for as long as that takes; whoever puts a new one in its place has the lock
//! alone, so that no log of the old one is taken for one of the new. `SQLite`'s own locks are on the
//! database file, which therefore nobody else may open.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Collection;
use crate::disk::{Dir, Kind, Lock, LockError, LockMode, PathError, Stamp, resolved};
use crate::identity::RepositoryName;
use crate::index::{Footing, Index, IndexError, Opening, Place, Record, Tables};
use crate::layout;

/// The index, opened when it is needed.
#[derive(Debug, Default)]
pub(super) struct OpenIndex {
    /// It and which file that is; nothing while it is in use.
    open: Mutex<Option<((u64, u64), Index)>>,
    /// Others had it for too long: this process does not wait for it again.
    given_up: AtomicBool,
}

impl OpenIndex {
    fn slot(&self) -> MutexGuard<'_, Option<((u64, u64), Index)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }
}

/// Says that an index has missed something, and which note of that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StaleNote(Stamp);

impl Collection {
    /// Does something with the index; nothing if there is none.
    ///
    /// What `act` calls may use the index too.
    pub(crate) fn with_index<T, E: From<IndexError> + From<PathError>>(
        &self,
        act: impl FnOnce(&mut Index) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        let Some((_lock, stamp)) = self.share_index()? else {
            *self.index.slot() = None;
            return Ok(None);
        };
        let open = self.index.slot().take();
        let mut index = match open {
            Some((identity, index)) if identity == stamp.identity => index,
            _ => self.open_index(&stamp)?,
        };
        let done = act(&mut index);
        *self.index.slot() = Some((stamp.identity, index));
        done.map(Some)
    }

    /// Locks the index, with others, and says which file it is, that stays so; nothing if there is none.
    fn share_index(&self) -> Result<Option<(Lock, Stamp)>, IndexError> {
        let Some(own) = self.own()? else { return Ok(None) };
        let is_there = own.stamp(layout::INDEX)?.is_some();
        // There is none for a moment, too, while a new one is put in its place, by one who has the lock.
        if !is_there && own.stamp(layout::INDEX_LOCK)?.is_none() {
            return Ok(None);
        }
        let lock = match own.open_lock_file(layout::INDEX_LOCK) {
            // Whoever may not lock it finds none.
            Err(_) if !is_there => return Ok(None),
            file => {
                let limit =
                    if self.index.is_given_up() { Duration::ZERO } else { self.waiter.limit };
                Lock::wait_for_file(file?, LockMode::Shared, &self.waiter.up_to(limit))
                    .inspect_err(|_| self.index.give_up())?
            }
        };
        Ok(own.stamp(layout::INDEX)?.map(|stamp| (lock, stamp)))
    }

    fn open_index(&self, stamp: &Stamp) -> Result<Index, IndexError> {
        let (own, path) = (self.ensure_own()?, self.index_path()?);
        // The files beside it are the database's own: its log, and what processes share.
        for ending in ["-wal", "-shm", "-journal"] {
            let beside = own.stamp(format!("{}{ending}", layout::INDEX))?;
            if beside.is_some_and(|beside| beside.kind != Kind::File) {
                return Err(IndexError::not_a_file(&path));
            }
        }
        if stamp.kind != Kind::File {
            return Err(IndexError::not_a_file(&path));
        }
        let footing = match own.network_file_system()? {
            Some(_) => Footing::Network,
            None => Footing::Local,
        };
        let has_log = self.has_log()?;
        let opening = Opening {
            path: &path,
            collection: self.id(),
            footing,
            inode: self.index_inode(stamp)?,
            has_log,
            patience: self.waiter.limit,
        };
        Index::open(&opening)
    }

    /// By which an index is known as the one that was made here; nothing where inodes do not last.
    pub(crate) fn index_inode(&self, stamp: &Stamp) -> Result<u64, PathError> {
        Ok(if self.ensure_own()?.has_lasting_inodes()? { stamp.identity.1 } else { 0 })
    }

    /// Whether there is a log that begins as one of the database's own. The locks are not on this file.
    fn has_log(&self) -> Result<bool, PathError> {
        let Some(log) = self.ensure_own()?.open_file_if_there(format!("{}-wal", layout::INDEX))?
        else {
            return Ok(false);
        };
        let mut magic = [0; 4];
        let length = log.read_at(&mut magic, 0)?;
        Ok(length == magic.len() && matches!(magic, [0x37, 0x7f, 0x06, 0x82 | 0x83]))
    }

    fn index_stamp(&self) -> Result<Option<Stamp>, PathError> {
        self.own()?.map_or(Ok(None), |own| own.stamp(layout::INDEX))
    }

    /// Whether there is an index, good or not.
    pub fn has_index(&self) -> Result<bool, PathError> {
        Ok(self.index_stamp()?.is_some())
    }

    /// Where the index is, without links on the way.
    pub(crate) fn index_path(&self) -> Result<std::path::PathBuf, PathError> {
        Ok(resolved(self.ensure_own()?.path())?.join(layout::INDEX))
    }

    /// Opens an index for the first time that has just been put in its place. Whoever calls this has the
    /// lock of the index alone.
    pub(crate) fn begin_index(&self) -> Result<(), IndexError> {
        if let Some(stamp) = self.index_stamp()? {
            *self.index.slot() = Some((stamp.identity, self.open_index(&stamp)?));
        }
        Ok(())
    }

    /// What writers have announced to the index that is there, as far as that can be read. Whoever
    /// calls this has the lock of the index alone.
    pub(crate) fn announced_in_index(&self) -> Vec<(String, String)> {
        *self.index.slot() = None;
        let Ok(Some(stamp)) = self.index_stamp() else { return Vec::new() };
        let index = self.open_index(&stamp);
        index.and_then(|index| index.tables().announced()).unwrap_or_default()
    }

    /// Whether the index has missed something, and then which note says so.
    pub(crate) fn stale_note(&self) -> Result<Option<StaleNote>, PathError> {
        let Some(own) = self.own()? else { return Ok(None) };
        Ok(own.stamp(layout::INDEX_STALE)?.map(StaleNote))
    }

    /// Notes that the index has missed something.
    pub(super) fn note_stale(&self) {
        if let Ok(None) = self.index_stamp() {
            return;
        }
        // Where nothing can be written, nothing was changed, or the full look of `urepo index` is left.
        while let Ok(false) = self.try_note_stale() {}
    }

    fn lock_stale_note(&self) -> Result<Lock, LockError> {
        let file = self.ensure_own()?.open_lock_file(layout::INDEX_STALE)?;
        Lock::wait_for_file(file, LockMode::Exclusive, &self.waiter)
    }

    /// Adds a line to the note: so it is another one than before. Not if it has just been removed.
    fn try_note_stale(&self) -> Result<bool, LockError> {
        let mut lock = self.lock_stale_note()?;
        let stamp = lock.file().stamp()?;
        let there = self.ensure_own()?.stamp(layout::INDEX_STALE)?;
        if there.is_none_or(|there| there.identity != stamp.identity) {
            return Ok(false);
        }
        lock.file().write_all_at(b"stale\n", stamp.bytes)?;
        Ok(true)
    }

    /// Removes `note`, unless another one has been made since. One that stays costs time only.
    pub(crate) fn remove_stale_note(&self, note: StaleNote) {
        let Ok(mut lock) = self.lock_stale_note() else { return };
        if lock.file().stamp().is_ok_and(|stamp| StaleNote(stamp) == note)
            && let Ok(Some(own)) = self.own()
        {
            let _ = own.remove_file_if_there(Path::new(layout::INDEX_STALE));
        }
    }

    /// Reads the item `leaf` in `place`, which is `dir` at `path`, into the index; nothing is kept of
    /// what is no item.
    pub(crate) fn take_in(
        &self,
        tables: Tables<'_>,
        place: Place,
        (path, dir): (&str, &Dir),
        leaf: &str,
    ) -> Result<(), IndexError> {
        match self.record_of(path, dir, leaf)? {
            Some(record) => tables.put(place, leaf, &record),
            None => tables.remove(place, leaf),
        }
    }

    /// What the index keeps of the item `leaf` in `dir`, which is at `path`; nothing if it is no item.
    /// An error is one of reading: it says nothing of the item.
    pub(crate) fn record_of(
        &self,
        path: &str,
        dir: &Dir,
        leaf: &str,
    ) -> Result<Option<Record>, PathError> {
        let Ok((name, _)) = RepositoryName::parse_as_found(&format!("{path}/{leaf}")) else {
            return Ok(None);
        };
        let sidecar = Path::new(leaf).join(layout::SIDECAR);
        let file = match dir.open_file_if_there(&sidecar) {
            Ok(Some(file)) => file,
            Ok(None) => {
                let item = dir.stamp(leaf)?.filter(|stamp| stamp.kind == Kind::Directory);
                return Ok(item.map(|_| Record::unreadable(&name, None)));
            }
            // A file of that name, or a link.
            Err(_) if dir.stamp(leaf)?.is_none_or(|stamp| stamp.kind != Kind::Directory) => {
                return Ok(None);
            }
            // What may not be looked at may be one day: so it has no mark.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Ok(Some(Record::unreadable(&name, None)));
            }
            Err(error) => match dir.stamp(&sidecar)? {
                // A link in place of the sidecar, or a directory.
                Some(stamp) if stamp.kind != Kind::File => {
                    return Ok(Some(Record::unreadable(&name, Some(&stamp))));
                }
                _ => return Err(error),
            },
        };
        Ok(Some(super::item::record_of(&name, file)?))
    }
}
