//! Repair: damaged, missing or added files of an item are made right from any good copy of it.
//!
//! An item that the inventory records and that is missing is rebuilt from its donors, under its name and in
//! the recorded state.
//!
//! A [`Repairer`] looks at an item and at the same item in other collections, the *donors*, makes a
//! [`Plan`] of it, and carries it out: [`Repairer::examine`] only plans, [`Repairer::repair`] repairs.
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
//! | `donor` | which donor has the bytes that are asked for |
//! | `build` | the repaired item, made in the stage |
//! | `run` | from the examination of an item to the repaired one in its place |
//!
//! # What is never done
//!
//! - A file is used only if its digest, taken now, is the one in the sidecar.
//! - The item is replaced in one step, by one that was read back. The old item stays in the trash, with all
//!   added and damaged files, until it is purged.
//! - A sidecar is believed if its seal is intact, if the seal it had fits what a copy's says, or if a
//!   copy's sealed one says the same of everything that the seal covers. No second Original is made where the first is known.

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
    /// Where good copies are looked for, in this order.
    pub donors: &'a [Collection],
    /// Where the Original may be besides; no files are taken from these.
    pub witnesses: &'a [Collection],
    /// How far it may go.
    pub options: Options,
    /// The event log's record of the items.
    pub logged: &'a LoggedItems,
    /// Who calls.
    pub caller: Caller<'a>,
}

/// How far a repair may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The treatment of an item that cannot be repaired completely.
    pub remainder: PartialRepair,
    /// Whether a sidecar without an intact seal is believed when only the payload bears it out.
    pub unsealed: Unsealed,
    /// The state that the item had, where its sidecar is lost or not sealed and nothing else tells.
    pub state: Option<State>,
    /// Whether that state overrules an inventory which certainly says Copy.
    pub recorded: RecordedRule,
}

/// What is done about the state of an item whose sidecar is lost and that is certainly recorded as a Copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordedRule {
    /// It becomes a Copy.
    #[default]
    Believe,
    /// It becomes what a person says of this very item.
    Overrule,
}

/// The treatment of an item that cannot be repaired completely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartialRepair {
    /// It is left as it is.
    #[default]
    Refuse,
    /// It is repaired as far as possible; the rest stays as it is.
    Leave,
}

/// Whether a sidecar without an intact seal is believed when only the payload bears it out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unsealed {
    /// Its description may have been damaged as well; a donor has to agree with all of it.
    #[default]
    Refuse,
    /// It gets a new seal as it is.
    Seal,
}

/// How a repair ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Nothing was wrong.
    Sound,
    /// The plan was carried out; what it could not repair is in [`Plan::lost`].
    Repaired(Box<Plan>),
}
