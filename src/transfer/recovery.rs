//! Hand-overs that were begun: finished or withdrawn, whichever the sidecars say.

use std::time::Duration;

use super::journal::{self, Record};
use super::reading::sealed;
use super::retire::{end_copies, record_states};
use super::{Refusal, TransferError, paper};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::collection::{
    Collection, CollectionError, Event, EventKind, ReadSidecar, StoredItem, Writer,
    items_at_a_time, lock_items,
};
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::item::State;
use crate::sidecar::{Handover, NewText, Sidecar};
use crate::wait::Waiter;

/// Both sides of a hand-over, with the right to write on each.
pub(super) struct Sides<'a> {
    pub from: &'a Collection,
    pub to: &'a Collection,
    pub giver: &'a Writer,
    pub receiver: &'a Writer,
    pub clock: &'a dyn Clock,
}

/// How the hand-over of an item ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The receiver has the Original.
    HandedOver,
    /// The giver still has it.
    Withdrawn,
}

/// A hand-over that was found unfinished, and how it ended.
#[derive(Debug)]
pub struct Finished {
    /// The item; none for a record that cannot be used at all.
    pub name: Option<RepositoryName>,
    /// How it ended, or why it cannot be ended now.
    pub result: Result<Settled, TransferError>,
}

/// An item as one side has it.
type Held = Option<(StoredItem, ReadSidecar)>;

/// What an item's sidecars call for.
#[expect(clippy::large_enum_variant, reason = "it is made once for each item, and moved once")]
enum Next {
    /// The receiver's sidecar is to say Original, then the giver's copy ends.
    Receive { received: (StoredItem, ReadSidecar), given: (StoredItem, ReadSidecar) },
    /// The giver's copy is to end.
    End { given: (StoredItem, ReadSidecar) },
    /// The giver's copy is to lose its mark and stay.
    Keep { given: (StoredItem, ReadSidecar) },
    /// The receiver's Copy is to lose its mark.
    Withdraw { received: (StoredItem, ReadSidecar) },
    /// Nothing more.
    Nothing(Settled),
}

/// Brings every item of `record` to an end. The locks of all are held.
///
/// May be cut short anywhere and repeated.
pub(super) fn settle(
    sides: &Sides<'_>,
    record: &Record,
) -> Vec<(RepositoryName, Result<Settled, TransferError>)> {
    // What a run that was cut short has renamed may be in memory only. It is acted upon below, so it
    // has to be on the disk first.
    let synced = record.sync_names(sides.from).and_then(|()| record.sync_names(sides.to));
    let mut outcomes = Vec::new();
    match synced {
        Ok(()) => {
            for names in record.items.chunks(items_at_a_time()) {
                outcomes.extend(settle_some(sides, record, names));
            }
        }
        Err(error) => {
            let unsettled = record.items.iter().map(|name| (name.clone(), Ok(Settled::Withdrawn)));
            outcomes = fail(unsettled.collect(), error.into());
        }
    }
    outcomes
}

fn settle_some(
    sides: &Sides<'_>,
    record: &Record,
    names: &[RepositoryName],
) -> Vec<(RepositoryName, Result<Settled, TransferError>)> {
    let mut outcomes = Vec::new();
    let (mut received, mut given) = (Vec::new(), Vec::new());
    for name in names {
        let plan = look(sides, name).and_then(|(at_giver, at_receiver)| {
            let next = next(sides, record, name, at_giver, at_receiver)?;
            prepare(sides, record, name, next, &mut received, &mut given)
        });
        outcomes.push((name.clone(), plan));
    }
    // Every receiver's sidecar is on the disk before any giver's copy ends.
    let ended = sides
        .receiver
        .replace_sidecars(&received)
        .and_then(|()| record_states(sides, &outcomes))
        .map_err(TransferError::from)
        .and_then(|()| end_copies(sides, given));
    if let Err(error) = ended {
        return fail(outcomes, error);
    }
    outcomes
}

fn fail(
    outcomes: Vec<(RepositoryName, Result<Settled, TransferError>)>,
    error: TransferError,
) -> Vec<(RepositoryName, Result<Settled, TransferError>)> {
    let mut error = Some(error);
    let told = |(name, outcome): (RepositoryName, Result<Settled, TransferError>)| {
        let outcome = outcome.and_then(|_| Err(error.take().unwrap_or(TransferError::GroupFailed)));
        (name, outcome)
    };
    outcomes.into_iter().map(told).collect()
}

fn look(sides: &Sides<'_>, name: &RepositoryName) -> Result<(Held, Held), TransferError> {
    let held = |collection: &Collection| -> Result<Held, TransferError> {
        match collection.item(name) {
            Ok(item) => {
                let read = sealed(&item, item.read_sidecar(), collection.path())?;
                Ok(Some((item, read)))
            }
            Err(CollectionError::NoSuchItem { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    };
    Ok((held(sides.from)?, held(sides.to)?))
}

/// What is to be done, by what both sidecars say.
fn next(
    sides: &Sides<'_>,
    record: &Record,
    name: &RepositoryName,
    at_giver: Held,
    at_receiver: Held,
) -> Result<Next, TransferError> {
    let token = Some(record.token.as_str());
    let is_received = |sidecar: &Sidecar| {
        sidecar.mark().is_some_and(|it| it.received_from(sides.from.id()) == token)
    };
    let is_given =
        |sidecar: &Sidecar| sidecar.mark().is_some_and(|it| it.given_to(sides.to.id()) == token);
    let is_original =
        |held: &Held| held.as_ref().is_some_and(|(_, read)| read.sidecar.state == State::Original);
    Ok(match (at_giver, at_receiver) {
        (Some(given), Some(received))
            if is_given(&given.1.sidecar) && is_received(&received.1.sidecar) =>
        {
            Next::Receive { received, given }
        }
        (Some(given), receiver) if is_given(&given.1.sidecar) => {
            if is_original(&receiver) {
                Next::End { given }
            } else {
                // The receiver got it, and has passed it on or deleted it since. Nothing proves that
                // the bytes exist elsewhere.
                Next::Keep { given }
            }
        }
        // Without the mark the giver never said that it handed the item over: it still has the
        // Original, or has deleted it or handed it to another collection since.
        (_, Some(received)) if is_received(&received.1.sidecar) => Next::Withdraw { received },
        (giver, receiver) if is_original(&giver) && is_original(&receiver) => {
            return Err(TransferError::Refused {
                name: name.clone(),
                refusal: Refusal::TwoOriginals,
                from: sides.from.path().to_path_buf(),
                to: Some(sides.to.path().to_path_buf()),
                giver: None,
            });
        }
        (_, receiver) if is_original(&receiver) => Next::Nothing(Settled::HandedOver),
        _ => Next::Nothing(Settled::Withdrawn),
    })
}

impl Sidecar {
    /// The mark of a hand-over on a Copy: nobody else's counts.
    fn mark(&self) -> Option<&Handover> {
        self.handover.as_ref().filter(|_| self.state == State::Copy)
    }
}

/// Adds what is to be written to the lists, and says how it will have ended.
fn prepare(
    sides: &Sides<'_>,
    record: &Record,
    name: &RepositoryName,
    next: Next,
    received: &mut Vec<(StoredItem, NewText)>,
    given: &mut Vec<(StoredItem, Option<NewText>)>,
) -> Result<Settled, TransferError> {
    let unmarked = |read: &ReadSidecar| paper::text(name, read, &paper::unmarked(&read.sidecar));
    let ending = |item: StoredItem, read: &ReadSidecar| {
        let text = record.leave_copy.then(|| unmarked(read));
        Ok::<_, TransferError>((item, text.transpose()?))
    };
    match next {
        Next::Nothing(settled) => Ok(settled),
        Next::Withdraw { received: (item, read) } => {
            received.push((item, unmarked(&read)?));
            Ok(Settled::Withdrawn)
        }
        Next::Keep { given: (item, read) } => {
            let text = unmarked(&read)?;
            given.push((item, Some(text)));
            Ok(Settled::HandedOver)
        }
        Next::End { given: (item, read) } => {
            given.push(ending(item, &read)?);
            Ok(Settled::HandedOver)
        }
        Next::Receive { received: (item, read), given: (left, left_read) } => {
            let original = paper::original(&read.sidecar, sides.to, sides.clock.now());
            let text = paper::text(name, &read, &original)?;
            given.push(ending(left, &left_read)?);
            received.push((item, text));
            Ok(Settled::HandedOver)
        }
    }
}

/// Whether hand-overs from `giver` wait to be finished, or for a lost receiver to come back.
pub fn has_pending(giver: &Collection) -> Result<bool, TransferError> {
    Ok(!journal::names(giver)?.is_empty())
}

/// Where receivers are looked for.
#[derive(Clone, Copy, Debug)]
pub enum Reach<'a> {
    /// Only this collection; hand-overs to others are left alone.
    Only(&'a Collection),
    /// These collections, and where each one was.
    Anywhere(&'a [Collection]),
}

/// The items whose hand-over from `giver` waits to be finished, or why a record of some cannot be read.
pub fn pending(
    giver: &Collection,
) -> Result<Vec<Result<RepositoryName, TransferError>>, PathError> {
    let mut pending = Vec::new();
    for name in journal::names(giver)? {
        match journal::read(giver, &name) {
            Ok(record) => {
                let open = record.filter(|record| !record.is_lost);
                pending.extend(open.into_iter().flat_map(|it| it.items).map(Ok));
            }
            Err(error) => pending.push(Err(error)),
        }
    }
    Ok(pending)
}

/// Finishes the hand-overs from `giver` that were cut short. Those of a process that still runs are
/// left to it, and a record that cannot be used does not stop the others.
pub fn finish_pending(
    giver: &Collection,
    reach: Reach<'_>,
    agent: &Agent,
    waiter: &Waiter<'_>,
) -> Result<Vec<Finished>, TransferError> {
    let mut finished = Vec::new();
    for name in journal::names(giver)? {
        let run = Finish { giver, reach, agent, waiter };
        match run.record(&name) {
            Ok(outcomes) => finished.extend(outcomes),
            Err(error) => finished.push(Finished { name: None, result: Err(error) }),
        }
    }
    Ok(finished)
}

/// Finishing the hand-overs of one collection.
struct Finish<'a> {
    giver: &'a Collection,
    reach: Reach<'a>,
    agent: &'a Agent,
    waiter: &'a Waiter<'a>,
}

impl Finish<'_> {
    fn record(&self, journal: &str) -> Result<Vec<Finished>, TransferError> {
        let Some(record) = journal::read(self.giver, journal)? else { return Ok(Vec::new()) };
        match self.reach {
            Reach::Only(receiver) if receiver.id() == record.to => self.with(receiver, journal),
            Reach::Only(_) => Ok(Vec::new()),
            Reach::Anywhere(others) => {
                // Where it was, first: another one of its id may be a copy made by hand.
                let opened = open_receiver(self.giver, &record);
                let known = others.iter().find(|other| other.id() == record.to);
                match (opened, known) {
                    (Ok(receiver), _) => self.with(&receiver, journal),
                    (Err(_), Some(receiver)) => self.with(receiver, journal),
                    (Err(_), None) if record.is_lost => Ok(Vec::new()),
                    (Err(error), None) => Ok(unreachable(&record, error)),
                }
            }
        }
    }

    fn with(&self, receiver: &Collection, name: &str) -> Result<Vec<Finished>, TransferError> {
        let Finish { giver, agent, waiter, .. } = *self;
        let Some(record) = journal::read(giver, name)? else { return Ok(Vec::new()) };
        let both = record.items.iter().flat_map(|item| [(giver, item), (receiver, item)]);
        let _locks = match lock_items(both, agent, &waiter.up_to(Duration::ZERO)) {
            Ok(locks) => locks,
            Err(CollectionError::ItemLocked { .. }) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        // Finished meanwhile by whoever had the locks.
        let Some(record) = journal::read(giver, name)? else { return Ok(Vec::new()) };
        let (from, to) = (giver.writer(agent, waiter)?, receiver.writer(agent, waiter)?);
        let sides =
            Sides { from: giver, to: receiver, giver: &from, receiver: &to, clock: waiter.clock };
        let changing = [
            from.changing(giver, record.items.clone()),
            to.changing(receiver, record.items.clone()),
        ];
        let outcomes = settle(&sides, &record);
        if outcomes.iter().all(|(_, outcome)| outcome.is_ok()) {
            journal::end(giver, name)?;
        }
        note(&sides, &outcomes, agent);
        drop(changing);
        from.finish()?;
        to.finish()?;
        let told = |(name, result)| Finished { name: Some(name), result };
        Ok(outcomes.into_iter().map(told).collect())
    }
}

/// Notes in the event logs what a run before could not.
fn note(
    sides: &Sides<'_>,
    outcomes: &[(RepositoryName, Result<Settled, TransferError>)],
    agent: &Agent,
) {
    let now = sides.clock.now();
    let handed_over = outcomes.iter().filter(|(_, it)| matches!(it, Ok(Settled::HandedOver)));
    let events: Vec<_> = handed_over
        .map(|(name, _)| {
            let event = Event::new(EventKind::Transfer, name, now, agent);
            let note = Some("a hand-over that was cut short was finished".to_owned());
            Event { note, ..event.with_source(sides.from).with_destination(sides.to) }
        })
        .collect();
    sides.from.note(&events);
    sides.to.note(&events);
}

fn open_receiver(giver: &Collection, record: &Record) -> Result<Collection, TransferError> {
    let receiver = Collection::open(&record.to_path, &giver.root().watcher())?;
    if receiver.id() == record.to {
        return Ok(receiver.with_listener_of(giver));
    }
    Err(TransferError::OtherReceiver { path: record.to_path.clone(), id: record.to.clone() })
}

/// The outcomes of a record whose receiver cannot be reached: the first tells why.
fn unreachable(record: &Record, error: TransferError) -> Vec<Finished> {
    let mut error = Some(error);
    let tell = |name: &RepositoryName| Finished {
        name: Some(name.clone()),
        result: Err(error.take().unwrap_or(TransferError::GroupFailed)),
    };
    record.items.iter().map(tell).collect()
}
