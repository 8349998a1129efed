//! Room on the disk: whether there is enough for an item, beside what those under way will still take.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{DepositError, Place};

/// Directories and sidecar of an item, in inodes, and the directories above it, which may be new.
const INODES_OF_AN_ITEM: u64 = 3 + 5;

/// What the sidecar of an item of so many entries may take on the disk.
fn bytes_of_sidecar(entries: usize) -> u64 {
    4096 + entries as u64 * BYTES_OF_AN_ENTRY
}

/// What is written of an item when it is in place: in the ledger, the event log and the index.
const BYTES_OF_LINES: u64 = 2048;

/// Each entry has a few lines in the sidecar.
const BYTES_OF_AN_ENTRY: u64 = 256;

/// Room that is kept for what items under way have not written yet.
#[derive(Debug, Default)]
pub(super) struct Pending {
    bytes: AtomicU64,
    inodes: AtomicU64,
}

/// Room that is kept for an item until this is dropped.
#[derive(Debug)]
pub(super) struct Reserved {
    pending: Arc<Pending>,
    /// Bytes of the sidecar, until it is written.
    sidecar: Option<u64>,
}

impl Reserved {
    /// The sidecar is written: only lines about the item are still to come.
    pub(super) fn has_sidecar(&mut self) {
        if let Some(bytes) = self.sidecar.take() {
            self.pending.bytes.fetch_sub(bytes, Ordering::Relaxed);
            self.pending.inodes.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.has_sidecar();
        self.pending.bytes.fetch_sub(BYTES_OF_LINES, Ordering::Relaxed);
    }
}

impl Place<'_> {
    /// Keeps room for what an item of so many entries takes beside its files, which are written first: else
    /// these would fill the disk up to where no item can be ended.
    pub(super) fn reserve(&self, entries: usize) -> Reserved {
        let sidecar = bytes_of_sidecar(entries);
        self.pending.bytes.fetch_add(sidecar + BYTES_OF_LINES, Ordering::Relaxed);
        self.pending.inodes.fetch_add(1, Ordering::Relaxed);
        Reserved { pending: Arc::clone(&self.pending), sidecar: Some(sidecar) }
    }

    /// Makes sure that the file system has room for an item of so many bytes and entries.
    pub(super) fn check_room_for_item(
        &self,
        path: &Path,
        bytes: u64,
        entries: usize,
    ) -> Result<(), DepositError> {
        let beside = bytes_of_sidecar(entries) + BYTES_OF_LINES;
        let inodes = entries as u64 + INODES_OF_AN_ITEM;
        self.check_room(path, bytes.saturating_add(beside), inodes)
    }

    /// Makes sure that the file system has room for `bytes` and `inodes` more than is reserved.
    pub(super) fn check_room(
        &self,
        path: &Path,
        bytes: u64,
        inodes: u64,
    ) -> Result<(), DepositError> {
        let room = self.collection.root().room()?;
        let free_bytes = room.bytes.saturating_sub(self.pending.bytes.load(Ordering::Relaxed));
        let free_inodes = room.inodes.saturating_sub(self.pending.inodes.load(Ordering::Relaxed));
        let lacking = |needed, unit, free| DepositError::NoRoom {
            path: path.to_path_buf(),
            needed,
            unit,
            free,
            collection: self.collection.path().to_path_buf(),
        };
        if bytes > free_bytes {
            return Err(lacking(bytes, "bytes", free_bytes));
        }
        if inodes > free_inodes {
            return Err(lacking(inodes, "inodes", free_inodes));
        }
        Ok(())
    }
}
