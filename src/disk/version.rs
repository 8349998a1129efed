//! An opaque value that changes when a file or directory does.

use std::path::Path;

use rustix::fs::AtFlags;
use rustix::io::retry_on_intr;

use super::watch::Operation;
use super::{Dir, FileStat};
use crate::identity::Instant;

/// Whether a file or directory is unchanged, as far as that is known without reading it: by size, times and
/// inode.
///
/// The device is left out: its number may change whenever a disk is mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version([u8; 32]);

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
}

impl Dir {
    /// The file or directory at `path`, in one system call that opens nothing. Links to directories on the way are
    /// followed; without an answer, [`Dir::stat`] finds the reason.
    pub(crate) fn glance(&self, path: &str) -> Option<FileStat> {
        self.step(Operation::Inspect, Path::new(path)).ok()?;
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        let stat = retry_on_intr(|| rustix::fs::statat(self.descriptor(), path, flags));
        stat.ok().map(|stat| FileStat::of(&stat))
    }
}

/// The part of an instant that differs between any two within some 584 years.
fn low_bytes(instant: Instant) -> [u8; 8] {
    let [_, _, _, _, _, _, _, _, low @ ..] = instant.nanoseconds().to_be_bytes();
    low
}
