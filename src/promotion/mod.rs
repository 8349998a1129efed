//! Promotion: changing the holder of an Original that can no longer be handed over.
//!
//! [`Registrar::promote_all`] makes Copies the Originals when the collection of their Originals is lost.
//! [`Registrar::demote_all`] makes one of two Originals a Copy of the other, as when a lost disk comes back.
//! Neither reads or writes a byte of the lost collection: a person declares it lost.
//!
//! # The order of writes
//!
//! The item is verified without a lock, byte by byte from the disk: only a whole Copy becomes an Original,
//! and an Original steps back only for a whole one. Then the item is locked in every collection that holds
//! it, and the decision is checked again. The only write is one durable replacement of the sidecar; several
//! items share its syncs. So a run may be killed anywhere and repeated, and of two runs in two mirrors that
//! know each other one is refused.
//!
//! # Files, in reading order
//!
//! | file | subject |
//! |---|---|
//! | `promote` | a Copy becomes the Original |
//! | `demote` | an Original becomes a Copy |
//! | `group` | many items: decided, proven, locked, decided again, changed together |
//! | `error` | why not |

mod demote;
mod error;
mod group;
mod promote;

use crate::agent::Caller;
use crate::collection::{
    Collection, CollectionError, Event, EventKind, ItemLocks, ReadSidecar, StoredItem, Writer,
    lock_items_with,
};
use crate::identity::RepositoryName;
use crate::verify::{self, Depth, ProofError};

pub use demote::DifferenceRule;
pub use error::PromotionError;
pub use group::Report;
pub use promote::Loss;

/// Changes which collection holds the Originals of items.
pub struct Registrar<'a> {
    /// The collection whose items change their state.
    pub collection: &'a Collection,
    /// The right to change it; without it, items are only checked.
    pub writer: Option<&'a Writer>,
    /// Who calls.
    pub caller: Caller<'a>,
}

/// The outcome for an item, also of a dry run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The Copy is the Original now.
    Promoted,
    /// The Original is a Copy of the other one now.
    Demoted,
    /// The Original differs from the other one and is in the trash.
    Discarded,
    /// An earlier run has done it.
    Nothing,
}

impl Registrar<'_> {
    fn read(&self, name: &RepositoryName) -> Result<(StoredItem, ReadSidecar), CollectionError> {
        let item = self.collection.named_item(name)?;
        let read = item.read_sidecar()?;
        Ok((item, read))
    }

    /// Verifies an item from its disk.
    fn prove(&self, collection: &Collection, item: &StoredItem) -> Result<(), PromotionError> {
        let proof =
            verify::prove(item, Depth::FromDisk, self.caller.progress, self.caller.interrupt);
        proof.map_err(|error| match error {
            ProofError::Damaged { summary, .. } => PromotionError::Damaged {
                name: item.name().clone(),
                path: collection.path().to_path_buf(),
                summary,
            },
            ProofError::Disk(error) => error.into(),
            ProofError::Interrupted => PromotionError::Interrupted,
        })
    }

    /// Locks items here, and where else they are `held`.
    fn lock<'n>(
        &'n self,
        names: impl Iterator<Item = &'n RepositoryName>,
        held: impl Iterator<Item = (&'n Collection, &'n RepositoryName)>,
    ) -> Result<ItemLocks, CollectionError> {
        let waiter = self.caller.waiter();
        let ours = names.map(|name| (self.collection, name));
        lock_items_with(ours, held, self.caller.agent, &waiter)
    }

    fn event(&self, kind: EventKind, name: &RepositoryName) -> Event {
        Event::new(kind, name, self.caller.clock.now(), self.caller.agent)
    }
}
