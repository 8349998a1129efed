//! Settling a hand-over from the commit point on: completed or withdrawn, by the sidecars of both sides.

mod changes;
mod damaged;
mod kept;

use std::path::Path;

use changes::{Changes, end_copies, record_originals};
use damaged::mend_given;
use kept::{is_put_back, not_arrived, not_moved, not_received, refuse_passed_on, was_passed_on};

use super::arrived::is_to;
use super::journal::JournalRecord;
use super::reading::sealed;
use super::{Refusal, TransferError, sidecars};
use crate::clock::Clock;
use crate::collection::{
    Collection, ItemLocks, LockedItem, Lookup, ReadSidecar, Writer, items_at_a_time,
};
use crate::holdings::Peers;
use crate::identity::RepositoryName;
use crate::item::State;
use crate::layout;
use crate::sidecar::{Handover, Sidecar};

/// Both sides of a hand-over, with the right to write on each.
pub(super) struct Sides<'a> {
    pub from: &'a Collection,
    pub to: &'a Collection,
    pub giver: &'a Writer,
    pub receiver: &'a Writer,
    /// The locks on the items, on both sides.
    pub locks: &'a ItemLocks,
    /// Other collections, one of which may have the Original by now.
    pub others: Peers<'a>,
    /// The path of the receiver when the hand-over began, if it has changed: the collection at the present
    /// path may be a manual copy.
    pub moved_from: Option<&'a Path>,
    pub clock: &'a dyn Clock,
}

/// The outcome of the hand-over of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandoverEnd {
    /// The receiver has the Original.
    HandedOver,
    /// The giver still has it.
    Withdrawn,
    /// The giver has it again: the receiver has lost it.
    TakenBack,
    /// Neither has it: it left the giver, and the receiver has lost it.
    Vanished,
}

impl NextStep<'_> {
    /// The receiver's sidecar, if this step ends the giver's copy because the receiver has the bytes.
    fn relies_on(&self) -> Option<&ReadSidecar> {
        match self {
            NextStep::Receive { received: (_, read), given: Some(_) }
            | NextStep::End { received: (_, read), .. } => Some(read),
            _ => None,
        }
    }

    /// Whether the receiver has the Original afterwards.
    fn leaves_original(&self) -> bool {
        match self {
            NextStep::Receive { .. }
            | NextStep::Note { .. }
            | NextStep::End { .. }
            | NextStep::Nothing(HandoverEnd::HandedOver) => true,
            NextStep::Keep { .. }
            | NextStep::TakeBack { .. }
            | NextStep::Withdraw { .. }
            | NextStep::Stay
            | NextStep::Vanish { .. }
            | NextStep::PassedOn { .. }
            | NextStep::Nothing(_) => false,
        }
    }
}

/// The item on one side.
type OneSide<'l> = Option<(LockedItem<'l>, ReadSidecar)>;

/// The action that an item's sidecars require.
enum NextStep<'l> {
    /// The receiver's sidecar becomes Original, then the giver's copy ends, if it is still there.
    Receive { received: (LockedItem<'l>, ReadSidecar), given: OneSide<'l> },
    /// The receiver's Original, which was renamed, records the hand-over.
    Note { renamed: (LockedItem<'l>, ReadSidecar) },
    /// The giver's copy ends.
    End { received: (LockedItem<'l>, ReadSidecar), given: (LockedItem<'l>, ReadSidecar) },
    /// The giver's copy loses its mark and stays; the receiver's copy loses its mark, if any.
    Keep { given: (LockedItem<'l>, ReadSidecar), received: OneSide<'l> },
    /// The giver's copy becomes the Original again; the receiver's copy loses its mark, if any.
    TakeBack { given: (LockedItem<'l>, ReadSidecar), received: OneSide<'l> },
    /// The receiver's Copy loses its mark.
    Withdraw { received: (LockedItem<'l>, ReadSidecar) },
    /// The giver's inventory records that the item stays.
    Stay,
    /// The giver's inventory records that the item stays, although it is missing; the receiver's Copy loses its mark, if any.
    Vanish { received: OneSide<'l> },
    /// The receiver had the Original, and other records show where it went since; the receiver's copy loses its mark, if
    /// any.
    PassedOn { received: OneSide<'l> },
    /// No action.
    Nothing(HandoverEnd),
}

/// Fails unless the receiver's item, with this sidecar, is whole.
pub(super) type Prove<'p> =
    dyn FnMut(&RepositoryName, &ReadSidecar) -> Result<(), TransferError> + 'p;

/// The outcome for each item.
type Outcomes = Vec<(RepositoryName, Result<HandoverEnd, TransferError>)>;

/// Settles every item of `record`, with all locks held. `prove` is called before the giver's bytes are
/// removed; an item that it refuses stays unchanged.
///
/// May be interrupted anywhere and repeated.
pub(super) fn settle(sides: &Sides<'_>, record: &JournalRecord, prove: &mut Prove<'_>) -> Outcomes {
    // Renames of an interrupted run may not be synced. The steps below rely on them, so they are synced
    // first.
    let synced = record.sync_names(sides.from).and_then(|()| record.sync_names(sides.to));
    if let Err(error) = synced {
        let unsettled = record.items.iter().map(|name| (name.clone(), Ok(HandoverEnd::Withdrawn)));
        return fail(unsettled.collect(), error.into());
    }
    let groups = record.items.chunks(items_at_a_time());
    groups.flat_map(|names| settle_some(sides, record, names, prove)).collect()
}

fn settle_some(
    sides: &Sides<'_>,
    record: &JournalRecord,
    names: &[RepositoryName],
    prove: &mut Prove<'_>,
) -> Outcomes {
    let mut outcomes = Vec::new();
    let mut changes = Changes::default();
    for name in names {
        let plan = look(sides, record, name).and_then(|(at_giver, at_receiver)| {
            let next = next(sides, record, name, at_giver, at_receiver)?;
            if !record.leave_copy
                && let Some(read) = next.relies_on()
            {
                prove(name, read)?;
            }
            let is_original = matches!(next, NextStep::Receive { .. })
                || (next.leaves_original() && !is_put_back(sides, record, name)?);
            let end = changes.prepare(sides, record, name, next)?;
            changes.originals.extend(is_original.then(|| name.clone()));
            Ok(end)
        });
        outcomes.push((name.clone(), plan));
    }
    let Changes { received, given, taken_back, originals, staying } = changes;
    // Every receiver's sidecar is on the disk before any giver's copy ends.
    let ended = sides
        .receiver
        .replace_sidecars(&received)
        .and_then(|()| record_originals(sides, originals))
        .and_then(|()| sides.from.record_staying(&staying, sides.clock))
        .and_then(|()| sides.giver.replace_sidecars(&taken_back))
        .map_err(TransferError::from)
        .and_then(|()| end_copies(sides, given));
    match ended {
        Ok(()) => outcomes,
        Err(error) => fail(outcomes, error),
    }
}

fn fail(outcomes: Outcomes, error: TransferError) -> Outcomes {
    let mut error = Some(error);
    let failed = |(name, outcome): (RepositoryName, Result<HandoverEnd, TransferError>)| {
        let outcome = outcome.and_then(|_| Err(error.take().unwrap_or(TransferError::GroupFailed)));
        (name, outcome)
    };
    outcomes.into_iter().map(failed).collect()
}

fn look<'l>(
    sides: &Sides<'l>,
    record: &JournalRecord,
    name: &RepositoryName,
) -> Result<(OneSide<'l>, OneSide<'l>), TransferError> {
    let held = |collection: &'l Collection| -> Result<OneSide<'l>, TransferError> {
        let item = sides.locks.item(&Lookup::new(collection), name)?;
        let Some(item) = item else { return Ok(None) };
        let read = sealed(&item, item.read_sidecar(), collection.path())?;
        Ok(Some((item, read)))
    };
    let at_receiver = held(sides.to).map_err(|error| match error {
        // The giver's files can repair a damaged sidecar, too.
        TransferError::Damaged { name, detail, .. } => {
            let (from, to) = (sides.from.path().to_path_buf(), sides.to.path().to_path_buf());
            let summary = format!("`{}`: {detail}", layout::SIDECAR);
            TransferError::ReceivedDamaged { name, from, to, summary }
        }
        error => error,
    });
    let at_giver = match (held(sides.from), &at_receiver) {
        (Err(TransferError::Damaged { detail, .. }), Ok(Some(received)))
            if received.1.sidecar.state != State::Deleted =>
        {
            mend_given(sides, record, received, &detail)?;
            held(sides.from)
        }
        (at_giver, _) => at_giver,
    };
    Ok((at_giver?, at_receiver?))
}

/// The action required by both sidecars.
fn next<'l>(
    sides: &Sides<'_>,
    record: &JournalRecord,
    name: &RepositoryName,
    at_giver: OneSide<'l>,
    at_receiver: OneSide<'l>,
) -> Result<NextStep<'l>, TransferError> {
    let token = Some(record.token.as_str());
    let is_received = |sidecar: &Sidecar| is_received(sides, record, sidecar);
    let is_given = |sidecar: &Sidecar| match sidecar.mark() {
        Some(mark) => mark.given_to(sides.to.id()) == token,
        // The Copy that stays loses its mark before the record is removed.
        None => {
            record.leave_copy
                && !record.is_lost
                && sidecar.state == State::Copy
                && sidecar.made_of() == Some(sides.to.id())
        }
    };
    let is_original = |held: &OneSide<'_>| {
        held.as_ref().is_some_and(|(_, read)| read.sidecar.state == State::Original)
    };
    if at_giver.is_none() && !is_original(&at_receiver) && !record.is_lost {
        let last = sides.from.last_record(name)?.map(|recorded| recorded.line);
        let has_mark = |(_, read): &(_, ReadSidecar)| is_received(&read.sidecar);
        if last.as_ref().map_or(at_receiver.as_ref().is_some_and(has_mark), |line| {
            is_to(&line.change, sides.to.id())
        }) {
            return not_arrived(sides, record, name, last.map(|line| line.date), at_receiver);
        }
    }
    Ok(match (at_giver, at_receiver) {
        (Some(given), Some(received))
            if is_given(&given.1.sidecar) && is_received(&received.1.sidecar) =>
        {
            // The Original went on since then: both sides were restored from backups.
            if was_passed_on(sides, record, (&given.1.sidecar, &received.1.sidecar))? {
                NextStep::Keep { given, received: Some(received) }
            } else {
                NextStep::Receive { received, given: Some(given) }
            }
        }
        (Some(given), receiver) if is_given(&given.1.sidecar) => match receiver {
            Some(received) if received.1.sidecar.state == State::Original => {
                NextStep::End { received, given }
            }
            receiver => not_received(sides, record, given, receiver)?,
        },
        // Without the mark the giver never committed the hand-over: it still has the Original, or has deleted
        // it or handed it to another collection since.
        (_, Some(received)) if is_received(&received.1.sidecar) => NextStep::Withdraw { received },
        // The giver continued without the lost receiver.
        (giver, receiver)
            if record.is_lost && is_original(&receiver) && !is_copy_of(&giver, sides.to.id()) =>
        {
            let (name, path) = (name.clone(), sides.to.path().to_path_buf());
            return Err(TransferError::Returned { name, path });
        }
        (giver, receiver) if is_original(&giver) && is_original(&receiver) => {
            return Err(TransferError::Refused {
                name: name.clone(),
                refusal: Refusal::TwoOriginals,
                from: sides.from.path().join(layout::item_directory(name)),
                to: Some(sides.to.path().join(layout::item_directory(name))),
                giver: None,
            });
        }
        (_, Some(renamed))
            if record.renames
                && renamed.1.sidecar.state == State::Original
                && !sidecars::tells_handover(&renamed.1.sidecar, (sides.from, sides.to)) =>
        {
            NextStep::Note { renamed }
        }
        (_, receiver) if is_original(&receiver) => NextStep::Nothing(HandoverEnd::HandedOver),
        (giver, receiver) if record.renames && is_original(&giver) => {
            not_moved(sides, record, name, &receiver)?
        }
        (giver, _) => {
            if is_original(&giver) && !record.is_lost {
                refuse_passed_on(sides, record, name)?;
            }
            NextStep::Nothing(HandoverEnd::Withdrawn)
        }
    })
}

/// Whether the receiver's `sidecar` has the mark of this hand-over.
fn is_received(sides: &Sides<'_>, record: &JournalRecord, sidecar: &Sidecar) -> bool {
    let token = sidecar.mark().and_then(|mark| mark.received_from(sides.from.id()));
    token == Some(&*record.token)
}

/// Whether one side has a Copy of the Original in the collection with this id.
fn is_copy_of(side: &OneSide<'_>, collection: &str) -> bool {
    side.as_ref().is_some_and(|(_, read)| {
        read.sidecar.state == State::Copy && read.sidecar.made_of() == Some(collection)
    })
}

impl Sidecar {
    /// The mark of a hand-over on a Copy; marks of other states do not count.
    fn mark(&self) -> Option<&Handover> {
        self.handover.as_ref().filter(|_| self.state == State::Copy)
    }
}
