//! Finding collections: the one a directory lies in, and those that would be nested.

use std::io;
use std::path::{Path, PathBuf};

use super::CollectionError;
use crate::disk::{IoContext, PathError, resolved};
use crate::layout;

/// How deep below a new root other collections are looked for: as deep as its own items lie.
const LOOKED_BELOW: usize = 4;

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
    for entry in walkdir::WalkDir::new(root).min_depth(2).max_depth(LOOKED_BELOW) {
        match entry {
            Ok(entry) if entry.file_name() == layout::SETTINGS => {
                return Ok(entry.path().parent().map(Path::to_path_buf));
            }
            Ok(_) => {}
            Err(error) => {
                let path = error.path().unwrap_or(root).to_path_buf();
                let cause = error.into_io_error().unwrap_or_else(|| io::ErrorKind::Other.into());
                // What this user may not look into, such as `lost+found`, is not theirs.
                if !is_absent(cause.kind()) && cause.kind() != io::ErrorKind::PermissionDenied {
                    return Err(PathError::new("look for collections in", path, cause));
                }
            }
        }
    }
    Ok(None)
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
