//! Copying and migrating items between collections.
//!
//! [`Transfer::run`] takes the names of items and carries out the step that `decide`, a pure function,
//! chooses by the states on both sides. A dry run ends there. The rest is like depositing:
//!
//! | file | subject |
//! |---|---|
//! | `decide` | both sidecars, and what is wanted, to one [`Step`] |
//! | `look` | one item: reads both sidecars and decides the step; once more if another process was faster |
//! | `staged`, `shared` | an item in the stage; what the threads of a run share |
//! | `copy_job` | an item on its way: copied into its draft by several threads |
//! | `arrived` | an item that the destination has already |
//! | `reading` | its sidecars, if they can be relied on |
//! | `payload` | its files: read once, compared with the source's sidecar on the way |
//! | `sidecars` | its sidecars: what a Copy says, what an Original says that was handed over |
//! | `run` | many items: threads stage them, one side publishes them in groups, in order |
//! | `publish` | a group of Copies: one sync, then each in one step |
//! | `handover` | a group of Originals, by the protocol of hand-overs |
//! | `journal`, `settle` | the record of a hand-over; its end, from the commit point on |
//! | `recovery` | interrupted hand-overs |
//! | `unrecorded` | hand-overs that only sidecars show |
//! | `bury` | deletions, which travel as tombstones |
//! | `retire` | what leaves the source, once the destination is proven |
//! | `unlisted` | files that no sidecar lists, which go to the trash |
//!
//! # Locks, and why a copy takes none
//!
//! A copy only reads its source, which may be on a read-only disk, and creates a new name, which only one
//! process can take. Once an item is staged, the source's sidecar is looked up again by name and must be
//! unchanged. A change of an existing item takes its lock ([`lock_items`]), on both sides at once.
//!
//! # What makes a Copy stale
//!
//! A Copy keeps the `timestamp` of its Original, so it is stale if the Original's is later. If the content
//! differs at the same date, something else is wrong and nothing is touched.
//!
//! # Deletions travel
//!
//! A copy of whole collections brings tombstones as well ([`Tombstones::Bring`]), so that a site that is
//! rebuilt from its mirror does not bring deleted items back. A destination without the item gets the
//! tombstone. A Copy of the deleted Original becomes a tombstone, and its payload goes to the trash; a Copy
//! of another Original, or a newer one, stays. Such a tombstone names the collection of the deletion in
//! `[origin]`. A tombstone does not travel if the inventory beside it says that the item left or is alive.
//! One that was brought there replaces no Copy while a known collection has the Original. The Original is
//! restored only in the collection that deleted it, from its trash or with the bytes of a Copy
//! ([`Step::Revive`]).
//!
//! [`lock_items`]: crate::collection::lock_items

mod arrived;
mod bury;
mod copy_job;
mod decide;
mod error;
mod handover;
mod journal;
mod look;
mod lost;
mod payload;
mod publish;
mod reading;
mod recovery;
mod retire;
mod run;
mod settle;
mod shared;
mod sidecars;
mod staged;
mod unlisted;
mod unrecorded;

use std::path::PathBuf;

use crate::agent::Caller;
use crate::collection::{Collection, Writer};
use crate::holdings::Peers;
use crate::identity::RepositoryName;
use crate::item::State;

pub use crate::flow::{NameFeed, OnError, RunMode, Tombstones};
pub use decide::{Replaces, Step};
pub use error::{JournalError, Refusal, TransferError};
pub use lost::end_lost;
pub use recovery::{Finished, PeerLookup, finish_pending, has_pending, pending};
pub use settle::HandoverEnd;
pub use unrecorded::{record_again, unrecorded};

/// The kind of transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// The destination gets Copies.
    Copy,
    /// Originals and Copies move to the destination.
    Migrate,
    /// The Copies at the destination are updated from their Originals; no others are made.
    Refresh,
}

/// Additional permissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Stale Copies are updated.
    pub refresh: bool,
    /// A tombstone at the destination is replaced.
    pub revive: bool,
    /// A migrated Original leaves a Copy.
    pub leave_copy: bool,
}

/// Options of a transfer.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The kind of transfer.
    pub verb: Verb,
    /// Additional permissions.
    pub rules: Rules,
    /// Whether the run only plans.
    pub mode: RunMode,
    /// Only items that the source has in this state.
    pub state: Option<State>,
    /// Treatment of items that are deleted at the source.
    pub tombstones: Tombstones,
    /// Number of files copied at a time.
    pub jobs: usize,
    /// Whether the first failure ends the run.
    pub on_error: OnError,
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
    /// Other collections, checked like the source before a deleted Original is restored ([`Rules::revive`]),
    /// and for the path of the Original of a Copy that was made in another collection.
    pub peers: Peers<'a>,
    /// Checked before a deletion in a third collection replaces a Copy: it may have been undone there since.
    pub witnesses: Peers<'a>,
    /// Who calls.
    pub caller: Caller<'a>,
}

/// The report of one item.
#[derive(Clone, Debug)]
pub struct Transferred {
    /// The step.
    pub step: Step,
    /// Its directory at the destination.
    pub place: PathBuf,
    /// Its files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
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
