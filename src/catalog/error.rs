//! Why a collection has no answer.

use crate::collection::CollectionError;
use crate::disk::{LockError, PathError};
use crate::index::{IndexError, has_no_place};

/// Why a collection has no answer.
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
    /// Another process makes the index.
    #[error("the index is being made")]
    BeingMade(#[source] LockError),
    /// Somebody has just removed the index.
    #[error("the index has just been removed")]
    Gone,
    /// A stop was asked for.
    #[error("interrupted")]
    Interrupted,
}

impl CatalogError {
    pub(super) fn is_cured_by_rebuilding(&self) -> bool {
        matches!(self, CatalogError::Index(error) if error.is_cured_by_rebuilding())
    }

    /// Whether there is no place for an index here, or no right to write one.
    pub(super) fn can_not_be_kept(&self) -> bool {
        match self {
            CatalogError::Index(error) => error.can_not_be_kept(),
            CatalogError::Disk(error) | CatalogError::BeingMade(LockError::Disk(error)) => {
                has_no_place(error)
            }
            _ => false,
        }
    }
}
