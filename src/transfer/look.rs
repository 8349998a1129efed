//! The decision about one item, by its present sidecars on both sides.

use std::path::{Path, PathBuf};

use super::decide::{Replaces, Step, decide, decide_deleted};
use super::reading::sealed;
use super::shared::{Prepared, Shared};
use super::staged::Staged;
use super::{Options, Refusal, RunMode, Tombstones, TransferError, Verb};
use crate::collection::{CollectionError, ItemLocks, ReadSidecar, StoredItem};
use crate::disk::{PathError, Version};
use crate::holdings::{
    Giver, OriginalError, Remains, follow, holdings, may_be_original, refuse_copy_in_place,
    refuse_put_back,
};
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

/// The locks of an item, if this thread holds them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Locks<'l> {
    Held(&'l ItemLocks),
    Free,
}

impl Shared<'_> {
    /// Reads an item on both sides and decides.
    pub(super) fn decide_on(&self, name: &RepositoryName) -> Result<Decision, TransferError> {
        let Some(from) = self.source_items.item(name)? else {
            return self.decide_without_source(name);
        };
        let root = self.from.path();
        let read = from.read_sidecar();
        if matches!(read, Err(CollectionError::NoSidecar { .. }))
            && self.options.tombstones != Tombstones::Refuse
            && from.is_no_item(self.from)?
        {
            return Ok(Decision::Prepared(Prepared::Passed));
        }
        let source = sealed(&from, read, root)?;
        let state = source.sidecar.state;
        let is_passed = state == State::Deleted && self.options.tombstones == Tombstones::Pass;
        let brings = state == State::Deleted
            && self.options.tombstones == Tombstones::Bring
            && self.options.verb == Verb::Copy;
        if is_passed || self.options.state.is_some_and(|wanted| wanted != state) {
            return Ok(Decision::Prepared(Prepared::Passed));
        }
        let to = match self.destination_items.item(name)? {
            None => {
                self.check_not_lost(name)?;
                None
            }
            Some(item) => {
                if let Some(version) = self.copy_there(&source, &item) {
                    let staged = Staged {
                        replaced: Some(version),
                        ..Staged::of(&from, &source, Step::Skip, layout::item_place(item.name()))
                    };
                    return Ok(Decision::Prepared(Prepared::Planned(staged)));
                }
                let sidecar = sealed(&item, item.read_sidecar(), self.to.path())?;
                Some((item, sidecar))
            }
        };
        if self.options.verb == Verb::Refresh && !is_copy_of(&source, to.as_ref()) {
            return Ok(Decision::Prepared(Prepared::Passed));
        }
        let there = to.as_ref().map(|(_, read)| &read.sidecar);
        let giver = there.and_then(Sidecar::made_of).filter(|id| *id != self.from.id());
        let holders: Vec<_> = match giver {
            Some(giver) if self.came_from(giver, name)? => vec![self.from.id(), giver],
            _ => vec![self.from.id()],
        };
        let own = (&source.sidecar, &*holders);
        let step = if brings {
            decide_deleted(own, there)
        } else {
            let Options { verb, rules, .. } = self.options;
            decide(verb, rules, own, (there, self.to.id())).map(Some)
        };
        let burial = burial(to.as_ref())?;
        let step = step.and_then(|step| step.map(|step| check_burial(step, burial)).transpose());
        let step = match step {
            // The deletion has not travelled to this Copy yet, which is not a failure of copying all items.
            Err(Refusal::Tombstone)
                if state == State::Copy && self.options.tombstones == Tombstones::Bring =>
            {
                None
            }
            step => step.map_err(|refusal| TransferError::Refused {
                name: from.name().clone(),
                refusal,
                from: from.path().to_path_buf(),
                to: to.as_ref().map(|(item, _)| item.path().to_path_buf()),
                giver: self.giver(&source, to.as_ref().map(|(_, read)| read)),
            })?,
        };
        let Some(step) = step else { return Ok(Decision::Prepared(Prepared::Passed)) };
        match step {
            Step::Revive => self.claim().check(from.name(), Remains::Tombstone)?,
            // A Copy of it does no harm: the Original made from it has the same date or a later one.
            Step::HandOver(_) | Step::Copy(Replaces::Tombstone) => {
                refuse_put_back(from.name(), self.from, &source.sidecar)?;
            }
            Step::MoveCopy | Step::DropCopy => {
                refuse_copy_in_place(from.name(), self.from, &source.sidecar)?;
            }
            Step::Bury(_) if !self.is_deletion_recorded(from.name())? => {
                return Ok(Decision::Prepared(Prepared::Passed));
            }
            Step::Bury(Replaces::Copy) => self.check_not_undone(&source.sidecar)?,
            _ => {}
        }
        let place = match &to {
            Some((item, _)) => layout::item_place(item.name()),
            None => self.destination_items.place_of(from.name())?,
        };
        self.check_reach(step, &place, from.name())?;
        let staged = Staged {
            replaced: to.as_ref().map(|(_, read)| read.version),
            unlisted: self.unlisted(step, (&from, &source), to.as_ref())?,
            ..Staged::of(&from, &source, step, place)
        };
        if self.options.mode == RunMode::Plan {
            return Ok(Decision::Prepared(Prepared::Planned(staged)));
        }
        Ok(Decision::Step(Box::new(Chosen { from, source, to, staged })))
    }

    /// Decides about an item that the source does not have.
    fn decide_without_source(&self, name: &RepositoryName) -> Result<Decision, TransferError> {
        match (self.options.verb, self.destination_items.item(name)?) {
            (Verb::Refresh, _) => return Ok(Decision::Prepared(Prepared::Passed)),
            (Verb::Migrate, Some(item)) => {
                if let Some(staged) = self.arrived(&item)? {
                    return Ok(Decision::Prepared(Prepared::Planned(staged)));
                }
            }
            (Verb::Copy | Verb::Migrate, _) => {}
        }
        Err(self.from.absent(name).into())
    }

    /// Whether the records of the collection `giver`, or of its successors, say that the Original went to the
    /// source. An item that was renamed before its sidecar recorded that does not say so itself.
    fn came_from(&self, giver: &str, name: &RepositoryName) -> Result<bool, PathError> {
        let others: Vec<_> = self.peers.collections.iter().collect();
        if others.iter().all(|other| other.id() != giver) {
            return Ok(false);
        }
        let found = holdings(name, &others);
        let trail = follow(name, [giver.to_owned()], self.to, &others, &found)?;
        Ok(trail.holders.contains(self.from.id()))
    }

    /// The version of the sidecar of `item` at the destination, if its text shows that nothing needs to be done.
    /// Otherwise the whole sidecar is read.
    fn copy_there(&self, source: &ReadSidecar, item: &StoredItem) -> Option<Version> {
        let verb = self.options.verb;
        if verb == Verb::Migrate || source.sidecar.state != State::Original {
            return None;
        }
        let (text, version) = item.versioned_text().ok()?;
        text.is_copy_of(&source.text, self.from.id()).then_some(version)
    }

    /// Makes sure that all moves within a collection are possible, before anything is copied.
    fn check_reach(
        &self,
        step: Step,
        (year, leaf): &(PathBuf, PathBuf),
        source: &RepositoryName,
    ) -> Result<(), PathError> {
        let leaves = match step {
            Step::HandOver(_) => !self.options.rules.leave_copy,
            Step::MoveCopy | Step::DropCopy => true,
            Step::Skip | Step::Copy(_) | Step::Revive | Step::Bury(_) => false,
        };
        if leaves {
            self.from.check_reach(Path::new(source.as_str()))?;
        }
        match step {
            Step::Skip | Step::DropCopy => Ok(()),
            _ => self.to.check_reach(&year.join(leaf)),
        }
    }

    /// The giver of the item, by the mark on either side.
    fn giver(&self, source: &ReadSidecar, there: Option<&ReadSidecar>) -> Option<Box<Giver>> {
        let sides = [(self.from, Some(source)), (self.to, there)];
        let (holder, mark) = sides
            .into_iter()
            .find_map(|(collection, read)| Some((collection, read?.sidecar.handover.as_ref()?)))?;
        Some(Box::new(Giver::of(mark, holder, &[self.from, self.to])))
    }

    /// Makes sure that the destination has not lost an Original or a tombstone of this name: the new item
    /// would hide that loss. A lost Copy may be replaced.
    fn check_not_lost(&self, name: &RepositoryName) -> Result<(), TransferError> {
        let absence = self.to.absent(name);
        let is_lost = match &absence {
            CollectionError::Vanished { recorded, .. } => may_be_original(recorded),
            absence => !absence.is_absence(),
        };
        if is_lost { Err(absence.into()) } else { Ok(()) }
    }

    /// Decides once more after `error`, if another process may have caused it: once that process releases the
    /// item, everything may be done.
    pub(super) fn decide_again(
        &self,
        name: &RepositoryName,
        error: TransferError,
        locks: Locks<'_>,
    ) -> Result<Decision, TransferError> {
        let may_pass = match &error {
            TransferError::Changed { .. }
            | TransferError::Damaged { .. }
            // An item that is about to be renamed is recorded as gone a moment before.
            | TransferError::Original(OriginalError::Departed { .. }) => true,
            // Both sides say Original if the item migrated between the two readings.
            TransferError::Refused { refusal, .. } => {
                matches!(refusal, Refusal::HandoverPending | Refusal::TwoOriginals)
            }
            TransferError::Collection(cause) => {
                cause.is_absence() && self.options.verb == Verb::Migrate
            }
            TransferError::Disk(cause) => cause.kind() == std::io::ErrorKind::NotFound,
            _ => false,
        };
        if !may_pass {
            return Err(error);
        }
        if self.options.mode == RunMode::Plan {
            return self.decide_on(name);
        }
        // A copy only reads its source, so it does not lock it either.
        let source = self.source_writer.map(|_| (self.from, name));
        let _locks = match locks {
            Locks::Held(_) => None,
            Locks::Free => Some(self.lock(source.into_iter().chain([(self.to, name)]))?),
        };
        self.decide_on(name)
    }

    /// The remaining work on an item that another process has changed meanwhile: none, or only its removal
    /// from the source.
    pub(super) fn done_by_others(
        &self,
        name: &RepositoryName,
        error: TransferError,
        locks: Locks<'_>,
    ) -> Result<Prepared, TransferError> {
        if !matches!(error, TransferError::Changed { .. }) {
            return Err(error);
        }
        match self.decide_again(name, error, locks)? {
            Decision::Prepared(ready @ Prepared::Planned(_)) => Ok(ready),
            Decision::Step(chosen) if chosen.staged.step == Step::Skip => {
                Ok(Prepared::Planned(chosen.staged))
            }
            Decision::Step(chosen) if chosen.staged.step == Step::DropCopy => {
                Ok(Prepared::Drop(chosen.staged))
            }
            _ => Err(TransferError::Changed { name: name.clone() }),
        }
    }
}

/// The state of the payload at the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Burial {
    /// The item is not a tombstone.
    NoTombstone,
    Done,
    /// Files still lie beside the tombstone.
    Open,
}

fn burial(to: Option<&(StoredItem, ReadSidecar)>) -> Result<Burial, PathError> {
    let tombstone = to.filter(|(_, read)| read.sidecar.state == State::Deleted);
    let Some((item, _)) = tombstone else { return Ok(Burial::NoTombstone) };
    Ok(if item.has_payload()? { Burial::Open } else { Burial::Done })
}

/// Files that still lie beside a tombstone must not be lost when it is replaced. If a killed run brought the
/// tombstone, its payload is moved to the trash.
fn check_burial(step: Step, burial: Burial) -> Result<Step, Refusal> {
    match step {
        Step::Skip if burial == Burial::Open => Ok(Step::Bury(Replaces::Tombstone)),
        step if step.over() == Replaces::Tombstone && burial == Burial::Open => {
            Err(Refusal::Unburied)
        }
        step => Ok(step),
    }
}

/// Whether one is the Original and the other its Copy.
fn is_copy_of(source: &ReadSidecar, to: Option<&(StoredItem, ReadSidecar)>) -> bool {
    source.sidecar.state == State::Original
        && to.is_some_and(|(_, read)| read.sidecar.state == State::Copy)
}
