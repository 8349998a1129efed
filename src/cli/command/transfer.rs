//! The common parts of `copy`, `migrate` and `recover --with`.

use urepo::collection::Collection;
use urepo::holdings::Sight;
use urepo::identity::RepositoryName;
use urepo::progress::{Progress, Scan, scan_first, with_scan};
use urepo::transfer::{Leaves, NameFeed, Options, RunMode, Summary, Tombstones, Transfer, Verb};

use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::select::Selection;

mod report;

/// Items of this size keep their copied files when a run is interrupted.
pub(super) const RESUME_BYTES: u64 = 64 * 1024 * 1024;

/// The arguments of `copy` and `migrate`.
#[derive(Debug, clap::Args)]
pub(super) struct TransferArgs {
    #[command(flatten)]
    pub(super) selection: Selection,
}

/// One run between two collections.
pub(super) struct TransferRun<'a> {
    pub(super) context: &'a Context,
    pub(super) from: &'a Collection,
    pub(super) to: &'a Collection,
    pub(super) verb: Verb,
    /// The holding that a migrated Original leaves.
    pub(super) leaves: Leaves,
    pub(super) args: &'a TransferArgs,
    pub(super) tombstones: Tombstones,
}

impl TransferRun<'_> {
    /// Transfers the items of `feed`, reports each outcome, and ends the command.
    pub(super) fn finish(&self, feed: Box<NameFeed<'_>>) -> Done {
        let context = self.context;
        let mode = context.run_mode();
        let progress = context.progress();
        let listing = self.args.selection.listing(context).filter(|_| mode == RunMode::Act);
        // Other collections may show that an Original is behind.
        let mut others = context.neighbours(self.from);
        others.retain(|other| other.id() != self.to.id());
        let sight = Sight::of_many(&others);
        let transfer = Transfer {
            from: self.from,
            to: self.to,
            writer: (mode == RunMode::Act).then(|| context.writer(self.to)).transpose()?,
            source_writer: match (self.verb, mode) {
                (Verb::Migrate, RunMode::Act) => Some(context.writer_to_change(self.from)?),
                _ => None,
            },
            options: Options {
                verb: self.verb,
                leaves: self.leaves,
                line_up: None,
                mode,
                state: self.args.selection.flags.state,
                tombstones: self.tombstones,
                jobs: context.config.jobs.value,
                resume_bytes: RESUME_BYTES,
            },
            sight: &sight,
            caller: context.caller(&*progress),
        };
        let mut reporter = report::Reporter::new(self, mode);
        let scan =
            listing.as_ref().map(|listing| |scan: &Scan<'_>| listing.measure(self.from, scan));
        let work = |progress: &dyn Progress| {
            let caller = context.caller(progress);
            Transfer { caller, ..transfer }.run(feed, |outcomes| reporter.report_all(outcomes))
        };
        let summary: Summary = match self.verb {
            Verb::Copy => with_scan(&*progress, scan, work),
            // A concurrent scan would miss items that have moved.
            Verb::Migrate => {
                scan_first(&*progress, scan, (&context.clock, &context.interrupt), work)
            }
        };
        drop(progress);
        context.tell_unseen(&sight);
        let selection = &self.args.selection;
        let is_whole = selection.listing(context).is_some_and(|names| names.is_all())
            && selection.flags.state.is_none()
            && summary.fatal.is_none()
            && !context.interrupt.requested();
        if is_whole && (self.verb, mode) == (Verb::Copy, RunMode::Act) {
            context.note_seen(self.from, self.to.path(), summary.failed);
        }
        report::finish(reporter.end(summary))
    }
}

/// The names as a feed.
pub(super) fn feed_of(names: &[RepositoryName]) -> Box<NameFeed<'_>> {
    Box::new(|take| {
        // No reason is needed where nothing is missing.
        let _ = names.iter().cloned().try_for_each(take);
        Ok(())
    })
}
