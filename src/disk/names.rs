//! Names and links that a file system cannot hold.

use std::ffi::OsStr;
use std::io::{Error, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::io::Errno;

use super::Dir;

impl Dir {
    /// What `error`, met while something was made at `relative`, says of its name: FAT, exFAT and NTFS refuse
    /// some characters, as missing directories or invalid arguments.
    pub(super) fn name_error(&self, relative: &Path, error: Error) -> Error {
        let Some(name) = relative.file_name() else { return error };
        let is_refusal = match Errno::from_io_error(&error) {
            Some(Errno::ILSEQ) => true,
            Some(Errno::INVAL | Errno::NOENT) => is_refused_by_some(name),
            _ => false,
        };
        if !is_refusal || self.holds_every_name() {
            return error;
        }
        refusal(format!("this file system cannot hold the name `{}`", Path::new(name).display()))
    }

    /// What `error`, met while a link was made, says of the file system.
    pub(super) fn link_error(&self, error: Error) -> Error {
        match Errno::from_io_error(&error) {
            Some(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS) if !self.holds_every_name() => {
                refusal("this file system cannot hold symbolic links".to_owned())
            }
            _ => error,
        }
    }

    /// Whether the file system is one that holds any name but `.` and `..`.
    fn holds_every_name(&self) -> bool {
        self.file_system().is_ok_and(super::fidelity::is_of_unix)
    }
}

fn refusal(text: String) -> Error {
    Error::new(ErrorKind::InvalidFilename, text)
}

/// Whether FAT, exFAT or NTFS refuse `name`.
fn is_refused_by_some(name: &OsStr) -> bool {
    let is_refused = |byte: &u8| *byte < b' ' || b"\"*:<>?\\|".contains(byte);
    let bytes = name.as_bytes();
    name.to_str().is_none()
        || bytes.iter().any(is_refused)
        || bytes.last().is_some_and(|last| b". ".contains(last))
}
