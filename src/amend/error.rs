//! Why an item keeps its description.

use crate::collection::CollectionError;
use crate::custody::Refusal;
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::sidecar::{ConditionError, MetadataError, RelationError};

/// Why an item keeps its description.
#[derive(Debug, thiserror::Error)]
pub enum AmendError {
    /// A Copy has the description of its Original.
    #[error("`{name}` is not the Original here, which alone is changed")]
    Copy {
        /// The item.
        name: RepositoryName,
    },
    /// A tombstone keeps the description that the item had when it was deleted.
    #[error("`{name}` is deleted")]
    Deleted {
        /// The item.
        name: RepositoryName,
    },
    /// The sidecar does not match its seal.
    #[error("item.toml of `{name}` was changed by hand or damaged")]
    NotSealed {
        /// The item.
        name: RepositoryName,
    },
    /// A value is not accepted.
    #[error("`{name}` stays as it is")]
    Edit {
        /// The item.
        name: RepositoryName,
        /// The cause.
        #[source]
        cause: EditError,
    },
    /// A relation is not accepted.
    #[error("`{name}` does not take the relation: {cause}")]
    Relation {
        /// The item.
        name: RepositoryName,
        /// The cause.
        cause: Box<RelationError>,
    },
    /// The item has no such file.
    #[error("`{name}` has no file or link `{target}`")]
    NoTarget {
        /// The item.
        name: RepositoryName,
        /// The requested target.
        target: String,
    },
    /// The description has changed since the change was made from it.
    #[error("the description of `{name}` was changed meanwhile")]
    Outdated {
        /// The item.
        name: RepositoryName,
    },
    /// A stop was requested.
    #[error("interrupted")]
    Interrupted,
    /// The rule of custody does not allow it.
    #[error("`{name}`: {refusal}")]
    Refused {
        /// The item.
        name: RepositoryName,
        /// Why.
        refusal: Box<Refusal>,
    },
    /// The collection refuses.
    #[error(transparent)]
    Collection(#[from] CollectionError),
    /// The file system refuses.
    #[error(transparent)]
    Disk(#[from] PathError),
}

/// Why the value of a key is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The description refuses it.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    /// It is not a condition.
    #[error(transparent)]
    Condition(#[from] ConditionError),
    /// It is not a path in a payload.
    #[error("`{0}` is not a target; expected a file of the item, below `doc/`")]
    Target(String),
}
