//! Items by name from the index, without reading their sidecars.

use std::collections::HashMap;

use super::CatalogError;
use super::find::{Hit, is_current, split};
use crate::collection::{Collection, YearDirCache};
use crate::identity::RepositoryName;
use crate::index::{DirectoryId, Tables};

/// Looks items up in the index as it is: it is neither built nor synchronised. An item that changed since it
/// was indexed is not found.
pub struct CachedLookup<'a> {
    collection: &'a Collection,
    years: YearDirCache<'a>,
}

impl<'a> CachedLookup<'a> {
    /// A lookup in the index of `collection`.
    pub fn new(collection: &'a Collection) -> CachedLookup<'a> {
        CachedLookup { collection, years: YearDirCache::new(collection) }
    }

    /// The items `names`, spelt as on disk; `None` for each item whose sidecar has to be read instead.
    pub fn of(&mut self, names: &[RepositoryName]) -> Vec<Option<Hit>> {
        let years = &mut self.years;
        let found = self.collection.with_index(|index| {
            index.read(|tables| {
                let mut directories = HashMap::new();
                let of = |name| one(tables, &mut directories, years, name);
                names.iter().map(of).collect::<Result<Vec<_>, CatalogError>>()
            })
        });
        found.ok().flatten().unwrap_or_else(|| vec![None; names.len()])
    }
}

fn one<'n>(
    tables: Tables<'_>,
    directories: &mut HashMap<&'n str, Option<DirectoryId>>,
    years: &mut YearDirCache<'_>,
    name: &'n RepositoryName,
) -> Result<Option<Hit>, CatalogError> {
    let (path, leaf) = split(name);
    if !directories.contains_key(path) {
        let directory = tables.directory_if_known(path)?;
        directories.insert(path, directory.map(|(directory, _)| directory));
    }
    let Some(directory) = directories.get(path).copied().flatten() else { return Ok(None) };
    let Some(row) = tables.item(directory, leaf)? else { return Ok(None) };
    // The caller reads the sidecar instead, and meets the error there.
    let is_current = row.state.is_some() && is_current(years, name, &row).unwrap_or(false);
    Ok(is_current.then(|| Hit::of(name.clone(), row)))
}
