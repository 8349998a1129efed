//! Why an item is not repaired.

use std::path::PathBuf;

use crate::collection::CollectionError;
use crate::disk::PathError;
use crate::disk::copy::CopyError;
use crate::identity::{Ibip, RepositoryName};
use crate::item::PayloadPath;
use crate::sidecar::SidecarError;

/// Why an item is not repaired. Unless stated otherwise, it is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    /// No donor has the missing files.
    #[error("no good copy of {} in `{name}`", if lost.len() == 1 { format!("`{}`", lost[0]) } else { format!("{} files", lost.len()) })]
    Lost {
        /// The item.
        name: RepositoryName,
        /// The files.
        lost: Vec<PayloadPath>,
    },
    /// The sidecar is lost, and no donor has a sealed one.
    #[error("the sidecar of `{name}` is lost and no other is whole: {reason}")]
    NoRecord {
        /// The item.
        name: RepositoryName,
        /// The fault of its own.
        reason: String,
    },
    /// No donor has the last state of the item.
    #[error("no copy of `{name}` has its last state, by the ledgers in sight")]
    Outdated {
        /// The item.
        name: RepositoryName,
    },
    /// The custody in a sidecar without its seal is not that of the ledger: somebody edited that, too.
    #[error("`[custody]` of `{name}` was changed by hand: the ledger has another")]
    CustodyDiffers {
        /// The item.
        name: RepositoryName,
    },
    /// A sidecar that was edited by hand does not list the files that are there.
    #[error("more of `{name}` differs than its description")]
    MoreDiffers {
        /// The item.
        name: RepositoryName,
    },
    /// Only an Original is changed.
    #[error("`{name}` is a Copy: a change belongs into its Original")]
    CopyEdited {
        /// The item.
        name: RepositoryName,
    },
    /// The lost sidecar may have been a tombstone.
    #[error("`{name}` may have been deleted here: it has neither a sidecar nor a payload")]
    PerhapsDeleted {
        /// The item.
        name: RepositoryName,
    },
    /// The rest of the sidecar, or the ledger, records that the item was deleted.
    #[error("`{name}` was deleted here, and its tombstone is damaged or missing")]
    Deleted {
        /// The item.
        name: RepositoryName,
    },
    /// Somebody edited the tombstone, or it has rotten, and nothing in sight has its contents.
    #[error(
        "the tombstone of `{name}` is not as it was sealed, and nothing in sight shows what it was"
    )]
    Unproven {
        /// The item.
        name: RepositoryName,
    },
    /// A migration is under way, whose end decides on the Original.
    #[error("a migration of `{name}` is under way")]
    Migrating {
        /// The item.
        name: RepositoryName,
    },
    /// Another item has the IBIp of the edited sidecar.
    #[error("the sidecar of `{name}` has the IBIp {ibip}, which `{other}` has in `{}`", root.display())]
    IbipTaken {
        /// The item.
        name: RepositoryName,
        /// The IBIp.
        ibip: Ibip,
        /// The other item.
        other: Box<RepositoryName>,
        /// Its collection.
        root: PathBuf,
    },
    /// A later urepo wrote the sidecar.
    #[error("the sidecar of `{name}` was written by a later urepo")]
    LaterFormat {
        /// The item.
        name: RepositoryName,
        /// The formats.
        #[source]
        cause: SidecarError,
    },
    /// The sidecar cannot be printed so that it reads the same.
    #[error("the sidecar of `{name}` cannot be written")]
    Sidecar {
        /// The item.
        name: RepositoryName,
        /// Why.
        #[source]
        cause: SidecarError,
    },
    /// Another process changed the item or a donor meanwhile.
    #[error("`{}` has changed while `{name}` was repaired", path.display())]
    Changed {
        /// The item.
        name: RepositoryName,
        /// The changed path.
        path: PathBuf,
    },
    /// Nothing of the item is to be repaired, and it cannot be read to its end.
    #[error("`{name}` cannot be read, and whether it is damaged is not known: {finding}")]
    Unread {
        /// The item.
        name: RepositoryName,
        /// The first finding.
        finding: String,
    },
    /// The repaired item, read back, is damaged.
    #[error("`{name}` is not whole after its repair in the stage: {finding}")]
    NotWhole {
        /// The item.
        name: RepositoryName,
        /// The first finding.
        finding: String,
    },
    /// The item was replaced, but its verification failed.
    #[error("`{name}` was repaired and does not verify: {finding}")]
    NotWholeInPlace {
        /// The item.
        name: RepositoryName,
        /// The first finding.
        finding: String,
    },
    /// The collection cannot be used, or another process works on the item.
    #[error(transparent)]
    Collection(#[from] CollectionError),
    /// The file system refuses.
    #[error(transparent)]
    Disk(#[from] PathError),
    /// A stop was requested.
    #[error("interrupted")]
    Interrupted,
}

impl From<CopyError> for RepairError {
    fn from(error: CopyError) -> RepairError {
        error.or(RepairError::Interrupted)
    }
}

impl RepairError {
    /// Whether the item stays damaged because a good copy or a decision is missing.
    pub fn is_damage(&self) -> bool {
        match self {
            RepairError::Lost { .. }
            | RepairError::NoRecord { .. }
            | RepairError::Outdated { .. }
            | RepairError::CustodyDiffers { .. }
            | RepairError::MoreDiffers { .. }
            | RepairError::CopyEdited { .. }
            | RepairError::PerhapsDeleted { .. }
            | RepairError::Deleted { .. }
            | RepairError::Unproven { .. }
            | RepairError::Migrating { .. }
            | RepairError::LaterFormat { .. }
            | RepairError::NotWhole { .. }
            | RepairError::NotWholeInPlace { .. } => true,
            RepairError::IbipTaken { .. }
            | RepairError::Sidecar { .. }
            | RepairError::Changed { .. }
            | RepairError::Unread { .. }
            | RepairError::Collection(_)
            | RepairError::Disk(_)
            | RepairError::Interrupted => false,
        }
    }
}
