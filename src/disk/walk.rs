//! Everything below a directory.

use std::path::{Path, PathBuf};

use super::{Dir, DirEntry, PathError};

/// A step of a walk, with its path below the directory that is walked.
pub(crate) enum Met<'a> {
    /// An entry of the directory, which is open.
    Entry(&'a Dir, &'a DirEntry, &'a Path),
    /// A directory that cannot be listed completely.
    Unlisted(&'a Path, PathError),
}

impl Dir {
    /// Calls `visit` for everything below this directory, links not followed. It says whether to enter a
    /// directory, and after an error whether to go on with its other entries.
    ///
    /// One directory is open at a time. A directory that was removed since it was listed is skipped. This one was opened for
    /// the walk: it is listed by its own descriptor, which has one position.
    pub(crate) fn walk<E>(
        &self,
        mut visit: impl FnMut(Met<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        let mut pending = vec![PathBuf::new()];
        while let Some(mut path) = pending.pop() {
            let opened;
            let dir = if path.as_os_str().is_empty() {
                self
            } else {
                match self.open_dir_if_there(&path) {
                    Ok(Some(below)) => {
                        opened = below;
                        &opened
                    }
                    Ok(None) => continue,
                    Err(error) => {
                        visit(Met::Unlisted(&path, error))?;
                        continue;
                    }
                }
            };
            let entries = match dir.only_entries() {
                Ok(entries) => entries,
                Err(error) => {
                    visit(Met::Unlisted(&path, error))?;
                    continue;
                }
            };
            for entry in entries {
                match entry {
                    Ok(entry) => {
                        path.push(&entry.name);
                        if visit(Met::Entry(dir, &entry, &path))? {
                            pending.push(path.clone());
                        }
                        path.pop();
                    }
                    Err(error) => {
                        if !visit(Met::Unlisted(&path, error))? {
                            break;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
