//! The destination of exports, with a private stage in it: an export moves to its name in one step, when it
//! is complete and on the disk.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{Destination, ExportError};
use crate::agent::Agent;
use crate::collection::discover;
use crate::disk::{Access, Dir, IoContext, Kind, PathError, Stage, StageLock, Watcher};

/// The beginning of the names of stages. A run removes one that no process holds.
pub(super) const STAGE: &str = ".urepo-export-";

/// A directory in which exports are built and published.
///
/// Dropping it removes its stage, and the directory too if it was created for this and is empty.
pub(super) struct Place {
    pub dir: Dir,
    pub stage: Stage,
    /// The parent of a new directory, and its name there.
    made: Option<(Dir, OsString)>,
}

/// Refuses a path that cannot be a directory, and a directory in a collection.
pub(super) fn check(
    Destination { path, watcher, .. }: &Destination<'_>,
) -> Result<(), ExportError> {
    if open(path, watcher)?.is_none() {
        Dir::open(above(path), (*watcher).clone())?;
    }
    Ok(discover::check_outside(path)?)
}

/// Whether `name` exists in a directory that need not exist.
pub(super) fn is_taken(destination: &Destination<'_>, name: &OsStr) -> Result<bool, PathError> {
    match open(destination.path, destination.watcher)? {
        Some(dir) => Ok(dir.stat(name)?.is_some()),
        None => Ok(false),
    }
}

fn open(path: &Path, watcher: &Watcher) -> Result<Option<Dir>, PathError> {
    match Dir::open(path, watcher.clone()) {
        Ok(dir) => Ok(Some(dir)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl Place {
    /// Opens or creates the directory at `path`, and creates a stage in it.
    pub(super) fn new(path: &Path, watcher: &Watcher, agent: &Agent) -> Result<Place, ExportError> {
        let (dir, made) = match open(path, watcher)? {
            Some(dir) => (dir, None),
            None => match make(path, watcher) {
                // Another export was quicker.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    (Dir::open(path, watcher.clone())?, None)
                }
                outcome => outcome?,
            },
        };
        match Stage::make(&dir, STAGE, agent.process, Access::Private) {
            Ok(stage) => Ok(Place { dir, stage, made }),
            Err(error) => {
                remove_made(made.as_ref());
                Err(error.into())
            }
        }
    }

    /// Moves the staged `from` to `name`, which must be free.
    pub(super) fn put(&self, from: &Path, name: &Path) -> Result<(), ExportError> {
        match self.stage.dir().move_tree(from, &self.dir, name) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Err(ExportError::Exists { path: self.dir.path_of(name) })
            }
            outcome => Ok(outcome?),
        }
    }

    /// The path of `name`.
    pub(super) fn path_of(&self, name: &Path) -> PathBuf {
        self.dir.path_of(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // After an error the stage is left, as by a killed process: the next export removes it.
        let _ = self.stage.remove();
        remove_made(self.made.as_ref());
    }
}

/// A new directory is removed again if it is still empty.
fn remove_made(made: Option<&(Dir, OsString)>) {
    if let Some((above, name)) = made {
        let _ = above.remove_dir(Path::new(name));
    }
}

/// The parent of `path`.
fn above(path: &Path) -> &Path {
    let above = path.parent().filter(|above| !above.as_os_str().is_empty());
    above.unwrap_or(Path::new("."))
}

/// A new directory, and its path.
type Made = (Dir, Option<(Dir, OsString)>);

fn make(path: &Path, watcher: &Watcher) -> Result<Made, PathError> {
    let invalid = || std::io::Error::from(ErrorKind::InvalidInput);
    let name = path.file_name().ok_or_else(invalid).on("make the directory", path)?;
    let above = Dir::open(above(path), watcher.clone())?;
    above.make_dir(name)?;
    let dir = above.sync().and_then(|()| above.open_dir(name));
    let made = Some((above, name.to_os_string()));
    match dir {
        Ok(dir) => Ok((dir, made)),
        Err(error) => {
            remove_made(made.as_ref());
            Err(error)
        }
    }
}

/// Removes the stages of killed runs, whose locks are free, even if this run has nothing to export.
pub(super) fn remove_left_overs(destination: &Destination<'_>) -> Result<(), PathError> {
    let Some(dir) = open(destination.path, destination.watcher)? else { return Ok(()) };
    for entry in dir.entries()?.collect::<Result<Vec<_>, _>>()? {
        // A directory of another program may have a name with the same beginning.
        let is_stage = entry.name.to_str().is_some_and(|name| Stage::is_name(name, STAGE));
        if !is_stage || entry.kind != Kind::Directory {
            continue;
        }
        let name = Path::new(&entry.name);
        // A stage that cannot be opened or locked belongs to another process or user.
        if let Ok(Some(_held)) = StageLock::try_take(&dir, name) {
            dir.remove_tree(name)?;
        }
    }
    Ok(())
}
