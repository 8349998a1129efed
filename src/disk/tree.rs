//! Removing whole trees by descriptor.

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

    /// Gives the owner of the directory at `path` the right to list and change it.
    fn open_up(&self, path: &Path) -> Result<(), PathError> {
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
