//! Room for deleting on a full disk: files in `.urepo/reserve`. A deletion that finds no free block, or no
//! free inode, gives them up, and they are made again when it has ended. So does the record that an item stays
//! which a failed run had recorded as leaving.
//!
//! Purging needs no room. Deleting does: a tombstone is a new file before it is the old one, and the trash
//! gets a directory. A lost inventory is rebuilt first, since a Copy may not leave unrecorded: the reserve has
//! room for that of a small collection. What is given up can be taken by anybody; then the deletion fails, and may be repeated.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::atomic::Ordering;

use super::{Collection, CollectionError, Writer};
use crate::agent::Agent;
use crate::disk::{Dir, IoContext, PathError, random_bytes};
use crate::layout;
use crate::wait::Waiter;

/// Stage, intent, tombstone, entry of the trash and what else a deletion makes for the first time; and
/// what the index makes meanwhile.
const FILES: u64 = 12;
/// Bytes of each.
const BYTES: usize = 16 * 1024;
/// The reserve is made where this many times its size is free.
const PLENTY: u64 = 64;

impl Collection {
    /// Joins the writers to delete: on a full disk with the room that is reserved for it.
    pub fn writer_to_delete(
        &self,
        agent: &Agent,
        waiter: &Waiter<'_>,
    ) -> Result<Writer, CollectionError> {
        self.forgive_full_disk(self.with_reserve(|| self.rebuild(agent, waiter)))?;
        self.with_reserve(|| self.join(agent, waiter))
    }

    /// Does `act`, and does it again with the room that is reserved if the disk was full.
    pub(crate) fn with_reserve<T, E: Error + 'static>(
        &self,
        mut act: impl FnMut() -> Result<T, E>,
    ) -> Result<T, E> {
        match act() {
            Err(error) if is_full(&error) => {
                // Another deletion may have given it up just now.
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

    /// Makes what is missing of the reserve, where there is plenty of room, or where this process gave it up.
    pub(crate) fn refill_reserve(&self) {
        let Ok(Some(own)) = self.own() else { return };
        if self.reserve_given_up.swap(false, Ordering::Relaxed) {
            // As much of it as there is room for.
            let _ = fill(own);
        } else {
            fill_if_plenty(own);
        }
    }
}

/// Makes the reserve of a collection, unless its disk is rather full.
pub(super) fn fill_if_plenty(own: &Dir) {
    let Ok(room) = own.room() else { return };
    if room.bytes / PLENTY > FILES * BYTES as u64 && room.inodes / PLENTY > FILES {
        // A deletion on a full disk may fail without it, and nothing else.
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
            // A file system may keep what can be compressed in fewer blocks, and equal blocks once.
            none => none.insert(random_bytes::<BYTES>().on("write to", reserve.path())?),
        };
        let mut file = match reserve.create_file(&name) {
            // Another process makes it.
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
