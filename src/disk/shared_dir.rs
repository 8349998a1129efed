//! Directories that several users share: all of them may change the entries made there, whatever the umask of
//! their maker. git does the same for `core.sharedRepository`.
//!
//! A file gets its bits just after it is made. A process of another user that finds it in that moment waits
//! for them. If the maker is killed then, the file stays closed until its owner uses it again.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::geteuid;

use super::sharing::Sharing;
use super::stat::{Attributes, FileStat};
use super::watch::Operation;
use super::{Dir, IoContext, PathError, Watcher};
use crate::wait::{Waited, Waiter};

/// The longest that a process takes from making a file to opening it to the group.
const MOMENT: Duration = Duration::from_secs(2);

impl Dir {
    /// Creates `path` and its missing parents, each synced into its parent. New directories get the mode of
    /// the umask: only their maker decides who shares them.
    pub(crate) fn make_with_parents(path: &Path, watcher: &Watcher) -> Result<Dir, PathError> {
        make_levels(path, watcher)?.shared()
    }

    /// The same directory, shared: users who may write to it may write to every entry made beneath it through
    /// this handle. Entries made with an explicit mode keep that mode.
    pub fn shared(self) -> Result<Dir, PathError> {
        let stat =
            retry_on_intr(|| rustix::fs::fstat(self.descriptor())).on("inspect", self.path())?;
        let sharing = Sharing::like(FileStat::of(&stat).mode, stat.st_gid);
        Ok(self.with_sharing(sharing))
    }

    /// `attributes` with the permission bits that a directory made here has at least. Set-group-ID is not
    /// among them: this is for directories of a payload, which get no new entries.
    pub(crate) fn opened(&self, attributes: Attributes) -> Attributes {
        Attributes { mode: attributes.mode | self.sharing().directory & 0o777, ..attributes }
    }

    /// Fails unless this directory belongs to the user of this process. The superuser is no exception.
    pub(crate) fn confirm_owner(&self) -> Result<(), PathError> {
        let stat =
            retry_on_intr(|| rustix::fs::fstat(self.descriptor())).on("inspect", self.path())?;
        let is_own = stat.st_uid == geteuid().as_raw();
        let other = || io::Error::new(io::ErrorKind::PermissionDenied, "it is another user's");
        if is_own { Ok(()) } else { Err(PathError::new("use", self.path(), other())) }
    }

    /// Opens `relative` with `open`. If a killed process of this user left a file or an empty directory
    /// without `bits`, it gets them; a directory with entries was closed on purpose. Waits while a process of
    /// another user is about to set them.
    pub(super) fn open_shared(
        &self,
        relative: &Path,
        bits: u32,
        open: impl Fn() -> io::Result<OwnedFd>,
    ) -> io::Result<OwnedFd> {
        if bits == 0 {
            return open();
        }
        let waiter = Waiter::default().up_to(MOMENT);
        let waited = waiter.poll(|| {
            let opened = open();
            let is_half_made = match &opened {
                Ok(fd) => {
                    let stat = rustix::fs::fstat(fd)?;
                    self.sharing().lacks(&stat, bits)
                        && !has_entries(fd, &stat)
                        && !self.add_bits(fd, bits, relative)?
                        && is_new_of_another(&stat, &waiter)
                }
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    self.is_half_made(relative, bits, &waiter)
                }
                Err(_) => false,
            };
            Ok::<_, io::Error>((!is_half_made).then_some(opened))
        })?;
        match waited {
            Waited::Ready(opened) => opened,
            Waited::TimedOut | Waited::Interrupted => open(),
        }
    }

    /// Whether another user has just made `relative`, and some of `bits` are still missing.
    fn is_half_made(&self, relative: &Path, bits: u32, waiter: &Waiter<'_>) -> bool {
        let found = self.above(relative).and_then(|(above, name)| {
            retry_on_intr(|| rustix::fs::statat(&above, name, AtFlags::SYMLINK_NOFOLLOW))
        });
        found
            .is_ok_and(|stat| self.sharing().lacks(&stat, bits) && is_new_of_another(&stat, waiter))
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
            // A process of another user has already taken it, such as temporary files that are being removed.
            Err(Errno::NOENT | Errno::ACCESS) => Ok(()),
            opened => self.add_bits(opened?, bits, relative).map(drop),
        }
    }

    /// Adds missing bits to the open file `fd`, and returns whether it has them all now.
    fn add_bits(&self, fd: impl AsFd, bits: u32, relative: &Path) -> io::Result<bool> {
        if bits == 0 {
            return Ok(true);
        }
        let stat = rustix::fs::fstat(&fd)?;
        if !self.sharing().lacks(&stat, bits) {
            return Ok(true);
        }
        self.step(Operation::SetAttributes, relative)?;
        let mode = Mode::from_raw_mode(FileStat::of(&stat).mode | bits);
        match retry_on_intr(|| rustix::fs::fchmod(&fd, mode)) {
            // Another user's; only writing to a disk that is read-only is an error.
            Err(Errno::PERM | Errno::ROFS) => Ok(false),
            outcome => Ok(outcome.map(|()| true)?),
        }
    }
}

/// Whether another user has just made or changed it. A file closed for longer is closed on purpose, or its
/// maker was killed.
fn is_new_of_another(stat: &Stat, waiter: &Waiter<'_>) -> bool {
    let age = waiter.clock.now().duration_since(FileStat::of(stat).changed);
    stat.st_uid != geteuid().as_raw() && age.is_none_or(|age| age < MOMENT)
}

/// Whether it is a directory with entries, as far as can be seen: a new directory has none.
fn has_entries(fd: &OwnedFd, stat: &Stat) -> bool {
    let is_entry = |entry: rustix::io::Result<rustix::fs::DirEntry>| {
        entry.is_ok_and(|entry| !matches!(entry.file_name().to_bytes(), b"." | b".."))
    };
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
        && rustix::fs::Dir::read_from(fd).is_ok_and(|mut entries| entries.any(is_entry))
}

fn make_levels(path: &Path, watcher: &Watcher) -> Result<Dir, PathError> {
    match Dir::open(path, watcher.clone()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        outcome => return outcome,
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Dir::open(path, watcher.clone());
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let parent = make_levels(parent, watcher)?;
    // Another process may make it meanwhile.
    parent.ensure_dir(name)?;
    Dir::open(path, watcher.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_another_user_is_not_the_superusers() {
        if !geteuid().is_root() {
            eprintln!("skipped: only root can give a directory away");
            return;
        }
        let scratch = tempfile::tempdir().unwrap();
        let dir = Dir::open(scratch.path(), Watcher::default()).unwrap();
        dir.confirm_owner().unwrap();
        rustix::fs::fchown(dir.descriptor(), Some(rustix::process::Uid::from_raw(65534)), None)
            .unwrap();
        let error = dir.confirm_owner().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }
}
