//! Where the entries of a plan come from: files and directories that people named.

use std::path::{Path, PathBuf};

use super::{Beneath, Source};
use crate::disk::{
    Dir, Exclusion, FileStat, Kind, Links, PathError, SourceWalk, StoredFile, Watcher,
    size_of_tree, split, stat_of,
};
use crate::progress::Scan;

/// A source as it was named. It is opened only while it is used: many plans wait at a time.
#[derive(Clone, Debug)]
pub(super) struct SourceRoot {
    pub path: PathBuf,
    pub links: Links,
    pub kind: RootKind,
    /// How it is reached, where not by its path.
    pub beneath: Option<Beneath>,
}

/// A source that is named, not yet looked at.
#[derive(Clone, Copy)]
pub(super) struct NamedSource<'a> {
    pub path: &'a Path,
    pub beneath: Option<&'a Beneath>,
}

impl NamedSource<'_> {
    /// What it is.
    pub(super) fn stat(&self, links: Links) -> Result<FileStat, PathError> {
        let Some(Beneath { root, relative }) = self.beneath else {
            return stat_of(self.path, links);
        };
        root.stat(relative)?.ok_or_else(|| {
            let absent =
                std::io::Error::new(std::io::ErrorKind::NotFound, "there is nothing of this name");
            PathError::new("inspect", self.path, absent)
        })
    }

    /// The bytes of everything in it, a directory.
    pub(super) fn bytes(&self) -> Result<u64, PathError> {
        match self.beneath {
            Some(Beneath { root, relative }) => Ok(root.measure_tree(relative)?.bytes),
            None => size_of_tree(self.path),
        }
    }

    /// The walk of it, a directory.
    pub(super) fn walk(&self, links: Links, watcher: Watcher) -> Result<SourceWalk, PathError> {
        match self.beneath {
            Some(Beneath { root, relative }) => {
                // What is reached beneath a directory stays beneath it.
                let links = if links == Links::Follow { Links::Keep } else { links };
                Ok(SourceWalk::at(root.open_dir(relative)?, links))
            }
            None => SourceWalk::open(self.path, links, watcher),
        }
    }

    pub(super) fn root(&self, links: Links, kind: RootKind) -> SourceRoot {
        SourceRoot { path: self.path.to_path_buf(), links, kind, beneath: self.beneath.cloned() }
    }
}

impl Source {
    /// The bytes of all files of the source, unless `scan` ends before. What cannot be read adds none: the run
    /// reports it.
    pub fn measure(
        &self,
        links: Links,
        exclusion: &Exclusion,
        watcher: &Watcher,
        scan: &Scan<'_>,
    ) -> Option<u64> {
        let by_path = |path| NamedSource { path, beneath: None };
        let path;
        let named = match self {
            Source::Path(path) => vec![by_path(path.as_path())],
            Source::Beneath(beneath) => {
                path = beneath.path();
                vec![NamedSource { path: &path, beneath: Some(beneath) }]
            }
            Source::Together(paths) => paths.iter().map(|path| by_path(path)).collect(),
            Source::Stream { .. } => Vec::new(),
        };
        let mut bytes = 0_u64;
        for source in named {
            scan.goes_on()?;
            let Ok(stamp) = source.stat(links) else { continue };
            let found = match stamp.kind {
                Kind::File => stamp.bytes,
                Kind::Directory => match source.walk(links, watcher.clone()) {
                    Ok(walk) => walk.measure(exclusion, scan)?,
                    Err(_) => 0,
                },
                Kind::Link | Kind::Special(_) => 0,
            };
            bytes = bytes.saturating_add(found);
        }
        Some(bytes)
    }
}

/// What a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RootKind {
    File,
    Directory,
}

/// A source, open.
#[derive(Debug)]
pub(super) enum OpenRoot {
    File { root: SourceRoot, watcher: Watcher },
    Directory(SourceWalk),
}

impl SourceRoot {
    pub(super) fn open(&self, watcher: Watcher) -> Result<OpenRoot, PathError> {
        Ok(match self.kind {
            RootKind::File => OpenRoot::File { root: self.clone(), watcher },
            RootKind::Directory => OpenRoot::Directory(self.named().walk(self.links, watcher)?),
        })
    }

    fn named(&self) -> NamedSource<'_> {
        NamedSource { path: &self.path, beneath: self.beneath.as_ref() }
    }

    /// Opens the directory that the source is in, to remove it from there.
    pub(super) fn parent(&self, watcher: &Watcher) -> Result<Dir, PathError> {
        if let Some(Beneath { root, relative }) = &self.beneath {
            return root.open_dir(split(relative).0);
        }
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        Dir::open(parent.unwrap_or(Path::new(".")), watcher.clone())
    }
}

impl OpenRoot {
    /// Opens the file at `relative` for reading.
    pub(super) fn open_file(&self, relative: &Path) -> Result<StoredFile, PathError> {
        match self {
            OpenRoot::Directory(walk) => walk.open_file(relative),
            OpenRoot::File { root: SourceRoot { beneath: Some(beneath), .. }, .. } => {
                beneath.root.open_file(&beneath.relative)
            }
            OpenRoot::File { root, watcher } => match root.links {
                Links::Follow => StoredFile::open(&root.path, watcher.clone()),
                Links::Keep | Links::AsIs | Links::Skip | Links::Refuse => {
                    StoredFile::open_no_follow(&root.path, watcher.clone())
                }
            },
        }
    }
}
