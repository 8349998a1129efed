//! Writing down what was not imported, so that it can be imported when it is mended.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Became, Event};
use crate::disk::{NewFile, PathError, Watcher};

/// The content of a file of sources that became no items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedKind {
    /// Rows of a manifest.
    Rows,
    /// Paths ended by NUL.
    Paths,
}

/// A file of sources that became no items: rows as they stand in the manifest, or paths ended by NUL.
///
/// It is made only when something failed, appears whole when it is finished, and replaces nothing.
#[derive(Debug)]
pub struct FailedFile {
    file: NewFile,
    path: PathBuf,
    written: Option<FailedKind>,
    header: Option<Vec<u8>>,
}

impl FailedFile {
    /// Prepares the file at `path`, where nothing may be; `header` is put before rows.
    pub fn new(
        path: &Path,
        header: Option<Vec<u8>>,
        watcher: &Watcher,
    ) -> Result<FailedFile, PathError> {
        let (file, path) = (NewFile::new(path, watcher)?, path.to_path_buf());
        Ok(FailedFile { file, path, written: None, header })
    }

    /// Adds what failed among `events`.
    pub fn add(&mut self, events: &[Event]) -> Result<(), PathError> {
        let mut bytes = Vec::new();
        for event in events.iter().filter(|event| matches!(event.became, Became::Failed(_))) {
            match (&event.row, &event.path) {
                (Some(row), _) => {
                    self.written = Some(FailedKind::Rows);
                    if let Some(header) = self.header.take() {
                        bytes.extend(header);
                        bytes.push(b'\n');
                    }
                    bytes.extend_from_slice(&row.bytes);
                    bytes.push(b'\n');
                }
                (None, Some(path)) => {
                    self.written = Some(FailedKind::Paths);
                    bytes.extend_from_slice(path.as_os_str().as_bytes());
                    bytes.push(0);
                }
                (None, None) => {}
            }
        }
        if bytes.is_empty() { Ok(()) } else { self.file.write_all(&bytes) }
    }

    /// Puts the file in its place, if anything failed, and returns where it is and what it has.
    pub fn finish(self) -> Result<Option<(PathBuf, FailedKind)>, PathError> {
        self.file.finish()?;
        Ok(self.written.map(|written| (self.path, written)))
    }
}
