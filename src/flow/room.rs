//! Room on the disk: whether an item fits beside the items in flight.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::disk::{Dir, PathError};

/// The directories and the sidecar of an item.
const INODES_OF_AN_ITEM: u64 = 3;

/// The directories above an item and the files of the collection that record it, which may be new. They come
/// last, so they are never given to an item.
const INODES_BEYOND: u64 = 5;

/// The lines about an item after it is published: in the ledger, the event log and the index.
const BYTES_OF_LINES: u64 = 2048;

/// Each entry has a few lines in the sidecar.
const BYTES_OF_AN_ENTRY: u64 = 256;

/// The footprint of an item on the disk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Footprint {
    bytes: u64,
    inodes: u64,
}

/// Room that is kept for the data that items in flight have not written yet.
#[derive(Debug, Default)]
pub(crate) struct Reservations {
    kept: Mutex<Footprint>,
}

/// Room that is kept for an item until this is dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    pending: Arc<Reservations>,
    kept: Footprint,
    /// The part that is kept once the first sidecar is written.
    later: Footprint,
}

/// A shortage of room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lacking {
    needed: u64,
    unit: &'static str,
    free: u64,
}

/// There is too little room for an item.
#[derive(Debug, thiserror::Error)]
#[error("no room for `{item}`: it takes {needed} {unit}, `{}` has {free}", place.display())]
pub struct NoRoom {
    /// The item, or its source.
    pub item: String,
    /// The room needed.
    pub needed: u64,
    /// Bytes or inodes.
    pub unit: &'static str,
    /// The room available.
    pub free: u64,
    /// Where.
    pub place: PathBuf,
}

impl Lacking {
    /// The error of `item`, which is to go to `place`.
    pub(crate) fn of(self, item: impl Display, place: &Path) -> NoRoom {
        let Lacking { needed, unit, free } = self;
        NoRoom { item: item.to_string(), needed, unit, free, place: place.to_path_buf() }
    }
}

impl Footprint {
    /// The footprint of data with these `bytes` and `inodes`.
    pub(crate) fn new(bytes: u64, inodes: u64) -> Footprint {
        Footprint { bytes, inodes }
    }

    /// The footprint of an item whose payload has `bytes` and `entries`.
    pub(crate) fn of_item(bytes: u64, entries: usize) -> Footprint {
        let beside = bytes_of_sidecar(entries) + BYTES_OF_LINES;
        Footprint {
            bytes: bytes.saturating_add(beside),
            inodes: entries as u64 + INODES_OF_AN_ITEM + INODES_BEYOND,
        }
    }

    fn add(&mut self, other: Footprint) {
        self.bytes += other.bytes;
        self.inodes += other.inodes;
    }
}

impl Reservations {
    fn kept(&self) -> MutexGuard<'_, Footprint> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The shortage of the file system of `dir` for `footprint`, beside all reservations.
    pub(crate) fn lacking(
        &self,
        dir: &Dir,
        footprint: Footprint,
    ) -> Result<Option<Lacking>, PathError> {
        lacking_beside(*self.kept(), dir, footprint)
    }

    /// Keeps room for an item whose payload has `bytes` and `entries`, and for its `sidecars`, which replace one
    /// another; or returns the shortage. No room is kept for the bytes of the payload: they are written next, and a
    /// long file would count twice for a long time.
    pub(crate) fn reserve(
        self: &Arc<Reservations>,
        dir: &Dir,
        bytes: u64,
        (entries, sidecars): (usize, u64),
    ) -> Result<Result<Reservation, Lacking>, PathError> {
        let more = sidecars - 1;
        let later =
            Footprint { bytes: BYTES_OF_LINES + more * bytes_of_sidecar(entries), inodes: more };
        let own = Footprint {
            bytes: later.bytes + bytes_of_sidecar(entries),
            inodes: later.inodes + entries as u64 + INODES_OF_AN_ITEM,
        };
        let item = Footprint {
            bytes: bytes.saturating_add(own.bytes),
            inodes: own.inodes + INODES_BEYOND,
        };
        // The reservation comes before the query: of two threads, the second sees the reservation of the
        // first, and neither waits for the other.
        let before = self.keep(own);
        let reservation = Reservation { pending: Arc::clone(self), kept: own, later };
        if lacking_beside(before, dir, item)?.is_none() {
            return Ok(Ok(reservation));
        }
        // Data that another thread has written meanwhile counts twice: as reserved, and as used.
        drop(reservation);
        let mut kept = self.kept();
        if let Some(lacking) = lacking_beside(*kept, dir, item)? {
            return Ok(Err(lacking));
        }
        kept.add(own);
        Ok(Ok(Reservation { pending: Arc::clone(self), kept: own, later }))
    }

    /// Reserves `own`, and returns the earlier reservations.
    fn keep(&self, own: Footprint) -> Footprint {
        let mut kept = self.kept();
        let before = *kept;
        kept.add(own);
        before
    }
}

fn lacking_beside(
    kept: Footprint,
    dir: &Dir,
    footprint: Footprint,
) -> Result<Option<Lacking>, PathError> {
    let room = dir.room()?;
    let lacking = [
        (footprint.bytes, "bytes", room.bytes.saturating_sub(kept.bytes)),
        (footprint.inodes, "inodes", room.inodes.saturating_sub(kept.inodes)),
    ];
    let lacking = lacking.into_iter().find(|(needed, _, free)| needed > free);
    Ok(lacking.map(|(needed, unit, free)| Lacking { needed, unit, free }))
}

impl Reservation {
    /// The payload is written: the sidecar and lines about the item are still to come.
    pub(crate) fn has_payload(&mut self) {
        self.keep(Footprint { inodes: self.later.inodes + 1, ..self.kept });
    }

    /// The sidecar is written: only lines about the item are still to come.
    pub(crate) fn has_sidecar(&mut self) {
        self.keep(self.later);
    }

    fn keep(&mut self, less: Footprint) {
        let mut kept = self.pending.kept();
        kept.bytes -= self.kept.bytes - less.bytes;
        kept.inodes -= self.kept.inodes - less.inodes;
        self.kept = less;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.keep(Footprint::default());
    }
}

/// The most bytes that the sidecar of an item of `entries` takes on the disk.
fn bytes_of_sidecar(entries: usize) -> u64 {
    4096 + entries as u64 * BYTES_OF_AN_ENTRY
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Watcher;

    #[test]
    fn what_is_under_way_counts() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = Dir::open(scratch.path(), Watcher::default()).unwrap();
        let pending = Arc::new(Reservations::default());
        let lacking = |footprint| pending.lacking(&dir, footprint).unwrap();
        let item = Footprint::of_item(1, 1);
        assert!(lacking(item).is_none());
        assert_eq!(lacking(Footprint::new(u64::MAX, 0)).unwrap().unit, "bytes");
        let entries = usize::try_from(u64::MAX / BYTES_OF_AN_ENTRY / 2).unwrap();
        let mut reserved = pending.reserve(&dir, 1, (1, 1)).unwrap().unwrap();
        let free = dir.room().unwrap().inodes;
        assert!(pending.reserve(&dir, 1, (entries, 1)).unwrap().is_err());
        pending.kept().inodes += free;
        assert_eq!(lacking(item).unwrap().unit, "inodes", "others will make as many files");
        pending.kept().inodes -= free;
        reserved.has_payload();
        reserved.has_sidecar();
        assert!(lacking(item).is_none());
        drop(reserved);
        let Footprint { bytes, inodes } = *pending.kept();
        assert_eq!((bytes, inodes), (0, 0));
    }
}
