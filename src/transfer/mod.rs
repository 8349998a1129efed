//! Copying and migrating items between collections.
//!
//! [`Transfer::run`] takes the names of items and carries out the step that [`custody::decide`], a pure function,
//! chooses by the holdings on both sides. A dry run ends there. The rest is like depositing:
//!
//! | file | subject |
//! |---|---|
//! | `look` | one item: reads both holdings and decides; once more if another process was faster |
//! | `staged`, `shared` | an item in the stage; what the threads of a run share |
//! | `copy_job` | an item on its way: copied into its draft by several threads |
//! | `payload` | its files: read once, compared with the source's sidecar on the way |
//! | `reading` | its sidecars, if they can be relied on |
//! | `run` | many items: threads stage them, one side publishes them in groups, in order |
//! | `publish` | a group of Copies: one sync, then each in one step |
//! | `migrate` | a group of Originals, by the fence and the commit point |
//! | `recovery` | interrupted migrations |
//!
//! # Locks, and why a copy takes none
//!
//! A copy only reads its source, which may be on a read-only disk, and creates a new name, which only one
//! process can take. Once an item is staged, the source's sidecar is looked up again by name and must be
//! unchanged. A change takes the locks of the collections that change ([`lock_changes`]).
//!
//! # Deletions travel
//!
//! A copy of whole collections brings tombstones as well ([`Tombstones::Bring`]): a Copy that the deletion covers
//! becomes a tombstone, and the whole replaced item goes to the trash. An Original gives way to its own deletion only.
//!
//! [`lock_changes`]: crate::collection::lock_changes
//! [`custody::decide`]: crate::custody::decide

mod copy_job;
mod error;
mod giver;
mod look;
mod migrate;
mod payload;
mod publish;
mod reading;
mod recovery;
mod run;
mod shared;
mod staged;

use std::path::PathBuf;

use crate::agent::Caller;
use crate::collection::{Collection, Writer};
use crate::holdings::Sight;
use crate::identity::{Instant, RepositoryName};
use crate::item::{State, States};

pub use crate::custody::{Authority, Leaves, Step, Verb};
pub use crate::flow::{NameFeed, RunMode, Tombstones};
pub use error::{StillOpen, TransferError};
pub use recovery::{Ending, Open, OpenMigration, Recovery, interrupted};

/// Options of a transfer.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The kind of transfer.
    pub verb: Verb,
    /// The holding that a migrated item leaves at the source.
    pub leaves: Leaves,
    /// Whether the run only plans.
    pub mode: RunMode,
    /// Only items that the source has in this state.
    pub state: Option<States>,
    /// Treatment of items that are deleted at the source.
    pub tombstones: Tombstones,
    /// Only holdings at the destination that are behind the source are brought into line, by the rule, or
    /// by a person's word.
    pub line_up: Option<Authority>,
    /// Number of files copied at a time.
    pub jobs: usize,
    /// The size in bytes from which an item keeps its copied files when a run is interrupted.
    pub resume_bytes: u64,
}

/// Transfers items from one collection to another.
pub struct Transfer<'a> {
    /// The source.
    pub from: &'a Collection,
    /// The destination.
    pub to: &'a Collection,
    /// The right to write at the destination; a plan needs none.
    pub writer: Option<Writer>,
    /// The right to write at the source; only migrating needs it.
    pub source_writer: Option<Writer>,
    /// Options of a transfer.
    pub options: Options,
    /// Other collections in sight: no Original is handed over that one of them shows to be behind.
    pub sight: &'a Sight<'a>,
    /// Who calls.
    pub caller: Caller<'a>,
}

/// The report of one item.
#[derive(Clone, Debug)]
pub struct Transferred {
    /// The step.
    pub step: Step,
    /// Its state at the destination.
    pub state: State,
    /// The state of the holding that it replaced at the destination.
    pub replaced: Option<State>,
    /// Its directory at the destination.
    pub place: PathBuf,
    /// Its files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Its last change.
    pub changed: Instant,
    /// Unlisted files in the removed directories, which move to the trash.
    pub unlisted: Vec<PathBuf>,
}

/// The outcome of one item.
#[derive(Debug)]
pub struct Outcome {
    /// The item, as requested.
    pub name: RepositoryName,
    /// The report, or the error.
    pub result: Result<Transferred, TransferError>,
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct Summary {
    /// Items transferred, also in a dry run.
    pub transferred: u64,
    /// Items that the destination already had.
    pub skipped: u64,
    /// Deletions recorded at the destination, also in a dry run.
    pub buried: u64,
    /// Items that failed or were refused.
    pub failed: u64,
    /// Files of the transferred items.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The error that ended the run early, or that occurred after the last item.
    pub fatal: Option<TransferError>,
}
