//! Queries.

use std::ops::ControlFlow;
use std::path::Path;

use super::reader::{AT_A_TIME, Reader, split};
use super::{Catalog, CatalogError, RefreshReport};
use crate::collection::YearDirCache;
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::index::{Index, ItemRow, Position, Query, Which, is_sidecar_current};
use crate::item::State;
use crate::progress::NoProgress;
use crate::sidecar::Sidecar;

/// An item found by a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its name, spelt as on disk.
    pub name: RepositoryName,
    /// Its state; `None` if its sidecar cannot be read.
    pub state: Option<State>,
    /// Number of files.
    pub files: u64,
    /// Total size of the files in bytes.
    pub bytes: u64,
    /// Its title, if it has one.
    pub title: Option<String>,
}

/// Size of the first page of hits: the first ones appear soon.
const FIRST_PAGE: usize = 256;

/// Size up to which pages grow: some queries take as long for one page as for all.
const LARGEST_PAGE: usize = 65_536;

type Page = Vec<(RepositoryName, ItemRow)>;

impl Catalog<'_> {
    /// Calls `visit` for each item that `query` finds, in order of the dates in the names, until `visit`
    /// breaks.
    ///
    /// Each hit agrees with the current sidecar: items that changed since they were indexed are read again,
    /// and visited at the end if the query still finds them. The index is not in use during `visit`, which
    /// may take its time and change items.
    pub fn find(
        &mut self,
        query: &Query,
        mut visit: impl FnMut(Hit) -> Result<ControlFlow<()>, CatalogError>,
    ) -> Result<(), CatalogError> {
        let collection = self.collection;
        let mut years = YearDirCache::new(collection);
        let mut changed = Vec::new();
        let mut last: Option<Position> = None;
        let mut size = FIRST_PAGE;
        loop {
            let which = last.as_ref().map_or(Which::All, Which::After);
            let page = self.with_index(|_, index| page(index, query, which, size))?;
            last = page.last().map(|(name, row)| Position::of(name, row));
            let is_full = page.len() == size;
            for (name, row) in page {
                if collection.waiter().interrupt.requested() {
                    return Err(CatalogError::Interrupted);
                }
                match is_current(&mut years, &name, &row) {
                    Ok(true) => {
                        if visit(Hit::of(name, row))?.is_break() {
                            return Ok(());
                        }
                    }
                    Ok(false) => changed.push(name),
                    // Neither the index nor the sidecar can answer.
                    Err(error) => self.report.cannot_read(error),
                }
            }
            if !is_full {
                break;
            }
            size = LARGEST_PAGE.min(size * 4);
        }
        let reader = Reader::new(collection, 1, (&NoProgress, &collection.waiter().interrupt));
        for changed in changed.chunks(AT_A_TIME) {
            let page = self.with_index(|report, index| {
                let numbers = read_again(&reader, report, index, changed)?;
                page(index, query, Which::Only(&numbers), numbers.len())
            })?;
            for (name, row) in page {
                if visit(Hit::of(name, row))?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// At most `size` rows.
fn page(index: &Index, query: &Query, which: Which<'_>, size: usize) -> Result<Page, CatalogError> {
    let mut page = Page::new();
    index.tables().search(query, which, |name, row| {
        page.push((name, row));
        let is_full = page.len() >= size;
        Ok::<_, CatalogError>(if is_full {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })?;
    Ok(page)
}

impl Hit {
    /// The item `name` with its sidecar.
    pub fn in_sidecar(name: RepositoryName, sidecar: &Sidecar) -> Hit {
        let (files, bytes) = (sidecar.payload.files, sidecar.payload.bytes);
        let title = sidecar.metadata.title().map(str::to_owned);
        Hit { name, state: Some(sidecar.state), files, bytes, title }
    }

    pub(super) fn of(name: RepositoryName, row: ItemRow) -> Hit {
        let ItemRow { state, files, bytes, title, .. } = row;
        Hit { name, state, files, bytes, title }
    }
}

/// Whether the row of an item was made from its current sidecar.
pub(super) fn is_current(
    years: &mut YearDirCache<'_>,
    name: &RepositoryName,
    row: &ItemRow,
) -> Result<bool, PathError> {
    let (path, leaf) = split(name);
    let Some(dir) = years.dir(Path::new(path))? else { return Ok(false) };
    is_sidecar_current(dir, leaf, row.version)
}

/// Reads items again. Returns their row numbers, without those of items that are gone.
fn read_again(
    reader: &Reader<'_>,
    report: &mut RefreshReport,
    index: &mut Index,
    names: &[RepositoryName],
) -> Result<Vec<i64>, CatalogError> {
    index.write(|tables| {
        reader.read(tables, names, report)?;
        let number = |name| {
            let (path, leaf) = split(name);
            tables.number_of(path, leaf)
        };
        let numbers: Result<Vec<_>, _> = names.iter().map(number).collect();
        Ok(numbers?.into_iter().flatten().collect())
    })
}
