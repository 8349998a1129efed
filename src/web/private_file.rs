//! Small files of secrets: TOML that only its owner can read. Every change replaces the file, durably and under a lock, so
//! that a server and the commands of its administrator can run side by side.

use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::agent::Caller;
use crate::disk::{Dir, Lock, LockError, LockMode, PathError, Version, Watcher};
use crate::sidecar::SidecarError;

/// Most bytes of a file.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Why a file cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum PrivateFileError {
    /// The file system refuses.
    #[error(transparent)]
    Disk(#[from] PathError),
    /// Another process changes it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Its content is not what it should be.
    #[error("`{}` cannot be understood", .0.display())]
    Content(PathBuf, #[source] SidecarError),
    /// Others can read it.
    #[error("others can read `{}`", .0.display())]
    Open(PathBuf),
}

/// A file with a `T`.
#[derive(Debug)]
pub struct PrivateFile<T> {
    dir: Dir,
    name: String,
    /// The comment at its begin.
    header: &'static str,
    content: PhantomData<fn() -> T>,
}

impl<T: Default + Clone + PartialEq + Serialize + DeserializeOwned> PrivateFile<T> {
    /// The file at `path`, which need not exist yet; its directory must.
    pub fn at(path: &Path, header: &'static str) -> Result<PrivateFile<T>, PrivateFileError> {
        let name = path.file_name().and_then(std::ffi::OsStr::to_str);
        let (Some(above), Some(name)) = (path.parent(), name) else {
            let error = std::io::ErrorKind::InvalidFilename.into();
            return Err(PathError::new("open", path, error).into());
        };
        let (dir, name) = (Dir::open(above, Watcher::default())?, name.to_owned());
        Ok(PrivateFile { dir, name, header, content: PhantomData })
    }

    /// The same in a directory that is made if it is missing.
    pub fn within(
        dir: &Path,
        name: &str,
        header: &'static str,
    ) -> Result<PrivateFile<T>, PrivateFileError> {
        let dir = Dir::make_with_parents(dir, &Watcher::default())?;
        Ok(PrivateFile { dir, name: name.to_owned(), header, content: PhantomData })
    }

    /// Reads it; the default if there is none.
    pub fn read(&self) -> Result<T, PrivateFileError> {
        let Some(mut file) = self.dir.open_file_if_there(&self.name)? else {
            return Ok(T::default());
        };
        if file.stat()?.mode & 0o077 != 0 {
            return Err(PrivateFileError::Open(self.path()));
        }
        let text = String::from_utf8_lossy(&file.read_all(MOST_BYTES)?).into_owned();
        let fault = |error: &_| SidecarError::malformed(&text, error);
        toml::from_str(&text).map_err(|error| PrivateFileError::Content(self.path(), fault(&error)))
    }

    /// Changes it under its lock; the change is durable when this returns.
    pub fn change<R, E: From<PrivateFileError>>(
        &self,
        caller: &Caller<'_>,
        change: impl FnOnce(&mut T) -> Result<R, E>,
    ) -> Result<(T, R), E> {
        let _lock = self.lock(caller)?;
        let mut content = self.read()?;
        let before = content.clone();
        let outcome = change(&mut content)?;
        if content != before {
            self.write(&content)?;
        }
        Ok((content, outcome))
    }

    fn lock(&self, caller: &Caller<'_>) -> Result<Lock, PrivateFileError> {
        let (name, holder) = (format!("{}.lock", self.name), caller.agent.holder(caller.clock));
        Ok(Lock::take(&self.dir, &name, LockMode::Exclusive, &holder, &caller.waiter())?)
    }

    fn write(&self, content: &T) -> Result<(), PrivateFileError> {
        let text = toml::to_string(content).map_err(|error| {
            PathError::new("write", self.path(), std::io::Error::other(error.to_string()))
        })?;
        let staged = format!("{}.new", self.name);
        // That of a replacement which was killed.
        self.dir.remove_file_if_there(Path::new(&staged))?;
        let mut file = self.dir.create_file_with_mode(&staged, 0o600)?;
        file.write_all(format!("# {}\n\n{text}", self.header).as_bytes())?;
        file.sync()?;
        Ok(self.dir.replace_with(&staged, &self.name)?)
    }

    /// A value that changes when the file does; `None` without a file.
    pub(crate) fn version(&self) -> Option<Version> {
        self.dir.glance(&self.name).map(|stat| stat.version())
    }

    /// Its path.
    pub fn path(&self) -> PathBuf {
        self.dir.path_of(&self.name)
    }
}
