//! What a file system has room for, and what it is.

use std::path::Path;

use rustix::io::retry_on_intr;

use super::{Dir, IoContext, PathError};

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
    /// A kernel lock there may not reach other machines, so labels are not issued from it unasked.
    pub fn network_file_system(&self) -> Result<Option<&'static str>, PathError> {
        let stat = retry_on_intr(|| rustix::fs::fstatfs(self.descriptor()))
            .on("ask the kind of", self.path())?;
        // Magic numbers of statfs(2).
        Ok(match i128::from(stat.f_type) & 0xffff_ffff {
            0x6969 => Some("NFS"),
            0xff53_4d42 | 0xfe53_4d42 | 0x517b => Some("SMB"),
            0x0102_1997 => Some("9P"),
            0x6573_5546 => Some("FUSE"),
            0x00c3_6400 => Some("CephFS"),
            0x5346_414f | 0x6b41_4653 => Some("AFS"),
            0x7375_7245 => Some("Coda"),
            _ => None,
        })
    }
}

impl Dir {
    /// Whether a file keeps its inode number for as long as it is there: not on file systems that
    /// make numbers up each time they are mounted.
    pub fn has_lasting_inodes(&self) -> Result<bool, PathError> {
        let stat = retry_on_intr(|| rustix::fs::fstatfs(self.descriptor()))
            .on("ask the kind of", self.path())?;
        // FAT, exFAT, ISO 9660; and what lies behind a network or FUSE is not known.
        let made_up =
            [0x4d44, 0x2011_bab0, 0x9660].contains(&(i128::from(stat.f_type) & 0xffff_ffff));
        Ok(!made_up && self.network_file_system()?.is_none())
    }
}

/// Bytes of a file or of everything below a directory, links not followed.
pub fn size_of_tree(path: &Path) -> Result<u64, PathError> {
    use fs_extra::error::ErrorKind;
    fs_extra::dir::get_size(path).map_err(|error| {
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
