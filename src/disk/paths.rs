//! Lists of paths, each ended by a NUL byte, as `find -print0` writes them, or by a line break.

use std::io::{self, BufRead, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// Limit on a path; a longer one shows that the list does not have such paths.
const MAX_PATH_BYTES: u64 = 64 * 1024;

/// Reads a list; only one path at a time is in memory.
pub struct Paths {
    reader: Box<dyn BufRead + Send>,
    end: u8,
}

/// Why there is no next path.
#[derive(Debug)]
pub enum NoPath {
    /// The list cannot be read further.
    Unreadable(io::Error),
    /// It does not have paths with such ends.
    NotAList,
}

impl Paths {
    /// The list read from `reader`, in which the byte `end` ends each path.
    pub fn new(reader: Box<dyn BufRead + Send>, end: u8) -> Paths {
        Paths { reader, end }
    }

    /// The next path; the last one need not have an end. Empty paths are skipped.
    pub fn read(&mut self) -> Result<Option<PathBuf>, NoPath> {
        loop {
            let mut bytes = Vec::new();
            let read = Read::by_ref(&mut self.reader)
                .take(MAX_PATH_BYTES)
                .read_until(self.end, &mut bytes);
            if read.map_err(NoPath::Unreadable)? as u64 == MAX_PATH_BYTES {
                return Err(NoPath::NotAList);
            }
            if bytes.last() == Some(&self.end) {
                bytes.pop();
            } else if bytes.is_empty() {
                return Ok(None);
            }
            if !bytes.is_empty() {
                return Ok(Some(std::ffi::OsString::from_vec(bytes).into()));
            }
        }
    }
}
