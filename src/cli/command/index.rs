//! `urepo index`: build or update the index.

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
/// `urepo find` and `urepo stats` answer from the index, `.urepo/index.sqlite`. urepo builds it on first use
/// and updates it with every change. The next command that uses it notices items that other programs added,
/// moved or removed. This command also notices sidecars that were edited in place: it checks every item, and
/// reads changed sidecars again.
///
/// The index holds only data of the sidecars, and may be deleted at any time.
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
    /// The collection with its updated index.
    pub(crate) fn catalog<'a>(
        &self,
        collection: &'a Collection,
        depth: RefreshDepth,
    ) -> Result<Catalog<'a>, Failure> {
        // With many items it can take minutes, and the user did not request it.
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
pub(super) fn judge(report: &RefreshReport) -> Done {
    match report.unreadable.len() {
        0 => Ok(()),
        unlisted => {
            let count = human::count(unlisted as u64, "place");
            Err(Failure::new(Exit::Partial, format!("{count} cannot be read"))
                .hint("the data about their items may be old"))
        }
    }
}
