//! Originals that a hand-over did not take where it should have: what becomes of them, by what the receiver says.

use super::{HandoverEnd, NextStep, OneSide, Sides, TransferError, is_copy_of, sidecars};
use crate::collection::{
    Certainty, Collection, Departure, InventoryChange, InventoryLine, LockedItem, ReadSidecar,
    Recorded,
};
use crate::disk::PathError;
use crate::holdings::{Giver, OriginalError, follow, holdings, refuse_second};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::sidecar::{Handover, Party, Seal, Sidecar};
use crate::transfer::arrived::is_to;
use crate::transfer::journal::JournalRecord;

/// What becomes of an Original that was to be renamed and is at the giver. Where the giver's inventory says that
/// it left, either it never went, or it went, was put back by hand, and has left the receiver since: only what
/// the receiver says tells the two apart.
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

/// Whether what the receiver has was copied from the giver after `line`, by which the Original left. Any other Copy
/// may be of the Original that it passed on.
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
    // Where the Original was put back at the giver by hand, the receiver may have had it meanwhile.
    if sides.to.may_have_passed_on(name, sides.from.id())? || is_elsewhere(sides, name)? {
        return Ok(false);
    }
    check_all_are_seen(sides, name)?;
    Ok(true)
}

/// What becomes of an Original that left the giver by `line`, where the receiver does not have it.
///
/// The receiver has recorded since that it came or went. Or it has an older state back, as from a backup, in which the
/// item had not come, or it came back to the giver, which has an older state back: then it is nowhere, and the giver's
/// inventory is to say so, since nothing else would.
pub(super) fn not_arrived<'l>(
    sides: &Sides<'_>,
    record: &JournalRecord,
    line: &InventoryLine,
    receiver: OneSide<'l>,
) -> Result<NextStep<'l>, TransferError> {
    let name = &line.name;
    let mark = receiver.as_ref().and_then(|(_, read)| read.sidecar.handover.as_ref());
    if let Some(Handover { party: Party::To(_), .. }) = mark {
        // It has an older state back, in which it was handing the item over itself: that is to end first.
        let path = sides.to.path().to_path_buf();
        let (name, giver) = (name.clone(), Giver::At(path.clone()));
        return Err(OriginalError::HandedOver { name, path, giver }.into());
    }
    let last = sides.to.last_record(name)?.map(|recorded| recorded.line);
    let is_older = last.as_ref().is_some_and(|last| record.is_older(last, Some(line.date)));
    let came = match &receiver {
        Some((_, read)) if read.sidecar.state != State::Copy => true,
        _ if is_older => false,
        Some(_) if is_copy_of(&receiver, sides.from.id()) => {
            sides.to.may_have_passed_on(name, sides.from.id())?
        }
        None if last.is_none() => false,
        _ => !came_back(sides, name)?,
    };
    if came || is_elsewhere(sides, name)? {
        return Ok(NextStep::PassedOn);
    }
    check_all_are_seen(sides, name)?;
    Ok(NextStep::Vanish { received: receiver })
}

/// Whether the Original that the receiver has was put back there by hand: by its inventory, the receiver has passed the
/// item on or deleted it since the hand-over, or made it a Copy. That is not to be contradicted.
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
    let departed = sides.from.departure(name)?.map(|line| line.date);
    Ok(is_less && !record.is_older(&line, departed))
}

/// What becomes of an item that the giver has marked as handed over, where the receiver does not have the Original.
///
/// The receiver has passed it on or deleted it since: then nothing proves that the bytes exist elsewhere. Or it has
/// an older state back, as from a backup, in which the item had not come: then the Original is at the giver. The same
/// if it came back to the giver, which has lost that.
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
    if is_elsewhere(sides, name)? {
        return Ok(NextStep::Keep { given, received: None });
    }
    check_all_are_seen(sides, name)?;
    Ok(NextStep::TakeBack { given, received: receiver })
}

/// Whether a third collection has the Original that the receiver got by this hand-over: its sidecar tells of that.
pub(super) fn was_passed_on(sides: &Sides<'_>, given: &Sidecar) -> bool {
    sides.others.collections.iter().any(|other| {
        let read = other.item(&given.repository).and_then(|item| item.read_sidecar());
        read.is_ok_and(|read| {
            read.seal == Seal::Intact
                && read.sidecar.state == State::Original
                && other.id() != sides.to.id()
                && sidecars::hand_overs(&read.sidecar, (sides.from, sides.to))
                    .any(|date| date.is_some() && date >= given.copied())
        })
    })
}

/// Makes sure that the receiver did not have the Original since, where the giver has it unmarked: that has an older
/// state back, as from a backup.
pub(super) fn refuse_passed_on(
    sides: &Sides<'_>,
    record: &JournalRecord,
    name: &RepositoryName,
) -> Result<(), TransferError> {
    // One that was never more than a Copy there proves nothing.
    if !is_put_back(sides, record, name)? || sides.to.departures(name)?.is_none() {
        return Ok(());
    }
    let Some(Recorded { line, .. }) = sides.to.last_record(name)? else { return Ok(()) };
    let (name, line) = (name.clone(), Box::new(line));
    let (from, to) = (sides.from.path().to_path_buf(), sides.to.path().to_path_buf());
    Err(TransferError::PassedOn { name, from, to, line })
}

/// Whether the Original went on from the receiver, from collection to collection, and came back to the giver: that
/// has an older state of its own back.
fn came_back(sides: &Sides<'_>, name: &RepositoryName) -> Result<bool, PathError> {
    let others: Vec<_> = sides.others.collections.iter().chain([sides.to]).collect();
    let found = holdings(name, &others);
    let trail = follow(name, [sides.to.id().to_owned()], sides.from, &others, &found)?;
    let is_seen = |id: &String| others.iter().any(|other| other.id() == id);
    Ok(trail.ends.is_empty() && trail.holders.iter().all(is_seen))
}

/// Makes sure that no collection was passed over that may have the Original: the receiver itself, where another one
/// of its id is in its place, or a known collection that cannot be opened.
fn check_all_are_seen(sides: &Sides<'_>, name: &RepositoryName) -> Result<(), OriginalError> {
    let moved = sides.moved_from.map(|path| format!("the collection at `{}`", path.display()));
    let missing = || sides.others.missing.first().map(|it| format!("the collection `{it}`"));
    match moved.or_else(missing) {
        Some(collection) => Err(OriginalError::Unseen { name: name.clone(), collection }),
        None => Ok(()),
    }
}

/// Whether a third collection has the Original.
fn is_elsewhere(sides: &Sides<'_>, name: &RepositoryName) -> Result<bool, TransferError> {
    let is_third = |it: &&Collection| it.id() != sides.from.id() && it.id() != sides.to.id();
    let others: Vec<_> = sides.others.collections.iter().filter(is_third).collect();
    match refuse_second(name, &others, &holdings(name, &others)) {
        Ok(()) => Ok(false),
        Err(OriginalError::Elsewhere { .. }) => Ok(true),
        Err(error) => Err(error.into()),
    }
}
