//! One item on its way: read on both sides, decided upon, copied into the stage.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::decide::{Replaces, Step};
use super::look::{Chosen, Decision, Locks};
use super::payload::{Base, PayloadCopy};
use super::resume::ResumableStage;
use super::shared::{Prepared, Shared};
use super::staged::Staged;
use super::{TransferError, sidecars};
use crate::collection::{ReadSidecar, StoredItem};
use crate::disk::Dir;
use crate::flow::{Lacking, Reservation, batches, spread};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::layout;

/// An item that several threads copy.
pub(super) struct Draft {
    number: usize,
    from: StoredItem,
    source: ReadSidecar,
    to: Option<(StoredItem, ReadSidecar)>,
    staged: Staged,
    /// Its directory in the stage.
    made: Dir,
    /// Until its sidecar is written.
    _reserved: Reservation,
    failure: Mutex<Option<TransferError>>,
}

impl Shared<'_> {
    /// Reads, decides and copies one item; what becomes of it goes into the flow.
    pub(super) fn work<'scope>(
        &'scope self,
        number: usize,
        name: RepositoryName,
        scope: &rayon::Scope<'scope>,
    ) {
        if self.caller.interrupt.requested() || self.flow.stopped() {
            self.deliver(number, Prepared::Failed(name, TransferError::Interrupted));
            return;
        }
        match self.begin(number, &name) {
            Ok(StageStart::Prepared(ready)) => self.deliver(number, ready),
            Ok(StageStart::Draft(draft)) => self.copy(draft, scope),
            Err(error) => self.deliver(number, Prepared::Failed(name, error)),
        }
    }

    fn begin(&self, number: usize, name: &RepositoryName) -> Result<StageStart, TransferError> {
        match self.decide_on(name).or_else(|error| self.decide_again(name, error, Locks::Free))? {
            Decision::Prepared(ready) => Ok(StageStart::Prepared(ready)),
            Decision::Step(chosen) => self.start(number, *chosen),
        }
    }

    /// Begins what was decided.
    fn start(&self, number: usize, chosen: Chosen) -> Result<StageStart, TransferError> {
        let Chosen { from, source, to, mut staged } = chosen;
        match staged.step {
            Step::Skip => {
                if let (true, Some((item, _))) = (self.options.rules.checksum, &to) {
                    self.prove(item)?;
                }
                return Ok(StageStart::Prepared(Prepared::Planned(staged)));
            }
            Step::DropCopy => return Ok(StageStart::Prepared(Prepared::Drop(staged))),
            Step::Bury(Replaces::Nothing) => {
                let staged = self.stage_tombstone(&source, staged)?;
                return Ok(StageStart::Prepared(Prepared::Staged(staged)));
            }
            Step::Bury(_) => return Ok(StageStart::Prepared(Prepared::Bury(staged))),
            step if self.renames(step) => return Ok(StageStart::Prepared(Prepared::Move(staged))),
            Step::Copy(_) | Step::HandOver(_) | Step::MoveCopy | Step::Revive => {}
        }
        let entries = source.sidecar.files.len();
        let reserved = self.reserve(&staged, entries)?;
        self.caller.progress.expect(1, staged.bytes);
        let partial = match staged.bytes {
            bytes if bytes >= self.options.resume_bytes => {
                ResumableStage::open(self.to, &staged.name, &source)?.map(Arc::new)
            }
            _ => None,
        };
        staged.partial.clone_from(&partial);
        let (item, made) = self.buckets.make_item(self.writer().stage())?;
        staged.item = item;
        let draft = Draft {
            number,
            from,
            source,
            to,
            staged,
            made,
            _reserved: reserved,
            failure: Mutex::default(),
        };
        match draft.route(self).make_directories(&draft.source.sidecar.files) {
            Ok(()) => Ok(StageStart::Draft(Box::new(draft))),
            Err(error) => {
                draft.give_up(self, false);
                Err(error.into())
            }
        }
    }

    /// Keeps room for an item.
    fn reserve(&self, staged: &Staged, entries: usize) -> Result<Reservation, TransferError> {
        // Within a file system, bytes may be shared.
        let bytes = if self.one_file_system { 0 } else { staged.bytes };
        let reserved = self.pending.reserve(self.to.root(), bytes, entries)?;
        reserved.map_err(|Lacking { needed, unit, free }| {
            let (name, collection) = (staged.name.clone(), self.to.path().to_path_buf());
            TransferError::NoRoom { name, needed, unit, free, collection }
        })
    }

    /// Copies a draft on as many threads as are free.
    fn copy<'scope>(&'scope self, draft: Box<Draft>, scope: &rayon::Scope<'scope>) {
        use crate::item::Content;
        let batches = batches(draft.source.sidecar.files.iter().map(|entry| match entry.content {
            Content::File { bytes, .. } => Some(bytes),
            Content::Link { .. } | Content::EmptyDirectory { .. } => None,
        }));
        let copy = |draft: &Draft, batch| self.copy_batch(draft, batch);
        spread(*draft, batches, scope, copy, |draft, _| self.copied(&draft));
    }

    fn copy_batch(&self, draft: &Draft, batch: std::ops::Range<usize>) {
        if draft.failure().is_none()
            && let Err(error) = draft.route(self).copy(&draft.source.sidecar.files[batch])
        {
            draft.failure().get_or_insert(error);
        }
    }

    /// Hands a draft on whose files are copied.
    fn copied(&self, draft: &Draft) {
        let failure = draft.failure().take();
        let finished = match failure {
            Some(error) => Err(error),
            None => draft.finish(self),
        };
        let (number, name) = (draft.number, draft.staged.name.clone());
        match finished {
            Ok(staged) => self.deliver(number, Prepared::Staged(staged)),
            Err(error) => {
                // What goes away while it is read looks damaged as well.
                let error = match self.at_source(&draft.staged) {
                    Err(changed @ TransferError::Changed { .. }) => changed,
                    _ => error,
                };
                // What is damaged at the source will not become whole by another attempt.
                draft.give_up(self, matches!(error, TransferError::Damaged { .. }));
                let ready = self.done_by_others(&name, error, Locks::Free);
                self.deliver(number, ready.unwrap_or_else(|error| Prepared::Failed(name, error)));
            }
        }
    }
}

#[expect(clippy::large_enum_variant, reason = "it is made once for each item, and moved once")]
enum StageStart {
    Prepared(Prepared),
    Draft(Box<Draft>),
}

impl Draft {
    /// The directory that the item is made in.
    fn made_in(&self) -> &Dir {
        self.staged.partial.as_ref().map_or(&self.made, |partial| &partial.own)
    }

    fn failure(&self) -> MutexGuard<'_, Option<TransferError>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn route<'a>(&'a self, shared: &'a Shared<'_>) -> PayloadCopy<'a> {
        let old = match &self.to {
            Some((item, read)) if read.sidecar.state != State::Deleted => {
                Some(Base { item, entries: &read.sidecar.files })
            }
            _ => None,
        };
        PayloadCopy {
            from: &self.from,
            root: shared.from.path(),
            old,
            made: self.made_in(),
            resumes: self.staged.partial.is_some(),
            wake: &shared.wake,
            progress: shared.caller.progress,
            interrupt: shared.caller.interrupt,
        }
    }

    /// Removes what was made, but for what may be taken up again.
    fn give_up(&self, shared: &Shared<'_>, for_good: bool) {
        // An error leaves what a killed process would.
        let _ = shared.writer().stage().remove_tree(&self.staged.item);
        if let Some(partial) = &self.staged.partial
            && for_good
        {
            let _ = partial.remove();
        }
    }

    /// Gives the staged item its directories' attributes and its sidecar.
    fn finish(&self, shared: &Shared<'_>) -> Result<Staged, TransferError> {
        self.route(shared).finish_directories(&self.source.sidecar.files)?;
        let now = shared.caller.clock.now();
        let mut copy = sidecars::copy(&self.source.sidecar, shared.from, now);
        if let Some((_, read)) = &self.to {
            sidecars::remember_removal(&mut copy, &read.sidecar);
        }
        if let Step::HandOver(_) = self.staged.step {
            copy = sidecars::received(copy, &shared.token, shared.from);
        }
        let text = match (self.staged.step, &self.to) {
            (Step::Revive, Some((_, tombstone))) => {
                let revived = sidecars::revived(&tombstone.sidecar, &self.source.sidecar, now);
                sidecars::text(&self.staged.name, tombstone, &revived)?
            }
            _ => sidecars::text(&self.staged.name, &self.source, &copy)?,
        };
        let mut file = self.made_in().create_file(layout::SIDECAR)?;
        text.write(|piece| file.write_all(piece))?;
        // By its name: what was opened before may have been moved away, whole.
        shared.at_source(&self.staged)?;
        Ok(self.staged.clone())
    }
}
