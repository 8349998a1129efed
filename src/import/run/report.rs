//! Reporting the outcomes of a group, after they are written into the ledger.

use std::io::ErrorKind;
use std::path::Path;

use super::{Begun, InFlight, RunState, lock};
use crate::deposit::source_removal::{SourceKept, Times};
use crate::deposit::{DepositError, Outcome, SourcePlace, in_words};
use crate::identity::RepositoryName;
use crate::import::sources::Entry;
use crate::import::{Became, Event, ImportError};

impl RunState<'_, '_, '_> {
    /// Takes the outcomes of a group, whose items are durable.
    pub(super) fn report(&self, outcomes: Vec<Outcome>) -> Result<(), DepositError> {
        let begun = self.take(&outcomes);
        let same = outcomes.iter().zip(&begun);
        let same: Vec<_> =
            same.filter_map(|(outcome, begun)| Self::same(outcome, begun.as_ref()?)).collect();
        if let Err(error) = self.record(&same) {
            lock(&self.output).summary.fatal.get_or_insert(error);
            return Err(DepositError::GroupFailed);
        }
        self.forget(&begun);
        let pairs = outcomes.into_iter().zip(begun);
        let events = pairs.map(|(outcome, begun)| {
            let place = begun.as_ref().map(|begun| begun.place.clone());
            (self.event(outcome, begun), place)
        });
        self.tell(events.collect());
        let is_fatal = lock(&self.output).summary.fatal.is_some();
        if is_fatal { Err(DepositError::GroupFailed) } else { Ok(()) }
    }

    /// Records that sources are the same as existing items, durably, and takes in all new lines.
    ///
    /// The publishing side locks the ledger and then the known sources, so nobody has these while it waits for the ledger.
    pub(super) fn record(&self, entries: &[Entry]) -> Result<(), ImportError> {
        let known = lock(&self.known);
        let (collection, lines) = (known.collection(), known.duplications(entries, self.clock));
        drop(known);
        collection.log(&lines)?;
        lock(&self.known).follow()
    }

    /// Waits for a change of the collection to be recorded, and takes in all new lines.
    pub(super) fn catch_up(&self) -> Result<(), ImportError> {
        let collection = lock(&self.known).collection();
        collection.is_at_rest()?;
        lock(&self.known).follow()
    }

    fn take(&self, outcomes: &[Outcome]) -> Vec<Option<Begun>> {
        let mut under_way = lock(&self.under_way);
        outcomes.iter().map(|outcome| under_way.begun.remove(&outcome.number)).collect()
    }

    /// A source is in flight until its line is in the ledger.
    fn forget(&self, done: &[Option<Begun>]) {
        let mut under_way = lock(&self.under_way);
        let InFlight { begun, keys, contents, .. } = &mut *under_way;
        contents.retain(|_, number| begun.contains_key(number));
        for done in done.iter().flatten() {
            keys.remove(&done.key);
        }
    }

    /// The entry of a source that is the same as an existing item.
    fn same(outcome: &Outcome, begun: &Begun) -> Option<Entry> {
        let Err(DepositError::Held(same)) = &outcome.result else { return None };
        Some(Entry {
            name: same.name.clone(),
            is_same: true,
            shape: same.shape,
            content: same.content,
            bytes: same.bytes,
            source: begun.key.clone(),
        })
    }

    fn event(&self, outcome: Outcome, begun: Option<Begun>) -> Event {
        let Outcome { source, result, .. } = outcome;
        let name;
        let mut times = Times::Any;
        let became = match result {
            Ok(deposited) => {
                (name, times) = (Some(deposited.label.name.clone()), Times::OfItem);
                Became::Item(deposited)
            }
            Err(DepositError::Held(same)) => {
                name = Some(same.name.clone());
                same.left.map_or(Became::There(same.name), Became::Left)
            }
            Err(error) => {
                let error = ImportError::from(error);
                if error.may_be_of_another() {
                    // Its item may be there, and its line not yet.
                    let _ = self.catch_up();
                }
                name = begun.as_ref().and_then(|begun| self.made_since(begun).ok()?);
                name.clone().map_or(Became::Failed(error), Became::There)
            }
        };
        let Some(begun) = begun else {
            return Event::new(source, None, None, became);
        };
        let released = name.map(|name| self.release(&name, (&begun.place, &begun.payload), times));
        let left = released.unwrap_or_default();
        let path = begun.place.path();
        let source = path.display().to_string();
        Event { left, ..Event::new(source, Some(path), begun.row, became) }
    }

    /// Removes the source of the item `name`, if that was requested, and returns why it is still there.
    ///
    /// `place` is the whole source, `payload` the place of the item's files. A source that was dropped again has
    /// other `times` than the item.
    pub(super) fn release(
        &self,
        name: &RepositoryName,
        (place, payload): (&SourcePlace, &SourcePlace),
        times: Times,
    ) -> Vec<String> {
        let Some(remover) = &self.remover else { return Vec::new() };
        let remove = || {
            if place.path() != payload.path() {
                return Err(SourceKept::Bag);
            }
            let (parent, own) = place.parent(&self.looker.watcher)?;
            remover.remove((&parent, &own), &remover.prove(name)?, Path::new(""), times)
        };
        // It may have gone with a directory above it, which became an item of its own.
        let is_gone = || self.looker.kind(place).is_err_and(|it| it.kind() == ErrorKind::NotFound);
        let kept = remove().err().filter(|_| !is_gone());
        kept.map(|error| in_words(&error)).into_iter().collect()
    }

    /// Reports events, each with the place of its source. A source that cannot become an item is moved away first,
    /// on request.
    pub(super) fn tell(&self, told: Vec<(Event, Option<SourcePlace>)>) {
        let events = told.into_iter().map(|(mut event, place)| {
            // The source of a row may be right, and its row wrong.
            let place = place
                .or_else(|| event.path.clone().map(SourcePlace::Path))
                .filter(|_| event.row.is_none());
            if let (Became::Failed(error), Some(to), Some(place)) =
                (&event.became, &self.rejected, place)
                && error.is_of_source(&place.path())
            {
                let moved = to.take(&place, &self.looker.watcher);
                event.rejected = Some(moved.map_err(|error| in_words(&error)));
            }
            event
        });
        let events = events.collect();
        lock(&self.output).tell(events);
    }
}
