//! Publishing a synced group: item by item, followed by a sync of the directories.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::error::in_words;
use super::given::{check_ibip, check_name};
use super::group::{LabeledItem, Staged};
use super::source_removal::SourceRemover;
use super::{DepositError, DepositTarget, Outcome};
use crate::clock::Clock;
use crate::collection::{
    Arriving, Collection, Event, EventKind, GroupFailure, ImportedSource, Lookup, StagedItem,
    Writer, Year, lock_items_with,
};
use crate::disk::{PathError, descriptor_limit};
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::layout;
use crate::wait::Waiter;

/// The context in which groups are published.
pub(super) struct Publisher<'a> {
    pub collection: &'a Collection,
    pub place: &'a DepositTarget<'a>,
    pub writer: &'a Writer,
    pub clock: &'a dyn Clock,
    /// Finds the items that have the names of new ones.
    pub lookup: &'a Lookup<'a>,
    /// Removes the sources of new items, if requested.
    pub remover: Option<SourceRemover<'a>>,
    /// How long to wait for the locks of given names.
    pub wait: Duration,
    pub interrupt: &'a Interrupt,
}

impl Publisher<'_> {
    /// Publishes items that were synced: all are durable when this returns, or each has the reason why not.
    ///
    /// An error would also stop later groups.
    pub(super) fn publish(
        &self,
        mut ready: Vec<LabeledItem>,
        outcomes: &mut Vec<Outcome>,
    ) -> Option<DepositError> {
        self.take_out_broken_streams(&mut ready, outcomes);
        if ready.is_empty() {
            return None;
        }
        let mut placed = Vec::new();
        let fatal = self.place_all(ready, &mut placed, outcomes);
        outcomes.extend(placed.into_iter().map(|named| self.finish(named)));
        fatal
    }

    /// Drops the streams of the group, if a stop was requested.
    ///
    /// Ctrl-C in a pipeline also stops the writer of the stream, and such an end looks like any other. The
    /// request is checked here, at the last moment, because it may arrive after the end of the stream. This
    /// thread, which called [`run`](super::Depositor::run), is the one that handles signals.
    fn take_out_broken_streams(&self, ready: &mut Vec<LabeledItem>, outcomes: &mut Vec<Outcome>) {
        if self.interrupt.requested() {
            let broken = ready.extract_if(.., |it| it.staged.is_stream);
            outcomes.extend(broken.map(|it| it.staged.fails(DepositError::Interrupted)));
        }
    }

    /// The deposit of an item, for the ledger.
    fn event(&self, item: &LabeledItem) -> Event {
        let (name, now) = (&item.label.name, self.clock.now());
        let event = Event::new(EventKind::Ingestion, name, now, self.writer.agent());
        let Staged { given, done, payload, .. } = &item.staged;
        let import = ImportedSource::of(&given.origin, &done.entries, payload);
        let event = event.with_digest(payload.digest).leaving(item.here.clone());
        Event { import, ..event }
    }

    /// Completes an item, whose source is no longer needed.
    fn finish(&self, named: LabeledItem) -> Outcome {
        let mut deposited = named.deposited();
        let LabeledItem { staged, label, .. } = named;
        if let Some(remover) = &self.remover {
            let kept = remover.remove_all(&staged, &label.name);
            deposited.left = kept.iter().map(|it| in_words(it)).collect();
        }
        Outcome { number: staged.number, source: staged.source, result: Ok(deposited) }
    }

    /// Publishes synced items and syncs their directories.
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

    /// The directory of an item. A given name goes into the existing directory of its prefix, in any
    /// spelling.
    fn year_of(&self, named: &LabeledItem) -> Result<PathBuf, PathError> {
        let name = &named.label.name;
        if named.staged.given.label.is_some() {
            return Ok(self.lookup.place_of(name)?.0);
        }
        Ok(layout::item_place(name).0)
    }

    /// Number of items with given names that are published together: all of a group, unless the limit on open
    /// files is too low for their locks.
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
        // An item of the given name may have arrived and left since the check; an issued name is new. Under
        // the lock, no other process removes the item before its arrival is recorded.
        let brought = items.iter().filter(|it| it.staged.given.label.is_some());
        let brought: Vec<_> = brought.map(|it| &it.label.name).collect();
        let ours = brought.iter().map(|name| (self.collection, *name));
        // Nor can an item of the same name arrive in another known collection between the check there and the
        // publication here.
        let peers = self.place.peers().iter();
        let theirs = peers.flat_map(|peer| brought.iter().map(move |name| (peer, *name)));
        let waiter = Waiter::new(self.clock, self.interrupt, self.wait);
        let _locks = match lock_items_with(ours, theirs, self.writer.agent(), &waiter) {
            Ok(locks) => locks,
            // An item whose lock is held does not delay the others.
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
        let event = |item: &LabeledItem| self.event(item);
        let put = |item: &LabeledItem| self.put(year, item);
        let published = self.writer.publish(year, items, self.clock, event, put);
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

    /// Publishes one item.
    fn put(&self, year: &Year<'_>, named: &LabeledItem) -> Result<(), DepositError> {
        if let Some(label) = &named.staged.given.label {
            check_name(self.place, self.lookup, label)?;
            check_ibip(self.place, label)?;
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
}

/// An item that fails because of an error of its group.
fn group_failed(named: LabeledItem) -> Outcome {
    named.staged.fails(DepositError::GroupFailed)
}
