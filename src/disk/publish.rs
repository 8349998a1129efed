//! Publishing files and directories in one step.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, OFlags, RenameFlags};
use rustix::io::{Errno, retry_on_intr};

use super::watch::{Feature, Operation};
use super::{Dir, IoContext, PathError, StoredFile};

impl Dir {
    /// Opens a file to append to it; `None` if it does not exist.
    pub(crate) fn open_to_append_if_there(
        &self,
        relative: &Path,
    ) -> Result<Option<StoredFile>, PathError> {
        let path = self.path_of(relative);
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY;
        match self.open_fd(relative, flags) {
            Ok(fd) => Ok(Some(StoredFile::new(File::from(fd), path, self.watcher()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(PathError::new("open", path, error)),
        }
    }

    /// Moves `from` of this directory to `name` in `to` in one step; fails if `name` exists.
    ///
    /// Where the file system cannot refuse in the same step (NFS, exFAT and others return EINVAL), the name
    /// is looked up first, and the caller's lock keeps other urepo processes away. Across file systems this
    /// is an error, never a copy.
    pub fn rename_new(&self, from: &Path, to: &Dir, name: &Path) -> Result<(), PathError> {
        to.step(Operation::Rename, name)
            .and_then(|()| self.rename_no_replace(from, to, name))
            .map_err(|error| to.name_error(name, error))
            .on("put in place", to.at(name))
    }

    fn rename_no_replace(&self, from: &Path, to: &Dir, name: &Path) -> io::Result<()> {
        let ((here, from), (there, name)) = (self.above(from)?, to.above(name)?);
        let flags = RenameFlags::NOREPLACE;
        let outcome = to.supports(Feature::NoReplace).and_then(|()| {
            retry_on_intr(|| rustix::fs::renameat_with(&here, from, &there, name, flags))
        });
        match outcome {
            Err(Errno::INVAL | Errno::NOSYS) => {}
            outcome => return Ok(outcome?),
        }
        // A hard link never replaces a file. Without hard links, and for a directory (which replaces only an
        // empty one), looking the name up has to do.
        let stat = rustix::fs::statat(&here, from, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            match retry_on_intr(|| rustix::fs::linkat(&here, from, &there, name, AtFlags::empty()))
            {
                Err(errno) if has_no_links(errno) => {}
                outcome => {
                    outcome?;
                    return Ok(retry_on_intr(|| {
                        rustix::fs::unlinkat(&here, from, AtFlags::empty())
                    })?);
                }
            }
        }
        match rustix::fs::statat(&there, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => {}
            Ok(_) => return Err(Errno::EXIST.into()),
            Err(error) => return Err(error.into()),
        }
        Ok(retry_on_intr(|| rustix::fs::renameat(&here, from, &there, name))?)
    }

    /// Moves `from` of this directory to `name` in `to` in one step, replacing an existing file. It is
    /// durable once the caller has synced `to`.
    pub fn rename_over(&self, from: &Path, to: &Dir, name: &Path) -> Result<(), PathError> {
        to.step(Operation::Rename, name)
            .and_then(|()| {
                let ((here, from), (there, name)) = (self.above(from)?, to.above(name)?);
                Ok(retry_on_intr(|| rustix::fs::renameat(&here, from, &there, name))?)
            })
            .map_err(|error| to.name_error(name, error))
            .on("replace", to.at(name))
    }

    /// Swaps `from` of this directory and `name` in `to` in one step, so that a reader finds one of them.
    /// `false` if the file system cannot do that.
    pub fn exchange(&self, from: &Path, to: &Dir, name: &Path) -> Result<bool, PathError> {
        let swapped = to.step(Operation::Rename, name).and_then(|()| {
            let ((here, from), (there, name)) = (self.above(from)?, to.above(name)?);
            let flags = RenameFlags::EXCHANGE;
            let swapped = to.supports(Feature::Exchange).and_then(|()| {
                retry_on_intr(|| rustix::fs::renameat_with(&here, from, &there, name, flags))
            });
            match swapped {
                Err(Errno::INVAL | Errno::NOSYS) => Ok(false),
                outcome => Ok(outcome.map(|()| true)?),
            }
        });
        swapped.on("swap into place", to.at(name))
    }

    /// Gives the file `from` of this directory a second name, `name` beneath `to`: no byte is copied.
    /// `false` where the file system cannot do that.
    pub fn link_file(&self, from: &Path, to: &Dir, name: &Path) -> Result<bool, PathError> {
        let linked = to.step(Operation::MakeLink, name).and_then(|()| {
            let ((here, from), (there, name)) = (self.above(from)?, to.above(name)?);
            let flags = AtFlags::empty();
            match retry_on_intr(|| rustix::fs::linkat(&here, from, &there, name, flags)) {
                Err(errno) if has_no_links(errno) => Ok(false),
                outcome => Ok(outcome.map(|()| true)?),
            }
        });
        linked.on("link", to.at(name))
    }

    /// Replaces the small file `name` by `bytes` so that a reader, or a crash, finds the old or the
    /// new content whole.
    pub fn replace_file(&self, name: &str, bytes: &[u8]) -> Result<(), PathError> {
        let staged = format!("{name}.new");
        // The temporary file of a killed replacement is removed.
        self.remove_file_if_there(Path::new(&staged))?;
        let mut file = self.create_file(&staged)?;
        file.write_all(bytes)?;
        file.sync()?;
        self.replace_with(&staged, name)
    }

    /// Replaces `name` by the file `staged`, which is written and synced.
    pub fn replace_with(&self, staged: &str, name: &str) -> Result<(), PathError> {
        self.rename_over(Path::new(staged), self, Path::new(name))?;
        self.sync()
    }
}

/// Whether the error means that the file system has no hard links there.
fn has_no_links(errno: Errno) -> bool {
    [Errno::PERM, Errno::OPNOTSUPP, Errno::MLINK, Errno::NOSYS].contains(&errno)
}
