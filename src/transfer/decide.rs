//! Deciding about one item: the table of states, as a function [design: state rules].

use super::{Refusal, Rules, Verb};
use crate::item::State;
use crate::sidecar::Sidecar;

/// The step for one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The destination already has the same item: nothing is done.
    Skip,
    /// The destination gets a Copy.
    Copy(Replaces),
    /// The Original is handed over.
    HandOver(Replaces),
    /// The Copy moves to the destination, which has none.
    MoveCopy,
    /// The destination has the same Copy: once that is proven, this one is removed.
    DropCopy,
    /// The destination deleted the Original, and it is restored there with the bytes of its Copy.
    Revive,
    /// The deletion of the Original is recorded at the destination; the payload of its Copy goes to the
    /// trash.
    Bury(Replaces),
}

impl Step {
    /// The item that the staged item replaces.
    pub(super) fn over(self) -> Replaces {
        match self {
            Step::Copy(over) | Step::HandOver(over) => over,
            Step::Revive => Replaces::Tombstone,
            Step::Skip | Step::MoveCopy | Step::DropCopy | Step::Bury(_) => Replaces::Nothing,
        }
    }
}

/// The item that the new item at the destination replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaces {
    /// Nothing.
    Nothing,
    /// A Copy, of the same content or older.
    Copy,
    /// A tombstone.
    Tombstone,
}

/// A sidecar, and the ids of its holders: first the present collection, then earlier givers that its sidecar
/// does not name.
pub(super) type HeldSidecar<'a> = (&'a Sidecar, &'a [&'a str]);

/// Decides about one item, by the sidecar of the source, the holding of the collection with the id
/// `destination`, and the options.
pub(super) fn decide(
    verb: Verb,
    rules: Rules,
    (from, source): HeldSidecar<'_>,
    (to, destination): (Option<&Sidecar>, &str),
) -> Result<Step, Refusal> {
    let state = from.state;
    if state == State::Deleted {
        return Err(Refusal::SourceDeleted);
    }
    // Without a mark of a hand-over on either side, the reader rule needs only the state.
    if from.handover.is_some() || to.is_some_and(|to| to.handover.is_some()) {
        return Err(Refusal::HandoverPending);
    }
    if verb == Verb::Migrate && state == State::Original && !from.transferable {
        return Err(Refusal::NotTransferable);
    }
    let over = match to {
        None => Replaces::Nothing,
        Some(to) => match (state, to.state) {
            (State::Original, State::Deleted) if rules.revive => Replaces::Tombstone,
            (_, State::Deleted) if rules.revive && verb == Verb::Copy => {
                return from_copy(from, (to, destination));
            }
            (_, State::Deleted) => return Err(Refusal::Tombstone),
            (State::Original, State::Original) => return Err(Refusal::TwoOriginals),
            (State::Original, _) => return over_copy(verb, rules, (from, source), to),
            (_, held) => return beside(verb, rules, held, from, to),
        },
    };
    Ok(match (verb, state) {
        (Verb::Copy | Verb::Refresh, _) => Step::Copy(over),
        (Verb::Migrate, State::Original) => Step::HandOver(over),
        (Verb::Migrate, _) if rules.leave_copy => Step::Copy(over),
        (Verb::Migrate, _) => Step::MoveCopy,
    })
}

/// A Copy meets the tombstone of its Original: in the collection that deleted it, the Original is restored
/// with the bytes of the Copy. Anywhere else it would be a Copy without an Original.
fn from_copy(copy: &Sidecar, (tombstone, holder): (&Sidecar, &str)) -> Result<Step, Refusal> {
    if tombstone.origin.contains_key("collection") {
        return Err(Refusal::DeletedElsewhere);
    }
    if !is_copy_of(copy, (tombstone, &[holder])) {
        return Err(Refusal::OtherOriginal);
    }
    if is_same_content(copy, tombstone) { Ok(Step::Revive) } else { Err(Refusal::OtherContent) }
}

/// Decides on the effect of `tombstone` at the source on the destination. Only a Copy of the deleted Original
/// is removed, and only if it is not newer than the deletion.
pub(super) fn decide_deleted(
    (tombstone, source): HeldSidecar<'_>,
    to: Option<&Sidecar>,
) -> Result<Option<Step>, Refusal> {
    let Some(to) = to else { return Ok(Some(Step::Bury(Replaces::Nothing))) };
    if to.handover.is_some() {
        return Err(Refusal::HandoverPending);
    }
    let has_travelled = tombstone.made_of().is_some();
    Ok(match to.state {
        State::Deleted => Some(Step::Skip),
        State::Copy if to.timestamp > tombstone.timestamp => None,
        State::Copy if has_travelled && tombstone.made_of() == to.made_of() => {
            Some(Step::Bury(Replaces::Copy))
        }
        State::Copy if !has_travelled && is_copy_of(to, (tombstone, source)) => {
            Some(Step::Bury(Replaces::Copy))
        }
        State::Copy | State::Original => None,
    })
}

/// The Original meets a Copy of itself.
fn over_copy(
    verb: Verb,
    rules: Rules,
    (from, source): HeldSidecar<'_>,
    to: &Sidecar,
) -> Result<Step, Refusal> {
    let behind = to.timestamp < from.timestamp;
    match (behind, is_same_content(from, to)) {
        (false, false) => return Err(Refusal::OtherContent),
        // An unproven Original must not replace a Copy of another one.
        (true, _) if !is_copy_of(to, (from, source)) => return Err(Refusal::OtherOriginal),
        _ => {}
    }
    // A hand-over does not change the date of an Original, but its Copies name the giver.
    let names_giver = to.made_of() != source.first().copied() && is_copy_of(to, (from, source));
    let is_current = !(behind || names_giver && to.timestamp == from.timestamp);
    match verb {
        Verb::Migrate => Ok(Step::HandOver(Replaces::Copy)),
        Verb::Copy if !behind && !rules.refresh => Ok(Step::Skip),
        Verb::Copy | Verb::Refresh if is_current => Ok(Step::Skip),
        Verb::Refresh => Ok(Step::Copy(Replaces::Copy)),
        Verb::Copy if rules.refresh => Ok(Step::Copy(Replaces::Copy)),
        Verb::Copy => Err(Refusal::Stale),
    }
}

/// A Copy meets the holding `held` of the destination. A Copy is refreshed from its Original only, so nothing
/// is done unless both are the same.
fn beside(
    verb: Verb,
    rules: Rules,
    held: State,
    from: &Sidecar,
    to: &Sidecar,
) -> Result<Step, Refusal> {
    let same = is_same_content(from, to);
    let behind = to.timestamp < from.timestamp;
    match (verb, held) {
        // An earlier run has handed it over and left this Copy.
        (Verb::Migrate, State::Original) if rules.leave_copy && !behind => Ok(Step::Skip),
        (Verb::Migrate, State::Original) => Err(Refusal::HoldsOriginal),
        (Verb::Migrate, _) if same && !behind && !rules.leave_copy => Ok(Step::DropCopy),
        (_, _) if same && !behind => Ok(Step::Skip),
        (_, State::Original) if !behind => Ok(Step::Skip),
        (_, State::Copy) if behind => Err(Refusal::OnlyFromOriginal),
        _ => Err(Refusal::OtherContent),
    }
}

/// Whether two sidecars agree about payload and description.
fn is_same_content(a: &Sidecar, b: &Sidecar) -> bool {
    a.payload == b.payload && a.files == b.files && a.has_description_of(b)
}

/// Whether `copy` was made of `original`, in its present collection or in one that has handed it over since.
fn is_copy_of(copy: &Sidecar, (original, holders): HeldSidecar<'_>) -> bool {
    let Some(made_of) = copy.made_of() else { return false };
    let mut givers = original.handovers().iter().filter_map(|it| it.get("from")?.as_str());
    holders.contains(&made_of) || givers.any(|giver| giver == made_of)
}
