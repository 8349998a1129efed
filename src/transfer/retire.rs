//! Removing items from the source: by a move within one file system, or after the destination was verified.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::journal::{self, JournalRecord};
use super::look::Locks;
use super::publish::{Group, Items, not_durable};
use super::reading::sealed;
use super::shared::Shared;
use super::staged::Staged;
use super::unlisted::keep_unlisted;
use super::{Step, TransferError, sidecars};
use crate::clock::Clock;
use crate::collection::{
    Collection, CollectionError, Departure, InventoryChange, ItemLocks, LockedItem, Writer, Year,
    items_at_a_time,
};
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::item::State;
use crate::layout;

impl<'a> Shared<'a> {
    /// Moves unchanged items, each by one rename, without reading their payload.
    pub(super) fn move_all(&self, items: Items, group: &mut Group) {
        let items = self.stage_histories(items, group);
        let mut ending = Ending::default();
        for items in items.chunks(items_at_a_time()) {
            if self.caller.interrupt.requested() {
                group.all_interrupted(items);
            } else {
                self.move_some(items, &mut ending, group);
            }
        }
        if ending.journals.is_empty() {
            return;
        }
        // One sync for many sidecars: until then, the journal covers a power cut.
        let synced = self.to.confirm_names(ending.renewed);
        if let Err(error) = synced.and_then(|()| journal::end(self.from, &ending.journals)) {
            group.fatal.get_or_insert(error.into());
        }
    }

    /// Stages and syncs the sidecars that record the hand-overs: after the Originals have moved, there may be
    /// no room for them.
    fn stage_histories(&self, items: Items, group: &mut Group) -> Items {
        let mut ready = Items::new();
        for (at, mut staged) in items {
            if let Step::HandOver(_) = staged.step {
                match self.stage_history(&staged) {
                    Ok(sidecar) => staged.history = Some(sidecar),
                    Err(error) => {
                        self.missed(at, &staged, error, Locks::Free, group);
                        continue;
                    }
                }
            }
            ready.push((at, staged));
        }
        let mut staged = ready.iter().filter_map(|(_, it)| it.history.as_deref()).peekable();
        if staged.peek().is_some()
            && let Err(error) = self.writer().sync_staged_sidecars(staged)
        {
            group.all_failed(&ready, error.into());
            return Items::new();
        }
        ready
    }

    fn stage_history(&self, staged: &Staged) -> Result<PathBuf, TransferError> {
        let item = self.source_items.item(&staged.name)?.ok_or_else(|| staged.changed())?;
        let read = sealed(&item, item.read_sidecar(), self.from.path())?;
        if read.version != staged.source {
            return Err(staged.changed());
        }
        let both = (self.from, self.to);
        let renamed = sidecars::renamed(&read.sidecar, both, self.caller.clock.now());
        let text = sidecars::text(&staged.name, &read, &renamed)?;
        Ok(self.writer().stage_sidecar(&text)?)
    }

    /// If one is locked by another process, the others go one by one.
    fn move_some(&self, items: &[(usize, Staged)], ending: &mut Ending, group: &mut Group) {
        let both = items.iter().flat_map(|(_, it)| [(self.from, &it.name), (self.to, &it.name)]);
        let locks = match self.lock(both) {
            Ok(locks) => locks,
            Err(CollectionError::ItemLocked { .. }) if items.len() > 1 => {
                for item in items {
                    self.move_some(std::slice::from_ref(item), ending, group);
                }
                return;
            }
            Err(error) => {
                return match items {
                    [(at, staged)] => group.failed(*at, staged, error.into()),
                    _ => group.all_failed(items, error.into()),
                };
            }
        };
        self.move_locked(items, &locks, ending, group);
    }

    /// Moves locked items. Steps that may be refused, or need room, come before the lines of the inventory
    /// about their departure. The journal says that the items may still be here, until items that stayed are
    /// recorded as staying and moved ones have their new sidecars.
    fn move_locked(
        &self,
        items: &[(usize, Staged)],
        locks: &ItemLocks,
        ending: &mut Ending,
        group: &mut Group,
    ) {
        let mut years = Years::default();
        let (mut ready, mut moves) = (Vec::new(), Vec::new());
        for item @ (at, staged) in items {
            match self.prepare_move(staged, locks, &mut years) {
                Ok(route) => {
                    ready.push(item.clone());
                    moves.push((*at, staged, route));
                }
                Err(error) => self.missed(*at, staged, error, Locks::Held(locks), group),
            }
        }
        let journal = match self.begin_moves(&ready) {
            Ok(journal) => journal,
            Err(error) => return group.all_failed(&ready, error.into()),
        };
        let clock = self.caller.clock;
        let left = InventoryChange::Left(Departure::Migrated(self.to.reference()));
        let leaving = || ready.iter().map(|(_, staged)| (staged.name.clone(), left.clone()));
        if let Err(error) = self.from.record(leaving(), clock) {
            // The lines may have been written nevertheless.
            let staying: Vec<_> = ready.iter().map(|(_, staged)| entered(staged)).collect();
            if self.from.record_staying(&staying, clock).is_err() {
                let open = ready.iter().map(|(at, staged)| (*at, staged));
                return group.all_unfinished(open, error.into());
            }
            group.all_failed(&ready, error.into());
            return ending.journals.extend(journal);
        }
        let (mut moved, mut stayed) = (Vec::new(), Vec::new());
        for (at, staged, route) in moves {
            match self.move_one(staged, &route, &years) {
                Ok(()) => moved.push((at, staged)),
                Err(error) => stayed.push((at, staged, error)),
            }
        }
        let arrived = moved.iter().map(|(_, staged)| entered(staged));
        let told = self.put_histories(&moved, locks, ending);
        let synced = years.sync().and_then(|()| self.to.record(arrived, clock));
        // A missing item may have moved nevertheless, so its record in the journal stays.
        let is_there = |it: &&(usize, &Staged, TransferError)| self.at_source(it.1).is_ok();
        let staying: Vec<_> = stayed.iter().filter(is_there).map(|it| entered(it.1)).collect();
        let taken_back = self.from.record_staying(&staying, clock);
        let is_settled =
            told.is_ok() && synced.is_ok() && taken_back.is_ok() && staying.len() == stayed.len();
        for (at, staged, error) in stayed {
            if taken_back.is_ok() {
                self.missed(at, staged, error, Locks::Held(locks), group);
            } else {
                let (name, source) = (staged.name.clone(), Box::new(error));
                group.failed(at, staged, TransferError::Unfinished { name, source });
            }
        }
        match (&synced, told) {
            (Ok(()), Ok(())) => {
                for (at, staged) in moved {
                    group.done(at, staged.clone(), self.to.path());
                }
            }
            (Ok(()), Err(error)) => group.all_unfinished(moved, error),
            (Err(error), _) => {
                for (at, staged) in moved {
                    group.failed(at, staged, not_durable(&staged.name, error));
                }
            }
        }
        if let Err(error) = synced.and(taken_back) {
            group.fatal.get_or_insert(error.into());
        }
        if is_settled {
            ending.journals.extend(journal);
        }
    }

    /// Records the Originals among `items` in the journal, before the inventory says that they left.
    fn begin_moves(&self, items: &Items) -> Result<Option<String>, PathError> {
        let is_original = |(_, staged): &&(usize, Staged)| matches!(staged.step, Step::HandOver(_));
        let originals = items.iter().filter(is_original).map(|(_, staged)| staged.name.clone());
        let record = self.journal_record(originals.collect())?;
        let record = JournalRecord { leave_copy: false, renames: true, ..record };
        if record.items.is_empty() {
            return Ok(None);
        }
        self.from.confirm_inventory()?;
        record.begin(self.from).map(Some)
    }

    /// Makes sure that an item can be moved: creates the directory of its year, and clears its own directory.
    fn prepare_move(
        &self,
        staged: &Staged,
        locks: &ItemLocks,
        years: &mut Years<'a>,
    ) -> Result<Route, TransferError> {
        let item = self.locked_at_source(locks, staged)?;
        let (year, leaf) = layout::item_place(item.name());
        let to = years.of(self.to, &staged.place.0).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => staged.changed(),
            _ => error.into(),
        })?;
        if years.all[to].holds(&staged.place.1)? {
            return Err(staged.changed());
        }
        let strays = item.strays()?;
        item.throw_away_unlisted(&strays)?;
        Ok(Route { from: years.of(self.from, &year)?, leaf, to })
    }

    fn move_one(
        &self,
        staged: &Staged,
        route: &Route,
        years: &Years<'_>,
    ) -> Result<(), TransferError> {
        self.at_source(staged)?;
        let (from, to) = (&years.all[route.from], &years.all[route.to]);
        match from.move_item(&route.leaf, to, &staged.place.1) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(staged.changed())
            }
            outcome => Ok(outcome?),
        }
    }

    /// Gives moved Originals the sidecars that record the hand-over, without syncing them.
    fn put_histories(
        &self,
        moved: &[(usize, &Staged)],
        locks: &ItemLocks,
        ending: &mut Ending,
    ) -> Result<(), TransferError> {
        for (_, staged) in moved {
            let Some(history) = &staged.history else { continue };
            let item = locks.item(&self.destination_items, &staged.name)?;
            let item = item.ok_or_else(|| staged.changed())?;
            self.writer().rename_sidecar(history, &item)?;
            ending.renewed.push(staged.at());
        }
        Ok(())
    }

    /// Removes Copies from the source, after the same Copies at the destination were read back.
    pub(super) fn drop_all(&self, items: &Items, group: &mut Group) {
        let Some(writer) = self.source_writer.filter(|_| !items.is_empty()) else { return };
        // Items published by another run may not be synced.
        let staying = items.iter().map(|(_, staged)| staged.at());
        if let Err(error) = self.to.sync_items(staying) {
            return group.all_failed(items, error.into());
        }
        for (at, staged) in items {
            match self.drop_one(writer, staged) {
                Ok(()) => group.done(*at, Staged::clone(staged), self.to.path()),
                Err(error) => self.missed(*at, staged, error, Locks::Free, group),
            }
        }
    }

    fn drop_one(&self, writer: &Writer, staged: &Staged) -> Result<(), TransferError> {
        let leaving = self.at_source(staged)?;
        let files = sealed(&leaving, leaving.read_sidecar(), self.from.path())?.sidecar.files;
        let staying = self.destination_items.item(&staged.name)?.ok_or_else(|| staged.changed())?;
        let read = sealed(&staying, staying.read_sidecar(), self.to.path())?;
        if staged.replaced.is_some_and(|version| version != read.version)
            || read.sidecar.files != files
        {
            return Err(staged.changed());
        }
        self.prove(&staying)?;
        // Reading takes long, so no lock is held, and both are checked again.
        let locks = self.lock([(self.from, &staged.name), (self.to, &staged.name)])?;
        let leaving = self.locked_at_source(&locks, staged)?;
        let staying = self.destination_items.item(&staged.name)?.ok_or_else(|| staged.changed())?;
        if !staying.has_version(read.version)? {
            return Err(staged.changed());
        }
        let to = self.to.reference();
        let departure = match staged.step {
            Step::MoveCopy => Departure::Migrated(to),
            _ => Departure::Dropped(to),
        };
        retire(self.from, writer, &[leaving], departure, self.caller.clock)
    }
}

/// The remaining work after the items of a group have moved.
#[derive(Default)]
struct Ending {
    /// Items at the destination with new, unsynced sidecars.
    renewed: Vec<PathBuf>,
    /// Records in the journal to remove then.
    journals: Vec<String>,
}

/// The move of an item: its years, by their numbers in [`Years`], and its name in the first.
struct Route {
    from: usize,
    leaf: PathBuf,
    to: usize,
}

/// The inventory's record of a moved item.
fn entered(staged: &Staged) -> (RepositoryName, InventoryChange) {
    let state = match staged.step {
        Step::HandOver(_) => State::Original,
        Step::Copy(_) | Step::MoveCopy | Step::DropCopy | Step::Skip | Step::Revive => State::Copy,
        Step::Bury(_) => State::Deleted,
    };
    (staged.name.clone(), InventoryChange::Entered(state))
}

/// Moves items out of `collection` in one step each, recorded and synced. The writer removes the bytes of
/// retired items later; unlisted files have moved to the trash before.
pub(super) fn retire(
    collection: &Collection,
    writer: &Writer,
    items: &[LockedItem<'_>],
    departure: Departure,
    clock: &dyn Clock,
) -> Result<(), TransferError> {
    let left = InventoryChange::Left(departure);
    let left = || items.iter().map(|item| (item.name().clone(), left.clone()));
    items.iter().try_for_each(keep_unlisted)?;
    collection.record(left(), clock)?;
    Ok(writer.retire(items)?)
}

/// Source and destination directories of moves, each opened once and synced at the end.
#[derive(Default)]
struct Years<'c> {
    all: Vec<Year<'c>>,
    /// The number of each, by collection and path.
    at: BTreeMap<(String, PathBuf), usize>,
}

impl<'c> Years<'c> {
    /// The number of the directory `year` of `collection`, which is created if missing.
    fn of(&mut self, collection: &'c Collection, year: &Path) -> Result<usize, PathError> {
        let key = (collection.id().to_owned(), year.to_path_buf());
        if let Some(at) = self.at.get(&key) {
            return Ok(*at);
        }
        self.all.push(collection.year_of_arrivals(year)?);
        self.at.insert(key, self.all.len() - 1);
        Ok(self.all.len() - 1)
    }

    fn sync(&self) -> Result<(), PathError> {
        self.all.iter().try_for_each(Year::sync)
    }
}
