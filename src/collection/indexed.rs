//! The index of a collection: found, opened when it is needed, kept open.
//!
//! A collection has one once somebody has asked for it (`catalog`). Whoever uses it shares the lock
//! `index.lock`, only for as long as that takes; whoever puts a new one in its place has the lock
//! alone, so that no log of the old one is taken for one of the new. `SQLite`'s own locks are on the
//! database file, which therefore nobody else may open.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::Collection;
use crate::disk::{Dir, Kind, Lock, PathError, Stamp, resolved};
use crate::identity::RepositoryName;
use crate::index::{Footing, Index, IndexError, Place, Record, Tables};
use crate::layout;

/// The index; nothing before it is needed.
#[derive(Debug, Default)]
pub(super) struct OpenIndex(Mutex<Option<Box<Opened>>>);

#[derive(Debug)]
struct Opened {
    /// Which file it is.
    identity: (u64, u64),
    index: Index,
}

/// Says that an index has missed something, and which note of that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StaleNote(Stamp);

impl Collection {
    /// Does something with the index; nothing if there is none.
    pub(crate) fn with_index<T, E: From<IndexError> + From<PathError>>(
        &self,
        act: impl FnOnce(&mut Index) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        let mut open = self.index.0.lock().unwrap_or_else(PoisonError::into_inner);
        if self.own.stamp(layout::INDEX)?.is_none() {
            *open = None;
            return Ok(None);
        }
        let _lock = Lock::wait_to_share_file(self.own.open_lock_file(layout::INDEX_LOCK)?)?;
        // Under the lock it stays the file that it is.
        let Some(stamp) = self.own.stamp(layout::INDEX)? else { return Ok(None) };
        let mut opened = match open.take() {
            Some(opened) if opened.identity == stamp.identity => opened,
            _ => Box::new(Opened { identity: stamp.identity, index: self.open_index(&stamp)? }),
        };
        let done = act(&mut opened.index);
        *open = Some(opened);
        done.map(Some)
    }

    fn open_index(&self, stamp: &Stamp) -> Result<Index, IndexError> {
        let path = self.index_path()?;
        // The files beside it are the database's own: its log, and what processes share.
        for ending in ["-wal", "-shm", "-journal"] {
            let beside = self.own.stamp(format!("{}{ending}", layout::INDEX))?;
            if beside.is_some_and(|beside| beside.kind != Kind::File) {
                return Err(IndexError::not_a_file(&path));
            }
        }
        if stamp.kind != Kind::File {
            return Err(IndexError::not_a_file(&path));
        }
        let footing = match self.own.network_file_system()? {
            Some(_) => Footing::Network,
            None => Footing::Local,
        };
        Index::open(&path, self.id(), footing)
    }

    /// Whether there is an index, good or not.
    pub fn has_index(&self) -> Result<bool, PathError> {
        Ok(self.own.stamp(layout::INDEX)?.is_some())
    }

    /// Where the index is, without links on the way.
    pub(crate) fn index_path(&self) -> Result<std::path::PathBuf, PathError> {
        Ok(resolved(self.own.path())?.join(layout::INDEX))
    }

    /// What writers have announced to the index that is there, as far as that can be read. Whoever
    /// calls this has the lock of the index alone.
    pub(crate) fn announced_in_index(&self) -> Vec<(String, String)> {
        let mut open = self.index.0.lock().unwrap_or_else(PoisonError::into_inner);
        *open = None;
        let Ok(Some(stamp)) = self.own.stamp(layout::INDEX) else { return Vec::new() };
        let index = self.open_index(&stamp);
        index.and_then(|index| index.tables().announced()).unwrap_or_default()
    }

    /// Whether the index has missed something, and then which note says so.
    pub(crate) fn stale_note(&self) -> Result<Option<StaleNote>, PathError> {
        Ok(self.own.stamp(layout::INDEX_STALE)?.map(StaleNote))
    }

    /// Notes that the index has missed something.
    pub(super) fn note_stale(&self) {
        if let Ok(None) = self.own.stamp(layout::INDEX) {
            return;
        }
        let note = self.own.open_lock_file(layout::INDEX_STALE);
        // Where nothing can be written, nothing was changed, or the full look of `urepo index` is left.
        let _ = note.and_then(|mut file| file.write_all(b"stale\n"));
    }

    /// Removes `note`, unless another one has been made since.
    pub(crate) fn remove_stale_note(&self, note: StaleNote) -> Result<(), PathError> {
        if self.stale_note()? == Some(note) {
            self.own.remove_file_if_there(Path::new(layout::INDEX_STALE))?;
        }
        Ok(())
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
            // A link in place of the sidecar, or one that must not be read.
            Err(_) => {
                let stamp = dir.stamp(&sidecar)?;
                return Ok(Some(Record::unreadable(&name, stamp.as_ref())));
            }
        };
        Ok(Some(super::item::record_of(&name, file)?))
    }
}
