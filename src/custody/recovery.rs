//! How an interrupted migration ends, how a holding that is behind comes up, and which custody a payload without a
//! sidecar has.

use super::{Ceded, Has, Holding, Leaves, highest};

/// How an interrupted migration ends at its giver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interrupted<'a> {
    /// The receiver has the item, or passed it on: the giver keeps what it leaves, with the custody of this holding.
    Finish(&'a Holding, Leaves),
    /// The item came back since, with the same contents, and the giver was put back: it keeps its bytes as the Original,
    /// above this holding.
    KeepAbove(&'a Holding),
    /// The item came back since and was changed, and the giver was put back: it gets the contents and the custody of this
    /// holding.
    ComeUp(&'a Holding),
    /// The receiver never got it.
    Withdraw,
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

/// Decides how the migration ends that `giver` began. `seen` are the holdings in sight; `in_sight` says of a collection
/// whether it is.
pub fn interrupted<'a>(
    giver: &Holding,
    ceded: &Ceded,
    seen: &'a [Holding],
    in_sight: impl Fn(&str) -> bool,
) -> Interrupted<'a> {
    if !in_sight(&ceded.to) {
        return Interrupted::OutOfSight(ceded.to.clone());
    }
    let at = |id: &str| seen.iter().find(|it| it.at == id && it.is_in_place());
    let there = match at(&ceded.to) {
        Some(there) if there.has == Has::Damaged => {
            return Interrupted::OutOfSight(ceded.to.clone());
        }
        Some(there) if there.custody.epoch() >= ceded.epoch && there.covers(giver) => there,
        _ => return Interrupted::Withdraw,
    };
    if there.custody.holder() == giver.at {
        // Along one line, every change of contents moves the date.
        return if there.changed <= giver.changed {
            Interrupted::KeepAbove(there)
        } else {
            let has_it = |it: &&Holding| it.has_payload() && it.at != giver.at && it.covers(there);
            let donor = highest(seen.iter().filter(has_it));
            donor.map_or_else(|| Interrupted::OutOfSight(giver.at.clone()), Interrupted::ComeUp)
        };
    }
    let holder = at(there.custody.holder());
    let is_grave = |it: &&Holding| it.has == Has::Tombstone && it.covers(giver);
    if let Some(grave) = [Some(there), holder].into_iter().flatten().find(is_grave) {
        Interrupted::Finish(grave, Leaves::Stub)
    } else if there.has_payload() || holder.is_some_and(|it| it.has_payload() && it.covers(giver)) {
        Interrupted::Finish(there, ceded.leaves)
    } else if ceded.leaves == Leaves::Copy || in_sight(there.custody.holder()) {
        // Nothing in sight has the payload, so it stays.
        Interrupted::Finish(there, Leaves::Copy)
    } else {
        Interrupted::OutOfSight(there.custody.holder().to_owned())
    }
}

/// Decides how `own` is brought into line with the holdings and lines in sight.
pub fn line_up(own: &Holding, seen: &[Holding], authority: Authority) -> LineUp {
    let Some(top) = highest(seen) else { return LineUp::Nothing };
    let is_behind = matches!(own.has, Has::Payload | Has::Stub)
        && top.custody.id() != own.custody.id()
        && top.rank() > own.rank()
        && top.covers(own);
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
    let covers_top = |it: &Holding| it.has_payload() && it.at != own.at && it.covers(top);
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
        use Has::{Damaged, Payload, Stub, Tombstone};
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
        let out_of_sight = |id: &str| Interrupted::OutOfSight(id.to_owned());
        let of = |there: &Holding, leaves| format!("{:?}", Interrupted::Finish(there, leaves));
        for (there, expected) in [
            (vec![], format!("{:?}", Interrupted::Withdraw)),
            (vec![b(Payload, &own, 1)], format!("{:?}", Interrupted::Withdraw)),
            (vec![b(Payload, &stranger, 1)], format!("{:?}", Interrupted::Withdraw)),
            (vec![b(Payload, &offered, 1)], of(&b(Payload, &offered, 1), Leaves::Copy)),
            (vec![b(Payload, &changed, 2)], of(&b(Payload, &changed, 2), Leaves::Copy)),
            (vec![b(Stub, &at_c, 2), c.clone()], of(&b(Stub, &at_c, 2), Leaves::Copy)),
            (vec![b(Stub, &at_c, 2)], of(&b(Stub, &at_c, 2), Leaves::Copy)),
            (vec![b(Stub, &at_c, 2), gone_at_c.clone()], of(&gone_at_c, Leaves::Stub)),
            (vec![b(Tombstone, &gone, 4)], of(&b(Tombstone, &gone, 4), Leaves::Stub)),
            (vec![b(Stub, &back, 1)], format!("{:?}", Interrupted::KeepAbove(&b(Stub, &back, 1)))),
            (vec![b(Stub, &changed_back, 2)], format!("{:?}", out_of_sight("A"))),
            (
                vec![b(Payload, &changed_back, 2)],
                format!("{:?}", Interrupted::ComeUp(&b(Payload, &changed_back, 2))),
            ),
            (vec![b(Damaged, &offered, 1)], format!("{:?}", out_of_sight("B"))),
        ] {
            let mut seen = there;
            seen.push(giver.clone());
            let ceded = giver.custody.ceded().unwrap();
            let found = interrupted(&giver, ceded, &seen, |_| true);
            assert_eq!(format!("{found:?}"), expected);
            let unseen = interrupted(&giver, ceded, &seen, |id| id != "B");
            assert_eq!(unseen, out_of_sight("B"));
        }
        // A stub is left only where the payload is known to be elsewhere.
        let giver = holding("A", Payload, &own.ceded_to(&offered, Leaves::Stub), 1);
        let (there, ceded) = (b(Stub, &at_c, 2), giver.custody.ceded().unwrap());
        let seen = [there.clone(), giver.clone()];
        let lost = interrupted(&giver, ceded, &seen, |_| true);
        assert_eq!(lost, Interrupted::Finish(&there, Leaves::Copy));
        assert_eq!(interrupted(&giver, ceded, &seen, |id| id != "C"), out_of_sight("C"));
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
