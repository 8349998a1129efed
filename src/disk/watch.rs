//! Watching file operations before they begin and after they return. By this, the tests make the n-th
//! operation fail and simulate kernels and file systems without a feature, and the program names an operation
//! that hangs.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::io::Errno;

use super::synced_names::SyncedNames;

/// The operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A file or directory is opened for reading.
    Open,
    /// A directory is listed.
    List,
    /// Kind, size or times are read.
    Inspect,
    /// A file is read from.
    Read,
    /// A new file is made.
    CreateFile,
    /// A new directory is made.
    MakeDirectory,
    /// A symbolic link is made.
    MakeLink,
    /// Bytes are written to a file.
    Write,
    /// Mode or times are set.
    SetAttributes,
    /// A file's bytes are synced.
    SyncFile,
    /// A directory's entries are synced.
    SyncDirectory,
    /// A whole file system is synced.
    SyncFileSystem,
    /// A name is moved; the path is the new one.
    Rename,
    /// A file or an empty directory is removed.
    Remove,
    /// A lock is taken.
    Lock,
}

/// Features that some kernels and file systems do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Swapping two names in one step; missing on network file systems and on FAT.
    Exchange,
    /// Renaming that refuses a name in use; missing there, too.
    NoReplace,
    /// `openat2`, since Linux 5.6.
    OpenBeneath,
    /// A `syncfs` that syncs everything and reports failures; missing on FUSE and before Linux 5.8.
    SyncFileSystem,
}

/// Is called before operations, and may refuse them.
pub trait Watch: Send + Sync {
    /// Called before `operation` on `path`; an error is returned in its place.
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()>;

    /// The error of a kernel or file system without `feature`; `None` uses the real one.
    fn lacks(&self, feature: Feature) -> Option<io::Error> {
        let _ = feature;
        None
    }

    /// The magic number in statfs(2) to report for every file; `None` uses the real one.
    fn file_system(&self) -> Option<i128> {
        None
    }

    /// Limit on files and directories that are synced one by one where one call could sync everything; `None` uses the real
    /// one.
    fn few(&self) -> Option<usize> {
        None
    }
}

/// The watcher of operations, if there is one. Without a watcher, operations cost nothing extra.
///
/// Every handle carries it, and with it what the process has learned of the file system: which directories are known to be
/// durable, and whether files can share blocks.
#[derive(Clone, Default)]
pub struct Watcher {
    watch: Option<Arc<dyn Watch>>,
    synced_names: SyncedNames,
    shares_none: Arc<AtomicBool>,
}

impl Watcher {
    /// A watcher that passes every operation to `watch`.
    pub fn new(watch: Arc<dyn Watch>) -> Watcher {
        Watcher { watch: Some(watch), ..Watcher::default() }
    }

    /// Announces an operation.
    pub(super) fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        tracing::trace!(?operation, ?path);
        self.watch.as_ref().map_or(Ok(()), |watch| watch.before(operation, path))
    }

    pub(super) fn synced_names(&self) -> &SyncedNames {
        &self.synced_names
    }

    /// Whether no file there has been able to share the blocks of another.
    pub(super) fn shares_none(&self) -> &AtomicBool {
        &self.shares_none
    }

    /// Fails if the watcher simulates the lack of `feature`.
    pub(super) fn supports(&self, feature: Feature) -> rustix::io::Result<()> {
        match self.watch.as_ref().and_then(|watch| watch.lacks(feature)) {
            None => Ok(()),
            Some(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::NOSYS)),
        }
    }

    /// The simulated file system.
    pub(super) fn file_system(&self) -> Option<i128> {
        self.watch.as_ref().and_then(|watch| watch.file_system())
    }

    /// The simulated limit on files and directories that are synced one by one.
    pub(super) fn few(&self) -> Option<usize> {
        self.watch.as_ref().and_then(|watch| watch.few())
    }

    /// Whether operations have to be announced.
    pub(super) fn is_watching(&self) -> bool {
        self.watch.is_some()
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_watching() { "Watcher(watching)" } else { "Watcher" })
    }
}
