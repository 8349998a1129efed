//! Finding items.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::refresh::mark_of;
use super::{Catalog, CatalogError, News};
use crate::collection::Collection;
use crate::disk::{Dir, PathError};
use crate::identity::RepositoryName;
use crate::index::{Index, Kept, Query};
use crate::item::State;

/// An item that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its name, spelt as on disk.
    pub name: RepositoryName,
    /// Its state; none where its sidecar can not be read.
    pub state: Option<State>,
    /// How many files it has.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Its title, if it has one.
    pub title: Option<String>,
}

/// So many numbers go into one statement.
const AT_A_TIME: usize = 10_000;

impl Catalog<'_> {
    /// Calls `visit` for each item that `query` finds, in order of the dates of the names, until that
    /// has enough.
    ///
    /// Each is as its sidecar says now: what has been changed since the index has seen it is read again,
    /// and told at the end if the query still finds it.
    pub fn find(
        &mut self,
        query: &Query,
        mut visit: impl FnMut(Found) -> Result<ControlFlow<()>, CatalogError>,
    ) -> Result<(), CatalogError> {
        let (collection, interrupt) = (self.collection, self.interrupt.clone());
        self.with_index(|news, index| {
            let mut years = Years::new(collection);
            let mut changed = Vec::new();
            let mut enough = false;
            index.tables().search(query, None, |name, kept| {
                if interrupt.requested() {
                    return Err(CatalogError::Interrupted);
                }
                if years.is_as_kept(&name, &kept)? {
                    let flow = visit(Found::of(name, kept))?;
                    enough = flow.is_break();
                    return Ok(flow);
                }
                changed.push(name);
                Ok(ControlFlow::Continue(()))
            })?;
            if enough {
                return Ok(());
            }
            for changed in changed.chunks(AT_A_TIME) {
                let numbers = years.read_again(news, index, changed)?;
                let mut visit = |name, kept| {
                    let flow = visit(Found::of(name, kept))?;
                    enough = flow.is_break();
                    Ok::<_, CatalogError>(flow)
                };
                index.tables().search(query, Some(&numbers), &mut visit)?;
                if enough {
                    break;
                }
            }
            Ok(())
        })
    }
}

impl Found {
    fn of(name: RepositoryName, kept: Kept) -> Found {
        let Kept { state, files, bytes, title, .. } = kept;
        Found { name, state, files, bytes, title }
    }
}

/// Directories of years, opened once, by their paths.
struct Years<'a> {
    collection: &'a Collection,
    dirs: HashMap<String, Option<Dir>>,
}

impl<'a> Years<'a> {
    fn new(collection: &'a Collection) -> Years<'a> {
        Years { collection, dirs: HashMap::new() }
    }

    fn dir(&mut self, path: &str) -> Result<Option<&Dir>, PathError> {
        if !self.dirs.contains_key(path) {
            let dir = self.collection.root().open_dir_if_there(path)?;
            self.dirs.insert(path.to_owned(), dir);
        }
        Ok(self.dirs.get(path).and_then(Option::as_ref))
    }

    /// Whether the sidecar of an item is the one that the record was made from.
    fn is_as_kept(&mut self, name: &RepositoryName, kept: &Kept) -> Result<bool, PathError> {
        let (path, leaf) = split(name);
        match self.dir(path)? {
            Some(dir) => Ok(mark_of(dir, leaf) == kept.mark),
            None => Ok(false),
        }
    }

    /// Reads items again, and says under which numbers they are kept now.
    fn read_again(
        &mut self,
        news: &mut News,
        index: &mut Index,
        names: &[RepositoryName],
    ) -> Result<Vec<i64>, CatalogError> {
        let collection = self.collection;
        index.write(|tables| {
            let mut numbers = Vec::new();
            for name in names {
                let (path, leaf) = split(name);
                let (place, _) = tables.place(path)?;
                match self.dir(path)? {
                    Some(dir) => {
                        collection.take_in(tables, place, (path, dir), leaf)?;
                        news.read += 1;
                    }
                    None => tables.remove(place, leaf)?,
                }
                numbers.extend(tables.number_of(path, leaf)?);
            }
            Ok(numbers)
        })
    }
}

/// The year that an item is in, and its name there.
fn split(name: &RepositoryName) -> (&str, &str) {
    name.as_str().rsplit_once('/').unwrap_or((name.as_str(), ""))
}
