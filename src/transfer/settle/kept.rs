//! Originals that did not reach the receiver of a hand-over: their outcome, by the records of the receiver.

use super::{
    HandoverEnd, NextStep, OneSide, Sides, TransferError, is_copy_of, is_received, sidecars,
};
use crate::collection::{
    Certainty, Collection, Departure, InventoryChange, InventoryLine, LockedItem, ReadSidecar,
    Recorded,
};
use crate::disk::PathError;
use crate::holdings::{Giver, OriginalError, UnseenRule, follow, holdings, refuse_second};
use crate::identity::{Instant, RepositoryName, SECOND};
use crate::item::State;
use crate::sidecar::{Handover, Party, Seal, Sidecar};
use crate::transfer::arrived::is_to;
use crate::transfer::journal::JournalRecord;

/// The outcome for an Original at the giver that should have been renamed. If the giver's inventory says that
/// it left, either the rename never happened, or it happened, the item was put back by hand, and it has left
/// the receiver since: only the receiver's records distinguish the two.
pub(super) fn not_moved<'l>(
    sides: &Sides<'_>,
    record: &JournalRecord,
    name: &RepositoryName,
    receiver: &OneSide<'_>,
) -> Result<NextStep<'l>, TransferError> {
    let Some(line) = sides.from.departure(name)? else {
        return Ok(NextStep::Nothing(HandoverEnd::Withdrawn));
    };
    let never_came = match sides.to.last_record(name)? {
        _ if receiver.is_some() => was_copied_since(sides, name, receiver, &line)?,
        None => true,
        Some(Recorded { line: last, certainty }) => {
            (matches!(last.change, InventoryChange::Left(_)) || last.state() == Some(State::Copy))
                && certainty == Certainty::Certain
                && record.is_older(&last, Some(line.date))
        }
    };
    if never_came && is_to(&line.change, sides.to.id()) {
        return Ok(NextStep::Stay);
    }
    let (name, path) = (name.clone(), sides.from.path().to_path_buf());
    Err(OriginalError::Departed { name, path, line: Box::new(line) }.into())
}

/// Whether the receiver's Copy was made from the giver after `line`, the departure of the Original. Any other
/// Copy may be of the Original that the receiver passed on.
fn was_copied_since(
    sides: &Sides<'_>,
    name: &RepositoryName,
    receiver: &OneSide<'_>,
    line: &InventoryLine,
) -> Result<bool, TransferError> {
    let Some((_, read)) = receiver else { return Ok(false) };
    let is_later = read.sidecar.copied().is_some_and(|copied| copied >= line.date);
    if !is_later || read.sidecar.handover.is_some() || !is_copy_of(receiver, sides.from.id()) {
        return Ok(false);
    }
    // If the Original was put back at the giver by hand, the receiver may have had it meanwhile.
    if sides.to.may_have_passed_on(name, sides.from.id())?
        || is_elsewhere(sides, name, Some(line.date))?
    {
        return Ok(false);
    }
    check_all_are_seen(sides, name)?;
    Ok(true)
}

/// The outcome for an Original that left the giver on the date `left`, if the receiver does not have it. Without a
/// date, the giver has lost its records.
///
/// Either the receiver has recorded its arrival or departure since. Or it was restored to its state during the
/// hand-over, and gets the Original again. Or it was restored to an older state without the item, or the item came
/// back to the giver, which was restored to an older state: then the item is nowhere, and the giver's inventory has
/// to record that, because nothing else shows it.
pub(super) fn not_arrived<'l>(
    sides: &Sides<'_>,
    record: &JournalRecord,
    name: &RepositoryName,
    left: Option<Instant>,
    receiver: OneSide<'l>,
) -> Result<NextStep<'l>, TransferError> {
    let mark = receiver.as_ref().and_then(|(_, read)| read.sidecar.handover.as_ref());
    if let Some(Handover { party: Party::To(_), .. }) = mark {
        // It was restored to an older state, in which it was handing the item over itself: that hand-over has
        // to end first.
        let path = sides.to.path().to_path_buf();
        let (name, giver) = (name.clone(), Giver::At(path.clone()).into());
        return Err(OriginalError::HandedOver { name, path, giver }.into());
    }
    let last = sides.to.last_record(name)?.map(|recorded| recorded.line);
    let is_older = last.as_ref().is_some_and(|last| record.is_older(last, left));
    let came = match &receiver {
        Some((_, read)) if read.sidecar.state != State::Copy => true,
        _ if is_older => false,
        // Only its items were restored: by its inventory it still has the Original.
        Some((_, read))
            if is_received(sides, record, &read.sidecar)
                && last.as_ref().is_some_and(|last| last.state() == Some(State::Original)) =>
        {
            false
        }
        Some(_) if is_copy_of(&receiver, sides.from.id()) => {
            sides.to.may_have_passed_on(name, sides.from.id())?
        }
        None if last.is_none() => false,
        _ => !came_back(sides, name)?,
    };
    if came || is_elsewhere(sides, name, left)? {
        return Ok(NextStep::PassedOn { received: receiver });
    }
    check_all_are_seen(sides, name)?;
    if left.is_none() && sides.others.unseen == UnseenRule::Refuse {
        let (name, path) = (name.clone(), sides.from.path().to_path_buf());
        return Err(OriginalError::Untraced { name, path }.into());
    }
    match receiver {
        // It was restored to its state during the hand-over.
        Some(received) if is_received(sides, record, &received.1.sidecar) => {
            Ok(NextStep::Receive { received, given: None })
        }
        receiver => Ok(NextStep::Vanish { received: receiver }),
    }
}

/// Whether the receiver's Original was put back by hand: by its inventory, the receiver has passed the item
/// on, deleted it or made it a Copy since the hand-over. That record must not be contradicted.
pub(super) fn is_put_back(
    sides: &Sides<'_>,
    record: &JournalRecord,
    name: &RepositoryName,
) -> Result<bool, PathError> {
    let Some(Recorded { line, .. }) = sides.to.last_record(name)? else { return Ok(false) };
    let is_less = match &line.change {
        InventoryChange::Left(departure) => *departure != Departure::Lost,
        InventoryChange::Became(state) => *state != State::Original,
        // It arrives as a Copy.
        InventoryChange::Entered(state) => *state == State::Deleted,
        InventoryChange::Found(_) => false,
    };
    let departure = sides.from.departure(name)?;
    let departure = departure.filter(|line| line.change != InventoryChange::Left(Departure::Lost));
    let departed = departure.map(|line| line.date);
    Ok(is_less && !record.is_older(&line, departed))
}

/// The outcome for an item that the giver has marked as handed over, if the receiver does not have the
/// Original.
///
/// Either the receiver has passed it on or deleted it since: then nothing proves that the bytes exist
/// elsewhere. Or the receiver was restored to an older state without the item: then the giver has the
/// Original. The same applies if the item came back to the giver, which has lost that record.
pub(super) fn not_received<'l>(
    sides: &Sides<'_>,
    record: &JournalRecord,
    given: (LockedItem<'l>, ReadSidecar),
    receiver: OneSide<'l>,
) -> Result<NextStep<'l>, TransferError> {
    let name = given.0.name();
    let last = sides.to.last_record(name)?;
    let is_older = last.as_ref().is_some_and(|last| {
        last.certainty == Certainty::Certain
            && record.is_older(&last.line, given.1.sidecar.copied())
    });
    let has_not = || Ok::<_, TransferError>(is_older || came_back(sides, name)?);
    if let Some((_, read)) = &receiver {
        // One from the same giver is of an earlier hand-over.
        let mark = read.sidecar.handover.as_ref();
        let is_marked = mark.is_some_and(|it| it.party != Party::From(sides.from.id().to_owned()));
        if is_marked || read.sidecar.state != State::Copy || !has_not()? {
            return Ok(NextStep::Keep { given, received: None });
        }
    }
    match last.map(|recorded| recorded.line.change) {
        None | Some(InventoryChange::Left(Departure::Lost)) => {}
        Some(InventoryChange::Left(_)) => {
            if !has_not()? {
                return Ok(NextStep::Keep { given, received: None });
            }
        }
        Some(_) if receiver.is_some() => {}
        Some(_) => {
            let (name, from) = (name.clone(), sides.from.path().to_path_buf());
            let to = sides.to.path().to_path_buf();
            return Err(TransferError::ReceivedVanished { name, from, to });
        }
    }
    if is_elsewhere(sides, name, given.1.sidecar.copied())? {
        return Ok(NextStep::Keep { given, received: None });
    }
    check_all_are_seen(sides, name)?;
    Ok(NextStep::TakeBack { given, received: receiver })
}

/// Whether a third collection has the Original of this hand-over, by its sidecar, or has deleted it, or the
/// inventory of the receiver says that it went there: both sides were restored to an older state.
///
/// Without either record nothing distinguishes them from two sides of a run that was killed, so every known
/// collection has to be checked. Until then, readers still find the Original at the receiver, by both marks.
pub(super) fn was_passed_on(
    sides: &Sides<'_>,
    record: &JournalRecord,
    (given, received): (&Sidecar, &Sidecar),
) -> Result<bool, TransferError> {
    let left = sides.to.departure(&given.repository)?;
    let left = left.filter(|line| !record.is_older(line, None)).map(|line| line.change);
    if let Some(InventoryChange::Left(Departure::Migrated(to) | Departure::Dropped(to))) = left
        && to.id != sides.from.id()
    {
        return Ok(true);
    }
    // A Copy that stayed may have been refreshed since.
    let begun = given.handover.as_ref().map_or(received.copied(), |_| given.copied());
    let is_elsewhere = sides.others.collections.iter().any(|other| {
        original_in(other, &given.repository).is_some_and(|original| {
            other.id() != sides.to.id()
                && sidecars::hand_overs(&original, (sides.from, sides.to))
                    .any(|date| date.is_some() && date >= begun)
        })
    });
    if !is_elsewhere {
        sides.others.check_seen(&given.repository)?;
    }
    Ok(is_elsewhere)
}

/// If the giver has an unmarked Original, makes sure that the receiver has not had it since: then the giver
/// was restored to an older state.
pub(super) fn refuse_passed_on(
    sides: &Sides<'_>,
    record: &JournalRecord,
    name: &RepositoryName,
) -> Result<(), TransferError> {
    // An item that was never more than a Copy there proves nothing.
    if !is_put_back(sides, record, name)? || sides.to.departures(name)?.is_none() {
        return Ok(());
    }
    let Some(Recorded { line, .. }) = sides.to.last_record(name)? else { return Ok(()) };
    let (name, line) = (name.clone(), Box::new(line));
    let (from, to) = (sides.from.path().to_path_buf(), sides.to.path().to_path_buf());
    Err(TransferError::PassedOn { name, from, to, line })
}

/// Whether the Original went on from the receiver, from collection to collection, and came back to the giver,
/// which was then restored to an older state.
fn came_back(sides: &Sides<'_>, name: &RepositoryName) -> Result<bool, PathError> {
    let others: Vec<_> = sides.others.collections.iter().chain([sides.to]).collect();
    let found = holdings(name, &others);
    let trail = follow(name, [sides.to.id().to_owned()], sides.from, &others, &found)?;
    let is_seen = |id: &String| others.iter().any(|other| other.id() == id);
    Ok(trail.ends.is_empty() && trail.holders.iter().all(is_seen))
}

/// Makes sure that no collection that may have the Original was skipped: the receiver itself, if another
/// collection with its id is in its place, or a known collection that cannot be opened.
fn check_all_are_seen(sides: &Sides<'_>, name: &RepositoryName) -> Result<(), OriginalError> {
    match sides.moved_from.filter(|_| sides.others.unseen == UnseenRule::Refuse) {
        Some(path) => {
            let collection = format!("the collection at `{}`", path.display());
            Err(OriginalError::Unseen { name: name.clone(), collection })
        }
        None => sides.others.check_seen(name),
    }
}

/// Whether a third collection has the Original, or has deleted it on the date `since` or later.
fn is_elsewhere(
    sides: &Sides<'_>,
    name: &RepositoryName,
    since: Option<Instant>,
) -> Result<bool, TransferError> {
    let since = since.map(|since| since.floor(SECOND));
    let is_third = |it: &&Collection| it.id() != sides.from.id() && it.id() != sides.to.id();
    let others: Vec<_> = sides.others.collections.iter().filter(is_third).collect();
    match refuse_second(name, &others, &holdings(name, &others)) {
        Ok(()) => Ok(others.iter().any(|other| {
            original_in(other, name).is_some_and(|original| {
                original.state == State::Deleted && Some(original.timestamp) >= since
            })
        })),
        Err(OriginalError::Elsewhere { .. }) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// The sidecar of the Original in `collection`, or of the tombstone that it became there.
fn original_in(collection: &Collection, name: &RepositoryName) -> Option<Sidecar> {
    let read = collection.item(name).and_then(|item| item.read_sidecar()).ok()?;
    let state = match &read.sidecar {
        Sidecar { state: State::Deleted, removal: Some(removal), .. } => removal.was,
        sidecar => sidecar.state,
    };
    (read.seal == Seal::Intact && state == State::Original).then_some(read.sidecar)
}
