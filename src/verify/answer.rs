//! What the threads that list and verify send to the one that reports.

use std::sync::mpsc::Receiver;

use super::{Finding, Report};
use crate::identity::{Instant, RepositoryName};

/// What the calling thread gets, in order.
pub(super) enum FeedEvent {
    /// Something was found while listing.
    Found(Finding),
    /// An item is not there, or is not recorded.
    Compared(Report),
    /// The answers to the tickets of a batch, in their order.
    Awaited(Vec<NamedDate>, Receiver<Vec<JobResult>>),
    /// An item that was verified recently.
    Skipped(NamedDate),
    /// A part of the collection could not be listed.
    Unlisted(Finding),
    /// A stop was asked for.
    Interrupted,
    /// There is no time for what comes after.
    OutOfTime,
}

/// An item, and when it was last verified if that is known.
pub(super) struct NamedDate {
    pub name: RepositoryName,
    pub date: Option<Instant>,
}

/// What became of a ticket.
pub(super) type JobResult = Result<Report, Unverified>;

/// Why an item was not verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unverified {
    /// A stop was asked for.
    Stopped,
    /// It was not begun, and there is no time for it.
    OutOfTime,
}
