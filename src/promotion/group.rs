//! Many items at once: decided and verified one by one, then locked, decided again and changed together.

use std::ops::ControlFlow;

use super::{Change, Loss, PromotionError, Registrar};
use crate::agent::Caller;
use crate::collection::{
    ChangeLocks, Collection, CollectionError, Event, EventKind, Here, Lookup, ReadSidecar,
    StoredItem, Writer, items_at_a_time, lock_changes_with,
};
use crate::custody::{self, Custody, Has};
use crate::holdings::{Sight, with_line};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::sidecar::{Sidecar, SidecarText};
use crate::verify::{self, Depth, ProofError};

/// Receives the outcome for each item, in order, and returns whether to go on.
pub type Report<'r> =
    dyn FnMut(&RepositoryName, Result<Change, PromotionError>) -> ControlFlow<()> + 'r;

/// The decision about an item, by the holdings in sight.
struct Decision<'c> {
    item: StoredItem,
    read: ReadSidecar,
    /// The new custody; `None` if nothing in sight disagrees with the Original here.
    custody: Option<Custody>,
    /// The other collections that hold the item.
    holders: Vec<&'c Collection>,
}

/// A whole item, and the decision about it.
struct Proven<'c> {
    name: RepositoryName,
    text: SidecarText,
    holders: Vec<&'c Collection>,
}

impl Registrar<'_> {
    /// Makes the items called `names` Originals, several with the same syncs.
    pub fn promote_all(
        &self,
        names: &[RepositoryName],
        loss: &Loss<'_>,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        for names in names.chunks(items_at_a_time()) {
            let (mut outcomes, mut proven) = (Vec::new(), Vec::new());
            for name in names {
                outcomes.push(self.prove(name, loss).map(|it| match it {
                    Some(it) => {
                        proven.push((outcomes.len(), it));
                        Change::Promoted
                    }
                    None => Change::Nothing,
                }));
            }
            if let Some(writer) = self.writer {
                self.change_proven(writer, proven, loss, &mut outcomes);
            }
            for (name, outcome) in names.iter().zip(outcomes) {
                self.caller.progress.finish_item(name.as_str());
                report(name, outcome)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Decides about an item, and verifies it from its disk; `None` if nothing is to be done.
    fn prove<'l>(
        &self,
        name: &RepositoryName,
        loss: &Loss<'l>,
    ) -> Result<Option<Proven<'l>>, PromotionError> {
        let Caller { progress, interrupt, .. } = &self.caller;
        if interrupt.requested() {
            return Err(PromotionError::Interrupted);
        }
        let Decision { item, read, custody, holders } = self.decide(name, loss)?;
        if custody.is_none() {
            return Ok(None);
        }
        let proof = verify::prove(&item, Depth::FromDisk, *progress, interrupt);
        proof.map_err(|error| match error {
            ProofError::Damaged { summary, .. } => {
                let (name, path) = (item.name().clone(), self.collection.path().to_path_buf());
                PromotionError::Damaged { name, path, summary }
            }
            ProofError::Disk(error) => error.into(),
            ProofError::Interrupted => PromotionError::Interrupted,
        })?;
        Ok(Some(Proven { name: item.name().clone(), text: read.text, holders }))
    }

    fn decide<'l>(
        &self,
        name: &RepositoryName,
        loss: &Loss<'l>,
    ) -> Result<Decision<'l>, PromotionError> {
        let item = self.collection.named_item(name)?;
        let read = item.read_sidecar()?;
        let own = item.holding(&read, self.collection.id())?;
        let mut seen = with_line(self.collection, item.name(), &own)?;
        let mut holders = Vec::new();
        for other in loss.others {
            let found = Sight::of(name, &[other]).whole()?;
            holders.extend(found.iter().any(custody::Holding::is_in_place).then_some(other));
            seen.extend(found);
        }
        let is_settled = own.is_original()
            && custody::highest(&seen).is_some_and(|top| own.covers(top))
            && seen
                .iter()
                .all(|it| !(it.has_payload() || it.has == Has::Tombstone) || own.covers(it));
        if is_settled {
            return Ok(Decision { item, read, custody: None, holders });
        }
        let lost: Vec<_> = loss.collections.iter().map(String::as_str).collect();
        let taken = custody::promote(&own, &seen, &lost, loss.discard).map_err(|refusal| {
            let (name, path) = (item.name().clone(), self.collection.path().to_path_buf());
            PromotionError::Refused { name, refusal: Box::new(refusal), path }
        })?;
        let highest = seen.iter().map(|it| it.custody.epoch()).max().unwrap_or_default();
        let id = self.collection.custody_id()?;
        let custody = own.custody.promoted(self.collection.id(), id, highest, &taken);
        Ok(Decision { item, read, custody: Some(custody), holders })
    }

    /// Locks the collection and those that hold the items, and changes the items.
    fn change_proven<'l>(
        &self,
        writer: &Writer,
        proven: Vec<(usize, Proven<'l>)>,
        loss: &Loss<'l>,
        outcomes: &mut [Result<Change, PromotionError>],
    ) {
        if proven.is_empty() {
            return;
        }
        let others = proven.iter().flat_map(|(_, it)| it.holders.iter().copied());
        let waiter = self.caller.waiter();
        match lock_changes_with([self.collection], others, self.caller.agent, &waiter) {
            Ok(locks) => self.change_locked((writer, &locks), proven, loss, outcomes),
            Err(error) => fail(proven.iter().map(|(at, _)| *at), error.into(), outcomes),
        }
    }

    fn change_locked(
        &self,
        (writer, locks): (&Writer, &ChangeLocks),
        proven: Vec<(usize, Proven<'_>)>,
        loss: &Loss<'_>,
        outcomes: &mut [Result<Change, PromotionError>],
    ) {
        let lookup = Lookup::new(self.collection);
        let (mut texts, mut events, mut ready) = (vec![], vec![], vec![]);
        for (at, Proven { name, text, .. }) in proven {
            let changed = self.decide(&name, loss).and_then(|decision| {
                let Decision { read, custody, .. } = decision;
                let item = locks.item(&lookup, &name)?;
                let item = item.ok_or_else(|| self.collection.absent(&name))?;
                let Some(custody) = custody.filter(|_| read.text == text) else {
                    let path = self.collection.path().to_path_buf();
                    return Err(CollectionError::Changed { name: name.clone(), path }.into());
                };
                let before = read.sidecar.custody.holder().to_owned();
                let after = Sidecar { state: State::Original, custody, ..read.sidecar.clone() };
                let text = read.rewritten(&name, &after)?;
                Ok((item, text, after, before))
            });
            match changed {
                Ok((item, text, after, before)) => {
                    texts.push((item, text));
                    events.push(self.event(&name, &after, before, loss));
                    ready.push(at);
                }
                Err(error) => outcomes[at] = Err(error),
            }
        }
        let announced = writer.announce(texts.iter().map(|(item, _)| item.name()));
        let done = announced.and_then(|announced| {
            writer.replace_sidecars(&texts)?;
            self.collection.record(locks, &events)?;
            announced.settle();
            Ok(())
        });
        if let Err(error) = done {
            fail(ready.into_iter(), error.into(), outcomes);
        }
    }

    fn event(
        &self,
        name: &RepositoryName,
        after: &Sidecar,
        from: String,
        loss: &Loss<'_>,
    ) -> Event {
        let now = self.caller.clock.now();
        let event = Event::new(EventKind::Promotion, name, now, self.caller.agent);
        let event = event.with_digest(after.payload.digest).leaving(Here::of(after));
        Event { note: Some(loss.reason.to_owned()), from: Some(from), ..event }
    }
}

/// The first of these items fails with `error`, the others with it.
fn fail(
    items: impl Iterator<Item = usize>,
    error: PromotionError,
    outcomes: &mut [Result<Change, PromotionError>],
) {
    let mut error = Some(error);
    for at in items {
        outcomes[at] = Err(error.take().unwrap_or(PromotionError::GroupFailed));
    }
}
