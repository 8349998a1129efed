//! Candidates: sources that are to become items.

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::{BagError, Defaults, ImportError};
use crate::collection::Label;
use crate::deposit::{SourcePlace, SourceResolver};
use crate::digest::Digest;
use crate::disk::{Exclusion, ExclusionRule, PathError};
use crate::identity::RepositoryName;
use crate::sidecar::{Conditions, Metadata, RelationKind, Relations};

/// A source to import.
#[derive(Debug)]
pub struct Candidate {
    /// Its place.
    pub place: SourcePlace,
    /// The exclusions from it, if it is a directory.
    pub exclusion: Exclusion,
    /// Why the whole source is left out.
    pub left_out: Option<ExclusionRule>,
    /// Whether a list or a manifest names it; otherwise it was found in a directory.
    pub is_named: bool,
    /// The row of the manifest that names it.
    pub row: Option<RowText>,
    /// The description.
    pub metadata: Metadata,
    /// Its existing name.
    pub label: Option<Label>,
    /// The expected digest of its file, or of its whole payload.
    pub sha256: Option<Digest>,
    /// Its conditions.
    pub conditions: Conditions,
    /// The keys of the conditions that its row gives.
    pub condition_keys: Vec<&'static str>,
    /// Relations to items by their identifiers.
    pub relations: Relations,
    /// Relations to other rows: the kind, and the path of the row.
    pub references: Vec<(RelationKind, PathBuf)>,
}

/// A row of a manifest, unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowText {
    /// The line it begins on, from 1.
    pub line: u64,
    /// Its bytes, up to a limit.
    pub bytes: Vec<u8>,
}

/// A source that is refused before any attempt to import it.
#[derive(Debug)]
pub struct Refused {
    /// The source, in words.
    pub source: String,
    /// Its path, if any.
    pub path: Option<PathBuf>,
    /// Its row.
    pub row: Option<RowText>,
    /// Why.
    pub error: ImportError,
}

/// A candidate, or the reason why a source is not one.
pub type FoundCandidate = Result<Candidate, Box<Refused>>;

impl Candidate {
    /// The candidate at `place`, without further properties.
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

    /// Its conditions: those that its row gives, over those of all items, over those of its `bag`.
    pub(super) fn conditions_over(
        &self,
        Defaults { conditions: run, condition_keys: keys, .. }: &Defaults,
        bag: Result<Option<Conditions>, BagError>,
    ) -> Result<Conditions, BagError> {
        let gives = |key| self.condition_keys.contains(key) || keys.contains(key);
        let bag = match bag {
            Err(BagError::Conditions(_)) if ["access", "transferable"].iter().all(gives) => None,
            read => read?,
        };
        let mut conditions = bag.unwrap_or_default();
        conditions.override_with(run, keys);
        conditions.override_with(&self.conditions, &self.condition_keys);
        Ok(conditions)
    }

    /// Whether it may have become the item `name`: it has that name, or no given name.
    pub(super) fn may_be(&self, name: &RepositoryName) -> bool {
        self.label.as_ref().is_none_or(|label| label.name == *name)
    }
}

/// Computes the keys of sources in the ledger: absolute paths with links resolved.
#[derive(Debug, Default)]
pub(super) struct Keys(SourceResolver);

impl Keys {
    pub(super) fn of(&mut self, place: &SourcePlace) -> Result<Vec<u8>, PathError> {
        let path = match place {
            // The directory was resolved when it was opened, and no link is followed beneath it.
            SourcePlace::Beneath { .. } => place.path(),
            SourcePlace::Path(path) => self.0.resolved(path)?,
        };
        Ok(path.into_os_string().into_vec())
    }
}

/// The path of a key of the ledger.
pub(super) fn path_of_key(key: &[u8]) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(key))
}
