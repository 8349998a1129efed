//! Writing down what was not imported, so that it can be imported when it is mended.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Became, Event};
use crate::disk::{Dir, PathError, StoredFile, Watcher, random_hex};

/// A file of sources that became no items: rows as they stand in the manifest, or paths ended by NUL.
///
/// It is made only when something failed, appears whole when it is finished, and replaces nothing.
#[derive(Debug)]
pub struct FailedFile {
    dir: Dir,
    name: PathBuf,
    header: Option<Vec<u8>>,
    /// What was written so far, under a name of its own.
    staged: Option<(PathBuf, StoredFile)>,
}

impl FailedFile {
    /// Prepares the file at `path`, where nothing may be; `header` is put before rows.
    pub fn new(
        path: &Path,
        header: Option<Vec<u8>>,
        watcher: &Watcher,
    ) -> Result<FailedFile, PathError> {
        let refused = |kind, text| PathError::new("create", path, io::Error::new(kind, text));
        let Some(name) = path.file_name().map(PathBuf::from) else {
            return Err(refused(io::ErrorKind::InvalidInput, "it has no name"));
        };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let dir = Dir::open(parent.unwrap_or(Path::new(".")), watcher.clone())?;
        if dir.stat(&name)?.is_some() {
            let text = "it exists already, and nothing is replaced";
            return Err(refused(io::ErrorKind::AlreadyExists, text));
        }
        Ok(FailedFile { dir, name, header, staged: None })
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
        if bytes.is_empty() { Ok(()) } else { self.staged()?.write_all(&bytes) }
    }

    fn staged(&mut self) -> Result<&mut StoredFile, PathError> {
        let staged = if let Some(staged) = self.staged.take() {
            staged
        } else {
            let token = random_hex::<4>()
                .map_err(|error| PathError::new("create", self.dir.path_of(&self.name), error))?;
            let name = PathBuf::from(format!(".urepo-failed-{token}"));
            let file = self.dir.create_file(&name)?;
            (name, file)
        };
        Ok(&mut self.staged.insert(staged).1)
    }

    /// Puts the file in its place, if anything failed.
    pub fn finish(mut self) -> Result<(), PathError> {
        let Some((name, file)) = &self.staged else { return Ok(()) };
        file.sync()?;
        self.dir.rename_new(name, &self.dir, &self.name)?;
        self.staged = None;
        self.dir.sync()
    }
}

impl Drop for FailedFile {
    fn drop(&mut self) {
        if let Some((name, _)) = self.staged.take() {
            let _ = self.dir.remove_file(&name);
        }
    }
}
