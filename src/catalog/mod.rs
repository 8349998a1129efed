//! A synchronised index of a collection, and answers from it.
//!
//! [`Catalog::open`] builds the index if there is none. Otherwise it reads the items whose changes writers
//! have logged, and lists the directories whose versions have changed. That costs one stat for each directory
//! above items: a handful in any collection. A sidecar that another program edited in place is
//! noticed when its item is part of an answer; [`RefreshDepth::Sidecars`] notices all of them, at the cost of
//! one stat for each item.
//!
//! Where the index cannot be written, on a read-only disk or without `.urepo`, a temporary one is built.

mod build;
mod cached_lookup;
mod error;
mod find;
mod pool;
mod refresh;

use std::collections::HashSet;
use std::path::PathBuf;

use crate::agent::Caller;
use crate::collection::Collection;
use crate::disk::PathError;
use crate::identity::Prefix;
use crate::index::{Counts, Index};
use crate::interrupt::Interrupt;

pub use cached_lookup::{CachedLookup, Lookahead};
pub use error::CatalogError;
pub use find::Hit;
use refresh::Refresh;

/// Part of the index that is compared with the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RefreshDepth {
    /// The directories above items.
    Directories,
    /// Every sidecar as well.
    Sidecars,
    /// Nothing: the index is rebuilt from the sidecars.
    Rebuild,
}

/// Context of the synchronisation of an index.
#[derive(Clone, Copy)]
pub struct RefreshContext<'a> {
    /// The caller.
    pub caller: Caller<'a>,
    /// Number of sidecars read in parallel.
    pub jobs: usize,
}

/// Result of the synchronisation of an index.
#[derive(Debug, Default)]
pub struct RefreshReport {
    /// The whole index was built.
    pub built: bool,
    /// The index could not be written and is temporary.
    pub temporary: bool,
    /// Number of items read.
    pub read: u64,
    /// Number of items removed from the index.
    pub gone: u64,
    /// Directories that could not be listed, and sidecars that could not be read because of an I/O error:
    /// their rows are as old as before.
    pub unreadable: Vec<PathError>,
    /// The paths of `unreadable`.
    unreadable_paths: HashSet<PathBuf>,
}

impl RefreshReport {
    /// Adds an error, once for each path.
    fn cannot_read(&mut self, error: PathError) {
        if self.unreadable_paths.insert(error.path().to_path_buf()) {
            self.unreadable.push(error);
        }
    }
}

/// A collection with a synchronised index.
pub struct Catalog<'a> {
    collection: &'a Collection,
    interrupt: Interrupt,
    /// The index, if it could not be written.
    temporary: Option<Index>,
    report: RefreshReport,
}

impl<'a> Catalog<'a> {
    /// Synchronises the index of `collection` with the tree, or builds it.
    pub fn open(
        collection: &'a Collection,
        depth: RefreshDepth,
        context: &RefreshContext<'_>,
    ) -> Result<Catalog<'a>, CatalogError> {
        let interrupt = context.caller.interrupt.clone();
        let mut catalog =
            Catalog { collection, interrupt, temporary: None, report: RefreshReport::default() };
        // Only a change rebuilds a lost `.urepo`, not a query.
        if collection.own()?.is_none() {
            catalog.build_temporary(context)?;
            return Ok(catalog);
        }
        let ready = match depth {
            RefreshDepth::Rebuild => catalog.build(depth, context),
            depth => catalog.refresh_or_build(depth, context),
        };
        match ready {
            Ok(()) => {}
            Err(error) if error.is_unwritable() => catalog.build_temporary(context)?,
            Err(error) => return Err(error),
        }
        Ok(catalog)
    }

    /// Synchronises the index of `collection` with the tree; `None` if it would have to be built.
    pub fn open_existing(
        collection: &'a Collection,
        context: &RefreshContext<'_>,
    ) -> Result<Option<Catalog<'a>>, CatalogError> {
        let interrupt = context.caller.interrupt.clone();
        let mut catalog =
            Catalog { collection, interrupt, temporary: None, report: RefreshReport::default() };
        match catalog.refresh(RefreshDepth::Directories, context) {
            Ok(found) => Ok(found.map(|()| catalog)),
            Err(error) if error.needs_rebuild() || error.is_unwritable() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Result of [`Catalog::open`] and of the queries since.
    pub fn report(&self) -> &RefreshReport {
        &self.report
    }

    /// Counts all items, or those of `prefix`.
    pub fn counts(&mut self, prefix: Option<&Prefix>) -> Result<Counts, CatalogError> {
        self.with_index(|_, index| Ok(index.tables().counts(prefix)?))
    }

    fn refresh_or_build(
        &mut self,
        depth: RefreshDepth,
        context: &RefreshContext<'_>,
    ) -> Result<(), CatalogError> {
        match self.refresh(depth, context) {
            Ok(Some(())) => Ok(()),
            Ok(None) => self.build(depth, context),
            Err(error) if error.needs_rebuild() => self.build(depth, context),
            Err(error) => Err(error),
        }
    }

    /// Synchronises the index; `None` if there is no index.
    fn refresh(
        &mut self,
        depth: RefreshDepth,
        context: &RefreshContext<'_>,
    ) -> Result<Option<()>, CatalogError> {
        let (collection, report) = (self.collection, &mut self.report);
        collection.with_index(|index| Refresh::new(collection, context, report).run(index, depth))
    }

    /// Calls `act` with the index, which exists.
    fn with_index<T>(
        &mut self,
        act: impl FnOnce(&mut RefreshReport, &mut Index) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        if let Some(index) = &mut self.temporary {
            return act(&mut self.report, index);
        }
        let report = &mut self.report;
        self.collection.with_index(|index| act(report, index))?.ok_or(CatalogError::Gone)
    }
}
