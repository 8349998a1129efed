//! Interrupted migrations: each ends by one look at the holdings in sight.

use std::ops::ControlFlow;

use super::error::{StillOpen, TransferError};
use super::giver::{Giver, Left, WITHDRAWN};
use super::reading::sealed;
use crate::agent::Agent;
use crate::collection::{
    ChangeLocks, Collection, CollectionError, Event, EventKind, Listed, LockedItem, Lookup, Names,
    ReadSidecar, Rewrite, StoredItem, Writer, lock_changes,
};
use crate::custody::{self, Ceded, Has, Holding, Leaves, Permit};
use crate::disk::PathError;
use crate::holdings::{Seen, with_line};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::progress::NoProgress;
use crate::sidecar::Sidecar;
use crate::verify::{self, Depth, ProofError};
use crate::wait::Waiter;

/// An item whose migration is under way.
#[derive(Clone, Debug)]
pub struct OpenMigration {
    /// The item.
    pub name: RepositoryName,
    /// The id of the receiver.
    pub receiver: String,
}

/// The interrupted migrations from a collection.
#[derive(Debug, Default)]
pub struct Open {
    /// The items whose sidecars say so.
    pub items: Vec<OpenMigration>,
    /// Why items or directories could not be read: there may be more.
    pub unread: Vec<CollectionError>,
}

/// How an interrupted migration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The receiver has the Original, or passed it on.
    HandedOver,
    /// The item was deleted since, and this is its tombstone.
    Buried,
    /// The giver has it.
    Withdrawn,
    /// Nothing was under way.
    Nothing,
}

/// The holdings of an item whose migration was interrupted.
struct View {
    /// The giver's.
    own: Holding,
    /// Those in sight, with the lines of the ledgers.
    seen: Vec<Holding>,
    /// The ids of the collections that could be read.
    in_sight: Vec<String>,
}

/// Where the last payload in sight is, when an item leaves its giver.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Here: it goes to the trash.
    Here,
    Elsewhere,
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

/// The items of `giver` whose migration is under way, by their sidecars. A sidecar that says nothing, because it is damaged or
/// missing, is for verification to report.
pub fn interrupted(giver: &Collection) -> Result<Open, PathError> {
    let (lookup, mut open) = (Lookup::new(giver), Open::default());
    let _ = giver.visit_all::<PathError>(&Names::default(), |listed| {
        let name = match listed {
            Listed::Item(name) => name,
            Listed::Unreadable(error) => {
                open.unread.push(error.into());
                return Ok(ControlFlow::Continue(()));
            }
            Listed::Stray(_) | Listed::Link(..) => return Ok(ControlFlow::Continue(())),
        };
        match lookup.item(&name).and_then(|item| item.map(|it| it.sidecar()).transpose()) {
            Ok(read) => {
                let ceded = read.as_ref().and_then(|(sidecar, _)| sidecar.custody.ceded());
                let receiver = ceded.map(|ceded| ceded.to.clone());
                open.items.extend(receiver.map(|receiver| OpenMigration { name, receiver }));
            }
            Err(error @ CollectionError::Disk(_)) => open.unread.push(error),
            Err(_) => {}
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(open)
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
        let (proven, rotten) = self.proven(&item, &read)?;
        self.change(name, |locks, item, read| {
            let view = self.look(&item, &read, &rotten)?;
            let (Some(ceded), Some(decision)) = (view.own.custody.ceded(), self.decide(&view))
            else {
                return Ok(Ending::Nothing);
            };
            let id = self.giver.custody_id()?;
            let permit = || {
                let permit = Permit::end(&decision, &view.own.custody, &view.seen, id);
                permit.ok_or_else(|| TransferError::Changed { name: name.clone() })
            };
            match decision {
                custody::MigrationEnd::Finish(there, _) if Some(there) != proven.as_ref() => {
                    Err(TransferError::Changed { name: name.clone() })
                }
                custody::MigrationEnd::Finish(_, leaves) => {
                    let left = Left::stage(self.writer, name, &read, &permit()?, leaves)?;
                    self.leave(locks, (&item, &left), Last::Elsewhere)?;
                    Ok(Ending::HandedOver)
                }
                custody::MigrationEnd::Bury(grave) => {
                    let tombstone = self.tombstone(name, grave)?;
                    let left = Left::bury(self.writer, &read, tombstone, &permit()?)?;
                    self.leave(locks, (&item, &left), Last::Here)?;
                    Ok(Ending::Buried)
                }
                custody::MigrationEnd::KeepAbove(_)
                | custody::MigrationEnd::ComeUp(_)
                | custody::MigrationEnd::Withdraw => self.keep(locks, item, &read, &permit()?),
                custody::MigrationEnd::Arrived(line) => {
                    Err(self.open(name, self.mended_there(ceded, line, &view.seen)))
                }
                custody::MigrationEnd::Lost(there) => {
                    Err(self.open(name, StillOpen::Lost { changed: there.changed }))
                }
                custody::MigrationEnd::OutOfSight(id) => {
                    Err(self.open(name, StillOpen::OutOfSight { id }))
                }
            }
        })
    }

    /// The holding that lets the item leave here, if one does, read before the giver's goes; and the ids of the collections whose
    /// payload has rotten. A Copy in sight that is whole will do as well as the Original: no byte is lost, and what has rotten is
    /// repaired from there.
    fn proven(
        &self,
        item: &StoredItem,
        read: &ReadSidecar,
    ) -> Result<(Option<Holding>, Vec<String>), TransferError> {
        let (mut rotten, mut refused) = (Vec::new(), None);
        loop {
            let view = self.look(item, read, &rotten)?;
            let Some(custody::MigrationEnd::Finish(there, leaves)) = self.decide(&view) else {
                // Of what is only damaged, nothing else is concluded.
                return refused.map_or(Ok((None, rotten)), Err);
            };
            match (leaves == Leaves::Stub).then(|| self.prove(item.name(), there)) {
                Some(Err(error @ TransferError::Damaged { .. })) => {
                    let holder = held_at(there).unwrap_or(&there.at).to_owned();
                    if rotten.contains(&holder) {
                        return Err(error);
                    }
                    rotten.push(holder);
                    refused.get_or_insert(error);
                }
                proof => {
                    proof.transpose()?;
                    return Ok((Some(there.clone()), rotten));
                }
            }
        }
    }

    /// Withdraws the migration of `name` by a person's word, without a look at the receiver.
    pub fn withdraw_unseen(&self, name: &RepositoryName) -> Result<Ending, TransferError> {
        self.change(name, |locks, item, read| match read.sidecar.custody.ceded() {
            Some(_) => {
                let permit = Permit::withdraw(&read.sidecar.custody, self.giver.custody_id()?);
                self.keep(locks, item, &read, &permit)
            }
            None => Ok(Ending::Nothing),
        })
    }

    /// Keeps the Original here by a person's word, above all that is in sight: what the receiver, or this collection after
    /// the item had come back, made of it is in no directory in sight, by the table of remedies. The payload is damaged in the
    /// collections with the ids `damaged`.
    pub fn accept_loss(
        &self,
        name: &RepositoryName,
        damaged: &[String],
    ) -> Result<Ending, TransferError> {
        self.change(name, |locks, item, read| {
            let view = self.look(&item, &read, damaged)?;
            match self.decide(&view) {
                Some(custody::MigrationEnd::Lost(_) | custody::MigrationEnd::Arrived(_)) => {}
                _ => return Err(TransferError::Changed { name: name.clone() }),
            }
            let (own, id) = (&view.own.custody, self.giver.custody_id()?);
            let permit = Permit::accept_loss(own, &view.seen, id);
            self.keep(locks, item, &read, &permit)
        })
    }

    /// The holding of the giver, and all holdings in sight, of which those in the collections with the ids `rotten` are damaged.
    fn look(
        &self,
        item: &StoredItem,
        read: &ReadSidecar,
        rotten: &[String],
    ) -> Result<View, TransferError> {
        let own = item.holding(read, self.giver.id())?;
        let sight = Seen::of(item.name(), self.others);
        // What cannot be read is out of sight. A sidecar that can be read and says nothing is damaged: its line speaks.
        let is_unseen = |at: &usize| {
            let mut unread = sight.unread.iter();
            unread.any(|(place, error)| place == at && matches!(error, CollectionError::Disk(_)))
        };
        let in_sight = (0..self.others.len()).filter(|at| !is_unseen(at));
        let in_sight = in_sight.map(|at| self.others[at].id().to_owned());
        let in_sight = in_sight.chain([self.giver.id().to_owned()]).collect();
        let mut seen = sight.holdings;
        seen.extend(with_line(self.giver, item.name(), &own)?);
        for holding in &mut seen {
            if holding.has_payload() && rotten.contains(&holding.at) {
                holding.has = Has::Damaged;
            }
        }
        Ok(View { own, seen, in_sight })
    }

    /// The end of the migration by the holdings in sight; `None` if nothing is under way.
    fn decide<'v>(&self, view: &'v View) -> Option<custody::MigrationEnd<'v>> {
        let in_sight = |id: &str| view.in_sight.iter().any(|it| it == id);
        Some(custody::interrupted(&view.own, view.own.custody.ceded()?, &view.seen, in_sight))
    }

    /// The state of a migration whose receiver has to be repaired first: who has the contents of its `line`.
    fn mended_there(&self, ceded: &Ceded, line: &Holding, seen: &[Holding]) -> StillOpen {
        let is_donor = |it: &&Holding| {
            it.has_payload() && it.custody.ceded().is_none() && it.at != line.at && it.covers(line)
        };
        let donor = if ceded.id == line.custody.id() {
            Some(self.giver.id())
        } else {
            custody::highest(seen.iter().filter(is_donor)).map(|it| &*it.at)
        };
        let path = |id: &str| {
            let mut known = self.others.iter().copied().chain([self.giver]);
            known.find(|it| it.id() == id).map(|it| it.path().to_path_buf())
        };
        StillOpen::Arrived {
            receiver: path(&line.at).unwrap_or_default(),
            donor: donor.and_then(path),
            changed: line.changed,
        }
    }

    fn open(&self, name: &RepositoryName, why: StillOpen) -> TransferError {
        TransferError::Open {
            name: name.clone(),
            giver: self.giver.path().to_path_buf(),
            why: Box::new(why),
        }
    }

    /// The sidecar of the tombstone `grave`.
    fn tombstone(&self, name: &RepositoryName, grave: &Holding) -> Result<Sidecar, TransferError> {
        let changed = || TransferError::Changed { name: name.clone() };
        let there = self.others.iter().find(|it| it.id() == grave.at).ok_or_else(changed)?;
        let item = there.named_item(name)?;
        let read = sealed(&item, item.read_sidecar(), there.path())?;
        if read.sidecar.custody.id() == grave.custody.id() {
            Ok(read.sidecar)
        } else {
            Err(changed())
        }
    }

    /// The item becomes what the migration leaves here.
    fn leave(
        &self,
        locks: &ChangeLocks,
        (item, left): (&LockedItem<'_>, &Left),
        last: Last,
    ) -> Result<(), TransferError> {
        let (collection, writer) = (self.giver, self.writer);
        let event = |name: &RepositoryName| self.event(name, "finished the migration");
        let is_last = last == Last::Here;
        writer.sync_staged_sidecars([left.path()])?;
        Giver { collection, writer, locks, event: &event, is_last }.leave(&[(item, left)])?;
        if let Some(replaced) = left.replaced() {
            writer.discard(replaced);
        }
        Ok(())
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
        let Some(holder) = held_at(there) else { return Ok(()) };
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

    fn keep(
        &self,
        locks: &ChangeLocks,
        item: LockedItem<'_>,
        read: &ReadSidecar,
        permit: &Permit,
    ) -> Result<Ending, TransferError> {
        let kept = Sidecar { state: State::Original, ..read.sidecar.clone() };
        let event = self.event(item.name(), WITHDRAWN);
        let rewrite = Rewrite::new(item, read, (permit, kept), event)?;
        for end in self.writer.rewrite(locks, &[rewrite])? {
            end?;
        }
        Ok(Ending::Withdrawn)
    }
}

/// The id of the collection whose payload `holding` stands for.
fn held_at(holding: &Holding) -> Option<&str> {
    match holding.has {
        Has::Payload => Some(&holding.at),
        Has::Stub => Some(holding.custody.holder()),
        _ => None,
    }
}
