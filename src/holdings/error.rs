//! Reasons why an item does not become an Original.

use std::path::PathBuf;

use crate::collection::CollectionError;
use crate::disk::PathError;
use crate::identity::RepositoryName;

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
    /// Another collection has a Copy or a stub, so the name belongs to an existing item.
    #[error("`{}` has a Copy or a stub of `{name}`", path.display())]
    Copied {
        /// The item.
        name: RepositoryName,
        /// That collection.
        path: PathBuf,
    },
    /// Another collection has the item, and its sidecar cannot be read.
    #[error("the sidecar of `{name}` in `{}` cannot be read; it may be the Original", path.display())]
    Unreadable {
        /// The item.
        name: RepositoryName,
        /// That collection.
        path: PathBuf,
    },
    /// A known collection, which may have an item of this name, cannot be opened.
    #[error("the collection `{collection}` may have `{name}`, and cannot be opened")]
    Unopened {
        /// The item.
        name: RepositoryName,
        /// The name of that collection.
        collection: String,
    },
    /// A collection cannot be read.
    #[error(transparent)]
    Collection(Box<CollectionError>),
    /// An operation on the disk failed.
    #[error(transparent)]
    Disk(#[from] PathError),
}
