//! Why an item was not made.

use std::path::PathBuf;

use super::RefusedLinks;
use crate::collection::{CollectionError, Departed};
use crate::digest::{Algorithm, Digest};
use crate::disk::copy::CopyError;
use crate::disk::{FileFault, PathError};
use crate::flow::NoRoom;
use crate::holdings::OriginalError;
use crate::identity::{Ibip, RepositoryName};
use crate::item::PayloadPath;

/// An existing item with the same content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Existing {
    /// The item.
    pub name: RepositoryName,
    /// Where it went, if it has left.
    pub left: Option<Box<Departed>>,
    /// The shape, which shows without reading whether the source is unchanged.
    pub shape: Digest,
    /// The digest of the content.
    pub content: Digest,
    /// The number of bytes read.
    pub bytes: u64,
}

/// Why an item was not made. Nothing of it is in the collection, but for [`DepositError::NotDurable`].
#[derive(Debug, thiserror::Error)]
pub enum DepositError {
    /// The source is a FIFO, a socket, a device.
    #[error("`{}` is a {kind}, which cannot be deposited", path.display())]
    Special {
        /// The kind of file.
        kind: &'static str,
        /// Where.
        path: PathBuf,
    },
    /// The rule of links refuses links of the source.
    #[error("{0}")]
    Links(RefusedLinks),
    /// The source itself is a link.
    #[error("`{}` is a symbolic link", path.display())]
    Link {
        /// The link.
        path: PathBuf,
        /// Where it leads, if there is nothing.
        dangles: Option<PathBuf>,
    },
    /// Two names that are the same name on some file systems.
    #[error("`{first}` and `{second}` in `{}` are one name on some file systems", source_path.display())]
    Twins {
        /// One of them.
        first: String,
        /// The other.
        second: String,
        /// Where they are.
        source_path: PathBuf,
    },
    /// Two of the sources have the same last name.
    #[error("two of the sources are called `{name}`")]
    SameName {
        /// The name.
        name: String,
    },
    /// A source has no name of its own, such as `..`.
    #[error("`{}` has no name to be kept under", path.display())]
    NoName {
        /// The source.
        path: PathBuf,
    },
    /// The source is empty.
    #[error("`{}` is an empty directory", path.display())]
    Nothing {
        /// The source.
        path: PathBuf,
    },
    /// Everything in the source is left out.
    #[error("nothing remains of `{}`: all that is in it is left out", path.display())]
    AllLeftOut {
        /// The source.
        path: PathBuf,
        /// Number of its entries left out.
        entries: usize,
    },
    /// A file cannot be kept as it is.
    #[error(transparent)]
    File(#[from] FileFault),
    /// The source lies in the collection.
    #[error("`{}` is in the collection `{}` already", path.display(), collection.display())]
    InCollection {
        /// The source.
        path: PathBuf,
        /// The collection.
        collection: PathBuf,
    },
    /// The source lies in the collection, and urepo did not put it there.
    #[error("`{}` lies in the collection `{}`, but is not an item", path.display(), collection.display())]
    Stray {
        /// The source.
        path: PathBuf,
        /// The collection.
        collection: PathBuf,
    },
    /// The collection lies in the source.
    #[error("`{}` holds the collection `{}` itself", path.display(), collection.display())]
    HoldsCollection {
        /// The source.
        path: PathBuf,
        /// The collection.
        collection: PathBuf,
    },
    /// The source would be removed or moved, but is in another collection or contains one.
    #[error("`{}` is not moved or removed: that would damage the collection `{}`", path.display(), collection.display())]
    OfCollection {
        /// The source.
        path: PathBuf,
        /// The collection.
        collection: PathBuf,
    },
    /// There is too little room.
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
    /// The target is not a file of the payload.
    #[error("the target `{target}` is not a file of `{}`", path.display())]
    NoTarget {
        /// The target.
        target: PayloadPath,
        /// The source.
        path: PathBuf,
    },
    /// The sidecar would be too large to be read again.
    #[error("`{}` has too many files for one item: its sidecar would be over {} MiB", path.display(), crate::sidecar::MAX_BYTES >> 20)]
    TooManyFiles {
        /// The source.
        path: PathBuf,
    },
    /// The stream could not be read.
    #[error("cannot read the stream `{name}`")]
    Stream {
        /// Its name in the item.
        name: PayloadPath,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The item is published, but the disk did not confirm it.
    #[error("`{name}` was put in place, but the disk did not confirm it")]
    NotDurable {
        /// The item.
        name: String,
        /// Why.
        #[source]
        source: PathError,
    },
    /// Another process took the name at the moment of publishing.
    #[error("the identifier `{name}` has just been taken by something else")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// The bytes of a file differ from its checksum.
    #[error("the bytes of `{path}` do not have the {algorithm} that was given")]
    Mismatch {
        /// The file, as it would be below `doc/`.
        path: PayloadPath,
        /// The algorithm of the checksum.
        algorithm: Algorithm,
    },
    /// The files as a whole differ from the given digest.
    #[error("the files of `{}` do not have the SHA-256 that was given", path.display())]
    PayloadMismatch {
        /// The source.
        path: PathBuf,
    },
    /// A file has no checksum in the list.
    #[error("`{path}` is in no list of the files")]
    NotListed {
        /// The file, as it would be below `doc/`.
        path: PayloadPath,
    },
    /// A listed file is a symbolic link.
    #[error("`{path}` is in the list of the files, and is a symbolic link")]
    ListedLink {
        /// The link, as it would be below `doc/`.
        path: PayloadPath,
    },
    /// A listed file is missing.
    #[error("`{path}` is in the list of the files, and is not there")]
    NotThere {
        /// The file, as it would be below `doc/`.
        path: PayloadPath,
    },
    /// The given name belongs to an existing item.
    #[error("there is an item `{name}` already")]
    NameExists {
        /// The name.
        name: RepositoryName,
    },
    /// The given IBIp belongs to another item.
    #[error("`{ibip}` is the IBIp of `{name}` already")]
    IbipExists {
        /// The IBIp.
        ibip: Ibip,
        /// The item that has it.
        name: RepositoryName,
    },
    /// The collection already has it.
    #[error("`{}` is the same", .0.name)]
    Held(Box<Existing>),
    /// Another run has made an item of its source since it was planned.
    #[error("another import has just made an item of it")]
    Overtaken,
    /// The collection had it, and deleted it.
    #[error("its item `{name}` was deleted here")]
    DeletedHere {
        /// The item.
        name: RepositoryName,
    },
    /// A stop was requested.
    #[error("interrupted before it was deposited")]
    Interrupted,
    /// The whole group or run failed before this item.
    #[error("not deposited, because of the failure before it")]
    GroupFailed,
    /// Another collection has the item of the given name, or may have it.
    #[error(transparent)]
    Original(#[from] OriginalError),
    /// The collection refuses.
    #[error(transparent)]
    Collection(#[from] CollectionError),
    /// The file system refuses.
    #[error(transparent)]
    Disk(#[from] PathError),
}

impl From<CopyError> for DepositError {
    fn from(error: CopyError) -> DepositError {
        error.or(DepositError::Interrupted)
    }
}

/// An error with all of its causes.
pub(crate) fn in_words(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |it| it.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
