//! Errors of the catalog.

use crate::collection::CollectionError;
use crate::disk::{LockError, PathError};
use crate::index::{IndexError, has_no_place};

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
    /// Another process builds the index.
    #[error("the index is being built")]
    BeingBuilt(#[source] LockError),
    /// Another process has just removed the index.
    #[error("the index has just been removed")]
    Gone,
    /// The work was interrupted.
    #[error("interrupted")]
    Interrupted,
}

impl CatalogError {
    pub(super) fn needs_rebuild(&self) -> bool {
        matches!(self, CatalogError::Index(error) if error.needs_rebuild())
    }

    /// Whether no index can be written here.
    pub(super) fn is_unwritable(&self) -> bool {
        match self {
            CatalogError::Index(error) => error.is_unwritable(),
            CatalogError::Disk(error) | CatalogError::BeingBuilt(LockError::Disk(error)) => {
                has_no_place(error)
            }
            _ => false,
        }
    }
}
