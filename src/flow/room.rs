//! Room on the disk: whether there is enough for an item, beside what those under way will still take.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::disk::{Dir, PathError};

/// Directories and sidecar of an item, in inodes, and the directories above it, which may be new.
const INODES_OF_AN_ITEM: u64 = 3 + 5;

/// What is written of an item when it is in place: in the ledger, the event log and the index.
const BYTES_OF_LINES: u64 = 2048;

/// Each entry has a few lines in the sidecar.
const BYTES_OF_AN_ENTRY: u64 = 256;

/// What an item takes on the disk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Footprint {
    bytes: u64,
    inodes: u64,
}

/// Room that is kept for what items under way have not written yet.
#[derive(Debug, Default)]
pub(crate) struct Reservations {
    bytes: AtomicU64,
    inodes: AtomicU64,
}

/// Room that is kept for an item until this is dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    pending: Arc<Reservations>,
    /// Bytes of the sidecar, until it is written.
    sidecar: Option<u64>,
}

/// There is less room than something takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lacking {
    /// What it takes.
    pub needed: u64,
    /// Bytes or inodes.
    pub unit: &'static str,
    /// What there is.
    pub free: u64,
}

impl Footprint {
    /// The footprint of something that takes at least `bytes`.
    pub(crate) fn at_least(bytes: u64) -> Footprint {
        Footprint { bytes, inodes: 0 }
    }

    /// The footprint of an item whose payload has `bytes` and `entries`.
    pub(crate) fn of_item(bytes: u64, entries: usize) -> Footprint {
        let beside = bytes_of_sidecar(entries) + BYTES_OF_LINES;
        Footprint {
            bytes: bytes.saturating_add(beside),
            inodes: entries as u64 + INODES_OF_AN_ITEM,
        }
    }
}

impl Reservations {
    /// What the file system of `dir` lacks for `footprint` beside all that is reserved.
    pub(crate) fn lacking(
        &self,
        dir: &Dir,
        footprint: Footprint,
    ) -> Result<Option<Lacking>, PathError> {
        let room = dir.room()?;
        let free =
            |room: u64, reserved: &AtomicU64| room.saturating_sub(reserved.load(Ordering::Relaxed));
        let lacking = [
            (footprint.bytes, "bytes", free(room.bytes, &self.bytes)),
            (footprint.inodes, "inodes", free(room.inodes, &self.inodes)),
        ];
        let lacking = lacking.into_iter().find(|(needed, _, free)| needed > free);
        Ok(lacking.map(|(needed, unit, free)| Lacking { needed, unit, free }))
    }

    /// Keeps room for what an item of `entries` takes beside its files, which are written first: else
    /// these would fill the disk up to where no item can be ended.
    pub(crate) fn reserve(self: &Arc<Reservations>, entries: usize) -> Reservation {
        let sidecar = bytes_of_sidecar(entries);
        self.bytes.fetch_add(sidecar + BYTES_OF_LINES, Ordering::Relaxed);
        self.inodes.fetch_add(1, Ordering::Relaxed);
        Reservation { pending: Arc::clone(self), sidecar: Some(sidecar) }
    }
}

impl Reservation {
    /// The sidecar is written: only lines about the item are still to come.
    pub(crate) fn has_sidecar(&mut self) {
        if let Some(bytes) = self.sidecar.take() {
            self.pending.bytes.fetch_sub(bytes, Ordering::Relaxed);
            self.pending.inodes.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.has_sidecar();
        self.pending.bytes.fetch_sub(BYTES_OF_LINES, Ordering::Relaxed);
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
        assert_eq!(lacking(Footprint::at_least(u64::MAX)).unwrap().unit, "bytes");
        let entries = usize::try_from(u64::MAX / BYTES_OF_AN_ENTRY / 2).unwrap();
        let mut reserved = pending.reserve(entries);
        assert_eq!(lacking(item).unwrap().unit, "bytes", "others will write long sidecars");
        reserved.has_sidecar();
        assert!(lacking(item).is_none());
        drop(reserved);
        assert_eq!(pending.bytes.load(Ordering::Relaxed), 0);
    }
}
