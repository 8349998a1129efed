//! Items beside their lines of the ledger: below, because they were put back, perhaps from a backup, or above, because the
//! line of the last change is missing.

use super::{Collection, Event, EventKind, Found, Here};
use crate::agent::Agent;
use crate::collection::CollectionError;
use crate::custody::Holding;
use crate::disk::PathError;
use crate::identity::{Instant, RepositoryName};
use crate::item::State;
use crate::sidecar::Seal;

/// The difference of an item from the last line about it.
#[derive(Clone, Debug)]
pub enum Deviation {
    /// The item is older than the line.
    Below(Box<Event>),
    /// The item is newer than the line.
    Above(Box<Unlogged>),
    /// The line has the same custody and another state, or none; with that state and the present holding.
    State(Option<State>, Here),
}

/// An item whose last change has no line.
#[derive(Clone, Debug)]
pub struct Unlogged {
    /// The last line.
    pub line: Event,
    /// The present holding.
    pub is: Here,
    /// Whether the item follows that line. One that does not may have been copied in by hand.
    pub is_continued: bool,
    found: Found,
}

impl Unlogged {
    /// The line that the ledger lacks. Who made the change, and what it was, is unknown.
    pub(crate) fn missing_line(self, date: Instant, agent: &Agent) -> Event {
        let event = Event::new(EventKind::Found, &self.line.id, date, agent);
        Event { holding: self.found.here, import: self.found.import, ..event }
    }
}

impl Collection {
    /// The last line about the item `name`, if the directory of the item is below that line: its custody is older.
    pub fn contradicting_line(&self, name: &RepositoryName) -> Result<Option<Event>, PathError> {
        match self.deviation_at_rest(name)? {
            Some(Deviation::Below(line)) => Ok(Some(*line)),
            _ => Ok(None),
        }
    }

    /// The difference of the item `name` from the last line about it. `None` without a line, and for a sidecar that cannot be
    /// used: verification reports its faults.
    ///
    /// A run at work replaces a sidecar before it writes the line. What it is about to change is in its note, so that an item
    /// above its line is reported only if no note named it afterwards, and it still is what it was.
    pub fn deviation(&self, name: &RepositoryName) -> Result<Option<Deviation>, PathError> {
        let first = match self.deviation_at_rest(name)? {
            Some(Deviation::Above(_)) if self.is_announced(name)? => return Ok(None),
            Some(Deviation::Above(first)) => first,
            other => return Ok(other),
        };
        Ok(match self.deviation_at_rest(name)? {
            Some(Deviation::Above(again)) if again.is != first.is => None,
            other => other,
        })
    }

    /// The same while no other process changes the item.
    pub(in crate::collection) fn deviation_at_rest(
        &self,
        name: &RepositoryName,
    ) -> Result<Option<Deviation>, PathError> {
        let Some(recorded) = self.last_record(name)? else { return Ok(None) };
        let read = self.item(name).and_then(|item| Ok((item.read_sidecar()?, item)));
        let (read, own) = match read {
            Ok((read, item)) => {
                let own = item.holding(&read, self.id())?;
                (read, own)
            }
            Err(CollectionError::Disk(error)) => return Err(error),
            Err(_) => return Ok(None),
        };
        let rank_of = |line: &Event, is_so: fn(&Holding, &Holding) -> bool| {
            line.as_holding(self.id()).is_some_and(|line| is_so(&line, &own))
        };
        if rank_of(&recorded, |line, own| line.rank() > own.rank()) {
            return Ok(Some(Deviation::Below(Box::new(recorded))));
        }
        if recorded.is_loss() || read.seal != Seal::Intact {
            return Ok(None);
        }
        let (state, is) = (recorded.state(), Here::of(&read.sidecar));
        let is_above = |line: &Event| rank_of(line, |line, own| line.rank() < own.rank());
        if !is_above(&recorded) {
            return Ok((state != Some(is.state)).then_some(Deviation::State(state, is)));
        }
        // The line may have been written since.
        let Some(line) = self.last_record(name)?.filter(is_above) else { return Ok(None) };
        let is_continued = rank_of(&line, |line, own| own.covers(line));
        let found = Found { here: Some(is.clone()), import: self.imported_source(&read.sidecar) };
        Ok(Some(Deviation::Above(Box::new(Unlogged { line, is, is_continued, found }))))
    }

    /// Whether the last line about the item `name` says what `here` says, as far as this process has read the ledger. `false`
    /// also where there is no line.
    pub(crate) fn is_recorded_as(
        &self,
        name: &RepositoryName,
        here: &Here,
    ) -> Result<bool, PathError> {
        let recorded = self.last_record_read(name)?;
        Ok(recorded.is_some_and(|line| line.holding.as_ref() == Some(here)))
    }

    /// The line that the ledger lacks about the item `name`, which is `before` and about to be changed: that state, if it
    /// follows the last line.
    pub(crate) fn missing_line(
        &self,
        (name, before): (&RepositoryName, &Here),
        date: Instant,
        agent: &Agent,
    ) -> Result<Option<Event>, PathError> {
        if self.is_recorded_as(name, before)? {
            return Ok(None);
        }
        match self.deviation_at_rest(name)? {
            Some(Deviation::Above(unlogged)) if unlogged.is_continued => {
                Ok(Some(unlogged.missing_line(date, agent)))
            }
            _ => Ok(None),
        }
    }
}
