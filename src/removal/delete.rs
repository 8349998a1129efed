//! Deleting: groups of items are swapped with their tombstones and stubs.

use std::ops::ControlFlow;
use std::path::Path;

use super::plan::Planned;
use super::proof::Proof;
use super::{Order, Plan, RemovalError, Remover, Step};
use crate::agent::Caller;
use crate::collection::{
    Collection, CollectionError, Event, EventKind, Here, InventoryChange, ItemLocks, LockedItem,
    Lookup, StagedItem, items_at_a_time, lock_items_with,
};
use crate::identity::{RepositoryName, SECOND};
use crate::item::State;
use crate::sidecar::{NewText, Removal, Seal};

/// Limit on the files of the items of one group: the lists of their files are in memory.
const MOST_FILES: u64 = 1 << 16;

/// The outcome of an item.
type Outcome<'o> = Result<Plan<'o>, RemovalError>;

/// An item to be deleted, and its plan, or why it stays.
type Ready<'o> = (RepositoryName, Result<Planned<'o>, RemovalError>);

impl Remover<'_> {
    /// Deletes `names`, in groups that share their syncs, and passes each outcome to `note`, in order, until that ends
    /// the run. On a full disk it uses the reserve.
    pub fn delete<'o>(
        &self,
        names: &[RepositoryName],
        order: &Order<'o>,
        note: &mut dyn FnMut(&RepositoryName, Outcome<'o>) -> ControlFlow<()>,
    ) {
        let Remover { collection, caller: Caller { progress, interrupt, .. }, .. } = self;
        let mut group: Vec<Ready<'o>> = Vec::new();
        let mut files = 0;
        for (at, name) in names.iter().enumerate() {
            let planned = if interrupt.requested() {
                Err(RemovalError::Interrupted)
            } else {
                let item = collection.named_item(name).map_err(RemovalError::from);
                item.and_then(|item| Planned::of(collection, &item, order, *progress, interrupt))
            };
            let ends = planned.is_err();
            files += planned.as_ref().map_or(0, |planned| planned.plan.files);
            group.push((name.clone(), planned));
            let is_full = group.len() >= items_at_a_time() || files >= MOST_FILES;
            if is_full || ends || at + 1 == names.len() {
                for (name, outcome) in self.delete_group(std::mem::take(&mut group), order) {
                    progress.finish_item(name.as_str());
                    if note(&name, outcome).is_break() {
                        return;
                    }
                }
                files = 0;
            }
        }
    }

    fn delete_group<'o>(
        &self,
        group: Vec<Ready<'o>>,
        order: &Order<'_>,
    ) -> Vec<(RepositoryName, Outcome<'o>)> {
        let ready: Vec<_> = group.iter().filter_map(|(_, planned)| planned.as_ref().ok()).collect();
        let alone = |one: &&Planned<'_>| self.delete_alone(one, order);
        let outcomes = match &*ready {
            [one] => vec![alone(one)],
            // One by one, each error is that of its item, and the disk need not have room for all of them.
            all => self.replace(all, order).unwrap_or_else(|_| all.iter().map(alone).collect()),
        };
        let mut outcomes = outcomes.into_iter();
        let mut outcome_of = |planned: Planned<'o>| {
            let outcome = outcomes.next().unwrap_or(Err(RemovalError::Interrupted));
            outcome.map(|()| planned.plan)
        };
        group.into_iter().map(|(name, planned)| (name, planned.and_then(&mut outcome_of))).collect()
    }

    fn delete_alone(&self, planned: &Planned<'_>, order: &Order<'_>) -> Result<(), RemovalError> {
        let replaced = self.collection.with_reserve(|| self.replace(&[planned], order))?;
        replaced.into_iter().collect()
    }

    /// Swaps the items with their tombstones and stubs, and returns the outcome of each. An error of all of them left
    /// every item in place.
    fn replace(
        &self,
        group: &[&Planned<'_>],
        order: &Order<'_>,
    ) -> Result<Vec<Result<(), RemovalError>>, RemovalError> {
        let Remover { collection, writer, caller } = self;
        if group.is_empty() {
            return Ok(Vec::new());
        }
        if caller.interrupt.requested() {
            return Ok(group.iter().map(|_| Err(RemovalError::Interrupted)).collect());
        }
        let locks = self.lock(group)?;
        let _changing =
            writer.changing(collection, group.iter().map(|it| it.plan.name.clone()).collect());
        let mut outcomes = Vec::with_capacity(group.len());
        let mut replacing = Vec::new();
        for (at, planned) in group.iter().enumerate() {
            let after = self.remaining(planned, order);
            outcomes.push(match (as_planned(collection, &locks, planned), after) {
                (Ok(item), Ok((text, change))) => {
                    replacing.push((at, item, text, change));
                    Ok(())
                }
                (Err(error), _) | (_, Err(error)) => Err(error),
            });
        }
        let mut staged: Vec<StagedItem> = Vec::with_capacity(replacing.len());
        for (.., text, _) in &replacing {
            match writer.stage_tombstone(text) {
                Ok(tombstone) => staged.push(tombstone),
                Err(error) => {
                    for tombstone in &staged {
                        writer.discard(tombstone);
                    }
                    return Err(error.into());
                }
            }
        }
        let items: Vec<_> =
            staged.iter().zip(&replacing).map(|(staged, (_, item, ..))| (staged, item)).collect();
        let mut changes = Vec::with_capacity(replacing.len());
        let mut events = Vec::new();
        let now = caller.clock.now();
        let announced = writer.announce(replacing.iter().map(|(_, item, ..)| item.name()))?;
        let replaced = match writer.replace_items(&items) {
            Ok(replaced) => replaced,
            Err(error) => {
                announced.settle();
                return Err(error.into());
            }
        };
        let is_known = replaced.iter().all(Result::is_ok);
        for (replaced, (at, item, _, change)) in replaced.into_iter().zip(&replacing) {
            match replaced {
                Ok(()) => {
                    let event = Event::new(EventKind::Deletion, item.name(), now, caller.agent);
                    let before = group[*at].record.sidecar.payload.digest;
                    let note = order.reason.clone();
                    events.push(Event { note, ..event.with_digest_before(before) });
                    changes.push((item.name().clone(), change.clone()));
                }
                Err(error) => outcomes[*at] = Err(error.into()),
            }
        }
        // Deleted they are, even if that cannot be recorded now.
        let recorded =
            collection.with_reserve(|| collection.record(changes.iter().cloned(), caller.clock));
        match recorded {
            Ok(()) if is_known => announced.settle(),
            Ok(()) => {}
            Err(error) => {
                for (at, ..) in &replacing {
                    if outcomes[*at].is_ok() {
                        outcomes[*at] = Err(error.repeated("record in").into());
                    }
                }
            }
        }
        collection.note(&events);
        Ok(outcomes)
    }

    /// Locks the items, and the other holdings that prove their bytes.
    fn lock(&self, group: &[&Planned<'_>]) -> Result<ItemLocks, CollectionError> {
        let Remover { collection, caller, .. } = self;
        let ours = group.iter().map(|it| (*collection, &it.plan.name));
        let theirs = group.iter().filter_map(|it| {
            it.proof.as_ref().map(|proof| (proof.holding.collection, &it.plan.name))
        });
        lock_items_with(ours, theirs, caller.agent, &caller.waiter())
    }

    /// The sidecar of what remains of an item, and its line in the inventory.
    fn remaining(
        &self,
        planned: &Planned<'_>,
        order: &Order<'_>,
    ) -> Result<(NewText, InventoryChange), RemovalError> {
        let (collection, record) = (self.collection, &planned.record);
        let before = &record.sidecar;
        if planned.plan.step == Step::Drop {
            let stub = before.stub(before.custody.clone());
            let text = NewText::Held(stub.to_text().into_bytes());
            return Ok((text, InventoryChange::Became(Here::of(&stub))));
        }
        let mut after = before.clone();
        if planned.plan.step == Step::Bury {
            after.state = State::Deleted;
            after.timestamp = self.caller.clock.now().floor(SECOND).max(before.timestamp);
            after.custody = before.custody.passed_to(collection.id(), collection.custody_id()?);
            after.removal = Some(Removal {
                by: order.by.clone(),
                reason: reason(order.reason.as_deref(), record.seal),
                was: State::Original,
                updated: Some(before.timestamp),
            });
        }
        let text = record.rewritten(&planned.plan.name, &after)?;
        Ok((text, InventoryChange::became(&after)))
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
