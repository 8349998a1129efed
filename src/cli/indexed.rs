//! The index of a collection for commands.

use urepo::catalog::{Catalog, CatalogError, RefreshContext, RefreshReport};
use urepo::collection::Collection;

use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::human;
use crate::cli::progress::Unit;

impl Context {
    /// The collection with its index, which is built if it is missing.
    pub(crate) fn catalog<'a>(&self, collection: &'a Collection) -> Result<Catalog<'a>, Failure> {
        // With many items it can take minutes, and the user did not request it.
        if collection.index_path().is_none_or(|path| !path.exists()) {
            self.printer.note("building the index first");
        }
        self.catalog_by(|refresh| Catalog::open(collection, refresh))
    }

    /// The collection with the index that `open` opens or builds.
    pub(crate) fn catalog_by<'a>(
        &self,
        open: impl FnOnce(&RefreshContext<'_>) -> Result<Catalog<'a>, CatalogError>,
    ) -> Result<Catalog<'a>, Failure> {
        let progress = self.progress_in(Unit::Items);
        let refresh =
            RefreshContext { jobs: self.config.jobs.value, caller: self.caller(&*progress) };
        let catalog = open(&refresh)?;
        drop(progress);
        let report = catalog.report();
        if report.temporary {
            self.printer
                .warning("the index cannot be kept here: it was made for this answer alone");
        }
        for error in &report.unreadable {
            self.printer.error(&Failure::of(Exit::Partial, error).in_one_line());
        }
        Ok(catalog)
    }

    /// The index of `collection`, for an answer that is right without it; `None` if it would have to be
    /// built.
    pub(crate) fn existing_catalog<'a>(&self, collection: &'a Collection) -> Option<Catalog<'a>> {
        let progress = self.progress_in(Unit::Items);
        let refresh =
            RefreshContext { jobs: self.config.jobs.value, caller: self.caller(&*progress) };
        Catalog::open_existing(collection, &refresh).ok().flatten()
    }
}

/// The failure of directories that could not be listed, which has been reported.
pub(crate) fn judge(report: &RefreshReport) -> Done {
    match report.unreadable.len() {
        0 => Ok(()),
        unlisted => {
            let count = human::count(unlisted as u64, "place");
            Err(Failure::new(Exit::Partial, format!("{count} cannot be read"))
                .hint("the data about their items may be old"))
        }
    }
}
