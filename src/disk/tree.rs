//! Measuring, moving and removing whole trees by descriptor.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;

use rustix::fd::AsFd;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::stat::{Blocks, FileStat};
use super::{Dir, IoContext, Kind, Met, PathError};

/// The size of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TreeSize {
    /// Files and links.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The bytes on the disk that are free once the tree is removed, without files that have names outside
    /// it. Blocks shared between files count nevertheless.
    pub freed: u64,
    /// Whether some of its files have other names, too.
    pub is_shared: bool,
}

/// A directory whose files are gone.
struct EmptiedDir {
    /// Its name in its parent.
    name: OsString,
    /// Device and inode.
    identity: (u64, u64),
    /// The remaining entries.
    directories: Vec<OsString>,
}

impl Dir {
    /// Removes everything at `relative`: a file, a link, or a directory and all below it.
    ///
    /// Each name is removed from an open directory, so nothing outside is removed, whatever is exchanged
    /// meanwhile. Neither the stack nor the limit on open files limits the depth: one directory is open at a
    /// time; its parent is found by `..` and recognized by its inode. A directory that its owner may not
    /// change is made writable first.
    pub fn remove_tree(&self, relative: &Path) -> Result<(), PathError> {
        let (above, name) = super::split(relative);
        let Some(mut dir) = self.open_dir_if_there(above)? else { return Ok(()) };
        match dir.stat(name)? {
            Some(stamp) if stamp.kind == Kind::Directory => {}
            Some(_) => return dir.remove_file_if_there(name),
            None => return Ok(()),
        }
        let identity = dir.own_stat()?.identity;
        let directories = vec![name.as_os_str().to_owned()];
        let mut levels = vec![EmptiedDir { name: OsString::new(), identity, directories }];
        while let Some(level) = levels.last_mut() {
            if let Some(name) = level.directories.pop() {
                if let Some(below) = dir.remove_or_open(&name)? {
                    levels.push(below.remove_files(name)?);
                    dir = below;
                }
            } else {
                let emptied = levels.pop();
                if let (Some(emptied), Some(level)) = (emptied, levels.last()) {
                    dir = dir.open_above(level.identity)?;
                    dir.remove_dir_if_there(Path::new(&emptied.name))?;
                }
            }
        }
        Ok(())
    }

    /// Removes the directory `name` if it is empty, or opens it.
    fn remove_or_open(&self, name: &OsString) -> Result<Option<Dir>, PathError> {
        match self.remove_dir_if_there(Path::new(name)) {
            Ok(()) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                self.open_up(Path::new(name)).map(Some)
            }
            Err(error) => Err(error),
        }
    }

    /// Removes the files of this directory, which is `name` in its parent.
    fn remove_files(&self, name: OsString) -> Result<EmptiedDir, PathError> {
        let mut directories = Vec::new();
        // The list is complete before anything is removed: removing while listing may skip entries.
        let entries = self.entries()?.collect::<Result<Vec<_>, _>>()?;
        for entry in entries {
            if entry.kind == Kind::Directory {
                directories.push(entry.name);
            } else {
                self.remove_file_if_there(Path::new(&entry.name))?;
            }
        }
        Ok(EmptiedDir { name, identity: self.own_stat()?.identity, directories })
    }

    /// Opens the parent of this directory, which must have this `identity`.
    fn open_above(&self, identity: (u64, u64)) -> Result<Dir, PathError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd =
            retry_on_intr(|| rustix::fs::openat(self.descriptor(), "..", flags, Mode::empty()))
                .on("open the directory above", self.path())?;
        let above = self.path().parent().unwrap_or(Path::new(""));
        let above = Dir::from_descriptor(fd, above.to_path_buf(), self.watcher());
        if above.own_stat()?.identity != identity {
            let cause = io::Error::other("it was moved meanwhile");
            return Err(PathError::new("remove the directory", self.path(), cause));
        }
        Ok(above)
    }

    /// The size of everything at and below `relative`, links not followed.
    pub(crate) fn measure_tree(&self, relative: &Path) -> Result<TreeSize, PathError> {
        let mut size = TreeSize::default();
        // Files with several names, and the number of names seen.
        let mut linked: HashMap<(u64, u64), u64> = HashMap::new();
        let mut count = |found: Option<(FileStat, Blocks)>| {
            let Some((stamp, blocks)) = found else { return false };
            if stamp.kind == Kind::Directory {
                size.freed += blocks.bytes;
                return true;
            }
            size.files += 1;
            size.bytes += stamp.bytes;
            let seen = linked.entry(stamp.identity).or_default();
            *seen += 1;
            if *seen == blocks.names {
                size.freed += blocks.bytes;
            }
            if blocks.names == 1 {
                linked.remove(&stamp.identity);
            }
            false
        };
        if count(self.stat_with_blocks(relative)?) {
            self.open_dir(relative)?.walk(|met| match met {
                Met::Entry(dir, entry, _) => {
                    Ok(count(dir.stat_with_blocks(Path::new(&entry.name))?))
                }
                Met::Unlisted(_, error) => Err(error),
            })?;
        }
        size.is_shared = !linked.is_empty();
        Ok(size)
    }

    /// Moves `from` to `name` in `to` in one step; fails if `name` exists.
    ///
    /// A directory that its owner may not change, as a deposit may keep it, cannot get another parent: it is
    /// made writable for that moment.
    pub(crate) fn move_tree(&self, from: &Path, to: &Dir, name: &Path) -> Result<(), PathError> {
        let closed = match self.stat(from)? {
            Some(stamp) if stamp.kind == Kind::Directory && stamp.mode & 0o200 == 0 => Some(stamp),
            _ => None,
        };
        let Some(stamp) = closed else { return self.rename_new(from, to, name) };
        let moving = self.open_up(from)?;
        let moved = self.rename_new(from, to, name);
        moving.set_attributes(stamp.attributes())?;
        moved
    }

    /// Opens the directory at `relative` and gives its owner the right to list and change it.
    pub(crate) fn open_up(&self, relative: &Path) -> Result<Dir, PathError> {
        let dir = match self.open_dir(relative) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.open_closed(relative).on("open up", self.path_of(relative))?;
                self.open_dir(relative)?
            }
            opened => opened?,
        };
        let stamp = dir.own_stat()?;
        if stamp.mode & 0o700 != 0o700 {
            let mode = Mode::from_raw_mode(stamp.permission_bits() | 0o700);
            rustix::fs::fchmod(dir.descriptor(), mode).on("open up", dir.path())?;
        }
        Ok(dir)
    }

    /// Gives the owner of a directory that cannot be opened the right to do so.
    ///
    /// The mode cannot be changed through a descriptor of such a directory, but through its name in `/proc`.
    /// That leads to the same directory, whatever is now at `relative`.
    fn open_closed(&self, relative: &Path) -> io::Result<()> {
        use std::os::fd::AsRawFd;
        let (above, name) = self.above(relative)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| rustix::fs::openat(&above, name, flags, Mode::empty()))?;
        let mode =
            Mode::from_raw_mode(FileStat::of(&rustix::fs::fstat(&fd)?).permission_bits() | 0o700);
        let itself = format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd());
        match rustix::fs::chmodat(CWD, itself, mode, AtFlags::empty()) {
            Err(Errno::NOENT) => Err(Errno::ACCESS.into()),
            outcome => Ok(outcome?),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test is somebody else, beside the library")]

    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use rustix::fs::{RenameFlags, renameat_with};

    use super::*;
    use crate::disk::{Operation, Watch, Watcher};

    /// Exchanges two names at the beginning of the n-th operation.
    struct Exchange {
        at: usize,
        seen: AtomicUsize,
        names: [PathBuf; 2],
    }

    impl Watch for Exchange {
        fn before(&self, _: Operation, _: &Path) -> io::Result<()> {
            if self.seen.fetch_add(1, Ordering::SeqCst) + 1 == self.at {
                let [one, other] = &self.names;
                // One of them may have been moved by then.
                let _ = renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE);
            }
            Ok(())
        }
    }

    /// A directory that is exchanged for a link while it is moved: the target of the link is neither made
    /// writable nor moved.
    #[test]
    fn nothing_outside_is_opened_up_for_a_move() {
        for closed in [0o577, 0o000] {
            for at in 1.. {
                let scratch = tempfile::tempdir().unwrap();
                let path = |name: &str| scratch.path().join(name);
                let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode();
                for name in ["root/to", "root/item", "outside"] {
                    fs::create_dir_all(path(name)).unwrap();
                }
                fs::write(path("outside/file"), "").unwrap();
                symlink(path("outside"), path("root/link")).unwrap();
                for (name, mode) in [("root/item", closed), ("outside", 0o577)] {
                    fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).unwrap();
                }
                let names = [path("root/item"), path("root/link")];
                let exchange = Arc::new(Exchange { at, seen: AtomicUsize::new(0), names });
                let watcher = Watcher::new(Arc::clone(&exchange) as _);
                let root = Dir::open(&path("root"), watcher).unwrap();
                let to = root.open_dir("to").unwrap();
                let moved = root.move_tree(Path::new("item"), &to, Path::new("new"));
                assert_eq!(mode(path("outside")) & 0o7777, 0o577, "{closed:o}, at {at}");
                fs::set_permissions(path("outside"), fs::Permissions::from_mode(0o700)).unwrap();
                assert!(path("outside/file").exists(), "{closed:o}, at {at}");
                if exchange.seen.load(Ordering::SeqCst) < at {
                    moved.unwrap();
                    assert_eq!(mode(path("root/to/new")) & 0o7777, closed);
                    assert!(at > 4, "{at}");
                    break;
                }
            }
        }
    }
}
