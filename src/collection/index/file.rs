//! The index file of a collection: opened on first use, and kept open.
//!
//! `catalog` builds the index at the first question. Its users share the lock `index.lock`, each for the time
//! of one access; replacing the index takes the lock exclusively, so that no process writes to the log of the
//! old database. `SQLite`'s own locks are on the database file: closing any other descriptor of that file
//! would release them, so nothing else opens it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::collection::Collection;
use crate::disk::{Dir, FileStat, Kind, Lock, LockError, LockMode, PathError, Version, resolved};
use crate::identity::RepositoryName;
use crate::index::{
    DirectoryId, Index, IndexError, JournalMode, LogState, OpenOptions, Record, Tables,
};
use crate::layout;

/// The index, opened on first use.
#[derive(Debug, Default)]
pub(in crate::collection) struct OpenIndex {
    /// The index and the identity of its file; `None` while the index is in use.
    open: Mutex<Option<((u64, u64), Index)>>,
    /// Waiting for other processes timed out: this process does not wait again.
    disabled: AtomicBool,
}

impl OpenIndex {
    fn slot(&self) -> MutexGuard<'_, Option<((u64, u64), Index)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn disable(&self) {
        self.disabled.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_disabled(&self) -> bool {
        self.disabled.load(Ordering::Relaxed)
    }
}

impl Collection {
    /// Calls `act` with the index. `None` if there is no index.
    ///
    /// `act` may call this again.
    pub(crate) fn with_index<T, E: From<IndexError> + From<PathError>>(
        &self,
        act: impl FnOnce(&mut Index) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        let Some((_lock, stat)) = self.share_index()? else {
            *self.index.slot() = None;
            return Ok(None);
        };
        let open = self.index.slot().take();
        let mut index = match open {
            Some((identity, index)) if identity == stat.identity => index,
            _ => self.open_index(&stat)?,
        };
        let done = act(&mut index);
        *self.index.slot() = Some((stat.identity, index));
        done.map(Some)
    }

    /// Takes a shared lock on the index and returns its stat; `None` if there is no index. While the lock
    /// is held, the file is not replaced.
    fn share_index(&self) -> Result<Option<(Lock, FileStat)>, IndexError> {
        let Some(own) = self.own()? else { return Ok(None) };
        let is_there = own.stat(layout::INDEX)?.is_some();
        // The index is also briefly absent while a rebuild puts it in place, under the exclusive lock.
        if !is_there && own.stat(layout::INDEX_LOCK)?.is_none() {
            return Ok(None);
        }
        let lock = match own.open_lock_file(layout::INDEX_LOCK) {
            // Without the right to lock it, the index cannot be used.
            Err(_) if !is_there => return Ok(None),
            file => {
                let limit =
                    if self.index.is_disabled() { Duration::ZERO } else { self.waiter.limit };
                Lock::wait_for_file(file?, LockMode::Shared, &self.waiter.up_to(limit))
                    .inspect_err(|_| self.index.disable())?
            }
        };
        Ok(own.stat(layout::INDEX)?.map(|stat| (lock, stat)))
    }

    fn open_index(&self, stat: &FileStat) -> Result<Index, IndexError> {
        let (own, path) = (self.ensure_own()?, self.index_path()?);
        for ending in ["-wal", "-shm", "-journal"] {
            let beside = own.stat(format!("{}{ending}", layout::INDEX))?;
            if beside.is_some_and(|beside| beside.kind != Kind::File) {
                return Err(IndexError::not_a_file(&path));
            }
        }
        if stat.kind != Kind::File {
            return Err(IndexError::not_a_file(&path));
        }
        let journal_mode = match own.network_file_system()? {
            Some(_) => JournalMode::Network,
            None => JournalMode::Local,
        };
        let opening = OpenOptions {
            path: &path,
            collection: self.id(),
            journal_mode,
            inode: self.index_inode(stat)?,
            log: self.log_state()?,
            patience: self.waiter.limit,
        };
        Index::open(&opening)
    }

    /// The inode by which a copy of the index is recognised; 0 where inodes do not last.
    pub(crate) fn index_inode(&self, stat: &FileStat) -> Result<u64, PathError> {
        Ok(if self.ensure_own()?.has_lasting_inodes()? { stat.identity.1 } else { 0 })
    }

    fn log_state(&self) -> Result<LogState, PathError> {
        let own = self.ensure_own()?;
        // `SQLite` has no locks on this file, so that it may be opened here.
        let Some(log) = own.open_file_if_there(format!("{}-wal", layout::INDEX))? else {
            let shared_memory = own.stat(format!("{}-shm", layout::INDEX))?;
            return Ok(if shared_memory.is_none() { LogState::Removed } else { LogState::Lost });
        };
        let mut magic = [0; 4];
        let is_whole = log.read_at(&mut magic, 0)? == magic.len();
        let begins_well = is_whole && matches!(magic, [0x37, 0x7f, 0x06, 0x82 | 0x83]);
        Ok(if begins_well { LogState::Present } else { LogState::Lost })
    }

    fn index_stat(&self) -> Result<Option<FileStat>, PathError> {
        self.own()?.map_or(Ok(None), |own| own.stat(layout::INDEX))
    }

    /// Whether there is an index file, valid or not.
    pub fn has_index(&self) -> Result<bool, PathError> {
        Ok(self.index_stat()?.is_some())
    }

    /// The path of the index, without symbolic links.
    pub(crate) fn index_path(&self) -> Result<std::path::PathBuf, PathError> {
        Ok(resolved(self.ensure_own()?.path())?.join(layout::INDEX))
    }

    /// Opens an index that was just put in place. The caller holds the exclusive lock of the index.
    pub(crate) fn begin_index(&self) -> Result<(), IndexError> {
        if let Some(stat) = self.index_stat()? {
            *self.index.slot() = Some((stat.identity, self.open_index(&stat)?));
        }
        Ok(())
    }

    /// The intents logged in the index, if it is readable. The caller holds the exclusive lock of the
    /// index.
    pub(crate) fn logged_intents(&self) -> Vec<(String, String)> {
        *self.index.slot() = None;
        let Ok(Some(stat)) = self.index_stat() else { return Vec::new() };
        let index = self.open_index(&stat);
        index.and_then(|index| index.tables().intents()).unwrap_or_default()
    }

    /// The version of the note that the index has missed a change, if there is a note.
    pub(crate) fn stale_note(&self) -> Result<Option<Version>, PathError> {
        let Some(own) = self.own()? else { return Ok(None) };
        Ok(own.stat(layout::INDEX_STALE)?.as_ref().map(FileStat::version))
    }

    /// Notes that the index has missed a change.
    pub(super) fn note_stale(&self) {
        if let Ok(None) = self.index_stat() {
            return;
        }
        // Where nothing can be written, nothing has changed; otherwise `urepo index` compares every sidecar.
        while let Ok(false) = self.try_note_stale() {}
    }

    fn lock_stale_note(&self) -> Result<Lock, LockError> {
        let file = self.ensure_own()?.open_lock_file(layout::INDEX_STALE)?;
        Lock::wait_for_file(file, LockMode::Exclusive, &self.waiter)
    }

    /// Appends a line to the note, which changes its version. `false` if the note has just been removed.
    fn try_note_stale(&self) -> Result<bool, LockError> {
        let mut lock = self.lock_stale_note()?;
        let stat = lock.file().stat()?;
        let there = self.ensure_own()?.stat(layout::INDEX_STALE)?;
        if there.is_none_or(|there| there.identity != stat.identity) {
            return Ok(false);
        }
        lock.file().write_all_at(b"stale\n", stat.bytes)?;
        Ok(true)
    }

    /// Removes the note if it is still of the version `note`. A note that stays costs only time.
    pub(crate) fn remove_stale_note(&self, note: Version) {
        let Ok(mut lock) = self.lock_stale_note() else { return };
        if lock.file().stat().is_ok_and(|stat| stat.version() == note)
            && let Ok(Some(own)) = self.own()
        {
            let _ = own.remove_file_if_there(Path::new(layout::INDEX_STALE));
        }
    }

    /// Reads the item `leaf` of the directory `dir` at `path` into the index. An entry that is not an item
    /// loses its row.
    pub(crate) fn take_in(
        &self,
        tables: Tables<'_>,
        directory: DirectoryId,
        (path, dir): (&str, &Dir),
        leaf: &str,
    ) -> Result<(), IndexError> {
        match self.record_of(path, dir, leaf)? {
            Some(record) => tables.put(directory, leaf, &record),
            None => tables.remove(directory, leaf),
        }
    }

    /// The record of the item `leaf` in `dir`, which is at `path`; `None` if the entry is not an item. An
    /// error means that the sidecar cannot be read now.
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
                let item = dir.stat(leaf)?.filter(|stat| stat.kind == Kind::Directory);
                return Ok(item.map(|_| Record::unreadable(&name, None)));
            }
            // A file of that name, or a link.
            Err(_) if dir.stat(leaf)?.is_none_or(|stat| stat.kind != Kind::Directory) => {
                return Ok(None);
            }
            // Access may be granted later: the record gets no version.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Ok(Some(Record::unreadable(&name, None)));
            }
            Err(error) => match dir.stat(&sidecar)? {
                // A link in place of the sidecar, or a directory.
                Some(stat) if stat.kind != Kind::File => {
                    return Ok(Some(Record::unreadable(&name, Some(&stat))));
                }
                _ => return Err(error),
            },
        };
        Ok(Some(crate::collection::item::record_of(&name, self.id(), file)?))
    }
}
