//! Why an item was not transferred.

use std::path::PathBuf;

use crate::collection::CollectionError;
use crate::custody::Refusal;
use crate::disk::PathError;
use crate::disk::copy::CopyError;
use crate::flow::NoRoom;
use crate::identity::{Instant, RepositoryName};
use crate::sidecar::SidecarError;

/// Why an interrupted migration stays open.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StillOpen {
    /// A collection that it depends on is not in sight.
    #[error("collection {id} is not in sight")]
    OutOfSight {
        /// The id of the collection.
        id: String,
    },
    /// The item arrived, but the receiver has lost it since.
    #[error(
        "by its ledger `{}` received the item, and had its state of {changed}, but has lost it",
        receiver.display()
    )]
    Arrived {
        /// The root of the receiver.
        receiver: PathBuf,
        /// The root of a collection that has the contents that the receiver lost.
        donor: Option<PathBuf>,
        /// The date of what the receiver lost.
        changed: Instant,
    },
    /// The item came back and was changed here; then this collection was put back.
    #[error(
        "the item came back and was changed here; no collection in sight has its state of {changed}"
    )]
    Lost {
        /// The date of what is lost.
        changed: Instant,
    },
}

/// Why an item was not transferred. Unless stated otherwise, both sides are unchanged.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The custody does not allow it.
    #[error("`{name}`: {refusal}")]
    Refused {
        /// The item.
        name: RepositoryName,
        /// Why.
        refusal: Box<Refusal>,
        /// The root of the source.
        from: PathBuf,
        /// The root of the destination.
        to: PathBuf,
    },
    /// The Original belongs to its collection.
    #[error("`{name}` is marked as not transferable")]
    NotTransferable {
        /// The item.
        name: RepositoryName,
    },
    /// The migration of the item was interrupted, and cannot end by what is in sight.
    #[error("the migration of `{name}` is open: {why}")]
    Open {
        /// The item.
        name: RepositoryName,
        /// The root of the giver.
        giver: PathBuf,
        /// Why.
        why: Box<StillOpen>,
    },
    /// The item at the source, or at the destination, differs from its sidecar.
    #[error("`{}` is damaged: {detail}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The finding.
        detail: String,
        /// The item.
        name: RepositoryName,
        /// The root of the collection in which it is damaged.
        collection: PathBuf,
    },
    /// The written data differs when read back.
    #[error("`{}` does not read back as it was written", path.display())]
    NotProven {
        /// The file.
        path: PathBuf,
        /// The root of the collection in which it is.
        collection: PathBuf,
    },
    /// There is too little room.
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
    /// Another process changed the item meanwhile.
    #[error("`{name}` was changed by another process meanwhile")]
    Changed {
        /// The item.
        name: RepositoryName,
    },
    /// The item is published, but the disk did not confirm it.
    #[error("`{name}` was put in place, but the disk did not confirm it")]
    NotDurable {
        /// The item.
        name: RepositoryName,
        /// Why.
        #[source]
        source: PathError,
    },
    /// The migration has begun and is not finished; recovery ends it.
    #[error("the migration of `{name}` is not finished")]
    Unfinished {
        /// The item.
        name: RepositoryName,
        /// The root of the giver.
        giver: PathBuf,
        /// Why.
        #[source]
        source: Box<TransferError>,
    },
    /// Both collections are the same.
    #[error("source and destination are one collection: `{}`", .0.display())]
    SameCollection(PathBuf),
    /// One collection is a manual copy of the other: nothing distinguishes the two.
    #[error("`{}` and `{}` have the same collection id", from.display(), to.display())]
    SameId {
        /// The source.
        from: PathBuf,
        /// The destination.
        to: PathBuf,
    },
    /// A sidecar cannot be changed.
    #[error("cannot change the sidecar of `{name}`")]
    Sidecar {
        /// The item.
        name: RepositoryName,
        /// Why.
        #[source]
        cause: SidecarError,
    },
    /// Nothing can be done without the right to write.
    #[error("`{}` was not opened for writing", .0.display())]
    NoWriter(PathBuf),
    /// A stop was requested.
    #[error("interrupted before it was transferred")]
    Interrupted,
    /// The whole group or run failed before this item.
    #[error("not transferred, because of another failure")]
    GroupFailed,
    /// The collection refuses.
    #[error(transparent)]
    Collection(Box<CollectionError>),
    /// The file system refuses.
    #[error(transparent)]
    Disk(#[from] PathError),
}

impl From<CollectionError> for TransferError {
    fn from(error: CollectionError) -> TransferError {
        // It is much larger than the other variants.
        TransferError::Collection(Box::new(error))
    }
}

impl From<CopyError> for TransferError {
    fn from(error: CopyError) -> TransferError {
        error.or(TransferError::Interrupted)
    }
}
