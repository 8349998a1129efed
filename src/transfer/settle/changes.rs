//! The changes that end hand-overs: sidecars and lines of the inventory.

use super::{HandoverEnd, JournalRecord, NextStep, OneSide, Sides, TransferError, sidecars};
use crate::collection::{Departure, InventoryChange, LockedItem, ReadSidecar};
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::item::State;
use crate::sidecar::NewText;
use crate::transfer::retire::retire;

/// Sidecars and lines of the inventory to write.
#[derive(Default)]
pub(super) struct Changes<'l> {
    /// The receiver's sidecars.
    pub received: Vec<(LockedItem<'l>, NewText)>,
    /// The giver's copies; those without a text are removed.
    pub given: Vec<(LockedItem<'l>, Option<NewText>)>,
    /// The sidecars of the giver's Originals.
    pub taken_back: Vec<(LockedItem<'l>, NewText)>,
    /// The receiver has these Originals.
    pub originals: Vec<RepositoryName>,
    /// The giver has them, whatever its inventory says.
    pub staying: Vec<(RepositoryName, InventoryChange)>,
}

impl<'l> Changes<'l> {
    /// Adds the changes for an item, and returns its outcome.
    pub(super) fn prepare(
        &mut self,
        sides: &Sides<'_>,
        record: &JournalRecord,
        name: &RepositoryName,
        next: NextStep<'l>,
    ) -> Result<HandoverEnd, TransferError> {
        let unmarked =
            |read: &ReadSidecar| sidecars::text(name, read, &sidecars::unmarked(&read.sidecar));
        let ending = |item: LockedItem<'l>, read: &ReadSidecar| {
            let text = record.leave_copy.then(|| unmarked(read));
            Ok::<_, TransferError>((item, text.transpose()?))
        };
        let without_mark = |received: OneSide<'l>| {
            let marked = received.filter(|(_, read)| read.sidecar.handover.is_some());
            let text =
                |(item, read): (_, ReadSidecar)| Ok::<_, TransferError>((item, unmarked(&read)?));
            marked.map(text).transpose()
        };
        let staying = || (name.clone(), InventoryChange::Entered(State::Original));
        match next {
            NextStep::Nothing(settled) => Ok(settled),
            NextStep::PassedOn { received } => {
                self.received.extend(without_mark(received)?);
                Ok(HandoverEnd::HandedOver)
            }
            NextStep::Stay => {
                self.staying.push(staying());
                Ok(HandoverEnd::Withdrawn)
            }
            NextStep::Vanish { received } => {
                self.received.extend(without_mark(received)?);
                self.staying.push(staying());
                Ok(HandoverEnd::Vanished)
            }
            NextStep::TakeBack { given: (item, read), received } => {
                self.received.extend(without_mark(received)?);
                let text = sidecars::text(name, &read, &sidecars::taken_back(&read.sidecar))?;
                self.taken_back.push((item, text));
                self.staying.push(staying());
                Ok(HandoverEnd::TakenBack)
            }
            NextStep::Withdraw { received: (item, read) } => {
                self.received.push((item, unmarked(&read)?));
                Ok(HandoverEnd::Withdrawn)
            }
            NextStep::Note { renamed: (item, read) } => {
                let both = (sides.from, sides.to);
                let renamed = sidecars::renamed(&read.sidecar, both, sides.clock.now());
                self.received.push((item, sidecars::text(name, &read, &renamed)?));
                Ok(HandoverEnd::HandedOver)
            }
            NextStep::Keep { given: (item, read), received } => {
                self.received.extend(without_mark(received)?);
                let text = unmarked(&read)?;
                self.given.push((item, Some(text)));
                Ok(HandoverEnd::HandedOver)
            }
            NextStep::End { given: (item, read), .. } => {
                self.given.push(ending(item, &read)?);
                Ok(HandoverEnd::HandedOver)
            }
            NextStep::Receive { received: (item, read), given } => {
                let original = sidecars::original(&read.sidecar, sides.to, sides.clock.now());
                let text = sidecars::text(name, &read, &original)?;
                let left = given.map(|(left, read)| ending(left, &read)).transpose()?;
                self.given.extend(left);
                self.received.push((item, text));
                Ok(HandoverEnd::HandedOver)
            }
        }
    }
}

/// Records the receiver's Originals: an interrupted run may not have done that.
pub(super) fn record_originals(
    sides: &Sides<'_>,
    names: Vec<RepositoryName>,
) -> Result<(), PathError> {
    let became = InventoryChange::Became(State::Original);
    sides.to.record(names.into_iter().map(|name| (name, became.clone())), sides.clock)
}

/// Ends the giver's copies: those with a text get it and stay, the others are removed.
pub(super) fn end_copies(
    sides: &Sides<'_>,
    given: Vec<(LockedItem<'_>, Option<NewText>)>,
) -> Result<(), TransferError> {
    let (mut texts, mut going, mut staying) = (Vec::new(), Vec::new(), Vec::new());
    for (item, text) in given {
        match text {
            Some(text) => {
                staying.push((item.name().clone(), InventoryChange::Became(State::Copy)));
                texts.push((item, text));
            }
            None => going.push(item),
        }
    }
    // They are Copies since the commit point, whatever their mark says.
    sides.from.record(staying.iter().cloned(), sides.clock)?;
    sides.giver.replace_sidecars(&texts)?;
    let departure = Departure::Migrated(sides.to.reference());
    retire(sides.from, sides.giver, &going, departure, sides.clock)
}
