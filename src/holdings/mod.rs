//! Holdings: which collections hold an item, and in which standing.
//!
//! [`holdings`] looks one item up in several collections and judges the result by the rule of
//! [custody]: where the Original is, which Copies are current, which holdings are behind or forks.
//! [`Survey`] does so for every item of all collections. [`Holdings::concerns`] lists the faults. Nothing is ever
//! written.
//!
//! # Files, in reading order
//!
//! | file | subject |
//! |---|---|
//! | `reading` | what one collection holds of an item, as its sidecar says |
//! | `concern` | what is lacking, in doubt or in conflict; pure |
//! | `survey` | all items of several collections, each once |
//! | `places` | the holdings and lines of one item, as the table of remedies takes them |
//! | `sight` | the holdings and lines of one item, as the rule of custody takes them |
//! | `unused` | whether a name is free in every known collection |
//!
//! # Limitations
//!
//! - Sidecars with intact seals are believed; whether the payload agrees with them is for
//!   [`verify`](crate::verify) to find out.
//! - The index is not used, though it has states and digests: only the sidecars show whether a seal is intact
//!   and a migration is under way. They are read on all threads.
//! - No lock is taken. Holdings with a concern are read again until nothing changes between two readings, so
//!   that an item that is migrating is seen in exactly one collection.

mod concern;
mod error;
mod places;
mod reading;
mod sight;
mod survey;
mod unused;

use std::path::PathBuf;

use crate::collection::CollectionError;
use crate::custody;
use crate::digest::Digest;
use crate::identity::{Ibip, Instant, RepositoryName};
use crate::item::{State, Totals};
use crate::sidecar::Seal;

pub use crate::custody::Standing;
pub use concern::{Concern, Weight};
pub use error::OriginalError;
pub use places::places;
pub use reading::holdings;
pub(crate) use reading::{Ledgers, holdings_with, read};
pub(crate) use sight::{Seen, line_below, line_in, line_of, with_line, with_line_read};
pub use sight::{Sight, Unseen};
pub use survey::{Report, Survey};
pub(crate) use unused::Arrival;
pub use unused::{Peers, UnseenRule};

/// The holdings of one item in several collections.
#[derive(Debug)]
pub struct Holdings {
    /// The item, in the requested spelling.
    pub name: RepositoryName,
    /// One entry for each collection that holds it or could not be read, in their order.
    pub all: Vec<JudgedHolding>,
}

/// The holding of an item in one collection.
#[derive(Debug)]
pub struct JudgedHolding {
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
    /// The collection with the highest custody in sight, for a holding that is behind or a fork. `None` if that is a line
    /// of a ledger.
    pub against: Option<usize>,
    /// The collection that this holding names as the holder of the Original, if that was asked, and has nothing or only an
    /// older state: what was handed over to it is lost there.
    pub relies_on: Option<usize>,
}

/// The part of a sidecar that concerns other collections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldingRecord {
    /// The state in this collection, by the sidecar alone.
    pub state: State,
    /// The IBIp.
    pub ibip: Option<Ibip>,
    /// The last change of the files, or the removal.
    pub timestamp: Instant,
    /// Counts and digest of the payload.
    pub payload: Totals,
    /// Digest of the whole payload, with links and empty directories, which the manifest leaves out.
    pub content: Digest,
    /// Digest of description, relations and target.
    pub description: Digest,
    /// The holding, as the rule of custody takes it.
    pub rule: custody::Holding,
    /// The result of checking the seal.
    pub seal: Seal,
}
