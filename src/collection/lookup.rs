//! Many items by name: what is known of the prefixes' directories is kept.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::tree::PrefixTree;
use super::{Collection, CollectionError, StoredItem};
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::layout;

/// Finds items of one collection by name, in whatever case it is spelt there.
#[derive(Debug)]
pub(crate) struct Lookup<'a> {
    collection: &'a Collection,
    /// The directories of a prefix, by the prefix as it was asked for.
    prefixes: Mutex<HashMap<PathBuf, Arc<[PathBuf]>>>,
}

impl<'a> Lookup<'a> {
    pub(crate) fn new(collection: &'a Collection) -> Lookup<'a> {
        Lookup { collection, prefixes: Mutex::default() }
    }

    /// The item called `name`, if there is one.
    pub(crate) fn item(
        &self,
        name: &RepositoryName,
    ) -> Result<Option<StoredItem>, CollectionError> {
        for directory in &*self.directories(name)? {
            let path = directory.join(name.suffix());
            if let Some(dir) = self.collection.directory(&path)?
                && let Some(Ok((name, _))) = path.to_str().map(RepositoryName::parse_as_found)
            {
                return Ok(Some(StoredItem::at(name, dir)));
            }
        }
        Ok(None)
    }

    /// Where a new item called `name` belongs: below the directory its prefix has, or a new one in
    /// lower case. The year, relative to the root, and the name in it.
    pub(crate) fn place_of(&self, name: &RepositoryName) -> Result<(PathBuf, PathBuf), PathError> {
        let [subdomain, word, year, leaf] = name.components();
        let prefix = match self.directories(name)?.first() {
            Some(directory) => directory.clone(),
            None => Path::new(&subdomain.to_ascii_lowercase()).join(word.to_ascii_lowercase()),
        };
        Ok((prefix.join(year), PathBuf::from(leaf)))
    }

    fn directories(&self, name: &RepositoryName) -> Result<Arc<[PathBuf]>, PathError> {
        let prefix: PathBuf = layout::item_directory(name).iter().take(2).collect();
        let known = || self.prefixes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(&prefix) {
            return Ok(Arc::clone(found));
        }
        let found: Arc<[PathBuf]> =
            PrefixTree::new(self.collection.root(), name.prefix()).directories()?.into();
        // What is not there yet may come at any time.
        if !found.is_empty() {
            known().insert(prefix, Arc::clone(&found));
        }
        Ok(found)
    }
}
