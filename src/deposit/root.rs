//! The sources of a plan: files and directories that people named.

use std::path::Path;

use super::SourcePlace;
use crate::disk::{Links, PathError, SourceWalk, StoredFile, Watcher};

/// A source in the given form. It is opened only while it is used, because many plans wait at a time.
#[derive(Clone, Debug)]
pub(super) struct SourceRoot {
    pub place: SourcePlace,
    pub links: Links,
    pub kind: RootKind,
}

/// The kind of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RootKind {
    File,
    Directory,
}

/// An open source.
#[derive(Debug)]
pub(super) enum OpenRoot {
    File { root: SourceRoot, watcher: Watcher },
    Directory(SourceWalk),
}

impl SourceRoot {
    pub(super) fn open(&self, watcher: Watcher) -> Result<OpenRoot, PathError> {
        Ok(match self.kind {
            RootKind::File => OpenRoot::File { root: self.clone(), watcher },
            RootKind::Directory => OpenRoot::Directory(self.place.walk(self.links, &watcher)?),
        })
    }
}

impl OpenRoot {
    /// Opens the file at `relative` for reading.
    pub(super) fn open_file(&self, relative: &Path) -> Result<StoredFile, PathError> {
        match self {
            OpenRoot::Directory(walk) => walk.open_file(relative),
            OpenRoot::File { root, watcher } => root.place.file(root.links, watcher),
        }
    }
}
