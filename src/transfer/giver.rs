//! The end of a migration at the giver: each item leaves a stub, or stays as a Copy.

use super::{Leaves, TransferError};
use crate::collection::{ChangeLocks, Collection, Event, Here, LockedItem, ReadSidecar, Writer};
use crate::custody::Custody;
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::item::State;
use crate::layout;
use crate::sidecar::{NewText, Sidecar};

/// The note of a migration that was withdrawn.
pub(super) const WITHDRAWN: &str = "withdrew the migration";

/// An item of the giver, its present sidecar, and the custody of the holding that it leaves.
pub(super) type Leaving<'l> = (LockedItem<'l>, ReadSidecar, Custody);

/// The collection that gives items away.
#[derive(Clone, Copy)]
pub(super) struct Giver<'a> {
    pub collection: &'a Collection,
    pub writer: &'a Writer,
    /// The locks of the collection.
    pub locks: &'a ChangeLocks,
    /// The event of an item, for the ledger.
    pub event: &'a dyn Fn(&RepositoryName) -> Event,
    /// Whether items that leave a stub go to the trash: nothing in sight has their payload.
    pub is_last: bool,
}

impl Giver<'_> {
    /// Ends the giver's side of migrations: each item becomes a stub or a Copy with its new custody, durably.
    pub(super) fn leave(
        &self,
        items: Vec<Leaving<'_>>,
        leaves: Leaves,
    ) -> Result<(), TransferError> {
        if items.is_empty() {
            return Ok(());
        }
        let state = State::from(leaves);
        let events: Vec<_> = items
            .iter()
            .map(|(item, read, custody)| {
                let left = Here { state, custody: custody.bare(), ..Here::of(&read.sidecar) };
                (self.event)(item.name()).leaving(left)
            })
            .collect();
        let announced = self.writer.announce(items.iter().map(|(item, ..)| item.name()))?;
        match leaves {
            Leaves::Stub => self.leave_stubs(&items)?,
            Leaves::Copy => {
                let mut texts = Vec::new();
                for (item, read, custody) in items {
                    let copy = Sidecar { state, custody, ..read.sidecar.clone() };
                    let text = read.rewritten(item.name(), &copy)?;
                    texts.push((item, text));
                }
                self.writer.replace_sidecars(&texts)?;
            }
        }
        self.collection.record(self.locks, &events)?;
        announced.settle();
        Ok(())
    }

    fn leave_stubs(&self, items: &[Leaving<'_>]) -> Result<(), TransferError> {
        let mut staged = Vec::new();
        for (item, read, custody) in items {
            let text = NewText::Held(read.sidecar.stub(custody.clone()).to_text().into_bytes());
            let (year, _) = layout::item_place(item.name());
            staged.push((year, self.writer.stage_tombstone(&text)?));
        }
        let places = staged.iter().map(|(year, staged)| (year.as_path(), staged));
        self.writer.sync_staged(self.collection, places)?;
        for ((item, read, _), (_, stub)) in items.iter().zip(&staged) {
            // It has to be finished: half of it is no better than none.
            if self.is_last || !item.unlisted(read.listed(), &Interrupt::default())?.is_empty() {
                self.writer.replace_item(stub, item)?;
            } else {
                self.writer.swap_item(stub, item)?;
            }
        }
        self.collection.confirm_names(items.iter().map(|(item, ..)| item.name().as_str()))?;
        for (_, replaced) in &staged {
            self.writer.discard(replaced);
        }
        Ok(())
    }
}

impl From<Leaves> for State {
    fn from(leaves: Leaves) -> State {
        match leaves {
            Leaves::Stub => State::Elsewhere,
            Leaves::Copy => State::Copy,
        }
    }
}
