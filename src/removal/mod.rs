//! Removal: deleting items, restoring them, and removing their bytes permanently.
//!
//! What deleting means depends on the state [resolution standard 5.2]. An Original leaves a tombstone: its
//! sidecar stays, and records who removed the item, when and why. A Copy leaves nothing. Either way the bytes
//! go to the trash and stay there until [`Purger`] removes them, so that [`Restorer::restore`] can undo a
//! mistake: one wrong name at a prompt must not cost an item. So deleting frees no room.
//!
//! # Files, in reading order
//!
//! | file | subject |
//! |---|---|
//! | `plan` | what deleting an item would do, or why it is refused |
//! | `proof` | another collection holds the item, whole |
//! | `intent` | what a run is going to delete or restore, for the run that finishes it after a crash |
//! | `delete` | the tombstone, then the payload |
//! | `remains` | what there is of a deleted item, and whether it is whole |
//! | `restore` | out of the trash again |
//! | `finish` | completes what interrupted runs left between two states |
//! | `purge` | removed permanently |
//!
//! # The order of writes
//!
//! *delete*: the intent is written and synced; the item is locked; its sidecar is replaced durably, which is
//! the commit point; `doc` is moved to the trash and both directories are synced. If the run is killed before
//! the last step, a tombstone with a payload remains (`verify` reports U212): deleting it again, or
//! [`finish_pending`], which reads the intent, finishes the move.
//!
//! *restore*: every byte in the trash is compared with the tombstone; the item is locked, an Original in
//! every collection that holds it, and everything is checked again; the intent is written and synced; `doc`
//! is moved back and synced; the sidecar is replaced durably, which is the commit point. If the run is killed
//! before that, a tombstone with a payload remains as well: restoring it again, or [`finish_pending`],
//! completes the restoration. A Copy is restored whole, in one step.
//!
//! *purge*: the data is renamed first, so that its remains after a crash are never taken for a payload;
//! recovery, or the next purge, removes them.
//!
//! # The last holding
//!
//! An item is deleted only if another collection holds the same bytes, as proven now, or if the caller allows
//! deleting the last holding. The bytes are read without a lock, because that takes long; then both items are
//! locked and must be unchanged, so two runs cannot each delete the item that the other one relies on. A
//! collection that cannot be written is relied on without a lock.

mod delete;
mod error;
mod finish;
mod intent;
mod plan;
mod proof;
mod purge;
mod remains;
mod restore;

use crate::agent::Caller;
use crate::collection::{Collection, Writer};

pub use delete::Deletion;
pub use error::{Lack, LookedAt, RemovalError};
pub use finish::{Finished, Pending, finish_pending, has_pending, pending};
pub use intent::IntentKind;
pub use plan::{DamageRule, LastRule, Order, PermanentRule, Plan, Restoration, Step, plan};
pub use proof::SecondHolding;
pub use purge::{PurgePlan, Purgeable, Purger, Wanted, purgeable, unpurgeable};
pub use restore::{Restored, Restorer, plan_restoration};

/// Deletes and restores items of one collection.
pub struct Remover<'a> {
    /// The collection.
    pub collection: &'a Collection,
    /// The right to change it.
    pub writer: Writer,
    /// Who calls.
    pub caller: Caller<'a>,
}
