//! Kind, size, mode and times of a file, as the file system reports them.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fd::AsFd;
use rustix::fs::{
    Access, AtFlags, FileType, Mode, OFlags, Stat, Timespec, Timestamps, access, statat, utimensat,
};
use rustix::io::Errno;

use super::beneath::open_beneath;
use super::watch::Watcher;
use crate::identity::{Instant, SECOND};

/// Whether this user may make files in a directory, which has to exist.
pub fn may_write_into(directory: &Path) -> bool {
    access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// The kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A FIFO, a socket or a device, by its name for people.
    Special(&'static str),
}

impl Kind {
    pub(super) fn of(file_type: FileType) -> Option<Kind> {
        Some(match file_type {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            FileType::Fifo => Kind::Special("FIFO"),
            FileType::Socket => Kind::Special("socket"),
            FileType::CharacterDevice => Kind::Special("character device"),
            FileType::BlockDevice => Kind::Special("block device"),
            FileType::Unknown => return None,
        })
    }
}

/// Kind, size, mode and times of a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStat {
    /// Its kind.
    pub kind: Kind,
    /// Size in bytes.
    pub bytes: u64,
    /// All twelve mode bits.
    pub mode: u32,
    /// When the content was last changed.
    pub modified: Instant,
    /// When content or attributes were last changed.
    pub changed: Instant,
    /// Device and inode: which file it is.
    pub identity: (u64, u64),
    /// The id of its owner.
    pub owner: u32,
}

/// Number of attempts to read a file that changes each time.
pub(crate) const READ_ATTEMPTS: usize = 3;

/// Why a file cannot become part of an item.
#[derive(Debug, thiserror::Error)]
pub enum FileFault {
    /// It changed each time that it was read.
    #[error("`{}` changed while it was read, {} times in a row", .0.display(), READ_ATTEMPTS)]
    Changing(PathBuf),
    /// Its modification time cannot be written down.
    #[error(
        "`{}` has a modification time outside of the years -{year} to {year}", .0.display(), year = Instant::MAX_YEAR
    )]
    Time(PathBuf),
}

impl FileStat {
    /// Makes sure that a sidecar can hold the modification time of the file, which is at `path`.
    pub(crate) fn check_time(&self, path: &Path) -> Result<(), FileFault> {
        let year = self.modified.civil().year;
        let fits = year.unsigned_abs() <= Instant::MAX_YEAR.unsigned_abs().into();
        if fits { Ok(()) } else { Err(FileFault::Time(path.to_path_buf())) }
    }

    #[expect(
        clippy::unnecessary_cast,
        clippy::cast_lossless,
        reason = "the types of these fields differ by platform"
    )]
    pub(super) fn of(stat: &Stat) -> FileStat {
        let instant = |seconds: i64, nanoseconds: i128| {
            Instant::from_nanoseconds(i128::from(seconds) * SECOND + nanoseconds)
        };
        FileStat {
            kind: Kind::of(FileType::from_raw_mode(stat.st_mode))
                .unwrap_or(Kind::Special("file of unknown kind")),
            bytes: u64::try_from(stat.st_size).unwrap_or(0),
            mode: stat.st_mode as u32 & 0o7777,
            modified: instant(stat.st_mtime as i64, stat.st_mtime_nsec as i128),
            changed: instant(stat.st_ctime as i64, stat.st_ctime_nsec as i128),
            identity: (stat.st_dev as u64, stat.st_ino as u64),
            owner: stat.st_uid,
        }
    }

    /// Whether this user owns the file.
    pub fn is_own(&self) -> bool {
        self.owner == rustix::process::geteuid().as_raw()
    }

    /// The permission bits, without set-user-ID, set-group-ID and sticky.
    pub fn permission_bits(&self) -> u32 {
        self.mode & 0o777
    }

    /// The attributes that a copy keeps.
    pub fn attributes(&self) -> Attributes {
        Attributes { mode: self.permission_bits(), modified: self.modified }
    }
}

/// The mode and time that a copy keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Permission bits.
    pub mode: u32,
    /// When the content was last changed.
    pub modified: Instant,
}

/// The usage of the disk by a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Blocks {
    /// Bytes of its blocks.
    pub bytes: u64,
    /// Number of its names.
    pub names: u64,
}

impl Blocks {
    #[expect(clippy::unnecessary_cast, reason = "the type of this field differs by platform")]
    pub(super) fn of(stat: &Stat) -> Blocks {
        let blocks = u64::try_from(stat.st_blocks).unwrap_or(0);
        Blocks { bytes: blocks.saturating_mul(512), names: stat.st_nlink as u64 }
    }
}

pub(super) fn set_attributes(fd: impl AsFd, attributes: Attributes) -> io::Result<()> {
    let found = rustix::fs::fstat(&fd)?;
    // Reading the mode is cheaper than setting it: most files already have the right one.
    if FileStat::of(&found).mode != attributes.mode {
        rustix::fs::fchmod(&fd, Mode::from_raw_mode(attributes.mode))?;
    }
    Ok(rustix::fs::futimens(&fd, &timestamps(attributes.modified, access_time(&found)))?)
}

/// Sets mode bits and modification time of the directory `name` in `above`.
pub(super) fn set_attributes_at(
    above: impl AsFd,
    name: &Path,
    attributes: Attributes,
    watcher: &Watcher,
) -> rustix::io::Result<()> {
    let found = statat(&above, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
        return Err(Errno::NOTDIR);
    }
    // Most directories already have the right mode and need not be opened.
    if FileStat::of(&found).mode != attributes.mode {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let dir = open_beneath(&above, name, flags, Mode::empty(), watcher)?;
        rustix::fs::fchmod(dir, Mode::from_raw_mode(attributes.mode))?;
    }
    let times = timestamps(attributes.modified, access_time(&found));
    utimensat(&above, name, &times, AtFlags::SYMLINK_NOFOLLOW)
}

/// The present access time. Some FUSE servers (`exfat-fuse`) ignore a modification time without an access
/// time.
#[expect(clippy::unnecessary_cast, reason = "the types of these fields differ by platform")]
fn access_time(found: &Stat) -> Timespec {
    Timespec { tv_sec: found.st_atime as i64, tv_nsec: found.st_atime_nsec.try_into().unwrap_or(0) }
}

/// The access time to keep.
pub(super) const UNCHANGED: Timespec = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT };

/// The times to give a copy: the modification time is the source's.
pub(super) fn timestamps(modified: Instant, last_access: Timespec) -> Timestamps {
    let nanoseconds = modified.nanoseconds();
    let seconds = nanoseconds.div_euclid(SECOND);
    Timestamps {
        last_access,
        last_modification: Timespec {
            tv_sec: i64::try_from(seconds).unwrap_or(0),
            tv_nsec: nanoseconds.rem_euclid(SECOND).try_into().unwrap_or(0),
        },
    }
}
