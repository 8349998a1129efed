//! Finding collections: the one a directory lies in, and those that would be nested.

use std::io;
use std::path::{Path, PathBuf};

use super::CollectionError;
use crate::disk::{Dir, IoContext, Kind, PathError, Watcher, resolved};
use crate::layout;

/// How deep below a new root other collections are looked for: as deep as its own years lie.
const LOOKED_BELOW: usize = 3;

/// The collection that `start` lies in: the nearest directory upwards with a `urepo.toml`.
pub fn enclosing(start: &Path) -> Result<PathBuf, CollectionError> {
    for directory in start.ancestors() {
        if is_collection(directory)? {
            return Ok(directory.to_path_buf());
        }
    }
    Err(CollectionError::NotInACollection { path: start.to_path_buf() })
}

/// A collection at, above or below `root`, which need not exist.
pub(super) fn enclosing_or_enclosed(root: &Path) -> Result<Option<PathBuf>, PathError> {
    if is_collection(root)? {
        return Ok(Some(root.to_path_buf()));
    }
    // Links on the way are resolved from the nearest directory that exists.
    for path in root.ancestors() {
        let existing = match resolved(path) {
            Err(error) if is_absent(error.kind()) => continue,
            existing => existing?,
        };
        for directory in existing.ancestors() {
            if is_collection(directory)? {
                return Ok(Some(directory.to_path_buf()));
            }
        }
        break;
    }
    match Dir::open(root, Watcher::default()).and_then(|root| enclosed(&root, LOOKED_BELOW)) {
        Err(error) if is_not_ours(error.kind()) => Ok(None),
        found => found,
    }
}

/// A collection in `dir`, at most `levels` below it, links not followed.
fn enclosed(dir: &Dir, levels: usize) -> Result<Option<PathBuf>, PathError> {
    for entry in dir.entries()? {
        let entry = entry?;
        if entry.kind != Kind::Directory {
            continue;
        }
        let looked = dir.open_dir(&entry.name).and_then(|below| {
            if below.stamp(layout::SETTINGS)?.is_some() {
                return Ok(Some(below.path().to_path_buf()));
            }
            if levels > 1 { enclosed(&below, levels - 1) } else { Ok(None) }
        });
        match looked {
            Ok(None) => {}
            Err(error) if is_not_ours(error.kind()) => {}
            found => return found,
        }
    }
    Ok(None)
}

/// What this user may not look into, such as `lost+found`, is not theirs.
fn is_not_ours(kind: io::ErrorKind) -> bool {
    is_absent(kind) || kind == io::ErrorKind::PermissionDenied
}

fn is_absent(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn is_collection(directory: &Path) -> Result<bool, PathError> {
    let settings = directory.join(layout::SETTINGS);
    match rustix::fs::lstat(&settings) {
        Ok(_) => Ok(true),
        Err(error) => match io::Error::from(error) {
            error if is_absent(error.kind()) => Ok(false),
            error => Err(error).on("look for", settings),
        },
    }
}
