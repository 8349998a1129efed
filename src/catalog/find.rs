//! Finding items.

use std::ops::ControlFlow;
use std::path::Path;

use super::refresh::mark_of;
use super::{Catalog, CatalogError, News};
use crate::collection::{Collection, Years};
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::index::{Index, IndexError, Kept, Position, Query, Which};
use crate::item::State;
use crate::sidecar::Sidecar;

/// An item that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its name, spelt as on disk.
    pub name: RepositoryName,
    /// Its state; none where its sidecar cannot be read.
    pub state: Option<State>,
    /// How many files it has.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Its title, if it has one.
    pub title: Option<String>,
}

/// So many changed items are read again in one transaction.
const AT_A_TIME: usize = 10_000;

/// So many answers are taken from the index at first, before they are told.
const FIRST_PAGE: usize = 256;

/// Later there are more of them: some questions take as long for one page as for all.
const LARGEST_PAGE: usize = 65_536;

/// Items as they are kept.
type Page = Vec<(RepositoryName, Kept)>;

impl Catalog<'_> {
    /// Calls `visit` for each item that `query` finds, in order of the dates of the names, until that
    /// has enough.
    ///
    /// Each is as its sidecar says now: what has been changed since the index has seen it is read again,
    /// and told at the end if the query still finds it. The index is not in use while `visit` is: it may
    /// take its time, and change items.
    pub fn find(
        &mut self,
        query: &Query,
        mut visit: impl FnMut(Found) -> Result<ControlFlow<()>, CatalogError>,
    ) -> Result<(), CatalogError> {
        let collection = self.collection;
        let mut years = Years::new(collection);
        let mut changed = Vec::new();
        let mut last: Option<Position> = None;
        let mut size = FIRST_PAGE;
        loop {
            let which = last.as_ref().map_or(Which::All, Which::After);
            let page = self.with_index(|_, index| page(index, query, which, size))?;
            last = page.last().map(|(name, kept)| Position::of(name, kept));
            let is_full = page.len() == size;
            for (name, kept) in page {
                if self.interrupt.requested() {
                    return Err(CatalogError::Interrupted);
                }
                match is_as_kept(&mut years, &name, &kept) {
                    Ok(true) => {
                        if visit(Found::of(name, kept))?.is_break() {
                            return Ok(());
                        }
                    }
                    Ok(false) => changed.push(name),
                    // Neither the index nor the sidecar can answer for it.
                    Err(error) => self.news.can_not_read(error),
                }
            }
            if !is_full {
                break;
            }
            size = LARGEST_PAGE.min(size * 4);
        }
        for changed in changed.chunks(AT_A_TIME) {
            let page = self.with_index(|news, index| {
                let numbers = read_again((collection, &mut years), news, index, changed)?;
                page(index, query, Which::Only(&numbers), numbers.len())
            })?;
            for (name, kept) in page {
                if visit(Found::of(name, kept))?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// The first answers, `size` at most.
fn page(index: &Index, query: &Query, which: Which<'_>, size: usize) -> Result<Page, CatalogError> {
    let mut page = Page::new();
    index.tables().search(query, which, |name, kept| {
        page.push((name, kept));
        let is_full = page.len() >= size;
        Ok::<_, CatalogError>(if is_full {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })?;
    Ok(page)
}

impl Found {
    /// What the sidecar of the item `name` says.
    pub fn in_sidecar(name: RepositoryName, sidecar: &Sidecar) -> Found {
        let (files, bytes) = (sidecar.payload.files, sidecar.payload.bytes);
        let title = sidecar.metadata.title().map(str::to_owned);
        Found { name, state: Some(sidecar.state), files, bytes, title }
    }

    pub(super) fn of(name: RepositoryName, kept: Kept) -> Found {
        let Kept { state, files, bytes, title, .. } = kept;
        Found { name, state, files, bytes, title }
    }
}

/// Whether the sidecar of an item is the one that the record was made from.
pub(super) fn is_as_kept(
    years: &mut Years<'_>,
    name: &RepositoryName,
    kept: &Kept,
) -> Result<bool, PathError> {
    let (path, leaf) = split(name);
    let Some(dir) = years.dir(Path::new(path))? else { return Ok(false) };
    Ok(mark_of(dir, leaf)? == kept.mark)
}

/// Reads items again, and says under which numbers they are kept now. Of those that cannot be read
/// nothing is said.
fn read_again(
    (collection, years): (&Collection, &mut Years<'_>),
    news: &mut News,
    index: &mut Index,
    names: &[RepositoryName],
) -> Result<Vec<i64>, CatalogError> {
    index.write(|tables| {
        let mut numbers = Vec::new();
        for name in names {
            let (path, leaf) = split(name);
            let (place, _) = tables.place(path)?;
            let taken = match years.dir(Path::new(path)) {
                Ok(Some(dir)) => collection.take_in(tables, place, (path, dir), leaf),
                Ok(None) => tables.remove(place, leaf),
                Err(error) => Err(error.into()),
            };
            if let Err(IndexError::Disk(error)) = taken {
                news.can_not_read(error);
                continue;
            }
            taken?;
            news.read += 1;
            numbers.extend(tables.number_of(path, leaf)?);
        }
        Ok(numbers)
    })
}

/// The year that an item is in, and its name there.
pub(super) fn split(name: &RepositoryName) -> (&str, &str) {
    name.as_str().rsplit_once('/').unwrap_or((name.as_str(), ""))
}
