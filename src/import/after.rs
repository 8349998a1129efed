//! Treatment of a source after it became an item: it is removed or moved only after the item was read back
//! from the disk.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::look::Scanner;
use super::{After, ImportError};
use crate::collection::discover;
use crate::deposit::source_removal::{
    Closeness, SourceComparison, SourceKept, SourceRemover, Times, give_back, move_beside,
};
use crate::deposit::{DepositError, SourcePlace, in_words};
use crate::disk::{Dir, Kind, PATTERN_FILE, PathError, Watcher, resolved};
use crate::identity::RepositoryName;

/// A directory for sources that became items, or that cannot.
#[derive(Clone, Debug)]
pub struct ArchiveDirectory {
    dir: Arc<Dir>,
}

impl ArchiveDirectory {
    /// Opens the directory.
    pub fn open(path: &Path, watcher: &Watcher) -> Result<ArchiveDirectory, PathError> {
        Ok(ArchiveDirectory { dir: Dir::open(&resolved(path)?, watcher.clone())?.into() })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Moves `name` in `from` here, below the same directories as in its source, without replacing anything.
    /// Returns its new place.
    fn take(
        &self,
        place: &SourcePlace,
        from: &Dir,
        name: &Path,
    ) -> Result<(Dir, PathBuf), PathError> {
        let mut to = self.dir.try_clone()?;
        if let SourcePlace::Beneath { relative, .. } = place {
            for level in relative.parent().into_iter().flatten() {
                match to.make_dir(level) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                        return Err(error);
                    }
                    _ => to = to.open_dir(level)?,
                }
            }
        }
        let taken = move_beside((from, name), (&to, name))?;
        Ok((to, taken))
    }
}

/// Moves a source that cannot become an item into `rejected`, and returns its new path.
pub(super) fn reject(
    rejected: &ArchiveDirectory,
    place: &SourcePlace,
    looker: &Scanner,
) -> Result<PathBuf, ImportError> {
    let (from, own) = place.parent(&looker.watcher)?;
    // A directory that cannot be listed arrives here without a decision.
    let above = resolved(from.path())?;
    let found = discover::around(&above)?;
    let found = found.map_or_else(|| discover::within(&above.join(&own)), |it| Ok(Some(it)))?;
    if let Some(collection) = found {
        return Err(DepositError::OfCollection { path: place.path(), collection }.into());
    }
    let (to, name) = rejected.take(place, &from, &own)?;
    Ok(to.path_of(&name))
}

/// System files and files of patterns, which move with a directory though they are not in its item. Any other
/// excluded file keeps a source in place, above all an incomplete one such as `film.part`.
fn moves_along(path: &Path, kind: Kind) -> bool {
    const NAMES: [&str; 6] =
        [PATTERN_FILE, ".DS_Store", "Thumbs.db", "thumbs.db", "Desktop.ini", "desktop.ini"];
    let name = path.file_name().unwrap_or_default();
    kind == Kind::File
        && (NAMES.iter().any(|it| *it == name) || name.as_encoded_bytes().starts_with(b"._"))
}

/// Removes or moves the source of the item `name` as requested, and returns failures.
///
/// `source` is the whole source, with the place of the item's files. A source that was dropped again has
/// other `times` than the item.
pub(super) fn release(
    after: &After,
    remover: &SourceRemover<'_>,
    name: &RepositoryName,
    source: (&SourcePlace, &SourcePlace),
    looker: &Scanner,
    times: Times,
) -> Vec<String> {
    let released = match after {
        After::Keep => Ok(()),
        After::Move(done) => move_to(done, remover, name, source, (looker, times)),
        After::Remove => remove(remover, name, source, (looker, times)),
    };
    // It may have gone with a directory above it, which became an item of its own. Any other error concerns
    // its remains under the hidden name.
    let is_gone = |error: &SourceKept| {
        error.may_be_gone()
            && looker.kind(source.0).is_err_and(|it| it.kind() == ErrorKind::NotFound)
    };
    let kept = released.err().filter(|error| !is_gone(error));
    kept.map(|error| in_words(&error)).into_iter().collect()
}

fn move_to(
    done: &ArchiveDirectory,
    remover: &SourceRemover<'_>,
    name: &RepositoryName,
    (place, payload): (&SourcePlace, &SourcePlace),
    (looker, times): (&Scanner, Times),
) -> Result<(), SourceKept> {
    let entries = remover.prove(name)?;
    let (within, besides, interrupt) = (Path::new(""), Some(&moves_along as _), remover.interrupt);
    let comparison = SourceComparison { entries: &entries, within, times, besides, interrupt };
    let compare =
        |closeness| looker.compare(payload, &entries, &moves_along, (times, closeness, interrupt));
    let compared = compare(Closeness::Bytes)?;
    // Somebody may still be working in it.
    if compared.shape(&entries).is_none() || compare(Closeness::Stamps)? != compared {
        return Err(SourceKept::Changed(payload.path()));
    }
    let (from, own) = place.parent(&looker.watcher)?;
    let (to, taken) = done.take(place, &from, &own)?;
    let (path, of_payload) = (place.path(), payload.path());
    let moved = match of_payload.strip_prefix(&path) {
        Ok(below) if !below.as_os_str().is_empty() => taken.join(below),
        _ => taken.clone(),
    };
    let changed = match comparison.is_same((&to, &moved), &own, &compared) {
        Ok(true) => return Ok(()),
        Ok(false) => SourceKept::Changed(path),
        Err(error) => error,
    };
    // A file that replaced it at the last moment is a source of its own.
    Err(give_back((&to, &taken), (&from, &own), changed))
}

fn remove(
    remover: &SourceRemover<'_>,
    name: &RepositoryName,
    (place, payload): (&SourcePlace, &SourcePlace),
    (looker, times): (&Scanner, Times),
) -> Result<(), SourceKept> {
    if place.path() != payload.path() {
        return Err(SourceKept::Bag);
    }
    let (parent, own) = place.parent(&looker.watcher)?;
    remover.remove((&parent, &own), &mut remover.hold(name)?, Path::new(""), times)
}
