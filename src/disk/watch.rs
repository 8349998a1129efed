//! Sees file operations before they happen and when they have come back: how the tests make the n-th one
//! fail and stand on kernels and file systems that lack something, and how the program names what hangs.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;

use super::synced_names::SyncedNames;

/// What is about to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A file or directory is opened for reading.
    Open,
    /// A directory is listed.
    List,
    /// Kind, size or times are asked for.
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
    /// A file's bytes are forced to the disk.
    SyncFile,
    /// A directory's entries are forced to the disk.
    SyncDirectory,
    /// Everything of a file system is forced to the disk.
    SyncFileSystem,
    /// A name is moved; the path is the new one.
    Rename,
    /// A file or an empty directory is removed.
    Remove,
    /// A lock is taken.
    Lock,
}

/// What some kernels and file systems lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Swapping two names in one step: not on network file systems, nor on FAT.
    Exchange,
    /// Renaming that refuses a name in use: not there either.
    NoReplace,
    /// `openat2`, since Linux 5.6.
    OpenBeneath,
    /// A `syncfs` that forces everything out and reports what failed: not on FUSE, nor before Linux 5.8.
    SyncFileSystem,
}

/// Hears of operations beforehand and may refuse them.
pub trait Watch: Send + Sync {
    /// Called before `operation` is done to `path`; an error is returned in its place.
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()>;

    /// Whether it wants to hear of such operations at all.
    fn hears_of(&self, operation: Operation) -> bool {
        let _ = operation;
        true
    }

    /// Called when the operation that this thread has announced last has come back, well or not.
    fn after(&self) {}

    /// The error of a kernel or file system without `feature`; `None` leaves the answer to the real one.
    fn lacks(&self, feature: Feature) -> Option<io::Error> {
        let _ = feature;
        None
    }

    /// The magic number of the file system that everything lies on, as statfs(2) has it; `None` leaves
    /// the answer to the real one.
    fn file_system(&self) -> Option<i128> {
        None
    }
}

/// An operation that has begun and not come back.
#[must_use = "the operation lasts as long as this value"]
pub(super) struct UnderWay<'a>(Option<&'a dyn Watch>);

impl UnderWay<'_> {
    /// An operation that nobody hears of.
    pub(super) fn unseen() -> UnderWay<'static> {
        UnderWay(None)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if let Some(watch) = self.0 {
            watch.after();
        }
    }
}

/// The observer of operations, if there is one. Without one, operations cost nothing more.
///
/// It goes with every handle, and so also carries whether syncs are done at all, and which directories
/// are known to be on the disk.
#[derive(Clone, Default)]
pub struct Watcher {
    watch: Option<Arc<dyn Watch>>,
    without_sync: bool,
    synced_names: SyncedNames,
}

impl Watcher {
    /// Lets `watch` see every operation.
    pub fn new(watch: Arc<dyn Watch>) -> Watcher {
        Watcher { watch: Some(watch), ..Watcher::default() }
    }

    /// The same, on a file system that cannot sync, or for bytes that can be made again.
    #[must_use]
    pub fn without_sync(self) -> Watcher {
        Watcher { without_sync: true, ..self }
    }

    /// The same for a change that is durable in any case.
    pub(crate) fn with_sync(self) -> Watcher {
        Watcher { without_sync: false, ..self }
    }

    pub(super) fn syncs(&self) -> bool {
        !self.without_sync
    }

    /// Announces an operation, which is under way until the answer is dropped.
    pub(super) fn before(&self, operation: Operation, path: &Path) -> io::Result<UnderWay<'_>> {
        let Some(watch) = self.watch.as_deref().filter(|watch| watch.hears_of(operation)) else {
            return Ok(UnderWay::unseen());
        };
        watch.before(operation, path)?;
        Ok(UnderWay(Some(watch)))
    }

    /// Whether an operation has to be announced.
    pub(super) fn hears_of(&self, operation: Operation) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.hears_of(operation))
    }

    pub(super) fn synced_names(&self) -> &SyncedNames {
        &self.synced_names
    }

    /// Fails where the kernel or the file system is said to be without `feature`.
    pub(super) fn supports(&self, feature: Feature) -> rustix::io::Result<()> {
        match self.watch.as_ref().and_then(|watch| watch.lacks(feature)) {
            None => Ok(()),
            Some(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::NOSYS)),
        }
    }

    /// The file system that everything is said to lie on.
    pub(super) fn file_system(&self) -> Option<i128> {
        self.watch.as_ref().and_then(|watch| watch.file_system())
    }

    pub(super) fn is_watching(&self) -> bool {
        self.watch.is_some()
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_watching() { "Watcher(watching)" } else { "Watcher" })
    }
}
