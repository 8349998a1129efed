//! The decision about one item, by its present holdings on both sides.

use std::path::Path;

use super::reading::sealed;
use super::shared::{Prepared, Shared};
use super::staged::Staged;
use super::{Leaves, Recovery, RunMode, Step, Tombstones, TransferError, Verb};
use crate::collection::{ChangeLocks, CollectionError, ReadSidecar, StoredItem};
use crate::custody::{Holding, LineUp, Refusal, decide, line_up};
use crate::disk::Version;
use crate::holdings::{line_below, with_line_read};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::layout;
use crate::sidecar::Sidecar;

/// The decision about an item.
#[expect(clippy::large_enum_variant, reason = "it is made once for each item, and moved once")]
pub(super) enum Decision {
    /// A decision that needs no further reading.
    Prepared(Prepared),
    /// A step of the table.
    Step(Box<Chosen>),
}

/// An item on both sides, and the step that follows.
pub(super) struct Chosen {
    pub from: StoredItem,
    pub source: ReadSidecar,
    pub to: Option<(StoredItem, ReadSidecar)>,
    pub staged: Staged,
}

/// Whether the item `there` stays in its place by `step`, with another description at most: it lists the files of `source`.
pub(super) fn stays(step: Step, source: &Sidecar, there: &Sidecar) -> bool {
    let is_listed =
        there.state.has_payload() && there.payload == source.payload && there.files == source.files;
    match step {
        Step::Nothing => true,
        // An Original gives way: the description that it gives up goes to the trash with it.
        Step::Copy => is_listed && there.state != State::Original,
        Step::MoveCopy => is_listed && there.custody.id() == source.custody.id(),
        Step::HandOver | Step::Bury => false,
    }
}

impl Shared<'_> {
    /// Reads an item on both sides and decides.
    pub(super) fn decide_on(&self, name: &RepositoryName) -> Result<Decision, TransferError> {
        let passed = || Ok(Decision::Prepared(Prepared::Passed));
        let Some(from) = self.source_items.item(name)? else {
            return Err(self.from.absent(name).into());
        };
        let read = from.read_sidecar();
        if matches!(read, Err(CollectionError::NoSidecar { .. }))
            && self.options.tombstones != Tombstones::Refuse
            && from.is_no_item(self.from)?
        {
            return passed();
        }
        let source = sealed(&from, read, self.from.path())?;
        let state = source.sidecar.state;
        let is_passed = match (state, self.options.tombstones) {
            (State::Deleted, Tombstones::Bring) => self.options.verb != Verb::Copy,
            (State::Deleted, Tombstones::Pass)
            | (State::Elsewhere, Tombstones::Pass | Tombstones::Bring) => true,
            _ => false,
        };
        if is_passed || self.options.state.is_some_and(|wanted| !wanted.contains(state)) {
            return passed();
        }
        let to = self.destination_items.item_or_place(from.name())?;
        if let Ok(item) = &to
            && let Some(version) = self.copy_there(&source, item)
        {
            let mut staged =
                Staged::of(&from, &source, Step::Nothing, layout::item_place(item.name()))
                    .to(self.to.id());
            staged.replaced = Some((staged.there.clone(), version));
            return Ok(Decision::Prepared(Prepared::Planned(staged)));
        }
        let (to, place) = match to {
            Err(_) if self.options.line_up.is_some() => return passed(),
            Err(place) => {
                self.check_not_lost(name)?;
                (None, place)
            }
            Ok(item) => {
                let (sidecar, place) = (item.read_sidecar(), layout::item_place(item.name()));
                let sidecar = sealed(&item, sidecar, self.to.path())?;
                (Some((item, sidecar)), place)
            }
        };
        let step = match self.step((&from, &source), to.as_ref()) {
            // The deletion has not travelled to this Copy yet, which is no failure of copying all items.
            Err(TransferError::Refused { refusal, .. })
                if self.options.tombstones == Tombstones::Bring
                    && state == State::Copy
                    && matches!(*refusal, Refusal::Newer { .. })
                    && to.as_ref().is_some_and(|(_, it)| it.sidecar.state == State::Deleted) =>
            {
                return passed();
            }
            step => step?,
        };
        if step != Step::Nothing {
            self.to.check_reach(&place.0.join(&place.1))?;
            if self.removes_source(step) {
                self.from.check_reach(Path::new(from.name().as_str()))?;
            }
        }
        let staged = Staged {
            replaced: to.as_ref().map(|(_, read)| (read.here(), read.version)),
            unlisted: self.unlisted(step, (&from, &source), to.as_ref())?,
            import: self.to.imported_source(&source.sidecar),
            ..Staged::of(&from, &source, step, place).to(self.to.id())
        };
        if self.options.mode == RunMode::Plan {
            return Ok(Decision::Prepared(Prepared::Planned(staged)));
        }
        Ok(Decision::Step(Box::new(Chosen { from, source, to, staged })))
    }

    /// The step by the rule of custody.
    fn step(
        &self,
        (from, source): (&StoredItem, &ReadSidecar),
        to: Option<&(StoredItem, ReadSidecar)>,
    ) -> Result<Step, TransferError> {
        let own = from.holding(source, self.from.id())?;
        let mut seen = with_line_read(self.from, from.name(), &own)?;
        let there = to.map(|(item, read)| item.holding(read, self.to.id())).transpose()?;
        match &there {
            Some(there) => seen.extend(with_line_read(self.to, from.name(), there)?),
            None => seen.extend(line_below(from.name(), self.to, None)?),
        }
        if let Some(authority) = self.options.line_up {
            let donor = |at: usize| seen[at].at == own.at;
            return Ok(match there.map(|there| line_up(&there, &seen, authority)) {
                Some(LineUp::Original(at) | LineUp::Copy(at)) if donor(at) => Step::Copy,
                Some(LineUp::Bury(at)) if donor(at) => Step::Bury,
                _ => Step::Nothing,
            });
        }
        // A repeated migration of an item that arrived has nothing to do.
        let arrived = |step| match (to, self.options.verb) {
            (Some((_, there)), Verb::Migrate)
                if source.sidecar.state == State::Elsewhere
                    && there.sidecar.state.has_payload()
                    && there.sidecar.custody.covers(&source.sidecar.custody) =>
            {
                Ok(Step::Nothing)
            }
            _ => step,
        };
        let mut verb = self.options.verb;
        let hands_over = verb == Verb::Migrate && own.is_own();
        if hands_over || own.is_deletion() {
            seen.extend(self.sight.see(from.name(), &own.at));
        } else if own.is_own() {
            // An Original that is behind would spread its old state.
            seen.extend(self.sight.look(from.name(), &own));
        }
        if hands_over {
            if !source.sidecar.transferable {
                return Err(TransferError::NotTransferable { name: from.name().clone() });
            }
        } else if self.options.leaves == Leaves::Copy && own.has_payload() {
            verb = Verb::Copy;
        }
        // Deletions travel where all items are copied, or onto a Copy of an item that was named.
        let has_copy = there.as_ref().is_some_and(Holding::has_payload);
        let is_asked =
            own.is_deletion() && !has_copy && self.options.tombstones == Tombstones::Refuse;
        let step = if is_asked {
            Err(Refusal::Deleted)
        } else {
            arrived(decide(verb, &own, self.to.id(), &seen))
        };
        step.map_err(|refusal| TransferError::Refused {
            name: from.name().clone(),
            refusal: Box::new(self.sight.named(&[self.from, self.to], refusal)),
            from: self.from.path().to_path_buf(),
            to: self.to.path().to_path_buf(),
        })
    }

    /// Whether `step` leaves a stub at the source.
    pub(super) fn removes_source(&self, step: Step) -> bool {
        match step {
            Step::HandOver => self.options.leaves == Leaves::Stub,
            step => step == Step::MoveCopy,
        }
    }

    /// The version of the sidecar of `item` at the destination, if its text shows that nothing needs to be done.
    /// Otherwise the whole sidecar is read.
    fn copy_there(&self, source: &ReadSidecar, item: &StoredItem) -> Option<Version> {
        let is_copy = self.options.verb == Verb::Copy && self.options.line_up.is_none();
        if !is_copy || !source.sidecar.state.has_payload() {
            return None;
        }
        let (text, version) = item.versioned_text().ok()?;
        text.is_copy_of(&source.text).then_some(version)
    }

    /// Makes sure that the destination has not lost an Original or a tombstone of this name: the new item
    /// would hide that loss. A lost Copy may be replaced.
    fn check_not_lost(&self, name: &RepositoryName) -> Result<(), TransferError> {
        if self.to.last_record_read(name)?.is_none() {
            return Ok(());
        }
        let absence = self.to.absent(name);
        let is_lost = match &absence {
            CollectionError::Vanished { line, .. } => line.state() != Some(State::Copy),
            absence => !absence.is_absence(),
        };
        if is_lost { Err(absence.into()) } else { Ok(()) }
    }

    /// The unlisted paths that `step` moves to the trash: of the replaced item, and, for a plan, of the item at the source, where
    /// they are looked for when the item leaves.
    fn unlisted(
        &self,
        step: Step,
        (from, source): (&StoredItem, &ReadSidecar),
        to: Option<&(StoredItem, ReadSidecar)>,
    ) -> Result<Vec<std::path::PathBuf>, TransferError> {
        let mut leaving = Vec::new();
        if self.removes_source(step) && self.options.mode == RunMode::Plan {
            leaving.push((from, source));
        }
        let replaced = to.filter(|(_, read)| !stays(step, &source.sidecar, &read.sidecar));
        leaving.extend(replaced.map(|(item, read)| (item, read)));
        let mut paths = Vec::new();
        for (item, read) in leaving {
            let found = item.unlisted(read.listed(), self.caller.interrupt)?;
            paths.extend(found.iter().map(|path| item.path_of(path)));
        }
        Ok(paths)
    }

    /// Decides once more after `error`, if another process may have caused it: once that process releases the
    /// item, everything may be done.
    pub(super) fn decide_again(
        &self,
        name: &RepositoryName,
        error: TransferError,
        locks: Option<&ChangeLocks>,
    ) -> Result<Decision, TransferError> {
        let may_pass = match &error {
            // A migration by another process may be under way: one side is from before it, and the other from after it.
            TransferError::Changed { .. }
            | TransferError::Damaged { .. }
            | TransferError::Refused { .. } => true,
            TransferError::Disk(cause) => cause.kind() == std::io::ErrorKind::NotFound,
            _ => false,
        };
        if !may_pass {
            return Err(error);
        }
        if self.options.mode == RunMode::Plan {
            self.follow_ledgers();
            return self.decide_on(name);
        }
        if let (TransferError::Refused { refusal, .. }, None, Some(writer)) =
            (&error, locks, self.source_writer)
            && matches!(**refusal, Refusal::Ceded { .. })
        {
            // A killed run has left it: it ends by one look, before anything else is done.
            let others: Vec<_> = self.sight.neighbours().iter().copied().chain([self.to]).collect();
            let (agent, waiter) = (self.caller.agent, &self.caller.waiter());
            Recovery { giver: self.from, writer, others: &others, agent, waiter }.end(name)?;
        }
        // A copy only reads its source, so it does not lock it either.
        let source = self.source_writer.map(|_| self.from);
        let _locks = match locks {
            Some(_) => None,
            None => Some(self.lock(source.into_iter().chain([self.to]))?),
        };
        self.decide_on(name)
    }

    /// The remaining work on an item that another process has changed meanwhile: none.
    pub(super) fn done_by_others(
        &self,
        name: &RepositoryName,
        error: TransferError,
        locks: Option<&ChangeLocks>,
    ) -> Result<Prepared, TransferError> {
        if !matches!(error, TransferError::Changed { .. }) {
            return Err(error);
        }
        match self.decide_again(name, error, locks)? {
            Decision::Prepared(ready @ (Prepared::Planned(_) | Prepared::Passed)) => Ok(ready),
            Decision::Step(chosen) if chosen.staged.step == Step::Nothing => {
                Ok(Prepared::Planned(chosen.staged))
            }
            _ => Err(TransferError::Changed { name: name.clone() }),
        }
    }
}
