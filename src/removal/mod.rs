//! Removal: deleting items, restoring them, and removing their bytes permanently.
//!
//! A deleted Original leaves a tombstone: its sidecar stays, and records who removed the item, when and why. A deleted
//! Copy leaves a stub, which says where its Original is. The item as it was goes to the trash, whole, and stays there
//! until [`Purger`] removes it, so that [`Remover::restore`] can undo a mistake: one wrong name at a prompt must not cost
//! an item. So deleting frees no room.
//!
//! # Files, in reading order
//!
//! | file | subject |
//! |---|---|
//! | `plan` | what deleting an item would do, or why it is refused |
//! | `proof` | another collection holds the item, whole |
//! | `delete` | items are swapped with tombstones and stubs |
//! | `remains` | what there is of a deleted item, and whether it is whole |
//! | `restore` | out of the trash again |
//! | `purge` | removed permanently |
//!
//! # The order of writes
//!
//! *delete*: the tombstone is built and synced; the item is locked; both are swapped in one step, which is the commit
//! point; then the ledger gets its line. *restore*: every byte in the trash is compared with the tombstone; the item is
//! locked and checked again; the sidecar in the trash is replaced durably; the item and the tombstone are swapped back. So
//! an item is never between two states, and a killed run is finished by repeating the command.
//!
//! *purge*: the data is renamed first, so that its remains after a crash are never taken for an item; recovery, or the next
//! purge, removes them.
//!
//! # The last holding
//!
//! An item is deleted only if another collection holds the same bytes, as proven now, or if the caller allows
//! deleting the last holding. The bytes are read without a lock, because that takes long; then both items are
//! locked and must be unchanged, so two runs cannot each delete the item that the other one relies on. A
//! collection that cannot be written is relied on without a lock.

mod delete;
mod error;
mod plan;
mod proof;
mod purge;
mod remains;
mod restore;

use std::ops::ControlFlow;

use crate::agent::Caller;
use crate::collection::{ChangeLocks, Collection, CollectionError, Swap, Writer};

pub use error::{Lack, LookedAt, RemovalError};
pub use plan::{DamageRule, LastRule, Order, PermanentRule, Plan, Restoration, Step, plan};
pub use proof::SecondHolding;
pub use purge::{PurgePlan, Purgeable, Purger, Unlogged, Wanted, purgeable};
pub use remains::restorable;
pub use restore::{Restored, plan_restoration};

/// Takes the outcome of each item or entry, in order, and says whether to go on.
pub type Note<'n, I, D> = dyn FnMut(&I, Result<D, RemovalError>) -> ControlFlow<()> + 'n;

/// Deletes and restores items of one collection.
pub struct Remover<'a> {
    /// The collection.
    pub collection: &'a Collection,
    /// The right to change it.
    pub writer: Writer,
    /// Who calls.
    pub caller: Caller<'a>,
}

impl Remover<'_> {
    /// Swaps items with entries of the trash; `at_of` has their places in `outcomes`. An error left all of them in place.
    fn swap<D>(
        &self,
        locks: &ChangeLocks,
        (at_of, swaps): (&[usize], &[Swap<'_>]),
        outcomes: &mut [Result<D, RemovalError>],
    ) -> Result<(), CollectionError> {
        for (at, end) in at_of.iter().zip(self.writer.swap(locks, swaps)?) {
            if let Err(error) = end {
                outcomes[*at] = Err(error.into());
            }
        }
        Ok(())
    }

    /// Ends the run.
    pub fn finish(self) -> Result<(), RemovalError> {
        self.collection.refill_reserve();
        Ok(self.writer.finish()?)
    }
}
