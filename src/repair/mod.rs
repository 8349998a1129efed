//! Repair: damaged, missing and unlisted files of an item are corrected from any good copy of it.
//!
//! An item that the ledger records and that is missing is rebuilt from its donors, and so is one that was put back from a
//! backup while a Copy of it is newer. So are items that came after the backup, if a donor has Copies of them.
//!
//! A [`Repairer`] inspects an item and the same item in other collections, the *donors*, makes a [`Plan`],
//! and carries it out: [`Repairer::examine`] only plans, [`Repairer::repair`] repairs.
//!
//! # Files, in reading order
//!
//! | file | subject |
//! |---|---|
//! | `facts`, `scan` | the present sidecars, and the present files, read |
//! | `decide` | the sidecar of the repaired item; pure |
//! | `bare` | stubs and tombstones, which need no bytes, and payload that no sidecar describes; pure |
//! | `as_found` | what lies there, sealed by a person's word where nothing else is left; pure |
//! | `accepted` | what an accepted sidecar says differently from what was known |
//! | `fixed` | what of it is no description, and whether anything vouches for that; pure |
//! | `plan` | where each of its files comes from; pure |
//! | `donor` | which donor has the required bytes |
//! | `build` | the repaired item, made in the stage |
//! | `lacking` | items of which only donors know |
//! | `rotten` | the bytes of other collections, where their sidecars are not enough |
//! | `run` | from the examination of an item to the repaired one in its place |
//!
//! # What is never done
//!
//! - A file is used only if its digest, taken now, is the one in the sidecar.
//! - The item is replaced in one step, after the new one was read back. The old item stays in the trash, with
//!   all unlisted and damaged files, until it is purged.
//! - A sidecar is believed if its seal is intact. A lost or damaged one becomes that of the donor with the highest custody
//!   that fits the payload, never one below the last line of the ledger, and the state follows from the custody. A tombstone
//!   is built from what its deletion has put into the trash, if that is there.

mod accepted;
mod as_found;
mod bare;
mod build;
mod decide;
mod donor;
mod error;
mod facts;
mod fixed;
mod lacking;
mod plan;
mod rotten;
mod run;
mod scan;

use crate::agent::Caller;
use crate::collection::Collection;

pub use accepted::{Accepted, Compared, LoggedItems};
pub use error::RepairError;
pub use plan::{Damage, EntrySource, EntryStep, FileFound, Plan, SidecarAction};

/// Repairs items of one collection from others.
pub struct Repairer<'a> {
    /// The collection whose items are repaired.
    pub collection: &'a Collection,
    /// The donors, in the order of the search.
    pub donors: &'a [&'a Collection],
    /// Other collections that may have the Original; no files are taken from these.
    pub witnesses: &'a [&'a Collection],
    /// The limits of the repair.
    pub options: Options,
    /// The event log's record of the items.
    pub logged: &'a LoggedItems,
    /// Who calls.
    pub caller: Caller<'a>,
}

/// The limits of a repair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether an unsealed sidecar is believed if only the payload confirms it.
    pub unsealed: Unsealed,
}

/// Whether an unsealed sidecar is believed if only the payload confirms it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unsealed {
    /// Its description may have been damaged as well: it becomes that of a donor.
    #[default]
    Refuse,
    /// It stays unchanged and gets a new seal.
    Seal,
}

/// The result of a repair.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The item was intact.
    Sound,
    /// The plan was carried out; [`Plan::lost`] lists files that it could not repair.
    Repaired(Box<Plan>),
}
