//! Directories that several users share: what one user makes there, the others may change, whatever the
//! umask of the first withholds. git does the same for `core.sharedRepository`.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::file::{Stamp, timestamps};
use super::watch::Operation;
use super::{Dir, IoContext, PathError};

/// Permission bits that everything made in a directory gets in addition to those that the umask leaves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sharing {
    /// Those of a file.
    pub(super) file: u32,
    /// Those of a directory, set-group-ID among them.
    pub(super) directory: u32,
    /// The group that shares it.
    group: u32,
}

impl Sharing {
    /// Those of a shared directory with the mode bits `mode`: a group that may add entries to it may also read
    /// and change what is made below it. Nothing is opened to everybody: only the umask may do that.
    fn like(mode: u32, group: u32) -> Sharing {
        let directory = if mode & 0o020 == 0 { 0 } else { mode & 0o2070 };
        Sharing { file: directory & 0o060, directory, group }
    }
}

impl Dir {
    /// The same directory, shared: users who may write to it may write to all that is made beneath it by
    /// way of this handle. Files and directories that are made with a mode of their own keep that mode.
    pub fn shared(self) -> Result<Dir, PathError> {
        let stat =
            retry_on_intr(|| rustix::fs::fstat(self.descriptor())).on("inspect", self.path())?;
        let sharing = Sharing::like(Stamp::of(&stat).mode, stat.st_gid);
        Ok(self.with_sharing(sharing))
    }

    /// `stamp` with the mode bits that a directory made here has at least.
    pub(crate) fn opened(&self, stamp: &Stamp) -> Stamp {
        Stamp { mode: stamp.mode | self.sharing().directory, ..*stamp }
    }

    /// Fails unless this directory belongs to the user of this process.
    pub(crate) fn confirm_owner(&self) -> Result<(), PathError> {
        let stamp = self.own_stamp()?;
        self.step(Operation::SetAttributes, Path::new(""))
            // Only the owner may set another time than now.
            .and_then(|_under_way| {
                Ok(rustix::fs::futimens(self.descriptor(), &timestamps(&stamp))?)
            })
            .on("set mode and time of", self.path())
    }

    /// Gives a file made at `relative` the bits that shared files have.
    pub(super) fn share_file(&self, fd: OwnedFd, relative: &Path) -> io::Result<OwnedFd> {
        self.add_bits(&fd, self.sharing().file, relative)?;
        Ok(fd)
    }

    /// Gives the directory made at `relative` the bits that shared directories have.
    pub(super) fn share_dir(&self, relative: &Path) -> io::Result<()> {
        let bits = self.sharing().directory;
        if bits == 0 {
            return Ok(());
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        match self.open_beneath(relative, flags, 0) {
            // Another user's process has it already, such as a left-over that is being cleared.
            Err(Errno::NOENT | Errno::ACCESS) => Ok(()),
            opened => self.add_bits(opened?, bits, relative),
        }
    }

    fn add_bits(&self, fd: impl AsFd, bits: u32, relative: &Path) -> io::Result<()> {
        if bits == 0 {
            return Ok(());
        }
        let stat = rustix::fs::fstat(&fd)?;
        let mode = Stamp::of(&stat).mode;
        // Without set-group-ID it may belong to another group, which shares nothing.
        if mode & bits == bits || stat.st_gid != self.sharing().group {
            return Ok(());
        }
        let _under_way = self.step(Operation::SetAttributes, relative)?;
        let mode = Mode::from_raw_mode(mode | bits);
        match retry_on_intr(|| rustix::fs::fchmod(&fd, mode)) {
            // Another user made it a moment ago, and opens it.
            Err(Errno::PERM) => Ok(()),
            outcome => Ok(outcome?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_shares_what_it_may_change_and_others_nothing() {
        let bits = |mode| {
            let Sharing { file, directory, .. } = Sharing::like(mode, 100);
            (file, directory)
        };
        assert_eq!(bits(0o755), (0, 0));
        assert_eq!(bits(0o770), (0o060, 0o070));
        assert_eq!(bits(0o2775), (0o060, 0o2070));
        assert_eq!(bits(0o777), (0o060, 0o070), "nothing for everybody");
    }
}
