//! Directories that several users share: all of them may change the entries made there, whatever the umask of
//! their maker. git does the same for `core.sharedRepository`.

use std::io;
use std::path::Path;

use rustix::io::retry_on_intr;
use rustix::process::{getegid, geteuid};

use super::stat::{Attributes, FileStat};
use super::umask::Sharing;
use super::{Dir, IoContext, PathError, Watcher};

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
        let is_own_group = stat.st_gid == getegid().as_raw();
        Ok(self.with_sharing(Sharing::like(FileStat::of(&stat).mode, is_own_group)))
    }

    /// `attributes` with the permission bits that a directory made here has at least.
    pub(crate) fn opened(&self, attributes: Attributes) -> Attributes {
        Attributes { mode: attributes.mode | self.sharing().directory, ..attributes }
    }

    /// Fails unless this directory belongs to the user of this process. The superuser is no exception.
    pub(crate) fn confirm_owner(&self) -> Result<(), PathError> {
        let stat =
            retry_on_intr(|| rustix::fs::fstat(self.descriptor())).on("inspect", self.path())?;
        let is_own = stat.st_uid == geteuid().as_raw();
        let other = || io::Error::new(io::ErrorKind::PermissionDenied, "it is another user's");
        if is_own { Ok(()) } else { Err(PathError::new("use", self.path(), other())) }
    }
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
