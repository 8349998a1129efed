//! Items leave the source: moved within one file system, or removed once the destination is verified.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::look::Locks;
use super::publish::{Group, Items, not_durable};
use super::reading::sealed;
use super::shared::Shared;
use super::staged::Staged;
use super::unlisted::keep_unlisted;
use super::{Step, TransferError};
use crate::clock::Clock;
use crate::collection::{
    Collection, CollectionError, Departure, InventoryChange, ItemLocks, LockedItem, Writer,
};
use crate::disk::{Dir, PathError, open_at_most};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::layout;

/// Limit on items that are moved under their locks at a time.
const MOVED_AT_A_TIME: usize = 128;

impl Shared<'_> {
    /// Moves items as they are: each by one rename. Nothing of them is read.
    pub(super) fn move_all(&self, items: &Items, group: &mut Group) {
        // Each takes a descriptor for its lock, and those of two years unless others share them.
        for items in items.chunks(open_at_most(MOVED_AT_A_TIME)) {
            self.move_some(items, group);
        }
    }

    /// If one is locked by another process, the others go one by one.
    fn move_some(&self, items: &[(usize, Staged)], group: &mut Group) {
        let locks = match self.lock(items.iter().map(|(_, staged)| (self.from, &staged.name))) {
            Ok(locks) => locks,
            Err(CollectionError::ItemLocked { .. }) if items.len() > 1 => {
                for item in items {
                    self.move_some(std::slice::from_ref(item), group);
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
        let there = |(at, staged): &&(usize, Staged)| match self.at_source(staged) {
            Ok(_) => true,
            Err(error) => {
                self.missed(*at, staged, error, Locks::Held(&locks), group);
                false
            }
        };
        let items: Vec<_> = items.iter().filter(there).collect();
        let left = InventoryChange::Left(Departure::Migrated(self.to.as_destination()));
        let leaving = items.iter().map(|(_, staged)| (staged.name.clone(), left.clone()));
        if let Err(error) = self.from.record(leaving, self.caller.clock) {
            // The lines may be there all the same.
            let _ = self
                .from
                .record(items.iter().map(|(_, staged)| entered(staged)), self.caller.clock);
            let items: Vec<_> = items.into_iter().cloned().collect();
            return group.all_failed(&items, error.into());
        }
        let mut years = Years::default();
        let (mut moved, mut stayed) = (Vec::new(), Vec::new());
        for (at, staged) in items {
            match self.move_one(&locks, staged, &mut years) {
                Ok(()) => moved.push((*at, staged)),
                Err(error) => {
                    stayed.push(staged);
                    self.missed(*at, staged, error, Locks::Held(&locks), group);
                }
            }
        }
        // Without this line `verify` finds that an item is here which left.
        let _ = self.from.record(stayed.into_iter().map(entered), self.caller.clock);
        let arrived = moved.iter().map(|(_, staged)| entered(staged));
        match years.sync().and_then(|()| self.to.record(arrived, self.caller.clock)) {
            Ok(()) => moved
                .iter()
                .for_each(|(at, staged)| group.done(*at, Staged::clone(staged), self.to.path())),
            Err(error) => {
                for (at, staged) in moved {
                    group.failed(at, staged, not_durable(&staged.name, &error));
                }
                group.fatal.get_or_insert(error.into());
            }
        }
    }

    fn move_one(
        &self,
        locks: &ItemLocks,
        staged: &Staged,
        years: &mut Years,
    ) -> Result<(), TransferError> {
        let item = self.locked_at_source(locks, staged)?;
        let (year, leaf) = layout::item_place(item.name());
        let to = years.of(self.to, &staged.place.0).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => staged.changed(),
            _ => error.into(),
        })?;
        if years.dirs[to].stat(&staged.place.1)?.is_some() {
            return Err(staged.changed());
        }
        item.throw_away_unlisted(&item.strays()?)?;
        let from = years.of(self.from, &year)?;
        match years.dirs[from].rename_new(&leaf, &years.dirs[to], &staged.place.1) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(staged.changed())
            }
            outcome => Ok(outcome?),
        }
    }

    /// Takes Copies away from the source, after the same Copies at the destination were read back.
    pub(super) fn drop_all(&self, items: &Items, group: &mut Group) {
        let Some(writer) = self.source_writer.filter(|_| !items.is_empty()) else { return };
        // What another run put there may be in memory only.
        let staying = items.iter().map(|(_, staged)| staged.at());
        if let Err(error) = self.to.root().sync_trees(staying) {
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
        // Reading takes long, and nobody has to wait for it; so both are looked at again.
        let locks = self.lock([(self.from, &staged.name), (self.to, &staged.name)])?;
        let leaving = self.locked_at_source(&locks, staged)?;
        let staying = self.destination_items.item(&staged.name)?.ok_or_else(|| staged.changed())?;
        if !staying.has_version(read.version)? {
            return Err(staged.changed());
        }
        let to = self.to.as_destination();
        let departure = match staged.step {
            Step::MoveCopy => Departure::Migrated(to),
            _ => Departure::Dropped(to),
        };
        retire(self.from, writer, &[leaving], departure, self.caller.clock)
    }
}

/// The inventory's entry for an item that was moved as it is.
fn entered(staged: &Staged) -> (RepositoryName, InventoryChange) {
    let state = match staged.step {
        Step::HandOver(_) => State::Original,
        Step::Copy(_) | Step::MoveCopy | Step::DropCopy | Step::Skip | Step::Revive => State::Copy,
        Step::Bury(_) => State::Deleted,
    };
    (staged.name.clone(), InventoryChange::Entered(state))
}

/// Moves items out of `collection` in one step each, recorded and synced. Their bytes go when the writer
/// removes what is retired; what no sidecar lists has moved to the trash before.
pub(super) fn retire(
    collection: &Collection,
    writer: &Writer,
    items: &[LockedItem<'_>],
    departure: Departure,
    clock: &dyn Clock,
) -> Result<(), TransferError> {
    items.iter().try_for_each(keep_unlisted)?;
    let left = InventoryChange::Left(departure);
    collection.record(items.iter().map(|item| (item.name().clone(), left.clone())), clock)?;
    Ok(writer.retire(items)?)
}

/// Directories that items are moved out of or into, each opened once and synced at the end.
#[derive(Default)]
struct Years {
    dirs: Vec<Dir>,
    /// Where each stands, by collection and path.
    at: BTreeMap<(String, PathBuf), usize>,
}

impl Years {
    /// Where the directory `year` of `collection` stands; it is made if it is missing.
    fn of(&mut self, collection: &Collection, year: &Path) -> Result<usize, PathError> {
        let key = (collection.id().to_owned(), year.to_path_buf());
        if let Some(at) = self.at.get(&key) {
            return Ok(*at);
        }
        let dir = collection.ensure_year(year)?;
        self.dirs.push(dir);
        self.at.insert(key, self.dirs.len() - 1);
        Ok(self.dirs.len() - 1)
    }

    fn sync(&self) -> Result<(), PathError> {
        self.dirs.iter().try_for_each(Dir::sync)
    }
}
