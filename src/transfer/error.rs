//! Why an item was not transferred.

use std::path::PathBuf;

use crate::collection::{CollectionError, InventoryLine};
use crate::disk::PathError;
use crate::disk::copy::CopyError;
use crate::flow::NoRoom;
use crate::holdings::{Giver, OriginalError};
use crate::identity::RepositoryName;
use crate::sidecar::{Party, SidecarError};

/// Why an item was not transferred. Unless stated otherwise, the source is unchanged, and so is the
/// destination, except for a Copy that a hand-over may have left there.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The states on both sides do not allow it.
    #[error("`{name}`: {refusal}")]
    Refused {
        /// The item.
        name: RepositoryName,
        /// Why.
        refusal: Refusal,
        /// The item at the source.
        from: PathBuf,
        /// The item at the destination, if it exists.
        to: Option<PathBuf>,
        /// The giver, if a hand-over of it is open.
        giver: Option<Box<Giver>>,
    },
    /// The receiver of a hand-over was lost, another Original was made, and the receiver is back with its own
    /// Original.
    #[error("`{}`, which was lost, is back and says that it holds the Original of `{name}`", path.display())]
    Returned {
        /// The item.
        name: RepositoryName,
        /// The receiver.
        path: PathBuf,
    },
    /// The giver has the Original again, as from a backup, and the receiver had it since and has passed it on
    /// or deleted it.
    #[error("`{}` has an older state of `{name}`, which went to `{}`: by the inventory there, {line}", from.display(), to.display())]
    PassedOn {
        /// The item.
        name: RepositoryName,
        /// The root of the giver.
        from: PathBuf,
        /// The root of the receiver.
        to: PathBuf,
        /// The departure or deletion there.
        line: Box<InventoryLine>,
    },
    /// The source has a tombstone of an item that left or is alive by the inventory of the same collection.
    #[error("`{}` has a tombstone of `{name}`, though by its inventory, {line}", path.display())]
    NotDeleted {
        /// The item.
        name: RepositoryName,
        /// The source.
        path: PathBuf,
        /// The last record of the item.
        line: Box<InventoryLine>,
    },
    /// The source has a tombstone that was brought there, and another collection has the Original.
    #[error("`{}` has a tombstone of `{name}`, which is not deleted in `{}`", path.display(), original.display())]
    Undone {
        /// The item.
        name: RepositoryName,
        /// The source.
        path: PathBuf,
        /// The collection that has the Original.
        original: PathBuf,
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
    /// The item of the receiver is damaged, and a hand-over is not finished: the giver keeps its files.
    #[error("`{name}` is damaged in `{}`: {summary}", to.display())]
    ReceivedDamaged {
        /// The item.
        name: RepositoryName,
        /// The root of the giver.
        from: PathBuf,
        /// The root of the receiver.
        to: PathBuf,
        /// The finding.
        summary: String,
    },
    /// The sidecar of the giver's item is damaged, and a hand-over is not finished: the receiver has the same files.
    #[error("`{name}` is damaged in `{}`: {summary}", from.display())]
    GivenDamaged {
        /// The item.
        name: RepositoryName,
        /// The root of the giver.
        from: PathBuf,
        /// The root of the receiver.
        to: PathBuf,
        /// The finding.
        summary: String,
    },
    /// The receiver got the item and has lost it, and a hand-over is not finished: the giver keeps it.
    #[error("`{}` has lost `{name}`, which was handed over to it", to.display())]
    ReceivedVanished {
        /// The item.
        name: RepositoryName,
        /// The root of the giver.
        from: PathBuf,
        /// The root of the receiver.
        to: PathBuf,
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
    /// The hand-over has begun and is not finished; recovery finishes it.
    #[error("the hand-over of `{name}` is not finished")]
    Unfinished {
        /// The item.
        name: RepositoryName,
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
    /// A record of a hand-over cannot be used.
    #[error("cannot use the journal `{}`", path.display())]
    Journal {
        /// The file.
        path: PathBuf,
        /// The fault.
        #[source]
        cause: JournalError,
    },
    /// Another collection is now at the path of the receiver of a hand-over.
    #[error("`{}` is another collection than `{id}`, which gets the item", path.display())]
    OtherReceiver {
        /// Its former path.
        path: PathBuf,
        /// Its id.
        id: String,
    },
    /// No record of a hand-over exists, and the other collection is not at hand.
    #[error("the other collection is not among those known: {party}")]
    OtherSideUnknown {
        /// The item.
        name: RepositoryName,
        /// The collection of the item with the mark.
        path: PathBuf,
        /// The other collection.
        party: Party,
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
    #[error("not transferred, because of the failure before it")]
    GroupFailed,
    /// Another collection holds the Original, or may hold it.
    #[error(transparent)]
    Original(#[from] OriginalError),
    /// The collection refuses.
    #[error(transparent)]
    Collection(Box<CollectionError>),
    /// The file system refuses.
    #[error(transparent)]
    Disk(#[from] PathError),
}

/// A fault in a record of a hand-over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JournalError(pub String);

/// Why the states of an item do not allow the transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The source has a tombstone.
    #[error("it is deleted")]
    SourceDeleted,
    /// Both sides say Original.
    #[error("both collections say that they hold the Original")]
    TwoOriginals,
    /// The destination has a tombstone.
    #[error("it was deleted at the destination")]
    Tombstone,
    /// The destination has recorded that the Original was deleted in another collection.
    #[error("its Original was deleted in another collection, and only comes back there")]
    DeletedElsewhere,
    /// The Copy at the destination is stale.
    #[error("the Copy at the destination is older than its Original")]
    Stale,
    /// The Copy at the destination is older than another Copy.
    #[error("the Copy at the destination is older, but a Copy is refreshed from its Original only")]
    OnlyFromOriginal,
    /// The two sides have other files or descriptions under the same name, and neither is known to be older.
    #[error("the destination has other content, or another description, under this identifier")]
    OtherContent,
    /// The Copy was made of an Original in another collection, or of an unknown one.
    #[error("the Copy at the destination is not known to be made of this Original")]
    OtherOriginal,
    /// The files of the deleted item are still beside its tombstone.
    #[error("it was deleted at the destination, but its files are still there")]
    Unburied,
    /// A Copy does not move to the collection of the Original.
    #[error("the destination holds the Original")]
    HoldsOriginal,
    /// The Original may not migrate.
    #[error("it is marked as not transferable")]
    NotTransferable,
    /// A hand-over has begun.
    #[error("a hand-over of it has begun and is not finished")]
    HandoverPending,
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
