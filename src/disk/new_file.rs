//! A file that appears whole and replaces nothing.

use std::io;
use std::path::{Path, PathBuf};

use super::{Dir, PathError, StoredFile, Watcher, random_hex};

/// A file that is created with its first bytes, and gets its name when it is complete.
#[derive(Debug)]
pub struct NewFile {
    dir: Dir,
    name: PathBuf,
    /// The bytes so far, under a temporary name.
    staged: Option<(PathBuf, StoredFile)>,
}

impl NewFile {
    /// Prepares the file at `path`, where nothing may be.
    pub fn new(path: &Path, watcher: &Watcher) -> Result<NewFile, PathError> {
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
        Ok(NewFile { dir, name, staged: None })
    }

    /// Adds `bytes`.
    pub fn write_all(&mut self, bytes: &[u8]) -> Result<(), PathError> {
        self.staged()?.write_all(bytes)
    }

    fn staged(&mut self) -> Result<&mut StoredFile, PathError> {
        let staged = if let Some(staged) = self.staged.take() {
            staged
        } else {
            let token = random_hex::<4>()
                .map_err(|error| PathError::new("create", self.dir.path_of(&self.name), error))?;
            let name = PathBuf::from(format!(".urepo-new-{token}"));
            let file = self.dir.create_file(&name)?;
            (name, file)
        };
        Ok(&mut self.staged.insert(staged).1)
    }

    /// Gives the file its name, if anything was written.
    pub fn finish(mut self) -> Result<(), PathError> {
        let Some((name, file)) = &self.staged else { return Ok(()) };
        file.sync()?;
        self.dir.rename_new(name, &self.dir, &self.name)?;
        self.staged = None;
        self.dir.sync()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some((name, _)) = self.staged.take() {
            let _ = self.dir.remove_file(&name);
        }
    }
}
