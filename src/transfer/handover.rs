//! Handing Originals over: never two of them, never none [protocol: migrate].
//!
//! 1. The staged Copies are synced and read back from the receiver's disk, without locks.
//! 2. Both sides' locks are taken, and the decision is checked against both sidecars again.
//! 3. A record goes to the giver's journal. 4. The receiver gets the Copies, with a mark.
//! 5. The giver's sidecars say Copy, with the same mark. *From here on the receiver has the Originals*, for
//!    every reader that knows the mark.
//! 6. The receiver's sidecars say Original. 7. The giver's copies are removed, or lose their mark; then the
//!    record is removed.
//!
//! Each of these is one step for many items, synced before the next. From 5 on the work is the same as after
//! a crash, and [`settle`] does it in both cases; after a crash, the receiver's items are read once more
//! before the giver's copies are removed. A crash before 5 leaves the Originals with the giver. While the
//! locks are held, no payload is read.

use super::look::Locks;
use super::publish::{Group, Items};
use super::reading::sealed;
use super::settle::{HandoverEnd, Sides, settle};
use super::shared::Shared;
use super::staged::Staged;
use super::{TransferError, sidecars};
use crate::collection::{CollectionError, ItemLocks, Writer, items_at_a_time};
use crate::disk::PathError;
use crate::holdings::Peers;

impl Shared<'_> {
    /// Hands a group over, some items at a time.
    pub(super) fn hand_over(&self, items: Items, group: &mut Group) {
        let Some(giver) = self.source_writer else { return };
        if items.is_empty() {
            return;
        }
        if let Err(error) = self.sync_staged(&items) {
            return group.all_failed(&items, error.into());
        }
        let mut rest = self.read_back(items, group);
        while !rest.is_empty() {
            if self.caller.interrupt.requested() {
                return group.all_interrupted(&rest);
            }
            let more = rest.split_off(rest.len().min(items_at_a_time()));
            self.hand_some_over(giver, std::mem::replace(&mut rest, more), group);
        }
    }

    /// Hands items over under their locks. If one is locked by another process, the others go one by
    /// one.
    fn hand_some_over(&self, giver: &Writer, items: Items, group: &mut Group) {
        let both = items.iter().flat_map(|(_, it)| [(self.from, &it.name), (self.to, &it.name)]);
        match self.lock(both) {
            Ok(locks) => self.hand_over_locked(giver, &locks, items, group),
            Err(CollectionError::ItemLocked { .. }) if items.len() > 1 => {
                for item in items {
                    self.hand_some_over(giver, vec![item], group);
                }
            }
            Err(error) => {
                if let [(at, staged)] = items.as_slice() {
                    group.failed(*at, staged, error.into());
                } else {
                    group.all_failed(&items, error.into());
                }
            }
        }
    }

    fn hand_over_locked(&self, giver: &Writer, locks: &ItemLocks, items: Items, group: &mut Group) {
        let items = self.keep(items, Locks::Held(locks), group, |staged| {
            self.at_source(staged)?;
            if staged.replaced.is_some() {
                self.at_destination(locks, staged)?;
            }
            Ok(self.writer().complete(staged.in_stage())?)
        });
        if items.is_empty() {
            return;
        }
        if !self.options.rules.leave_copy
            && let Err(error) = self.from.confirm_inventory()
        {
            return group.all_failed(&items, error.into());
        }
        let names: Vec<_> = items.iter().map(|(_, staged)| staged.name.clone()).collect();
        let record = self.journal_record(names);
        let begun = record.and_then(|record| Ok((record.begin(self.from)?, record)));
        let (journal, record) = match begun {
            Ok(begun) => begun,
            Err(error) => return group.all_failed(&items, error.into()),
        };
        let all = items.clone();
        let ready = self.place(items, group, Locks::Held(locks));
        if let Err(error) = self.give((giver, locks), &ready, group) {
            // The record stays.
            let ready = ready.iter().map(|(at, staged)| (*at, staged));
            return group.all_unfinished(ready, error.into());
        }
        let sides = Sides {
            from: self.from,
            to: self.to,
            giver,
            receiver: self.writer(),
            locks,
            others: Peers::default(),
            moved_from: None,
            clock: self.caller.clock,
        };
        // They came from the stage, where they were read back.
        let settled = settle(&sides, &record, &mut |_, _| Ok(()));
        if let Err(error) = record.keep_failed(self.from, &journal, &settled) {
            group.fatal.get_or_insert(error.into());
        }
        for ((at, staged), (_, outcome)) in all.iter().zip(settled) {
            match outcome {
                Ok(HandoverEnd::HandedOver) => group.done(*at, staged.clone(), self.to.path()),
                Ok(HandoverEnd::Withdrawn | HandoverEnd::TakenBack | HandoverEnd::Vanished) => {
                    group.failed_unless_told(*at, staged);
                }
                Err(error) => {
                    let (name, source) = (staged.name.clone(), Box::new(error));
                    group.failed(*at, staged, TransferError::Unfinished { name, source });
                }
            }
        }
    }

    /// Reads staged Copies back from the disk, several at a time, and keeps those that are whole.
    fn read_back(&self, items: Items, group: &mut Group) -> Items {
        let share = items.len().div_ceil(self.options.jobs.max(1)).max(1);
        let proofs: Vec<Result<(), TransferError>> = std::thread::scope(|threads| {
            let shares: Vec<_> = items
                .chunks(share)
                .map(|share| {
                    let prove = |(_, staged): &(usize, Staged)| self.prove_staged(staged);
                    threads.spawn(move || share.iter().map(prove).collect())
                })
                .collect();
            shares.into_iter().flat_map(join::<Vec<_>>).collect()
        });
        let mut proofs = proofs.into_iter();
        self.keep(items, Locks::Free, group, |_| {
            proofs.next().unwrap_or(Err(TransferError::GroupFailed))
        })
    }

    /// Reads a staged Copy back and compares it with the giver's sidecar.
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

    /// Keeps the items for which `check` succeeds; it is called in order.
    fn keep(
        &self,
        items: Items,
        locks: Locks<'_>,
        group: &mut Group,
        mut check: impl FnMut(&Staged) -> Result<(), TransferError>,
    ) -> Items {
        let mut kept = Items::new();
        for (at, staged) in items {
            match check(&staged) {
                Ok(()) => kept.push((at, staged)),
                Err(error) => self.missed(at, &staged, error, locks, group),
            }
        }
        kept
    }

    /// The point of no return: the giver's sidecars say Copy.
    fn give(
        &self,
        (giver, locks): (&Writer, &ItemLocks),
        items: &Items,
        group: &mut Group,
    ) -> Result<(), PathError> {
        let mut texts = Vec::new();
        let now = self.caller.clock.now();
        for (at, staged) in items {
            let text = self.locked_at_source(locks, staged).and_then(|item| {
                let before = item.read_sidecar()?;
                let given = sidecars::given(&before.sidecar, &self.token, self.to, now);
                Ok((item, sidecars::text(&staged.name, &before, &given)?))
            });
            match text {
                Ok(text) => texts.push(text),
                Err(error) => group.failed(*at, staged, error),
            }
        }
        giver.replace_sidecars(&texts)
    }
}

/// The result of a thread; its panic continues in this one.
fn join<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
