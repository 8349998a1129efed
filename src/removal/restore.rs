//! Restoring deleted items from the trash.

use std::path::PathBuf;

use super::intent::{Intent, IntentKind, may_be_listed};
use super::remains::{DeletedItem, Search, state_before, tombstone_with_payload};
use super::{RemovalError, Remover, Restoration};
use crate::agent::Caller;
use crate::collection::{
    Collection, Event, EventKind, InventoryChange, ItemLocks, LockedItem, Lookup, ReadSidecar,
    Recall, Trashed, lock_items,
};
use crate::disk::Dir;
use crate::identity::{RepositoryName, SECOND};
use crate::interrupt::Interrupt;
use crate::item::State;
use crate::progress::Progress;

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
    fn of(deleted: &DeletedItem) -> Restored {
        let (sidecar, state) = match deleted {
            DeletedItem::Tombstone { record, .. } => {
                (&record.sidecar, state_before(&record.sidecar))
            }
            DeletedItem::Copy { sidecar, .. } | DeletedItem::Empty { sidecar, .. } => {
                (sidecar, sidecar.state)
            }
        };
        Restored {
            name: sidecar.repository.clone(),
            state,
            was_here: matches!(deleted, DeletedItem::Empty { .. }),
            kept: match deleted {
                DeletedItem::Empty { kept, .. } | DeletedItem::Copy { kept, .. } => kept.clone(),
                DeletedItem::Tombstone { .. } => Vec::new(),
            },
            files: sidecar.payload.files,
            bytes: sidecar.payload.bytes,
        }
    }
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
    Ok(Restored::of(&deleted))
}

/// A run that restores some items.
pub struct Restorer<'r, 'o> {
    remover: &'r Remover<'r>,
    restoration: &'o Restoration<'o>,
    intent: Intent<'r>,
}

impl Remover<'_> {
    /// Begins to restore `names`.
    pub fn restorer<'r, 'o>(
        &'r self,
        names: &'r [RepositoryName],
        restoration: &'o Restoration<'o>,
    ) -> Restorer<'r, 'o> {
        Restorer::new(restoration, Intent::new(self, IntentKind::Restoration, names))
    }
}

impl<'r, 'o> Restorer<'r, 'o> {
    pub(super) fn new(restoration: &'o Restoration<'o>, intent: Intent<'r>) -> Restorer<'r, 'o> {
        Restorer { remover: intent.remover(), restoration, intent }
    }

    /// Restores the item `name`, after comparing every byte in the trash with its sidecar. An item that is
    /// not deleted stays unchanged.
    ///
    /// An Original is not restored while a collection in sight has a newer state.
    ///
    /// On a full disk it uses the reserve for deleting: a restoration needs as little room.
    pub fn restore(&mut self, name: &RepositoryName) -> Result<Restored, RemovalError> {
        let before = self.intent.is_unfinished();
        let restored = self.try_to_restore(name);
        if restored.is_ok() {
            self.intent.settle(before);
        }
        self.remover.caller.progress.finish_item(name.as_str());
        restored
    }

    fn try_to_restore(&mut self, name: &RepositoryName) -> Result<Restored, RemovalError> {
        let search = self.search()?;
        // Other processes need not wait while every byte is read; their changes are taken into account
        // afterwards.
        let (deleted, locks) = loop {
            let deleted = search.find(name)?;
            if let DeletedItem::Empty { item, .. } = &deleted {
                // A killed run may have moved it there without a sync.
                search.collection.confirm_names([item.name().as_str()])?;
                return Ok(Restored::of(&deleted));
            }
            let locks = self.lock(name)?;
            if let Some(deleted) = search.unchanged(name, deleted)? {
                break (deleted, locks);
            }
        };
        self.bring_back(name, &deleted, &locks)?;
        Ok(Restored::of(&deleted))
    }

    fn search(&self) -> Result<Search<'r>, RemovalError>
    where
        'o: 'r,
    {
        let Remover { collection, caller, .. } = self.remover;
        let Caller { progress, interrupt, .. } = *caller;
        if interrupt.requested() {
            return Err(RemovalError::Interrupted);
        }
        Ok(Search { collection, restoration: self.restoration, progress, interrupt })
    }

    fn lock(&self, name: &RepositoryName) -> Result<ItemLocks, RemovalError> {
        let Remover { collection, caller, .. } = *self.remover;
        Ok(lock_items([(collection, name)], caller.agent, &caller.waiter())?)
    }

    /// Restores the data found, which is unchanged under these locks.
    fn bring_back(
        &mut self,
        name: &RepositoryName,
        deleted: &DeletedItem,
        locks: &ItemLocks,
    ) -> Result<(), RemovalError> {
        let Remover { collection, writer, caller } = self.remover;
        let (collection, Caller { agent, clock, .. }) = (*collection, *caller);
        let _changing = writer.changing(collection, vec![name.clone()]);
        match deleted {
            DeletedItem::Tombstone { record, trashed } => {
                let item = locks.item(&Lookup::new(collection), name)?;
                let item = item.ok_or_else(|| collection.absent(name))?;
                collection.with_reserve(|| self.intent.begin())?;
                self.unbury(&item, record, trashed.as_ref())?;
            }
            DeletedItem::Copy { trashed, .. } => self.put_copy_back(trashed)?,
            DeletedItem::Empty { .. } => {}
        }
        let event = Event::new(EventKind::Recovery, name, clock.now(), agent);
        collection.note(&[Event { note: Some("restored".to_owned()), ..event }]);
        Ok(())
    }

    /// Completes the restoration of an item that was interrupted, and returns whether there was something to do. An item
    /// that an intent in `journal` lists as being deleted is left alone: its payload may be on its way into the trash.
    ///
    /// Nothing is to be done if the payload is in the trash: the item was deleted since.
    pub(super) fn complete(
        &mut self,
        journal: &Dir,
        name: &RepositoryName,
    ) -> Result<bool, RemovalError> {
        let Remover { collection, caller, .. } = *self.remover;
        let refuse_if_deleted = || {
            if may_be_listed(journal, IntentKind::Deletion, name)? {
                return Err(RemovalError::Unfinished { name: name.clone() });
            }
            Ok(())
        };
        while tombstone_with_payload(collection, name)?.is_some() {
            let locks = lock_items([(collection, name)], caller.agent, &caller.waiter())?;
            // The holder of the lock has completed its deletion or restoration.
            if tombstone_with_payload(collection, name)?.is_none() {
                break;
            }
            refuse_if_deleted()?;
            drop(locks);
            let search = self.search()?;
            let deleted = search.find(name)?;
            if !matches!(deleted, DeletedItem::Tombstone { trashed: None, .. }) {
                continue;
            }
            let locks = self.lock(name)?;
            let Some(deleted) = search.unchanged(name, deleted)? else { continue };
            refuse_if_deleted()?;
            let before = self.intent.is_unfinished();
            self.bring_back(name, &deleted, &locks)?;
            self.intent.settle(before);
            return Ok(true);
        }
        if !collection.trashed_of(name, Recall::Listed)?.is_empty() {
            let _locks = lock_items([(collection, name)], caller.agent, &caller.waiter())?;
            collection.remove_empty_entries(name)?;
        }
        Ok(false)
    }

    /// Ends the run. Unfinished items stay recorded.
    pub fn finish(self) -> Result<(), RemovalError> {
        Ok(self.intent.finish()?)
    }

    fn unbury(
        &self,
        item: &LockedItem<'_>,
        record: &ReadSidecar,
        trashed: Option<&Trashed>,
    ) -> Result<(), RemovalError> {
        let Remover { collection, writer, caller: Caller { clock, .. } } = self.remover;
        let before = &record.sidecar;
        let mut after = before.clone();
        after.state = state_before(before);
        // It has not changed, so its Copies stay current.
        let updated = before.removal.as_ref().and_then(|removal| removal.updated);
        after.timestamp =
            updated.unwrap_or_else(|| clock.now().floor(SECOND).max(before.timestamp));
        after.custody = before.custody.passed_to(collection.id(), collection.custody_id()?);
        after.removal = None;
        after.note_restored(clock.now());
        let text = record.rewritten(item.name(), &after)?;
        collection.with_reserve(|| item.unbury(trashed))?;
        collection.with_reserve(|| writer.replace_sidecar(item, &text))?;
        self.record(item.name(), &InventoryChange::became(&after))?;
        match trashed {
            Some(trashed) => collection.remove_trashed(trashed)?,
            // That run did not reach it.
            None => collection.remove_empty_entries(item.name())?,
        }
        Ok(())
    }

    fn put_copy_back(&self, trashed: &Trashed) -> Result<(), RemovalError> {
        let (collection, name) = (self.remover.collection, &trashed.name);
        collection.with_reserve(|| collection.put_copy_back(trashed))?;
        let sidecar = collection.item(name)?.read_sidecar()?.sidecar;
        self.record(name, &InventoryChange::entered(&sidecar))?;
        Ok(collection.remove_trashed(trashed)?)
    }

    fn record(&self, name: &RepositoryName, change: &InventoryChange) -> Result<(), RemovalError> {
        let Remover { collection, caller, .. } = self.remover;
        let record = || collection.record([(name.clone(), change.clone())], caller.clock);
        Ok(collection.with_reserve(record)?)
    }
}
