//! Changing items that exist, each in one step: a reader, or a crash, finds the old or the new.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use super::trash::{ITEM, REPLACED};
use super::tree::PrefixTree;
use super::{Collection, InventoryChange, InventoryEnd, LockedItem, Writer};
use crate::clock::Clock;
use crate::disk::{Dir, Kind, Lock, LockError, LockMode, PathError, open_at_most};
use crate::identity::RepositoryName;
use crate::layout;
use crate::sidecar::NewText;

/// The directory, in a stage, of items that have left the collection.
const RETIRED: &str = "retired";

/// Numbers the files and directories that are staged to change something.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Items that are changed at a time: each takes two directories and two locks.
pub(crate) fn items_at_a_time() -> usize {
    open_at_most(32)
}

impl Writer {
    /// A new name in the stage.
    pub(crate) fn fresh_name(&self) -> PathBuf {
        PathBuf::from(format!("change-{}", NUMBER.fetch_add(1, Ordering::Relaxed)))
    }

    /// Moves items into the stage, synced, where they wait for [`Writer::remove_retired`].
    pub(crate) fn retire(&self, items: &[LockedItem<'_>]) -> Result<(), PathError> {
        if items.is_empty() {
            return Ok(());
        }
        let retired = self.stage().ensure_dir(RETIRED)?;
        let mut years = BTreeMap::new();
        for item in items {
            let (path, leaf) = layout::item_place(item.name());
            let year = match years.entry(path) {
                Entry::Occupied(year) => year.into_mut(),
                Entry::Vacant(place) => {
                    let year = item.collection().root().open_dir(place.key())?;
                    place.insert(year)
                }
            };
            year.move_tree(&leaf, &retired, &self.fresh_name())?;
        }
        years.values().try_for_each(Dir::sync)
    }

    /// Removes everything that was retired.
    pub(crate) fn remove_retired(&self) -> Result<(), PathError> {
        self.stage().remove_tree(Path::new(RETIRED))
    }

    /// Writes the new sidecar of an item into the stage. It is not synced.
    pub(crate) fn stage_sidecar(&self, text: &NewText) -> Result<PathBuf, PathError> {
        let staged = self.fresh_name();
        let mut file = self.stage().create_file(&staged)?;
        text.write(|piece| file.write_all(piece))?;
        Ok(staged)
    }

    /// Writes the new sidecars of many items into the stage, synced.
    pub(crate) fn stage_sidecars<'t>(
        &self,
        texts: impl IntoIterator<Item = &'t NewText>,
    ) -> Result<Vec<PathBuf>, PathError> {
        let staged = texts.into_iter().map(|text| self.stage_sidecar(text));
        let staged = staged.collect::<Result<Vec<_>, _>>()?;
        match staged.as_slice() {
            [only] => self.stage().open_file(only)?.sync()?,
            all => self.stage().sync_trees(all)?,
        }
        Ok(staged)
    }

    /// Puts a staged and synced sidecar in place of the one that `item` has. [`Writer::sync_sidecars`] makes that
    /// durable.
    pub(crate) fn rename_sidecar(
        &self,
        staged: &Path,
        item: &LockedItem<'_>,
    ) -> Result<(), PathError> {
        self.stage().rename_over(staged, item.dir(), Path::new(layout::SIDECAR))
    }

    /// Makes the new sidecars of `items` durable, with one sync.
    pub(crate) fn sync_sidecars(&self, items: &[&LockedItem<'_>]) -> Result<(), PathError> {
        match items {
            [] => Ok(()),
            [only] => only.dir().sync(),
            all => self.stage().sync_dirs(all.iter().map(|item| item.dir())),
        }
    }

    /// Replaces the sidecar of `item` durably.
    pub(crate) fn replace_sidecar(
        &self,
        item: &LockedItem<'_>,
        text: &NewText,
    ) -> Result<(), PathError> {
        let staged = self.stage_sidecars([text])?;
        self.rename_sidecar(&staged[0], item)?;
        self.sync_sidecars(&[item])
    }

    /// Replaces the sidecars of many items durably, with two syncs in all.
    pub(crate) fn replace_sidecars(
        &self,
        texts: &[(LockedItem<'_>, NewText)],
    ) -> Result<(), PathError> {
        if texts.is_empty() {
            return Ok(());
        }
        let staged = self.stage_sidecars(texts.iter().map(|(_, text)| text))?;
        for (staged, (item, _)) in staged.iter().zip(texts) {
            self.rename_sidecar(staged, item)?;
        }
        self.sync_sidecars(&texts.iter().map(|(item, _)| item).collect::<Vec<_>>())
    }

    /// Makes items durable that were moved from their places in the stage to `year`, and records them as
    /// `changes` say; the inventory ended at `before` then. The directories that they come from are synced as well, so that no item is found in two.
    pub(crate) fn confirm<'a>(
        &self,
        collection: &Collection,
        before: &InventoryEnd,
        year: &Dir,
        staged: impl IntoIterator<Item = &'a Path>,
        changes: impl IntoIterator<Item = (RepositoryName, InventoryChange)>,
        clock: &dyn Clock,
    ) -> Result<(), PathError> {
        year.sync()?;
        let left: BTreeSet<_> = staged.into_iter().filter_map(Path::parent).collect();
        left.iter().try_for_each(|left| self.stage().open_dir(left)?.sync())?;
        collection.record_arrivals(before, changes, clock)
    }

    /// Puts a staged and synced item in place of `item`, which is then at `staged` in the stage.
    ///
    /// Where the file system cannot swap two names in one step, the old item is set aside first; for
    /// that moment the name is missing, and recovery puts the old one back after a crash.
    pub(crate) fn swap_item(&self, staged: &Path, item: &LockedItem<'_>) -> Result<(), PathError> {
        let (collection, (year, leaf)) = (item.collection(), item.place()?);
        if self.stage().exchange(staged, &year, &leaf)? {
            year.sync()?;
            return Ok(());
        }
        let (trashed, entry) = collection.set_aside(item.name(), &year, &leaf)?;
        if let Err(error) = self.stage().rename_new(staged, &year, &leaf) {
            collection.put_back(&entry, &year, &leaf)?;
            return Err(error);
        }
        year.sync()?;
        collection.move_out_of_trash(&entry, self.stage(), staged)?;
        collection.remove_trashed(&trashed)
    }

    /// Puts a staged and synced item in its place, where nothing may be.
    pub(crate) fn place_item(
        &self,
        collection: &Collection,
        staged: &Path,
        name: &RepositoryName,
    ) -> Result<(), PathError> {
        let (year, leaf) = layout::item_place(name);
        let year = collection.ensure_directory(&year)?;
        self.stage().rename_new(staged, &year, &leaf)?;
        year.sync()
    }

    /// Puts a staged and synced item in place of `item`, which goes to the trash in the same step and stays there
    /// until it is purged.
    ///
    /// An error of swapping leaves the staged item in the trash: there is no telling, on every file
    /// system, which of the two it is.
    pub(crate) fn replace_item(
        &self,
        staged: &Path,
        item: &LockedItem<'_>,
    ) -> Result<(), PathError> {
        let (collection, (year, leaf)) = (item.collection(), item.place()?);
        let (trashed, entry) = collection.new_entry(item.name())?;
        self.stage().rename_new(staged, &entry, Path::new(REPLACED))?;
        entry.sync()?;
        if entry.exchange(Path::new(REPLACED), &year, &leaf)? {
            year.sync()?;
            return entry.sync();
        }
        let (_, aside) = collection.set_aside(item.name(), &year, &leaf)?;
        let placed = aside
            // Recovery removes no entry that has this.
            .make_dir(REPLACED)
            .and_then(|()| aside.sync())
            .and_then(|()| entry.rename_new(Path::new(REPLACED), &year, &leaf));
        if let Err(error) = placed {
            collection.put_back(&aside, &year, &leaf)?;
            return Err(error);
        }
        year.sync()?;
        aside.rename_over(Path::new(ITEM), &aside, Path::new(REPLACED))?;
        aside.sync()?;
        collection.remove_trashed(&trashed)
    }
}

impl Collection {
    /// Opens a directory below the root, made level by level, each synced into the one above.
    pub(crate) fn ensure_directory(&self, path: &Path) -> Result<Dir, PathError> {
        let mut dir = self.root().try_clone()?;
        for component in path {
            dir = dir.ensure_lasting_dir(&component.to_string_lossy())?;
        }
        Ok(dir)
    }

    /// Expects the directories on the way to `path` where they are there already. A sync of the whole file
    /// system then spares [`Collection::ensure_directory`] its own.
    pub(crate) fn expect_directory(&self, path: &Path) -> Result<(), PathError> {
        let mut dir = self.root().try_clone()?;
        for component in path {
            let Some(next) = dir.expect_dir(component)? else { break };
            dir = next;
        }
        Ok(())
    }

    /// Like [`Collection::ensure_directory`], for the year of items that come from elsewhere, whose prefix may be spelt in capitals.
    ///
    /// Two spellings of a prefix would be two places for one name, and putting an item in place would not notice the
    /// other one. So the first directory of a prefix is made under a lock. `AlreadyExists` if another process has made
    /// one that is spelt otherwise since this place was chosen.
    pub(crate) fn ensure_year(&self, year: &Path) -> Result<Dir, PathError> {
        let Some(prefix) = year.parent() else { return self.ensure_directory(year) };
        if self.root().stat(prefix)?.is_some() {
            return self.ensure_directory(year);
        }
        let own = self.ensure_own()?;
        let _lock =
            Lock::take_unsigned(own, layout::PREFIX_LOCK, LockMode::Exclusive, &self.waiter)
                .map_err(LockError::into_path_error)?;
        // Any item of the prefix, which need not keep to the grammar.
        let item =
            RepositoryName::parse_as_found(&format!("{}/1995/08.01.00.00", prefix.display()));
        let spellings = match item {
            Ok((item, _)) => PrefixTree::new(self.root(), item.prefix()).directories()?,
            Err(_) => Vec::new(),
        };
        if spellings.is_empty() || spellings.iter().any(|spelt| spelt == prefix) {
            return self.ensure_directory(year);
        }
        let spelt = format!("the prefix is there as `{}`", spellings[0].display());
        let error = std::io::Error::new(std::io::ErrorKind::AlreadyExists, spelt);
        Err(PathError::new("make", self.root().path_of(prefix), error))
    }

    /// Makes sure that nothing can be seen mounted on the way to `place`, where an item is or is to be: what is
    /// staged could not be moved there.
    pub(crate) fn check_reach(&self, place: &Path) -> Result<(), PathError> {
        let year = place.parent().unwrap_or(place);
        // What is mounted during a run is found when the item is put in place.
        if *self.reached.lock().unwrap_or_else(PoisonError::into_inner) == year {
            return Ok(());
        }
        let device = self.root().own_stat()?.identity.0;
        let mut above = PathBuf::new();
        let mut levels = place.components();
        levels.next_back();
        for level in levels {
            above.push(level);
            match self.root().stat(&above)? {
                Some(stamp) if stamp.kind != Kind::Directory => break,
                Some(stamp) if stamp.identity.0 == device => {}
                Some(_) => {
                    let next = place.components().take(above.components().count() + 1);
                    let next = self.root().path_of(next.collect::<PathBuf>());
                    let cause = std::io::ErrorKind::CrossesDevices.into();
                    return Err(PathError::new("put in place", next, cause));
                }
                None => break,
            }
        }
        year.clone_into(&mut self.reached.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }
}
