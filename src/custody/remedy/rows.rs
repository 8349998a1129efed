//! The rows of the table, in its order.

use super::{
    Act, Command, Condition, Damage, Line, Place, Remedy, Row, View, Way, first_of_highest,
};
use crate::custody::{Discard, Has, Holding, MigrationEnd};

/// Decides by one group of rows.
pub(super) type Decide = for<'a> fn(&View<'a>, &'a Place, Condition) -> Option<Remedy<'a>>;

pub(super) const ROWS: [Decide; 10] = [
    ledger_put_back,
    ceded,
    above_line,
    others_first,
    fork,
    deletion,
    with_bytes,
    holder_away,
    loss,
    unknown,
];

fn run<'a>(row: Row, at: &'a str, act: Act<'a>) -> Option<Remedy<'a>> {
    Some(Remedy { row, way: Way::Run(Command { at, act }) })
}

fn others(row: Row) -> Option<Remedy<'static>> {
    Some(Remedy { row, way: Way::Others })
}

fn ledger_put_back<'a>(_: &View<'a>, place: &'a Place, condition: Condition) -> Option<Remedy<'a>> {
    let is_put_back = condition == Condition::LedgerPutBack;
    is_put_back.then(|| run(Row::LedgerPutBack, &place.at, Act::AcceptLedger))?
}

fn ceded<'a>(view: &View<'a>, place: &'a Place, condition: Condition) -> Option<Remedy<'a>> {
    let giver = place.here.as_ref().filter(|_| condition == Condition::Ceded)?;
    let here = &*place.at;
    view.end(giver, |end| match end {
        MigrationEnd::OutOfSight(away) if view.is_in_sight(&away) => others(Row::OthersFirst),
        MigrationEnd::OutOfSight(away) => {
            let named = |known: &&'a Holding| known.custody.holder() == away;
            let holder = || view.places.iter().flat_map(Place::speak).find(named);
            let receiver = giver.custody.ceded().map(|ceded| &*ceded.to).filter(|to| *to == away);
            let away = receiver.or_else(|| holder().map(|known| known.custody.holder()))?;
            let lost = Command { at: here, act: Act::Withdraw };
            Some(Remedy { row: Row::ReceiverAway, way: Way::Wait(away, Some(lost)) })
        }
        MigrationEnd::Arrived(line) => {
            let (receiver, top) = (view.place(&line.at)?, view.top.as_ref()?);
            match view.donor(receiver, top) {
                Some(_) => others(Row::ReceiverFirst),
                None => run(Row::ReceiverLost, here, Act::AcceptLoss),
            }
        }
        MigrationEnd::Lost(_) => run(Row::CameBackLost, here, Act::AcceptLoss),
        _ => run(Row::Interrupted, here, Act::Recover),
    })?
}

fn above_line<'a>(_: &View<'a>, place: &'a Place, condition: Condition) -> Option<Remedy<'a>> {
    let is_above = condition == Condition::AboveLine;
    is_above.then(|| run(Row::AboveLine, &place.at, Act::Recover))?
}

/// What speaks may be ceded, or stand in a ledger that has older lines than it wrote: that ends first.
fn others_first<'a>(view: &View<'a>, place: &'a Place, _: Condition) -> Option<Remedy<'a>> {
    let waits = |end: MigrationEnd<'_>| {
        matches!(
            end,
            MigrationEnd::OutOfSight(_) | MigrationEnd::Arrived(_) | MigrationEnd::Lost(_)
        )
    };
    let comes_first = |other: &Place| {
        let ends = other.here.as_ref().and_then(|giver| view.end(giver, |end| !waits(end)));
        other.is_put_back || ends.unwrap_or(false)
    };
    let others_first = view.places.iter().any(|other| other.at != place.at && comes_first(other));
    others_first.then(|| others(Row::OthersFirst))?
}

/// Two lines. The best of them goes on; what it gives up is named by the command.
fn fork<'a>(view: &View<'a>, place: &'a Place, condition: Condition) -> Option<Remedy<'a>> {
    let (top, best) = (view.top.as_ref()?, view.best()?);
    let is_apart = view.payloads().any(|other| !best.custody.covers(&other.custody));
    let graves = || view.places.iter().filter_map(Place::tombstone);
    if !is_apart && !graves().any(|grave| grave.is_apart_from(best)) {
        return None;
    }
    let mut ceded = view.payloads().filter_map(|payload| payload.custody.ceded()).peekable();
    if ceded.peek().is_some() {
        let is_receiver = ceded.any(|ceded| ceded.to == place.at);
        // The receiver may have to be repaired before the giver's migration can end.
        let comes_first = match condition {
            Condition::Missing | Condition::HolderWithout | Condition::Damaged(_) => true,
            Condition::Behind => {
                is_receiver && place.is_below_line() && view.donor(place, top).is_some()
            }
            _ => false,
        };
        return if comes_first || condition == Condition::Ceded {
            None
        } else {
            others(Row::ForkCeded)
        };
    }
    let holder = top.highest.custody.holder();
    if view.is_alive(top) || view.is_in_sight(holder) || top.is_deletion() {
        return run(Row::Fork, &best.at, Act::Promote(Discard::Accept, None));
    }
    let away = top.highest.custody.holder();
    let lost = Command { at: &best.at, act: Act::Promote(Discard::Accept, Some(away)) };
    Some(Remedy { row: Row::ForkAway, way: Way::Wait(away, Some(lost)) })
}

/// What speaks is a deletion.
fn deletion<'a>(view: &View<'a>, place: &'a Place, condition: Condition) -> Option<Remedy<'a>> {
    use Condition::{Behind, Current, GivenUp, Missing, Nothing};
    let top = view.top.as_ref().filter(|top| top.is_deletion())?;
    let (at, here) = (&*place.at, place.here.as_ref());
    let needs_no_bytes = |here: &Holding| {
        let is_stale = condition == Behind || here.has != Has::Tombstone || place.is_below_line();
        !here.has_payload() && is_stale
    };
    match condition {
        Nothing | Current | GivenUp => None,
        Missing | Condition::Damaged(Damage::Stranger | Damage::Payload) => {
            run(Row::Tombstone, at, Act::Repair)
        }
        _ if here.is_some_and(needs_no_bytes) => run(Row::Tombstone, at, Act::Repair),
        Condition::Damaged(Damage::Sidecar) => {
            let act = view.grave(place, top).map_or(Act::Repair, Act::RepairFrom);
            run(Row::PayloadOfDeleted, at, act)
        }
        Behind => {
            let is_its_line =
                place.live_line().is_some_and(|line| line.custody.id() == top.highest.custody.id());
            if top.highest.custody.holder() == at || is_its_line {
                return run(Row::DeletionUndone, at, Act::Delete);
            }
            match view.grave(place, top) {
                None => others(Row::DeleteFirst),
                Some(grave) if here.is_some_and(Holding::is_own) => {
                    run(Row::OriginalOfDeleted, at, Act::RecoverWith(grave))
                }
                Some(grave) => run(Row::CopyOfDeleted, at, Act::CopyFrom(grave)),
            }
        }
        _ => None,
    }
}

/// What speaks has bytes in sight.
fn with_bytes<'a>(view: &View<'a>, place: &'a Place, condition: Condition) -> Option<Remedy<'a>> {
    use Condition::{Behind, Fork, GivenUp, HolderWithout, Missing};
    let top = view.top.as_ref().filter(|top| !top.is_deletion())?;
    let donor = view.donor(place, top)?;
    let (at, is_holder) = (&*place.at, top.highest.custody.holder() == place.at);
    match condition {
        Missing | Condition::Damaged(Damage::Stranger)
            if !is_holder && matches!(place.line, Some(Line::Bare(_))) =>
        {
            run(Row::StubDamaged, at, Act::Repair)
        }
        Missing | HolderWithout | Condition::Damaged(_) => {
            run(Row::Damaged, at, Act::RepairFrom(donor))
        }
        GivenUp if is_holder => run(Row::FoundAgain, at, Act::RepairFrom(donor)),
        Behind | Fork if is_holder => run(Row::HolderBehind, at, Act::RepairFrom(donor)),
        Behind | Fork if place.payload().is_none() => run(Row::StubBehind, at, Act::Repair),
        Behind | Fork if place.here.as_ref().is_some_and(Holding::is_original) => {
            run(Row::OriginalBehind, at, Act::RecoverWith(donor))
        }
        Behind | Fork => run(Row::CopyBehind, at, Act::CopyFrom(donor)),
        _ => None,
    }
}

/// What speaks has no bytes in sight, and its holder is away.
fn holder_away<'a>(view: &View<'a>, place: &'a Place, condition: Condition) -> Option<Remedy<'a>> {
    use Condition::{Behind, Current, Damaged, Fork, GivenUp, Missing, Nothing};
    let top = view.top.as_ref().filter(|top| !top.is_deletion())?;
    let away = top.highest.custody.holder();
    if view.is_alive(top) || view.is_in_sight(away) {
        return None;
    }
    let is_stub =
        |here: &Holding| !here.has_payload() && (here.has != Has::Tombstone || top.covers(here));
    match condition {
        Nothing | GivenUp => return None,
        Current if place.payload().is_none() => return None,
        Missing | Damaged(Damage::Stranger) => return run(Row::StubAway, &place.at, Act::Repair),
        Behind | Fork if place.here.as_ref().is_some_and(is_stub) => {
            return run(Row::StubAway, &place.at, Act::Repair);
        }
        _ => {}
    }
    let best =
        first_of_highest(view.payloads().filter(|payload| payload.custody.ceded().is_none()));
    let lost = best.and_then(|best| {
        let is_given_up = |other: &&Holding| {
            (other.has_payload() || other.has == Has::Tombstone)
                && !best.custody.covers(&other.custody)
        };
        let mut given_up = view
            .places
            .iter()
            .filter_map(|other| other.here.as_ref())
            .filter(is_given_up)
            .peekable();
        let discard = if given_up.peek().is_some() { Discard::Accept } else { Discard::Refuse };
        let is_ceded = given_up.any(|other| other.custody.ceded().is_some());
        let act = Act::Promote(discard, Some(away));
        (!is_ceded).then_some(Command { at: &best.at, act })
    });
    // Sealed, it can be promoted.
    let resealed = best.is_none().then(|| view.only_payload(away)).flatten();
    let lost = lost.or_else(|| resealed.map(|at| Command { at, act: Act::Reseal }));
    Some(Remedy { row: Row::HolderAway, way: Way::Wait(away, lost) })
}

/// What speaks is nowhere, though its holder is in sight.
fn loss<'a>(view: &View<'a>, place: &'a Place, condition: Condition) -> Option<Remedy<'a>> {
    let top = view.top.as_ref().filter(|top| !top.is_deletion())?;
    let holder = view.place(top.highest.custody.holder()).filter(|_| !view.is_alive(top))?;
    if let Some(best) = view.best() {
        let is_apart = |other: &Holding| {
            other.custody.ceded().is_some() && !best.custody.covers(&other.custody)
        };
        if best.custody.ceded().is_some() || view.payloads().any(is_apart) {
            return others(Row::OthersFirst);
        }
        return run(Row::NewestLost, &best.at, Act::AcceptLoss);
    }
    if let Some(resealed) = view.only_payload(&holder.at) {
        return run(Row::OnlyPayload, resealed, Act::Reseal);
    }
    if view.condition(holder) != Condition::GivenUp {
        return run(Row::Lost, &holder.at, Act::AcceptLoss);
    }
    let is_left = matches!(
        condition,
        Condition::Missing
            | Condition::Damaged(Damage::Stranger | Damage::Payload)
            | Condition::Behind
            | Condition::Fork
    );
    is_left.then(|| run(Row::StubOfLost, &place.at, Act::Repair))?
}

/// Nothing speaks: all that knew the item is damaged or was given up.
fn unknown<'a>(view: &View<'a>, place: &'a Place, condition: Condition) -> Option<Remedy<'a>> {
    let is_left = matches!(condition, Condition::Missing | Condition::Damaged(_));
    (view.top.is_none() && is_left).then(|| run(Row::Unknown, &place.at, Act::AcceptLoss))?
}
