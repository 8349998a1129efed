//! Errors of the file system, with the action and the path.

use std::io;
use std::path::{Path, PathBuf};

/// A failed file operation. The source is the cause.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} `{}`", path.display())]
pub struct PathError {
    action: &'static str,
    path: PathBuf,
    source: io::Error,
}

impl PathError {
    /// An error of doing `action` ("read", "make the directory") to `path`.
    pub fn new(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> PathError {
        PathError { action, path: path.into(), source }
    }

    /// A link that is not followed.
    pub(crate) fn link(action: &'static str, path: impl Into<PathBuf>) -> PathError {
        PathError::new(action, path, rustix::io::Errno::LOOP.into())
    }

    /// The same error of `action` on the same path: one failure of a sync is reported for many items.
    pub(crate) fn repeated(&self, action: &'static str) -> PathError {
        let source = io::Error::new(self.kind(), format!("{self}: {}", self.source));
        PathError::new(action, &self.path, source)
    }

    /// The path of the operation.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The kind of the cause.
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }

    /// Whether the file system has no room or no inodes left, or the user's quota is used up.
    pub fn is_full(&self) -> bool {
        matches!(self.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    }

    /// Whether the file system does not let this user write.
    pub fn is_refusal(&self) -> bool {
        matches!(self.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
    }

    /// Whether the path, or a directory on the way to it, is a link, which is never followed.
    pub fn is_link(&self) -> bool {
        self.is(rustix::io::Errno::LOOP)
    }

    /// A shortage of descriptors or memory in this process or machine, which does not concern the path.
    pub fn shortage(&self) -> Option<Shortage> {
        use rustix::io::Errno;
        let errno =
            [Errno::MFILE, Errno::NFILE, Errno::NOMEM].into_iter().find(|it| self.is(*it))?;
        Some(Shortage { action: self.action, path: self.path.clone(), errno })
    }

    pub(super) fn cause(&self) -> &io::Error {
        &self.source
    }

    pub(super) fn is(&self, errno: rustix::io::Errno) -> bool {
        self.source.raw_os_error() == Some(errno.raw_os_error())
    }
}

/// An operation that failed for lack of descriptors or memory, whatever its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    action: &'static str,
    path: PathBuf,
    errno: rustix::io::Errno,
}

impl Shortage {
    /// The error.
    pub fn to_error(&self) -> PathError {
        PathError::new(self.action, self.path.clone(), self.errno.into())
    }
}

/// A path beneath a directory, built only if a message needs it.
pub(super) struct At<'a> {
    pub above: &'a Path,
    pub relative: &'a Path,
}

impl From<At<'_>> for PathBuf {
    fn from(at: At<'_>) -> PathBuf {
        at.above.join(at.relative)
    }
}

/// Gives a bare error its action and path.
pub(crate) trait IoContext<T> {
    fn on(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, PathError>;
}

impl<T, E: Into<io::Error>> IoContext<T> for Result<T, E> {
    fn on(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, PathError> {
        self.map_err(|error| PathError::new(action, path, error.into()))
    }
}
