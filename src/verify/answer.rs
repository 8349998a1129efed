//! Messages from the threads that list and verify to the thread that reports.

use std::sync::mpsc::Receiver;

use super::{Finding, Report};
use crate::identity::RepositoryName;

/// A message to the calling thread, in order.
pub(super) enum FeedEvent {
    /// A finding of the listing.
    Found(Finding),
    /// An item is missing, or not recorded.
    Compared(Report),
    /// The answers to the tickets of a batch, in their order.
    Awaited(Vec<RepositoryName>, Receiver<Vec<JobResult>>),
    /// An item was verified earlier in this round.
    Skipped,
    /// A part of the collection could not be listed.
    Unlisted(Finding),
    /// A stop was requested.
    Interrupted,
    /// There is no time for the rest.
    OutOfTime,
}

/// The result for a ticket.
pub(super) type JobResult = Result<Report, Unverified>;

/// Why an item was not verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unverified {
    /// A stop was requested.
    Stopped,
    /// There is no time to begin it.
    OutOfTime,
}
