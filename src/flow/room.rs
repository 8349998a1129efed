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

/// Limit on the items that one answer of the file system is good for: other programs write there as well.
const ITEMS_OF_AN_ANSWER: u32 = 512;

/// The part of the free room that these items may take together.
const PART_OF_AN_ANSWER: u64 = 16;

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
    /// Room for a number of items, before the file system is asked again.
    allowance: Mutex<(Footprint, u32)>,
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

    /// The rest without `part`; `None` if that is more.
    fn without(self, part: Footprint) -> Option<Footprint> {
        let bytes = self.bytes.checked_sub(part.bytes)?;
        Some(Footprint { bytes, inodes: self.inodes.checked_sub(part.inodes)? })
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
        let kept = *self.kept();
        self.lacking_beside(kept, dir, footprint)
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
        if self.lacking_beside(before, dir, item)?.is_none() {
            return Ok(Ok(reservation));
        }
        // Data that another thread has written meanwhile counts twice: as reserved, and as used.
        drop(reservation);
        let mut kept = self.kept();
        if let Some(lacking) = self.lacking_beside(*kept, dir, item)? {
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

    fn lacking_beside(
        &self,
        kept: Footprint,
        dir: &Dir,
        footprint: Footprint,
    ) -> Result<Option<Lacking>, PathError> {
        let mut allowance = self.allowance.lock().unwrap_or_else(PoisonError::into_inner);
        if let (allowed, items @ 1..) = *allowance
            && let Some(left) = allowed.without(footprint)
        {
            *allowance = (left, items - 1);
            return Ok(None);
        }
        let room = dir.room()?;
        let free = Footprint {
            bytes: room.bytes.saturating_sub(kept.bytes),
            inodes: room.inodes.saturating_sub(kept.inodes),
        };
        if let Some(left) = free.without(footprint) {
            let part = |free: u64| free / PART_OF_AN_ANSWER;
            let allowed = Footprint { bytes: part(left.bytes), inodes: part(left.inodes) };
            *allowance = (allowed, ITEMS_OF_AN_ANSWER - 1);
            return Ok(None);
        }
        let bytes = (footprint.bytes, "bytes", free.bytes);
        let inodes = (footprint.inodes, "inodes", free.inodes);
        let (needed, unit, free) = if footprint.bytes > free.bytes { bytes } else { inodes };
        Ok(Some(Lacking { needed, unit, free }))
    }
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
        let others = Reservations::default();
        others.kept().inodes = free;
        let lacking_beside_others = others.lacking(&dir, item).unwrap();
        assert_eq!(lacking_beside_others.unwrap().unit, "inodes", "others will make as many files");
        reserved.has_payload();
        reserved.has_sidecar();
        assert!(lacking(item).is_none());
        drop(reserved);
        let Footprint { bytes, inodes } = *pending.kept();
        assert_eq!((bytes, inodes), (0, 0));
    }

    #[test]
    fn one_answer_is_good_for_a_small_part_of_the_room_and_few_items() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = Dir::open(scratch.path(), Watcher::default()).unwrap();
        let pending = Reservations::default();
        let item = Footprint::new(1, 1);
        let items_left = || pending.allowance.lock().unwrap().1;
        for left in (0..ITEMS_OF_AN_ANSWER).rev().chain([ITEMS_OF_AN_ANSWER - 1]) {
            assert!(pending.lacking(&dir, item).unwrap().is_none());
            assert_eq!(items_left(), left);
        }
        let free = dir.room().unwrap().bytes;
        assert!(pending.lacking(&dir, Footprint::new(free / 8, 1)).unwrap().is_none());
        assert_eq!(items_left(), ITEMS_OF_AN_ANSWER - 1, "it was asked again");
        assert_eq!(
            pending.lacking(&dir, Footprint::new(u64::MAX, 1)).unwrap().unwrap().unit,
            "bytes"
        );
    }
}
