//! Publishing: staged items move to their places. At any time, the old item or the new one exists. If the
//! file system cannot swap two names, a replaced item is missing for a moment, and recovery puts it back
//! after a crash.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::StagedItem;
use crate::collection::names::tree::PrefixTree;
use crate::collection::{
    ChangeLocks, Collection, CollectionError, Event, LockedItem, Stopped, Trashed, Writer,
};
use crate::disk::{Dir, PathError};
use crate::identity::RepositoryName;
use crate::layout;

/// A year of a collection, in which items are published.
#[derive(Debug)]
pub(crate) struct Year<'c> {
    collection: &'c Collection,
    dir: Dir,
}

/// The years of a group of items, the last of which is open: most are of one year.
#[derive(Debug)]
pub(crate) struct Years<'c> {
    collection: &'c Collection,
    last: Option<(PathBuf, Dir)>,
}

/// An item on its way from the stage to its place.
pub(crate) trait Arriving {
    /// Its name.
    fn name(&self) -> &RepositoryName;

    /// Its place in the stage.
    fn staged(&self) -> &StagedItem;

    /// Whether the item that it replaces is in the trash afterwards.
    fn leaves_to_trash(&self) -> bool {
        false
    }
}

/// The outcome of publishing: every item is in exactly one of the three lists.
#[derive(Debug)]
pub(crate) struct Published<T, E> {
    /// Items that are published, recorded and durable.
    pub placed: Vec<T>,
    /// Items that are not published, each with its own reason.
    pub refused: Vec<(T, E)>,
    /// All other items, with an error that later items would also meet.
    pub failed: Option<GroupFailure<T>>,
}

/// Why all items of a group failed together.
#[derive(Debug)]
pub(crate) enum GroupFailure<T> {
    /// They are not published.
    NotPlaced(Vec<T>, PathError),
    /// They are published, but may be lost in a power cut.
    NotDurable(Vec<T>, PathError),
}

impl Collection {
    /// The year at `path`, created if needed. The spelling of its prefix is not checked: see
    /// [`Collection::year_of_arrivals`].
    pub(crate) fn ensure_year(&self, path: &Path) -> Result<Year<'_>, PathError> {
        Ok(Year { collection: self, dir: self.ensure_directory(path)? })
    }

    /// The year at `path` for items with foreign names, whose prefix may be spelt in capitals; created if
    /// needed.
    ///
    /// Two spellings of a prefix would be two places for one name, and publishing would not notice the other
    /// one. So the first directory of a prefix is created under the change lock. `AlreadyExists` if another process
    /// has created one in another spelling since this place was chosen.
    pub(crate) fn year_of_arrivals(&self, year: &Path) -> Result<Year<'_>, PathError> {
        let Some(prefix) = year.parent() else { return self.ensure_year(year) };
        if self.root().stat(prefix)?.is_some() {
            return self.ensure_year(year);
        }
        // Any item of the prefix, which need not keep to the grammar.
        let item =
            RepositoryName::parse_as_found(&format!("{}/1995/08.01.00.00", prefix.display()));
        let spellings = match item {
            Ok((item, _)) => PrefixTree::new(self.root(), item.prefix()).directories()?,
            Err(_) => Vec::new(),
        };
        if spellings.is_empty() || spellings.iter().any(|spelt| spelt == prefix) {
            return self.ensure_year(year);
        }
        let spelt = format!("the prefix is there as `{}`", spellings[0].display());
        let error = std::io::Error::new(std::io::ErrorKind::AlreadyExists, spelt);
        Err(PathError::new("make", self.root().path_of(prefix), error))
    }
}

impl Year<'_> {
    /// Syncs the arrivals and departures of items here.
    pub(crate) fn sync(&self) -> Result<(), PathError> {
        self.dir.sync()
    }
}

impl<'c> Years<'c> {
    /// Those of `collection`.
    pub(crate) fn of(collection: &'c Collection) -> Years<'c> {
        Years { collection, last: None }
    }

    /// The parent of the directory of the item `name`, and its name there.
    pub(crate) fn place(&mut self, name: &RepositoryName) -> Result<(&Dir, PathBuf), PathError> {
        let (path, leaf) = layout::item_place(name);
        let (_, year) = match self.last.take() {
            Some(known) if known.0 == path => self.last.insert(known),
            _ => {
                let year = self.collection.root().open_dir(&path)?;
                self.last.insert((path, year))
            }
        };
        Ok((year, leaf))
    }
}

impl Writer {
    /// Calls `put` for each of `items`, which are staged and synced, to move it to `year`; then records the event of
    /// each and makes everything durable.
    pub(crate) fn publish<T: Arriving, E>(
        &self,
        locks: &ChangeLocks,
        year: &Year<'_>,
        items: Vec<T>,
        event: impl Fn(&T) -> Event,
        mut put: impl FnMut(&T) -> Result<(), E>,
    ) -> Published<T, E> {
        let mut published = Published { placed: Vec::new(), refused: Vec::new(), failed: None };
        if items.is_empty() {
            return published;
        }
        let announced = match self.announce(items.iter().map(Arriving::name)) {
            Ok(announced) => announced,
            Err(error) => {
                published.failed = Some(GroupFailure::NotPlaced(items, error));
                return published;
            }
        };
        for item in items {
            match put(&item) {
                Ok(()) => published.placed.push(item),
                Err(error) => published.refused.push((item, error)),
            }
        }
        let events: Vec<_> = published.placed.iter().map(&event).collect();
        let confirmed = self
            .confirm(year, &published.placed)
            .and_then(|()| year.collection.record(locks, &events));
        match confirmed {
            Ok(()) => announced.settle(),
            Err(error) => {
                let placed = std::mem::take(&mut published.placed);
                published.failed = Some(GroupFailure::NotDurable(placed, error));
            }
        }
        published
    }

    /// Makes the items that moved to `year` durable. The directories that they left are synced as well, so that no item
    /// is in two places.
    fn confirm<T: Arriving>(&self, year: &Year<'_>, placed: &[T]) -> Result<(), PathError> {
        year.sync()?;
        let left: BTreeSet<_> =
            placed.iter().filter_map(|item| item.staged().at.parent()).collect();
        left.iter().try_for_each(|left| self.stage().open_dir(left)?.sync())?;
        if placed.iter().any(Arriving::leaves_to_trash) {
            year.collection.ensure_trash()?.sync()?;
        }
        Ok(())
    }

    /// Moves a staged item to its place, which must be free. [`Writer::publish`] makes that durable.
    pub(crate) fn put_new(
        &self,
        staged: &StagedItem,
        year: &Year<'_>,
        leaf: &Path,
    ) -> Result<(), PathError> {
        self.buckets
            .take_out(self.stage(), &staged.at, |from, at| from.rename_new(at, &year.dir, leaf))
    }

    /// Swaps a staged and synced item with `item`, which is in the stage afterwards, at the path of `staged`.
    /// [`Writer::publish`] makes that durable.
    pub(crate) fn swap_item(
        &self,
        staged: &StagedItem,
        item: &LockedItem<'_>,
        years: &mut Years<'_>,
    ) -> Result<(), CollectionError> {
        let place = years.place(item.name())?;
        self.buckets.take_out(self.stage(), &staged.at, |from, at| item.swap_in(place, from, at))
    }

    /// Moves a staged and synced item to its place, which must be free. Synced.
    pub(crate) fn place_item(
        &self,
        collection: &Collection,
        staged: &StagedItem,
        name: &RepositoryName,
    ) -> Result<(), CollectionError> {
        let (year, leaf) = layout::item_place(name);
        let year = collection.ensure_year(&year)?;
        self.put_new(staged, &year, &leaf)?;
        Ok(year.sync().map_err(|error| Stopped::unconfirmed(name, error))?)
    }

    /// Moves staged items to new entries of the trash, synced: [`Writer::swap`] swaps each with the item that it replaces. An
    /// error left none there.
    pub(crate) fn stage_in_trash<'i>(
        &self,
        collection: &Collection,
        items: impl IntoIterator<Item = (&'i StagedItem, &'i RepositoryName)>,
    ) -> Result<Vec<Trashed>, PathError> {
        let (trash, mut entries) = (collection.ensure_trash()?, Vec::new());
        let mut moved = items.into_iter().try_for_each(|(staged, name)| {
            let entry = collection.new_entry(&trash, name)?;
            let moved = self.buckets.take_out(self.stage(), &staged.at, |from, at| {
                from.rename_new(at, &trash, entry.path())
            });
            entries.push(entry);
            moved
        });
        if moved.is_ok() {
            moved = trash.sync_trees(entries.iter().map(Trashed::path));
        }
        match moved {
            Ok(()) => Ok(entries),
            Err(error) => {
                collection.remove_drafts(&entries);
                Err(error)
            }
        }
    }

    /// Replaces `item` by a staged item. The old item is in the trash in the same step, and stays there until it is purged. The
    /// caller syncs both directories.
    ///
    /// If it fails, the staged item stays in the trash: on some file systems nothing shows which of the two it is.
    pub(crate) fn replace_item(
        &self,
        staged: &StagedItem,
        item: &LockedItem<'_>,
        years: &mut Years<'_>,
    ) -> Result<(), CollectionError> {
        let collection = item.collection();
        let entries = self.stage_in_trash(collection, [(staged, item.name())])?;
        let trash = collection.ensure_trash()?;
        item.swap_in(years.place(item.name())?, &trash, entries[0].path())
    }
}

impl Collection {
    /// Removes staged items from the trash that replace nothing. Recovery removes them as well.
    pub(crate) fn remove_drafts<'t>(&self, entries: impl IntoIterator<Item = &'t Trashed>) {
        let Ok(trash) = self.open_trash() else { return };
        for entry in entries {
            let _ = entry.remove(trash);
        }
    }

    /// Makes the swaps of items called `names` with entries of the trash durable.
    pub(crate) fn sync_swapped<'n>(
        &self,
        names: impl Iterator<Item = &'n RepositoryName>,
    ) -> Result<(), PathError> {
        let years: BTreeSet<_> = names.map(|name| layout::item_place(name).0).collect();
        for year in &years {
            self.root().open_dir(year)?.sync()?;
        }
        self.ensure_trash()?.sync()
    }
}

impl LockedItem<'_> {
    /// Swaps this item with the one at `at` in `from`. The caller syncs both directories.
    ///
    /// If the file system cannot swap two names in one step, this item is set aside first. For that moment the name is
    /// missing, and recovery puts this item back after a crash. What fails once the other one is in place leaves that there,
    /// [unconfirmed](Stopped::Unconfirmed).
    pub(in crate::collection::change) fn swap_in(
        &self,
        (year, leaf): (&Dir, PathBuf),
        from: &Dir,
        at: &Path,
    ) -> Result<(), CollectionError> {
        let leaf = leaf.as_path();
        let collection = self.collection();
        if from.exchange(at, year, leaf)? {
            return Ok(());
        }
        let aside = collection.set_aside(self.name(), year, leaf)?;
        if let Err(error) = from.rename_new(at, year, leaf) {
            collection.put_back(&aside, year, leaf)?;
            return Err(error.into());
        }
        let end = || {
            year.sync()?;
            collection.ensure_trash()?.move_tree(aside.path(), from, at)
        };
        Ok(end().map_err(|error| Stopped::unconfirmed(self.name(), error))?)
    }
}
