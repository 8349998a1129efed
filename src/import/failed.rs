//! What was not imported, written so that it can be fed back.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Became, Event};
use crate::disk::{Dir, PathError, StoredFile, Watcher};

/// A file of sources that became no items: rows as they stand in the manifest, or paths ended by NUL.
///
/// It appears whole when it is finished, in place of an older one.
#[derive(Debug)]
pub struct FailedFile {
    dir: Dir,
    name: String,
    file: StoredFile,
    header: Option<Vec<u8>>,
}

impl FailedFile {
    /// Begins the file at `path`; `header` is put before rows.
    pub fn create(
        path: &Path,
        header: Option<Vec<u8>>,
        watcher: &Watcher,
    ) -> Result<FailedFile, PathError> {
        let nameless = || {
            let cause = io::Error::new(io::ErrorKind::InvalidInput, "it has no name in UTF-8");
            PathError::new("create", path, cause)
        };
        let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(nameless)?.to_owned();
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let dir = Dir::open(parent.unwrap_or(Path::new(".")), watcher.clone())?;
        let staged = staged(&name);
        dir.remove_file_if_there(&staged)?;
        let file = dir.create_file(&staged)?;
        Ok(FailedFile { dir, name, file, header })
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

    /// Puts the file in its place.
    pub fn finish(self) -> Result<(), PathError> {
        self.file.sync()?;
        self.dir.replace_with(&format!("{}.new", self.name), &self.name)
    }
}

fn staged(name: &str) -> PathBuf {
    PathBuf::from(format!("{name}.new"))
}
