//! The directory of `--reject-dir`, into which sources are moved that cannot become items.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ImportError;
use crate::collection::discover;
use crate::deposit::{DepositError, SourcePlace};
use crate::disk::{Dir, PathError, Watcher, resolved};

/// A directory for sources that cannot become items.
#[derive(Clone, Debug)]
pub struct RejectDirectory {
    dir: Arc<Dir>,
}

impl RejectDirectory {
    /// Opens the directory.
    pub fn open(path: &Path, watcher: &Watcher) -> Result<RejectDirectory, PathError> {
        Ok(RejectDirectory { dir: Dir::open(&resolved(path)?, watcher.clone())?.into() })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Moves the source at `place` here, below the same directories as in its source, without replacing anything.
    /// Returns its new path.
    pub(super) fn take(
        &self,
        place: &SourcePlace,
        watcher: &Watcher,
    ) -> Result<PathBuf, ImportError> {
        let (from, name) = place.parent(watcher)?;
        // A directory that cannot be listed arrives here without a decision.
        let above = resolved(from.path())?;
        let found = discover::around(&above)?;
        let found =
            found.map_or_else(|| discover::within(&above.join(&name)), |it| Ok(Some(it)))?;
        if let Some(collection) = found {
            return Err(DepositError::OfCollection { path: place.path(), collection }.into());
        }
        let mut to = self.dir.try_clone()?;
        if let SourcePlace::Beneath { relative, .. } = place {
            for level in relative.parent().into_iter().flatten() {
                match to.make_dir(level) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                        return Err(error.into());
                    }
                    _ => to = to.open_dir(level)?,
                }
            }
        }
        Ok(to.path_of(move_beside((&from, &name), &to)?))
    }
}

/// Limit on the numbers of sources with the same name.
const MOST_OF_A_NAME: usize = 100_000;

/// Moves `name` in `from` to `to`, with a number if that name is taken. Returns the new name.
fn move_beside((from, name): (&Dir, &Path), to: &Dir) -> Result<PathBuf, PathError> {
    let mut free = name.to_path_buf();
    for number in 1..MOST_OF_A_NAME {
        match from.rename_new(name, to, &free) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            outcome => return outcome.map(|()| free),
        }
        let mut next = name.as_os_str().to_owned();
        next.push(format!(".{number}"));
        free = PathBuf::from(next);
    }
    from.rename_new(name, to, name).map(|()| name.to_path_buf())
}
