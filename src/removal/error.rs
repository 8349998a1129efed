//! Why an item is not deleted, or not restored.

use std::fmt;
use std::path::PathBuf;

use crate::collection::CollectionError;
use crate::custody::Refusal;
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::item::State;

/// Why an item is not deleted, or not restored.
#[derive(Debug, thiserror::Error)]
pub enum RemovalError {
    /// The item is already deleted.
    #[error("`{name}` is deleted already")]
    AlreadyDeleted {
        /// The item.
        name: RepositoryName,
    },
    /// No other collection is known to hold the same bytes.
    #[error("no other collection is known to hold all files of `{name}`")]
    LastHolding {
        /// The item.
        name: RepositoryName,
        /// The collections that were checked, and the results.
        looked_at: Vec<LookedAt>,
    },
    /// It differs from its sidecar.
    #[error("`{name}` is damaged: {detail}")]
    Damaged {
        /// The item.
        name: RepositoryName,
        /// The first damage, and the number of others.
        detail: String,
    },
    /// The data in the trash differs from the deleted item.
    #[error("what is in the trash of `{name}` is damaged: {detail}")]
    TrashDamaged {
        /// The item.
        name: RepositoryName,
        /// The first damage, and the number of others.
        detail: String,
    },
    /// Its bytes are not in the trash.
    #[error("the files of `{name}` are not in the trash")]
    NotInTrash {
        /// The item.
        name: RepositoryName,
        /// Entries of the trash with the item as it was before.
        kept: Vec<PathBuf>,
    },
    /// It is not here, but was not deleted.
    #[error("{absence}")]
    NotDeleted {
        /// Why it is not here.
        absence: Box<CollectionError>,
        /// Entries of the trash with the item as it was before.
        kept: Vec<PathBuf>,
    },
    /// The trash holds the only bytes of the item in place.
    #[error("`{name}` is {state} and has no payload; it may be the one in the trash")]
    Needed {
        /// The item.
        name: RepositoryName,
        /// Its state.
        state: State,
    },
    /// The tombstone is in place, and somebody has put a payload beside it.
    #[error("`{name}` is deleted, but there are files beside its tombstone")]
    Beside {
        /// The item.
        name: RepositoryName,
    },
    /// The Original is not transferable.
    #[error("`{name}` is marked as not transferable")]
    NotTransferable {
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

impl RemovalError {
    pub(super) fn refused(name: &RepositoryName, refusal: Refusal) -> RemovalError {
        RemovalError::Refused { name: name.clone(), refusal: Box::new(refusal) }
    }
}

/// A collection that was checked, and why its item is not a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookedAt {
    /// Its root.
    pub path: PathBuf,
    /// The reason.
    pub lack: Lack,
}

/// Why an item in another collection is not a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lack {
    /// It is the same collection, or a clone with the same id.
    SameCollection,
    /// The item there is the directory of the item here, which is mounted in both places.
    SameDirectory,
    /// It does not have the item.
    Absent,
    /// It has a tombstone.
    Deleted,
    /// Its sidecar lists another payload, or does not follow the Copy that would go.
    OtherContents,
    /// It is damaged, with the finding.
    Damaged(String),
    /// It cannot be read, for this reason.
    Unreadable(String),
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Lack::SameCollection => "it is this collection, or a clone of it",
            Lack::SameDirectory => "its directory of the item is the one here",
            Lack::Absent => "it has no such item",
            Lack::Deleted => "it is deleted there as well",
            Lack::OtherContents => "it has other files or an older description there",
            Lack::Damaged(detail) => return write!(f, "it is damaged there: {detail}"),
            Lack::Unreadable(cause) => return write!(f, "it cannot be read there: {cause}"),
        })
    }
}
