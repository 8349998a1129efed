//! Why an item keeps its state.

use std::path::PathBuf;

use crate::collection::CollectionError;
use crate::disk::PathError;
use crate::holdings::OriginalError;
use crate::identity::RepositoryName;
use crate::item::State;

/// Why an item keeps its state.
#[derive(Debug, thiserror::Error)]
pub enum PromotionError {
    /// Only a Copy is promoted.
    #[error("`{name}` is {state} here, not a Copy")]
    NotACopy {
        /// The item.
        name: RepositoryName,
        /// Its state.
        state: State,
    },
    /// Only an Original is demoted.
    #[error("`{name}` is {state} here, not an Original")]
    NotAnOriginal {
        /// The item.
        name: RepositoryName,
        /// Its state.
        state: State,
    },
    /// No record says that a lost collection held the Original.
    #[error("`{name}` is not a Copy from the lost collection")]
    OfAnother {
        /// The item.
        name: RepositoryName,
    },
    /// A collection that is neither lost nor known may hold the Original: a Copy was made of it, or an
    /// inventory says that the Original went there.
    #[error("the collection {holder} may hold the Original of `{name}`, and was not checked")]
    Unseen {
        /// The item.
        name: RepositoryName,
        /// The id of that collection.
        holder: String,
    },
    /// Another collection does not hold the Original.
    #[error("`{}` does not hold the Original of `{name}`", path.display())]
    NoOriginalThere {
        /// The item.
        name: RepositoryName,
        /// That collection.
        path: PathBuf,
    },
    /// Another collection has a later Copy.
    #[error("the Copy of `{name}` in `{}` is later than this one", path.display())]
    LaterCopy {
        /// The item.
        name: RepositoryName,
        /// That collection.
        path: PathBuf,
    },
    /// Another collection has a Copy of the same date that differs.
    #[error("the Copy of `{name}` in `{}` is of the same date and differs from this one", path.display())]
    OtherCopy {
        /// The item.
        name: RepositoryName,
        /// That collection.
        path: PathBuf,
    },
    /// The two Originals are not the same.
    #[error("the Original of `{name}` in `{}` differs from this one", path.display())]
    Different {
        /// The item.
        name: RepositoryName,
        /// The other collection.
        path: PathBuf,
    },
    /// There are not two Originals: both are in one collection, or in a clone of it.
    #[error("`{}` is this collection, or a clone of it", .0.display())]
    SameCollection(PathBuf),
    /// The item that is to be the only Original is damaged.
    #[error("`{name}` is damaged in `{}`: {summary}", path.display())]
    Damaged {
        /// The item.
        name: RepositoryName,
        /// The collection.
        path: PathBuf,
        /// The finding.
        summary: String,
    },
    /// The item was not moved to the trash, though the inventory says so.
    #[error("`{name}` was not moved to the trash, though the inventory says so")]
    NotTakenBack {
        /// The item.
        name: RepositoryName,
        /// Why that record could not be corrected.
        #[source]
        source: PathError,
    },
    /// The whole group failed before this item.
    #[error("not changed, because of the failure before it")]
    GroupFailed,
    /// A stop was requested.
    #[error("interrupted")]
    Interrupted,
    /// Another collection holds the Original, or may hold it.
    #[error(transparent)]
    Original(#[from] OriginalError),
    /// The collection refuses.
    #[error(transparent)]
    Collection(#[from] CollectionError),
    /// The file system refuses.
    #[error(transparent)]
    Disk(#[from] PathError),
}
