//! Measuring, moving and removing whole trees by descriptor.

use std::io;
use std::path::{Path, PathBuf};

use super::file::Stamp;
use super::{Dir, Kind, PathError};

impl Dir {
    /// Removes everything at `relative`: a file, a link, or a directory and all below it.
    ///
    /// Links are removed, not followed, and the depth is not limited by the stack. A directory that
    /// its owner may not change is opened up first.
    pub fn remove_tree(&self, relative: &Path) -> Result<(), PathError> {
        let mut pending = vec![relative.to_path_buf()];
        while let Some(path) = pending.last() {
            let removed = match self.stamp(path)? {
                None => Ok(()),
                Some(Stamp { kind: Kind::Directory, .. }) => self.remove_dir(path),
                Some(_) => self.remove_file(path),
            };
            match removed {
                Ok(()) => {
                    pending.pop();
                }
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                    let path = path.clone();
                    self.empty_one_level(&path, &mut pending)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Removes the files of the directory at `path` and puts its directories on `pending`.
    fn empty_one_level(&self, path: &Path, pending: &mut Vec<PathBuf>) -> Result<(), PathError> {
        self.open_up(path)?;
        let dir = self.open_dir(path)?;
        // Listed to the end before anything goes: removing while listing may skip entries.
        let entries = dir.entries()?.collect::<Result<Vec<_>, _>>()?;
        for entry in entries {
            if entry.kind == Kind::Directory {
                pending.push(path.join(entry.name));
            } else {
                dir.remove_file(Path::new(&entry.name))?;
            }
        }
        Ok(())
    }

    /// The files at `relative` and below it, and their bytes, links not followed.
    pub(crate) fn measure_tree(&self, relative: &Path) -> Result<(u64, u64), PathError> {
        let (mut files, mut bytes) = (0, 0);
        let mut pending = vec![relative.to_path_buf()];
        while let Some(path) = pending.pop() {
            match self.stamp(&path)? {
                Some(Stamp { kind: Kind::Directory, .. }) => {
                    let dir = self.open_dir(&path)?;
                    for entry in dir.entries()? {
                        pending.push(path.join(entry?.name));
                    }
                }
                Some(stamp) => {
                    files += 1;
                    bytes += stamp.bytes;
                }
                None => {}
            }
        }
        Ok((files, bytes))
    }

    /// Moves `from` to `name` in `to` in one step; fails if `name` exists.
    ///
    /// A directory that its owner may not change, as a deposit may keep it, can not get another
    /// parent: it is opened up for that moment.
    pub(crate) fn move_tree(&self, from: &Path, to: &Dir, name: &Path) -> Result<(), PathError> {
        let closed = match self.stamp(from)? {
            Some(stamp) if stamp.kind == Kind::Directory && stamp.mode & 0o200 == 0 => Some(stamp),
            _ => None,
        };
        let Some(stamp) = closed else { return self.rename_new(from, to, name) };
        self.open_up(from)?;
        let moved = self.rename_new(from, to, name);
        let place = if moved.is_ok() { to.open_dir(name)? } else { self.open_dir(from)? };
        place.set_attributes(&stamp)?;
        moved
    }

    /// Gives the owner of the directory at `path` the right to list and change it.
    pub(crate) fn open_up(&self, path: &Path) -> Result<(), PathError> {
        match self.stamp(path)? {
            Some(stamp) if stamp.mode & 0o700 != 0o700 => {
                let mode = rustix::fs::Mode::from_raw_mode(stamp.kept_mode() | 0o700);
                rustix::fs::chmodat(self.descriptor(), path, mode, rustix::fs::AtFlags::empty())
                    .map_err(|error| PathError::new("open up", self.path_of(path), error.into()))
            }
            _ => Ok(()),
        }
    }
}
