//! The free space of a file system, and its type.

use std::cell::Cell;
use std::path::Path;

use rustix::io::retry_on_intr;

use super::{Dir, IoContext, PathError, magic};

/// Room left on a file system for an ordinary user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Free bytes.
    pub bytes: u64,
    /// Free inodes; `u64::MAX` where the file system does not count them.
    pub inodes: u64,
}

impl Dir {
    /// The room left on this directory's file system.
    pub fn room(&self) -> Result<Room, PathError> {
        let stat = retry_on_intr(|| rustix::fs::fstatvfs(self.descriptor()))
            .on("ask the room on", self.path())?;
        let inodes = if stat.f_files == 0 { u64::MAX } else { stat.f_favail };
        Ok(Room { bytes: stat.f_bavail.saturating_mul(stat.f_frsize), inodes })
    }

    /// The name of the network file system this directory is on, if it is on one.
    ///
    /// A kernel lock there may not reach other machines, so no labels are issued from it without permission.
    pub fn network_file_system(&self) -> Result<Option<&'static str>, PathError> {
        Ok(network_file_system_of(self.file_system()?))
    }

    /// The magic number of this directory's file system, from statfs(2).
    pub(super) fn file_system(&self) -> Result<i128, PathError> {
        if let Some(said) = self.watcher().file_system() {
            return Ok(said);
        }
        let stat = retry_on_intr(|| rustix::fs::fstatfs(self.descriptor()))
            .on("ask the kind of", self.path())?;
        Ok(i128::from(stat.f_type) & 0xffff_ffff)
    }
}

/// The name of the network file system with this magic number.
///
/// File systems that several machines mount at once count as well, because their kernel locks may not reach
/// other machines.
fn network_file_system_of(file_system: i128) -> Option<&'static str> {
    Some(match file_system {
        magic::NFS => "NFS",
        magic::SMB | magic::SMB2 | magic::SMBFS => "SMB",
        0x0102_1997 => "9P",
        magic::FUSE => "FUSE",
        0x00c3_6400 => "CephFS",
        0x5346_414f | 0x6b41_4653 => "AFS",
        0x7375_7245 => "Coda",
        0x0bd0_0bd0 => "Lustre",
        0x4750_4653 => "GPFS",
        0x1983_0326 => "BeeGFS",
        0x7461_636f => "OCFS2",
        0x0116_1970 => "GFS2",
        _ => return None,
    })
}

/// Bytes of a file or of everything below a directory, links not followed.
pub fn size_of_tree(path: &Path) -> Result<u64, PathError> {
    use fs_extra::error::ErrorKind;
    listed(path, || fs_extra::dir::get_size(path))?.map_err(|error| {
        let cause = match error.kind {
            ErrorKind::Io(cause) => cause,
            ErrorKind::NotFound => {
                std::io::Error::new(std::io::ErrorKind::NotFound, "there is nothing of this name")
            }
            ErrorKind::PermissionDenied => std::io::ErrorKind::PermissionDenied.into(),
            _ => std::io::Error::other(error.to_string()),
        };
        PathError::new("measure", path, cause)
    })
}

thread_local! {
    static LISTS: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread becomes an ordinary error, which the panic hook of a program should not
/// report.
pub fn panic_becomes_error() -> bool {
    LISTS.get()
}

/// Runs code that lists directories with `std`. `std` panics if closing a directory fails, as it may on a
/// network file system; here that is an error.
pub(crate) fn listed<T>(path: &Path, list: impl FnOnce() -> T) -> Result<T, PathError> {
    LISTS.set(true);
    let listed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(list));
    LISTS.set(false);
    listed.map_err(|panic| {
        let text = match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
            (Some(text), _) => text.clone(),
            (None, Some(text)) => (*text).to_owned(),
            (None, None) => "closing a directory failed".to_owned(),
        };
        PathError::new("list", path, std::io::Error::other(text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_cannot_be_closed_is_an_error() {
        let failing = || {
            assert!(panic_becomes_error());
            panic!("unexpected error during closedir: {}", "EIO")
        };
        let error = listed::<()>(Path::new("source"), failing).unwrap_err();
        assert_eq!(error.to_string(), "cannot list `source`");
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert_eq!(cause, "unexpected error during closedir: EIO");
        assert!(!panic_becomes_error());
        assert_eq!(listed(Path::new("source"), || 1).unwrap(), 1);
    }

    #[test]
    fn file_systems_behind_a_network_are_known_by_their_numbers() {
        // From `statfs` of coreutils and magic.h of the kernel.
        for (magic, name) in [
            (0x6969, "NFS"),
            (0xff53_4d42, "SMB"),
            (0x0102_1997, "9P"),
            (0x6573_5546, "FUSE"),
            (0x00c3_6400, "CephFS"),
            (0x0bd0_0bd0, "Lustre"),
            (0x4750_4653, "GPFS"),
            (0x1983_0326, "BeeGFS"),
            (0x7461_636f, "OCFS2"),
            (0x0116_1970, "GFS2"),
        ] {
            assert_eq!(network_file_system_of(magic), Some(name), "{magic:x}");
        }
        // ext4, btrfs, XFS, tmpfs, exFAT.
        for magic in [0xef53, 0x9123_683e, 0x5846_5342, 0x0102_1994, 0x2011_bab0] {
            assert_eq!(network_file_system_of(magic), None, "{magic:x}");
        }
    }
}
