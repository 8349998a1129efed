//! Names and links that a file system cannot hold.

use std::ffi::OsStr;
use std::io::{Error, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::fidelity::{may_refuse_links, may_refuse_names};
use super::{Dir, PathError};

/// A name or link that a file system cannot hold, with the error of the file system.
#[derive(Debug, thiserror::Error)]
enum Unholdable {
    #[error("this file system cannot hold the name `{}`", name.display())]
    Name { name: PathBuf, source: Error },
    #[error("this file system cannot hold symbolic links")]
    Link { source: Error },
}

impl PathError {
    /// Whether the file system cannot hold a name or a link.
    pub fn is_unholdable(&self) -> bool {
        self.cause().get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Unholdable>)
    }
}

impl Dir {
    /// The fault in the name `relative` that the error `source` reveals: FAT, exFAT and NTFS refuse some
    /// characters, as missing directories or invalid arguments.
    pub(super) fn name_error(&self, relative: &Path, source: Error) -> Error {
        let Some(name) = relative.file_name() else { return source };
        let is_refusal = match Errno::from_io_error(&source) {
            Some(Errno::ILSEQ) => true,
            Some(Errno::INVAL) => is_refused_by_some(name),
            Some(Errno::NOENT) => is_refused_by_some(name) && self.has_parent(relative),
            _ => false,
        };
        if !is_refusal || !self.file_system().is_ok_and(may_refuse_names) {
            return source;
        }
        // Another kind would mean that a directory is missing.
        Error::new(ErrorKind::InvalidFilename, Unholdable::Name { name: name.into(), source })
    }

    /// The lack of links in the file system that the error `source` reveals.
    pub(super) fn link_error(&self, source: Error) -> Error {
        let is_refusal = match Errno::from_io_error(&source) {
            Some(Errno::OPNOTSUPP | Errno::NOSYS) => true,
            Some(Errno::PERM) => self.file_system().is_ok_and(may_refuse_links),
            _ => false,
        };
        if !is_refusal {
            return source;
        }
        Error::new(source.kind(), Unholdable::Link { source })
    }

    /// Whether the directory that `relative` lies in exists.
    fn has_parent(&self, relative: &Path) -> bool {
        let parent = self.above(relative).and_then(|(above, _)| rustix::fs::fstat(above));
        parent.is_ok_and(|parent| parent.st_nlink > 0)
    }
}

/// Whether FAT, exFAT or NTFS refuse `name`.
fn is_refused_by_some(name: &OsStr) -> bool {
    let is_refused = |byte: &u8| *byte < b' ' || b"\"*:<>?\\|".contains(byte);
    let bytes = name.as_bytes();
    name.to_str().is_none()
        || bytes.iter().any(is_refused)
        || bytes.last().is_some_and(|last| b". ".contains(last))
}
