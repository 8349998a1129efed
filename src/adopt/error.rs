//! Why an item is not adopted.

use std::path::PathBuf;

use crate::collection::CollectionError;
use crate::disk::copy::CopyError;
use crate::disk::{FileFault, PathError};
use crate::holdings::OriginalError;
use crate::sidecar::SidecarError;

/// Why an item is not adopted. Nothing of it was changed.
#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    /// The files lie beside `doc` instead of in it.
    #[error("the files of `{name}` are not in its `doc`")]
    NoPayload {
        /// The item.
        name: String,
    },
    /// `doc` is not a directory.
    #[error("`{}` is a {kind}, not a directory", path.display())]
    NotADirectory {
        /// The kind of file.
        kind: &'static str,
        /// Where.
        path: PathBuf,
    },
    /// A FIFO, a socket, a device.
    #[error("`{}` is a {kind}, which no item can hold", path.display())]
    Special {
        /// The kind of file.
        kind: &'static str,
        /// Where.
        path: PathBuf,
    },
    /// A file cannot be kept as it is.
    #[error(transparent)]
    File(#[from] FileFault),
    /// An `item.toml` that is not a valid sidecar of this item. It is not overwritten.
    #[error("`{name}` has an `item.toml` that is not its sidecar")]
    OtherFile {
        /// The item.
        name: String,
        /// The fault in its sidecar.
        #[source]
        cause: Option<SidecarError>,
    },
    /// The ledger lists the item, so it had a sidecar.
    #[error("`{name}` is an item of this collection, and has lost its sidecar")]
    SidecarLost {
        /// The item.
        name: String,
    },
    /// Two directories have the same name in different spellings.
    #[error("`{name}` is also there as `{other}`")]
    TwoSpellings {
        /// One spelling.
        name: String,
        /// The other.
        other: String,
    },
    /// The sidecar would be too large to be read again.
    #[error("`{name}` has too many files for one item: its sidecar would be over {} MiB", crate::sidecar::MAX_BYTES >> 20)]
    TooManyFiles {
        /// The item.
        name: String,
    },
    /// The sidecar is in place, but the disk did not confirm it.
    #[error("the sidecar of `{name}` was put in place, but the disk did not confirm it")]
    NotDurable {
        /// The item.
        name: String,
        /// Why.
        #[source]
        source: PathError,
    },
    /// A stop was requested.
    #[error("interrupted before it was adopted")]
    Interrupted,
    /// The whole group or run failed before this item.
    #[error("not adopted, because of the failure before it")]
    GroupFailed,
    /// Its sidecar says Original, but the item has left the collection.
    #[error(transparent)]
    Original(#[from] OriginalError),
    /// The collection refuses.
    #[error(transparent)]
    Collection(#[from] CollectionError),
    /// The file system refuses.
    #[error(transparent)]
    Disk(#[from] PathError),
}

impl From<CopyError> for AdoptError {
    fn from(error: CopyError) -> AdoptError {
        error.or(AdoptError::Interrupted)
    }
}
