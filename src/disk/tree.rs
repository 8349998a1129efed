//! Measuring, moving and removing whole trees by descriptor.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;

use rustix::fd::AsFd;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::stat::{Blocks, FileStat};
use super::{Dir, DirEntry, IoContext, Kind, Met, PathError};

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
}

/// The number of directories that a removal keeps open, at most: the parent of a deeper one is found by `..`.
const MOST_OPEN: usize = 16;

/// A directory whose files are gone.
struct EmptiedDir {
    /// Its name in its parent.
    name: OsString,
    /// Its bytes on the disk.
    bytes: u64,
    /// The remaining entries.
    directories: Vec<OsString>,
}

/// The entries that a removal goes by.
#[derive(Clone, Copy)]
enum Entries<'n> {
    /// At the top, files and directories of these names; below it, the first ones.
    Likely(&'n [&'n str], &'n [&'n str]),
    /// Those that the first call returns. In a small directory that is all of them, and the call that would say so is saved:
    /// `rmdir` fails where there are more.
    First,
    /// All of them. The list is complete before anything is removed: removing while listing may skip entries.
    All,
}

/// The way back to a directory while one below it is emptied.
enum WayBack {
    /// It is open.
    Open(Dir),
    /// By `..`, if its device and inode are these.
    Above((u64, u64)),
}

impl Dir {
    /// Removes everything at `relative`: a file, a link, or a directory and all below it.
    ///
    /// Each name is removed from an open directory, so nothing outside is removed, whatever is exchanged
    /// meanwhile. Neither the stack nor the limit on open files limits the depth: beyond some levels, the parent of a
    /// directory is found by `..` and recognized by its inode. A directory that its owner may not
    /// change is made writable first.
    pub fn remove_tree(&self, relative: &Path) -> Result<(), PathError> {
        self.remove_and_measure(relative, Entries::First, None)
    }

    /// The same for a directory that probably has these files and directories, and nothing else. Adds what it has to `size`.
    pub(crate) fn remove_likely(
        &self,
        relative: &Path,
        (files, directories): (&[&str], &[&str]),
        size: Option<&mut TreeSize>,
    ) -> Result<(), PathError> {
        self.remove_and_measure(relative, Entries::Likely(files, directories), size)
    }

    /// Removes the tree, and adds what it has to `size`: by `entries`, and if something is left, by a complete list.
    fn remove_and_measure(
        &self,
        relative: &Path,
        entries: Entries<'_>,
        mut size: Option<&mut TreeSize>,
    ) -> Result<(), PathError> {
        let (above, name) = super::split(relative);
        let opened;
        let dir = if above.as_os_str().is_empty() {
            self
        } else {
            let Some(above) = self.open_dir_if_there(above)? else { return Ok(()) };
            opened = above;
            &opened
        };
        dir.remove_by(entries, name, size.as_deref_mut())
            .or_else(|_| dir.remove_by(Entries::All, name, size))
    }

    /// Removes the tree `name`, if these `entries` are all.
    fn remove_by(
        &self,
        entries: Entries<'_>,
        name: &Path,
        mut size: Option<&mut TreeSize>,
    ) -> Result<(), PathError> {
        let below = match self.open_or_remove(name) {
            // A file, or a link.
            Err(error) if error.is_link() || error.is(Errno::NOTDIR) => {
                return self.remove_and_count(name, size);
            }
            below => below?,
        };
        let Some((below, bytes)) = below else { return Ok(()) };
        below.remove_contents(entries, size.as_deref_mut())?;
        self.remove_emptied(name, bytes, size)
    }

    /// Removes all that is in this directory, which was opened for that.
    fn remove_contents(
        self,
        entries: Entries<'_>,
        mut size: Option<&mut TreeSize>,
    ) -> Result<(), PathError> {
        let (mut above, mut dir) = (Vec::new(), self);
        let mut level = dir.remove_files((OsString::new(), 0), entries, size.as_deref_mut())?;
        let entries = if matches!(entries, Entries::All) { entries } else { Entries::First };
        loop {
            if let Some(name) = level.directories.pop() {
                let below = dir.open_or_remove(Path::new(&name))?;
                let Some((below, bytes)) = below else { continue };
                let emptied = below.remove_files((name, bytes), entries, size.as_deref_mut())?;
                let parent = std::mem::replace(&mut dir, below);
                let way_back = if above.len() < MOST_OPEN {
                    WayBack::Open(parent)
                } else {
                    WayBack::Above(parent.own_stat()?.identity)
                };
                above.push((std::mem::replace(&mut level, emptied), way_back));
            } else {
                let Some((parent, way_back)) = above.pop() else { return Ok(()) };
                dir = match way_back {
                    WayBack::Open(parent) => parent,
                    WayBack::Above(identity) => dir.open_above(identity)?,
                };
                dir.remove_emptied(Path::new(&level.name), level.bytes, size.as_deref_mut())?;
                level = parent;
            }
        }
    }

    /// Opens the directory `name` for its removal, with its bytes on the disk, or removes it where it can only be empty: another
    /// user may have closed it.
    fn open_or_remove(&self, name: &Path) -> Result<Option<(Dir, u64)>, PathError> {
        match self.open_up_with_blocks(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.remove_dir_if_there(name).map_err(|_| error).map(|()| None)
            }
            opened => opened.map(|(dir, blocks)| Some((dir, blocks.bytes))),
        }
    }

    /// Removes the empty directory `name`, and adds its bytes on the disk to `size`.
    fn remove_emptied(
        &self,
        name: &Path,
        bytes: u64,
        size: Option<&mut TreeSize>,
    ) -> Result<(), PathError> {
        self.remove_dir_if_there(name)?;
        if let Some(size) = size {
            size.freed += bytes;
        }
        Ok(())
    }

    /// Removes the file `name`, and adds it to `size`. One that has another name frees nothing.
    fn remove_and_count(&self, name: &Path, size: Option<&mut TreeSize>) -> Result<(), PathError> {
        let found = if size.is_some() { self.stat_with_blocks(name)? } else { None };
        self.remove_file_if_there(name)?;
        if let Some((stamp, blocks)) = found
            && let Some(size) = size
        {
            size.files += 1;
            size.bytes += stamp.bytes;
            size.freed += if blocks.names == 1 { blocks.bytes } else { 0 };
        }
        Ok(())
    }

    /// Removes the files of this directory, which is `name` in its parent and has these bytes on the disk.
    fn remove_files(
        &self,
        (name, bytes): (OsString, u64),
        entries: Entries<'_>,
        mut size: Option<&mut TreeSize>,
    ) -> Result<EmptiedDir, PathError> {
        let listed = match entries {
            Entries::Likely(files, directories) => {
                let entry = |kind| move |name: &&str| DirEntry { name: OsString::from(name), kind };
                let files = files.iter().map(entry(Kind::File));
                files.chain(directories.iter().map(entry(Kind::Directory))).collect()
            }
            Entries::First => self.first_entries()?,
            Entries::All => self.only_entries()?.collect::<Result<Vec<_>, _>>()?,
        };
        let mut directories = Vec::new();
        for entry in listed {
            if entry.kind == Kind::Directory {
                directories.push(entry.name);
            } else {
                self.remove_and_count(Path::new(&entry.name), size.as_deref_mut())?;
            }
        }
        Ok(EmptiedDir { name, bytes, directories })
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
        self.open_up_with_blocks(relative).map(|(dir, _)| dir)
    }

    /// The same, with its usage of the disk.
    fn open_up_with_blocks(&self, relative: &Path) -> Result<(Dir, Blocks), PathError> {
        let dir = match self.open_dir(relative) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.open_closed(relative).on("open up", self.path_of(relative))?;
                self.open_dir(relative)?
            }
            opened => opened?,
        };
        let (stamp, blocks) = dir.own_stat_with_blocks()?;
        if stamp.mode & 0o700 != 0o700 {
            let mode = Mode::from_raw_mode(stamp.permission_bits() | 0o700);
            rustix::fs::fchmod(dir.descriptor(), mode).on("open up", dir.path())?;
        }
        Ok((dir, blocks))
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
