//! Holdings: which collections hold an item, and in which standing.
//!
//! [`holdings`] looks one item up in several collections and judges the result: where the Original is, which
//! Copies are current, which are stale. Every question across collections is answered by this one judge.
//! [`Survey`] does so for every item of all collections. [`Holdings::concerns`] lists the faults. Nothing is
//! ever written.
//!
//! # Files, in reading order
//!
//! | file | subject |
//! |---|---|
//! | `reading` | what one collection holds of an item, as its sidecar says |
//! | `judge` | the reader rule, and how Copies stand to the Original; pure |
//! | `concern` | what is lacking, in doubt or in conflict; pure |
//! | `survey` | all items of several collections, each once |
//! | `whereabouts` | where the Original is or may be, before another one is made |
//!
//! # Limitations
//!
//! - Sidecars with intact seals are believed; whether the payload agrees with them is for
//!   [`verify`](crate::verify) to find out.
//! - The index is not used, though it has states and digests: only the sidecars show whether a seal is intact
//!   and a hand-over is in progress. They are read on all threads.
//! - No lock is taken. Holdings with a concern are read again until nothing changes between two readings, so
//!   that an item that is migrating is seen in exactly one collection.

mod concern;
mod error;
mod judge;
mod reading;
mod survey;
mod whereabouts;

use std::path::PathBuf;

use crate::collection::CollectionError;
use crate::digest::Digest;
use crate::identity::{Ibip, Instant, RepositoryName};
use crate::item::{State, Totals};
use crate::sidecar::{Handover, Seal};

pub use concern::{Concern, Weight};
pub(crate) use error::refuse_handover;
pub use error::{Giver, OriginalError};
pub use judge::Standing;
pub use reading::holdings;
pub(crate) use reading::{holdings_with, read};
pub use survey::{Report, Survey};
pub(crate) use whereabouts::{
    Arrival, Claim, Remains, Trail, follow, may_be_original, refuse_copy_in_place, refuse_deleted,
    refuse_departed, refuse_put_back, refuse_second,
};
pub use whereabouts::{Peers, UnseenRule};

/// The holdings of one item in several collections.
#[derive(Debug)]
pub struct Holdings {
    /// The item, in the requested spelling.
    pub name: RepositoryName,
    /// One entry for each collection that holds it or could not be read, in their order.
    pub all: Vec<Holding>,
}

/// The holding of an item in one collection.
#[derive(Debug)]
pub struct Holding {
    /// The number of the collection, from 0, in the given order.
    pub collection: usize,
    /// The name, as it is spelt there.
    pub name: RepositoryName,
    /// The item's directory, or its expected path if that could not be read.
    pub path: PathBuf,
    /// The record of the sidecar, or why that is not known.
    pub record: Result<HoldingRecord, CollectionError>,
    /// Its standing among the holdings of the other collections.
    pub standing: Standing,
    /// The collection whose holding it was compared with, and lost: the Original of a Copy that is stale
    /// or different, or of a tombstone, the first of two Originals, and of orphans of one date and content an earlier one
    /// with another description.
    pub against: Option<usize>,
}

/// The part of a sidecar that concerns other collections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldingRecord {
    /// The state in this collection, by the sidecar alone.
    pub state: State,
    /// The IBIp.
    pub ibip: Option<Ibip>,
    /// The last update or removal.
    pub timestamp: Instant,
    /// Counts and digest of the payload.
    pub payload: Totals,
    /// Digest of the whole payload, with links and empty directories, which the manifest leaves out.
    pub content: Digest,
    /// Digest of description, relations and target.
    pub description: Digest,
    /// The id of the collection of the Original that a Copy was made of.
    pub made_of: Option<String>,
    /// A hand-over of the Original that has begun and is not yet finished.
    pub handover: Option<Handover>,
    /// The result of checking the seal.
    pub seal: Seal,
}
