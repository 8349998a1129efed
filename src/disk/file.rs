//! A file held open, with its metadata in the file system.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use rustix::fd::AsFd;
use rustix::fs::{Advice, Mode};
use rustix::io::{ReadWriteFlags, retry_on_intr};

use super::stat::{Attributes, FileStat, set_attributes};
use super::watch::{Operation, Watcher};
use super::{IoContext, PathError};

/// A file held open, beneath a [`super::Dir`].
#[derive(Debug)]
pub struct StoredFile {
    file: File,
    path: PathBuf,
    watcher: Watcher,
}

impl StoredFile {
    pub(super) fn new(file: File, path: PathBuf, watcher: Watcher) -> StoredFile {
        StoredFile { file, path, watcher }
    }

    /// Opens a file named by a person, following links in its path.
    pub fn open(path: &Path, watcher: Watcher) -> Result<StoredFile, PathError> {
        StoredFile::open_with(path, rustix::fs::OFlags::empty(), watcher)
    }

    /// Opens a file named by a person, which may not be a link itself.
    pub fn open_no_follow(path: &Path, watcher: Watcher) -> Result<StoredFile, PathError> {
        StoredFile::open_with(path, rustix::fs::OFlags::NOFOLLOW, watcher)
    }

    fn open_with(
        path: &Path,
        extra: rustix::fs::OFlags,
        watcher: Watcher,
    ) -> Result<StoredFile, PathError> {
        use rustix::fs::OFlags;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | extra;
        let opened = watcher
            .before(Operation::Open, path)
            .and_then(|()| Ok(retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))?));
        let fd = opened.on("open", path)?;
        Ok(StoredFile::new(File::from(fd), path.to_path_buf(), watcher))
    }

    /// The path of this file, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its present metadata in the file system.
    pub fn stat(&self) -> Result<FileStat, PathError> {
        self.watcher.before(Operation::Inspect, &self.path).on("inspect", &self.path)?;
        let stat = retry_on_intr(|| rustix::fs::fstat(&self.file)).on("inspect", &self.path)?;
        Ok(FileStat::of(&stat))
    }

    /// Reads the next bytes; 0 at the end.
    pub fn read_some(&mut self, buffer: &mut [u8]) -> Result<usize, PathError> {
        self.watcher.before(Operation::Read, &self.path).on("read", &self.path)?;
        loop {
            match self.file.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => return outcome.on("read", &self.path),
            }
        }
    }

    /// Reads the whole file, after refusing one of more than `limit` bytes.
    pub fn read_all(&mut self, limit: u64) -> Result<Vec<u8>, PathError> {
        self.watcher.before(Operation::Read, &self.path).on("read", &self.path)?;
        let size = rustix::fs::fstat(&self.file).map_or(0, |stat| FileStat::of(&stat).bytes);
        let expected = usize::try_from(size.min(limit)).unwrap_or(0);
        let mut bytes = Vec::with_capacity(expected + 1);
        let taken = Read::by_ref(&mut self.file).take(limit + 1).read_to_end(&mut bytes);
        taken.on("read", &self.path)?;
        if bytes.len() as u64 > limit {
            let cause = io::Error::other(format!("it is larger than {limit} bytes"));
            return Err(PathError::new("read", &self.path, cause));
        }
        Ok(bytes)
    }

    /// Reads the bytes at `offset`, fewer only at the end of the file.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, PathError> {
        self.watcher.before(Operation::Read, &self.path).on("read", &self.path)?;
        let mut filled = 0;
        while filled < buffer.len() {
            match self.file.read_at(&mut buffer[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(length) => filled += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error).on("read", &self.path),
            }
        }
        Ok(filled)
    }

    /// Reads `length` bytes at `offset`, if all of them are in the page cache: this never waits for a disk.
    pub fn read_cached(&self, length: u64, offset: u64) -> Option<Vec<u8>> {
        self.watcher.before(Operation::Read, &self.path).ok()?;
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        let slices = &mut [io::IoSliceMut::new(&mut bytes)];
        let read = rustix::io::preadv2(&self.file, slices, offset, ReadWriteFlags::NOWAIT).ok()?;
        (read == bytes.len()).then_some(bytes)
    }

    /// Appends all of `bytes`.
    pub fn write_all(&mut self, bytes: &[u8]) -> Result<(), PathError> {
        let announced = self.watcher.before(Operation::Write, &self.path);
        if announced.is_err() {
            // A refused write writes half of its bytes, as on a full disk or in a crash.
            let _ = self.file.write_all(&bytes[..bytes.len() / 2]);
        }
        announced.on("write", &self.path)?;
        self.file.write_all(bytes).on("write", &self.path)
    }

    /// Leaves a hole of `length` bytes before what is appended next.
    pub(super) fn skip(&mut self, length: u64) -> Result<(), PathError> {
        if length == 0 {
            return Ok(());
        }
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        self.file.seek(SeekFrom::Current(length)).map(|_| ()).on("write", &self.path)
    }

    /// Writes all of `bytes` at `offset`.
    pub fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<(), PathError> {
        let announced = self.watcher.before(Operation::Write, &self.path);
        if announced.is_err() {
            let _ = self.file.write_all_at(&bytes[..bytes.len() / 2], offset);
        }
        announced.on("write", &self.path)?;
        self.file.write_all_at(bytes, offset).on("write", &self.path)
    }

    /// Whether the last byte is `byte`.
    pub fn ends_with(&self, byte: u8) -> Result<bool, PathError> {
        let Some(last) = self.stat()?.bytes.checked_sub(1) else { return Ok(false) };
        let mut found = [0];
        self.watcher.before(Operation::Read, &self.path).on("read", &self.path)?;
        self.file.read_exact_at(&mut found, last).on("read", &self.path)?;
        Ok(found == [byte])
    }

    /// Goes back to the start and truncates the file.
    pub fn restart(&mut self) -> Result<(), PathError> {
        self.truncate(0)?;
        self.rewind()
    }

    /// Cuts off everything from the offset `end` on.
    pub fn truncate(&self, end: u64) -> Result<(), PathError> {
        self.watcher
            .before(Operation::Write, &self.path)
            .and_then(|()| self.file.set_len(end))
            .on("write", &self.path)
    }

    /// Goes back to the start.
    pub fn rewind(&mut self) -> Result<(), PathError> {
        self.file.seek(SeekFrom::Start(0)).map(|_| ()).on("read", &self.path)
    }

    /// Makes this empty file share the blocks of `source`, so that no byte is copied. `false` if the file
    /// system cannot do that; one that never can is not asked again.
    pub fn share_bytes_of(&self, source: &StoredFile) -> Result<bool, PathError> {
        use rustix::io::Errno;
        let shares_none = self.watcher.shares_none();
        if shares_none.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let shared = self.watcher.before(Operation::Write, &self.path).and_then(|()| {
            match retry_on_intr(|| rustix::fs::ioctl_ficlone(&self.file, &source.file)) {
                Err(Errno::OPNOTSUPP | Errno::XDEV | Errno::NOTTY | Errno::NOSYS) => {
                    shares_none.store(true, Ordering::Relaxed);
                    Ok(false)
                }
                // Because of this file.
                Err(Errno::INVAL) => Ok(false),
                outcome => Ok(outcome.map(|()| true)?),
            }
        });
        shared.on("write", &self.path)
    }

    /// Sets mode bits and modification time from `stamp`.
    pub fn set_attributes(&self, attributes: Attributes) -> Result<(), PathError> {
        self.watcher
            .before(Operation::SetAttributes, &self.path)
            .and_then(|()| set_attributes(&self.file, attributes))
            .on("set mode and time of", &self.path)
    }

    /// Forces bytes and attributes to the disk.
    pub fn sync(&self) -> Result<(), PathError> {
        self.sync_by(|| rustix::fs::fsync(&self.file))
    }

    /// Forces the bytes to the disk.
    pub fn sync_data(&self) -> Result<(), PathError> {
        self.sync_by(|| rustix::fs::fdatasync(&self.file))
    }

    fn sync_by(&self, sync: impl FnMut() -> rustix::io::Result<()>) -> Result<(), PathError> {
        self.watcher
            .before(Operation::SyncFile, &self.path)
            .and_then(|()| Ok(retry_on_intr(sync)?))
            .on("sync", &self.path)
    }

    /// Lets the kernel start writing back, or forget if written, `length` bytes at `offset`.
    ///
    /// Only advice: it makes the final sync short and keeps other programs' files in memory.
    pub fn let_go(&self, offset: u64, length: u64) {
        let length = std::num::NonZeroU64::new(length);
        let _ = rustix::fs::fadvise(&self.file, offset, length, Advice::DontNeed);
    }

    /// Whether it has extended attributes, which are lost when only the bytes are copied.
    ///
    /// Security labels belong to the machine, not to the file, and do not count.
    pub fn has_extended_attributes(&self) -> Result<bool, PathError> {
        self.watcher
            .before(Operation::Inspect, &self.path)
            .and_then(|()| Ok(has_extended_attributes(&self.file)?))
            .on("list the extended attributes of", &self.path)
    }

    pub(super) fn as_std(&self) -> &File {
        &self.file
    }

    pub(super) fn watcher(&self) -> &Watcher {
        &self.watcher
    }
}

/// For readers of lines and lists; errors come without the path.
impl Read for StoredFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.watcher.before(Operation::Read, &self.path)?;
        self.file.read(buffer)
    }
}

fn has_extended_attributes(fd: impl AsFd) -> rustix::io::Result<bool> {
    use rustix::io::Errno;
    /// Linux lists no more bytes of names than these.
    const LONGEST_LIST: usize = 64 << 10;
    let mut names = vec![0_u8; 1 << 10];
    loop {
        match retry_on_intr(|| rustix::fs::flistxattr(&fd, &mut names[..])) {
            Ok(length) => {
                let is_lost = |name: &[u8]| !name.is_empty() && !name.starts_with(b"security.");
                return Ok(names[..length].split(|byte| *byte == 0).any(is_lost));
            }
            Err(Errno::RANGE) if names.len() < LONGEST_LIST => names.resize(names.len() * 8, 0),
            // There are more than can be listed.
            Err(Errno::RANGE | Errno::TOOBIG) => return Ok(true),
            Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}
