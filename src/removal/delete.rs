//! Deleting: a tombstone first, then the payload into the trash; a Copy in one step.

use std::path::Path;

use super::intent::{Intent, IntentKind};
use super::plan::Planned;
use super::proof::Proof;
use super::{Order, Plan, RemovalError, Remover, Step};
use crate::agent::Caller;
use crate::clock::Clock;
use crate::collection::{
    Collection, CollectionError, Departure, Event, EventKind, InventoryChange, ItemLocks,
    LockedItem, Lookup, ReadSidecar, lock_items_with,
};
use crate::identity::{RepositoryName, SECOND};
use crate::item::State;
use crate::sidecar::{Removal, Seal, Sidecar};

/// A run that deletes some items.
pub struct Deletion<'r, 'o> {
    remover: &'r Remover<'r>,
    order: &'r Order<'o>,
    intent: Intent<'r>,
}

impl Remover<'_> {
    /// Begins to delete `names`.
    pub fn deletion<'r, 'o>(
        &'r self,
        names: &'r [RepositoryName],
        order: &'r Order<'o>,
    ) -> Deletion<'r, 'o> {
        Deletion { remover: self, order, intent: Intent::new(self, IntentKind::Deletion, names) }
    }
}

impl<'o> Deletion<'_, 'o> {
    /// Deletes one of the announced items, on a full disk with the reserve.
    pub fn delete(&mut self, name: &RepositoryName) -> Result<Plan<'o>, RemovalError> {
        let before = self.intent.is_unfinished();
        let collection = self.remover.collection;
        let deleted = collection.with_reserve(|| self.try_to_delete(name));
        if deleted.is_ok() {
            self.intent.settle(before);
        }
        self.remover.caller.progress.finish_item(name.as_str());
        deleted
    }

    fn try_to_delete(&mut self, name: &RepositoryName) -> Result<Plan<'o>, RemovalError> {
        let Remover { collection, caller, .. } = *self.remover;
        let Caller { progress, interrupt, .. } = caller;
        if interrupt.requested() {
            return Err(RemovalError::Interrupted);
        }
        let item = collection.named_item(name)?;
        let planned = Planned::of(collection, &item, self.order, progress, interrupt)?;
        let locks = self.lock_both(&planned)?;
        let item = as_planned(collection, &locks, &planned)?;
        if planned.plan.step == Step::Bury {
            self.intent.begin()?;
        }
        let changing = self.remover.writer.changing(collection, vec![name.clone()]);
        let done = match planned.plan.step {
            Step::Bury => self.bury(&item, &planned.record),
            Step::FinishBurial => {
                record_burial(collection, &planned.record.sidecar, self.remover.caller.clock)
                    .and_then(|()| bury_payload(&item))
            }
            Step::TakeAway => {
                let left = InventoryChange::Left(Departure::Deleted);
                collection.record([(item.name().clone(), left)], self.remover.caller.clock)?;
                Ok(item.throw_away()?)
            }
        };
        drop(changing);
        if done.is_ok() {
            self.note(&planned);
        }
        done.map(|()| planned.plan)
    }

    fn note(&self, planned: &Planned<'_>) {
        let Remover { collection, caller, .. } = *self.remover;
        let Caller { agent, clock, .. } = caller;
        let before = planned.record.sidecar.payload.digest;
        let event = Event::new(EventKind::Deletion, &planned.plan.name, clock.now(), agent);
        let note = self.order.reason.clone();
        collection.note(&[Event { note, ..event.with_digest_before(before) }]);
    }

    /// Ends the run. Unfinished items stay recorded.
    pub fn finish(self) -> Result<(), RemovalError> {
        Ok(self.intent.finish()?)
    }

    /// Locks the item, and the other holding that proves its bytes.
    fn lock_both(&self, planned: &Planned<'_>) -> Result<ItemLocks, CollectionError> {
        let Remover { collection, caller: Caller { agent, .. }, .. } = *self.remover;
        let name = &planned.plan.name;
        let theirs = planned.proof.as_ref().map(|proof| (proof.holding.collection, name));
        lock_items_with([(collection, name)], theirs, agent, &self.remover.caller.waiter())
    }

    fn bury(&self, item: &LockedItem<'_>, record: &ReadSidecar) -> Result<(), RemovalError> {
        let Remover { collection, writer, caller: Caller { clock, .. } } = self.remover;
        let before = &record.sidecar;
        let mut after = before.clone();
        after.state = State::Deleted;
        after.timestamp = clock.now().floor(SECOND).max(before.timestamp);
        after.custody = before.custody.passed_to(collection.id(), collection.custody_id()?);
        after.removal = Some(Removal {
            by: self.order.by.clone(),
            reason: reason(self.order.reason.as_deref(), record.seal),
            was: before.state,
            updated: Some(before.timestamp),
        });
        let text = record.rewritten(item.name(), &after)?;
        writer.replace_sidecar(item, &text)?;
        record_burial(collection, &after, *clock)?;
        bury_payload(item)
    }
}

/// The locked item, if it and the other holding are unchanged.
fn as_planned<'l>(
    collection: &'l Collection,
    locks: &'l ItemLocks,
    planned: &Planned<'_>,
) -> Result<LockedItem<'l>, RemovalError> {
    let name = &planned.plan.name;
    let changed =
        |path: &Path| CollectionError::Changed { name: name.clone(), path: path.to_path_buf() };
    if let Some(Proof { holding, text }) = &planned.proof {
        let now = holding.collection.item(name).and_then(|item| item.sidecar_text());
        if now.map_or(true, |now| now != *text) {
            return Err(changed(holding.collection.path()).into());
        }
    }
    let Some(item) = locks.item(&Lookup::new(collection), name)? else {
        // Another run has deleted the Copy.
        return Err(collection.absent(name).into());
    };
    if item.sidecar_text()? == planned.record.text {
        return Ok(item);
    }
    let (now, _) = item.sidecar()?;
    // Another run has deleted the Original.
    if now.state == State::Deleted && !item.has_payload()? {
        return Err(RemovalError::AlreadyDeleted { name: name.clone() });
    }
    Err(changed(collection.path()).into())
}

/// The tombstone gets a new seal, so it has to record that the old seal was broken.
fn reason(given: Option<&str>, seal: Seal) -> Option<String> {
    const CHANGED: &str = "the sidecar was not as it had been sealed";
    let given = given.filter(|reason| !reason.trim().is_empty());
    match (given, seal) {
        (given, Seal::Intact) => given.map(str::to_owned),
        (None, _) => Some(CHANGED.to_owned()),
        (Some(given), _) => Some(format!("{given} ({CHANGED})")),
    }
}

/// Records that an item is a tombstone.
pub(super) fn record_burial(
    collection: &Collection,
    tombstone: &Sidecar,
    clock: &dyn Clock,
) -> Result<(), RemovalError> {
    let became = InventoryChange::became(tombstone);
    Ok(collection.record([(tombstone.repository.clone(), became)], clock)?)
}

/// Moves the payload of a tombstone into the trash.
pub(super) fn bury_payload(item: &LockedItem<'_>) -> Result<(), RemovalError> {
    item.bury().map_err(|source| RemovalError::NotMoved { name: item.name().clone(), source })
}
