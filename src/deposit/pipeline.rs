//! Carrying out many requests: staged in parallel, published in groups, reported in order.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};

use super::group::{Publisher, Staged};
use super::stage::{Buckets, Done, Draft, Staging, stage_stream};
use super::{
    DepositError, Deposited, OnError, Options, Outcome, Place, Plan, Request, Source, SourceRule,
    removal,
};
use crate::clock::Clock;
use crate::collection::{Collection, Issuer, Writer};
use crate::disk::PathError;
use crate::distributor::Notice;
use crate::interrupt::Interrupt;
use crate::progress::Progress;

/// A group is published when it has so many items, files or bytes, or when nothing else is under way.
const GROUP_ITEMS: usize = 2048;
const GROUP_FILES: usize = 32 * 1024;
const GROUP_BYTES: u64 = 512 * 1024 * 1024;

/// So many requests are staged, or wait for those before them, at a time.
const UNDER_WAY: usize = 2 * GROUP_ITEMS;

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
    /// The clock.
    pub clock: &'a dyn Clock,
    /// Hears how far it has come.
    pub progress: &'a dyn Progress,
    /// Asks for a stop.
    pub interrupt: &'a Interrupt,
}

/// How a run ended.
#[derive(Debug, Default)]
pub struct Summary {
    /// Items made.
    pub deposited: u64,
    /// Requests that made none.
    pub failed: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What was odd about the memories.
    pub notices: Vec<Notice>,
    /// What ended the run before its time, or went wrong after its last item.
    pub fatal: Option<DepositError>,
}

/// What the staging side sends: a request's number and what became of it.
type Message = (usize, Box<Result<Staged, (String, DepositError)>>);

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
                let cause = std::io::Error::other(error.to_string());
                summary.fatal = Some(PathError::new("start threads for", "jobs", cause).into());
                return summary;
            }
        };
        let place = match Place::new(self.collection) {
            Ok(place) => place,
            Err(error) => {
                summary.fatal = Some(error.into());
                return summary;
            }
        };
        let buckets = Buckets::new(self.options.jobs);
        let flow = Flow::default();
        let (sender, receiver) = mpsc::channel();
        let side = StagingSide {
            staging: Staging {
                stage: self.writer.stage(),
                buckets: &buckets,
                progress: self.progress,
                interrupt: self.interrupt,
            },
            options: self.options,
            place: &place,
            clock: self.clock,
            flow: &flow,
        };
        std::thread::scope(|threads| {
            let feeding = std::thread::Builder::new().spawn_scoped(threads, || {
                let sender = sender;
                pool.in_place_scope(|scope| side.feed(requests, &sender, scope));
            });
            if let Err(error) = feeding {
                summary.fatal = Some(PathError::new("start threads for", "jobs", error).into());
                return;
            }
            let _stop = StopOnDrop(&flow);
            let mut publisher = Publisher {
                collection: self.collection,
                writer: &self.writer,
                issuer: &mut self.issuer,
                clock: self.clock,
                jobs: self.options.jobs,
            };
            let mut ending = Ending {
                summary: &mut summary,
                report: &mut report,
                progress: self.progress,
                interrupt: self.interrupt,
                options: self.options,
                collection: self.collection,
                flow: &flow,
            };
            ending.collect(&receiver, &mut publisher);
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

/// How many requests are under way, so that neither memory nor the stage grow without bound.
#[derive(Default)]
struct Flow {
    state: Mutex<FlowState>,
    changed: Condvar,
}

#[derive(Default)]
struct FlowState {
    under_way: usize,
    stopped: bool,
}

impl Flow {
    fn state(&self) -> std::sync::MutexGuard<'_, FlowState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for room for one more; `false` when nothing more is wanted.
    fn enter(&self) -> bool {
        let mut state = self.state();
        while state.under_way >= UNDER_WAY && !state.stopped {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.under_way += usize::from(!state.stopped);
        !state.stopped
    }

    fn leave(&self, count: usize) {
        self.state().under_way -= count;
        self.changed.notify_all();
    }

    fn stop(&self) {
        self.state().stopped = true;
        self.changed.notify_all();
    }

    fn stopped(&self) -> bool {
        self.state().stopped
    }

    fn under_way(&self) -> usize {
        self.state().under_way
    }
}

/// Lets the staging side end when nobody takes what it stages, even after a panic.
struct StopOnDrop<'a>(&'a Flow);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Everything the staging threads share.
struct StagingSide<'a> {
    staging: Staging<'a>,
    options: Options,
    place: &'a Place<'a>,
    clock: &'a dyn Clock,
    flow: &'a Flow,
}

impl StagingSide<'_> {
    /// Hands requests to the threads, as fast as the publishing side takes them.
    fn feed<'scope>(
        &'scope self,
        requests: impl Iterator<Item = Request>,
        sender: &mpsc::Sender<Message>,
        scope: &rayon::Scope<'scope>,
    ) {
        for (number, request) in requests.enumerate() {
            if self.staging.interrupt.requested() || !self.flow.enter() {
                return;
            }
            let sender = sender.clone();
            scope.spawn(move |scope| self.stage(number, request, sender, scope));
        }
    }

    fn stage<'scope>(
        &'scope self,
        number: usize,
        request: Request,
        sender: mpsc::Sender<Message>,
        scope: &rayon::Scope<'scope>,
    ) {
        let described = request.source.describe();
        if self.staging.interrupt.requested() || self.flow.stopped() {
            let _ = sender.send((number, Box::new(Err((described, DepositError::Interrupted)))));
            return;
        }
        match self.begin(number, request) {
            Ok(Begun::Whole(staged)) => {
                let _ = sender.send((number, Box::new(Ok(*staged))));
            }
            Ok(Begun::Draft(draft, rest)) => self.copy(number, draft, rest, sender, scope),
            Err(error) => {
                let _ = sender.send((number, Box::new(Err((described, error)))));
            }
        }
    }

    /// Plans a request and makes its directories; a stream is staged whole.
    fn begin(&self, number: usize, request: Request) -> Result<Begun, DepositError> {
        let plan = Plan::of(&request.source, request.target.as_ref(), &self.options, self.place)?;
        let mut rest = Rest {
            source: request.source.describe(),
            origin: None,
            target: request.target,
            metadata: request.metadata,
        };
        match request.source {
            Source::Stream { name, mut reader } => {
                self.staging.progress.expect(1, 0);
                let now = self.clock.now();
                let (item, done) = stage_stream(&name, &mut *reader, &self.staging, now)?;
                Ok(Begun::Whole(Box::new(rest.staged(number, item, Arc::new(plan), done))))
            }
            Source::Path(path) => {
                rest.origin = Some(path);
                self.begin_draft(plan, rest)
            }
            Source::Together(_) => self.begin_draft(plan, rest),
        }
    }

    fn begin_draft(&self, plan: Plan, rest: Rest) -> Result<Begun, DepositError> {
        self.staging.progress.expect(1, plan.bytes);
        let draft = Draft::new(Arc::new(plan), &self.staging)?;
        match draft.make_directories(&self.staging) {
            Ok(()) => Ok(Begun::Draft(Box::new(draft), rest)),
            Err(error) => {
                let _ = self.staging.stage.remove_tree(&draft.item);
                Err(error)
            }
        }
    }

    /// Copies the batches of a draft on as many threads as are free; the last to end hands it on.
    fn copy<'scope>(
        &'scope self,
        number: usize,
        draft: Box<Draft>,
        rest: Rest,
        sender: mpsc::Sender<Message>,
        scope: &rayon::Scope<'scope>,
    ) {
        let batches = draft.batches();
        let shared = Arc::new(SharedDraft {
            number,
            draft,
            rest: Mutex::new(Some((rest, sender))),
            left: AtomicUsize::new(batches.len().max(1)),
        });
        let mut batches = batches.into_iter();
        let own = batches.next().unwrap_or(0..0);
        for batch in batches {
            let shared = Arc::clone(&shared);
            scope.spawn(move |_| self.copy_batch(&shared, batch));
        }
        self.copy_batch(&shared, own);
    }

    fn copy_batch(&self, shared: &SharedDraft, batch: std::ops::Range<usize>) {
        shared.draft.copy(&self.staging, batch);
        if shared.left.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        let taken = shared.rest.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((rest, sender)) = taken else { return };
        let mut done = shared.draft.finish(&self.staging);
        let number = shared.number;
        let message = match done.failure.take() {
            Some(error) => {
                let _ = self.staging.stage.remove_tree(&shared.draft.item);
                Err((rest.source, error))
            }
            None => Ok(rest.staged(
                number,
                shared.draft.item.clone(),
                Arc::clone(&shared.draft.plan),
                done,
            )),
        };
        let _ = sender.send((number, Box::new(message)));
    }
}

/// A draft that several threads copy.
struct SharedDraft {
    number: usize,
    draft: Box<Draft>,
    rest: Mutex<Option<(Rest, mpsc::Sender<Message>)>>,
    left: AtomicUsize,
}

enum Begun {
    Whole(Box<Staged>),
    Draft(Box<Draft>, Rest),
}

/// What a request says beyond its files.
struct Rest {
    source: String,
    origin: Option<PathBuf>,
    target: Option<crate::item::PayloadPath>,
    metadata: crate::sidecar::Metadata,
}

impl Rest {
    fn staged(self, number: usize, item: PathBuf, plan: Arc<Plan>, done: Done) -> Staged {
        let Rest { source, origin, target, metadata } = self;
        Staged { number, item, source, origin, target, metadata, plan, done }
    }
}

/// The publishing side: gathers what is staged, publishes it in groups and reports it in order.
struct Ending<'a, R> {
    summary: &'a mut Summary,
    report: &'a mut R,
    progress: &'a dyn Progress,
    interrupt: &'a Interrupt,
    options: Options,
    collection: &'a Collection,
    flow: &'a Flow,
}

/// What can be published or reported next.
#[derive(Default)]
struct Gathered {
    /// Staged or failed, not yet next in order.
    early: BTreeMap<usize, Result<Staged, (String, DepositError)>>,
    /// Next in order.
    ready: Vec<Result<Staged, (String, DepositError)>>,
    next: usize,
    files: usize,
    bytes: u64,
}

impl Gathered {
    fn add(&mut self, (number, result): Message) {
        self.early.insert(number, *result);
        while let Some(result) = self.early.remove(&self.next) {
            self.next += 1;
            if let Ok(staged) = &result {
                self.files += staged.done.entries.len();
                self.bytes += staged.plan.bytes;
            }
            self.ready.push(result);
        }
    }

    fn is_full(&self) -> bool {
        self.ready.len() >= GROUP_ITEMS || self.files >= GROUP_FILES || self.bytes >= GROUP_BYTES
    }
}

impl<R: FnMut(Vec<Outcome>) -> Result<(), DepositError>> Ending<'_, R> {
    fn collect(&mut self, receiver: &mpsc::Receiver<Message>, publisher: &mut Publisher<'_, '_>) {
        let mut gathered = Gathered::default();
        while let Ok(message) = receiver.recv() {
            gathered.add(message);
            let idle = gathered.ready.len() == self.flow.under_way();
            if gathered.is_full() || idle {
                let Gathered { ready, early, next, .. } = std::mem::take(&mut gathered);
                gathered = Gathered { early, next, ..Gathered::default() };
                self.publish(ready, publisher);
            }
        }
        self.publish(gathered.ready, publisher);
    }

    fn publish(
        &mut self,
        ready: Vec<Result<Staged, (String, DepositError)>>,
        publisher: &mut Publisher<'_, '_>,
    ) {
        let count = ready.len();
        let halted = self.summary.fatal.is_some() || self.interrupt.requested();
        let mut outcomes = BTreeMap::new();
        let mut group = Vec::new();
        for (at, result) in ready.into_iter().enumerate() {
            match result {
                Ok(staged) if halted => {
                    let error = match self.summary.fatal {
                        Some(_) => DepositError::GroupFailed,
                        None => DepositError::Interrupted,
                    };
                    outcomes.insert(at, (staged.source, Err(error)));
                }
                Ok(staged) => group.push((at, staged)),
                Err((source, error)) => {
                    outcomes.insert(at, (source, Err(error)));
                }
            }
        }
        let places: BTreeMap<usize, usize> =
            group.iter().map(|(at, staged)| (staged.number, *at)).collect();
        if !group.is_empty() {
            let group = group.into_iter().map(|(_, staged)| staged).collect();
            let (results, fatal) = publisher.publish(group, &mut self.summary.notices);
            for (staged, result) in results {
                let result = result.map(|deposited| self.remove_source(&staged, deposited));
                outcomes.insert(places[&staged.number], (staged.source, result));
            }
            if let Some(error) = fatal {
                self.stop(error);
            }
        }
        let outcomes: Vec<_> =
            outcomes.into_values().map(|(source, result)| Outcome { source, result }).collect();
        for outcome in &outcomes {
            self.count(outcome);
        }
        if !outcomes.is_empty()
            && let Err(error) = (self.report)(outcomes)
        {
            self.stop(error);
        }
        self.flow.leave(count);
    }

    fn remove_source(&self, staged: &Staged, mut deposited: Deposited) -> Deposited {
        if self.options.sources == SourceRule::Remove {
            let kept =
                removal::remove_source(staged, &deposited.label, self.collection, self.interrupt);
            deposited.left = kept.iter().map(ToString::to_string).collect();
        }
        deposited
    }

    fn count(&mut self, outcome: &Outcome) {
        if let Ok(deposited) = &outcome.result {
            self.summary.deposited += 1;
            self.summary.bytes += deposited.payload.bytes;
        } else {
            self.summary.failed += 1;
            if self.options.on_error == OnError::Stop {
                self.flow.stop();
            }
        }
        self.progress.finish_item(&outcome.source);
    }

    fn stop(&mut self, error: DepositError) {
        self.summary.fatal.get_or_insert(error);
        self.flow.stop();
    }
}
