//! Looking up many items by name, with a cache of the directories of prefixes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::tree::prefixes;
use crate::collection::{Collection, CollectionError, StoredItem};
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::layout;

/// Finds items of one collection by name, whatever the case of their spelling there.
#[derive(Debug)]
pub(crate) struct Lookup<'a> {
    collection: &'a Collection,
    /// The directories of prefixes, by the folded prefix.
    prefixes: Mutex<HashMap<String, Arc<[PathBuf]>>>,
    /// The directories for prefixes that have none yet, in the spelling chosen first.
    new: Mutex<HashMap<String, PathBuf>>,
    /// Whether a prefix in `new` is taken to have no directory, instead of listing the root for each of its items.
    keeps_new: bool,
}

impl<'a> Lookup<'a> {
    pub(crate) fn new(collection: &'a Collection) -> Lookup<'a> {
        Lookup { collection, prefixes: Mutex::default(), new: Mutex::default(), keeps_new: false }
    }

    /// The same for items that arrive here. A prefix found without a directory is not looked for again until
    /// [`Lookup::forget_new`]: before the directory is made, [`Collection::year_of_arrivals`] looks for it under the lock.
    pub(crate) fn of_arrivals(collection: &'a Collection) -> Lookup<'a> {
        Lookup { keeps_new: true, ..Lookup::new(collection) }
    }

    /// Forgets which prefixes had no directory.
    pub(crate) fn forget_new(&self) {
        self.chosen().clear();
    }

    /// The collection.
    pub(crate) fn collection(&self) -> &'a Collection {
        self.collection
    }

    /// The item called `name`, if it exists. A displaced item is an error, not absent.
    pub(crate) fn item(
        &self,
        name: &RepositoryName,
    ) -> Result<Option<StoredItem>, CollectionError> {
        Ok(self.item_or_directories(name)?.ok())
    }

    /// The item called `name`, or else the place for it, as [`Lookup::place_of`] has it.
    pub(crate) fn item_or_place(
        &self,
        name: &RepositoryName,
    ) -> Result<Result<StoredItem, (PathBuf, PathBuf)>, CollectionError> {
        Ok(match self.item_or_directories(name)? {
            Ok(item) => Ok(item),
            Err(directories) => Err(self.place_in(name, &directories)?),
        })
    }

    /// The item called `name`, or else the directories of its prefix.
    fn item_or_directories(
        &self,
        name: &RepositoryName,
    ) -> Result<Result<StoredItem, Arc<[PathBuf]>>, CollectionError> {
        // Most names are looked up in their spelling on disk, so that no directory has to be listed.
        let as_asked = layout::item_directory(name);
        if let Some(item) = self.collection.item_at(&as_asked, Some(name))? {
            return Ok(Ok(item));
        }
        let directories = self.directories(name)?;
        for directory in &*directories {
            let path = directory.join(name.suffix());
            if path != as_asked
                && let Some(item) = self.collection.item_at(&path, Some(name))?
            {
                return Ok(Ok(item));
            }
        }
        if self.collection.is_displaced(name)? {
            return Err(self.collection.displaced_error(name.clone()));
        }
        Ok(Err(directories))
    }

    /// The place of the item called `name`, as the year, relative to the root, and the name in it. That is in
    /// the directory of its prefix; if the prefix has several, in the one that has the item, else in the
    /// first; if it has none, in a new one in the spelling of the first name looked up, so that relative
    /// links between items lead there. [`Collection::year_of_arrivals`] makes the directory.
    pub(crate) fn place_of(&self, name: &RepositoryName) -> Result<(PathBuf, PathBuf), PathError> {
        self.place_in(name, &self.directories(name)?)
    }

    fn place_in(
        &self,
        name: &RepositoryName,
        directories: &[PathBuf],
    ) -> Result<(PathBuf, PathBuf), PathError> {
        let [_, _, year, leaf] = name.components();
        let mut place = directories.first();
        if directories.len() > 1 {
            for directory in directories {
                if self.collection.root().stat(directory.join(name.suffix()))?.is_some() {
                    place = Some(directory);
                    break;
                }
            }
        }
        let prefix = place.map_or_else(|| self.new_directory(name), PathBuf::clone);
        Ok((prefix.join(year), PathBuf::from(leaf)))
    }

    fn new_directory(&self, name: &RepositoryName) -> PathBuf {
        self.chosen().entry(name.prefix().folded()).or_insert_with(|| prefix(name)).clone()
    }

    /// The directories of the prefix of `name`, one for each spelling.
    pub(crate) fn directories(&self, name: &RepositoryName) -> Result<Arc<[PathBuf]>, PathError> {
        let prefix = name.prefix();
        let folded = prefix.folded();
        if let Some(found) = self.known().get(&folded) {
            return Ok(Arc::clone(found));
        }
        if self.keeps_new && self.chosen().contains_key(&folded) {
            return Ok(Arc::default());
        }
        let found = prefixes(self.collection.root(), &prefix.path_components().0)?;
        let mut known = self.known();
        known.extend(found.into_iter().map(|(prefix, found)| (prefix, found.into())));
        // An absence is kept only in `new`, for a while: a directory may be created at any time.
        Ok(known.get(&folded).cloned().unwrap_or_default())
    }

    fn chosen(&self) -> MutexGuard<'_, HashMap<String, PathBuf>> {
        self.new.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Arc<[PathBuf]>>> {
        self.prefixes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Collection {
    /// The item in the directory `path`; `None` if the path does not exist or leads through a file. The name
    /// `asked` need not be parsed again.
    pub(super) fn item_at(
        &self,
        path: &Path,
        asked: Option<&RepositoryName>,
    ) -> Result<Option<StoredItem>, CollectionError> {
        let dir = match self.root().open_dir_if_there(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => None,
            outcome => outcome?,
        };
        let Some(dir) = dir else { return Ok(None) };
        // The directory has no trailing dot, though the name in the request may have one.
        let text = path.to_str();
        let name = match asked.filter(|asked| text == Some(asked.as_str())) {
            Some(asked) => Some(asked.clone()),
            None => text.and_then(|text| Some(RepositoryName::parse_as_found(text).ok()?.0)),
        };
        Ok(name.map(|name| StoredItem::of(name, dir, self)))
    }

    /// The error for the displaced item `name`.
    pub(super) fn displaced_error(&self, name: RepositoryName) -> CollectionError {
        CollectionError::Displaced { name, path: self.path().to_path_buf() }
    }
}

fn prefix(name: &RepositoryName) -> PathBuf {
    layout::item_directory(name).iter().take(2).collect()
}
