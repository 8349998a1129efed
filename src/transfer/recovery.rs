//! Interrupted migrations: each ends by one look at the holdings in sight.

use std::ops::ControlFlow;

use super::TransferError;
use super::giver::{Giver, Left, WITHDRAWN};
use super::reading::sealed;
use crate::agent::Agent;
use crate::collection::{
    ChangeLocks, Collection, Event, EventKind, Here, Listed, LockedItem, Lookup, Names,
    ReadSidecar, StoredItem, Writer, lock_changes,
};
use crate::custody::{self, Custody, Has, Holding, Leaves};
use crate::disk::PathError;
use crate::holdings::Sight;
use crate::identity::RepositoryName;
use crate::item::State;
use crate::progress::NoProgress;
use crate::sidecar::Sidecar;
use crate::verify::{self, Depth, ProofError};
use crate::wait::Waiter;

/// An item whose migration is under way.
#[derive(Clone, Debug)]
pub struct Interrupted {
    /// The item.
    pub name: RepositoryName,
    /// The id of the receiver.
    pub receiver: String,
}

/// How an interrupted migration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The receiver has the Original, or passed it on.
    HandedOver,
    /// The giver has it.
    Withdrawn,
    /// Nothing was under way.
    Nothing,
}

/// The end of interrupted migrations from one collection.
#[derive(Clone, Copy, Debug)]
pub struct Recovery<'a> {
    /// The giver.
    pub giver: &'a Collection,
    /// The right to write there.
    pub writer: &'a Writer,
    /// The other collections in sight.
    pub others: &'a [&'a Collection],
    /// The agent.
    pub agent: &'a Agent,
    /// The wait for locks.
    pub waiter: &'a Waiter<'a>,
}

/// The items of `giver` whose migration is under way, by their sidecars. A sidecar that cannot be read, and a directory that
/// cannot be listed, say nothing: verification reports them.
pub fn interrupted(giver: &Collection) -> Result<Vec<Interrupted>, PathError> {
    let (lookup, mut found) = (Lookup::new(giver), Vec::new());
    let _ = giver.visit_all::<PathError>(&Names::default(), |listed| {
        let Listed::Item(name) = listed else { return Ok(ControlFlow::Continue(())) };
        let read = lookup.item(&name).ok().flatten().and_then(|item| item.sidecar().ok());
        let ceded = read.as_ref().and_then(|(sidecar, _)| sidecar.custody.ceded());
        found.extend(ceded.map(|ceded| Interrupted { name, receiver: ceded.to.clone() }));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

impl Recovery<'_> {
    /// Ends the migration of `name`, as the holdings in sight require.
    pub fn end(&self, name: &RepositoryName) -> Result<Ending, TransferError> {
        // Its bytes are read without a lock.
        let item = self.giver.named_item(name)?;
        let read = sealed(&item, item.read_sidecar(), self.giver.path())?;
        if read.sidecar.custody.ceded().is_none() {
            return Ok(Ending::Nothing);
        }
        let (own, seen) = self.seen(&item, &read)?;
        let proven = match self.decide(&own, &seen) {
            Some(custody::Interrupted::Finish(there, leaves)) => {
                (leaves == Leaves::Stub).then(|| self.prove(name, there)).transpose()?;
                Some(there)
            }
            _ => None,
        };
        self.change(name, |locks, item, read| {
            let (own, seen) = self.seen(&item, &read)?;
            let (Some(ceded), Some(decision)) = (own.custody.ceded(), self.decide(&own, &seen))
            else {
                return Ok(Ending::Nothing);
            };
            match decision {
                custody::Interrupted::Finish(there, _) if Some(there) != proven => {
                    Err(TransferError::Changed { name: name.clone() })
                }
                custody::Interrupted::Finish(there, leaves) => {
                    let custody = match leaves {
                        Leaves::Stub => there.custody.elsewhere(),
                        // Its contents are those that were offered.
                        Leaves::Copy => own.custody.elsewhere().passed_to(&ceded.to, ceded.id),
                    };
                    let is_last = there.has == Has::Tombstone;
                    let (collection, writer) = (self.giver, self.writer);
                    let event = |name: &RepositoryName| self.event(name, "finished the migration");
                    let giver = Giver { collection, writer, locks, event: &event, is_last };
                    let left = Left::stage(writer, name, &read, custody, leaves)?;
                    writer.sync_staged_sidecars([left.path()])?;
                    giver.leave(&[(&item, &left)])?;
                    if let Some(replaced) = left.replaced() {
                        writer.discard(replaced);
                    }
                    Ok(Ending::HandedOver)
                }
                custody::Interrupted::KeepAbove(there) => {
                    let id = self.giver.custody_id()?;
                    self.keep(locks, &item, &read, own.custody.kept_above(&there.custody, id))
                }
                // Behind, as an Original that was put back: repair brings it up.
                custody::Interrupted::ComeUp(_) => {
                    self.keep(locks, &item, &read, own.custody.elsewhere())
                }
                custody::Interrupted::Withdraw => self.withdraw(locks, &item, &read),
                custody::Interrupted::OutOfSight(id) => Err(TransferError::OutOfSight {
                    name: name.clone(),
                    giver: self.giver.path().to_path_buf(),
                    id,
                }),
            }
        })
    }

    /// Withdraws the migration of `name` by a person's word, without a look at the receiver.
    pub fn withdraw_unseen(&self, name: &RepositoryName) -> Result<Ending, TransferError> {
        self.change(name, |locks, item, read| match read.sidecar.custody.ceded() {
            Some(_) => self.withdraw(locks, &item, &read),
            None => Ok(Ending::Nothing),
        })
    }

    /// The holding of the giver, and all holdings in sight.
    fn seen(
        &self,
        item: &StoredItem,
        read: &ReadSidecar,
    ) -> Result<(Holding, Vec<Holding>), TransferError> {
        let own = item.holding(read, self.giver.id())?;
        let mut seen = Sight::of(item.name(), self.others).whole()?;
        seen.push(own.clone());
        Ok((own, seen))
    }

    /// The end of the migration by the holdings in sight; `None` if nothing is under way.
    fn decide<'s>(&self, own: &Holding, seen: &'s [Holding]) -> Option<custody::Interrupted<'s>> {
        let in_sight =
            |id: &str| id == self.giver.id() || self.others.iter().any(|other| other.id() == id);
        Some(custody::interrupted(own, own.custody.ceded()?, seen, in_sight))
    }

    /// Calls `act` with the item under the change lock: the run that migrates it has ended, or holds the lock.
    fn change(
        &self,
        name: &RepositoryName,
        act: impl FnOnce(&ChangeLocks, LockedItem<'_>, ReadSidecar) -> Result<Ending, TransferError>,
    ) -> Result<Ending, TransferError> {
        let locks = lock_changes([self.giver], self.agent, self.waiter)?;
        let lookup = Lookup::new(self.giver);
        let item = locks.item(&lookup, name)?.ok_or_else(|| self.giver.absent(name))?;
        let read = sealed(&item, item.read_sidecar(), self.giver.path())?;
        act(&locks, item, read)
    }

    fn event(&self, name: &RepositoryName, note: &str) -> Event {
        let event = Event::new(EventKind::Recovery, name, self.waiter.clock.now(), self.agent);
        Event { note: Some(note.to_owned()), ..event }
    }

    /// Reads the item of the receiver, or of the collection that it passed the item on to, before the giver's goes.
    fn prove(&self, name: &RepositoryName, there: &Holding) -> Result<(), TransferError> {
        let holder = match there.has {
            Has::Payload => &there.at,
            Has::Stub => there.custody.holder(),
            _ => return Ok(()),
        };
        let Some(collection) = self.others.iter().find(|other| other.id() == holder) else {
            return Ok(());
        };
        let item = collection.item(name)?;
        // A killed run may have put it there without a sync.
        collection.confirm_names([item.name().as_str()])?;
        let proof = verify::prove(&item, Depth::FromDisk, &NoProgress, &self.waiter.interrupt);
        proof.map_err(|error| match error {
            ProofError::Damaged { path, summary } => TransferError::Damaged {
                path,
                detail: summary,
                name: name.clone(),
                collection: collection.path().to_path_buf(),
            },
            ProofError::Disk(error) => error.into(),
            ProofError::Interrupted => TransferError::Interrupted,
        })
    }

    fn withdraw(
        &self,
        locks: &ChangeLocks,
        item: &LockedItem<'_>,
        read: &ReadSidecar,
    ) -> Result<Ending, TransferError> {
        let id = self.giver.custody_id()?;
        self.keep(locks, item, read, read.sidecar.custody.withdrawn(id))
    }

    fn keep(
        &self,
        locks: &ChangeLocks,
        item: &LockedItem<'_>,
        read: &ReadSidecar,
        custody: Custody,
    ) -> Result<Ending, TransferError> {
        let kept = Sidecar { state: State::Original, custody, ..read.sidecar.clone() };
        let text = read.rewritten(item.name(), &kept)?;
        self.writer.replace_sidecar(item, &text)?;
        let event = self.event(item.name(), WITHDRAWN).leaving(Here::of(&kept));
        self.giver.record(locks, &[event])?;
        Ok(Ending::Withdrawn)
    }
}
