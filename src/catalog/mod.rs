//! The index of a collection, which follows the ledger, and answers from it.
//!
//! [`Catalog::open`] builds the index from the tree if there is none. Otherwise it reads the items that the ledger names
//! since the index was last used, at the cost of those lines. What people put into the tree or remove by hand has no line:
//! the index learns of it when `recover` records it. A sidecar that was edited in place is noticed when its item is part
//! of an answer.
//!
//! The index is outside of the collection and private to a user. Where it cannot be kept, a temporary one is built.

mod cached_lookup;
mod error;
mod find;
mod follow;
mod pool;
mod reader;

use std::path::Path;
use std::time::Duration;

use crate::agent::Caller;
use crate::collection::Collection;
use crate::disk::{Dir, PathError, Watcher};
use crate::identity::Prefix;
use crate::index::{Counts, Index};
use crate::interrupt::Interrupt;
use crate::progress::{NoProgress, Progress};
use crate::wait::{LONGEST_PAUSE, Waiter};

pub use cached_lookup::{CachedLookup, Lookahead};
pub use error::CatalogError;
pub use find::Hit;
use follow::Follower;

/// Context in which an index follows the ledger.
#[derive(Clone, Copy)]
pub struct RefreshContext<'a> {
    /// The caller.
    pub caller: Caller<'a>,
    /// Number of sidecars read in parallel.
    pub jobs: usize,
}

/// The items that an index had to read, and those that it could not read.
#[derive(Debug, Default)]
pub struct RefreshReport {
    /// The whole index was built.
    pub built: bool,
    /// The index could not be written and is temporary.
    pub temporary: bool,
    /// Number of items read.
    pub read: u64,
    /// Directories that could not be listed, and sidecars that could not be read because of an I/O error.
    pub unreadable: Vec<PathError>,
}

impl RefreshReport {
    /// Adds an error, once for each path.
    fn cannot_read(&mut self, error: PathError) {
        if !self.unreadable.iter().any(|it| it.path() == error.path()) {
            self.unreadable.push(error);
        }
    }
}

/// A collection with an index that has followed the ledger.
pub struct Catalog<'a> {
    collection: &'a Collection,
    index: Index,
    report: RefreshReport,
    jobs: usize,
}

impl<'a> Catalog<'a> {
    /// Opens the index of `collection`, and builds it if it is missing.
    pub fn open(
        collection: &'a Collection,
        context: &RefreshContext<'_>,
    ) -> Result<Catalog<'a>, CatalogError> {
        Catalog::kept_or_temporary(collection, context, false)
    }

    /// Builds the index of `collection` from the sidecars.
    pub fn rebuild(
        collection: &'a Collection,
        context: &RefreshContext<'_>,
    ) -> Result<Catalog<'a>, CatalogError> {
        Catalog::kept_or_temporary(collection, context, true)
    }

    /// Opens the index of `collection`; `None` if it would have to be built.
    pub fn open_existing(
        collection: &'a Collection,
        context: &RefreshContext<'_>,
    ) -> Result<Option<Catalog<'a>>, CatalogError> {
        let Some(path) = collection.index_path() else { return Ok(None) };
        match Index::open_existing(path) {
            Ok(Some(index)) => Catalog::with(collection, index, context, false).map(Some),
            Ok(None) => Ok(None),
            Err(error) if error.needs_rebuild() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn kept_or_temporary(
        collection: &'a Collection,
        context: &RefreshContext<'_>,
        is_rebuild: bool,
    ) -> Result<Catalog<'a>, CatalogError> {
        if let Some(path) = collection.index_path() {
            match Catalog::kept(collection, path, context, is_rebuild) {
                Err(error) if error.is_unwritable() => {}
                opened => return opened,
            }
        }
        let mut catalog = Catalog::with(collection, Index::open(None)?, context, is_rebuild)?;
        catalog.report.temporary = true;
        Ok(catalog)
    }

    /// Opens the index at `path`, where it is kept.
    pub(crate) fn kept(
        collection: &'a Collection,
        path: &Path,
        context: &RefreshContext<'_>,
        is_rebuild: bool,
    ) -> Result<Catalog<'a>, CatalogError> {
        if let Some(dir) = path.parent()
            && let (Some(above), Some(name)) = (dir.parent(), dir.file_name())
        {
            // Without a place for the index, opening fails.
            let above = Dir::make_with_parents(above, &Watcher::default());
            let _ = above.and_then(|above| above.make_private_dir(name));
        }
        let open = || {
            let index = patiently(collection.waiter(), || Ok(Index::open(Some(path))?))?;
            Catalog::with(collection, index, context, is_rebuild)
        };
        match open() {
            Err(CatalogError::Index(error)) if error.needs_rebuild() => {
                patiently(collection.waiter(), || Ok(Index::empty(path)?))?;
                open()
            }
            opened => opened,
        }
    }

    fn with(
        collection: &'a Collection,
        index: Index,
        context: &RefreshContext<'_>,
        is_rebuild: bool,
    ) -> Result<Catalog<'a>, CatalogError> {
        let RefreshContext { caller, jobs } = *context;
        let mut catalog = Catalog { collection, index, report: RefreshReport::default(), jobs };
        catalog.follow((caller.progress, caller.interrupt), is_rebuild)?;
        Ok(catalog)
    }

    fn follow(
        &mut self,
        watched: (&dyn Progress, &Interrupt),
        is_rebuild: bool,
    ) -> Result<(), CatalogError> {
        let Catalog { collection, index, report, jobs } = self;
        patiently(collection.waiter(), || {
            Follower::new(collection, *jobs, watched, report).follow(index, is_rebuild)
        })
    }

    /// Builds the index again: it follows the ledger, and is damaged.
    fn build_again(&mut self) -> Result<(), CatalogError> {
        let collection = self.collection;
        // The damaged one is closed before its file is emptied.
        self.index = Index::open(None)?;
        if let Some(path) = collection.index_path() {
            let open = || {
                Index::empty(path)?;
                Ok(Index::open(Some(path))?)
            };
            match patiently(collection.waiter(), open) {
                Ok(index) => self.index = index,
                Err(error) if error.is_unwritable() => self.report.temporary = true,
                Err(error) => return Err(error),
            }
        }
        self.follow((&NoProgress, &collection.waiter().interrupt), true)
    }

    /// Result of [`Catalog::open`] and of the queries since.
    pub fn report(&self) -> &RefreshReport {
        &self.report
    }

    /// Counts all items, or those of `prefix`.
    pub fn counts(&mut self, prefix: Option<&Prefix>) -> Result<Counts, CatalogError> {
        self.with_index(|_, index| Ok(index.tables().counts(prefix)?))
    }

    /// Calls `act` with the index, again while another process has it, and once more with a new index if this one is
    /// damaged.
    fn with_index<T>(
        &mut self,
        mut act: impl FnMut(&mut RefreshReport, &mut Index) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        let mut once = |catalog: &mut Catalog<'_>| {
            let Catalog { collection, index, report, .. } = catalog;
            patiently(collection.waiter(), || act(report, index))
        };
        match once(self) {
            Err(CatalogError::Index(error)) if error.needs_rebuild() => {
                self.build_again()?;
                once(self)
            }
            done => done,
        }
    }
}

/// Repeats `attempt` while another process has the index. One that builds it has it for long.
fn patiently<T>(
    waiter: &Waiter<'_>,
    mut attempt: impl FnMut() -> Result<T, CatalogError>,
) -> Result<T, CatalogError> {
    let mut waited = Duration::ZERO;
    loop {
        match attempt() {
            Err(CatalogError::Index(error)) if error.is_busy() && waited < waiter.limit => {}
            done => return done,
        }
        waiter.pause(LONGEST_PAUSE).map_err(|_| CatalogError::Interrupted)?;
        // SQLite has waited as long before.
        waited += LONGEST_PAUSE * 2;
    }
}
