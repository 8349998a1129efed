//! Migrating Originals: never two of them, never none by the rule of custody [protocol: migrate].
//!
//! 1. Without locks: the items, with the custody that the receiver will have, are staged there, synced and read back from
//!    its disk; the giver stages what its sidecar will say under 3 and what stays under 5.
//! 2. The change locks of both sides are taken, and the decision is checked against both sidecars again.
//! 3. *The fence*: the giver's sidecars say `ceded` and Copy. From here on the giver refuses every other change.
//! 4. *The commit point*: the receiver gets the items.
//! 5. The giver's items are exchanged with stubs, or stay as Copies.
//!
//! Each of these is one step for many items, synced before the next. A run that is killed before 4 leaves the Originals
//! with the giver, and after it with the receiver; [`recovery`](super::recovery) ends it by one look at both. While the
//! locks are held, no payload is read.

use std::collections::HashMap;
use std::path::PathBuf;

use super::TransferError;
use super::copy_job::text_of;
use super::giver::{Giver, Left, Offer, WITHDRAWN};
use super::payload::Links;
use super::publish::{Group, Items};
use super::reading::sealed;
use super::shared::Shared;
use super::staged::Staged;
use crate::collection::{
    ChangeLocks, Collection, Event, EventKind, LockedItem, ReadSidecar, Rewrite, Writer,
    items_at_a_time,
};
use crate::custody::Permit;
use crate::identity::RepositoryName;
use crate::item::State;
use crate::progress::NoProgress;
use crate::sidecar::Sidecar;
use crate::verify::{self, ProofError};

/// The bytes and the inodes that the giver's disk has for the offers of all items in flight, as a rule.
const PLENTY: (u64, u64) = (64 << 20, 1 << 14);
/// The files of an item that is offered early, at most.
const FEW_FILES: usize = 16;

impl Shared<'_> {
    /// Hands a group over.
    pub(super) fn hand_over(&self, items: Items, group: &mut Group) {
        if items.is_empty() {
            return;
        }
        if let Err(error) = self.sync_staged(&items) {
            return group.all_failed(&items, error.into());
        }
        let items = self.read_back(items, group, |staged| self.prove_staged(staged));
        self.give(items, &[self.from, self.to], group);
    }

    /// Replaces Copies at the source by stubs, once the same Copies at the destination are proven.
    pub(super) fn drop_proven(&self, items: Items, group: &mut Group) {
        let proven = self.read_back(items, group, |staged| {
            let item =
                self.destination_items.item(&staged.name)?.ok_or_else(|| staged.changed())?;
            self.prove(&item, &sealed(&item, item.read_sidecar(), self.to.path())?, &NoProgress)
        });
        self.give(proven, &[self.from], group);
    }

    /// Gives proven items away, some at a time, under the locks of `sides`.
    fn give(&self, items: Items, sides: &[&Collection], group: &mut Group) {
        let Some(giver) = self.source_writer else { return };
        let mut rest = items;
        while !rest.is_empty() {
            let later = rest.split_off(rest.len().min(items_at_a_time()));
            let items = std::mem::take(&mut rest);
            let offers = self.in_shares(&items, |(_, staged)| match &staged.offer {
                Some(offer) => Ok(offer.clone()),
                None => self.offer_late(giver, staged),
            });
            let (mut offered, mut without, mut full) = (Items::new(), Items::new(), None);
            for ((at, mut staged), offer) in items.into_iter().zip(offers) {
                match offer {
                    Ok(offer) => {
                        staged.offer = Some(offer);
                        offered.push((at, staged));
                    }
                    Err(TransferError::Disk(error)) if error.is_full() => {
                        full = full.or(Some(error));
                        without.push((at, staged));
                    }
                    Err(error) => self.missed(at, &staged, error, None, group),
                }
            }
            match full {
                // Those that are given away make room for the next ones.
                Some(error) if offered.is_empty() => group.all_failed(&without, error.into()),
                _ => rest = without,
            }
            rest.extend(later);
            self.give_offered(giver, &offered, sides, group);
        }
    }

    fn give_offered(
        &self,
        giver: &Writer,
        items: &[(usize, Staged)],
        sides: &[&Collection],
        group: &mut Group,
    ) {
        if self.caller.interrupt.requested() {
            return group.all_interrupted(items);
        }
        let offers = items.iter().filter_map(|(_, staged)| staged.offer.as_ref());
        let paths = offers.flat_map(|it| it.ceded.as_deref().into_iter().chain([it.left.path()]));
        if let Err(error) = giver.sync_staged_sidecars(paths) {
            return group.all_failed(items, error.into());
        }
        self.locked(sides, items, group, |locks, group| {
            self.give_locked(giver, locks, items, group);
        });
        // Nobody waits while the replaced items are removed.
        self.in_shares(items, |(_, staged)| {
            let replaced = staged.offer.as_ref().and_then(|offer| offer.left.replaced());
            replaced.map(|replaced| giver.discard(replaced))
        });
    }

    fn give_locked(
        &self,
        giver: &Writer,
        locks: &ChangeLocks,
        items: &[(usize, Staged)],
        group: &mut Group,
    ) {
        let (mut ready, mut giving) = (Items::new(), HashMap::new());
        for (at, staged) in items {
            let checked = self.locked_at_source(locks, staged).and_then(|item| {
                if staged.received.is_some() {
                    if staged.replaced.is_some() {
                        self.at_destination(locks, staged)?;
                    }
                    self.writer().complete(staged.in_stage())?;
                }
                Ok(item)
            });
            match checked {
                Ok(item) => {
                    giving.insert(*at, item);
                    ready.push((*at, staged.clone()));
                }
                Err(error) => self.missed(*at, staged, error, Some(locks), group),
            }
        }
        let (moving, mut given): (Items, Items) =
            ready.into_iter().partition(|(_, staged)| staged.received.is_some());
        // The fence: from here on, the giver's sidecars say that the Original is ceded.
        let ceded = moving.iter().filter_map(|(at, staged)| {
            Some((staged.offer.as_ref()?.ceded.as_deref()?, giving.get(at)?))
        });
        if let Err(error) = giver.rename_sidecars(ceded) {
            return group.all_unfinished(&moving, self.from.path(), error.into());
        }
        if !moving.is_empty() {
            given.extend(self.pass_on(giver, locks, &moving, group));
        }
        let leaving: Vec<_> = given
            .iter()
            .filter_map(|(at, it)| Some((giving.get(at)?, &it.offer.as_ref()?.left)))
            .collect();
        match self.leave(giver, locks, &given, &leaving) {
            Ok(unlisted) => {
                for ((_, staged), unlisted) in given.iter_mut().zip(unlisted) {
                    staged.unlisted.extend(unlisted);
                }
                group.all_done(given, self.to.path());
            }
            // A Copy that stays is no open migration.
            Err(error) if moving.is_empty() => group.all_failed(&given, error),
            Err(error) => group.all_unfinished(&given, self.from.path(), error),
        }
    }

    /// Places ceded items at the receiver, and returns those that are there. The others are taken back.
    fn pass_on(
        &self,
        giver: &Writer,
        locks: &ChangeLocks,
        ceded: &[(usize, Staged)],
        group: &mut Group,
    ) -> Items {
        let arrived = self.place(locks, ceded.to_vec(), group);
        let is_there = |at: usize| arrived.iter().any(|(there, _)| *there == at);
        // Those whose arrival the disk did not confirm stay open: they may be there.
        let refused = ceded.iter().filter(|(at, _)| !is_there(*at) && !group.is_open(*at));
        let refused: Vec<_> = refused.cloned().collect();
        if let Err(error) = self.take_back(giver, locks, &refused) {
            group.all_unfinished(&refused, self.from.path(), error);
        }
        arrived
    }

    /// Stages the offer of an item: what its sidecar will say before it arrives, and what it leaves. A Copy that the
    /// receiver has as well is not ceded.
    fn offer(
        &self,
        giver: &Writer,
        staged: &Staged,
        before: &ReadSidecar,
    ) -> Result<Offer, TransferError> {
        let (leaves, own) = (self.options.leaves, &before.sidecar.custody);
        let ceded = match &staged.received {
            None => None,
            Some(offered) => {
                let custody = Permit::cede(own, offered, leaves).custody().clone();
                let ceded = Sidecar { state: State::Copy, custody, ..before.sidecar.clone() };
                Some(giver.stage_sidecar(&text_of(staged, before, &ceded)?)?)
            }
        };
        let permit = Permit::keep(staged.received.as_ref().map_or(own, Permit::custody));
        let left = Left::stage(giver, &staged.name, before, &permit, leaves);
        let left = left.inspect_err(|_| ceded.iter().for_each(|it| giver.discard_sidecar(it)))?;
        Ok(Offer { ceded, left })
    }

    fn offer_late(&self, giver: &Writer, staged: &Staged) -> Result<Offer, TransferError> {
        let item = self.at_source(staged)?;
        let before = sealed(&item, item.read_sidecar(), self.from.path())?;
        self.offer(giver, staged, &before)
    }

    /// The offer of an item that was just staged, while other items are given away; none where the giver has little room,
    /// which those need first, and none for an item of many files, whose list would wait in memory.
    pub(super) fn offer_early(&self, staged: &Staged, before: &ReadSidecar) -> Option<Offer> {
        let (giver, root) = (self.source_writer?, self.from.root());
        let has_room = root.room().is_ok_and(|it| it.bytes >= PLENTY.0 && it.inodes >= PLENTY.1);
        // An error is met again.
        if has_room && before.sidecar.files.len() <= FEW_FILES {
            self.offer(giver, staged, before).ok()
        } else {
            None
        }
    }

    /// Withdraws the offer of items that the receiver did not get: the number offered is burnt.
    fn take_back(
        &self,
        giver: &Writer,
        locks: &ChangeLocks,
        items: &[(usize, Staged)],
    ) -> Result<(), TransferError> {
        let mut rewrites = Vec::new();
        for (_, staged) in items {
            let item = locks.item(&self.source_items, &staged.name)?;
            let item = item.ok_or_else(|| staged.changed())?;
            let before = item.read_sidecar()?;
            let permit = Permit::withdraw(&before.sidecar.custody, self.from.custody_id()?);
            let kept = Sidecar { state: State::Original, ..before.sidecar.clone() };
            let (name, now) = (item.name(), self.caller.clock.now());
            let event = Event::new(EventKind::Recovery, name, now, giver.agent());
            let event = Event { note: Some(WITHDRAWN.to_owned()), ..event };
            rewrites.push(Rewrite::new(item, &before, (&permit, kept), event)?);
        }
        for end in giver.rewrite(locks, &rewrites)? {
            end?;
        }
        Ok(())
    }

    /// The end of the migration of `items`, which the receiver has: each leaves a stub or a Copy.
    fn leave(
        &self,
        giver: &Writer,
        locks: &ChangeLocks,
        items: &[(usize, Staged)],
        leaving: &[(&LockedItem<'_>, &Left)],
    ) -> Result<Vec<Vec<PathBuf>>, TransferError> {
        let (collection, clock) = (self.from, self.caller.clock);
        let digests: HashMap<_, _> = items.iter().map(|(_, it)| (&it.name, it.digest)).collect();
        let event = |name: &RepositoryName| {
            let event = Event::new(EventKind::Transfer, name, clock.now(), giver.agent());
            let event = event.with_source(self.from).with_destination(self.to);
            digests.get(name).map_or(event.clone(), |digest| event.with_digest(*digest))
        };
        let giver = Giver { collection, writer: giver, locks, event: &event, is_last: false };
        giver.leave(leaving)
    }

    /// Reads items back from the disk by `prove`, several at a time, and keeps those that are whole.
    fn read_back(
        &self,
        items: Items,
        group: &mut Group,
        prove: impl Fn(&Staged) -> Result<(), TransferError> + Sync,
    ) -> Items {
        let proofs = self.in_shares(&items, |(_, staged)| prove(staged));
        let mut kept = Items::new();
        for ((at, staged), proof) in items.into_iter().zip(proofs) {
            match proof {
                Ok(()) => kept.push((at, staged)),
                Err(error) => self.missed(at, &staged, error, None, group),
            }
        }
        kept
    }

    /// Calls `act` for each of `items`, on several threads, and returns the results in order.
    fn in_shares<T: Sync, R: Send>(&self, items: &[T], act: impl Fn(&T) -> R + Sync) -> Vec<R> {
        let share = items.len().div_ceil(self.options.jobs.max(1)).max(1);
        std::thread::scope(|threads| {
            let act = &act;
            let shares: Vec<_> = items
                .chunks(share)
                .map(|share| threads.spawn(move || share.iter().map(act).collect()))
                .collect();
            shares.into_iter().flat_map(join::<Vec<_>>).collect()
        })
    }

    /// Reads a staged item back from the disk: the sealed sidecar that was written for this receiver, by its random id, and the
    /// payload that it lists. Whether the giver's is still the one that it was made of, its version shows under the lock.
    fn prove_staged(&self, staged: &Staged) -> Result<(), TransferError> {
        let item = self.writer().staged_item(&staged.name, staged.in_stage())?;
        let made = sealed(&item, item.read_sidecar(), self.to.path())?;
        let Sidecar { custody, payload, .. } = &made.sidecar;
        let is_ours = staged.received.as_ref().is_some_and(|it| it.custody() == custody);
        if !is_ours || payload.digest != staged.digest {
            return Err(staged.changed());
        }
        let links = self.links(staged.step);
        let progress = if links == Links::Unread { self.caller.progress } else { &NoProgress };
        let proof = self.prove(&item, &made, progress);
        proof.map_err(|error| match error {
            TransferError::NotProven { .. } if links == Links::Unread => {
                self.damaged_at_source(staged).unwrap_or(error)
            }
            error => error,
        })
    }

    /// The damage to an item at the source, whose files are those of the staged item by hard links.
    fn damaged_at_source(&self, staged: &Staged) -> Option<TransferError> {
        let item = match self.at_source(staged) {
            Ok(item) => item,
            Err(error) => return Some(error),
        };
        match verify::prove(&item, verify::Depth::Full, &NoProgress, self.caller.interrupt) {
            Err(ProofError::Damaged { path, summary: detail }) => {
                let (name, collection) = (staged.name.clone(), self.from.path().to_path_buf());
                Some(TransferError::Damaged { path, detail, name, collection })
            }
            _ => None,
        }
    }
}

/// The result of a thread; its panic continues in this one.
fn join<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
