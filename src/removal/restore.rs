//! Restoring deleted items from the trash.

use std::path::PathBuf;

use super::remains::{DeletedItem, Search};
use super::{RemovalError, Remover, Restoration};
use crate::agent::Caller;
use crate::collection::{
    Collection, Event, EventKind, Here, InventoryChange, ItemLocks, Lookup, ReadSidecar, Trashed,
    lock_items,
};
use crate::identity::{RepositoryName, SECOND};
use crate::interrupt::Interrupt;
use crate::item::State;
use crate::progress::Progress;
use crate::sidecar::Sidecar;

/// A restored item, also of a dry run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The item.
    pub name: RepositoryName,
    /// Its state in this collection.
    pub state: State,
    /// Whether it was not deleted, so that nothing is done.
    pub was_here: bool,
    /// Entries of the trash with files that a repair replaced in an existing item, or that its sidecar did
    /// not list; for a restored Copy, entries with other Copies of the item.
    pub kept: Vec<PathBuf>,
    /// Its files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Restored {
    fn of(collection: &Collection, deleted: &DeletedItem) -> Result<Restored, RemovalError> {
        let copy;
        let (sidecar, kept) = match deleted {
            DeletedItem::Empty { sidecar, kept, .. } => (sidecar, kept),
            DeletedItem::InTrash { record, kept, .. } if record.sidecar.state == State::Deleted => {
                (&record.sidecar, kept)
            }
            DeletedItem::InTrash { trashed, kept, .. } => {
                copy = copy_in(collection, trashed)?;
                (&copy, kept)
            }
        };
        let state = match sidecar.state {
            State::Deleted => State::Original,
            state => state,
        };
        Ok(Restored {
            name: sidecar.repository.clone(),
            state,
            was_here: matches!(deleted, DeletedItem::Empty { .. }),
            kept: kept.clone(),
            files: sidecar.payload.files,
            bytes: sidecar.payload.bytes,
        })
    }
}

/// The sidecar of the Copy in an entry of the trash.
fn copy_in(collection: &Collection, trashed: &Trashed) -> Result<Sidecar, RemovalError> {
    let item = collection.trashed_item(trashed)?;
    Ok(item.ok_or_else(|| collection.absent(&trashed.name))?.sidecar()?.0)
}

/// Plans the restoration of the item `name` of `collection`.
pub fn plan_restoration(
    collection: &Collection,
    name: &RepositoryName,
    restoration: &Restoration<'_>,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Result<Restored, RemovalError> {
    let deleted = Search { collection, restoration, progress, interrupt }.find(name)?;
    Restored::of(collection, &deleted)
}

impl Remover<'_> {
    /// Restores the item `name`, after comparing every byte in the trash with its sidecar. An item that is
    /// not deleted stays unchanged.
    ///
    /// An Original is not restored while a collection in sight has a newer state.
    ///
    /// On a full disk it uses the reserve for deleting: a restoration needs as little room.
    pub fn restore(
        &self,
        name: &RepositoryName,
        restoration: &Restoration<'_>,
    ) -> Result<Restored, RemovalError> {
        let restored = self.try_to_restore(name, restoration);
        self.caller.progress.finish_item(name.as_str());
        restored
    }

    fn try_to_restore(
        &self,
        name: &RepositoryName,
        restoration: &Restoration<'_>,
    ) -> Result<Restored, RemovalError> {
        let Remover { collection, caller, .. } = *self;
        let Caller { progress, interrupt, .. } = caller;
        let search = Search { collection, restoration, progress, interrupt };
        // Other processes need not wait while every byte is read; their changes are taken into account
        // afterwards.
        loop {
            if interrupt.requested() {
                return Err(RemovalError::Interrupted);
            }
            let deleted = search.find(name)?;
            if let DeletedItem::Empty { item, .. } = &deleted {
                // A killed run may have moved it there without a sync.
                collection.confirm_names([item.name().as_str()])?;
                return Restored::of(collection, &deleted);
            }
            let locks = lock_items([(collection, name)], caller.agent, &caller.waiter())?;
            if let DeletedItem::InTrash { record, trashed, .. } = &deleted
                && search.is_unchanged(name, &deleted)?
            {
                let restored = Restored::of(collection, &deleted)?;
                return self.bring_back(name, (record, trashed), &locks).map(|()| restored);
            }
        }
    }

    /// Swaps the tombstone or the stub with the item in the trash, which is unchanged under these locks.
    fn bring_back(
        &self,
        name: &RepositoryName,
        (record, trashed): (&ReadSidecar, &Trashed),
        locks: &ItemLocks,
    ) -> Result<(), RemovalError> {
        let Remover { collection, writer, caller } = self;
        let (collection, clock) = (*collection, caller.clock);
        let item = locks.item(&Lookup::new(collection), name)?;
        let item = item.ok_or_else(|| collection.absent(name))?;
        let here = if record.sidecar.state == State::Deleted {
            let after = self.restored(&record.sidecar)?;
            let text = record.rewritten(name, &after)?;
            let coming = collection.trashed_item(trashed)?;
            let coming = coming.ok_or_else(|| collection.absent(name))?;
            collection.with_reserve(|| writer.replace_trashed_sidecar(&coming, &text))?;
            Here::of(&after)
        } else {
            Here::of(&copy_in(collection, trashed)?)
        };
        let _changing = writer.changing(collection, vec![name.clone()]);
        let announced = collection.with_reserve(|| writer.announce([name]))?;
        let trashed = collection.with_reserve(|| item.swap_with_trash(trashed))?;
        collection.sync_swapped([name].into_iter(), std::slice::from_ref(&trashed))?;
        let change = [(name.clone(), InventoryChange::Became(here))];
        collection.with_reserve(|| collection.record(change.clone(), clock))?;
        announced.settle();
        collection.remove_trashed(&trashed)?;
        let event = Event::new(EventKind::Recovery, name, clock.now(), caller.agent);
        collection.note(&[Event { note: Some("restored".to_owned()), ..event }]);
        Ok(())
    }

    /// The sidecar of the Original whose tombstone is `before`.
    fn restored(&self, before: &Sidecar) -> Result<Sidecar, RemovalError> {
        let Remover { collection, caller: Caller { clock, .. }, .. } = self;
        let mut after = before.clone();
        after.state = State::Original;
        // It has not changed, so its Copies stay current.
        let updated = before.removal.as_ref().and_then(|removal| removal.updated);
        after.timestamp =
            updated.unwrap_or_else(|| clock.now().floor(SECOND).max(before.timestamp));
        after.custody = before.custody.passed_to(collection.id(), collection.custody_id()?);
        after.removal = None;
        after.note_restored(clock.now());
        Ok(after)
    }
}
