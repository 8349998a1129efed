//! Recovery of hand-overs: finished or withdrawn, as the sidecars require.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::TransferError;
use super::journal::{self, JournalRecord};
use super::lost::bears_mark;
use super::settle::{HandoverEnd, Sides, settle};
use crate::agent::Agent;
use crate::collection::{Collection, CollectionError, Event, EventKind, ItemLocks, lock_items};
use crate::disk::{PathError, Version, resolved};
use crate::holdings::Peers;
use crate::identity::RepositoryName;
use crate::progress::NoProgress;
use crate::verify::{self, Depth, ProofError};
use crate::wait::Waiter;

/// An unfinished hand-over, and its outcome.
#[derive(Debug)]
pub struct Finished {
    /// The item; `None` for an unusable record.
    pub name: Option<RepositoryName>,
    /// The outcome, or why it cannot be ended now.
    pub result: Result<HandoverEnd, TransferError>,
}

/// Whether hand-overs from `giver` are unfinished, or wait for a lost receiver to come back.
pub fn has_pending(giver: &Collection) -> Result<bool, TransferError> {
    Ok(!journal::names(giver)?.is_empty())
}

/// The places of receivers.
#[derive(Clone, Copy, Debug, Default)]
pub struct PeerLookup<'a> {
    /// The collections that a command names.
    pub named: &'a [&'a Collection],
    /// These collections, after the recorded place of each. One of them may have the Original by now.
    pub others: Peers<'a>,
}

/// The items with an unfinished hand-over from `giver`, or why a record cannot be read.
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

/// Finishes the interrupted hand-overs from `giver`. Those of a running process are left to it, and an
/// unusable record does not stop the others.
pub fn finish_pending(
    giver: &Collection,
    reach: PeerLookup<'_>,
    agent: &Agent,
    waiter: &Waiter<'_>,
) -> Result<Vec<Finished>, TransferError> {
    let mut finished = Vec::new();
    for name in journal::names(giver)? {
        let run = Finish { giver, reach, agent, waiter };
        match run.record(&name) {
            Ok(outcomes) => finished.extend(outcomes),
            Err(TransferError::Interrupted) => return Err(TransferError::Interrupted),
            Err(error) => finished.push(Finished { name: None, result: Err(error) }),
        }
    }
    Ok(finished)
}

/// Finishing the hand-overs of one collection.
struct Finish<'a> {
    giver: &'a Collection,
    reach: PeerLookup<'a>,
    agent: &'a Agent,
    waiter: &'a Waiter<'a>,
}

impl Finish<'_> {
    fn record(&self, journal: &str) -> Result<Vec<Finished>, TransferError> {
        let Some(record) = journal::read(self.giver, journal)? else { return Ok(Vec::new()) };
        let PeerLookup { named, others } = self.reach;
        if let Some(receiver) = named.iter().find(|other| other.id() == record.to) {
            return self.with(receiver, journal);
        }
        // Its recorded place first: another collection with its id may be a manual copy.
        let opened = open_receiver(self.giver, &record);
        let known = others.collections.iter().find(|other| other.id() == record.to);
        match (opened, known) {
            (Ok(receiver), _) => self.with(&receiver, journal),
            (Err(_), Some(receiver)) => self.with(receiver, journal),
            (Err(_), None) if record.is_lost => Ok(Vec::new()),
            (Err(error), None) => Ok(unreachable(&record, error)),
        }
    }

    fn with(&self, receiver: &Collection, name: &str) -> Result<Vec<Finished>, TransferError> {
        let Finish { giver, reach, agent, waiter } = *self;
        let Some(record) = journal::read(giver, name)? else { return Ok(Vec::new()) };
        // Reading takes long, so no lock is held; items of a process at work are not read.
        let Some(locks) = self.lock(receiver, &record)? else { return Ok(Vec::new()) };
        drop(locks);
        let mut proofs = self.read_back(receiver, &record)?;
        let Some(locks) = self.lock(receiver, &record)? else { return Ok(Vec::new()) };
        // The process that held the locks may have finished it.
        let Some(record) = journal::read(giver, name)? else { return Ok(Vec::new()) };
        let (from, to) = (giver.writer(agent, waiter)?, receiver.writer(agent, waiter)?);
        let sides = Sides {
            from: giver,
            to: receiver,
            giver: &from,
            receiver: &to,
            locks: &locks,
            others: reach.others,
            moved_from: (!is_at(receiver, &record.to_path)).then_some(&*record.to_path),
            clock: waiter.clock,
        };
        let changing = [
            from.changing(giver, record.items.clone()),
            to.changing(receiver, record.items.clone()),
        ];
        let outcomes = settle(&sides, &record, &mut |name, read| match proofs.remove(name) {
            Some((version, proof)) if version == read.version => proof,
            _ => Err(TransferError::Changed { name: name.clone() }),
        });
        record.keep_failed(giver, name, &outcomes)?;
        note(&sides, &outcomes, agent);
        drop(changing);
        from.finish()?;
        to.finish()?;
        let told = |(name, result)| Finished { name: Some(name), result };
        Ok(outcomes.into_iter().map(told).collect())
    }

    /// The locks of all items on both sides, unless a process at work holds one.
    fn lock(
        &self,
        receiver: &Collection,
        record: &JournalRecord,
    ) -> Result<Option<ItemLocks>, TransferError> {
        let both = record.items.iter().flat_map(|item| [(self.giver, item), (receiver, item)]);
        match lock_items(both, self.agent, &self.waiter.up_to(Duration::ZERO)) {
            Ok(locks) => Ok(Some(locks)),
            Err(CollectionError::ItemLocked { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads the receiver's items if the giver's may be removed because of them. An item that cannot be read
    /// is not proven.
    fn read_back(
        &self,
        receiver: &Collection,
        record: &JournalRecord,
    ) -> Result<Proofs, TransferError> {
        let mut proofs = Proofs::new();
        if record.leave_copy {
            return Ok(proofs);
        }
        for name in &record.items {
            // The remains of a damaged sidecar may contain the mark.
            match bears_mark(self.giver, name, &record.token) {
                Ok(true) | Err(TransferError::Damaged { .. }) => {}
                Ok(false) | Err(_) => continue,
            }
            let Ok(item) = receiver.item(name) else { continue };
            let Ok(Some(version)) = item.version() else { continue };
            let proof = verify::prove(&item, Depth::FromDisk, &NoProgress, &self.waiter.interrupt);
            let proof = match proof {
                Ok(()) => Ok(()),
                Err(ProofError::Damaged { summary, .. }) => Err(TransferError::ReceivedDamaged {
                    name: name.clone(),
                    from: self.giver.path().to_path_buf(),
                    to: receiver.path().to_path_buf(),
                    summary,
                }),
                Err(ProofError::Disk(error)) => Err(error.into()),
                Err(ProofError::Interrupted) => return Err(TransferError::Interrupted),
            };
            proofs.insert(name.clone(), (version, proof));
        }
        Ok(proofs)
    }
}

/// The proofs of the receiver's items, and the versions of their sidecars.
type Proofs = BTreeMap<RepositoryName, (Version, Result<(), TransferError>)>;

/// Adds missing events of an earlier run to the logs.
fn note(
    sides: &Sides<'_>,
    outcomes: &[(RepositoryName, Result<HandoverEnd, TransferError>)],
    agent: &Agent,
) {
    let now = sides.clock.now();
    let handed_over = outcomes.iter().filter(|(_, it)| matches!(it, Ok(HandoverEnd::HandedOver)));
    let events: Vec<_> = handed_over
        .map(|(name, _)| {
            let event = Event::new(EventKind::Transfer, name, now, agent);
            let note = Some("an interrupted hand-over was finished".to_owned());
            Event { note, ..event.with_source(sides.from).with_destination(sides.to) }
        })
        .collect();
    sides.from.note(&events);
    sides.to.note(&events);
    let kept = outcomes.iter().filter_map(|(name, outcome)| {
        let note = match outcome {
            Ok(HandoverEnd::TakenBack) => "taken back: the receiver does not have it",
            Ok(HandoverEnd::Vanished) => "missing: it went, and the receiver does not have it",
            _ => return None,
        };
        let event = Event::new(EventKind::Recovery, name, now, agent).with_destination(sides.to);
        Some(Event { note: Some(note.to_owned()), ..event })
    });
    sides.from.note(&kept.collect::<Vec<_>>());
}

/// Whether `collection` is the one at `path`.
fn is_at(collection: &Collection, path: &Path) -> bool {
    let there = resolved(path);
    there.is_ok_and(|there| resolved(collection.path()).is_ok_and(|own| own == there))
}

fn open_receiver(giver: &Collection, record: &JournalRecord) -> Result<Collection, TransferError> {
    let receiver = Collection::open(&record.to_path, &giver.watcher())?;
    if receiver.id() == record.to {
        return Ok(receiver.with_listener_of(giver));
    }
    Err(TransferError::OtherReceiver { path: record.to_path.clone(), id: record.to.clone() })
}

/// The outcomes of a record whose receiver cannot be reached: the first has the reason.
fn unreachable(record: &JournalRecord, error: TransferError) -> Vec<Finished> {
    let mut error = Some(error);
    let tell = |name: &RepositoryName| Finished {
        name: Some(name.clone()),
        result: Err(error.take().unwrap_or(TransferError::GroupFailed)),
    };
    record.items.iter().map(tell).collect()
}
