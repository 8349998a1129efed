//! The common parts of `copy`, `migrate` and `refresh`.

use urepo::collection::{Collection, Names};
use urepo::holdings::{Peers, UnseenRule};
use urepo::item::State;
use urepo::progress::{Progress, Scan, scan_first, with_scan};
use urepo::transfer::{
    NameFeed, OnError, Options, PeerLookup, Rules, RunMode, Summary, Tombstones, Transfer, Verb,
    finish_pending, has_pending,
};

use crate::cli::Done;
use crate::cli::choice::Choice;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::report::Report;
use crate::cli::shell;

mod report;

/// Items of this size keep their copied files when a run is interrupted.
const RESUME_BYTES: u64 = 64 * 1024 * 1024;

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
    pub(super) rules: Rules,
    /// Checked before a deleted Original is restored, and for the path of the Original of a Copy.
    pub(super) peers: Peers<'a>,
    /// Checked before a deletion in a third collection replaces a Copy.
    pub(super) witnesses: Peers<'a>,
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
        if mode == RunMode::Act {
            // A copy only reads its source, so it does not act on the records there.
            if self.verb == Verb::Migrate {
                finish_first(context, self.from, &[self.to])?;
            }
            finish_first(context, self.to, &[self.from])?;
        }
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
                rules: self.rules,
                mode,
                state: self.state,
                tombstones: self.tombstones,
                jobs: context.config.jobs.value,
                on_error: self.on_error,
                resume_bytes: RESUME_BYTES,
            },
            peers: self.peers,
            witnesses: self.witnesses,
            caller: context.caller(&*progress),
        };
        let mut reporter = report::Reporter::new(self, mode);
        let scan = listing.map(|listing| |scan: &Scan<'_>| listing.measure(self.from, scan));
        let work = |progress: &dyn Progress| {
            let caller = context.caller(progress);
            Transfer { caller, ..transfer }.run(feed, |outcomes| reporter.report_all(outcomes))
        };
        let summary: Summary = match self.verb {
            Verb::Copy | Verb::Refresh => with_scan(&*progress, scan, work),
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

/// Finishes or withdraws the interrupted hand-overs from `giver`, whatever their receivers, before any other
/// change of its items. Receivers are searched in `others` first.
///
/// An unreachable receiver is a warning. Its hand-over is finished or withdrawn when it comes back.
///
/// Returns how many were finished, and how many still are in progress.
pub(super) fn finish_first(
    context: &Context,
    giver: &Collection,
    others: &[&Collection],
) -> Result<(u64, u64), Failure> {
    if !has_pending(giver)? {
        return Ok((0, 0));
    }
    let known = context.known(&[])?;
    let reach = PeerLookup { named: others, others: known.peers(UnseenRule::Refuse) };
    let finished = finish_pending(giver, reach, &context.agent, &context.waiter())?;
    let recover = format!("urepo -c {} recover", shell::word(giver.path()));
    let pending = report::finished(context, &recover, &finished);
    Ok((finished.len() as u64 - pending, pending))
}

pub(super) use report::{finish, finished as report_finished};
