//! Why an item is not corrected.

use crate::amend::AmendError;
use crate::collection::CollectionError;
use crate::relation::RelateError;

/// Why an item is not corrected.
#[derive(Debug, thiserror::Error)]
pub enum CorrectionError {
    /// An item keeps its description.
    #[error(transparent)]
    Amend(#[from] AmendError),
    /// Relations stay as they are.
    #[error(transparent)]
    Relate(#[from] RelateError),
    /// The collection refuses.
    #[error(transparent)]
    Collection(#[from] CollectionError),
}
