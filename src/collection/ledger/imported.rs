//! The source of an item that an import made, so that no source is imported twice.

use serde::{Deserialize, Serialize};

use super::Collection;
use crate::item::{Entry, Shape, Totals, content};
use crate::sidecar::Sidecar;

/// The key of `[origin]` that only imports write: the beginning of the run.
pub(crate) const IMPORTED: &str = "imported";
/// The key of `[origin]` with the path of the source.
pub(crate) const SOURCE: &str = "source";

/// A source, as the import found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedSource {
    /// The absolute path of the source, escaped as a path.
    pub source: String,
    /// The digest of everything that shows without reading it.
    pub shape: String,
    /// The digest of its content.
    pub content: String,
    /// The bytes of all files.
    pub bytes: u64,
}

impl ImportedSource {
    /// The source of an item with this `origin`, if an import made it.
    pub(crate) fn of(
        origin: &toml::Table,
        entries: &[Entry],
        payload: &Totals,
    ) -> Option<ImportedSource> {
        origin.get(IMPORTED)?;
        Some(ImportedSource {
            source: origin.get(SOURCE)?.as_str()?.to_owned(),
            shape: Shape::of(entries).to_string(),
            content: content(entries, payload).to_string(),
            bytes: payload.bytes,
        })
    }

    /// The same for the item with this sidecar.
    pub(crate) fn of_item(sidecar: &Sidecar) -> Option<ImportedSource> {
        ImportedSource::of(&sidecar.origin, &sidecar.files, &sidecar.payload)
    }
}

impl Collection {
    /// The source of the item with this sidecar, if an import made it here or in a collection that this one takes the
    /// place of: the prefix is its own.
    pub(crate) fn imported_source(&self, sidecar: &Sidecar) -> Option<ImportedSource> {
        let prefix = sidecar.repository.prefix().folded();
        let mut own = self.settings().subsystems.iter().filter_map(|it| it.prefix().ok());
        let is_own = own.any(|it| it.folded() == prefix);
        ImportedSource::of_item(sidecar).filter(|_| is_own)
    }
}
