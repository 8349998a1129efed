//! Copying and migrating items between collections.
//!
//! [`Transfer::run`] takes the names of items and does with each what `decide` says of its states on
//! both sides: pure, the table of the design. A dry run ends there. The rest is like depositing:
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
//! | `recovery` | hand-overs that were cut short |
//! | `bury` | deletions, which travel as tombstones |
//! | `retire` | what leaves the source, once the destination is proven |
//! | `unlisted` | files that no sidecar lists, which go to the trash |
//!
//! # Locks, and why a copy takes none
//!
//! A copy only reads its source, which may be on a read-only disk, and makes a new name, which only
//! one can take. Once an item is staged, it looks again whether the source's sidecar, found by its name,
//! is still the one it copied by. What changes an item that exists takes its lock ([`lock_items`]), on both sides at once.
//!
//! # What makes a Copy stale
//!
//! A Copy keeps the `timestamp` of its original. So it is behind when the Original's is later; if the
//! content differs without that, something else is wrong and nothing is touched.
//!
//! # Deletions travel
//!
//! A copy of whole collections brings tombstones as well ([`Tombstones::Bring`]), so that a site that is
//! rebuilt from its mirror does not bring deleted items back. Where the destination has nothing, it gets
//! the record. A Copy of the deleted Original becomes a tombstone, and its payload goes to the trash;
//! a Copy of another Original, or a newer one, stays. Such a tombstone says in `[origin]` whose it is.
//! A tombstone stays where it is if the inventory beside it says that the item left or is alive, and one that was
//! brought there buries no Copy while a known collection has the Original.
//! The Original only comes back in the collection that deleted it, out of its trash or with the bytes of
//! a Copy ([`Step::Revive`]).
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

use std::path::PathBuf;

use crate::agent::Caller;
use crate::collection::{Collection, Writer};
use crate::holdings::Peers;
use crate::identity::RepositoryName;
use crate::item::State;

pub use crate::flow::{OnError, RunMode, Tombstones};
pub use decide::{Replaces, Step};
pub use error::{JournalError, Refusal, TransferError};
pub use lost::end_lost;
pub use recovery::{Finished, PeerLookup, finish_pending, has_pending, pending};
pub use run::NameFeed;
pub use settle::HandoverEnd;

/// What is done with items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// The destination gets Copies.
    Copy,
    /// The Originals go to the destination, and Copies do.
    Migrate,
    /// The Copies that the destination has are brought up to their Originals; no others are made.
    Refresh,
}

/// What is allowed beyond the ordinary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own that may be given")]
pub struct Rules {
    /// Copies that are behind are brought up to date.
    pub refresh: bool,
    /// A tombstone at the destination is no obstacle.
    pub revive: bool,
    /// A migrated Original leaves a Copy.
    pub leave_copy: bool,
    /// Items that the destination already has are read, to verify them.
    pub checksum: bool,
}

/// How items are transferred.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What is done.
    pub verb: Verb,
    /// What is allowed.
    pub rules: Rules,
    /// Whether the run only plans.
    pub mode: RunMode,
    /// Only items that the source has in this state.
    pub state: Option<State>,
    /// How items are treated that are deleted at the source.
    pub tombstones: Tombstones,
    /// How many files are copied at a time.
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
    /// How items are transferred.
    pub options: Options,
    /// Asked, as the source is, before a deleted Original comes back ([`Rules::revive`]), and where the Original
    /// of a Copy went that was made in another collection.
    pub peers: Peers<'a>,
    /// Asked before a deletion of a third collection buries a Copy: it may have been undone there since.
    pub witnesses: Peers<'a>,
    /// Who calls.
    pub caller: Caller<'a>,
}

/// The report of one item.
#[derive(Clone, Debug)]
pub struct Transferred {
    /// What.
    pub step: Step,
    /// Its directory at the destination.
    pub place: PathBuf,
    /// Its files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files in the removed directories that no sidecar lists; they move to the trash.
    pub unlisted: Vec<PathBuf>,
}

/// The outcome of one item.
#[derive(Debug)]
pub struct Outcome {
    /// The item, as it was asked for.
    pub name: RepositoryName,
    /// What was done, or why not.
    pub result: Result<Transferred, TransferError>,
}

/// How a run ended.
#[derive(Debug, Default)]
pub struct Summary {
    /// Items that were transferred, or would be.
    pub transferred: u64,
    /// Items that were there already.
    pub skipped: u64,
    /// Deletions that the destination has learnt of, or would.
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
