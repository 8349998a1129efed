//! The staging side: requests become whole items in the stage, several at a time.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use super::given::check_name;
use super::group::{Prepared, Staged};
use super::plan::Sources;
use super::stage::{StagedPayload, Staging, StagingJob, stage_stream};
use super::{
    DepositError, DepositTarget, LeftOut, Options, Plan, Preset, Request, Source, SourcePlace,
    SourceRule,
};
use crate::clock::Clock;
use crate::collection::{Lookup, StagedItem};
use crate::flow::{Flow, Reservation, spread};
use crate::item::{Totals, content};

/// The shared state of the staging threads.
pub(super) struct Stager<'a> {
    pub staging: Staging<'a>,
    pub options: Options,
    pub place: &'a DepositTarget<'a>,
    pub clock: &'a dyn Clock,
    pub lookup: &'a Lookup<'a>,
    pub flow: &'a Flow<Prepared>,
}

/// Limit on requests that no thread has begun: enough to keep the threads busy. A request takes more memory
/// than the argument that it comes from.
const WAITING: usize = 64;

impl Stager<'_> {
    /// Hands requests to the threads, as fast as the publishing side takes them.
    pub(super) fn feed<'scope>(
        &'scope self,
        requests: impl Iterator<Item = Request>,
        scope: &rayon::Scope<'scope>,
    ) {
        // The threads begin the requests in their order, as `Flow::admit` requires.
        let (queue, next) = mpsc::sync_channel(WAITING);
        let next = Arc::new(Mutex::new(next));
        for numbered in requests.enumerate() {
            let is_over = self.staging.interrupt.requested() || !self.flow.enter();
            if is_over || queue.send(numbered).is_err() {
                return;
            }
            let next = Arc::clone(&next);
            scope.spawn(move |scope| {
                let next = next.lock().unwrap_or_else(PoisonError::into_inner).recv();
                if let Ok((number, request)) = next {
                    self.stage(number, request, scope);
                }
            });
        }
    }

    fn stage<'scope>(&'scope self, number: usize, request: Request, scope: &rayon::Scope<'scope>) {
        let described = request.source.describe();
        if self.staging.interrupt.requested() || self.flow.stopped() {
            return self.deliver(number, Err((described, self.stopped())), 0);
        }
        match self.begin(number, request, &described) {
            Ok(StageStart::Whole(staged)) => self.deliver(number, Ok(*staged), 0),
            Ok(StageStart::Job(job, rest)) => self.copy(number, job, *rest, scope),
            Err(error) => self.deliver(number, Err((described, error)), 0),
        }
    }

    fn deliver(&self, number: usize, message: Prepared, bytes: u64) {
        self.flow.deliver((number, message), bytes);
    }

    /// Why nothing more is begun.
    fn stopped(&self) -> DepositError {
        if self.staging.interrupt.requested() {
            DepositError::Interrupted
        } else {
            DepositError::GroupFailed
        }
    }

    /// Plans a request and makes its directories; a stream is staged whole.
    fn begin(
        &self,
        number: usize,
        request: Request,
        described: &str,
    ) -> Result<StageStart<'_>, DepositError> {
        let plan = Plan::of_request(&request, &self.options, self.place, self.staging.progress)?;
        if let Some(label) = &request.given.label {
            check_name(self.place, self.lookup, label)?;
        }
        if !self.flow.admit(number, plan.entries.len().max(1)) {
            return Err(self.stopped());
        }
        let mut rest = RequestContext {
            source: described.to_owned(),
            is_stream: matches!(request.source, Source::Stream { .. }),
            origin: None,
            left_out: Arc::default(),
            target: request.target,
            metadata: request.metadata,
            given: request.given,
            reserved: self.place.reserve(Path::new(described), plan.bytes, plan.entries.len())?,
        };
        match request.source {
            Source::Stream { name, mut reader } => {
                self.staging.progress.expect(1, 0);
                let now = self.clock.now();
                let (item, done) = stage_stream(&name, &mut *reader, &self.staging, now)?;
                Ok(StageStart::Whole(Box::new(rest.staged(number, item, None, done))))
            }
            Source::At(place) => {
                rest.origin = Some(match place {
                    SourcePlace::Path(path) => self.place.resolved(&path)?,
                    place @ SourcePlace::Beneath { .. } => place.path(),
                });
                self.begin_job(plan, rest)
            }
            Source::Together(_) => self.begin_job(plan, rest),
        }
    }

    fn begin_job(
        &self,
        mut plan: Plan,
        mut rest: RequestContext,
    ) -> Result<StageStart<'_>, DepositError> {
        rest.left_out = std::mem::take(&mut plan.left_out).into();
        self.staging.progress.expect(1, plan.bytes);
        let job = StagingJob::new(plan, Arc::clone(&rest.given.checks), &self.staging)?;
        match job.make_directories() {
            Ok(()) => Ok(StageStart::Job(Box::new(job), Box::new(rest))),
            Err(error) => {
                self.staging.writer.discard(job.draft.staged());
                Err(error)
            }
        }
    }

    /// Copies an item on as many threads as are free.
    fn copy<'scope>(
        &'scope self,
        number: usize,
        job: Box<StagingJob<'scope>>,
        rest: RequestContext,
        scope: &rayon::Scope<'scope>,
    ) {
        let batches = job.batches();
        // A `RequestContext` cannot be shared between threads; only the last one needs it.
        let shared = (job, Mutex::new(rest));
        let copy = |(job, _): &(Box<StagingJob<'_>>, _), batch| job.copy(&self.staging, batch);
        spread(shared, batches, scope, copy, move |(job, rest), _| {
            let rest = rest.into_inner().unwrap_or_else(PoisonError::into_inner);
            self.copied(number, *job, rest);
        });
    }

    /// Passes on an item whose files are copied.
    fn copied(&self, number: usize, job: StagingJob<'_>, rest: RequestContext) {
        let mut done = job.finish(&self.staging);
        let bytes = job.plan.bytes;
        let differs = |wanted| Totals::of(&done.entries).digest != wanted;
        if done.failure.is_none() && rest.given.checks.payload.is_some_and(differs) {
            done.failure = Some(DepositError::PayloadMismatch { path: rest.source.clone().into() });
        }
        let message = if let Some(error) = done.failure.take() {
            self.staging.writer.discard(job.draft.staged());
            Err((rest.source, error))
        } else {
            let removes = self.options.sources == SourceRule::Remove;
            let sources = removes.then(|| job.plan.sources());
            Ok(rest.staged(number, job.draft.into_staged(), sources, done))
        };
        self.deliver(number, message, bytes);
    }
}

enum StageStart<'a> {
    Whole(Box<Staged>),
    Job(Box<StagingJob<'a>>, Box<RequestContext>),
}

/// The parts of a request besides its files.
struct RequestContext {
    source: String,
    is_stream: bool,
    origin: Option<PathBuf>,
    left_out: Arc<[LeftOut]>,
    target: Option<crate::item::PayloadPath>,
    metadata: crate::sidecar::Metadata,
    given: Preset,
    reserved: Reservation,
}

impl RequestContext {
    fn staged(
        self,
        number: usize,
        item: StagedItem,
        sources: Option<Sources>,
        done: StagedPayload,
    ) -> Staged {
        let RequestContext { source, is_stream, origin, left_out, target, metadata, given, .. } =
            self;
        let mut reserved = self.reserved;
        reserved.has_payload();
        let (payload, reserved) = (Totals::of(&done.entries), Some(reserved));
        let content = content(&done.entries, &payload);
        Staged {
            number,
            item,
            source,
            is_stream,
            origin,
            target,
            metadata,
            given,
            sources,
            done,
            left_out,
            payload,
            content,
            reserved,
        }
    }
}
