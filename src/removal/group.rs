//! Changing many items in groups, which share their locks and syncs.

use super::{Note, RemovalError, Remover};
use crate::agent::Caller;
use crate::collection::{
    ChangeLocks, CollectionError, Event, LockedItem, Trashed, items_at_a_time, replace,
};
use crate::disk::PathError;
use crate::identity::RepositoryName;

/// Limit on the files of the items of one group: the lists of their files are in memory.
const MOST_FILES: u64 = 1 << 16;

/// The outcome of each item of a group.
pub(super) type Outcomes<D> = Result<Vec<Result<D, RemovalError>>, RemovalError>;

/// A planned item of a group, or why it stays.
type Ready<'n, C> = (&'n RepositoryName, Result<<C as Change>::Planned, RemovalError>);

/// A change of items: planned without a lock, one after the other, and carried out for a group.
pub(super) trait Change {
    /// An item that can be changed.
    type Planned;
    /// The outcome of an item.
    type Done;

    /// Plans the change of an item.
    fn plan(&self, name: &RepositoryName) -> Result<Self::Planned, RemovalError>;

    /// The files of a planned item.
    fn files(planned: &Self::Planned) -> u64;

    /// Changes the items of a group, and returns the outcome of each. An error of all of them left every item in place.
    fn act(&self, group: &[&Self::Planned]) -> Outcomes<Self::Done>;
}

/// An item under its lock, and the entry of the trash that is to be in its place.
pub(super) struct Swap<'a> {
    /// The place of the item in its group.
    pub at: usize,
    pub item: LockedItem<'a>,
    pub entry: &'a Trashed,
    /// The line of the ledger.
    pub event: Event,
}

impl Remover<'_> {
    /// Swaps items with entries of the trash, durably, and records that. An item that was not swapped has the reason in
    /// `outcomes`. An error left all of them in place.
    pub(super) fn swap<D>(
        &self,
        locks: &ChangeLocks,
        swaps: Vec<Swap<'_>>,
        outcomes: &mut [Result<D, RemovalError>],
    ) -> Result<(), PathError> {
        let announced = self.writer.announce(swaps.iter().map(|it| it.item.name()))?;
        let items: Vec<_> = swaps.iter().map(|it| (it.entry, &it.item)).collect();
        let swapped = replace(self.collection, &items);
        let (mut events, mut at_of, wanted) = (Vec::new(), Vec::new(), swaps.len());
        for (swapped, Swap { at, event, .. }) in swapped.into_iter().zip(swaps) {
            match swapped {
                Ok(()) => {
                    events.push(event);
                    at_of.push(at);
                }
                Err(error) => outcomes[at] = Err(error.into()),
            }
        }
        // They are swapped, even if that cannot be recorded now.
        match self.collection.with_reserve(|| self.collection.record(locks, &events)) {
            Ok(()) if events.len() == wanted => announced.settle(),
            Ok(()) => {}
            Err(error) => {
                for at in at_of {
                    outcomes[at] = Err(error.repeated("record in").into());
                }
            }
        }
        Ok(())
    }

    /// Changes `names`, each once, and passes each outcome to `note`, in order, until that ends the run. On a full disk it
    /// uses the reserve.
    pub(super) fn carry_out<C: Change>(
        &self,
        change: &C,
        names: &[RepositoryName],
        note: &mut Note<'_, RepositoryName, C::Done>,
    ) {
        let Caller { progress, interrupt, .. } = self.caller;
        let (mut group, mut files) = (Vec::new(), 0);
        for (at, name) in names.iter().enumerate() {
            let planned = if interrupt.requested() {
                Err(RemovalError::Interrupted)
            } else {
                change.plan(name)
            };
            files += planned.as_ref().map_or(0, C::files);
            let ends = planned.is_err() || at + 1 == names.len();
            group.push((name, planned));
            if ends || group.len() >= items_at_a_time() || files >= MOST_FILES {
                for (name, outcome) in self.carry_out_group(change, std::mem::take(&mut group)) {
                    progress.finish_item(name.as_str());
                    if note(name, outcome).is_break() {
                        return;
                    }
                }
                files = 0;
            }
        }
    }

    fn carry_out_group<'n, C: Change>(
        &self,
        change: &C,
        group: Vec<Ready<'n, C>>,
    ) -> Vec<(&'n RepositoryName, Result<C::Done, RemovalError>)> {
        let ready: Vec<_> = group.iter().filter_map(|(_, planned)| planned.as_ref().ok()).collect();
        let interrupted = || Err(RemovalError::Interrupted);
        let alone = |one: &&C::Planned| {
            let done = self.collection.with_reserve(|| change.act(&[one]))?;
            done.into_iter().next().unwrap_or_else(interrupted)
        };
        let outcomes = match &*ready {
            [] => Vec::new(),
            all if self.caller.interrupt.requested() => all.iter().map(|_| interrupted()).collect(),
            [one] => vec![alone(one)],
            all => match change.act(all) {
                Ok(outcomes) => outcomes,
                // One by one, each would wait for the same lock.
                Err(RemovalError::Collection(CollectionError::Locked { collection, cause })) => {
                    let locked = |_| {
                        let (collection, cause) = (collection.clone(), cause.clone());
                        Err(CollectionError::Locked { collection, cause }.into())
                    };
                    all.iter().map(locked).collect()
                }
                // One by one, each error is that of its item, and the disk need not have room for all of them.
                Err(_) => all.iter().map(alone).collect(),
            },
        };
        let mut outcomes = outcomes.into_iter();
        let mut outcome = |_| outcomes.next().unwrap_or_else(interrupted);
        group.into_iter().map(|(name, planned)| (name, planned.and_then(&mut outcome))).collect()
    }
}
