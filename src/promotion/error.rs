//! Why an item keeps its state.

use std::path::{Path, PathBuf};

use crate::collection::CollectionError;
use crate::custody::Refusal;
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::transfer::TransferError;

/// Why an item keeps its state.
#[derive(Debug, thiserror::Error)]
pub enum PromotionError {
    /// The rule of custody does not allow it.
    #[error("`{name}`: {refusal}")]
    Refused {
        /// The item.
        name: RepositoryName,
        /// Why.
        refusal: Box<Refusal>,
        /// The root of the collection.
        path: PathBuf,
    },
    /// The Copy is damaged.
    #[error("`{name}` is damaged in `{}`: {summary}", path.display())]
    Damaged {
        /// The item.
        name: RepositoryName,
        /// The collection.
        path: PathBuf,
        /// The finding.
        summary: String,
    },
    /// What is missing can be repaired, chosen or waited for.
    #[error("{}", not_lost(name, accepted_in.as_deref()))]
    NotLost {
        /// The item.
        name: RepositoryName,
        /// The root of the collection that has to have the Original, where a loss is accepted.
        accepted_in: Option<PathBuf>,
    },
    /// Its migration stays open.
    #[error(transparent)]
    Open(Box<TransferError>),
    /// A stop was requested.
    #[error("interrupted")]
    Interrupted,
    /// The collection refuses.
    #[error(transparent)]
    Collection(#[from] CollectionError),
    /// The file system refuses.
    #[error(transparent)]
    Disk(#[from] PathError),
}

fn not_lost(name: &RepositoryName, accepted_in: Option<&Path>) -> String {
    match accepted_in {
        Some(root) => {
            format!("the loss of `{name}` is not accepted here, but in {}", root.display())
        }
        None => format!("nothing of `{name}` is lost, as far as is in sight"),
    }
}
