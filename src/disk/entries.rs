//! The entries of a directory.

use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, RawDir, SeekFrom};
use rustix::io::{Errno, retry_on_intr};

use super::watch::Operation;
use super::{Dir, IoContext, Kind, PathError};

/// One entry of a directory.
#[derive(Clone, Debug)]
pub struct DirEntry {
    /// The name, any bytes but `/` and NUL.
    pub name: OsString,
    /// Its kind.
    pub kind: Kind,
}

/// Size of the buffer for a listing, as in glibc: some FUSE drivers leave entries out of smaller listings.
const LISTED_BYTES: usize = 32 * 1024;

/// A directory that is being listed.
struct Listing<F> {
    /// `None` at its end, and after an error.
    fd: Option<F>,
    buffer: Vec<u8>,
    /// Entries that were listed and not yet returned, in reverse order.
    listed: Vec<(OsString, FileType)>,
}

impl<F: AsFd> Listing<F> {
    fn of(fd: F) -> Listing<F> {
        Listing { fd: Some(fd), buffer: Vec::with_capacity(LISTED_BYTES), listed: Vec::new() }
    }

    /// Lists some more entries, unless the end is reached.
    fn read(&mut self) -> rustix::io::Result<()> {
        let Some(fd) = &self.fd else { return Ok(()) };
        let mut entries = RawDir::new(fd, self.buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = match entry {
                // The directory was removed while it was listed. In any other one, entries would be missed.
                Err(Errno::NOENT) if rustix::fs::fstat(fd)?.st_nlink == 0 => break,
                Err(Errno::INTR) => continue,
                entry => entry?,
            };
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                self.listed.push((OsStr::from_bytes(name).to_os_string(), entry.file_type()));
            }
            if entries.is_buffer_empty() && !self.listed.is_empty() {
                self.listed.reverse();
                return Ok(());
            }
        }
        self.fd = None;
        Ok(())
    }
}

impl<F: AsFd> Iterator for Listing<F> {
    type Item = rustix::io::Result<(OsString, FileType)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.listed.is_empty()
            && let Err(error) = self.read()
        {
            self.fd = None;
            return Some(Err(error));
        }
        self.listed.pop().map(Ok)
    }
}

impl Dir {
    /// The entries, in the order of the file system, without `.` and `..`.
    pub fn entries(
        &self,
    ) -> Result<impl Iterator<Item = Result<DirEntry, PathError>> + use<'_>, PathError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // Opened again because several threads may list it, and a descriptor has one position.
        let open = |()| {
            let fd =
                retry_on_intr(|| rustix::fs::openat(self.descriptor(), ".", flags, Mode::empty()))?;
            Ok(Listing::of(fd))
        };
        let listing =
            self.step(Operation::List, Path::new("")).and_then(open).on("list", self.path())?;
        Ok(listing.map(|entry| self.listed(entry)))
    }

    /// The same of a directory that was opened for this one listing.
    pub(super) fn only_entries(
        &self,
    ) -> Result<impl Iterator<Item = Result<DirEntry, PathError>> + use<'_>, PathError> {
        self.step(Operation::List, Path::new("")).on("list", self.path())?;
        Ok(Listing::of(self.descriptor()).map(|entry| self.listed(entry)))
    }

    /// The entries that the first call returns, of a directory that was opened for this one listing.
    pub(super) fn first_entries(&self) -> Result<Vec<DirEntry>, PathError> {
        self.step(Operation::List, Path::new("")).on("list", self.path())?;
        let mut listing = Listing::of(self.descriptor());
        listing.read().on("list", self.path())?;
        listing.listed.into_iter().map(|entry| self.listed(Ok(entry))).collect()
    }

    /// All entries, of a directory that may have been listed before, on this thread.
    pub(crate) fn entries_again(
        &self,
    ) -> Result<impl Iterator<Item = Result<DirEntry, PathError>> + use<'_>, PathError> {
        rustix::fs::seek(self.descriptor(), SeekFrom::Start(0)).on("list", self.path())?;
        self.only_entries()
    }

    fn listed(
        &self,
        entry: rustix::io::Result<(OsString, FileType)>,
    ) -> Result<DirEntry, PathError> {
        match entry {
            Err(error) => Err(PathError::new("list", self.path(), error.into())),
            Ok((name, file_type)) => self.entry(name, file_type),
        }
    }

    /// The UTF-8 names of the entries of one kind that `wanted` accepts, in no particular order.
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

    fn entry(&self, name: OsString, file_type: FileType) -> Result<DirEntry, PathError> {
        let kind = match Kind::of(file_type) {
            Some(kind) => kind,
            // The file system does not report kinds while listing.
            None => match self.stat(&name)? {
                Some(stamp) => stamp.kind,
                None => Kind::Special("file that has just gone"),
            },
        };
        Ok(DirEntry { name, kind })
    }
}
