//! Why an item was not exported.

use std::path::PathBuf;

use crate::collection::{CollectionError, of_id};
use crate::disk::PathError;
use crate::disk::copy::CopyError;
use crate::flow::NoRoom;
use crate::identity::RepositoryName;
use crate::item::PayloadPath;

/// Why an item was not exported. Then nothing exists under its name.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// Only its tombstone is left.
    #[error("`{name}` is deleted")]
    Deleted {
        /// The item.
        name: RepositoryName,
    },
    /// A stub has no payload.
    #[error("`{name}` is in {}", of_id(holder))]
    Elsewhere {
        /// The item.
        name: RepositoryName,
        /// The id of the collection that has the Original.
        holder: String,
    },
    /// It differs from its sidecar.
    #[error("`{}` is damaged: {detail}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The finding.
        detail: Box<str>,
        /// The item.
        name: RepositoryName,
        /// The root of the collection.
        collection: PathBuf,
    },
    /// The item was replaced while it was read.
    #[error("`{name}` changed while it was read")]
    Changed {
        /// The item.
        name: RepositoryName,
    },
    /// The name exists in the destination.
    #[error("`{}` is there already", path.display())]
    Exists {
        /// Where.
        path: PathBuf,
    },
    /// Another item of the run has the same name.
    #[error("`{name}` and `{other}` have the same name: `{}`", path.display())]
    SameName {
        /// The place of both.
        path: PathBuf,
        /// The item.
        name: RepositoryName,
        /// The item that got the name.
        other: RepositoryName,
    },
    /// A bag cannot contain links.
    #[error("`{path}` of `{name}` is a link, which a bag cannot hold")]
    Link {
        /// The link.
        path: PayloadPath,
        /// The item.
        name: RepositoryName,
    },
    /// A link that is to be followed leads to no file of the payload.
    #[error("the link `{path}` of `{name}` leads to no file of the item: `{target}`")]
    LinkAstray {
        /// The link.
        path: PayloadPath,
        /// The target of the link.
        target: String,
        /// The item.
        name: RepositoryName,
    },
    /// The path is not UTF-8, which the manifest of a bag requires.
    #[error("the name `{path}` of a file of `{name}` is not UTF-8, which a bag cannot hold")]
    NotUtf8 {
        /// The file.
        path: PayloadPath,
        /// The item.
        name: RepositoryName,
    },
    /// There is too little room.
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
    /// It is published, but the disk did not confirm it.
    #[error("`{}` was put in place, but the disk did not confirm it", path.display())]
    NotDurable {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: PathError,
    },
    /// The stream cannot be written.
    #[error("cannot write the stream")]
    Stream(#[source] std::io::Error),
    /// A stop was requested.
    #[error("interrupted before it was exported")]
    Interrupted,
    /// The whole group failed before this item.
    #[error("not exported, because of the failure before it")]
    GroupFailed,
    /// The collection refuses.
    #[error(transparent)]
    Collection(#[from] CollectionError),
    /// The file system refuses.
    #[error(transparent)]
    Disk(#[from] PathError),
}

impl From<CopyError> for ExportError {
    fn from(error: CopyError) -> ExportError {
        error.or(ExportError::Interrupted)
    }
}
