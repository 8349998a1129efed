//! The job of one item: read on both sides, decided, copied into the stage.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::look::{Chosen, Decision, stays};
use super::payload::{Base, Links, PayloadCopy};
use super::shared::{Prepared, Shared};
use super::staged::Staged;
use super::{Step, TransferError};
use crate::collection::{Draft, Partial, ReadSidecar, StoredItem};
use crate::custody::Permit;
use crate::flow::{Reservation, batches, spread};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::progress::NoProgress;
use crate::sidecar::{NewText, Sidecar};

/// An item that several threads copy.
pub(super) struct CopyJob<'a> {
    number: usize,
    from: StoredItem,
    source: ReadSidecar,
    to: Option<(StoredItem, ReadSidecar)>,
    staged: Staged,
    draft: Draft<'a>,
    reserved: Reservation,
    failure: Mutex<Option<TransferError>>,
}

impl<'a> Shared<'a> {
    /// Reads, decides and copies one item; the result goes into the flow.
    pub(super) fn work<'scope>(
        &'scope self,
        number: usize,
        name: RepositoryName,
        scope: &rayon::Scope<'scope>,
    ) {
        if self.caller.interrupt.requested() {
            return self.deliver(number, Prepared::Failed(name, TransferError::Interrupted));
        }
        if self.flow.stopped() {
            return self.deliver(number, Prepared::Passed);
        }
        match self.begin(number, &name) {
            Ok(StageStart::Prepared(ready)) => self.deliver(number, ready),
            Ok(StageStart::Job(job)) => self.copy(job, scope),
            Err(error) => self.deliver(number, Prepared::Failed(name, error)),
        }
    }

    fn begin(&self, number: usize, name: &RepositoryName) -> Result<StageStart<'a>, TransferError> {
        match self.decide_on(name).or_else(|error| self.decide_again(name, error, None))? {
            Decision::Prepared(ready) => Ok(StageStart::Prepared(ready)),
            Decision::Step(chosen) => self.start(number, *chosen),
        }
    }

    /// Begins the chosen step.
    fn start(&self, number: usize, chosen: Chosen) -> Result<StageStart<'a>, TransferError> {
        let Chosen { from, source, to, mut staged } = chosen;
        let there = to.as_ref().map(|(_, read)| &read.sidecar);
        let stays = there.is_some_and(|there| stays(staged.step, &source.sidecar, there));
        let ready = match staged.step {
            Step::Nothing => Some(Prepared::Planned(staged.clone())),
            Step::Bury => {
                let tombstone = elsewhere(&source.sidecar, State::Deleted);
                let text = text_of(&staged, &source, &tombstone)?;
                staged.item = Some(self.writer().stage_tombstone(&text)?);
                Some(Prepared::Staged(staged.clone(), None))
            }
            Step::MoveCopy if stays => Some(Prepared::Drop(staged.clone())),
            Step::Copy if stays => Some(Prepared::Describe(staged.clone())),
            Step::Copy | Step::HandOver | Step::MoveCopy => None,
        };
        if let Some(ready) = ready {
            return Ok(StageStart::Prepared(ready));
        }
        if staged.step == Step::HandOver {
            let (step, own, id) = (staged.step, &source.sidecar.custody, self.to.custody_id()?);
            staged.receives(Permit::transfer(step, own, self.to.id(), id));
        }
        let entries = source.sidecar.files.len();
        let reserved = self.reserve(&staged, entries)?;
        self.caller.progress.expect(1, staged.bytes);
        let partial = match staged.bytes {
            bytes if bytes >= self.options.resume_bytes => {
                Partial::open(self.to, &staged.name, &source)?
            }
            _ => None,
        };
        let draft = self.writer().resumable_draft(partial)?;
        staged.item = Some(draft.staged().clone());
        let job = CopyJob {
            number,
            from,
            source,
            to,
            staged,
            draft,
            reserved,
            failure: Mutex::default(),
        };
        match job.draft.make_directories(&job.source.sidecar.files) {
            Ok(()) => Ok(StageStart::Job(Box::new(job))),
            Err(error) => {
                let error = error.into();
                job.give_up(self, &error);
                Err(error)
            }
        }
    }

    /// Keeps room for an item.
    fn reserve(&self, staged: &Staged, entries: usize) -> Result<Reservation, TransferError> {
        // Within a file system, bytes may be shared.
        let bytes = if self.one_file_system { 0 } else { staged.bytes };
        // A lock takes as much as another sidecar.
        let sidecars = if staged.step == Step::HandOver { 2 } else { 1 };
        let reserved = self.pending.reserve(self.to.root(), bytes, (entries, sidecars))?;
        reserved.map_err(|lacking| lacking.of(&staged.name, self.to.path()).into())
    }

    /// Copies an item on as many threads as are free.
    fn copy<'scope>(&'scope self, job: Box<CopyJob<'a>>, scope: &rayon::Scope<'scope>) {
        use crate::item::Content;
        let batches = batches(job.source.sidecar.files.iter().map(|entry| match entry.content {
            Content::File { bytes, .. } => Some(bytes),
            Content::Link { .. } | Content::EmptyDirectory { .. } => None,
        }));
        let copy = |job: &CopyJob<'_>, batch| self.copy_batch(job, batch);
        spread(*job, batches, scope, copy, |job, _| self.copied(job));
    }

    fn copy_batch(&self, job: &CopyJob<'_>, batch: std::ops::Range<usize>) {
        if job.failure().is_none()
            && let Err(error) = job.payload_copy(self).copy(&job.source.sidecar.files[batch])
        {
            job.failure().get_or_insert(error);
        }
    }

    /// Passes on an item whose files are all copied.
    fn copied(&self, mut job: CopyJob<'_>) {
        let failure = job.failure().take();
        let finished = match failure {
            Some(error) => Err(error),
            None => job.finish(self),
        };
        let (number, name) = (job.number, job.staged.name.clone());
        match finished {
            Ok(staged) => {
                job.reserved.has_payload();
                job.reserved.has_sidecar();
                self.deliver(number, Prepared::Staged(staged, Some(job.reserved)));
            }
            Err(error) => {
                // An item that is removed while it is read looks damaged, too.
                let error = match self.at_source(&job.staged) {
                    Err(changed @ TransferError::Changed { .. }) => changed,
                    _ => error,
                };
                job.give_up(self, &error);
                let ready = self.done_by_others(&name, error, None);
                self.deliver(number, ready.unwrap_or_else(|error| Prepared::Failed(name, error)));
            }
        }
    }
}

#[expect(clippy::large_enum_variant, reason = "it is made once for each item, and moved once")]
enum StageStart<'a> {
    Prepared(Prepared),
    Job(Box<CopyJob<'a>>),
}

impl CopyJob<'_> {
    fn failure(&self) -> MutexGuard<'_, Option<TransferError>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn payload_copy<'a>(&'a self, shared: &'a Shared<'_>) -> PayloadCopy<'a> {
        let old = match &self.to {
            Some((item, read)) if read.sidecar.state.has_payload() => {
                Some(Base { item, entries: &read.sidecar.files })
            }
            _ => None,
        };
        let links = shared.links(self.staged.step);
        PayloadCopy {
            from: &self.from,
            root: shared.from.path(),
            old,
            links,
            draft: &self.draft,
            // The proof counts what it reads.
            progress: if links == Links::Unread { &NoProgress } else { shared.caller.progress },
            interrupt: shared.caller.interrupt,
        }
    }

    /// Discards the staged item. A later run can resume it unless the source itself is damaged.
    fn give_up(&self, shared: &Shared<'_>, error: &TransferError) {
        shared.writer().discard(self.draft.staged());
        if matches!(error, TransferError::Damaged { .. }) {
            self.draft.staged().give_up();
        }
    }

    /// Gives the staged item its directories' attributes and its sidecar.
    fn finish(&self, shared: &Shared<'_>) -> Result<Staged, TransferError> {
        let copy = self.payload_copy(shared);
        let entries = &self.source.sidecar.files;
        self.draft.finish_directories(entries, |directory| copy.attributes(directory))?;
        let sidecar = match &self.staged.received {
            Some(permit) => {
                let custody = permit.custody().clone();
                Sidecar { state: State::Original, custody, ..self.source.sidecar.clone() }
            }
            None => elsewhere(&self.source.sidecar, self.staged.there.state),
        };
        let text = text_of(&self.staged, &self.source, &sidecar)?;
        self.draft.write_sidecar(&text)?;
        let mut staged = self.staged.clone();
        if staged.step == Step::HandOver {
            // Under the locks the source is looked up again.
            staged.offer = shared.offer_early(&staged, &self.source);
        } else {
            // Looked up again by name: the open directory may have been moved away.
            shared.at_source(&staged)?;
        }
        Ok(staged)
    }
}

/// The sidecar `source` in another collection.
pub(super) fn elsewhere(source: &Sidecar, state: State) -> Sidecar {
    Sidecar { state, custody: source.custody.elsewhere(), ..source.clone() }
}

/// The text of the sidecar `after` of an item in place of the text read before.
pub(super) fn text_of(
    staged: &Staged,
    before: &ReadSidecar,
    after: &Sidecar,
) -> Result<NewText, TransferError> {
    let text = after.rewritten(&before.text, &before.sidecar);
    text.map_err(|cause| TransferError::Sidecar { name: staged.name.clone(), cause })
}
