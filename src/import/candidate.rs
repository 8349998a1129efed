//! What is to become an item, as its source names it.

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::ImportError;
use crate::collection::Label;
use crate::deposit::{SourcePlace, SourceResolver};
use crate::digest::Digest;
use crate::disk::{Exclusion, ExclusionRule, PathError};
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

/// Gives the keys under which the ledger knows sources: absolute paths without links on the way.
#[derive(Debug, Default)]
pub(super) struct Keys(SourceResolver);

impl Keys {
    pub(super) fn of(&mut self, place: &SourcePlace) -> Result<Vec<u8>, PathError> {
        let path = match place {
            // The directory was resolved when it was opened, and no link is passed beneath it.
            SourcePlace::Beneath { .. } => place.path(),
            SourcePlace::Path(path) => self.0.resolved(path)?,
        };
        Ok(path.into_os_string().into_vec())
    }
}

/// The path that a key of the ledger is.
pub(super) fn path_of_key(key: &[u8]) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(key))
}
