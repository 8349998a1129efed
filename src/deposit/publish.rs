//! Publishing a group that is on the disk: put in place item by item, and the directories synced that got
//! them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::error::in_words;
use super::given::{check_ibip, check_name};
use super::group::{LabeledItem, Publishable};
use super::source_removal::SourceRemover;
use super::{DepositError, DepositTarget, Outcome};
use crate::clock::Clock;
use crate::collection::{
    Arriving, Collection, Event, EventKind, GroupFailure, IndexUpdate, InventoryChange, Lookup,
    StagedItem, Writer, Year, lock_items_with,
};
use crate::disk::{PathError, descriptor_limit};
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::item::State;
use crate::layout;
use crate::wait::Waiter;

/// Where and with what a group is published.
pub(super) struct Publisher<'a> {
    pub collection: &'a Collection,
    pub place: &'a DepositTarget<'a>,
    pub writer: &'a Writer,
    pub clock: &'a dyn Clock,
    /// Finds the items that have the names of new ones.
    pub lookup: &'a Lookup<'a>,
    /// Removes the sources of new items, if that was asked for.
    pub remover: Option<SourceRemover<'a>>,
    /// How long to wait for the locks of names that items bring with them.
    pub wait: Duration,
    pub interrupt: &'a Interrupt,
}

impl Publisher<'_> {
    /// Publishes items that were synced: all are durable when this returns, or each has the reason why not.
    ///
    /// The error is one that later groups would meet as well.
    pub(super) fn publish(
        &self,
        mut ready: Vec<Publishable>,
        outcomes: &mut Vec<Outcome>,
    ) -> Option<DepositError> {
        self.take_out_broken_streams(&mut ready, outcomes);
        if ready.is_empty() {
            return None;
        }
        let mut changing = self.announce(&ready);
        let mut named = Vec::with_capacity(ready.len());
        for Publishable { named: one, record } in ready {
            if let Some(record) = record {
                changing.will_be(&one.label.name, record);
            }
            named.push(one);
        }
        let mut placed = Vec::new();
        let fatal = self.place_all(named, &mut placed, outcomes);
        drop(changing);
        self.note(&placed);
        outcomes.extend(placed.into_iter().map(|named| self.finish(named)));
        fatal
    }

    /// Ends with the streams, if a stop was asked for.
    ///
    /// What stops this run stops who writes the stream as well (Ctrl-C in a pipeline), and an end for that
    /// reason looks like any other. It is looked at here, last, as the request may be heard later than the
    /// end of the stream: the thread that called [`run`](super::Depositor::run), which is this one, is the
    /// one that handles signals.
    fn take_out_broken_streams(&self, ready: &mut Vec<Publishable>, outcomes: &mut Vec<Outcome>) {
        if self.interrupt.requested() {
            let broken = ready.extract_if(.., |it| it.named.staged.is_stream);
            outcomes.extend(broken.map(|it| it.named.staged.fails(DepositError::Interrupted)));
        }
    }

    /// Tells the index, if there is one.
    fn announce(&self, ready: &[Publishable]) -> IndexUpdate<'_> {
        let names = ready.iter().map(|it| it.named.label.name.clone()).collect();
        self.writer.adding(self.collection, names)
    }

    /// Notes the new items in the event log.
    fn note(&self, placed: &[LabeledItem]) {
        let now = self.clock.now();
        let of = |it: &LabeledItem| {
            Event::new(EventKind::Ingestion, &it.label.name, now, self.writer.agent())
                .with_digest(it.staged.payload.digest)
        };
        self.collection.note(&placed.iter().map(of).collect::<Vec<_>>());
    }

    /// Ends with an item, whose source is no longer needed.
    fn finish(&self, named: LabeledItem) -> Outcome {
        let mut deposited = named.deposited();
        let LabeledItem { staged, label } = named;
        if let Some(remover) = &self.remover {
            let kept = remover.remove_all(&staged, &label.name);
            deposited.left = kept.iter().map(|it| in_words(it)).collect();
        }
        Outcome { number: staged.number, source: staged.source, result: Ok(deposited) }
    }

    /// Puts synced items in place and syncs the directories that got them.
    fn place_all(
        &self,
        named: Vec<LabeledItem>,
        placed: &mut Vec<LabeledItem>,
        outcomes: &mut Vec<Outcome>,
    ) -> Option<DepositError> {
        let mut by_year: BTreeMap<PathBuf, Vec<LabeledItem>> = BTreeMap::new();
        for named in named {
            match self.year_of(&named) {
                Ok(year) => by_year.entry(year).or_default().push(named),
                Err(error) => outcomes.push(named.staged.fails(error)),
            }
        }
        let mut fatal = None;
        for (year, items) in by_year {
            let is_new = items.iter().all(|it| it.staged.given.label.is_none());
            let dir = if is_new {
                self.collection.ensure_year(&year)
            } else {
                self.collection.year_of_arrivals(&year)
            };
            match dir {
                Ok(dir) => {
                    let (mut rest, new): (Vec<_>, Vec<_>) =
                        items.into_iter().partition(|it| it.staged.given.label.is_some());
                    fatal = self.place_in(&dir, new, placed, outcomes).or(fatal);
                    while !rest.is_empty() {
                        let more = rest.split_off(rest.len().min(self.names_at_a_time()));
                        let items = std::mem::replace(&mut rest, more);
                        fatal = self.place_in(&dir, items, placed, outcomes).or(fatal);
                    }
                }
                Err(error) => {
                    outcomes.extend(items.into_iter().map(group_failed));
                    fatal = Some(error.into());
                }
            }
        }
        fatal
    }

    /// The directory that an item goes into: one with a name of elsewhere where its prefix is, however
    /// that is spelt.
    fn year_of(&self, named: &LabeledItem) -> Result<PathBuf, PathError> {
        let name = &named.label.name;
        if named.staged.given.label.is_some() {
            return Ok(self.lookup.place_of(name)?.0);
        }
        Ok(layout::item_place(name).0)
    }

    /// Items with names of elsewhere that are put in place together: all of a group, unless a process may have too
    /// few files open for all locks on items that there are.
    fn names_at_a_time(&self) -> usize {
        const ITEM_LOCKS: usize = 256;
        let spare = descriptor_limit() / 4 / (1 + self.place.peers().len());
        if spare >= ITEM_LOCKS { usize::MAX } else { spare.max(1) }
    }

    fn place_in(
        &self,
        year: &Year<'_>,
        items: Vec<LabeledItem>,
        placed: &mut Vec<LabeledItem>,
        outcomes: &mut Vec<Outcome>,
    ) -> Option<DepositError> {
        if items.is_empty() {
            return None;
        }
        // A name of elsewhere may have come here since it was looked for, and have left again; one that was
        // given here is new. Until it is recorded, nobody takes the item away again.
        let brought = items.iter().filter(|it| it.staged.given.label.is_some());
        let brought: Vec<_> = brought.map(|it| &it.label.name).collect();
        let ours = brought.iter().map(|name| (self.collection, *name));
        // Nor does the same name come to another known collection between the look there and the place here.
        let peers = self.place.peers().iter();
        let theirs = peers.flat_map(|peer| brought.iter().map(move |name| (peer, *name)));
        let waiter = Waiter::new(self.clock, self.interrupt, self.wait);
        let _locks = match lock_items_with(ours, theirs, self.writer.agent(), &waiter) {
            Ok(locks) => locks,
            // An item whose lock is held keeps back no other.
            Err(_) if items.len() > 1 => {
                let place_alone = |fatal: Option<DepositError>, item| {
                    self.place_in(year, vec![item], placed, outcomes).or(fatal)
                };
                return items.into_iter().fold(None, place_alone);
            }
            Err(error) => {
                outcomes.extend(items.into_iter().next().map(|it| it.staged.fails(error)));
                return None;
            }
        };
        let published = self.writer.publish(year, items, self.clock, |it| self.put(year, it));
        placed.extend(published.placed);
        outcomes.extend(published.refused.into_iter().map(|(it, error)| it.staged.fails(error)));
        let (failed, error) = match published.failed? {
            GroupFailure::NotPlaced(items, error) => {
                (items.into_iter().map(group_failed).collect::<Vec<_>>(), error)
            }
            GroupFailure::NotDurable(items, error) => {
                let doubtful = |it: LabeledItem| {
                    let (name, source) = (it.label.name.to_string(), error.repeated("sync"));
                    it.staged.fails(DepositError::NotDurable { name, source })
                };
                (items.into_iter().map(doubtful).collect(), error)
            }
        };
        outcomes.extend(failed);
        Some(error.into())
    }

    /// Puts one item in place.
    fn put(&self, year: &Year<'_>, named: &LabeledItem) -> Result<(), DepositError> {
        if let Some(label) = &named.staged.given.label {
            check_name(self.place, self.lookup, label)?;
            check_ibip(self.collection, label)?;
        }
        let (_, leaf) = layout::item_place(&named.label.name);
        self.writer.put_new(&named.staged.item, year, &leaf).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                DepositError::NameTaken { name: named.label.name.to_string() }
            }
            _ => error.into(),
        })
    }
}

impl Arriving for LabeledItem {
    fn name(&self) -> &RepositoryName {
        &self.label.name
    }

    fn staged(&self) -> &StagedItem {
        &self.staged.item
    }

    fn change(&self) -> Option<InventoryChange> {
        Some(InventoryChange::Entered(State::Original))
    }
}

/// An item that fails because of what all of its group met.
fn group_failed(named: LabeledItem) -> Outcome {
    named.staged.fails(DepositError::GroupFailed)
}
