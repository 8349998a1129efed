//! Items by name from the index, without reading their sidecars.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, SendError, SyncSender};
use std::thread;

use rayon::prelude::*;

use super::find::Hit;
use super::pool::Pool;
use super::reader::split;
use crate::collection::{Collection, YearDirCache};
use crate::identity::RepositoryName;
use crate::index::{Index, IndexError, ItemRow, Tables, is_sidecar_current};

/// Looks items up in the index as it is: it is neither built nor synchronised. An item that changed since it
/// was indexed is not found.
pub struct CachedLookup<'a> {
    index: Option<Index>,
    years: YearDirCache<'a>,
    pool: Pool,
}

impl<'a> CachedLookup<'a> {
    /// A lookup in the index of `collection`, with several requests to the disk for each of `jobs`.
    pub fn new(collection: &'a Collection, jobs: usize) -> CachedLookup<'a> {
        let pool = Pool::of_requests(jobs);
        let index = collection.index_path().and_then(|path| Index::open_existing(path).ok()?);
        CachedLookup { index, years: YearDirCache::new(collection), pool }
    }

    /// The items `names`, spelt as on disk; `None` for each item whose sidecar has to be read instead.
    ///
    /// Names of one year are fastest side by side.
    pub fn of(&mut self, names: &[RepositoryName]) -> Vec<Option<Hit>> {
        let read = |index: &mut Index| {
            index.read(|tables| {
                let mut rows = Vec::with_capacity(names.len());
                by_year(names).try_for_each(|names| add_rows(tables, names, &mut rows))?;
                Ok::<_, IndexError>(rows)
            })
        };
        let rows = self.index.as_mut().and_then(|index| read(index).ok());
        let Some(mut rows) = rows else { return vec![None; names.len()] };
        let mut rest = &mut rows[..];
        for names in by_year(names) {
            let (rows, later) = std::mem::take(&mut rest).split_at_mut(names.len());
            rest = later;
            let path = split(&names[0]).0;
            let Ok(Some(year)) = self.years.dir(Path::new(path)) else {
                rows.fill(None);
                continue;
            };
            // The caller reads the sidecar of an item without a current row, and meets the error there.
            let keep_current = |(name, row): (&RepositoryName, &mut Option<ItemRow>)| {
                let leaf = &name.as_str()[path.len() + 1..];
                let is_current = |row: &ItemRow| {
                    row.state.is_some()
                        && is_sidecar_current(year, leaf, row.version).unwrap_or(false)
                };
                row.take_if(|row| !is_current(row));
            };
            match self.pool.for_many(names.len()) {
                Some(pool) => pool.install(|| {
                    names.par_iter().zip(&mut *rows).with_min_len(TOGETHER).for_each(keep_current);
                }),
                None => names.iter().zip(&mut *rows).for_each(keep_current),
            }
        }
        let hit =
            |(name, row): (&RepositoryName, Option<ItemRow>)| Some(Hit::of(name.clone(), row?));
        names.iter().zip(rows).map(hit).collect()
    }
}

/// Items that a thread looks at before it asks for more.
const TOGETHER: usize = 256;

/// The number of pages that a [`Lookahead`] works on.
const PAGES: usize = 2;

/// Items with what the index knows of them.
type Page = (Vec<RepositoryName>, Vec<Option<Hit>>);

/// A lookup on a thread of its own: pages of names go in, and come out in the same order with what
/// [`CachedLookup::of`] finds. It iterates over the pages in flight.
pub struct Lookahead {
    names: SyncSender<Vec<RepositoryName>>,
    pages: Receiver<Page>,
    under_way: usize,
}

impl CachedLookup<'_> {
    /// Calls `act` with a lookup that works on the next pages while `act` uses the last one.
    pub fn ahead<T>(mut self, act: impl FnOnce(&mut Lookahead) -> T) -> T {
        let (names, asked) = mpsc::sync_channel::<Vec<RepositoryName>>(PAGES);
        let (answer, pages) = mpsc::channel();
        thread::scope(|threads| {
            let look = move || {
                for names in asked {
                    let hits = self.of(&names);
                    if answer.send((names, hits)).is_err() {
                        break;
                    }
                }
            };
            // Without the thread, every sidecar is read.
            let _ = thread::Builder::new().spawn_scoped(threads, look);
            act(&mut Lookahead { names, pages, under_way: 0 })
        })
    }
}

impl Lookahead {
    /// Adds a page, and takes the oldest one once enough pages are in flight.
    pub fn add(&mut self, names: Vec<RepositoryName>) -> Option<Page> {
        if let Err(SendError(names)) = self.names.send(names) {
            let hits = vec![None; names.len()];
            return Some((names, hits));
        }
        self.under_way += 1;
        if self.under_way > PAGES { self.next() } else { None }
    }
}

impl Iterator for Lookahead {
    type Item = Page;

    fn next(&mut self) -> Option<Page> {
        self.under_way = self.under_way.checked_sub(1)?;
        self.pages.recv().ok()
    }
}

/// The names, divided where the year changes.
fn by_year(names: &[RepositoryName]) -> impl Iterator<Item = &[RepositoryName]> {
    names.chunk_by(|a, b| split(a).0 == split(b).0)
}

/// Adds the rows of items of one year.
fn add_rows(
    tables: Tables<'_>,
    names: &[RepositoryName],
    rows: &mut Vec<Option<ItemRow>>,
) -> Result<(), IndexError> {
    let leaves = names.iter().map(|name| split(name).1);
    let Some(directory) = tables.directory_if_known(split(&names[0]).0)? else {
        rows.extend(leaves.map(|_| None));
        return Ok(());
    };
    tables.add_items(directory, leaves, rows)
}
