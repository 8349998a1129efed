//! Publishing a group: one sync, then every item in one step.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::copy_job::{elsewhere, text_of};
use super::reading::sealed;
use super::shared::{Prepared, Shared};
use super::staged::Staged;
use super::{Outcome, RunMode, Step, TransferError, Transferred};
use crate::collection::{
    Arriving, ChangeLocks, Collection, CollectionError, Event, EventKind, GroupFailure, Here,
    Rewrite, StagedItem, Stopped, Year, Years, items_at_a_time,
};
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::item::State;

/// The outcomes of a group, in its order, and the error of the whole group.
pub(super) struct Group {
    outcomes: BTreeMap<usize, Outcome>,
    /// Events for the logs.
    done: Vec<Staged>,
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

    pub(super) fn all_done(&mut self, items: Items, root: &Path) {
        for (at, staged) in items {
            self.done(at, staged, root);
        }
    }

    pub(super) fn failed(&mut self, at: usize, staged: &Staged, error: TransferError) {
        let outcome = Outcome { name: staged.name.clone(), result: Err(error) };
        self.outcomes.insert(at, outcome);
    }

    /// Each of `items` ended so, and the failure of one may also stop later groups.
    fn ended(
        &mut self,
        items: impl Iterator<Item = ((usize, Staged), Result<(), CollectionError>)>,
        root: &Path,
    ) {
        for ((at, staged), end) in items {
            match end {
                Ok(()) => self.done(at, staged, root),
                Err(CollectionError::Changed { .. }) => self.failed(at, &staged, staged.changed()),
                Err(error) => {
                    if let CollectionError::Stopped(Stopped::Unconfirmed {
                        source: Some(source),
                        ..
                    }) = &error
                    {
                        self.fatal.get_or_insert(source.repeated("confirm").into());
                    }
                    self.failed(at, &staged, error.into());
                }
            }
        }
    }

    /// `items` are not begun, because the run was interrupted.
    pub(super) fn all_interrupted(&mut self, items: &[(usize, Staged)]) {
        for (at, staged) in items {
            self.failed(*at, staged, TransferError::Interrupted);
        }
    }

    /// All `items` fail because of `error`, which would also stop later groups.
    pub(super) fn all_failed(&mut self, items: &[(usize, Staged)], error: TransferError) {
        for (at, staged) in items {
            self.failed(*at, staged, TransferError::GroupFailed);
        }
        self.fatal.get_or_insert(error);
    }

    /// The migrations of `items` stay open because of `error`: some may be on the disk and others not, so
    /// recovery has to look at each.
    pub(super) fn all_unfinished(
        &mut self,
        items: &[(usize, Staged)],
        giver: &Path,
        error: TransferError,
    ) {
        for (at, staged) in items {
            let (name, giver) = (staged.name.clone(), giver.to_path_buf());
            let source = Box::new(TransferError::GroupFailed);
            self.failed(*at, staged, TransferError::Unfinished { name, giver, source });
        }
        self.fatal.get_or_insert(error);
    }

    /// Whether the migration of an item stays open.
    pub(super) fn is_open(&self, at: usize) -> bool {
        let outcome = self.outcomes.get(&at).map(|outcome| &outcome.result);
        matches!(outcome, Some(Err(TransferError::Unfinished { .. })))
    }
}

impl Shared<'_> {
    /// Publishes a group: everything in it is durable when this returns, or has its reason why not.
    ///
    /// An error would also stop later groups.
    pub(super) fn publish(&self, ready: Vec<Prepared>) -> (Vec<Outcome>, Option<TransferError>) {
        let mut group = Group { outcomes: BTreeMap::new(), done: Vec::new(), fatal: None };
        let (mut copies, mut originals) = (Items::new(), Items::new());
        let (mut drops, mut described) = (Items::new(), Items::new());
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
                        Step::HandOver => originals.push((at, staged)),
                        _ => copies.push((at, staged)),
                    }
                }
                Prepared::Drop(staged) => drops.push((at, staged)),
                Prepared::Describe(staged) => described.push((at, staged)),
            }
        }
        let in_stage = |(at, staged): &(usize, Staged)| {
            Some((*at, staged.replaced.is_some(), staged.item.clone()?))
        };
        let staged: Vec<_> = copies.iter().chain(&originals).filter_map(in_stage).collect();
        self.publish_copies(copies, &mut group);
        self.hand_over(originals, &mut group);
        self.drop_proven(drops, &mut group);
        self.describe(&described, &mut group);
        self.sync_what_is_there(&mut group);
        if self.options.mode == RunMode::Act {
            drop(reserved);
            let left = staged.iter().filter(|(at, replaces, _)| {
                let is_done = matches!(group.outcomes.get(at), Some(Outcome { result: Ok(_), .. }));
                !is_done || *replaces
            });
            // Items that the group has replaced, or could not publish: a long run needs the room.
            left.for_each(|(.., item)| self.writer().discard(item));
        }
        (group.outcomes.into_values().collect(), group.fatal)
    }

    /// Makes sure that existing items are durable before they are reported: another run, killed or at work,
    /// may have published them without a sync.
    fn sync_what_is_there(&self, group: &mut Group) {
        let is_there = |step| step == Step::Nothing;
        let mut skipped = group.done.iter().filter(|staged| is_there(staged.step)).peekable();
        if self.options.mode == RunMode::Plan || skipped.peek().is_none() {
            return;
        }
        // Its bytes were synced before it was published.
        if let Err(error) = self.to.confirm_names(skipped.map(Staged::at)) {
            for outcome in group.outcomes.values_mut() {
                if matches!(&outcome.result, Ok(done) if is_there(done.step)) {
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
        locks: Option<&ChangeLocks>,
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
            Ok(Prepared::Planned(there)) => group.done(at, there, self.to.path()),
            Ok(Prepared::Passed) => {}
            Ok(_) => group.failed(at, staged, staged.changed()),
            Err(error) => group.failed(at, staged, error),
        }
    }

    /// The event of an item at the destination, for the ledger there.
    fn event(&self, staged: &Staged) -> Event {
        let (kind, note) = match staged.step {
            Step::Bury => (EventKind::Deletion, Some("its Original was deleted".to_owned())),
            Step::HandOver | Step::MoveCopy => (EventKind::Transfer, None),
            _ if matches!(&staged.replaced, Some((Here { state: State::Copy, .. }, _))) => {
                (EventKind::Modification, None)
            }
            _ => (EventKind::Replication, None),
        };
        let (now, agent) = (self.caller.clock.now(), self.writer().agent());
        let event = Event::new(kind, &staged.name, now, agent).with_source(self.from);
        let event = event.with_digest(staged.digest).leaving(staged.there.clone());
        let event = Event { note, import: staged.import.clone(), ..event };
        if kind == EventKind::Transfer { event.with_destination(self.to) } else { event }
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
        let mut placed = Items::new();
        for items in whole.chunks(items_at_a_time()) {
            self.locked(&[self.to], items, group, |locks, group| {
                placed.extend(self.place(locks, items.to_vec(), group));
            });
        }
        let (moved, copied): (Items, Items) =
            placed.into_iter().partition(|(_, staged)| staged.step == Step::MoveCopy);
        for (at, staged) in copied {
            group.done(at, staged, self.to.path());
        }
        self.drop_proven(moved, group);
    }

    /// Replaces the sidecars of Copies whose payload is that of the source.
    fn describe(&self, items: &Items, group: &mut Group) {
        for items in items.chunks(items_at_a_time()) {
            self.locked(&[self.to], items, group, |locks, group| {
                let (mut rewrites, mut ready) = (Vec::new(), Items::new());
                for (at, staged) in items {
                    match self.described(locks, staged) {
                        Ok(rewrite) => {
                            rewrites.push(rewrite);
                            ready.push((*at, staged.clone()));
                        }
                        Err(error) => self.missed(*at, staged, error, Some(locks), group),
                    }
                }
                match self.writer().rewrite(locks, &rewrites) {
                    Ok(ends) => group.ended(ready.into_iter().zip(ends), self.to.path()),
                    Err(error) => group.all_failed(&ready, error.into()),
                }
            });
        }
    }

    /// The Copy with the sidecar of the source.
    fn described<'l>(
        &'l self,
        locks: &'l ChangeLocks,
        staged: &Staged,
    ) -> Result<Rewrite<'l>, TransferError> {
        let source = self.at_source(staged)?;
        let source = sealed(&source, source.read_sidecar(), self.from.path())?;
        let item = self.at_destination(locks, staged)?;
        let replaced = staged.replaced.clone().ok_or_else(|| staged.changed())?;
        let text = text_of(staged, &source, &elsewhere(&source.sidecar, staged.there.state))?;
        let after = (text, staged.there.clone());
        Ok(Rewrite::refresh(item, replaced, after, self.event(staged)))
    }

    /// Calls `act` with the locks of `collections`, in which `items` change.
    pub(super) fn locked(
        &self,
        collections: &[&Collection],
        items: &[(usize, Staged)],
        group: &mut Group,
        act: impl FnOnce(&ChangeLocks, &mut Group),
    ) {
        match self.lock(collections.iter().copied()) {
            Ok(locks) => act(&locks, group),
            Err(error) => group.all_failed(items, error.into()),
        }
    }

    /// Publishes synced items and syncs their directories. Returns the durable ones.
    pub(super) fn place(&self, locks: &ChangeLocks, items: Items, group: &mut Group) -> Items {
        let mut by_year: BTreeMap<PathBuf, Items> = BTreeMap::new();
        for (at, staged) in items {
            by_year.entry(staged.place.0.clone()).or_default().push((at, staged));
        }
        let mut placed = Items::new();
        for (year, items) in by_year {
            match self.to.year_of_arrivals(&year) {
                Ok(year) => placed.extend(self.place_in(locks, &year, items, group)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    self.destination_items.forget_new();
                    for (at, staged) in items {
                        let changed = staged.changed();
                        self.missed(at, &staged, changed, Some(locks), group);
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
        locks: &ChangeLocks,
        year: &Year<'_>,
        mut items: Items,
        group: &mut Group,
    ) -> Items {
        for (_, staged) in &mut items {
            // A deletion can be undone; whatever no sidecar lists is kept.
            let is_kept = staged.step == Step::Bury
                || self.options.line_up.is_some()
                || !staged.unlisted.is_empty();
            staged.is_kept = is_kept && staged.replaced.is_some();
        }
        let mut years = Years::of(self.to);
        let put = |(_, staged): &(usize, Staged)| self.put(locks, (year, &mut years), staged);
        let event = |(_, staged): &(usize, Staged)| self.event(staged);
        let published = self.writer().publish(locks, year, items, event, put);
        for (at, staged, error) in published.refused.into_iter().map(|((at, it), e)| (at, it, e)) {
            self.missed(at, &staged, error, Some(locks), group);
        }
        match published.failed {
            None => {}
            Some(GroupFailure::NotPlaced(items, error)) => group.all_failed(&items, error.into()),
            Some(GroupFailure::NotDurable(items, error)) => {
                for (at, staged) in &items {
                    group.failed(*at, staged, self.not_durable(staged, &error));
                }
                group.fatal.get_or_insert(error.into());
            }
        }
        published.placed
    }

    /// The failure of an item that may be in place: recovery has to look at a migration.
    fn not_durable(&self, staged: &Staged, error: &PathError) -> TransferError {
        let name = staged.name.clone();
        let error =
            TransferError::NotDurable { name: name.clone(), source: error.repeated("sync") };
        match staged.step {
            Step::HandOver => {
                let giver = self.from.path().to_path_buf();
                TransferError::Unfinished { name, giver, source: Box::new(error) }
            }
            _ => error,
        }
    }

    /// Publishes one item.
    fn put(
        &self,
        locks: &ChangeLocks,
        (year, years): (&Year<'_>, &mut Years<'_>),
        staged: &Staged,
    ) -> Result<(), TransferError> {
        if staged.replaced.is_none() {
            let put = self.writer().put_new(staged.in_stage(), year, &staged.place.1);
            return put.map_err(|error| match error.kind() {
                std::io::ErrorKind::AlreadyExists => staged.changed(),
                _ => error.into(),
            });
        }
        let item = self.at_destination(locks, staged)?;
        if staged.is_kept {
            self.writer().replace_item(staged.in_stage(), &item, years)?;
        } else {
            self.writer().swap_item(staged.in_stage(), &item, years)?;
        }
        Ok(())
    }
}

impl Arriving for (usize, Staged) {
    fn name(&self) -> &RepositoryName {
        &self.1.name
    }

    fn staged(&self) -> &StagedItem {
        self.1.in_stage()
    }

    fn leaves_to_trash(&self) -> bool {
        self.1.is_kept
    }
}

impl Transferred {
    /// Whether anything was changed, or would be.
    pub fn is_change(&self) -> bool {
        self.step != Step::Nothing
    }
}
