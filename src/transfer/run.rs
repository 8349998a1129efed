//! Many items: staged by several threads, published in groups, reported in order.

use std::ops::ControlFlow;

use super::shared::{Prepared, Shared, size};
use super::{
    NameFeed, Outcome, RunMode, Step, Summary, Transfer, TransferError, Transferred, Verb,
};
use crate::collection::{Collection, Lookup, Names, items_at_a_time};
use crate::disk::{IoContext, PathError};
use crate::flow::{Flow, GROUP_ITEMS};
use crate::progress::Scan;
use std::sync::Arc;

/// Limit on items in flight.
const UNDER_WAY: usize = 2 * GROUP_ITEMS;

impl Names {
    /// All wanted items of `collection`, as a feed.
    pub fn feed<'a>(&'a self, collection: &'a Collection) -> Box<NameFeed<'a>> {
        Box::new(|take| collection.visit_names(self, |name| Ok(take(name))))
    }

    /// Finds the totals of all wanted items of `collection`, from their sidecars.
    ///
    /// Items that cannot be read add no bytes: the run reports them.
    pub fn measure(&self, collection: &Collection, scan: &Scan<'_>) -> Option<()> {
        let items = Lookup::new(collection);
        let mut goes_on = Some(());
        let listed = self.feed(collection)(&mut |name| {
            let totals = items.item(&name).ok().flatten().and_then(|item| item.totals());
            goes_on = scan.found(totals.map_or(0, |totals| totals.bytes));
            if goes_on.is_some() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        listed.ok()?;
        goes_on
    }
}

impl Transfer<'_> {
    /// Transfers the items that `feed` names and calls `report` with the outcomes, in order, group by
    /// group.
    ///
    /// Every item reported as transferred is durable. `report` returns whether to go on; it fails if its
    /// output is closed.
    pub fn run(
        self,
        feed: Box<NameFeed<'_>>,
        mut report: impl FnMut(Vec<Outcome>) -> Result<(), TransferError>,
    ) -> Summary {
        let mut summary = Summary::default();
        if let Err(error) = self.carry_out(feed, &mut summary, &mut report) {
            summary.fatal.get_or_insert(error);
        }
        for writer in [self.writer, self.source_writer].into_iter().flatten() {
            if let Err(error) = writer.finish() {
                summary.fatal.get_or_insert(error.into());
            }
        }
        summary
    }

    fn carry_out(
        &self,
        feed: Box<NameFeed<'_>>,
        summary: &mut Summary,
        report: &mut dyn FnMut(Vec<Outcome>) -> Result<(), TransferError>,
    ) -> Result<(), TransferError> {
        check_apart(self.from, self.to)?;
        if self.options.mode == RunMode::Act && self.writer.is_none() {
            return Err(TransferError::NoWriter(self.to.path().to_path_buf()));
        }
        let gives = self.options.mode == RunMode::Act && self.options.verb == Verb::Migrate;
        if gives && self.source_writer.is_none() {
            return Err(TransferError::NoWriter(self.from.path().to_path_buf()));
        }
        let shared = self.shared()?;
        let collect = || Collector { shared: &shared, summary, report }.collect();
        let driven =
            shared.flow.drive(self.options.jobs, |scope| shared.feed(feed, scope), collect);
        let (listed, ()) = driven.on("start threads for", self.to.path())?;
        Ok(listed?)
    }

    fn shared(&self) -> Result<Shared<'_>, PathError> {
        let one_file_system = match (&self.source_writer, &self.writer) {
            (Some(source), Some(writer)) => source.can_rename_to(writer)?,
            // As far as it is known without trying.
            _ if self.options.verb == Verb::Migrate => self.from.device()? == self.to.device()?,
            _ => false,
        };
        Ok(Shared {
            from: self.from,
            to: self.to,
            source_items: Lookup::new(self.from),
            destination_items: Lookup::of_arrivals(self.to),
            writer: self.writer.as_ref(),
            source_writer: self.source_writer.as_ref(),
            options: self.options,
            sight: self.sight,
            caller: self.caller,
            flow: Flow::new(UNDER_WAY),
            pending: Arc::default(),
            one_file_system,
        })
    }
}

impl Shared<'_> {
    /// Passes names to the threads, as fast as the publishing side takes the results.
    fn feed<'scope>(
        &'scope self,
        feed: Box<NameFeed<'_>>,
        scope: &rayon::Scope<'scope>,
    ) -> Result<(), PathError> {
        let mut number = 0;
        feed(&mut |name| {
            // Once a group: an item that changes meanwhile has another version under the lock.
            if number % items_at_a_time() == 0 {
                self.follow_ledgers();
            }
            if self.caller.interrupt.requested() || !self.flow.enter() {
                return ControlFlow::Break(());
            }
            let current = number;
            number += 1;
            scope.spawn(move |scope| self.work(current, name, scope));
            ControlFlow::Continue(())
        })
    }
}

/// The publishing side.
struct Collector<'a> {
    shared: &'a Shared<'a>,
    summary: &'a mut Summary,
    report: &'a mut dyn FnMut(Vec<Outcome>) -> Result<(), TransferError>,
}

impl Collector<'_> {
    fn collect(&mut self) {
        let shared = self.shared;
        for group in shared.flow.groups(size) {
            self.publish(group);
        }
    }

    fn publish(&mut self, group: Vec<Prepared>) {
        let count = group.len();
        let halted = match &self.summary.fatal {
            Some(_) => Some(TransferError::GroupFailed),
            // Staged Copies are published: otherwise they would have to be made again.
            None if self.shared.caller.interrupt.requested()
                && self.shared.options.verb == Verb::Migrate =>
            {
                Some(TransferError::Interrupted)
            }
            None => None,
        };
        let (outcomes, fatal) = match halted {
            Some(reason) => (halt(group, &reason), None),
            None => self.shared.publish(group),
        };
        if let Some(error) = fatal {
            self.stop(error);
        }
        for outcome in &outcomes {
            self.count(outcome);
        }
        if !outcomes.is_empty()
            && let Err(error) = (self.report)(outcomes)
        {
            self.stop(error);
        }
        self.shared.flow.leave(count);
    }

    fn count(&mut self, Outcome { name, result }: &Outcome) {
        match result {
            Ok(Transferred { step: Step::Nothing, .. }) => self.summary.skipped += 1,
            Ok(Transferred { step: Step::Bury, .. }) => self.summary.buried += 1,
            Ok(Transferred { files, bytes, .. }) => {
                self.summary.transferred += 1;
                self.summary.files = self.summary.files.saturating_add(*files);
                self.summary.bytes = self.summary.bytes.saturating_add(*bytes);
            }
            Err(_) => self.summary.failed += 1,
        }
        if self.shared.options.mode == RunMode::Act {
            self.shared.caller.progress.finish_item(name.as_str());
        }
    }

    fn stop(&mut self, error: TransferError) {
        self.summary.fatal.get_or_insert(error);
        self.shared.flow.stop();
    }
}

/// The outcomes of a group that is no longer published.
fn halt(group: Vec<Prepared>, reason: &TransferError) -> Vec<Outcome> {
    let error = || match reason {
        TransferError::Interrupted => TransferError::Interrupted,
        _ => TransferError::GroupFailed,
    };
    let outcome = |ready| match ready {
        Prepared::Passed => None,
        Prepared::Failed(name, error) => Some(Outcome { name, result: Err(error) }),
        Prepared::Planned(staged)
        | Prepared::Staged(staged, _)
        | Prepared::Describe(staged)
        | Prepared::Drop(staged) => Some(Outcome { name: staged.name, result: Err(error()) }),
    };
    group.into_iter().filter_map(outcome).collect()
}

/// Makes sure that the two collections differ.
fn check_apart(from: &Collection, to: &Collection) -> Result<(), TransferError> {
    if from.has_same_root(to)? {
        return Err(TransferError::SameCollection(from.path().to_path_buf()));
    }
    if from.id() == to.id() {
        let (from, to) = (from.path().to_path_buf(), to.path().to_path_buf());
        return Err(TransferError::SameId { from, to });
    }
    Ok(())
}
