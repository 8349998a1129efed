//! A directory held open: everything below it is reached through its descriptor.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::retry_on_intr;

use super::beneath::{Above, open_above, open_beneath};
use super::error::At;
use super::file::StoredFile;
use super::stat::{
    Attributes, Blocks, FileStat, UNCHANGED, set_attributes, set_attributes_at, timestamps,
};
use super::umask::Sharing;
use super::watch::{Feature, Operation, Watcher};
use super::{IoContext, PathError};
use crate::identity::Instant;

/// A directory opened once.
///
/// Paths given to its methods are relative and lie beneath it. No method follows a symbolic link or leaves
/// the directory, whatever entries are planted there.
#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    path: PathBuf,
    watcher: Watcher,
    sharing: Sharing,
}

impl Dir {
    /// Opens the directory at `path`, which may be a link to one.
    pub fn open(path: &Path, watcher: Watcher) -> Result<Dir, PathError> {
        Dir::open_with(path, OFlags::empty(), watcher)
    }

    /// Opens the directory at `path`, which may not be a link.
    pub fn open_no_follow(path: &Path, watcher: Watcher) -> Result<Dir, PathError> {
        Dir::open_with(path, OFlags::NOFOLLOW, watcher)
    }

    fn open_with(path: &Path, extra: OFlags, watcher: Watcher) -> Result<Dir, PathError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | extra;
        let opened = watcher.before(Operation::Open, path).and_then(|()| {
            Ok(retry_on_intr(|| rustix::fs::openat(CWD, path, flags, Mode::empty()))?)
        });
        let fd = opened.on("open the directory", path)?;
        Ok(Dir::from_descriptor(fd, path.to_path_buf(), watcher))
    }

    /// A directory opened in another way.
    pub(super) fn from_descriptor(fd: OwnedFd, path: PathBuf, watcher: Watcher) -> Dir {
        Dir { fd, path, watcher, sharing: Sharing::default() }
    }

    /// The same, with entries made beneath it shared in this way.
    pub(super) fn with_sharing(self, sharing: Sharing) -> Dir {
        Dir { sharing, ..self }
    }

    /// The sharing of entries made beneath it.
    pub(super) fn sharing(&self) -> Sharing {
        self.sharing
    }

    /// The path of this directory, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of `relative`, for messages.
    pub fn path_of(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.path.join(relative)
    }

    /// The same, built only if a message needs it.
    pub(super) fn at<'a>(&'a self, relative: &'a Path) -> At<'a> {
        At { above: &self.path, relative }
    }

    /// Opens a directory beneath this one.
    pub fn open_dir(&self, relative: impl AsRef<Path>) -> Result<Dir, PathError> {
        let relative = relative.as_ref();
        let fd = self
            .open_fd(relative, OFlags::RDONLY | OFlags::DIRECTORY)
            .on("open the directory", self.at(relative))?;
        Ok(self.beneath(fd, self.path_of(relative)))
    }

    /// Opens a directory beneath this one; `None` if it does not exist.
    pub fn open_dir_if_there(&self, relative: impl AsRef<Path>) -> Result<Option<Dir>, PathError> {
        absent_is_none(self.open_dir(relative))
    }

    /// Opens a file beneath this one for reading. A FIFO does not block; check its stamp.
    pub fn open_file(&self, relative: impl AsRef<Path>) -> Result<StoredFile, PathError> {
        let relative = relative.as_ref();
        let fd = self
            .open_fd(relative, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)
            .on("open", self.at(relative))?;
        Ok(StoredFile::new(File::from(fd), self.path_of(relative), self.watcher.clone()))
    }

    /// Opens a file beneath this one; `None` if it does not exist.
    pub fn open_file_if_there(
        &self,
        relative: impl AsRef<Path>,
    ) -> Result<Option<StoredFile>, PathError> {
        absent_is_none(self.open_file(relative))
    }

    /// Opens a file for reading and writing, or creates it.
    pub fn open_growing_file(&self, relative: impl AsRef<Path>) -> Result<StoredFile, PathError> {
        self.open_or_create(relative.as_ref(), self.sharing.file_mode())
    }

    /// Opens a lock file, or creates it. Only writers may open it: with a lock on it, anybody who can read it could keep
    /// them waiting.
    pub fn open_lock_file(&self, relative: impl AsRef<Path>) -> Result<StoredFile, PathError> {
        self.open_or_create(relative.as_ref(), self.sharing.file_mode() & 0o660)
    }

    /// Opens a file for reading and writing, or creates it with these permission bits.
    fn open_or_create(&self, relative: &Path, mode: u32) -> Result<StoredFile, PathError> {
        let path = self.path_of(relative);
        let flags = OFlags::RDWR | OFlags::NONBLOCK;
        let open = |operation, extra, mode| {
            self.watcher.before(operation, &path)?;
            Ok(self.open_beneath(relative, flags | extra, mode)?)
        };
        let fd = match open(Operation::Open, OFlags::empty(), 0) {
            Err(error) if is_absent(&error) => open(Operation::CreateFile, OFlags::CREATE, mode),
            opened => opened,
        };
        let fd = fd.on("open", &path)?;
        Ok(StoredFile::new(File::from(fd), path, self.watcher.clone()))
    }

    /// Creates a new file and opens it for writing.
    pub fn create_file(&self, relative: impl AsRef<Path>) -> Result<StoredFile, PathError> {
        let relative = relative.as_ref();
        self.create_with(relative, self.sharing.file_mode())
    }

    /// The same with permission bits of its own, less those that the umask withholds: nobody else
    /// shares it.
    pub fn create_file_with_mode(
        &self,
        relative: impl AsRef<Path>,
        mode: u32,
    ) -> Result<StoredFile, PathError> {
        self.create_with(relative.as_ref(), Sharing::own_mode(mode))
    }

    fn create_with(&self, relative: &Path, mode: u32) -> Result<StoredFile, PathError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let made = self
            .step(Operation::CreateFile, relative)
            .and_then(|()| Ok(self.open_beneath(relative, flags, mode)?))
            .map_err(|error| self.name_error(relative, error));
        let fd = made.on("create", self.at(relative))?;
        Ok(StoredFile::new(File::from(fd), self.path_of(relative), self.watcher.clone()))
    }

    /// Creates a new directory.
    pub fn make_dir(&self, relative: impl AsRef<Path>) -> Result<(), PathError> {
        let relative = relative.as_ref();
        self.make_dir_raw(relative, self.sharing.directory_mode())
            .map_err(|error| self.name_error(relative, error))
            .on("make the directory", self.at(relative))
    }

    /// Makes a directory that only its owner may enter.
    pub fn make_private_dir(&self, relative: impl AsRef<Path>) -> Result<(), PathError> {
        let relative = relative.as_ref();
        self.make_dir_raw(relative, 0o700).on("make the directory", self.at(relative))
    }

    fn make_dir_raw(&self, relative: &Path, mode: u32) -> io::Result<()> {
        let mode = Mode::from_raw_mode(mode);
        self.on_name(Operation::MakeDirectory, relative, |above, name| {
            rustix::fs::mkdirat(above, name, mode)
        })
    }

    /// Makes the directory if it is missing, synced into this one, and opens it.
    pub fn ensure_dir(&self, name: impl AsRef<Path>) -> Result<Dir, PathError> {
        let name = name.as_ref();
        if let Some(dir) = self.open_dir_if_there(name)? {
            return Ok(dir);
        }
        match self.make_dir(name) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            // Made here or, a moment ago, by another process that may not have synced it yet.
            _ => self.sync()?,
        }
        self.open_dir(name)
    }

    /// Creates a symbolic link to `target` at `relative`.
    pub fn make_link(&self, target: &OsStr, relative: &Path) -> Result<(), PathError> {
        let made = self.on_name(Operation::MakeLink, relative, |above, name| {
            rustix::fs::symlinkat(target, above, name)
        });
        let made = made.map_err(|error| self.link_error(self.name_error(relative, error)));
        made.on("make the link", self.at(relative))
    }

    /// The target of the symbolic link at `relative`.
    pub fn read_link(&self, relative: &Path) -> Result<std::ffi::OsString, PathError> {
        let target = self.on_name(Operation::Inspect, relative, |above, name| {
            rustix::fs::readlinkat(above, name, Vec::new())
        });
        let target = target.on("read the link", self.at(relative))?;
        Ok(OsStr::from_bytes(target.as_bytes()).to_os_string())
    }

    /// Kind, size and times of `relative`, without following links; `None` if it does not exist.
    pub fn stat(&self, relative: impl AsRef<Path>) -> Result<Option<FileStat>, PathError> {
        Ok(self.raw_stat(relative.as_ref())?.map(|stat| FileStat::of(&stat)))
    }

    /// The same, with its usage of the disk.
    pub(super) fn stat_with_blocks(
        &self,
        relative: &Path,
    ) -> Result<Option<(FileStat, Blocks)>, PathError> {
        Ok(self.raw_stat(relative)?.map(|stat| (FileStat::of(&stat), Blocks::of(&stat))))
    }

    /// Whether nothing is at `relative`, or a file that another process is just removing: its name stays for a moment.
    pub(crate) fn is_gone(&self, relative: &Path) -> Result<bool, PathError> {
        Ok(self.stat_with_blocks(relative)?.is_none_or(|(_, blocks)| blocks.names == 0))
    }

    fn raw_stat(&self, relative: &Path) -> Result<Option<rustix::fs::Stat>, PathError> {
        let stat = self.on_name(Operation::Inspect, relative, |above, name| {
            rustix::fs::statat(above, name, AtFlags::SYMLINK_NOFOLLOW)
        });
        match stat {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error).on("inspect", self.at(relative)),
        }
    }

    /// Kind, size and times of this directory itself.
    pub fn own_stat(&self) -> Result<FileStat, PathError> {
        self.own_stat_with_blocks().map(|(stat, _)| stat)
    }

    /// The same, with its usage of the disk.
    pub(super) fn own_stat_with_blocks(&self) -> Result<(FileStat, Blocks), PathError> {
        let stat = retry_on_intr(|| rustix::fs::fstat(&self.fd)).on("inspect", &self.path)?;
        Ok((FileStat::of(&stat), Blocks::of(&stat)))
    }

    /// Sets mode bits and modification time of this directory itself.
    pub fn set_attributes(&self, attributes: Attributes) -> Result<(), PathError> {
        self.step(Operation::SetAttributes, Path::new(""))
            .and_then(|()| set_attributes(&self.fd, attributes))
            .on("set mode and time of", &self.path)
    }

    /// Sets mode bits and modification time of the directory at `relative`.
    pub fn set_attributes_at(
        &self,
        relative: &Path,
        attributes: Attributes,
    ) -> Result<(), PathError> {
        let set = self.on_name(Operation::SetAttributes, relative, |above, name| {
            set_attributes_at(above, name, attributes, &self.watcher)
        });
        set.on("set mode and time of", self.at(relative))
    }

    /// Sets the modification time of the link at `relative`.
    pub fn set_link_time(&self, relative: &Path, modified: Instant) -> Result<(), PathError> {
        let times = timestamps(modified, UNCHANGED);
        let set = self.on_name(Operation::SetAttributes, relative, |above, name| {
            rustix::fs::utimensat(above, name, &times, AtFlags::SYMLINK_NOFOLLOW)
        });
        set.on("set the time of", self.at(relative))
    }

    /// Forces this directory's entries to the disk.
    pub fn sync(&self) -> Result<(), PathError> {
        self.step(Operation::SyncDirectory, Path::new(""))
            .and_then(|()| Ok(retry_on_intr(|| rustix::fs::fsync(&self.fd))?))
            .on("sync", &self.path)
    }

    /// Removes a file or link.
    pub fn remove_file(&self, relative: &Path) -> Result<(), PathError> {
        self.remove(relative, AtFlags::empty()).on("remove", self.at(relative))
    }

    /// Removes a file or link if it exists.
    pub fn remove_file_if_there(&self, relative: &Path) -> Result<(), PathError> {
        absent_is_none(self.remove_file(relative)).map(|_| ())
    }

    /// Removes an empty directory.
    pub fn remove_dir(&self, relative: &Path) -> Result<(), PathError> {
        self.remove(relative, AtFlags::REMOVEDIR).on("remove the directory", self.at(relative))
    }

    /// Removes an empty directory if it exists.
    pub(super) fn remove_dir_if_there(&self, relative: &Path) -> Result<(), PathError> {
        absent_is_none(self.remove_dir(relative)).map(|_| ())
    }

    fn remove(&self, relative: &Path, flags: AtFlags) -> io::Result<()> {
        self.on_name(Operation::Remove, relative, |above, name| {
            rustix::fs::unlinkat(above, name, flags)
        })
    }

    /// Another handle on the same directory.
    pub fn try_clone(&self) -> Result<Dir, PathError> {
        let fd = self.fd.try_clone().on("open the directory", &self.path)?;
        Ok(self.beneath(fd, self.path.clone()))
    }

    fn beneath(&self, fd: OwnedFd, path: PathBuf) -> Dir {
        Dir::from_descriptor(fd, path, self.watcher()).with_sharing(self.sharing)
    }

    /// The watcher of this directory.
    pub fn watcher(&self) -> Watcher {
        self.watcher.clone()
    }

    /// Fails where the kernel or the file system is said to be without `feature`.
    pub(super) fn supports(&self, feature: Feature) -> rustix::io::Result<()> {
        self.watcher.supports(feature)
    }

    /// Announces `operation` and calls `call` with the directory that `relative` lies in, and its name there.
    fn on_name<T>(
        &self,
        operation: Operation,
        relative: &Path,
        call: impl Fn(&Above<'_>, &Path) -> rustix::io::Result<T>,
    ) -> io::Result<T> {
        self.step(operation, relative)?;
        let (above, name) = self.above(relative)?;
        Ok(retry_on_intr(|| call(&above, name))?)
    }

    /// The directory that `relative` lies in, and its name there.
    pub(super) fn above<'a>(
        &'a self,
        relative: &'a Path,
    ) -> rustix::io::Result<(Above<'a>, &'a Path)> {
        open_above(self.fd.as_fd(), relative, &self.watcher)
    }

    pub(super) fn descriptor(&self) -> &OwnedFd {
        &self.fd
    }

    /// Announces an operation.
    pub(super) fn step(&self, operation: Operation, relative: &Path) -> io::Result<()> {
        if !self.watcher.is_watching() {
            return Ok(());
        }
        self.watcher.before(operation, &self.path_of(relative))
    }

    pub(super) fn open_fd(&self, relative: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        self.step(Operation::Open, relative)?;
        let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
        Ok(self.open_beneath(relative, flags, 0)?)
    }

    pub(super) fn open_beneath(
        &self,
        relative: &Path,
        flags: OFlags,
        mode: u32,
    ) -> rustix::io::Result<OwnedFd> {
        open_beneath(&self.fd, relative, flags, Mode::from_raw_mode(mode), &self.watcher)
    }
}

/// Absence is a result; any other error stays an error.
fn absent_is_none<T>(outcome: Result<T, PathError>) -> Result<Option<T>, PathError> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}
