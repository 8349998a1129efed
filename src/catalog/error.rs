//! Errors of the catalog.

use crate::collection::CollectionError;
use crate::disk::PathError;
use crate::index::IndexError;

/// An error of the catalog.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// The index cannot be used.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// An item cannot be used.
    #[error(transparent)]
    Collection(#[from] CollectionError),
    /// A file or directory cannot be used.
    #[error(transparent)]
    Disk(#[from] PathError),
    /// The work was interrupted.
    #[error("interrupted")]
    Interrupted,
}

impl CatalogError {
    /// Whether no index can be kept.
    pub(crate) fn is_unwritable(&self) -> bool {
        matches!(self, CatalogError::Index(error) if error.is_unwritable())
    }
}
