//! Putting finished things in place in one step.

use std::io;
use std::path::Path;

use rustix::fs::{AtFlags, RenameFlags};
use rustix::io::{Errno, retry_on_intr};

use super::watch::{Feature, Operation};
use super::{Dir, IoContext, PathError};

impl Dir {
    /// Moves `from` of this directory to `name` in `to` in one step; fails if `name` exists.
    ///
    /// Where the file system can not refuse in the same step (NFS, exFAT and others answer
    /// EINVAL), the name is looked up first and the caller's lock keeps writers of ours apart.
    /// Across file systems this is an error, never a copy.
    pub fn rename_new(&self, from: &Path, to: &Dir, name: &Path) -> Result<(), PathError> {
        to.step(Operation::Rename, name)
            .and_then(|()| self.rename_no_replace(from, to, name))
            .on("put in place", to.at(name))
    }

    fn rename_no_replace(&self, from: &Path, to: &Dir, name: &Path) -> io::Result<()> {
        let flags = RenameFlags::NOREPLACE;
        let outcome = to.supports(Feature::NoReplace).and_then(|()| {
            retry_on_intr(|| {
                rustix::fs::renameat_with(self.descriptor(), from, to.descriptor(), name, flags)
            })
        });
        match outcome {
            Err(Errno::INVAL | Errno::NOSYS) => {}
            outcome => return Ok(outcome?),
        }
        match rustix::fs::statat(to.descriptor(), name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => {}
            Ok(_) => return Err(Errno::EXIST.into()),
            Err(error) => return Err(error.into()),
        }
        Ok(retry_on_intr(|| rustix::fs::renameat(self.descriptor(), from, to.descriptor(), name))?)
    }

    /// Moves `from` of this directory to `name` in `to` in one step, in place of the file that may be
    /// there. Only the caller's sync of `to` makes it last.
    pub fn rename_over(&self, from: &Path, to: &Dir, name: &Path) -> Result<(), PathError> {
        to.step(Operation::Rename, name)
            .and_then(|()| {
                Ok(retry_on_intr(|| {
                    rustix::fs::renameat(self.descriptor(), from, to.descriptor(), name)
                })?)
            })
            .on("replace", to.at(name))
    }

    /// Swaps `from` of this directory and `name` in `to` in one step, so that a reader finds the one
    /// or the other. `false` where the file system can not do that.
    pub fn exchange(&self, from: &Path, to: &Dir, name: &Path) -> Result<bool, PathError> {
        let swapped = to.step(Operation::Rename, name).and_then(|()| {
            let flags = RenameFlags::EXCHANGE;
            let swapped = to.supports(Feature::Exchange).and_then(|()| {
                retry_on_intr(|| {
                    rustix::fs::renameat_with(self.descriptor(), from, to.descriptor(), name, flags)
                })
            });
            match swapped {
                Err(Errno::INVAL | Errno::NOSYS) => Ok(false),
                outcome => Ok(outcome.map(|()| true)?),
            }
        });
        swapped.on("swap into place", to.at(name))
    }

    /// Gives the file `from` of this directory a second name, `name` beneath `to`: no byte is copied.
    /// `false` where the file system can not do that.
    pub fn link_file(&self, from: &Path, to: &Dir, name: &Path) -> Result<bool, PathError> {
        let linked = to.step(Operation::MakeLink, name).and_then(|()| {
            let linked = retry_on_intr(|| {
                rustix::fs::linkat(self.descriptor(), from, to.descriptor(), name, AtFlags::empty())
            });
            match linked {
                Err(Errno::PERM | Errno::OPNOTSUPP | Errno::MLINK | Errno::NOSYS) => Ok(false),
                outcome => Ok(outcome.map(|()| true)?),
            }
        });
        linked.on("link", to.at(name))
    }

    /// Replaces the small file `name` by `bytes` so that a reader, or a crash, finds the old or the
    /// new content whole.
    pub fn replace_file(&self, name: &str, bytes: &[u8]) -> Result<(), PathError> {
        let staged = format!("{name}.new");
        // What an earlier, killed replacement left is not ours to keep.
        self.remove_file_if_there(Path::new(&staged))?;
        let mut file = self.create_file(&staged)?;
        file.write_all(bytes)?;
        file.sync()?;
        self.replace_with(&staged, name)
    }

    /// Puts the file `staged`, which is written and synced, in the place of `name`.
    pub fn replace_with(&self, staged: &str, name: &str) -> Result<(), PathError> {
        self.step(Operation::Rename, Path::new(name))
            .and_then(|()| {
                Ok(retry_on_intr(|| {
                    rustix::fs::renameat(self.descriptor(), staged, self.descriptor(), name)
                })?)
            })
            .on("replace", self.at(Path::new(name)))?;
        self.sync()
    }
}
