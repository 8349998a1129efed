//! Many items at once: decided and verified one by one, then locked and decided again.

use std::ops::ControlFlow;

use super::Change::{Nothing, Promoted};
use super::{Loss, PromotionError, Registrar};
use crate::agent::Caller;
use crate::collection::{
    Change, ChangeLocks, Collection, CollectionError, Event, EventKind, Lookup, Outcomes,
    ReadSidecar, Rewrite, StoredItem, carry_out, lock_changes_with,
};
use crate::custody::{self, Has, Permit};
use crate::holdings::with_line_read;
use crate::identity::RepositoryName;
use crate::item::State;
use crate::sidecar::{Sidecar, SidecarText};
use crate::verify::{self, Depth, ProofError};

/// Receives the outcome for each item, in order, and returns whether to go on.
pub type Report<'r> =
    dyn FnMut(&RepositoryName, Result<super::Change, PromotionError>) -> ControlFlow<()> + 'r;

/// The decision about an item, by the holdings in sight.
struct Decision<'c> {
    item: StoredItem,
    read: ReadSidecar,
    /// `None` if nothing in sight disagrees with the Original here.
    permit: Option<Permit>,
    /// The other collections that hold the item.
    holders: Vec<&'c Collection>,
}

/// A whole item, and the decision about it.
struct Proven<'c> {
    name: RepositoryName,
    text: SidecarText,
    holders: Vec<&'c Collection>,
}

/// Promotions by the statement of a person.
struct Promoting<'r, 'l> {
    registrar: &'r Registrar<'r>,
    loss: &'r Loss<'l>,
}

impl Registrar<'_> {
    /// Makes the items called `names` Originals, several with the same syncs.
    pub fn promote_all(
        &self,
        names: &[RepositoryName],
        loss: &Loss<'_>,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        carry_out(&Promoting { registrar: self, loss }, &self.caller, names, report)
    }

    /// Decides about an item, and verifies it from its disk; `None` if nothing is to be done.
    fn prove<'l>(
        &self,
        name: &RepositoryName,
        loss: &Loss<'l>,
    ) -> Result<Option<Proven<'l>>, PromotionError> {
        let Caller { progress, interrupt, .. } = &self.caller;
        let Decision { item, read, permit, holders } = self.decide(name, loss)?;
        if permit.is_none() {
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
        let mut seen = with_line_read(self.collection, item.name(), &own)?;
        let elsewhere = loss.sight.see(name, &own.at);
        let is_holder = |other: &&Collection| {
            elsewhere.iter().any(|it| it.is_in_place() && it.at == other.id())
        };
        let holders = loss.sight.neighbours().iter().copied().filter(is_holder).collect();
        seen.extend(elsewhere);
        let is_settled = own.is_original()
            && custody::highest(&seen).is_some_and(|top| own.covers(top))
            && seen
                .iter()
                .all(|it| !(it.has_payload() || it.has == Has::Tombstone) || own.covers(it));
        if is_settled {
            return Ok(Decision { item, read, permit: None, holders });
        }
        let lost: Vec<_> = loss.collections.iter().map(String::as_str).collect();
        let id = self.collection.custody_id()?;
        let permit = Permit::promote(&own, &seen, (&lost, loss.discard), id);
        let permit = permit.map_err(|refusal| {
            let (name, path) = (item.name().clone(), self.collection.path().to_path_buf());
            let refusal = Box::new(loss.sight.named(&[self.collection], refusal));
            PromotionError::Refused { name, refusal, path }
        })?;
        Ok(Decision { item, read, permit: Some(permit), holders })
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
        let event = event.with_digest(after.payload.digest);
        Event { note: Some(loss.reason.to_owned()), from: Some(from), ..event }
    }
}

impl<'l> Change<&RepositoryName> for Promoting<'_, 'l> {
    /// `None` if nothing is to be done.
    type Planned = Option<Proven<'l>>;
    type Done = super::Change;
    type Error = PromotionError;

    fn name<'w>(name: &'w &RepositoryName) -> &'w RepositoryName {
        name
    }

    fn interrupted() -> PromotionError {
        PromotionError::Interrupted
    }

    fn follow(&self) {
        self.loss.sight.follow_with(self.registrar.collection);
    }

    fn plan(&self, name: &&RepositoryName) -> Result<Option<Proven<'l>>, PromotionError> {
        self.registrar.prove(name, self.loss)
    }

    /// Locks the collection and those that hold the items, and changes the items.
    fn act(
        &self,
        group: &[(&&RepositoryName, &Option<Proven<'l>>)],
    ) -> Outcomes<super::Change, PromotionError> {
        let Registrar { collection, writer, caller } = self.registrar;
        let done = |proven: &Option<_>| proven.as_ref().map_or(Nothing, |_| Promoted);
        let mut outcomes: Vec<_> = group.iter().map(|(_, proven)| Ok(done(proven))).collect();
        let proven = group.iter().enumerate();
        let proven: Vec<_> =
            proven.filter_map(|(at, (_, proven))| Some((at, proven.as_ref()?))).collect();
        let Some(writer) = writer.filter(|_| !proven.is_empty()) else { return Ok(outcomes) };
        let others = proven.iter().flat_map(|(_, it)| it.holders.iter().copied());
        let locks = lock_changes_with([*collection], others, caller.agent, &caller.waiter())?;
        let lookup = Lookup::new(collection);
        let (mut at_of, mut rewrites) = (Vec::new(), Vec::new());
        for (at, proven) in proven {
            match self.rewrite((&locks, &lookup), proven) {
                Ok(rewrite) => {
                    at_of.push(at);
                    rewrites.push(rewrite);
                }
                Err(error) => outcomes[at] = Err(error),
            }
        }
        for (at, end) in at_of.into_iter().zip(writer.rewrite(&locks, &rewrites)?) {
            outcomes[at] = end.map(|()| Promoted).map_err(PromotionError::from);
        }
        Ok(outcomes)
    }
}

impl Promoting<'_, '_> {
    /// The change of an item that is as it was proven, by what is in sight now.
    fn rewrite<'k>(
        &self,
        (locks, lookup): (&'k ChangeLocks, &Lookup<'k>),
        Proven { name, text, .. }: &Proven<'_>,
    ) -> Result<Rewrite<'k>, PromotionError> {
        let Promoting { registrar, loss } = self;
        let Decision { read, permit, .. } = registrar.decide(name, loss)?;
        let item = locks.item(lookup, name)?;
        let item = item.ok_or_else(|| registrar.collection.absent(name))?;
        let Some(permit) = permit.filter(|_| read.text == *text) else {
            let path = registrar.collection.path().to_path_buf();
            return Err(CollectionError::Changed { name: name.clone(), path }.into());
        };
        let before = read.sidecar.custody.holder().to_owned();
        let after = Sidecar { state: State::Original, ..read.sidecar.clone() };
        let event = registrar.event(name, &after, before, loss);
        Ok(Rewrite::new(item, &read, (&permit, after), event)?)
    }
}
