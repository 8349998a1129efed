//! Publishing a group: one sync, then every item in one step.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::look::Locks;
use super::shared::{Prepared, Shared};
use super::staged::Staged;
use super::unlisted::keep_unlisted;
use super::{Outcome, Replaces, RunMode, Step, TransferError, Transferred};
use crate::collection::{
    Arriving, Event, EventKind, GroupFailure, IndexUpdate, InventoryChange, StagedItem, Year,
};
use crate::disk::PathError;
use crate::holdings::Remains;
use crate::identity::RepositoryName;
use crate::item::State;

/// The outcomes of a group, in its order, and the error of the whole group.
pub(super) struct Group {
    outcomes: BTreeMap<usize, Outcome>,
    /// Events for the logs.
    done: Vec<Staged>,
    /// Copies at the source that another run has made superfluous meanwhile.
    late_drops: Items,
    pub fatal: Option<TransferError>,
}

/// Staged items with their places in the group.
pub(super) type Items = Vec<(usize, Staged)>;

impl Group {
    pub(super) fn done(&mut self, at: usize, staged: Staged, root: &Path) {
        let outcome = Outcome { name: staged.name.clone(), result: Ok(staged.transferred(root)) };
        self.outcomes.insert(at, outcome);
        self.done.push(staged);
    }

    pub(super) fn failed(&mut self, at: usize, staged: &Staged, error: TransferError) {
        let outcome = Outcome { name: staged.name.clone(), result: Err(error) };
        self.outcomes.insert(at, outcome);
    }

    /// `items` are not begun, because the run was interrupted.
    pub(super) fn all_interrupted(&mut self, items: &[(usize, Staged)]) {
        for (at, staged) in items {
            self.failed(*at, staged, TransferError::Interrupted);
        }
    }

    /// The item was not transferred; the reason may have been reported already.
    pub(super) fn failed_unless_told(&mut self, at: usize, staged: &Staged) {
        if !self.outcomes.contains_key(&at) {
            self.failed(at, staged, TransferError::GroupFailed);
        }
    }

    /// All `items` fail because of `error`, which would also stop later groups.
    pub(super) fn all_failed(&mut self, items: &[(usize, Staged)], error: TransferError) {
        for (at, staged) in items {
            self.failed(*at, staged, TransferError::GroupFailed);
        }
        self.fatal.get_or_insert(error);
    }

    /// The hand-overs of `items` stay open because of `error`: some may be on the disk and others not, so
    /// everything has to be checked again.
    pub(super) fn all_unfinished<'s>(
        &mut self,
        items: impl IntoIterator<Item = (usize, &'s Staged)>,
        error: TransferError,
    ) {
        for (at, staged) in items {
            let (name, source) = (staged.name.clone(), Box::new(TransferError::GroupFailed));
            self.failed(at, staged, TransferError::Unfinished { name, source });
        }
        self.fatal.get_or_insert(error);
    }
}

impl Shared<'_> {
    /// Publishes a group: everything in it is durable when this returns, or has its reason why not.
    ///
    /// An error would also stop later groups.
    pub(super) fn publish(&self, ready: Vec<Prepared>) -> (Vec<Outcome>, Option<TransferError>) {
        let mut group = Group {
            outcomes: BTreeMap::new(),
            done: Vec::new(),
            late_drops: Items::new(),
            fatal: None,
        };
        let (mut copies, mut handovers) = (Items::new(), Items::new());
        let (mut moves, mut drops, mut burials) = (Items::new(), Items::new(), Items::new());
        let mut reserved = Vec::new();
        for (at, ready) in ready.into_iter().enumerate() {
            match ready {
                Prepared::Passed => {}
                Prepared::Planned(staged) => group.done(at, staged, self.to.path()),
                Prepared::Failed(name, error) => {
                    group.outcomes.insert(at, Outcome { name, result: Err(error) });
                }
                Prepared::Staged(staged, room) => {
                    reserved.extend(room);
                    match staged.step {
                        Step::HandOver(_) => handovers.push((at, staged)),
                        _ => copies.push((at, staged)),
                    }
                }
                Prepared::Move(staged) => moves.push((at, staged)),
                Prepared::Drop(staged) => drops.push((at, staged)),
                Prepared::Bury(staged) => burials.push((at, staged)),
            }
        }
        let in_stage =
            |(at, staged): &(usize, Staged)| Some((*at, staged.step, staged.item.clone()?));
        let staged: Vec<_> = copies.iter().chain(&handovers).filter_map(in_stage).collect();
        let arriving = [&copies[..], &handovers, &moves, &burials].concat();
        let changing = self.announce(&arriving, &[&handovers[..], &moves, &drops].concat());
        self.publish_copies(copies, &mut group);
        self.hand_over(handovers, &mut group);
        self.move_all(moves, &mut group);
        self.drop_all(&drops, &mut group);
        self.bury_all(&burials, &mut group);
        let late_drops = std::mem::take(&mut group.late_drops);
        self.drop_all(&late_drops, &mut group);
        self.sync_what_is_there(&mut group);
        drop(changing);
        if self.options.mode == RunMode::Act {
            self.note(&group.done);
            drop(reserved);
            let left = staged.iter().filter(|(at, step, _)| {
                let is_done = matches!(group.outcomes.get(at), Some(Outcome { result: Ok(_), .. }));
                !(is_done && step.over() == Replaces::Nothing)
            });
            self.make_room(left.map(|(.., item)| item));
        }
        (group.outcomes.into_values().collect(), group.fatal)
    }

    /// Announces the changes to the indexes of both sides.
    fn announce(&self, arriving: &Items, leaving: &Items) -> Vec<IndexUpdate<'_>> {
        let moved = arriving.iter().filter(|(_, staged)| staged.step == Step::MoveCopy);
        let named = |(_, staged): &(usize, Staged)| staged.name.clone();
        let leaving: Vec<_> = leaving.iter().chain(moved).map(named).collect();
        let arriving: Vec<_> = arriving.iter().map(named).collect();
        let sides = [(self.writer, self.to, arriving), (self.source_writer, self.from, leaving)];
        sides
            .into_iter()
            .filter(|(_, _, names)| !names.is_empty())
            .filter_map(|(writer, collection, names)| Some(writer?.changing(collection, names)))
            .collect()
    }

    /// Removes items that the group has replaced, removed from the source, or could not publish: a long run
    /// needs the room.
    fn make_room<'a>(&self, staged: impl Iterator<Item = &'a StagedItem>) {
        staged.for_each(|item| self.writer().discard(item));
        for writer in [self.writer, self.source_writer].into_iter().flatten() {
            let _ = writer.remove_retired();
        }
    }

    /// Makes sure that existing items are durable before they are reported: another run, killed or at work,
    /// may have published them without a sync.
    fn sync_what_is_there(&self, group: &mut Group) {
        let mut skipped = group.done.iter().filter(|staged| staged.step == Step::Skip).peekable();
        if self.options.mode == RunMode::Plan || skipped.peek().is_none() {
            return;
        }
        // Its bytes were synced before it was published.
        if let Err(error) = self.to.confirm_names(skipped.map(Staged::at)) {
            for outcome in group.outcomes.values_mut() {
                if matches!(&outcome.result, Ok(done) if done.step == Step::Skip) {
                    outcome.result = Err(TransferError::GroupFailed);
                }
            }
            group.fatal.get_or_insert(error.into());
        }
    }

    /// Reports an item that could not be transferred as decided. If another process was faster, the present
    /// state decides.
    pub(super) fn missed(
        &self,
        at: usize,
        staged: &Staged,
        error: TransferError,
        locks: Locks<'_>,
        group: &mut Group,
    ) {
        // An item that is removed while it is read looks damaged as well.
        let error = match (error, self.at_source(staged)) {
            (TransferError::Damaged { .. }, Err(changed @ TransferError::Changed { .. })) => {
                changed
            }
            (error, _) => error,
        };
        match self.done_by_others(&staged.name, error, locks) {
            Ok(Prepared::Drop(staged)) => group.late_drops.push((at, staged)),
            Ok(Prepared::Planned(there)) => group.done(at, there, self.to.path()),
            Ok(_) => group.failed(at, staged, staged.changed()),
            Err(error) => group.failed(at, staged, error),
        }
    }

    /// Notes the changes in the event logs of both sides.
    fn note(&self, done: &[Staged]) {
        let now = self.caller.clock.now();
        let event = |kind, staged: &Staged| {
            let event = Event::new(kind, &staged.name, now, self.writer().agent());
            let event = event.with_source(self.from);
            match staged.digest {
                Some(digest) => event.with_digest(digest),
                None => event,
            }
        };
        let (mut here, mut there) = (Vec::new(), Vec::new());
        for staged in done {
            match staged.step {
                Step::Skip => {}
                Step::Revive => there.push(event(EventKind::Recovery, staged)),
                Step::Bury(_) => there.push(Event {
                    note: Some("its Original was deleted".to_owned()),
                    ..event(EventKind::Deletion, staged)
                }),
                Step::Copy(Replaces::Copy) => there.push(event(EventKind::Modification, staged)),
                Step::Copy(_) => there.push(event(EventKind::Replication, staged)),
                Step::HandOver(_) | Step::MoveCopy | Step::DropCopy => {
                    let event = event(EventKind::Transfer, staged).with_destination(self.to);
                    here.push(event.clone());
                    there.push(event);
                }
            }
        }
        self.from.note(&here);
        self.to.note(&there);
    }

    /// Syncs staged items, wherever they were built.
    pub(super) fn sync_staged(&self, items: &Items) -> Result<(), PathError> {
        let staged = items.iter().map(|(_, staged)| (staged.place.0.as_path(), staged.in_stage()));
        self.writer().sync_staged(self.to, staged)
    }

    fn publish_copies(&self, copies: Items, group: &mut Group) {
        if copies.is_empty() {
            return;
        }
        if let Err(error) = self.sync_staged(&copies) {
            // A failed sync is not repeated: the kernel may have dropped the bytes.
            return group.all_failed(&copies, error.into());
        }
        let mut whole = Items::new();
        for (at, staged) in copies {
            match self.writer().complete(staged.in_stage()) {
                Ok(()) => whole.push((at, staged)),
                Err(error) => group.failed(at, &staged, error.into()),
            }
        }
        let placed = self.place(whole, group, Locks::Free);
        let mut moved = Items::new();
        for (at, staged) in placed {
            match staged.step {
                Step::MoveCopy => moved.push((at, staged)),
                _ => group.done(at, staged, self.to.path()),
            }
        }
        self.drop_all(&moved, group);
    }

    /// Publishes synced items and syncs their directories. Returns the durable ones.
    ///
    /// Replacing an item needs its lock, which is taken here unless it is held.
    pub(super) fn place(&self, items: Items, group: &mut Group, locks: Locks<'_>) -> Items {
        let mut by_year: BTreeMap<PathBuf, Items> = BTreeMap::new();
        for (at, staged) in items {
            by_year.entry(staged.place.0.clone()).or_default().push((at, staged));
        }
        let mut placed = Items::new();
        for (year, items) in by_year {
            match self.to.year_of_arrivals(&year) {
                Ok(year) => placed.extend(self.place_in(&year, items, group, locks)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    for (at, staged) in items {
                        let changed = staged.changed();
                        self.missed(at, &staged, changed, locks, group);
                    }
                }
                Err(error) => group.all_failed(&items, error.into()),
            }
        }
        placed.sort_by_key(|(at, _)| *at);
        placed
    }

    fn place_in(
        &self,
        year: &Year<'_>,
        items: Items,
        group: &mut Group,
        locks: Locks<'_>,
    ) -> Items {
        let put = |(_, staged): &(usize, Staged)| self.put(year, staged, locks);
        let published = self.writer().publish(year, items, self.caller.clock, put);
        for (at, staged, error) in published.refused.into_iter().map(|((at, it), e)| (at, it, e)) {
            self.missed(at, &staged, error, locks, group);
        }
        match published.failed {
            None => {}
            Some(GroupFailure::NotPlaced(items, error)) => group.all_failed(&items, error.into()),
            Some(GroupFailure::NotDurable(items, error)) => {
                for (at, staged) in &items {
                    group.failed(*at, staged, not_durable(&staged.name, &error));
                }
                group.fatal.get_or_insert(error.into());
            }
        }
        published.placed
    }

    /// Publishes one item.
    fn put(&self, year: &Year<'_>, staged: &Staged, locks: Locks<'_>) -> Result<(), TransferError> {
        if staged.step.over() == Replaces::Nothing {
            let put = self.writer().put_new(staged.in_stage(), year, &staged.place.1);
            return put.map_err(|error| match error.kind() {
                std::io::ErrorKind::AlreadyExists => staged.changed(),
                _ => error.into(),
            });
        }
        let taken;
        let locks = match locks {
            Locks::Held(locks) => locks,
            Locks::Free if staged.step == Step::Revive => {
                let waiter = self.caller.waiter();
                taken = self.claim().lock(&staged.name, self.caller.agent, &waiter)?;
                self.claim().check(&staged.name, Remains::Tombstone)?;
                &taken
            }
            Locks::Free => {
                taken = self.lock([(self.to, &staged.name)])?;
                &taken
            }
        };
        let item = self.at_destination(locks, staged)?;
        keep_unlisted(&item)?;
        Ok(self.writer().swap_item(staged.in_stage(), &item)?)
    }
}

impl Arriving for (usize, Staged) {
    fn name(&self) -> &RepositoryName {
        &self.1.name
    }

    fn staged(&self) -> &StagedItem {
        self.1.in_stage()
    }

    fn change(&self) -> Option<InventoryChange> {
        let state = match self.1.step {
            // It was a Copy before.
            Step::Copy(Replaces::Copy) | Step::HandOver(Replaces::Copy) | Step::Skip => {
                return None;
            }
            Step::Revive => State::Original,
            Step::Bury(_) => State::Deleted,
            // An item in a hand-over is a Copy until the hand-over is settled.
            Step::Copy(_) | Step::HandOver(_) | Step::MoveCopy | Step::DropCopy => State::Copy,
        };
        Some(InventoryChange::Entered(state))
    }
}

pub(super) fn not_durable(name: &RepositoryName, error: &PathError) -> TransferError {
    TransferError::NotDurable { name: name.clone(), source: error.repeated("sync") }
}

impl Transferred {
    /// Whether anything was changed, or would be.
    pub fn is_change(&self) -> bool {
        self.step != Step::Skip
    }
}
