//! Sources that are lists of paths, each ended by a NUL byte.

use std::io::{BufRead, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::ImportError;
use super::candidate::{Candidate, Found, Place, Refused};

/// A path longer than this is no path: the list is not one of NUL-ended names.
const MAX_PATH_BYTES: u64 = 64 * 1024;

/// Reads a list; of a million paths one at a time is in memory.
pub struct List {
    reader: Option<Box<dyn BufRead + Send>>,
    name: String,
    /// What relative paths are relative to.
    base: PathBuf,
}

impl List {
    /// The list that `reader` gives, called `name` in messages.
    pub fn new(reader: Box<dyn BufRead + Send>, name: String, base: PathBuf) -> List {
        List { reader: Some(reader), name, base }
    }

    fn read(&mut self) -> Result<Option<PathBuf>, ImportError> {
        let Some(reader) = &mut self.reader else { return Ok(None) };
        loop {
            let mut bytes = Vec::new();
            let read = Read::by_ref(reader).take(MAX_PATH_BYTES).read_until(0, &mut bytes);
            read.map_err(|source| ImportError::Read { name: self.name.clone(), source })?;
            if bytes.len() as u64 == MAX_PATH_BYTES {
                return Err(ImportError::NotAList { name: self.name.clone() });
            }
            if bytes.last() == Some(&0) {
                bytes.pop();
            } else if bytes.is_empty() {
                return Ok(None);
            }
            if !bytes.is_empty() {
                return Ok(Some(self.base.join(std::ffi::OsString::from_vec(bytes))));
            }
        }
    }
}

impl Iterator for List {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        match self.read() {
            Ok(path) => Some(Ok(Candidate::new(Place::Path(path?)))),
            Err(error) => {
                self.reader = None;
                let source = self.name.clone();
                Some(Err(Box::new(Refused { source, path: None, row: None, error })))
            }
        }
    }
}
