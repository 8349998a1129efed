//! Items by name from the index, without reading their sidecars.

use std::path::Path;

use rayon::prelude::*;

use super::CatalogError;
use super::find::{Hit, split};
use super::pool::Pool;
use crate::collection::{Collection, YearDirCache};
use crate::identity::RepositoryName;
use crate::index::{ItemRow, Tables, sidecar_version};

/// Looks items up in the index as it is: it is neither built nor synchronised. An item that changed since it
/// was indexed is not found.
pub struct CachedLookup<'a> {
    collection: &'a Collection,
    years: YearDirCache<'a>,
    pool: Pool,
}

impl<'a> CachedLookup<'a> {
    /// A lookup in the index of `collection`, by `jobs` threads.
    pub fn new(collection: &'a Collection, jobs: usize) -> CachedLookup<'a> {
        CachedLookup { collection, years: YearDirCache::new(collection), pool: Pool::new(jobs) }
    }

    /// The items `names`, spelt as on disk; `None` for each item whose sidecar has to be read instead.
    ///
    /// Names of one year are fastest side by side.
    pub fn of(&mut self, names: &[RepositoryName]) -> Vec<Option<Hit>> {
        let rows = self.collection.with_index(|index| {
            index.read(|tables| {
                let mut rows = Vec::with_capacity(names.len());
                by_year(names).try_for_each(|names| put_rows(tables, names, &mut rows))?;
                Ok::<_, CatalogError>(rows)
            })
        });
        let Ok(Some(mut rows)) = rows else { return vec![None; names.len()] };
        let mut rest = &mut rows[..];
        for names in by_year(names) {
            let (rows, later) = std::mem::take(&mut rest).split_at_mut(names.len());
            rest = later;
            let Ok(Some(year)) = self.years.dir(Path::new(split(&names[0]).0)) else {
                rows.fill(None);
                continue;
            };
            // The caller reads the sidecar of an item without a current row, and meets the error there.
            let keep_current = |(name, row): (&RepositoryName, &mut Option<ItemRow>)| {
                let version = sidecar_version(year, split(name).1).ok();
                row.take_if(|row| row.state.is_none() || version != Some(row.version));
            };
            match self.pool.for_many(names.len()) {
                Some(pool) => pool.install(|| {
                    names.par_iter().zip(&mut *rows).with_min_len(64).for_each(keep_current);
                }),
                None => names.iter().zip(&mut *rows).for_each(keep_current),
            }
        }
        let hit =
            |(name, row): (&RepositoryName, Option<ItemRow>)| Some(Hit::of(name.clone(), row?));
        names.iter().zip(rows).map(hit).collect()
    }
}

/// The names, divided where the year changes.
fn by_year(names: &[RepositoryName]) -> impl Iterator<Item = &[RepositoryName]> {
    names.chunk_by(|a, b| split(a).0 == split(b).0)
}

/// Adds the rows of items of one year.
fn put_rows(
    tables: Tables<'_>,
    names: &[RepositoryName],
    rows: &mut Vec<Option<ItemRow>>,
) -> Result<(), CatalogError> {
    let directory = tables.directory_if_known(split(&names[0]).0)?;
    for name in names {
        rows.push(match directory {
            Some((directory, _)) => tables.item(directory, split(name).1)?,
            None => None,
        });
    }
    Ok(())
}
