//! Why a collection cannot be created, opened or used.

use std::path::PathBuf;

use super::{Event, Stopped};
use crate::disk::{LockError, PathError};
use crate::distributor::DistributorError;
use crate::identity::{ParseError, RepositoryName};
use crate::sidecar::SidecarError;

/// Why a collection cannot be created, opened or used.
#[derive(Debug, thiserror::Error)]
pub enum CollectionError {
    /// There is no `urepo.toml`.
    #[error("`{}` is not a collection", path.display())]
    NotACollection {
        /// The searched path.
        path: PathBuf,
    },
    /// There is no `urepo.toml`, and urepo's own directory is there.
    #[error("the settings of the collection are missing: `{}`", path.join(crate::layout::SETTINGS).display())]
    NoSettings {
        /// The root.
        path: PathBuf,
    },
    /// A ledger without `urepo.toml` tells of items, or they are there.
    #[error("`{}` has the ledger or the Originals of a collection, whose `{}` is missing", path.display(), crate::layout::SETTINGS)]
    SettingsLost {
        /// The root.
        path: PathBuf,
    },
    /// `urepo.toml` and the ledger name two collections.
    #[error("`{}` has the id {stated}, the ledger beside it {recorded}", path.join(crate::layout::SETTINGS).display())]
    OtherId {
        /// The root.
        path: PathBuf,
        /// The id in `urepo.toml`.
        stated: String,
        /// The id in the ledger.
        recorded: String,
    },
    /// Neither the ledger nor the Originals tell the id of a collection.
    #[error("nothing tells the id that the collection in `{}` had", path.display())]
    NoId {
        /// The root.
        path: PathBuf,
    },
    /// No directory up to the root has a `urepo.toml`.
    #[error("`{}` is not in a collection", path.display())]
    NotInACollection {
        /// The start of the search.
        path: PathBuf,
    },
    /// A collection exists there.
    #[error("`{}` is a collection already", path.display())]
    ExistsAlready {
        /// Its root.
        path: PathBuf,
    },
    /// A collection would lie in another.
    #[error("a collection cannot lie in another: `{}` is one", other.display())]
    Nested {
        /// The other collection.
        other: PathBuf,
    },
    /// Something would be written in a collection that is not an item of it.
    #[error("`{}` lies in the collection `{}`", path.display(), collection.display())]
    Inside {
        /// The path.
        path: PathBuf,
        /// The collection.
        collection: PathBuf,
    },
    /// Another process changed an item before it was locked.
    #[error("`{name}` was changed meanwhile, in `{}`", path.display())]
    Changed {
        /// The item.
        name: RepositoryName,
        /// The collection.
        path: PathBuf,
    },
    /// The sidecar of an item cannot be changed.
    #[error("cannot change the sidecar of `{name}`")]
    Unchangeable {
        /// The item.
        name: RepositoryName,
        /// The fault.
        #[source]
        cause: SidecarError,
    },
    /// The settings cannot be used.
    #[error("cannot use the settings `{}`", path.display())]
    Settings {
        /// The file.
        path: PathBuf,
        /// The fault.
        #[source]
        cause: SettingsError,
    },
    /// No subsystem of this name, or none at all.
    #[error("no subsystem {} in `{}`", wanted.as_deref().map_or("at all".into(), |name| format!("`{name}`")), path.display())]
    NoSubsystem {
        /// The name in the request.
        wanted: Option<String>,
        /// The settings.
        path: PathBuf,
    },
    /// Names are not issued on a network file system unless the collection says so.
    #[error("identifiers are not issued on {file_system}: `{}`", path.display())]
    NetworkFileSystem {
        /// Its kind.
        file_system: &'static str,
        /// Where.
        path: PathBuf,
    },
    /// A path that leads into another collection.
    #[error("`{}` is in another collection, `{}`", path.display(), collection.display())]
    OtherCollection {
        /// The path.
        path: PathBuf,
        /// The root of the other collection.
        collection: PathBuf,
    },
    /// The collection holds no such item.
    #[error("no item `{name}` in `{}`", path.display())]
    NoSuchItem {
        /// The name in the request.
        name: String,
        /// The root.
        path: PathBuf,
    },
    /// Several items have identifiers with this end.
    #[error("`{text}` is the end of {} identifiers", names.len())]
    Ambiguous {
        /// The name in the request.
        text: String,
        /// The identifiers.
        names: Vec<RepositoryName>,
    },
    /// The item was here and was given up as lost, by the ledger.
    #[error("no item `{}` in `{}`: {line}", line.id, path.display())]
    GivenUp {
        /// The record of its loss.
        line: Box<Event>,
        /// The root.
        path: PathBuf,
    },
    /// The item is missing, though the ledger has it.
    #[error("no item `{}` in `{}`: it should be here, and is missing", line.id, path.display())]
    Vanished {
        /// The last line about it.
        line: Box<Event>,
        /// The root.
        path: PathBuf,
    },
    /// A run was killed after it set the item aside and before it put another one in its place.
    #[error("`{name}` was displaced in `{}` by an interrupted swap", path.display())]
    Displaced {
        /// The item.
        name: RepositoryName,
        /// The root.
        path: PathBuf,
    },
    /// A sidecar cannot be used.
    #[error("cannot read the sidecar of `{name}`")]
    Sidecar {
        /// The item.
        name: RepositoryName,
        /// The fault.
        #[source]
        cause: SidecarError,
    },
    /// The directory exists, but has no sidecar.
    #[error("`{name}` has no sidecar")]
    NoSidecar {
        /// The item.
        name: RepositoryName,
    },
    /// The sidecar belongs to another item.
    #[error("the sidecar of `{name}` is that of `{found}`")]
    OtherSidecar {
        /// The requested item.
        name: RepositoryName,
        /// The item that the sidecar names.
        found: RepositoryName,
    },
    /// An identifier is not well formed.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// No date was given.
    #[error(transparent)]
    Distributor(#[from] DistributorError),
    /// Another process holds a lock.
    #[error("the collection `{collection}` is locked")]
    Locked {
        /// Its name.
        collection: String,
        /// The holder.
        #[source]
        cause: crate::disk::HeldBy,
    },
    /// An item was to be changed whose collection is not locked.
    #[error("`{name}` is not locked in `{}`", path.display())]
    Unlocked {
        /// The item.
        name: RepositoryName,
        /// The root.
        path: PathBuf,
    },
    /// A stop was requested while another process held a lock.
    #[error("interrupted while waiting for the collection `{collection}`")]
    Interrupted {
        /// The name of the collection.
        collection: String,
        /// The holder of the lock.
        #[source]
        cause: crate::disk::HeldBy,
    },
    /// The group of an item was stopped by a failure.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The file system refuses.
    #[error(transparent)]
    Disk(#[from] PathError),
}

/// A fault in `urepo.toml`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(pub String);

impl CollectionError {
    /// The error of the file system, if it is one.
    pub fn disk(&self) -> Option<&PathError> {
        match self {
            CollectionError::Disk(error) => Some(error),
            _ => None,
        }
    }

    /// Whether it means that an item is not in the collection.
    pub fn is_absence(&self) -> bool {
        matches!(
            self,
            CollectionError::NoSuchItem { .. }
                | CollectionError::GivenUp { .. }
                | CollectionError::Vanished { .. }
        )
    }

    pub(crate) fn locked(collection: &str, error: LockError) -> CollectionError {
        match error {
            LockError::Held { holder, .. } => {
                CollectionError::Locked { collection: collection.to_owned(), cause: holder }
            }
            LockError::Interrupted { holder, .. } => {
                CollectionError::Interrupted { collection: collection.to_owned(), cause: holder }
            }
            LockError::Disk(error) => CollectionError::Disk(error),
        }
    }
}
