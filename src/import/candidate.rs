//! What is to become an item, as its source names it.

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::ImportError;
use crate::collection::Label;
use crate::deposit::{Beneath, Source};
use crate::digest::Digest;
use crate::disk::{Exclusion, ExclusionRule, PathError, resolved};
use crate::identity::RepositoryName;
use crate::sidecar::{Conditions, Metadata, RelationKind, Relations};

/// One thing to be imported.
#[derive(Debug)]
pub struct Candidate {
    /// Where it is.
    pub place: SourcePlace,
    /// What is left out of it, a directory.
    pub exclusion: Exclusion,
    /// Why it is left out as a whole.
    pub left_out: Option<ExclusionRule>,
    /// Whether a list or a manifest names it; else it was found in a directory.
    pub is_named: bool,
    /// The row of the manifest that names it.
    pub row: Option<RowText>,
    /// The description.
    pub metadata: Metadata,
    /// The name that it has already.
    pub label: Option<Label>,
    /// What its bytes are to be: of a file, or of a whole payload.
    pub sha256: Option<Digest>,
    /// What may be done with it.
    pub conditions: Conditions,
    /// The keys of the conditions that its row gives.
    pub condition_keys: Vec<&'static str>,
    /// Relations to items by their identifiers.
    pub relations: Relations,
    /// Relations to other rows: the kind, and the path of the row.
    pub references: Vec<(RelationKind, PathBuf)>,
}

/// Where a candidate is.
#[derive(Clone, Debug)]
pub enum SourcePlace {
    /// At a path that a person named.
    Path(PathBuf),
    /// Beneath a directory that is held open.
    Beneath(Beneath),
}

/// A row of a manifest as it stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowText {
    /// The line it begins on, from 1.
    pub line: u64,
    /// Its bytes, as far as they could be held.
    pub bytes: Vec<u8>,
}

/// Something that is not imported, found before anything was tried.
#[derive(Debug)]
pub struct Refused {
    /// What it is, in words.
    pub source: String,
    /// Its path, where it has one.
    pub path: Option<PathBuf>,
    /// Its row.
    pub row: Option<RowText>,
    /// Why.
    pub error: ImportError,
}

/// What a source gives: something to be imported, or why it is not.
pub type FoundCandidate = Result<Candidate, Box<Refused>>;

impl Candidate {
    /// The candidate at `place`, of which nothing else is known.
    pub fn new(place: SourcePlace) -> Candidate {
        Candidate {
            place,
            exclusion: Exclusion::default(),
            left_out: None,
            is_named: false,
            row: None,
            metadata: Metadata::default(),
            label: None,
            sha256: None,
            conditions: Conditions::default(),
            condition_keys: Vec::new(),
            relations: Relations::default(),
            references: Vec::new(),
        }
    }

    /// Whether it may have become the item `name`: it has that name, or none.
    pub(super) fn may_be(&self, name: &RepositoryName) -> bool {
        self.label.as_ref().is_none_or(|label| label.name == *name)
    }
}

impl SourcePlace {
    /// Its path.
    pub fn path(&self) -> PathBuf {
        match self {
            SourcePlace::Path(path) => path.clone(),
            SourcePlace::Beneath(beneath) => beneath.path(),
        }
    }

    /// The same place as a deposit knows it.
    pub(super) fn source(&self) -> Source {
        match self {
            SourcePlace::Path(path) => Source::Path(path.clone()),
            SourcePlace::Beneath(beneath) => Source::Beneath(beneath.clone()),
        }
    }

    /// What is below it.
    pub(super) fn join(&self, name: &str) -> SourcePlace {
        match self {
            SourcePlace::Path(path) => SourcePlace::Path(path.join(name)),
            SourcePlace::Beneath(Beneath { root, relative }) => {
                SourcePlace::Beneath(Beneath { root: root.clone(), relative: relative.join(name) })
            }
        }
    }
}

/// Gives the keys under which the ledger knows sources: absolute paths without links on the way.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// The directory of the last one, and where it really is: sources come side by side.
    last: Option<(PathBuf, PathBuf)>,
}

impl Keys {
    pub(super) fn of(&mut self, place: &SourcePlace) -> Result<Vec<u8>, PathError> {
        let path = match place {
            // The directory was resolved when it was opened, and no link is passed beneath it.
            SourcePlace::Beneath(beneath) => beneath.path(),
            SourcePlace::Path(path) => self.resolved(path)?,
        };
        Ok(path.into_os_string().into_vec())
    }

    fn resolved(&mut self, path: &Path) -> Result<PathBuf, PathError> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return resolved(path);
        };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        if self.last.as_ref().is_none_or(|(last, _)| last != parent) {
            self.last = Some((parent.to_path_buf(), resolved(parent)?));
        }
        let above = self.last.as_ref().map_or(parent, |(_, resolved)| resolved);
        Ok(above.join(name))
    }
}

/// The path that a key of the ledger is.
pub(super) fn path_of_key(key: &[u8]) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(key))
}
