//! Repair: damaged, missing and unlisted files of an item are corrected from any good copy of it.
//!
//! An item that the inventory records and that is missing is rebuilt from its donors, under its name and in
//! the recorded state.
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
//! | `recorded` | which state the inventory vouches for; pure |
//! | `reception` | the mark of an item that is being handed over to the collection |
//! | `accepted` | what an accepted sidecar says differently from what was known |
//! | `fixed` | what of it is no description, and whether anything vouches for that; pure |
//! | `proof` | the sidecar that the old seal belongs to, found with a donor's text; pure |
//! | `unconfirmed` | what of a sidecar a donor does not confirm; pure |
//! | `plan` | where each of its files comes from; pure |
//! | `donor` | which donor has the required bytes |
//! | `build` | the repaired item, made in the stage |
//! | `run` | from the examination of an item to the repaired one in its place |
//!
//! # What is never done
//!
//! - A file is used only if its digest, taken now, is the one in the sidecar.
//! - The item is replaced in one step, after the new one was read back. The old item stays in the trash, with
//!   all unlisted and damaged files, until it is purged.
//! - A sidecar is believed if its seal is intact, if its former seal fits together with a copy's text, or if
//!   a copy's sealed sidecar agrees in everything that the seal covers. No second Original is made if the
//!   first is known.

mod accepted;
mod build;
mod decide;
mod donor;
mod error;
mod facts;
mod fixed;
mod plan;
mod proof;
mod reception;
mod recorded;
mod run;
mod scan;
mod unconfirmed;

use crate::agent::Caller;
use crate::collection::Collection;
use crate::item::State;

pub use accepted::{Accepted, Compared, LoggedItems};
pub use error::RepairError;
pub use plan::{Damage, EntrySource, EntryStep, Plan, SidecarAction};

/// Repairs items of one collection from others.
pub struct Repairer<'a> {
    /// The collection whose items are repaired.
    pub collection: &'a Collection,
    /// The donors, in the order of the search.
    pub donors: &'a [Collection],
    /// Other collections that may have the Original; no files are taken from these.
    pub witnesses: &'a [Collection],
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
    /// The treatment of an item that cannot be repaired completely.
    pub remainder: PartialRepair,
    /// Whether an unsealed sidecar is believed if only the payload confirms it.
    pub unsealed: Unsealed,
    /// The state of an item whose sidecar is lost or unsealed, if nothing else shows it.
    pub state: Option<State>,
    /// Whether that state overrules an inventory that certainly says Copy.
    pub recorded: RecordedRule,
}

/// The state of an item whose sidecar is lost and that is certainly recorded as a Copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordedRule {
    /// It becomes a Copy.
    #[default]
    Believe,
    /// It gets the state that a person gives for this item.
    Overrule,
}

/// The treatment of an item that cannot be repaired completely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartialRepair {
    /// It stays unchanged.
    #[default]
    Refuse,
    /// It is repaired as far as possible; the rest stays unchanged.
    Leave,
}

/// Whether an unsealed sidecar is believed if only the payload confirms it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unsealed {
    /// Its description may have been damaged as well; a donor has to agree with all of it.
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
