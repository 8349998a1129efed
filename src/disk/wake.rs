//! Files written lately: what is on the disk of them is not kept in memory.
//!
//! A copy is not read again soon, and other programs' files are to stay in memory. It is faster, too:
//! memory that is used over and over need not be found first, by the kernel or by the host of a virtual
//! machine, which takes back what is free. Files of 1 MiB were deposited in three quarters of the time.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use super::StoredFile;

/// After this number of further files the bytes of one are on the disk, or it does not matter.
const FILES: usize = 16;

/// One part of the program may hold this fraction of the files that the process may have open.
const SHARE: usize = 16;

/// A file smaller than this is not worth it.
const LARGE_BYTES: u64 = 256 * 1024;

/// After this many bytes the kernel is asked to write back what has been written.
const WRITE_BACK_BYTES: u64 = 8 * 1024 * 1024;

/// How much of a file may be on its way to the disk.
const BEHIND_BYTES: u64 = 3 * WRITE_BACK_BYTES;

/// Files that this process may have open at once.
pub(crate) fn descriptor_limit() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX)
}

/// How many files or directories one part of the program may hold open: `most`, and no more than its share
/// of what the process may have open.
pub(crate) fn open_at_most(most: usize) -> usize {
    (descriptor_limit() / SHARE).clamp(1, most)
}

/// The files that were written last.
#[derive(Debug)]
pub(crate) struct Wake {
    files: Mutex<VecDeque<(StoredFile, u64)>>,
    limit: usize,
}

impl Wake {
    pub(crate) fn new() -> Wake {
        Wake { files: Mutex::default(), limit: open_at_most(FILES) }
    }

    /// Takes a file of `bytes` bytes in which everything is written.
    pub(crate) fn follow(&self, file: StoredFile, bytes: u64) {
        if bytes < LARGE_BYTES {
            return;
        }
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.push_back((file, bytes));
        let first = if files.len() > self.limit { files.pop_front() } else { None };
        drop(files);
        if let Some((file, bytes)) = first {
            let_go_of_the_end(&file, bytes);
        }
    }
}

/// What is to be told to the kernel of a file that is being written.
#[derive(Debug, Default)]
pub(crate) struct WriteBack {
    told: u64,
}

impl WriteBack {
    /// Notes how many bytes `file` has now.
    pub(crate) fn has(&mut self, file: &StoredFile, bytes: u64) {
        if bytes - self.told >= WRITE_BACK_BYTES {
            let_go_of_the_end(file, bytes);
            self.told = bytes;
        }
    }

    /// Notes that they are all; a small rest is left for the final sync.
    pub(crate) fn ends(self, file: &StoredFile, bytes: u64) {
        if bytes - self.told >= LARGE_BYTES {
            let_go_of_the_end(file, bytes);
        }
    }
}

/// Has the last bytes written back, or forgotten if they are.
fn let_go_of_the_end(file: &StoredFile, bytes: u64) {
    let begin = bytes.saturating_sub(BEHIND_BYTES);
    file.let_go(begin, bytes - begin);
}
