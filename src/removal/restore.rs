//! Restoring deleted items from the trash.

use std::path::PathBuf;

use super::grave::{Grave, Search, state_before};
use super::{RemovalError, Remover, Restoration};
use crate::agent::Caller;
use crate::collection::{
    Collection, CollectionError, Event, EventKind, InventoryChange, LockedItem, Lookup,
    ReadSidecar, Trashed, lock_items,
};
use crate::identity::{RepositoryName, SECOND};
use crate::interrupt::Interrupt;
use crate::item::State;
use crate::progress::Progress;

/// An item that was restored, or would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The item.
    pub name: RepositoryName,
    /// Its state in this collection.
    pub state: State,
    /// Whether it was not deleted, so that nothing is done.
    pub was_here: bool,
    /// Entries of the trash with what a repair replaced in an item that was here, or what its sidecar did not
    /// list.
    pub kept: Vec<PathBuf>,
    /// Its files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Restored {
    fn of(grave: &Grave) -> Restored {
        let (sidecar, state) = match grave {
            Grave::Tombstone { record, .. } => (&record.sidecar, state_before(&record.sidecar)),
            Grave::Copy { sidecar, .. } | Grave::Empty { sidecar, .. } => (sidecar, sidecar.state),
        };
        Restored {
            name: sidecar.repository.clone(),
            state,
            was_here: matches!(grave, Grave::Empty { .. }),
            kept: match grave {
                Grave::Empty { kept, .. } => kept.clone(),
                Grave::Tombstone { .. } | Grave::Copy { .. } => Vec::new(),
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
    let grave = Search { collection, restoration, progress, interrupt }.find(name)?;
    Ok(Restored::of(&grave))
}

impl Remover<'_> {
    /// Restores the item `name`, after every byte in the trash was compared with its sidecar. An item that is
    /// not deleted stays as it is.
    ///
    /// An Original is not restored while another collection holds the Original, or may hold it.
    pub fn restore(
        &self,
        name: &RepositoryName,
        restoration: &Restoration<'_>,
    ) -> Result<Restored, RemovalError> {
        let Remover { collection, caller: Caller { progress, interrupt, .. }, .. } = *self;
        if interrupt.requested() {
            return Err(RemovalError::Interrupted);
        }
        let search = Search { collection, restoration, progress, interrupt };
        // Others need not wait while every byte is read; what they change meanwhile is decided on again.
        let (grave, locks) = loop {
            let grave = search.find(name)?;
            if let Grave::Empty { item, .. } = &grave {
                // A run that was killed may have put it there, and not have synced it.
                collection.confirm_names([item.name().as_str()])?;
                return Ok(Restored::of(&grave));
            }
            let locks = match Restored::of(&grave).state {
                State::Original => {
                    search.claim().lock(name, self.caller.agent, &self.caller.waiter())?
                }
                _ => lock_items([(collection, name)], self.caller.agent, &self.caller.waiter())?,
            };
            if let Some(grave) = search.unchanged(name, grave)? {
                break (grave, locks);
            }
        };
        let restored = Restored::of(&grave);
        let _changing = self.writer.changing(collection, vec![name.clone()]);
        match &grave {
            Grave::Tombstone { record, trashed } => {
                let item = locks.item(&Lookup::new(collection), name)?;
                let item = item.ok_or_else(|| collection.absent(name))?;
                self.unbury(&item, record, trashed.as_ref())?;
            }
            Grave::Copy { trashed, .. } => self.put_copy_back(trashed)?,
            Grave::Empty { .. } => {}
        }
        let event =
            Event::new(EventKind::Recovery, name, self.caller.clock.now(), self.caller.agent);
        collection.note(&[Event { note: Some("restored".to_owned()), ..event }]);
        Ok(restored)
    }

    fn unbury(
        &self,
        item: &LockedItem<'_>,
        record: &ReadSidecar,
        trashed: Option<&Trashed>,
    ) -> Result<(), RemovalError> {
        let before = &record.sidecar;
        let mut after = before.clone();
        after.state = state_before(before);
        // Nothing about it has changed, so its Copies are as current as they were.
        let updated = before.removal.as_ref().and_then(|removal| removal.updated);
        after.timestamp =
            updated.unwrap_or_else(|| self.caller.clock.now().floor(SECOND).max(before.timestamp));
        after.removal = None;
        after.note_restored(self.caller.clock.now());
        let text = after
            .rewritten(&record.text, before)
            .map_err(|cause| CollectionError::Unchangeable { name: item.name().clone(), cause })?;
        item.unbury(trashed)?;
        self.writer.replace_sidecar(item, &text)?;
        self.record(item.name(), InventoryChange::Became(after.state))?;
        self.forget(trashed)
    }

    fn put_copy_back(&self, trashed: &Trashed) -> Result<(), RemovalError> {
        let name = &trashed.name;
        self.collection.put_copy_back(trashed)?;
        // It may be an Original, which was put away because another collection had one too.
        let state = self.collection.item(name)?.read_sidecar()?.sidecar.state;
        self.record(name, InventoryChange::Entered(state))?;
        self.forget(Some(trashed))
    }

    fn record(&self, name: &RepositoryName, change: InventoryChange) -> Result<(), RemovalError> {
        Ok(self.collection.record([(name.clone(), change)], self.caller.clock)?)
    }

    /// Removes the entry of the trash that is empty now.
    fn forget(&self, trashed: Option<&Trashed>) -> Result<(), RemovalError> {
        trashed.map_or(Ok(()), |trashed| Ok(self.collection.remove_trashed(trashed)?))
    }
}
