//! Finding collections: the one a directory lies in, and those that would be nested.

use std::io;
use std::path::{Path, PathBuf};

use crate::collection::{Collection, CollectionError};
use crate::disk::{IoContext, PathError, listed, resolved};
use crate::identity::RepositoryName;
use crate::layout;

/// The depth to which other collections are looked for below a new root: that of its own items.
const LOOKED_BELOW: usize = 4;

/// The collection that `start` lies in: the nearest directory upwards with a `urepo.toml`.
pub fn enclosing(start: &Path) -> Result<PathBuf, CollectionError> {
    around(start)?.ok_or_else(|| CollectionError::NotInACollection { path: start.to_path_buf() })
}

/// The same, for a directory that need not lie in a collection.
pub(crate) fn around(start: &Path) -> Result<Option<PathBuf>, PathError> {
    for directory in start.ancestors() {
        if is_collection(directory)? {
            return Ok(Some(directory.to_path_buf()));
        }
    }
    Ok(None)
}

/// Makes sure that the absolute `path` is not in a collection, which holds only items and urepo's own files.
pub fn check_outside(path: &Path) -> Result<(), CollectionError> {
    match around_new(path)? {
        Some(collection) => Err(CollectionError::Inside { path: path.to_path_buf(), collection }),
        None => Ok(()),
    }
}

/// The collection that `path`, which need not exist, lies in or is.
pub(in crate::collection) fn around_new(path: &Path) -> Result<Option<PathBuf>, PathError> {
    // Links on the way are resolved from the nearest directory that exists.
    for path in path.ancestors() {
        match resolved(path) {
            Err(error) if is_absent(error.kind()) => {}
            existing => return around(&existing?),
        }
    }
    Ok(None)
}

/// A collection at `path` or at any depth below it, without following links.
///
/// A `urepo.toml` without `.urepo` beside it may be any file of this name.
pub(crate) fn within(path: &Path) -> Result<Option<PathBuf>, PathError> {
    let has_own = |root: &Path| rustix::fs::lstat(root.join(layout::OWN)).is_ok();
    listed(path, || first(walkdir::WalkDir::new(path).follow_root_links(false), has_own))?
}

/// A collection at, above or below `root`, which need not exist.
pub(super) fn enclosing_or_enclosed(root: &Path) -> Result<Option<PathBuf>, PathError> {
    if is_collection(root)? {
        return Ok(Some(root.to_path_buf()));
    }
    if let Some(collection) = around_new(root)? {
        return Ok(Some(collection));
    }
    let below = walkdir::WalkDir::new(root).min_depth(2).max_depth(LOOKED_BELOW);
    listed(root, || first(below, |_| true))?
}

/// The first directory with a `urepo.toml` among those that `is_one` takes.
fn first(
    entries: walkdir::WalkDir,
    is_one: impl Fn(&Path) -> bool,
) -> Result<Option<PathBuf>, PathError> {
    for entry in entries {
        match entry {
            Ok(entry) if entry.file_name() == layout::SETTINGS => {
                if let Some(root) = entry.path().parent().filter(|root| is_one(root)) {
                    return Ok(Some(root.to_path_buf()));
                }
            }
            Ok(_) => {}
            Err(error) => {
                let path = error.path().map(Path::to_path_buf).unwrap_or_default();
                let cause = error.into_io_error().unwrap_or_else(|| io::ErrorKind::Other.into());
                // A directory that this user may not read, such as `lost+found`, is not theirs.
                if !is_absent(cause.kind()) && cause.kind() != io::ErrorKind::PermissionDenied {
                    return Err(PathError::new("look for collections in", path, cause));
                }
            }
        }
    }
    Ok(None)
}

impl Collection {
    /// The entries of the root that belong to no item, and not to urepo.
    pub fn strays(&self) -> Result<Vec<PathBuf>, PathError> {
        let mut strays = Vec::new();
        for entry in self.root().entries()? {
            let name = PathBuf::from(entry?.name);
            strays.extend(self.is_stray(&name).then_some(name));
        }
        strays.sort_unstable();
        Ok(strays)
    }

    /// Whether `below`, a path in the collection, is neither in an item nor above one, and not urepo's.
    pub(crate) fn is_stray(&self, below: &Path) -> bool {
        let own = [layout::OWN, layout::SETTINGS, layout::README];
        let Some(first) = below.iter().next() else { return false };
        if own.iter().any(|own| first == *own) {
            return false;
        }
        let levels: PathBuf = below.iter().take(LOOKED_BELOW).collect();
        let missing = LOOKED_BELOW - levels.iter().count();
        let root = self.root().path();
        let found = walkdir::WalkDir::new(root.join(levels)).min_depth(missing).max_depth(missing);
        let is_item = |entry: walkdir::DirEntry| {
            let path = entry.path().strip_prefix(root).ok().and_then(Path::to_str);
            entry.file_type().is_dir()
                && path.is_some_and(|path| RepositoryName::parse_as_found(path).is_ok())
        };
        // If it cannot be listed, it may hold an item.
        listed(root, || !found.into_iter().flatten().any(is_item)).unwrap_or(false)
    }
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
