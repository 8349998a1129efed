//! Publishing a synced group: item by item, followed by a sync of the directories.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::in_words;
use super::given::{check_ibip, check_name};
use super::group::{LabeledItem, Staged};
use super::source_removal::SourceRemover;
use super::{DepositError, DepositTarget, DuplicateIndex, Outcome, duplicates};
use crate::clock::Clock;
use crate::collection::{
    Arriving, Collection, Event, EventKind, GroupFailure, ImportedSource, Lookup, StagedItem,
    Writer, Year, lock_changes_with,
};
use crate::disk::PathError;
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
    /// How long to wait for the change lock.
    pub wait: Duration,
    pub interrupt: &'a Interrupt,
    /// Finds duplicates among what other processes have recorded since.
    pub known: Option<&'a dyn DuplicateIndex>,
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
            fatal = self.place_in(&year, items, placed, outcomes).or(fatal);
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

    fn place_in(
        &self,
        year: &Path,
        items: Vec<LabeledItem>,
        placed: &mut Vec<LabeledItem>,
        outcomes: &mut Vec<Outcome>,
    ) -> Option<DepositError> {
        let brings = items.iter().any(|it| it.staged.given.label.is_some());
        // No item of a given name can arrive in another known collection between the check there and the publication here.
        let peers = if brings { self.place.peers() } else { &[] };
        let waiter = Waiter::new(self.clock, self.interrupt, self.wait);
        let open = || {
            let agent = self.writer.agent();
            let locks = lock_changes_with([self.collection], peers, agent, &waiter)?;
            let year = if brings {
                self.collection.year_of_arrivals(year)
            } else {
                self.collection.ensure_year(year)
            };
            self.known.map_or(Ok(()), DuplicateIndex::follow)?;
            Ok::<_, DepositError>((locks, year?))
        };
        let (locks, year) = match open() {
            Ok(opened) => opened,
            Err(error) => {
                outcomes.extend(items.into_iter().map(group_failed));
                return Some(error);
            }
        };
        let items = match self.known {
            Some(known) => duplicates::look_again(items, known, outcomes),
            None => items,
        };
        let event = |item: &LabeledItem| self.event(item);
        let put = |item: &LabeledItem| self.put(&year, item);
        let published = self.writer.publish(&locks, &year, items, event, put);
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
