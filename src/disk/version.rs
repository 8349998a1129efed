//! An opaque value that changes when a file or directory does.

use std::io;
use std::path::Path;

use rustix::fs::AtFlags;
use rustix::io::retry_on_intr;

use super::watch::Operation;
use super::{Dir, FileStat, Kind};
use crate::identity::{Instant, SECOND};

/// Whether a file or directory is unchanged, as far as that is known without reading it: by size, times and
/// inode.
///
/// The device is left out: its number may change whenever a disk is mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version([u8; 32]);

/// FAT keeps times to two seconds.
const COARSEST_TIME: i128 = 2 * SECOND;

impl Version {
    /// The bytes of a version, for storage.
    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A version from its stored bytes.
    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Version {
        Version(bytes)
    }
}

impl FileStat {
    /// The version of the file or directory.
    pub(crate) fn version(&self) -> Version {
        let mut version = [0; 32];
        version[..8].copy_from_slice(&self.bytes.to_be_bytes());
        version[8..16].copy_from_slice(&low_bytes(self.modified));
        version[16..24].copy_from_slice(&low_bytes(self.changed));
        version[24..].copy_from_slice(&self.identity.1.to_be_bytes());
        Version(version)
    }

    /// The version of a directory that is about to be listed at `now`. `None` if the directory changed so
    /// recently that another change could leave its times as they are.
    pub(crate) fn settled_version(&self, now: Instant) -> Option<Version> {
        // Restoring a backup sets the modification time back, and thereby updates the change time.
        let last = self.modified.max(self.changed);
        let is_settled = now.nanoseconds() - last.nanoseconds() > COARSEST_TIME;
        is_settled.then(|| self.version())
    }
}

impl Dir {
    /// Whether the file at `path` has `version`, in one system call that opens nothing. Links to directories on
    /// the way are followed; where the version differs, [`Dir::stat`] finds the reason.
    pub(crate) fn has_version(&self, path: &str, version: Version) -> bool {
        self.stat_at(path).is_ok_and(|stat| stat.version() == version)
    }

    /// Whether `name` in this directory is a directory, and not a link to one, in one system call.
    pub(crate) fn has_directory(&self, name: &str) -> bool {
        self.stat_at(name).is_ok_and(|stat| stat.kind == Kind::Directory)
    }

    fn stat_at(&self, path: &str) -> io::Result<FileStat> {
        self.step(Operation::Inspect, Path::new(path))?;
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        let stat = retry_on_intr(|| rustix::fs::statat(self.descriptor(), path, flags))?;
        Ok(FileStat::of(&stat))
    }
}

/// The part of an instant that differs between any two within some 584 years.
fn low_bytes(instant: Instant) -> [u8; 8] {
    let [_, _, _, _, _, _, _, _, low @ ..] = instant.nanoseconds().to_be_bytes();
    low
}
