//! Migrating Originals: never two of them, never none by the rule of custody [protocol: migrate].
//!
//! 1. The staged items, with the custody that the receiver will have, are synced and read back from the receiver's
//!    disk, without locks.
//! 2. The change locks of both sides are taken, and the decision is checked against both sidecars again.
//! 3. *The fence*: the giver's sidecars say `ceded` and Copy. From here on the giver refuses every other change.
//! 4. *The commit point*: the receiver gets the items.
//! 5. The giver's items are exchanged with stubs, or stay as Copies.
//!
//! Each of these is one step for many items, synced before the next. A run that is killed before 4 leaves the Originals
//! with the giver, and after it with the receiver; [`recovery`](super::recovery) ends it by one look at both. While the
//! locks are held, no payload is read.

use std::collections::HashMap;

use super::TransferError;
use super::copy_job::text_of;
use super::giver::{Giver, WITHDRAWN};
use super::publish::{Group, Items};
use super::reading::sealed;
use super::shared::Shared;
use super::staged::Staged;
use crate::collection::{ChangeLocks, Event, EventKind, Here, Writer, items_at_a_time};
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::item::State;
use crate::sidecar::Sidecar;

impl Shared<'_> {
    /// Hands a group over, some items at a time.
    pub(super) fn hand_over(&self, items: Items, group: &mut Group) {
        if items.is_empty() {
            return;
        }
        if let Err(error) = self.sync_staged(&items) {
            return group.all_failed(&items, error.into());
        }
        let items = self.read_back(items, group, |staged| self.prove_staged(staged));
        for items in items.chunks(items_at_a_time()) {
            if self.caller.interrupt.requested() {
                group.all_interrupted(items);
                continue;
            }
            self.locked(&[self.from, self.to], items, group, |locks, group| {
                self.hand_over_locked(locks, items, group);
            });
        }
    }

    fn hand_over_locked(&self, locks: &ChangeLocks, items: &[(usize, Staged)], group: &mut Group) {
        let Some(giver) = self.source_writer else { return };
        let mut ready = Items::new();
        for (at, staged) in items {
            let checked = self.at_source(staged).and_then(|_| {
                if staged.replaced.is_some() {
                    self.at_destination(locks, staged)?;
                }
                Ok(self.writer().complete(staged.in_stage())?)
            });
            match checked {
                Ok(()) => ready.push((*at, staged.clone())),
                Err(error) => self.missed(*at, staged, error, Some(locks), group),
            }
        }
        if let Err(error) = self.cede(giver, locks, &mut ready, group) {
            return group.all_unfinished(&ready, self.from.path(), error.into());
        }
        let ceded = ready.clone();
        let arrived = self.place(locks, ready, group);
        let is_there = |at: usize| arrived.iter().any(|(there, _)| *there == at);
        // Those whose arrival the disk did not confirm stay open: they may be there.
        let refused = ceded.iter().filter(|(at, _)| !is_there(*at) && !group.is_open(*at));
        let refused: Vec<_> = refused.cloned().collect();
        if let Err(error) = self.take_back(giver, locks, &refused) {
            group.all_unfinished(&refused, self.from.path(), error);
        }
        match self.leave(giver, locks, &arrived) {
            Ok(()) => group.all_done(arrived, self.to.path()),
            Err(error) => group.all_unfinished(&arrived, self.from.path(), error),
        }
    }

    /// The fence: the giver's sidecars say that the Original is ceded. Items that cannot be ceded are taken out.
    fn cede(
        &self,
        giver: &Writer,
        locks: &ChangeLocks,
        items: &mut Items,
        group: &mut Group,
    ) -> Result<(), PathError> {
        let mut texts = Vec::new();
        items.retain(|(at, staged)| {
            let text = self.locked_at_source(locks, staged).and_then(|item| {
                let before = item.read_sidecar()?;
                let offered = staged.received.as_ref().ok_or_else(|| staged.changed())?;
                let custody = before.sidecar.custody.ceded_to(offered, self.options.leaves);
                let ceded = Sidecar { state: State::Copy, custody, ..before.sidecar.clone() };
                let text = text_of(staged, &before, &ceded)?;
                Ok((item, text))
            });
            match text {
                Ok(text) => texts.push(text),
                Err(error) => {
                    group.failed(*at, staged, error);
                    return false;
                }
            }
            true
        });
        giver.replace_sidecars(&texts)
    }

    /// Withdraws the offer of items that the receiver did not get: the number offered is burnt.
    fn take_back(
        &self,
        giver: &Writer,
        locks: &ChangeLocks,
        items: &[(usize, Staged)],
    ) -> Result<(), TransferError> {
        let (mut texts, mut events) = (Vec::new(), Vec::new());
        for (_, staged) in items {
            let item = locks.item(&self.source_items, &staged.name)?;
            let item = item.ok_or_else(|| staged.changed())?;
            let before = item.read_sidecar()?;
            let custody = before.sidecar.custody.withdrawn(self.from.custody_id()?);
            let kept = Sidecar { state: State::Original, custody, ..before.sidecar.clone() };
            let text = text_of(staged, &before, &kept)?;
            let (name, now) = (item.name(), self.caller.clock.now());
            let event = Event::new(EventKind::Recovery, name, now, giver.agent());
            let note = Some(WITHDRAWN.to_owned());
            events.push(Event { note, ..event.leaving(Here::of(&kept)) });
            texts.push((item, text));
        }
        giver.replace_sidecars(&texts)?;
        Ok(self.from.record(locks, &events)?)
    }

    /// The end of the migration of items that the receiver has: each leaves a stub or a Copy.
    fn leave(
        &self,
        giver: &Writer,
        locks: &ChangeLocks,
        items: &[(usize, Staged)],
    ) -> Result<(), TransferError> {
        let mut leaving = Vec::new();
        for (_, staged) in items {
            let item = locks.item(&self.source_items, &staged.name)?;
            let item = item.ok_or_else(|| staged.changed())?;
            let read = item.read_sidecar()?;
            let custody = staged.received.as_ref().unwrap_or(&read.sidecar.custody).elsewhere();
            leaving.push((item, read, custody));
        }
        let (collection, clock) = (self.from, self.caller.clock);
        let digests: HashMap<_, _> = items.iter().map(|(_, it)| (&it.name, it.digest)).collect();
        let event = |name: &RepositoryName| {
            let event = Event::new(EventKind::Transfer, name, clock.now(), giver.agent());
            let event = event.with_source(self.from).with_destination(self.to);
            digests.get(name).map_or(event.clone(), |digest| event.with_digest(*digest))
        };
        let giver = Giver { collection, writer: giver, locks, event: &event, is_last: false };
        giver.leave(leaving, self.options.leaves)
    }

    /// Replaces Copies at the source by stubs, once the same Copies at the destination are proven.
    pub(super) fn drop_proven(&self, items: Items, group: &mut Group) {
        let proven = self.read_back(items, group, |staged| {
            let item =
                self.destination_items.item(&staged.name)?.ok_or_else(|| staged.changed())?;
            self.prove(&item)
        });
        for items in proven.chunks(items_at_a_time()) {
            self.locked(&[self.from], items, group, |locks, group| {
                let mut ready = Items::new();
                for (at, staged) in items {
                    match self.at_source(staged) {
                        Ok(_) => ready.push((*at, staged.clone())),
                        Err(error) => self.missed(*at, staged, error, Some(locks), group),
                    }
                }
                let Some(giver) = self.source_writer else { return };
                match self.leave(giver, locks, &ready) {
                    Ok(()) => group.all_done(ready, self.to.path()),
                    Err(error) => group.all_failed(&ready, error),
                }
            });
        }
    }

    /// Reads items back from the disk by `prove`, several at a time, and keeps those that are whole.
    fn read_back(
        &self,
        items: Items,
        group: &mut Group,
        prove: impl Fn(&Staged) -> Result<(), TransferError> + Sync,
    ) -> Items {
        let share = items.len().div_ceil(self.options.jobs.max(1)).max(1);
        let proofs: Vec<Result<(), TransferError>> = std::thread::scope(|threads| {
            let prove = &prove;
            let shares: Vec<_> = items
                .chunks(share)
                .map(|share| threads.spawn(move || share.iter().map(|(_, it)| prove(it)).collect()))
                .collect();
            shares.into_iter().flat_map(join::<Vec<_>>).collect()
        });
        let mut kept = Items::new();
        for ((at, staged), proof) in items.into_iter().zip(proofs) {
            match proof {
                Ok(()) => kept.push((at, staged)),
                Err(error) => self.missed(at, &staged, error, None, group),
            }
        }
        kept
    }

    /// Reads a staged item back and compares it with the giver's sidecar.
    fn prove_staged(&self, staged: &Staged) -> Result<(), TransferError> {
        let item = self.writer().staged_item(&staged.name, staged.in_stage())?;
        // Both lists are dropped before the proof reads its own: they may be long.
        {
            let giving = self.at_source(staged)?;
            let giving = sealed(&giving, giving.read_sidecar(), self.from.path())?.sidecar;
            let made = sealed(&item, item.read_sidecar(), self.to.path())?.sidecar;
            if made.files != giving.files || made.payload != giving.payload {
                return Err(staged.changed());
            }
        }
        self.prove(&item)
    }
}

/// The result of a thread; its panic continues in this one.
fn join<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
