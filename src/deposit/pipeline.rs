//! Carrying out many requests: staged in parallel, published in groups, reported in order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};

use super::duplicates::Names;
use super::group::Group;
use super::prepare::Preparer;
use super::publish::Publisher;
use super::report::{Collector, Summary};
use super::source_removal::SourceRemover;
use super::stage::Staging;
use super::stager::Stager;
use super::{DepositError, DepositTarget, DuplicateIndex, Options, Outcome, Request, SourceRule};
use crate::clock::Clock;
use crate::collection::{Collection, Issuer, Lookup, Writer};
use crate::disk::PathError;
use crate::flow::{Flow, GROUP_ITEMS};
use crate::holdings::Peers;
use crate::interrupt::Interrupt;
use crate::progress::Progress;

/// Limit on requests in flight: one group each in publish, sync and prepare, and two in staging. Their files
/// and bytes are bounded by the flow.
const UNDER_WAY: usize = 5 * GROUP_ITEMS;

/// Deposits items into a collection.
pub struct Depositor<'a> {
    /// The collection.
    pub collection: &'a Collection,
    /// The issuer of labels.
    pub issuer: Issuer<'a>,
    /// The right to write.
    pub writer: Writer,
    /// Options of a deposit.
    pub options: Options,
    /// The collections to check for given names.
    pub peers: Peers<'a>,
    /// Finds duplicates; none are looked for without it.
    pub known: Option<&'a dyn DuplicateIndex>,
    /// The clock.
    pub clock: &'a dyn Clock,
    /// Receives the progress.
    pub progress: &'a dyn Progress,
    /// The request to stop.
    pub interrupt: &'a Interrupt,
}

impl Depositor<'_> {
    /// Makes an item of each request and calls `report` with the outcomes, in order, group by group.
    ///
    /// Every reported item is durable. `report` returns whether to go on; it fails if its output is closed.
    pub fn run(
        mut self,
        requests: impl Iterator<Item = Request> + Send,
        mut report: impl FnMut(Vec<Outcome>) -> Result<(), DepositError>,
    ) -> Summary {
        let mut summary = Summary::default();
        let place = match DepositTarget::new(self.collection, self.peers, self.clock) {
            Ok(place) => place,
            Err(error) => {
                summary.fatal = Some(error.into());
                return summary;
            }
        };
        let flow = Flow::new(UNDER_WAY);
        let lookup = Lookup::new(self.collection);
        let (is_over, any_given) = (AtomicBool::new(false), AtomicBool::new(false));
        let requests = requests.inspect(|request| {
            any_given.fetch_or(request.given.label.is_some(), Ordering::Relaxed);
        });
        let wait = self.issuer.lock_wait();
        let side = Stager {
            staging: Staging {
                writer: &self.writer,
                progress: self.progress,
                interrupt: self.interrupt,
            },
            options: self.options,
            place: &place,
            clock: self.clock,
            lookup: &lookup,
            flow: &flow,
        };
        let preparer = Preparer {
            collection: self.collection,
            writer: &self.writer,
            issuer: &mut self.issuer,
            clock: self.clock,
            known: self.known,
            jobs: self.options.jobs,
            interrupt: self.interrupt,
            flow: &flow,
            is_over: &is_over,
            next: 0,
        };
        let publisher = Publisher {
            collection: self.collection,
            place: &place,
            writer: &self.writer,
            clock: self.clock,
            lookup: &lookup,
            remover: (self.options.sources == SourceRule::Remove).then(|| {
                let (agent, until) = (self.writer.agent(), (wait, self.interrupt));
                SourceRemover::new(self.collection, agent, until)
            }),
            wait,
            interrupt: self.interrupt,
            known: self.known,
        };
        let mut collector = Collector {
            summary: &mut summary,
            report: &mut report,
            progress: self.progress,
            flow: &flow,
            is_over: &is_over,
            names: Names::default(),
        };
        let writer = &self.writer;
        let jobs = self.options.jobs;
        let driven = flow.drive(
            jobs,
            |scope| side.feed(requests, scope),
            || {
                let groups = |groups: Receiver<Group>| collector.collect(groups, &publisher);
                prepare_and_sync(preparer, self.collection, writer, groups)
            },
        );
        if let Err(error) = driven.and_then(|((), collected)| collected) {
            summary.fatal = Some(PathError::new("start threads for", "jobs", error).into());
        }
        let finished = self.writer.finish();
        if let Err(error) = finished {
            summary.fatal.get_or_insert(error.into());
        }
        summary
    }
}

/// Passes prepared and synced groups to `collect`, on the calling thread. While one group is published, the
/// next is synced, and the one after that prepared.
fn prepare_and_sync(
    preparer: Preparer<'_, '_>,
    collection: &Collection,
    writer: &Writer,
    collect: impl FnOnce(Receiver<Group>),
) -> std::io::Result<()> {
    std::thread::scope(|threads| {
        // No group waits in between: `withheld` depends on the number of groups in flight.
        let (prepared, to_sync) = mpsc::sync_channel(0);
        let (synced, groups) = mpsc::sync_channel(0);
        std::thread::Builder::new().spawn_scoped(threads, move || preparer.run(&prepared))?;
        std::thread::Builder::new().spawn_scoped(threads, move || {
            for group in to_sync {
                // The publishing side has ended.
                if synced.send(group.sync(collection, writer)).is_err() {
                    return;
                }
            }
        })?;
        collect(groups);
        Ok(())
    })
}
