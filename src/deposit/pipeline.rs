//! Carrying out many requests: staged in parallel, published in groups, reported in order.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, mpsc};

use super::ending::{Ending, Summary};
use super::prepare::Preparer;
use super::publish::Publisher;
use super::removal::SourceRemover;
use super::side::StagingSide;
use super::stage::Staging;
use super::withheld::Names;
use super::{DepositError, Known, Options, Outcome, Place, Request, SourceRule};
use crate::clock::Clock;
use crate::collection::{Buckets, Collection, Issuer, Lookup, Writer};
use crate::disk::{PathError, Wake};
use crate::flow::{EndOnDrop, Flow, GROUP_ITEMS, StopOnDrop};
use crate::interrupt::Interrupt;
use crate::progress::Progress;

/// Limit on requests in flight: one group each in publish, sync and prepare, and two in staging. Their files
/// and bytes are bounded by the flow.
const UNDER_WAY: usize = 5 * GROUP_ITEMS;

/// Deposits items into a collection.
pub struct Depositor<'a> {
    /// The collection.
    pub collection: &'a Collection,
    /// Gives the labels.
    pub issuer: Issuer<'a>,
    /// The right to write.
    pub writer: Writer,
    /// How items are made.
    pub options: Options,
    /// Knows what the collection has already; it is not asked unless given.
    pub known: Option<&'a dyn Known>,
    /// The clock.
    pub clock: &'a dyn Clock,
    /// Hears how far it has come.
    pub progress: &'a dyn Progress,
    /// Asks for a stop.
    pub interrupt: &'a Interrupt,
}

impl Depositor<'_> {
    /// Makes an item of each request and calls `report` with the outcomes, in order, group by group.
    ///
    /// Every item reported is durable. `report` says whether to go on: it fails when nobody listens.
    pub fn run(
        mut self,
        requests: impl Iterator<Item = Request> + Send,
        mut report: impl FnMut(Vec<Outcome>) -> Result<(), DepositError>,
    ) -> Summary {
        let mut summary = Summary::default();
        let pool = match rayon::ThreadPoolBuilder::new().num_threads(self.options.jobs).build() {
            Ok(pool) => pool,
            Err(error) => {
                summary.fatal = Some(no_threads(std::io::Error::other(error.to_string())));
                return summary;
            }
        };
        let place = match Place::new(self.collection, self.clock) {
            Ok(place) => place,
            Err(error) => {
                summary.fatal = Some(error.into());
                return summary;
            }
        };
        let buckets = Buckets::new(self.options.jobs);
        let flow = Flow::new(UNDER_WAY);
        let lookup = Lookup::new(self.collection);
        let is_over = AtomicBool::new(false);
        let wait = self.issuer.lock_wait();
        let side = StagingSide {
            staging: Staging {
                stage: self.writer.stage(),
                buckets: &buckets,
                progress: self.progress,
                interrupt: self.interrupt,
                wake: Wake::new(),
            },
            options: self.options,
            place: &place,
            clock: self.clock,
            lookup: &lookup,
            flow: &flow,
            queue: Mutex::default(),
        };
        std::thread::scope(|threads| {
            let feeding = std::thread::Builder::new().spawn_scoped(threads, || {
                let _end = EndOnDrop(&flow);
                pool.in_place_scope(|scope| side.feed(requests, scope));
            });
            if let Err(error) = feeding {
                summary.fatal = Some(no_threads(error));
                return;
            }
            // Nothing waits in between: `withheld` counts on how many groups are under way.
            let (prepared, to_sync) = mpsc::sync_channel(0);
            let (synced, groups) = mpsc::sync_channel(0);
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
            let _stop = StopOnDrop(&flow);
            let preparing = std::thread::Builder::new().spawn_scoped(threads, move || {
                preparer.run(&prepared);
            });
            let stage = self.writer.stage();
            let syncing = std::thread::Builder::new().spawn_scoped(threads, move || {
                for group in to_sync {
                    // That nobody takes it means that the other side has ended.
                    if synced.send(group.sync(stage)).is_err() {
                        return;
                    }
                }
            });
            if let Err(error) = preparing.map(drop).and(syncing.map(drop)) {
                summary.fatal = Some(no_threads(error));
                return;
            }
            let publisher = Publisher {
                collection: self.collection,
                writer: &self.writer,
                clock: self.clock,
                lookup: &lookup,
                remover: (self.options.sources == SourceRule::Remove)
                    .then(|| SourceRemover::new(self.collection, self.interrupt)),
                wait,
                interrupt: self.interrupt,
            };
            let mut ending = Ending {
                summary: &mut summary,
                report: &mut report,
                progress: self.progress,
                on_error: self.options.on_error,
                flow: &flow,
                is_over: &is_over,
                names: Names::default(),
            };
            ending.collect(groups, &publisher);
        });
        self.finish(summary)
    }

    fn finish(self, mut summary: Summary) -> Summary {
        let settled = if summary.deposited > 0 { self.issuer.settle() } else { Ok(()) };
        let finished = self.writer.finish();
        if let Err(error) = settled {
            summary.fatal.get_or_insert(error.into());
        }
        if let Err(error) = finished {
            summary.fatal.get_or_insert(error.into());
        }
        summary
    }
}

fn no_threads(cause: std::io::Error) -> DepositError {
    PathError::new("start threads for", "jobs", cause).into()
}
