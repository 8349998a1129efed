//! Deleting: groups of items are swapped with their tombstones and stubs.

use std::path::Path;

use super::plan::Planned;
use super::proof::Proof;
use super::{Note, Order, Plan, RemovalError, Remover, Step};
use crate::agent::Caller;
use crate::collection::{
    Change, ChangeLocks, Collection, CollectionError, Event, EventKind, Line, LockedItem, Lookup,
    Outcomes, Swap, Trashed, carry_out, lock_changes_with,
};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::sidecar::{NewText, Seal, Sidecar};

impl Remover<'_> {
    /// Deletes `names`, each once, in groups that share their syncs, and passes each outcome to `note`, in order, until that
    /// ends the run. On a full disk it uses the reserve.
    pub fn delete<'o>(
        &self,
        names: &[RepositoryName],
        order: &Order<'o>,
        note: &mut Note<'_, RepositoryName, Plan<'o>>,
    ) {
        let _ = carry_out(&Deletion { remover: self, order }, &self.caller, names, note);
    }
}

/// A deletion of items.
struct Deletion<'r, 'o> {
    remover: &'r Remover<'r>,
    order: &'r Order<'o>,
}

impl<'o> Change<&RepositoryName> for Deletion<'_, 'o> {
    type Planned = Planned<'o>;
    type Done = Plan<'o>;
    type Error = RemovalError;

    fn name<'w>(name: &'w &RepositoryName) -> &'w RepositoryName {
        name
    }

    fn interrupted() -> RemovalError {
        RemovalError::Interrupted
    }

    fn follow(&self) {
        self.order.sight.follow_with(self.remover.collection);
    }

    fn plan(&self, name: &&RepositoryName) -> Result<Planned<'o>, RemovalError> {
        let Remover { collection, caller: Caller { progress, interrupt, .. }, .. } = *self.remover;
        let item = collection.named_item(name)?;
        Planned::of(collection, &item, self.order, progress, interrupt)
    }

    fn files(planned: &Planned<'o>) -> u64 {
        planned.plan.files
    }

    /// Swaps the items with their tombstones and stubs, which are staged before the collection is locked.
    fn act(&self, group: &[(&&RepositoryName, &Planned<'o>)]) -> Outcomes<Plan<'o>, RemovalError> {
        let Remover { collection, caller, .. } = self.remover;
        let group: Vec<_> = group.iter().map(|(_, planned)| *planned).collect();
        let drafts = self.stage(&group)?;
        let locks = self.lock(&group).inspect_err(|_| {
            collection.remove_drafts(drafts.iter().map(|(entry, _)| entry));
        })?;
        let (mut outcomes, mut unused) = (Vec::new(), Vec::new());
        let (mut at_of, mut swaps) = (Vec::new(), Vec::new());
        let now = caller.clock.now();
        for (at, (planned, (entry, after))) in group.iter().zip(&drafts).enumerate() {
            outcomes.push(match as_planned(collection, &locks, planned) {
                Ok(item) => {
                    let event = Event::new(EventKind::Deletion, item.name(), now, caller.agent);
                    let event = event.with_digest_before(planned.record.sidecar.payload.digest);
                    let event = Event { note: self.order.reason.clone(), ..event };
                    let before = &planned.record.sidecar;
                    let mut line = Line::new(&planned.permit, before, after, event);
                    line.is_recorded = planned.is_recorded;
                    swaps.push(Swap { item, entry, line });
                    at_of.push(at);
                    Ok(planned.plan.clone())
                }
                Err(error) => {
                    unused.push(entry);
                    Err(error)
                }
            });
        }
        self.remover.swap(&locks, (&at_of, &swaps), &mut outcomes).inspect_err(|_| {
            collection.remove_drafts(drafts.iter().map(|(entry, _)| entry));
        })?;
        drop(swaps);
        drop(locks);
        collection.remove_drafts(unused);
        Ok(outcomes)
    }

    fn act_alone(&self, one: (&&RepositoryName, &Planned<'o>)) -> Outcomes<Plan<'o>, RemovalError> {
        self.remover.collection.with_reserve(|| self.act(&[one]))
    }
}

impl Deletion<'_, '_> {
    /// Stages what remains of each item in the trash, with its sidecar.
    fn stage(&self, group: &[&Planned<'_>]) -> Result<Vec<(Trashed, Sidecar)>, CollectionError> {
        let Remover { collection, writer, .. } = self.remover;
        let (mut staged, mut left) = (Vec::new(), Vec::new());
        let made = group.iter().try_for_each(|planned| {
            let (text, after) = self.remaining(planned)?;
            staged.push(writer.stage_tombstone(&text)?);
            left.push(after);
            Ok::<_, CollectionError>(())
        });
        let names = group.iter().map(|planned| &planned.plan.name);
        let entries =
            made.and_then(|()| Ok(writer.stage_in_trash(collection, staged.iter().zip(names))?));
        let entries = entries.inspect_err(|_| {
            for tombstone in &staged {
                writer.discard(tombstone);
            }
        })?;
        Ok(entries.into_iter().zip(left).collect())
    }

    /// Locks the collection, and those whose holdings prove the bytes of its items.
    fn lock(&self, group: &[&Planned<'_>]) -> Result<ChangeLocks, CollectionError> {
        let Remover { collection, caller, .. } = self.remover;
        let proofs = group.iter().filter_map(|planned| planned.proof.as_ref());
        let others = proofs.map(|proof| proof.holding.collection);
        lock_changes_with([*collection], others, caller.agent, &caller.waiter())
    }

    /// The sidecar of what remains of an item, and its text.
    fn remaining(&self, planned: &Planned<'_>) -> Result<(NewText, Sidecar), CollectionError> {
        let (order, record, permit) = (self.order, &planned.record, &planned.permit);
        let before = &record.sidecar;
        if planned.plan.step == Step::Drop {
            let stub = before.stub(permit.custody().clone());
            let text = NewText::Held(stub.to_text().into_bytes());
            return Ok((text, stub));
        }
        let by = || (order.by.clone(), reason(order.reason.as_deref(), record.seal));
        let after = if let Some(deleted) = planned.deleted {
            // The date is part of the rank.
            Sidecar { timestamp: deleted, ..before.deleted(permit, deleted, by()) }
        } else if planned.plan.step == Step::Delete {
            before.deleted(permit, self.remover.caller.clock.now(), by())
        } else {
            before.clone()
        };
        Ok((record.rewritten(&planned.plan.name, &after)?, after))
    }
}

/// The locked item, if it and the other holding are unchanged.
fn as_planned<'l>(
    collection: &'l Collection,
    locks: &'l ChangeLocks,
    planned: &Planned<'_>,
) -> Result<LockedItem<'l>, RemovalError> {
    let name = &planned.plan.name;
    let changed =
        |path: &Path| CollectionError::Changed { name: name.clone(), path: path.to_path_buf() };
    if let Some(Proof { holding, version }) = &planned.proof {
        let now = holding.collection.item(name).and_then(|item| Ok(item.has_version(*version)?));
        match now {
            Ok(true) => {}
            Err(CollectionError::Disk(error)) => return Err(error.into()),
            _ => return Err(changed(holding.collection.path()).into()),
        }
    }
    let Some(item) = locks.item(&Lookup::new(collection), name)? else {
        return Err(collection.absent(name).into());
    };
    if item.has_version(planned.record.version)? {
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
