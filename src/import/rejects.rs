//! Writing the sources that were not imported to a file, so that they can be imported after they are
//! corrected.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Became, Event};
use crate::disk::{NewFile, PathError, Watcher};

/// The content of a file of failed sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectsKind {
    /// Rows of a manifest.
    Rows,
    /// Paths ended by NUL.
    Paths,
}

/// A file of failed sources: unchanged rows of the manifest, or paths ended by NUL.
///
/// It is created only after a failure, appears when it is complete, and replaces nothing.
#[derive(Debug)]
pub struct RejectsFile {
    file: NewFile,
    path: PathBuf,
    written: Option<RejectsKind>,
    header: Option<Vec<u8>>,
}

impl RejectsFile {
    /// Prepares the file at `path`, which must not exist; `header` precedes rows.
    pub fn new(
        path: &Path,
        header: Option<Vec<u8>>,
        watcher: &Watcher,
    ) -> Result<RejectsFile, PathError> {
        let (file, path) = (NewFile::new(path, watcher)?, path.to_path_buf());
        Ok(RejectsFile { file, path, written: None, header })
    }

    /// Adds the failures among `events`.
    pub fn add(&mut self, events: &[Event]) -> Result<(), PathError> {
        let mut bytes = Vec::new();
        for event in events.iter().filter(|event| matches!(event.became, Became::Failed(_))) {
            match (&event.row, &event.path) {
                // One that is too long was not kept; its error says so.
                (Some(row), _) if row.bytes.is_empty() => {}
                (Some(row), _) => {
                    self.written = Some(RejectsKind::Rows);
                    if let Some(header) = self.header.take() {
                        bytes.extend(header);
                        bytes.push(b'\n');
                    }
                    bytes.extend_from_slice(&row.bytes);
                    bytes.push(b'\n');
                }
                (None, Some(path)) => {
                    self.written = Some(RejectsKind::Paths);
                    bytes.extend_from_slice(path.as_os_str().as_bytes());
                    bytes.push(0);
                }
                (None, None) => {}
            }
        }
        if bytes.is_empty() { Ok(()) } else { self.file.write_all(&bytes) }
    }

    /// Publishes the file after a failure, and returns its path and content.
    pub fn finish(self) -> Result<Option<(PathBuf, RejectsKind)>, PathError> {
        self.file.finish()?;
        Ok(self.written.map(|written| (self.path, written)))
    }
}
