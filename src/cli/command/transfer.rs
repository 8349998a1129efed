//! What `copy`, `migrate` and `refresh` have in common.

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

mod tell;

/// Items of this size keep what was copied of them when a run is cut short.
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
    /// Asked before a deleted Original comes back, and where the Original of a Copy went.
    pub(super) peers: Peers<'a>,
    /// Asked before a deletion of a third collection buries a Copy.
    pub(super) witnesses: Peers<'a>,
    pub(super) state: Option<State>,
    pub(super) tombstones: Tombstones,
    pub(super) on_error: OnError,
    /// What the feed will name, where its size can be told beforehand.
    pub(super) listing: Option<Names>,
    /// Whether one item was asked for, which then ends with its own failure.
    pub(super) is_single: bool,
}

impl<'a> TransferRun<'a> {
    /// Transfers what `feed` names, telling each outcome, and says how it ended.
    pub(super) fn carry_out(&self, feed: Box<NameFeed<'_>>) -> Result<Report<'a>, Failure> {
        let context = self.context;
        let mode = context.run_mode();
        if mode == RunMode::Act {
            // A source is only read by a copy, and its records are not ours to act upon.
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
        let mut reporter = tell::Reporter::new(self, mode);
        let scan = listing.map(|listing| |scan: &Scan<'_>| listing.measure(self.from, scan));
        let work = |progress: &dyn Progress| {
            let caller = context.caller(progress);
            Transfer { caller, ..transfer }.run(feed, |outcomes| reporter.report_all(outcomes))
        };
        let summary: Summary = match self.verb {
            Verb::Copy | Verb::Refresh => with_scan(&*progress, scan, work),
            // A scan beside the run misses what has moved.
            Verb::Migrate => {
                scan_first(&*progress, scan, (&context.clock, &context.interrupt), work)
            }
        };
        drop(progress);
        Ok(reporter.end(summary))
    }

    /// The same, and the end of the command.
    pub(super) fn finish(&self, feed: Box<NameFeed<'_>>) -> Done {
        tell::finish(self.carry_out(feed)?, self.verb)
    }
}

/// Finishes or withdraws the hand-overs from `giver` that were cut short, whichever collection was to
/// receive them, before anything else is done to its items. Receivers are looked for in `others` first.
///
/// A receiver out of reach is warned of. Its hand-over goes on or is withdrawn whenever it comes back.
///
/// Returns how many were finished, and how many still are under way.
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
    let pending = tell::finished(context, &finished);
    Ok((finished.len() as u64 - pending, pending))
}

pub(super) use tell::finish;
