//! Why a relation is refused.

use crate::collection::CollectionError;
use crate::identity::{Identifier, Language, RepositoryName};
use crate::sidecar::RelationKind;

/// Why no relation is made or removed.
#[derive(Debug, thiserror::Error)]
pub enum RelateError {
    /// An item is not related to itself.
    #[error("`{0}` cannot be related to itself")]
    Itself(RepositoryName),
    /// Editions would follow each other in a circle.
    #[error("`{later}` cannot be an edition after `{earlier}`: `{earlier}` is one after it")]
    Circle {
        /// The item that would come first.
        earlier: RepositoryName,
        /// The item that would follow.
        later: RepositoryName,
    },
    /// The other item has the same relation to this one.
    #[error("`{other}` cannot be the {kind} of `{name}`: `{name}` is its {kind}")]
    Mutual {
        /// The item.
        name: RepositoryName,
        /// The other one.
        other: RepositoryName,
        /// The relation that each would have to the other.
        kind: RelationKind,
    },
    /// Two new relations contradict each other.
    #[error("`{other}` cannot be both the {} and the {} of `{name}`", .kinds[0], .kinds[1])]
    Both {
        /// The item.
        name: RepositoryName,
        /// The other one.
        other: Identifier,
        /// The relations.
        kinds: Box<[RelationKind; 2]>,
    },
    /// A translation is in another language.
    #[error("`{original}` is in `{language}` itself, and has no translation into it")]
    OwnLanguage {
        /// The item that would be translated.
        original: RepositoryName,
        /// Its language.
        language: Language,
    },
    /// Two of the given collections hold the Original of an item.
    #[error("`{0}` has two Originals")]
    TwoOriginals(Identifier),
    /// A sidecar cannot be read.
    #[error(transparent)]
    Collection(#[from] CollectionError),
}
