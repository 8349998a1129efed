//! The places of sources, and how they are reached.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{
    Dir, Exclusion, FileStat, Kind, Links, PathError, SourceWalk, StoredFile, Watcher, resolved,
    size_of_tree, split, stat_of,
};
use crate::progress::Scan;

/// The place of a file or directory that becomes an item.
#[derive(Clone, Debug)]
pub enum SourcePlace {
    /// At a path that a person named.
    Path(PathBuf),
    /// Beneath a directory that is held open: no link is passed on the way to it.
    Beneath {
        /// The directory.
        root: Arc<Dir>,
        /// Its path below the directory.
        relative: PathBuf,
    },
}

impl SourcePlace {
    /// Its path.
    pub fn path(&self) -> PathBuf {
        match self {
            SourcePlace::Path(path) => path.clone(),
            SourcePlace::Beneath { root, relative } => root.path_of(relative),
        }
    }

    /// The entries below it.
    pub(crate) fn join(&self, name: &str) -> SourcePlace {
        match self {
            SourcePlace::Path(path) => SourcePlace::Path(path.join(name)),
            SourcePlace::Beneath { root, relative } => {
                SourcePlace::Beneath { root: root.clone(), relative: relative.join(name) }
            }
        }
    }

    /// Kind, size and times of the source.
    pub(super) fn stat(&self, links: Links) -> Result<FileStat, PathError> {
        match self {
            SourcePlace::Path(path) => stat_of(path, links),
            SourcePlace::Beneath { root, relative } => {
                root.stat(relative)?.ok_or_else(|| self.absent("inspect"))
            }
        }
    }

    /// The error of an `action`: there is nothing.
    pub(crate) fn absent(&self, action: &'static str) -> PathError {
        let absent =
            std::io::Error::new(std::io::ErrorKind::NotFound, "there is nothing of this name");
        PathError::new(action, self.path(), absent)
    }

    /// Opens it, a directory.
    pub(crate) fn dir(&self, links: Links, watcher: &Watcher) -> Result<Dir, PathError> {
        match self {
            SourcePlace::Beneath { root, relative } => root.open_dir(relative),
            SourcePlace::Path(path) if links == Links::Follow => Dir::open(path, watcher.clone()),
            SourcePlace::Path(path) => Dir::open_no_follow(path, watcher.clone()),
        }
    }

    /// Opens the directory that it is in, and says what it is called there.
    pub(crate) fn parent(&self, watcher: &Watcher) -> Result<(Dir, PathBuf), PathError> {
        let name = PathBuf::from(self.path().file_name().unwrap_or_default());
        let dir = match self {
            SourcePlace::Beneath { root, relative } => root.open_dir(split(relative).0)?,
            SourcePlace::Path(path) => {
                let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                Dir::open(parent.unwrap_or(Path::new(".")), watcher.clone())?
            }
        };
        Ok((dir, name))
    }

    /// Opens it, a file.
    pub(super) fn file(&self, links: Links, watcher: &Watcher) -> Result<StoredFile, PathError> {
        match self {
            SourcePlace::Beneath { root, relative } => root.open_file(relative),
            SourcePlace::Path(path) if links == Links::Follow => {
                StoredFile::open(path, watcher.clone())
            }
            SourcePlace::Path(path) => StoredFile::open_no_follow(path, watcher.clone()),
        }
    }

    /// The walk of it, a directory.
    pub(crate) fn walk(&self, links: Links, watcher: &Watcher) -> Result<SourceWalk, PathError> {
        let dir = self.dir(links, watcher)?;
        // A place beneath a directory stays beneath it.
        let links = match (self, links) {
            (SourcePlace::Beneath { .. }, Links::Follow) => Links::Keep,
            (_, links) => links,
        };
        Ok(SourceWalk::at(dir, links))
    }

    /// The bytes of everything in it, a directory.
    pub(super) fn bytes(&self) -> Result<u64, PathError> {
        match self {
            SourcePlace::Beneath { root, relative } => Ok(root.measure_tree(relative)?.bytes),
            SourcePlace::Path(path) => size_of_tree(path),
        }
    }

    /// The bytes of all its files, unless `scan` ends before. What cannot be read adds none: the run reports it.
    pub fn measure(
        &self,
        links: Links,
        exclusion: &Exclusion,
        watcher: &Watcher,
        scan: &Scan<'_>,
    ) -> Option<u64> {
        scan.goes_on()?;
        let Ok(stamp) = self.stat(links) else { return Some(0) };
        match stamp.kind {
            Kind::File => Some(stamp.bytes),
            Kind::Directory => match self.walk(links, watcher) {
                Ok(walk) => walk.measure(exclusion, scan),
                Err(_) => Some(0),
            },
            Kind::Link | Kind::Special(_) => Some(0),
        }
    }
}

/// Resolves the directories that sources are in. Sources come side by side, so the last directory is kept with
/// where it really is.
#[derive(Debug, Default)]
pub(crate) struct SourceResolver {
    last: Option<(PathBuf, PathBuf)>,
}

impl SourceResolver {
    /// The real path of `path`, without resolving a final link.
    pub(crate) fn resolved(&mut self, path: &Path) -> Result<PathBuf, PathError> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return resolved(path);
        };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let last = match self.last.take() {
            Some(last) if last.0 == parent => last,
            _ => (parent.to_path_buf(), resolved(parent)?),
        };
        Ok(self.last.insert(last).1.join(name))
    }
}
