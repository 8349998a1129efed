//! Room for deleting on a full disk: files in `.urepo/reserve`, which a deletion without a free block or inode
//! removes. They are recreated when it has ended. Another process may take the room; then the deletion fails,
//! and can be repeated. Purging needs no room.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::atomic::Ordering;

use crate::collection::Collection;
use crate::disk::{Dir, IoContext, PathError, random_bytes};
use crate::layout;

/// Number of files: stage, tombstone, entry of the trash and further files of a deletion, and of the index meanwhile.
const FILES: u64 = 12;
/// Bytes of each.
const BYTES: usize = 16 * 1024;
/// The reserve is created only if this many times its size is free.
const PLENTY: u64 = 64;

impl Collection {
    /// Does `act`, and repeats it with the reserve if the disk was full.
    pub(crate) fn with_reserve<T, E: Error + 'static>(
        &self,
        mut act: impl FnMut() -> Result<T, E>,
    ) -> Result<T, E> {
        match act() {
            Err(error) if is_full(&error) => {
                // Another deletion may have released it just now.
                self.give_up_reserve();
                act()
            }
            outcome => outcome,
        }
    }

    fn give_up_reserve(&self) {
        let Ok(Some(reserve)) = self.own_dir(layout::RESERVE) else { return };
        let names = (0..FILES).map(|number| number.to_string());
        let removed = names.filter(|name| reserve.remove_file(Path::new(name)).is_ok()).count();
        self.reserve_given_up.fetch_or(removed > 0, Ordering::Relaxed);
    }

    /// Recreates missing parts of the reserve, if there is plenty of room, or if this process released them.
    pub(crate) fn refill_reserve(&self) {
        let Ok(Some(own)) = self.own() else { return };
        if self.reserve_given_up.swap(false, Ordering::Relaxed) {
            // As much of it as fits.
            let _ = fill(own);
        } else {
            fill_if_plenty(own);
        }
    }
}

/// Lets a change continue without the ledger if there is no room for it: making room needs no list.
pub(super) fn unless_full<E: Error + 'static>(listed: Result<(), E>) -> Result<(), E> {
    if listed.as_ref().is_err_and(|error| is_full(error)) { Ok(()) } else { listed }
}

/// Creates the reserve of a collection, unless its disk is nearly full.
pub(in crate::collection) fn fill_if_plenty(own: &Dir) {
    let Ok(room) = own.room() else { return };
    if room.bytes / PLENTY > FILES * BYTES as u64 && room.inodes / PLENTY > FILES {
        // Without it, only a deletion on a full disk may fail.
        let _ = fill(own);
    }
}

fn fill(own: &Dir) -> Result<(), PathError> {
    let reserve = own.ensure_dir(layout::RESERVE)?;
    let mut bytes = None;
    for number in 0..FILES {
        let name = number.to_string();
        match reserve.stat(&name)? {
            Some(stamp) if stamp.bytes == BYTES as u64 => continue,
            // A full disk or a crash left a part of it.
            Some(_) => reserve.remove_file_if_there(Path::new(&name))?,
            None => {}
        }
        let bytes = match &mut bytes {
            Some(bytes) => bytes,
            // A file system may compress blocks, and store equal blocks once.
            none => none.insert(random_bytes::<BYTES>().on("write to", reserve.path())?),
        };
        let mut file = match reserve.create_file(&name) {
            // Another process is creating it.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            outcome => outcome?,
        };
        if let Err(error) = file.write_all(bytes) {
            reserve.remove_file_if_there(Path::new(&name))?;
            return Err(error);
        }
    }
    Ok(())
}

/// Whether the cause of `error` is that the disk, or the quota of the user, is full.
fn is_full(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
        }
        next = error.source();
    }
    false
}
