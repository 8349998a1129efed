//! Reasons why an item does not become an Original.

use std::path::PathBuf;

use crate::collection::{Collection, CollectionError, InventoryLine};
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::sidecar::{Handover, Party, Sidecar};

/// Why an item does not become an Original: another collection holds it, or may hold it.
#[derive(Debug, thiserror::Error)]
pub enum OriginalError {
    /// Another collection holds the Original.
    #[error("`{}` holds the Original of `{name}`", path.display())]
    Elsewhere {
        /// The item.
        name: RepositoryName,
        /// That collection.
        path: PathBuf,
    },
    /// The Original was deleted by the collection that held it.
    #[error("`{name}` was deleted in `{}`", path.display())]
    Deleted {
        /// The item.
        name: RepositoryName,
        /// The collection of the tombstone.
        path: PathBuf,
    },
    /// Another collection has a Copy, so the name belongs to an existing item.
    #[error("`{}` has a Copy of `{name}`", path.display())]
    Copied {
        /// The item.
        name: RepositoryName,
        /// That collection.
        path: PathBuf,
    },
    /// A hand-over has begun here.
    #[error("a hand-over of `{name}` is in progress, {party}")]
    HandoverOpen {
        /// The item.
        name: RepositoryName,
        /// The other end.
        party: Party,
    },
    /// A hand-over has begun in another collection.
    #[error("a hand-over of `{name}` is in progress in `{}`", path.display())]
    HandedOver {
        /// The item.
        name: RepositoryName,
        /// That collection.
        path: PathBuf,
        /// The collection that can finish it.
        giver: Box<Giver>,
    },
    /// Another collection has the item, and its sidecar cannot be read.
    #[error("the sidecar of `{name}` in `{}` cannot be read; it may be the Original", path.display())]
    Unreadable {
        /// The item.
        name: RepositoryName,
        /// That collection.
        path: PathBuf,
    },
    /// Another collection has recorded that it holds the item, and no longer has it.
    #[error("`{}` has lost `{name}`, which may be the Original", path.display())]
    Vanished {
        /// The item.
        name: RepositoryName,
        /// That collection.
        path: PathBuf,
    },
    /// A collection that may hold the Original was not checked.
    #[error("{collection} may hold the Original of `{name}`, and was not checked")]
    Unseen {
        /// The item.
        name: RepositoryName,
        /// The name or the id of that collection, or both.
        collection: String,
    },
    /// A known collection, which may have an item of this name, cannot be opened.
    #[error("the collection `{collection}` may have `{name}`, and cannot be opened")]
    Unopened {
        /// The item.
        name: RepositoryName,
        /// The name of that collection.
        collection: String,
    },
    /// The Original left a collection whose inventory does not say where it went.
    #[error("`{}` does not say where the Original of `{name}` went", path.display())]
    Untraced {
        /// The item.
        name: RepositoryName,
        /// That collection.
        path: PathBuf,
    },
    /// The sidecar says Original, but the inventory of the same collection says that the item left, or became a
    /// Copy.
    #[error("`{}` no longer holds the Original of `{name}`: by its inventory, {line}", path.display())]
    Departed {
        /// The item.
        name: RepositoryName,
        /// That collection.
        path: PathBuf,
        /// When it left, and where it went, or when it became a Copy.
        line: Box<InventoryLine>,
    },
    /// The sidecar says Copy, but the inventory of the same collection says Original.
    #[error("`{}` has a Copy in the place of the Original of `{name}`: by its inventory, {line}", path.display())]
    CopyInPlace {
        /// The item.
        name: RepositoryName,
        /// That collection.
        path: PathBuf,
        /// When the Original came, or when it became one.
        line: Box<InventoryLine>,
    },
    /// A collection cannot be read.
    #[error(transparent)]
    Collection(Box<CollectionError>),
    /// An operation on the disk failed.
    #[error(transparent)]
    Disk(#[from] PathError),
}

/// The collection that has begun a hand-over, and can finish it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Giver {
    /// The collection with this root, whose item has the mark.
    At(PathBuf),
    /// The receiver has the mark of its giver, which may have no record of the hand-over.
    Of {
        /// The id of the giver.
        id: String,
        /// Its root, if known.
        root: Option<PathBuf>,
        /// The root of the receiver.
        receiver: PathBuf,
    },
}

/// Makes sure that no hand-over of the item of `sidecar` has begun here.
pub(crate) fn refuse_handover(sidecar: &Sidecar) -> Result<(), OriginalError> {
    sidecar.handover.as_ref().map_or(Ok(()), |Handover { party, .. }| {
        let (name, party) = (sidecar.repository.clone(), party.clone());
        Err(OriginalError::HandoverOpen { name, party })
    })
}

impl Giver {
    /// The giver of the hand-over whose mark an item of `holder` bears.
    pub(crate) fn of(mark: &Handover, holder: &Collection, others: &[&Collection]) -> Giver {
        match &mark.party {
            Party::To(_) => Giver::At(holder.path().to_path_buf()),
            Party::From(id) => {
                let giver = others.iter().find(|other| other.id() == id);
                let root = giver.map(|giver| giver.path().to_path_buf());
                Giver::Of { id: id.clone(), root, receiver: holder.path().to_path_buf() }
            }
        }
    }
}
