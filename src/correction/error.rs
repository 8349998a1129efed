//! Why an item is not corrected.

use crate::amend::AmendError;
use crate::collection::CollectionError;
use crate::identity::RepositoryName;
use crate::relation::RelateError;
use crate::sidecar::RelationKind;

/// Why an item is not corrected.
#[derive(Debug, thiserror::Error)]
pub enum CorrectionError {
    /// An item keeps its description.
    #[error(transparent)]
    Amend(#[from] AmendError),
    /// Relations stay unchanged.
    #[error(transparent)]
    Relate(#[from] RelateError),
    /// The row of the other end says otherwise.
    #[error("it contradicts the row of `{name}` in `relation.{kind}`")]
    Contradicted {
        /// The item at the other end.
        name: RepositoryName,
        /// The kind of relation there.
        kind: RelationKind,
    },
    /// The collection refuses.
    #[error(transparent)]
    Collection(#[from] CollectionError),
}
