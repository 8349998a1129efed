//! Finding collections: the one a directory lies in, and those that would be nested.

use std::io;
use std::path::{Path, PathBuf};

use super::CollectionError;
use crate::disk::{IoContext, PathError};
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
    let existing = root.ancestors().find_map(|path| std::fs::canonicalize(path).ok());
    for directory in existing.iter().flat_map(|path| path.ancestors()) {
        if is_collection(directory)? {
            return Ok(Some(directory.to_path_buf()));
        }
    }
    for entry in walkdir::WalkDir::new(root).min_depth(2).max_depth(LOOKED_BELOW) {
        match entry {
            Ok(entry) if entry.file_name() == layout::SETTINGS => {
                return Ok(entry.path().parent().map(Path::to_path_buf));
            }
            // What can not be looked into is not ours; making the root says what is wrong with it.
            _ => {}
        }
    }
    Ok(None)
}

fn is_collection(directory: &Path) -> Result<bool, PathError> {
    let settings = directory.join(layout::SETTINGS);
    match rustix::fs::lstat(&settings) {
        Ok(_) => Ok(true),
        Err(error) => match io::Error::from(error) {
            error
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(false)
            }
            error => Err(error).on("look for", settings),
        },
    }
}
