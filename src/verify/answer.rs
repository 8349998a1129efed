//! Messages from the threads that list and verify to the thread that reports.

use std::sync::mpsc::Receiver;

use super::{Finding, Report};
use crate::identity::{Instant, RepositoryName};

/// A message to the calling thread, in order.
pub(super) enum FeedEvent {
    /// A finding of the listing.
    Found(Finding),
    /// An item is missing, or not recorded.
    Compared(Report),
    /// The answers to the tickets of a batch, in their order.
    Awaited(Vec<NamedDate>, Receiver<Vec<JobResult>>),
    /// An item that was verified recently.
    Skipped(NamedDate),
    /// A part of the collection could not be listed.
    Unlisted(Finding),
    /// A stop was requested.
    Interrupted,
    /// There is no time for the rest.
    OutOfTime,
}

/// An item, and when it was last verified if that is known.
pub(super) struct NamedDate {
    pub name: RepositoryName,
    pub date: Option<Instant>,
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
