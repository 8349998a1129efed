//! Many items at once: planned and verified one by one, then locked, planned again and changed together.

use std::ops::ControlFlow;

use super::{Change, PromotionError, Registrar};
use crate::collection::{
    Collection, CollectionError, Departure, Event, InventoryChange, ItemLocks, LockedItem, Lookup,
    ReadSidecar, StoredItem, Writer, items_at_a_time,
};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::sidecar::{NewText, Sidecar, SidecarText};

/// Receives the outcome for each item, in order, and returns whether to go on.
pub type Report<'r> =
    dyn FnMut(&RepositoryName, Result<Change, PromotionError>) -> ControlFlow<()> + 'r;

/// The decision about an item, by the present sidecars.
pub(super) struct Decision<'c> {
    pub item: StoredItem,
    pub read: ReadSidecar,
    pub step: Step<'c>,
    /// The item of another collection that has to be whole; by default, the item itself.
    pub witness: Option<(StoredItem, ReadSidecar)>,
    /// The other collections that hold the item.
    pub holders: Vec<&'c Collection>,
    /// The event for the log.
    pub event: Event,
}

/// The change of an item.
pub(super) enum Step<'c> {
    /// An earlier run has done it, and may have been killed before it recorded this state.
    Nothing(State),
    /// It gets this sidecar.
    Replace(Box<Sidecar>, Change),
    /// It moves to the trash, because this collection has another one.
    Discard(&'c Collection),
}

impl Step<'_> {
    fn change(&self) -> Change {
        match self {
            Step::Nothing(_) => Change::Nothing,
            Step::Replace(_, change) => *change,
            Step::Discard(_) => Change::Discarded,
        }
    }
}

/// A whole item, and the decision about it.
struct Proven<'c> {
    name: RepositoryName,
    change: Change,
    texts: (SidecarText, Option<SidecarText>),
    holders: Vec<&'c Collection>,
}

impl Decision<'_> {
    fn texts(self) -> (SidecarText, Option<SidecarText>) {
        (self.read.text, self.witness.map(|(_, read)| read.text))
    }
}

/// Decides about the item of a name; `None` if an earlier run has removed it.
pub(super) type Decide<'d, 'c> =
    dyn Fn(&RepositoryName) -> Result<Option<Decision<'c>>, PromotionError> + 'd;

impl Registrar<'_> {
    /// Changes items, several with the same syncs, as `decide` decides before and after each is locked.
    pub(super) fn change_all(
        &self,
        names: &[RepositoryName],
        decide: &Decide<'_, '_>,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        for names in names.chunks(items_at_a_time()) {
            let (mut outcomes, mut proven) = (Vec::new(), Vec::new());
            for name in names {
                outcomes.push(self.prove_decided(name, decide).map(|it| {
                    it.map_or(Change::Nothing, |it| {
                        let change = it.change;
                        proven.push((outcomes.len(), it));
                        change
                    })
                }));
            }
            if let Some(writer) = self.writer {
                self.change_proven(writer, proven, decide, &mut outcomes);
            }
            for (name, outcome) in names.iter().zip(outcomes) {
                self.caller.progress.finish_item(name.as_str());
                report(name, outcome)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn prove_decided<'c>(
        &self,
        name: &RepositoryName,
        decide: &Decide<'_, 'c>,
    ) -> Result<Option<Proven<'c>>, PromotionError> {
        if self.caller.interrupt.requested() {
            return Err(PromotionError::Interrupted);
        }
        let Some(mut decision) = decide(name)? else { return Ok(None) };
        let change = decision.step.change();
        if change != Change::Nothing {
            match (&decision.witness, &decision.holders[..]) {
                (Some((item, _)), [collection, ..]) => self.prove(collection, item)?,
                _ => self.prove(self.collection, &decision.item)?,
            }
        }
        let holders = std::mem::take(&mut decision.holders);
        let name = decision.item.name().clone();
        Ok(Some(Proven { name, change, texts: decision.texts(), holders }))
    }

    /// Locks items and changes them. If one is locked by another process, the others go one by one.
    fn change_proven<'c>(
        &self,
        writer: &Writer,
        proven: Vec<(usize, Proven<'c>)>,
        decide: &Decide<'_, 'c>,
        outcomes: &mut [Result<Change, PromotionError>],
    ) {
        let held =
            proven.iter().flat_map(|(_, it)| it.holders.iter().map(|other| (*other, &it.name)));
        match self.lock(proven.iter().map(|(_, it)| &it.name), held) {
            Ok(locks) => self.change_locked((writer, &locks), proven, decide, outcomes),
            Err(CollectionError::ItemLocked { .. }) if proven.len() > 1 => {
                for item in proven {
                    self.change_proven(writer, vec![item], decide, outcomes);
                }
            }
            Err(error) => fail(proven.iter().map(|(at, _)| *at), error.into(), outcomes),
        }
    }

    fn change_locked<'c>(
        &self,
        (writer, locks): (&Writer, &ItemLocks),
        proven: Vec<(usize, Proven<'c>)>,
        decide: &Decide<'_, 'c>,
        outcomes: &mut [Result<Change, PromotionError>],
    ) {
        let names = proven.iter().map(|(_, it)| it.name.clone()).collect();
        let _changing = writer.changing(self.collection, names);
        let lookup = Lookup::new(self.collection);
        let (mut texts, mut records, mut events, mut ready) = (vec![], vec![], vec![], vec![]);
        for (at, proven) in proven {
            match self.decide_again((locks, &lookup), &proven, decide) {
                Ok(Again::Gone) => outcomes[at] = Ok(Change::Nothing),
                Ok(Again::Recorded(state)) => {
                    records.push((proven.name, InventoryChange::Became(state)));
                    ready.push(at);
                    outcomes[at] = Ok(Change::Nothing);
                }
                Ok(Again::Text(item, text, state, event)) => {
                    texts.push((item, text));
                    records.push((proven.name, InventoryChange::Became(state)));
                    events.push(event);
                    ready.push(at);
                }
                Ok(Again::Discard(item, original, event)) => match self.discard(item, original) {
                    // This one is done, even if others fail.
                    Ok(()) => self.collection.note(&[event]),
                    Err(error) => outcomes[at] = Err(error),
                },
                Err(error) => outcomes[at] = Err(error),
            }
        }
        let replaced = writer.replace_sidecars(&texts);
        match replaced.and_then(|()| self.collection.record(records, self.caller.clock)) {
            Ok(()) => self.collection.note(&events),
            Err(error) => fail(ready.into_iter(), error.into(), outcomes),
        }
    }

    /// Decides once more, now that the item is locked.
    fn decide_again<'c, 'l>(
        &self,
        (locks, lookup): (&'l ItemLocks, &Lookup<'l>),
        proven: &Proven<'c>,
        decide: &Decide<'_, 'c>,
    ) -> Result<Again<'c, 'l>, PromotionError> {
        let Some(decision) = decide(&proven.name)? else { return Ok(Again::Gone) };
        let item = locks.item(lookup, &proven.name)?;
        let item = item.ok_or_else(|| self.collection.absent(&proven.name))?;
        let step = match decision.step {
            Step::Nothing(state) => return Ok(Again::Recorded(state)),
            step => step,
        };
        let witness = decision.witness.as_ref().map(|(_, read)| &read.text);
        if step.change() != proven.change
            || (&decision.read.text, witness) != (&proven.texts.0, proven.texts.1.as_ref())
        {
            let (name, path) = (proven.name.clone(), self.collection.path().to_path_buf());
            return Err(CollectionError::Changed { name, path }.into());
        }
        match step {
            Step::Replace(after, _) => {
                let text = decision.read.rewritten(&proven.name, &after)?;
                Ok(Again::Text(item, text, after.state, decision.event))
            }
            Step::Discard(original) => Ok(Again::Discard(item, original, decision.event)),
            Step::Nothing(state) => Ok(Again::Recorded(state)),
        }
    }

    /// Moves an item to the trash because of the Original in `original`.
    fn discard(&self, item: LockedItem<'_>, original: &Collection) -> Result<(), PromotionError> {
        let name = &item.name().clone();
        let left = InventoryChange::Left(Departure::Dropped(original.reference()));
        let clock = self.caller.clock;
        let before = self.collection.last_record(name)?.map(|recorded| recorded.line.change);
        let gone =
            self.collection.record([(name.clone(), left)], clock).and_then(|()| item.throw_away());
        let Err(error) = gone else { return Ok(()) };
        if self.collection.item(name).is_ok() {
            // An item that was put back by hand had left before.
            let before = before.unwrap_or(InventoryChange::Entered(State::Original));
            let is_here = (name.clone(), before);
            if let Err(source) = self.collection.record_staying(&[is_here], clock) {
                return Err(PromotionError::NotTakenBack { name: name.clone(), source });
            }
        }
        Err(error.into())
    }
}

/// The remaining change of a locked item.
enum Again<'c, 'l> {
    /// None: another run has removed it.
    Gone,
    Recorded(State),
    Text(LockedItem<'l>, NewText, State, Event),
    Discard(LockedItem<'l>, &'c Collection, Event),
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
