//! The common parts of `copy`, `migrate` and `recover --with`.

use urepo::collection::{Collection, Names};
use urepo::identity::RepositoryName;
use urepo::item::State;
use urepo::progress::{Progress, Scan, scan_first, with_scan};
use urepo::transfer::{
    Authority, Leaves, NameFeed, OnError, Options, RunMode, Summary, Tombstones, Transfer, Verb,
};

use crate::cli::Done;
use crate::cli::choice::Choice;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::report::Report;

mod report;

/// Items of this size keep their copied files when a run is interrupted.
pub(super) const RESUME_BYTES: u64 = 64 * 1024 * 1024;

/// The rules for the other items when one fails.
pub(super) const ON_ERROR: [Choice<OnError>; 2] = [
    ("continue", "Go on with the others", OnError::Continue),
    ("stop", "Start nothing more", OnError::Stop),
];

/// One run between two collections.
pub(super) struct TransferRun<'a> {
    pub(super) context: &'a Context,
    pub(super) from: &'a Collection,
    pub(super) to: &'a Collection,
    pub(super) verb: Verb,
    /// The holding that a migrated Original leaves.
    pub(super) leaves: Leaves,
    /// Only what is behind is brought into line.
    pub(super) line_up: Option<Authority>,
    /// Other collections, which may show that an Original is behind.
    pub(super) others: &'a [Collection],
    pub(super) state: Option<State>,
    pub(super) tombstones: Tombstones,
    pub(super) on_error: OnError,
    /// The names of the feed, if their number is known beforehand.
    pub(super) listing: Option<Names>,
    /// Whether a single item was requested, which ends with its own failure.
    pub(super) is_single: bool,
}

impl<'a> TransferRun<'a> {
    /// Transfers the items of `feed`, reports each outcome, and returns the result.
    pub(super) fn carry_out(&self, feed: Box<NameFeed<'_>>) -> Result<Report<'a>, Failure> {
        let context = self.context;
        let mode = context.run_mode();
        let progress = context.progress();
        let listing = self.listing.as_ref().filter(|_| mode == RunMode::Act);
        let transfer = Transfer {
            from: self.from,
            to: self.to,
            writer: (mode == RunMode::Act).then(|| context.writer(self.to)).transpose()?,
            source_writer: match (self.verb, mode) {
                (Verb::Migrate, RunMode::Act) => Some(context.writer(self.from)?),
                _ => None,
            },
            options: Options {
                verb: self.verb,
                leaves: self.leaves,
                line_up: self.line_up,
                mode,
                state: self.state,
                tombstones: self.tombstones,
                jobs: context.config.jobs.value,
                on_error: self.on_error,
                resume_bytes: RESUME_BYTES,
            },
            others: self.others,
            caller: context.caller(&*progress),
        };
        let mut reporter = report::Reporter::new(self, mode);
        let scan = listing.map(|listing| |scan: &Scan<'_>| listing.measure(self.from, scan));
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
        Ok(reporter.end(summary))
    }

    /// The same, and the end of the command.
    pub(super) fn finish(&self, feed: Box<NameFeed<'_>>) -> Done {
        report::finish(self.carry_out(feed)?, self.verb)
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
