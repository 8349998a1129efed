//! The publishing side: takes prepared groups, publishes them and reports the outcome of each request in
//! order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;

use super::duplicates::Names;
use super::group::{Group, LabeledItem, Prepared};
use super::publish::Publisher;
use super::{DepositError, Outcome};
use crate::distributor::Notice;
use crate::flow::Flow;
use crate::progress::Progress;

/// The result of a run.
#[derive(Debug, Default)]
pub struct Summary {
    /// Items made.
    pub deposited: u64,
    /// Requests without an item.
    pub failed: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Notices about the memories.
    pub notices: Vec<Notice>,
    /// The error that ended the run early, or occurred after its last item.
    pub fatal: Option<DepositError>,
}

/// The publishing side.
pub(super) struct Collector<'a, R> {
    pub summary: &'a mut Summary,
    pub report: &'a mut R,
    pub progress: &'a dyn Progress,
    pub flow: &'a Flow<Prepared>,
    /// An error has occurred that would stop every group.
    pub is_over: &'a AtomicBool,
    pub names: Names,
}

impl<R: FnMut(Vec<Outcome>) -> Result<(), DepositError>> Collector<'_, R> {
    pub(super) fn collect(&mut self, groups: Receiver<Group>, publisher: &Publisher<'_>) {
        for group in groups {
            self.publish(group, publisher);
        }
    }

    fn publish(&mut self, group: Group, publisher: &Publisher<'_>) {
        let Group { count, ready, withheld, reserved, fatal, unsynced, .. } = group;
        let mut outcomes = group.ended;
        self.summary.notices.extend(group.notices);
        // A failed sync is not repeated: the kernel may have dropped the bytes.
        if let Some(error) = unsynced {
            self.stop(error.into());
        }
        if self.summary.fatal.is_some() {
            let fails = |it: LabeledItem| it.staged.fails(DepositError::GroupFailed);
            outcomes.extend(ready.into_iter().map(fails));
        } else if let Some(error) = publisher.publish(ready, &mut outcomes).or(fatal) {
            self.stop(error);
        }
        self.names.settle(withheld, &mut outcomes);
        outcomes.sort_by_key(|outcome| outcome.number);
        for outcome in &outcomes {
            self.count(outcome);
        }
        if !outcomes.is_empty()
            && let Err(error) = (self.report)(outcomes)
        {
            self.stop(error);
        }
        drop(reserved);
        self.flow.leave(count);
    }

    fn count(&mut self, outcome: &Outcome) {
        match &outcome.result {
            Ok(deposited) => {
                self.summary.deposited += 1;
                self.summary.bytes += deposited.payload.bytes;
            }
            Err(DepositError::Held(_) | DepositError::Overtaken) => {}
            Err(_) => self.summary.failed += 1,
        }
        self.progress.finish_item(&outcome.source);
    }

    fn stop(&mut self, error: DepositError) {
        self.summary.fatal.get_or_insert(error);
        self.is_over.store(true, Ordering::Release);
        self.flow.stop();
    }
}
