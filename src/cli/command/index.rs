//! `urepo index`: the index made, or brought up to what is there.

use urepo::catalog::{Catalog, RefreshContext, RefreshDepth, RefreshReport};
use urepo::collection::Collection;

use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::human;
use crate::cli::progress::Unit;
use crate::cli::report::{End, Report};

/// Build or update the index
///
/// The index, `.urepo/index.sqlite`, is what `urepo find` and `urepo stats` answer from. urepo
/// builds it when it is first needed and updates it with every change; items that were added, moved or
/// removed by other means are noticed by the next command that uses it. Sidecars that were edited in
/// place are noticed here: every item is looked at, and what is not as it was is read again.
///
/// It holds nothing that is not in the sidecars, and may be deleted at any time.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo index
  urepo index --rebuild")]
pub(crate) struct Index {
    /// Rebuild it from the sidecars
    #[arg(long)]
    rebuild: bool,
}

impl Index {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let collection = context.collection()?;
        if context.global.dry_run {
            return Err(Failure::usage("`index` has no dry run"));
        }
        let depth = if self.rebuild { RefreshDepth::Rebuild } else { RefreshDepth::Sidecars };
        collection.rebuild(&context.agent, &context.waiter())?;
        let catalog = context.catalog(&collection, depth)?;
        let refreshed = catalog.report();
        if refreshed.temporary {
            return Err(Failure::new(Exit::Failure, "the index cannot be kept in this collection")
                .hint("`urepo find` answers all the same, and takes longer"));
        }
        let read = human::count(refreshed.read, "item");
        let closing = match (refreshed.built, refreshed.read, refreshed.gone) {
            (true, ..) => format!("built the index: {read}"),
            (false, 0, 0) => "the index is up to date".to_owned(),
            (false, _, 0) => format!("read {read} again"),
            (false, _, 1) => format!("read {read} again, 1 item is gone"),
            (false, _, gone) => format!("read {read} again, {gone} items are gone"),
        };
        let mut report = Report::new(context, "read", false);
        report.summary.counts.items = refreshed.read;
        report.count("gone", refreshed.gone);
        report.count("unlisted_directories", refreshed.unreadable.len() as u64);
        report.finish(End {
            partial: judge(refreshed).err(),
            closing: Some(closing),
            ..End::default()
        })
    }
}

impl Context {
    /// The collection with its index brought up to what is there.
    pub(crate) fn catalog<'a>(
        &self,
        collection: &'a Collection,
        depth: RefreshDepth,
    ) -> Result<Catalog<'a>, Failure> {
        // It can take minutes where there are many items, and the user did not ask for that.
        if depth == RefreshDepth::Directories && !collection.has_index()? {
            self.printer.note("building the index first");
        }
        let progress = self.progress_in(Unit::Items);
        let refresh =
            RefreshContext { jobs: self.config.jobs.value, caller: self.caller(&*progress) };
        let catalog = Catalog::open(collection, depth, &refresh)?;
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

    /// The index of `collection` as far as it adds to an answer that is right without it: none if it would
    /// have to be built.
    pub(crate) fn existing_catalog<'a>(&self, collection: &'a Collection) -> Option<Catalog<'a>> {
        let progress = self.progress_in(Unit::Items);
        let refresh =
            RefreshContext { jobs: self.config.jobs.value, caller: self.caller(&*progress) };
        Catalog::open_existing(collection, &refresh).ok().flatten()
    }
}

/// That some directories could not be listed, which was told.
pub(super) fn judge(report: &RefreshReport) -> Done {
    match report.unreadable.len() {
        0 => Ok(()),
        unlisted => {
            let count = human::count(unlisted as u64, "place");
            Err(Failure::new(Exit::Partial, format!("{count} cannot be read"))
                .hint("what is known of the items there may be old"))
        }
    }
}
