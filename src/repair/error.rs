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
    #[error("the sidecar of `{name}` is lost and no copy has a sealed one: {reason}")]
    NoRecord {
        /// The item.
        name: RepositoryName,
        /// The fault of its own.
        reason: String,
    },
    /// The sidecar is lost, and the sidecars of donors contradict each other.
    #[error("the sidecar of `{name}` is lost, and copies differ in payload or description")]
    Disagreement {
        /// The item.
        name: RepositoryName,
    },
    /// Nothing shows the former state of the item.
    #[error("nothing tells whether `{name}` was an Original or a Copy here")]
    StateUnknown {
        /// The item.
        name: RepositoryName,
    },
    /// The lost sidecar may have been a tombstone.
    #[error("`{name}` may have been deleted here: it has neither a sidecar nor a payload")]
    PerhapsDeleted {
        /// The item.
        name: RepositoryName,
    },
    /// The rest of the sidecar, or the inventory, records that the item was deleted.
    #[error("`{name}` was deleted here, and its tombstone is damaged or missing")]
    Deleted {
        /// The item.
        name: RepositoryName,
    },
    /// A hand-over is in progress, which alone decides on the Original.
    #[error("the Original of `{name}` is being handed over")]
    Handover {
        /// The item.
        name: RepositoryName,
    },
    /// There would be two Originals.
    #[error("the Original of `{name}` is in `{}`", root.display())]
    SecondOriginal {
        /// The item.
        name: RepositoryName,
        /// Where the Original is.
        root: PathBuf,
    },
    /// There might be two Originals: a sidecar elsewhere, which is not sealed, may be that of the Original.
    #[error("the Original of `{name}` may be in `{}`, where its sidecar does not match its seal", root.display())]
    PerhapsElsewhere {
        /// The item.
        name: RepositoryName,
        /// Where the Original may be.
        root: PathBuf,
    },
    /// A collection that gives no files has a later description than those that do.
    #[error("`{}` has a later description of `{name}` than the collections to repair it from", root.display())]
    LaterElsewhere {
        /// The item.
        name: RepositoryName,
        /// That collection.
        root: PathBuf,
    },
    /// The seal is broken, and only the payload confirms the sidecar.
    #[error("the sidecar of `{name}` does not match its seal, and no copy confirms it")]
    Unconfirmed {
        /// The item.
        name: RepositoryName,
    },
    /// The seal is broken, a donor disagrees, and nothing proves which is right.
    #[error("the sidecar of `{name}` does not match its seal, and `{}` does not confirm its {}: nothing proves which is right", root.display(), differs.join(", "))]
    Unproven {
        /// The item.
        name: RepositoryName,
        /// The donor's collection.
        root: PathBuf,
        /// The keys that the donor does not confirm.
        differs: Vec<String>,
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
    /// Whether this process or the machine ran short of descriptors or memory.
    pub(super) fn is_shortage(&self) -> bool {
        let disk = match self {
            RepairError::Disk(error) => Some(error),
            RepairError::Collection(error) => error.disk(),
            _ => None,
        };
        disk.is_some_and(|error| error.shortage().is_some())
    }

    /// Whether the item stays damaged because a good copy or a decision is missing.
    pub fn is_damage(&self) -> bool {
        match self {
            RepairError::Lost { .. }
            | RepairError::NoRecord { .. }
            | RepairError::Disagreement { .. }
            | RepairError::StateUnknown { .. }
            | RepairError::PerhapsDeleted { .. }
            | RepairError::Deleted { .. }
            | RepairError::Handover { .. }
            | RepairError::PerhapsElsewhere { .. }
            | RepairError::LaterElsewhere { .. }
            | RepairError::Unconfirmed { .. }
            | RepairError::Unproven { .. }
            | RepairError::LaterFormat { .. }
            | RepairError::NotWhole { .. }
            | RepairError::NotWholeInPlace { .. } => true,
            RepairError::SecondOriginal { .. }
            | RepairError::IbipTaken { .. }
            | RepairError::Sidecar { .. }
            | RepairError::Changed { .. }
            | RepairError::Collection(_)
            | RepairError::Disk(_)
            | RepairError::Interrupted => false,
        }
    }
}
