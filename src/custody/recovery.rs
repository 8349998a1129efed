//! How an interrupted migration ends, how a holding that is behind comes up, and which custody a payload without a
//! sidecar has.

use super::{Ceded, Has, Holding, Leaves, highest, speaking};

/// How an interrupted migration ends at its giver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MigrationEnd<'a> {
    /// The receiver has the item, or passed it on: the giver keeps what it leaves, with the custody of this holding.
    Finish(&'a Holding, Leaves),
    /// The item was deleted since: the giver becomes this tombstone.
    Bury(&'a Holding),
    /// The item came back since, with the same contents, and the giver was put back: it keeps its bytes as the Original,
    /// above this holding.
    KeepAbove(&'a Holding),
    /// The item came back since and was changed, and the giver was put back: it gets the contents and the custody of this
    /// holding.
    ComeUp(&'a Holding),
    /// The receiver never got it.
    Withdraw,
    /// By this line of the receiver the item arrived, but its directory there is missing, damaged, or below the line. It has to
    /// be repaired there, or a person accepts the loss of what was changed there.
    Arrived(&'a Holding),
    /// By this holding the item came back and was changed, and the giver was put back. Nothing in sight has the changes.
    Lost(&'a Holding),
    /// The receiver is not in sight, or not the collection that it passed the item on to, which may have the payload.
    OutOfSight(String),
}

/// Whose word a holding that is behind follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authority {
    /// The rule alone: an Original gives way to nobody.
    Rule,
    /// A person named the collections that are believed, and has seen the count.
    Person,
}

/// How a holding that is behind is brought into line. The place is that of the donor among the holdings in sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineUp {
    /// It is not behind, or nothing in sight has the contents.
    Nothing,
    /// An Original that was put back gets the contents of the donor, under the highest custody.
    Original(usize),
    /// It becomes a Copy with the contents and the custody of the donor.
    Copy(usize),
    /// It becomes the tombstone of the highest holding, which is here.
    Bury(usize),
}

/// Decides how the migration ends that `giver` began. `seen` are the holdings and lines in sight; `in_sight` says of a
/// collection whether it is, and whether its ledger is the one that it wrote last.
///
/// The line of the receiver counts as its holding does: without it, an item that arrived, was changed and vanished there looks
/// as if it had never arrived, and the change would be given up in silence.
pub fn interrupted<'a>(
    giver: &Holding,
    ceded: &Ceded,
    seen: &'a [Holding],
    in_sight: impl Fn(&str) -> bool,
) -> MigrationEnd<'a> {
    let at = |id: &str| seen.iter().find(|it| it.at == id && it.is_in_place());
    if let Some(end) = by_what_speaks(giver, seen, at) {
        return end;
    }
    // By its own ledger the item came back, with any collection in sight.
    let is_back = |it: &&Holding| it.at == giver.at && it.is_own() && it.rank() > giver.rank();
    let came_back_by = own_line(giver, ceded, seen).filter(is_back);
    if came_back_by.is_none() && !in_sight(&ceded.to) {
        return MigrationEnd::OutOfSight(ceded.to.clone());
    }
    let Some(arrived) = arrival(giver, ceded, seen) else { return MigrationEnd::Withdraw };
    if arrived.at == ceded.to && !arrived.is_in_place() && arrived.is_own() {
        return MigrationEnd::Arrived(arrived);
    }
    let holder = at(arrived.custody.holder());
    if arrived.custody.holder() == giver.at {
        came_back(giver, arrived, seen)
    } else if let Some(grave) = [Some(arrived), holder]
        .into_iter()
        .flatten()
        .find(|it| it.has == Has::Tombstone && it.covers(giver))
    {
        MigrationEnd::Bury(grave)
    } else if arrived.has_payload() || holder.is_some_and(|it| it.has_payload() && it.covers(giver))
    {
        MigrationEnd::Finish(arrived, ceded.leaves)
    } else if ceded.leaves == Leaves::Copy || in_sight(arrived.custody.holder()) {
        // Nothing in sight has the payload, so it stays.
        MigrationEnd::Finish(arrived, Leaves::Copy)
    } else {
        MigrationEnd::OutOfSight(arrived.custody.holder().to_owned())
    }
}

/// The holding or line that shows that what `giver` offered arrived, the highest of three: what lies in place at the receiver;
/// the receiver's line, where nothing as high lies below it; and the giver's own line, which knows more than its directory if
/// the item came back, or if the migration had ended, before a backup was put back.
fn arrival<'a>(giver: &Holding, ceded: &Ceded, seen: &'a [Holding]) -> Option<&'a Holding> {
    let has_arrived = |it: &&Holding| it.custody.epoch() >= ceded.epoch;
    let in_place = |it: &&Holding| it.is_in_place() && it.has != Has::Damaged;
    let there = seen.iter().find(|it| it.at == ceded.to && in_place(it));
    let in_line = seen
        .iter()
        .find(|it| it.at == ceded.to && !it.is_in_place())
        .filter(has_arrived)
        .filter(|line| there.is_none_or(|there| line.rank() > there.rank()))
        // A line lists no ids. Where its contents are in sight and do not cover the giver, it is a line of its own: a
        // promotion, or a Copy of one.
        .filter(|line| {
            let is_same = |it: &&Holding| in_place(it) && it.custody.id() == line.custody.id();
            let mut same = seen.iter().filter(is_same).peekable();
            same.peek().is_none() || same.any(|it| it.covers(giver))
        });
    let arrived = there.filter(has_arrived).filter(|it| it.covers(giver)).or(in_line);
    [arrived, own_line(giver, ceded, seen)]
        .into_iter()
        .flatten()
        .reduce(|a, b| if b.rank() > a.rank() { b } else { a })
}

/// The line of the giver itself, if that has at least the epoch offered.
fn own_line<'a>(giver: &Holding, ceded: &Ceded, seen: &'a [Holding]) -> Option<&'a Holding> {
    let line = seen.iter().find(|it| it.at == giver.at && !it.is_in_place());
    line.filter(|it| it.custody.epoch() >= ceded.epoch)
}

/// The end by what speaks, which counts before the receiver does: the item may have been passed on, or promoted elsewhere,
/// since. `None` unless that follows the giver, and its holder has it in place.
fn by_what_speaks<'a>(
    giver: &Holding,
    seen: &'a [Holding],
    at: impl Fn(&str) -> Option<&'a Holding>,
) -> Option<MigrationEnd<'a>> {
    let ceded = giver.custody.ceded()?;
    let top = speaking(seen)?;
    let custody = &top.highest.custody;
    let holder = at(custody.holder())
        .filter(|it| it.custody.id() == custody.id() && it.at != giver.at && top.covers(giver))?;
    match holder.has {
        Has::Tombstone => Some(MigrationEnd::Bury(holder)),
        // A Copy that stays has the custody that was offered. Where what speaks does not follow that, it would be a fork.
        Has::Payload if custody.id() == ceded.id || custody.follows().contains(&ceded.id) => {
            Some(MigrationEnd::Finish(holder, ceded.leaves))
        }
        Has::Payload => Some(MigrationEnd::Finish(holder, Leaves::Stub)),
        _ => None,
    }
}

/// The end of a migration whose item came back to the giver by `there`.
fn came_back<'a>(giver: &Holding, there: &'a Holding, seen: &'a [Holding]) -> MigrationEnd<'a> {
    // Along one line, every change of contents moves the date.
    if there.changed <= giver.changed {
        return MigrationEnd::KeepAbove(there);
    }
    let has_it = |it: &&Holding| it.at != giver.at && it.has_contents_of(there);
    let donor = highest(seen.iter().filter(has_it));
    donor.map_or(MigrationEnd::Lost(there), MigrationEnd::ComeUp)
}

impl Holding {
    /// Whether its payload is that of `other`, or follows it. A giver has the bytes of what it offers.
    pub fn has_contents_of(&self, other: &Holding) -> bool {
        let offers = self.custody.ceded().map(|ceded| ceded.id);
        self.has_payload() && (self.covers(other) || offers == Some(other.custody.id()))
    }
}

/// Decides how `own` is brought into line with the holdings and lines in sight.
pub fn line_up(own: &Holding, seen: &[Holding], authority: Authority) -> LineUp {
    let Some(speaking) = speaking(seen) else { return LineUp::Nothing };
    let top = speaking.highest;
    let is_behind = matches!(own.has, Has::Payload | Has::Stub)
        && top.custody.id() != own.custody.id()
        && top.rank() > own.rank()
        && speaking.covers(own);
    if !is_behind || !own.has_payload() {
        return LineUp::Nothing;
    }
    let gives_way = !own.is_own() || authority == Authority::Person;
    if top.is_deletion() {
        let here = seen
            .iter()
            .position(|it| it.has == Has::Tombstone && it.custody.id() == top.custody.id());
        return match here {
            Some(here)
                if own.custody.ceded().is_none()
                    && (authority == Authority::Person
                        || gives_way && top.custody.holder() != own.at) =>
            {
                LineUp::Bury(here)
            }
            _ => LineUp::Nothing,
        };
    }
    let covers_top = |it: &Holding| it.has_payload() && it.covers(top);
    let Some(donor) = highest(seen.iter().filter(|it| covers_top(it))) else {
        return LineUp::Nothing;
    };
    let Some(place) = seen.iter().position(|it| std::ptr::eq(it, donor)) else {
        return LineUp::Nothing;
    };
    if top.custody.holder() == own.at {
        LineUp::Original(place)
    } else if gives_way && donor.custody.holder() != own.at {
        LineUp::Copy(place)
    } else {
        LineUp::Nothing
    }
}

/// The holding or line whose custody a payload of the collection `at` has, whose sidecar is lost: the highest of `fitting`,
/// those whose sidecars list this very payload. It is never below the line of this collection, nor below the highest of all
/// in sight if that names this collection.
pub fn rebuild<'a>(at: &str, fitting: &[&'a Holding], seen: &[Holding]) -> Option<&'a Holding> {
    let donor = highest(fitting.iter().copied())?;
    let top = highest(seen)?;
    let is_below = |it: &Holding| donor.custody.id() != it.custody.id() && donor.rank() < it.rank();
    let is_below = top.custody.holder() == at && donor.custody.id() != top.custody.id()
        || seen.iter().any(|it| it.at == at && is_below(it));
    (!donor.is_deletion() && !top.is_deletion() && !is_below).then_some(donor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::custody::{Custody, CustodyId};
    use crate::identity::Instant;

    fn id(number: u64) -> CustodyId {
        CustodyId::from(number.to_be_bytes())
    }

    fn holding(at: &str, has: Has, custody: &Custody, changed: i64) -> Holding {
        let changed = Instant::from_seconds(changed);
        Holding { at: at.to_owned(), has, custody: custody.clone(), changed }
    }

    #[test]
    fn an_interrupted_migration_ends_by_what_the_receiver_has() {
        use Has::{Damaged, Line, Payload, Stub, Tombstone};
        let own = Custody::first(id(1), "A");
        let offered = own.passed_to("B", id(2));
        let changed = offered.amended(id(3));
        let at_c = changed.passed_to("C", id(4));
        let back = offered.passed_to("A", id(5));
        let changed_back = changed.passed_to("A", id(6));
        let gone = offered.passed_to("B", id(7));
        let stranger = Custody::first(id(9), "B").passed_to("B", id(10));
        let giver = holding("A", Payload, &own.ceded_to(&offered, Leaves::Copy), 1);
        let b = |has, custody: &Custody, changed| holding("B", has, custody, changed);
        let c = holding("C", Payload, &at_c, 2);
        let gone_at_c = holding("C", Tombstone, &at_c.passed_to("C", id(8)), 4);
        let promoted = Custody::first(id(9), "A").promoted("B", id(11), 5, &[]);
        let out_of_sight = |id: &str| MigrationEnd::OutOfSight(id.to_owned());
        let arrived = |line: &Holding| format!("{:?}", MigrationEnd::Arrived(line));
        let of = |there: &Holding, leaves| format!("{:?}", MigrationEnd::Finish(there, leaves));
        for (there, expected) in [
            (vec![], format!("{:?}", MigrationEnd::Withdraw)),
            (vec![b(Payload, &own, 1)], format!("{:?}", MigrationEnd::Withdraw)),
            (vec![b(Payload, &stranger, 1)], format!("{:?}", MigrationEnd::Withdraw)),
            (vec![b(Payload, &offered, 1)], of(&b(Payload, &offered, 1), Leaves::Copy)),
            (vec![b(Payload, &changed, 2)], of(&b(Payload, &changed, 2), Leaves::Copy)),
            (vec![b(Stub, &at_c, 2), c.clone()], of(&c, Leaves::Copy)),
            (vec![b(Stub, &at_c, 2)], of(&b(Stub, &at_c, 2), Leaves::Copy)),
            (
                vec![b(Stub, &at_c, 2), gone_at_c.clone()],
                format!("{:?}", MigrationEnd::Bury(&gone_at_c)),
            ),
            (
                vec![b(Tombstone, &gone, 4)],
                format!("{:?}", MigrationEnd::Bury(&b(Tombstone, &gone, 4))),
            ),
            (vec![b(Stub, &back, 1)], format!("{:?}", MigrationEnd::KeepAbove(&b(Stub, &back, 1)))),
            // It came back, was changed here, and nobody has the change.
            (
                vec![b(Stub, &changed_back, 2)],
                format!("{:?}", MigrationEnd::Lost(&b(Stub, &changed_back, 2))),
            ),
            (
                vec![b(Payload, &changed_back, 2)],
                format!("{:?}", MigrationEnd::ComeUp(&b(Payload, &changed_back, 2))),
            ),
            // The ledger of the receiver counts, whatever lies in its directory.
            (vec![b(Line, &offered, 1)], arrived(&b(Line, &offered, 1))),
            (vec![b(Line, &changed, 2)], arrived(&b(Line, &changed, 2))),
            (vec![b(Damaged, &offered, 1)], format!("{:?}", MigrationEnd::Withdraw)),
            (vec![b(Damaged, &offered, 1), b(Line, &changed, 2)], arrived(&b(Line, &changed, 2))),
            (vec![b(Payload, &own, 1), b(Line, &changed, 2)], arrived(&b(Line, &changed, 2))),
            (vec![b(Line, &at_c, 2), c.clone()], of(&c, Leaves::Copy)),
            (vec![b(Line, &own, 1)], format!("{:?}", MigrationEnd::Withdraw)),
            // Lines of their own, and no sign of an arrival: a promotion in between, there or elsewhere.
            (
                vec![b(Payload, &promoted, 2), b(Line, &promoted, 2)],
                format!("{:?}", MigrationEnd::Withdraw),
            ),
            (
                vec![
                    b(Payload, &own, 1),
                    b(Line, &promoted, 2),
                    holding("C", Payload, &promoted, 2),
                ],
                format!("{:?}", MigrationEnd::Withdraw),
            ),
        ] {
            let mut seen = there;
            seen.push(giver.clone());
            let ceded = giver.custody.ceded().unwrap();
            let found = interrupted(&giver, ceded, &seen, |_| true);
            assert_eq!(format!("{found:?}"), expected);
            // Nothing of B is in sight, nor anything that follows the giver.
            seen.retain(|it| it.at == "A");
            assert_eq!(interrupted(&giver, ceded, &seen, |id| id != "B"), out_of_sight("B"));
        }
        // A stub is left only where the payload is known to be elsewhere.
        let giver = holding("A", Payload, &own.ceded_to(&offered, Leaves::Stub), 1);
        let (there, ceded) = (b(Stub, &at_c, 2), giver.custody.ceded().unwrap());
        let seen = [there.clone(), giver.clone()];
        let lost = interrupted(&giver, ceded, &seen, |_| true);
        assert_eq!(lost, MigrationEnd::Finish(&there, Leaves::Copy));
        assert_eq!(interrupted(&giver, ceded, &seen, |id| id != "C"), out_of_sight("C"));
    }

    /// A holding that follows the giver counts, if its holder has it in place; the receiver need not be in sight.
    #[test]
    fn what_speaks_ends_a_migration_before_its_receiver_is_asked() {
        use Has::{Payload, Stub, Tombstone};
        let own = Custody::first(id(1), "A");
        let offered = own.passed_to("B", id(2));
        let giver = holding("A", Payload, &own.ceded_to(&offered, Leaves::Copy), 1);
        let ceded = giver.custody.ceded().unwrap();
        let promoted = holding("C", Payload, &own.promoted("C", id(3), 1, &[]), 1);
        let back = holding("B", Stub, &offered.passed_to("A", id(4)), 1);
        let seen = [giver.clone(), promoted.clone(), back];
        for in_sight in [true, false] {
            // Not the Copy that was to stay: what speaks does not follow it.
            let end = interrupted(&giver, ceded, &seen, |_| in_sight);
            assert_eq!(end, MigrationEnd::Finish(&promoted, Leaves::Stub));
        }
        let grave = holding("C", Tombstone, &promoted.custody.passed_to("C", id(5)), 2);
        let seen = [giver.clone(), grave.clone()];
        assert_eq!(interrupted(&giver, ceded, &seen, |id| id != "B"), MigrationEnd::Bury(&grave));
        let passed_on = holding("C", Payload, &offered.passed_to("C", id(6)), 1);
        let seen = [giver.clone(), passed_on.clone()];
        let end = interrupted(&giver, ceded, &seen, |id| id != "B");
        assert_eq!(end, MigrationEnd::Finish(&passed_on, Leaves::Copy));
    }

    #[test]
    fn an_original_gives_way_to_a_persons_word_only() {
        use Has::{Line, Payload, Tombstone};
        let one = Custody::first(id(1), "A");
        let two = one.amended(id(2));
        let at_b = one.passed_to("B", id(3));
        let gone = one.passed_to("B", id(4));
        let own = holding("A", Payload, &one, 1);
        let at = |at, has, custody: &Custody| holding(at, has, custody, 2);
        for (seen, rule, person) in [
            (vec![at("B", Payload, &at_b)], LineUp::Nothing, LineUp::Copy(0)),
            (vec![at("B", Tombstone, &gone)], LineUp::Nothing, LineUp::Bury(0)),
            // It was put back.
            (vec![at("C", Payload, &two)], LineUp::Original(0), LineUp::Original(0)),
            (vec![at("A", Line, &two)], LineUp::Nothing, LineUp::Nothing),
            (vec![at("C", Payload, &one.amended(id(9)))], LineUp::Original(0), LineUp::Original(0)),
            (vec![at("C", Payload, &Custody::first(id(8), "C"))], LineUp::Nothing, LineUp::Nothing),
        ] {
            assert_eq!(line_up(&own, &seen, Authority::Rule), rule, "{seen:?}");
            assert_eq!(line_up(&own, &seen, Authority::Person), person, "{seen:?}");
        }
        let copy = holding("C", Payload, &one, 1);
        let seen = [at("B", Payload, &at_b)];
        assert_eq!(line_up(&copy, &seen, Authority::Rule), LineUp::Copy(0));
        let seen = [at("B", Tombstone, &gone)];
        assert_eq!(line_up(&copy, &seen, Authority::Rule), LineUp::Bury(0));
    }

    #[test]
    fn a_lost_sidecar_is_never_rebuilt_below_the_line_of_its_collection() {
        let one = holding("B", Has::Payload, &Custody::first(id(1), "A"), 1);
        let two = one.custody.amended(id(2));
        let line = holding("A", Has::Line, &two, 2);
        let seen = [one.clone(), line.clone()];
        assert_eq!(rebuild("A", &[&one], &seen), None);
        assert_eq!(rebuild("A", &[&one, &line], &seen), Some(&line));
        assert_eq!(rebuild("C", &[&one], &seen), Some(&one));
        assert_eq!(rebuild("A", &[], &seen), None);
        let gone = holding("A", Has::LineOfDeletion, &two.passed_to("A", id(3)), 3);
        assert_eq!(rebuild("A", &[&one], &[one.clone(), gone]), None);
    }
}
