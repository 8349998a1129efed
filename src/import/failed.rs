//! Writing down what was not imported, so that it can be imported when it is mended.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{Became, Event};
use crate::disk::{NewFile, PathError, Watcher};

/// A file of sources that became no items: rows as they stand in the manifest, or paths ended by NUL.
///
/// It is made only when something failed, appears whole when it is finished, and replaces nothing.
#[derive(Debug)]
pub struct FailedFile {
    file: NewFile,
    header: Option<Vec<u8>>,
}

impl FailedFile {
    /// Prepares the file at `path`, where nothing may be; `header` is put before rows.
    pub fn new(
        path: &Path,
        header: Option<Vec<u8>>,
        watcher: &Watcher,
    ) -> Result<FailedFile, PathError> {
        Ok(FailedFile { file: NewFile::new(path, watcher)?, header })
    }

    /// Adds what failed among `events`.
    pub fn add(&mut self, events: &[Event]) -> Result<(), PathError> {
        let mut bytes = Vec::new();
        for event in events.iter().filter(|event| matches!(event.became, Became::Failed(_))) {
            match (&event.row, &event.path) {
                (Some(row), _) => {
                    if let Some(header) = self.header.take() {
                        bytes.extend(header);
                        bytes.push(b'\n');
                    }
                    bytes.extend_from_slice(&row.bytes);
                    bytes.push(b'\n');
                }
                (None, Some(path)) => {
                    bytes.extend_from_slice(path.as_os_str().as_bytes());
                    bytes.push(0);
                }
                (None, None) => {}
            }
        }
        if bytes.is_empty() { Ok(()) } else { self.file.write_all(&bytes) }
    }

    /// Puts the file in its place, if anything failed.
    pub fn finish(self) -> Result<(), PathError> {
        self.file.finish()
    }
}
