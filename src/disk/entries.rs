//! The entries of a directory.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::retry_on_intr;

use super::watch::Operation;
use super::{Dir, IoContext, Kind, PathError};

/// One entry of a directory.
#[derive(Clone, Debug)]
pub struct DirEntry {
    /// The name, any bytes but `/` and NUL.
    pub name: std::ffi::OsString,
    /// Its kind.
    pub kind: Kind,
}

impl Dir {
    /// The entries, in the order of the file system, without `.` and `..`.
    pub fn entries(
        &self,
    ) -> Result<impl Iterator<Item = Result<DirEntry, PathError>> + use<'_>, PathError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // Opened again, as several threads may list it: a descriptor has one position.
        let open = |_under_way| {
            let fd =
                retry_on_intr(|| rustix::fs::openat(self.descriptor(), ".", flags, Mode::empty()))?;
            Ok(rustix::fs::Dir::new(fd)?)
        };
        let listing =
            self.step(Operation::List, Path::new("")).and_then(open).on("list", self.path())?;
        Ok(listing.filter_map(|entry| match entry {
            Err(error) => Some(Err(PathError::new("list", self.path(), error.into()))),
            Ok(entry) => {
                let name = entry.file_name().to_bytes();
                let name = (name != b"." && name != b"..").then(|| OsStr::from_bytes(name))?;
                Some(self.entry(name, entry.file_type()))
            }
        }))
    }

    /// The `wanted` names of a kind that are UTF-8, in no order.
    pub(crate) fn names_of(
        &self,
        wanted_kind: Kind,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>, PathError> {
        let mut found = Vec::new();
        for entry in self.entries()? {
            let DirEntry { name, kind } = entry?;
            let name = name.into_string().ok().filter(|name| kind == wanted_kind && wanted(name));
            found.extend(name);
        }
        Ok(found)
    }

    fn entry(&self, name: &OsStr, file_type: FileType) -> Result<DirEntry, PathError> {
        let kind = match Kind::of(file_type) {
            Some(kind) => kind,
            // The file system does not tell kinds while listing.
            None => match self.stat(name)? {
                Some(stamp) => stamp.kind,
                None => Kind::Special("file that has just gone"),
            },
        };
        Ok(DirEntry { name: name.to_os_string(), kind })
    }
}
