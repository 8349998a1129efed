//! The table of changes: copies, migrations, deletions, restorations and promotions of one item.

use super::{Custody, Has, Holding, Speaking, highest, speaking};
use crate::identity::Instant;

/// The change of an item between two collections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// The receiver gets a Copy, or a newer one.
    Copy,
    /// The receiver gets the Original, or the Copy.
    Migrate,
}

/// The step that a change takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The receiver has the same already, or nothing that a deletion concerns.
    Nothing,
    /// The receiver gets a Copy; a holding there that it covers is replaced.
    Copy,
    /// The Original is handed over.
    HandOver,
    /// The receiver gets the Copy, and a stub stays here.
    MoveCopy,
    /// The deletion replaces the Copy of the receiver.
    Bury,
}

/// What a deletion leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// A new tombstone, of the Original.
    Delete,
    /// A stub, of a Copy. The caller makes sure that its contents are elsewhere.
    Drop,
    /// The same tombstone again: the payload had come back from this deletion, of this date.
    Repeat(Instant),
}

/// Why a change is refused. `at` is the id of the collection whose holding stands against it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no payload here: a stub names `holder`.
    #[error("the item has moved to {holder}")]
    Elsewhere {
        /// The holder of the Original.
        holder: String,
    },
    /// A tombstone.
    #[error("the item is deleted")]
    Deleted,
    /// It has to be repaired first.
    #[error("the item is damaged in {at}")]
    Damaged {
        /// Where.
        at: String,
    },
    /// A migration of the Original is under way.
    #[error("a move from {at} is not finished")]
    Ceded {
        /// The giver.
        at: String,
    },
    /// Only an Original is changed.
    #[error("the item is a Copy; the Original belongs to {holder}")]
    Copy {
        /// The holder of the Original.
        holder: String,
    },
    /// A holding in sight, or the ledger here, covers this one.
    #[error("{at} knows a newer state of the item")]
    Newer {
        /// Where.
        at: String,
    },
    /// Neither of two holdings follows the other.
    #[error("the item was changed in {at}, too")]
    Fork {
        /// Where.
        at: String,
    },
    /// The receiver is the holder of the Original, and has an older state than this Copy, or none.
    #[error("the Original belongs to {at}, which is behind")]
    OriginalBehind {
        /// Where.
        at: String,
    },
    /// The receiver has a tombstone of the item.
    #[error("the item is deleted in {at}")]
    DeletedThere {
        /// Where.
        at: String,
    },
    /// The only payload that was seen is this one.
    #[error("{holder} was not seen to have the item")]
    HolderUnseen {
        /// The holder of the Original.
        holder: String,
    },
    /// A promotion would give up other lines whose payload is in sight.
    #[error("contents in {} would be given up", at.join(", "))]
    GivesUp {
        /// Where those lie.
        at: Vec<String>,
    },
}

impl Refusal {
    /// The same refusal with each collection as `name` writes it.
    pub(crate) fn with_names(mut self, name: impl Fn(&str) -> Option<String>) -> Refusal {
        let ids = match &mut self {
            Refusal::Deleted => [].as_mut_slice(),
            Refusal::Elsewhere { holder: id }
            | Refusal::Copy { holder: id }
            | Refusal::HolderUnseen { holder: id }
            | Refusal::Damaged { at: id }
            | Refusal::Ceded { at: id }
            | Refusal::Newer { at: id }
            | Refusal::Fork { at: id }
            | Refusal::OriginalBehind { at: id }
            | Refusal::DeletedThere { at: id } => std::slice::from_mut(id),
            Refusal::GivesUp { at } => at.as_mut_slice(),
        };
        for id in ids {
            *id = name(id).unwrap_or_else(|| std::mem::take(id));
        }
        self
    }
}

/// Makes sure that the collection with `own` may change the item: it is the Original, nothing is ceded, and no holding or
/// line in sight is newer.
pub(super) fn may_change(own: &Holding, seen: &[Holding]) -> Result<(), Refusal> {
    let holder = || own.custody.holder().to_owned();
    match own.has {
        Has::Payload => {}
        Has::Tombstone => return Err(Refusal::Deleted),
        Has::Damaged => return Err(Refusal::Damaged { at: own.at.clone() }),
        Has::Stub | Has::Line | Has::LineOfDeletion => {
            return Err(Refusal::Elsewhere { holder: holder() });
        }
    }
    if own.custody.ceded().is_some() {
        return Err(Refusal::Ceded { at: own.at.clone() });
    }
    if !own.is_own() {
        return Err(Refusal::Copy { holder: holder() });
    }
    // What was put into the directory by hand, and does not follow the ledger's line, is taken in by a person.
    let is_foreign = |line: &Holding| {
        line.at == own.at && !line.is_in_place() && line.rank() < own.rank() && !own.covers(line)
    };
    if let Some(line) = seen.iter().find(|it| is_foreign(it)) {
        return Err(Refusal::Fork { at: line.at.clone() });
    }
    stands(own, seen)
}

/// Makes sure that nothing in sight outranks `own` without being covered by it.
fn stands(own: &Holding, seen: &[Holding]) -> Result<(), Refusal> {
    match speaking(seen) {
        Some(top) if top.highest.rank() > own.rank() && !own.covers(top.highest) => {
            Err(top.against(own))
        }
        _ => Ok(()),
    }
}

impl Speaking<'_> {
    /// The refusal because this stands against `own`, which does not cover it.
    fn against(&self, own: &Holding) -> Refusal {
        let at = self.highest.at.clone();
        if self.covers(own) || !self.is_in_place() {
            Refusal::Newer { at }
        } else {
            Refusal::Fork { at }
        }
    }
}

/// The refusal because the holding `other` stands against `own`, which does not cover it.
fn against(other: &Holding, own: &Holding) -> Refusal {
    let at = other.at.clone();
    if other.covers(own) { Refusal::Newer { at } } else { Refusal::Fork { at } }
}

/// Decides about the holding `from` and the collection with the id `to`. `seen` are the holdings and lines of both, and of
/// any other collection in sight.
pub fn decide(verb: Verb, from: &Holding, to: &str, seen: &[Holding]) -> Result<Step, Refusal> {
    let there = seen.iter().find(|it| it.at == to && it.is_in_place());
    match (verb, from.has) {
        (_, Has::Payload) => {}
        (Verb::Copy, Has::Tombstone) => {
            return stands(from, seen).and_then(|()| travel(from, there));
        }
        (Verb::Migrate, Has::Tombstone) => return Err(Refusal::Deleted),
        (_, Has::Damaged) => return Err(Refusal::Damaged { at: from.at.clone() }),
        (_, Has::Stub | Has::Line | Has::LineOfDeletion) => {
            return Err(Refusal::Elsewhere { holder: from.custody.holder().to_owned() });
        }
    }
    for side in [Some(from), there].into_iter().flatten() {
        if side.custody.ceded().is_some() {
            return Err(Refusal::Ceded { at: side.at.clone() });
        }
        if side.has == Has::Damaged {
            return Err(Refusal::Damaged { at: side.at.clone() });
        }
    }
    let hands_over = verb == Verb::Migrate && from.is_own();
    if from.custody.holder() == to {
        match (there.is_some_and(|it| it.covers(from)), verb) {
            (false, _) => return Err(Refusal::OriginalBehind { at: to.to_owned() }),
            (true, Verb::Migrate) => return Err(Refusal::Copy { holder: to.to_owned() }),
            (true, Verb::Copy) => {}
        }
    }
    stands(from, seen)?;
    match there {
        Some(there) if there.is_deletion() => match from.covers(there) {
            true if verb == Verb::Copy => Ok(Step::Copy),
            true => Err(Refusal::DeletedThere { at: to.to_owned() }),
            false => Err(against(there, from)),
        },
        Some(there) if there.has_payload() => {
            let is_same = there.custody.id() == from.custody.id();
            if !from.covers(there) {
                return Err(against(there, from));
            }
            match verb {
                Verb::Migrate if hands_over => Ok(Step::HandOver),
                Verb::Migrate => Ok(Step::MoveCopy),
                Verb::Copy if is_same => Ok(Step::Nothing),
                Verb::Copy if there.is_own() => Err(Refusal::OriginalBehind { at: to.to_owned() }),
                Verb::Copy if there.rank() >= from.rank() => Err(against(there, from)),
                Verb::Copy => Ok(Step::Copy),
            }
        }
        _ => Ok(match verb {
            Verb::Copy => Step::Copy,
            Verb::Migrate if hands_over => Step::HandOver,
            Verb::Migrate => Step::MoveCopy,
        }),
    }
}

/// A deletion buries the Copies that it covers. An Original gives way to its own deletion only.
fn travel(gone: &Holding, there: Option<&Holding>) -> Result<Step, Refusal> {
    // A collection that never had the item learns that it is deleted, before a Copy comes from elsewhere.
    let Some(there) = there else { return Ok(Step::Bury) };
    let at = there.at.clone();
    match there.has {
        Has::Damaged => Err(Refusal::Damaged { at }),
        _ if there.custody.ceded().is_some() => Err(Refusal::Ceded { at }),
        Has::Payload if !gone.covers(there) => Err(against(there, gone)),
        Has::Payload if there.is_own() || gone.custody.holder() == there.at => {
            Err(Refusal::OriginalBehind { at })
        }
        Has::Payload if gone.rank() > there.rank() => Ok(Step::Bury),
        _ => Ok(Step::Nothing),
    }
}

/// Decides about the deletion of the holding `own`: an Original leaves a tombstone, a Copy a stub. The caller makes sure
/// that the contents of a Copy are elsewhere.
pub(super) fn delete(own: &Holding, seen: &[Holding]) -> Result<Deletion, Refusal> {
    if !own.has_payload() || own.is_own() || own.custody.ceded().is_some() {
        return may_change(own, seen).map(|()| Deletion::Delete);
    }
    match highest(seen) {
        // This is the place of the Original: without the Copy, nothing shows that the Original is lost.
        Some(top) if top.rank() > own.rank() && top.custody.holder() == own.at => {
            Err(Refusal::Newer { at: own.at.clone() })
        }
        _ => Ok(Deletion::Drop),
    }
}

/// The custody of the deletion that the payload of `own` has come back from, as by a backup: its own collection's, or one that
/// had travelled there. `None` if nothing in sight speaks for that. The tombstone is written again, with this custody.
pub(super) fn deleted_before(own: &Holding, seen: &[Holding]) -> Option<(Custody, Instant)> {
    let top =
        speaking(seen).filter(|top| own.has_payload() && top.is_deletion() && top.covers(own))?;
    let is_line = |it: &Holding| {
        it.at == own.at && !it.is_in_place() && it.custody.id() == top.highest.custody.id()
    };
    let is_own = top.highest.custody.holder() == own.at || seen.iter().any(is_line);
    let is_free = own.custody.ceded().is_none();
    (is_own && is_free).then(|| (top.custody().following(&own.custody), top.highest.changed))
}

/// Makes sure that the tombstone `own` may become the Original again: it is this collection's own deletion, and nothing in
/// sight is higher.
pub(super) fn restore(own: &Holding, seen: &[Holding]) -> Result<(), Refusal> {
    if own.has != Has::Tombstone || !own.is_own() {
        return Err(Refusal::DeletedThere { at: own.custody.holder().to_owned() });
    }
    match speaking(seen) {
        Some(top) if top.highest.custody.id() != own.custody.id() => Err(top.against(own)),
        _ => Ok(()),
    }
}

/// Decides whether the holding `own` becomes the Original, by a person's word that the collections `lost` are lost, or to
/// end a fork. `seen` are the holdings and lines of the others in sight, with its own line. Returns the custodies that the
/// new one takes over. Other lines are given up only if `discard` says so.
pub(super) fn promote<'a>(
    own: &Holding,
    seen: &'a [Holding],
    lost: &[&str],
    discard: Discard,
) -> Result<Vec<&'a Custody>, Refusal> {
    let (at, holder) = (own.at.clone(), own.custody.holder().to_owned());
    match own.has {
        Has::Payload if own.custody.ceded().is_some() => return Err(Refusal::Ceded { at }),
        Has::Payload => {}
        Has::Damaged => return Err(Refusal::Damaged { at }),
        Has::Tombstone | Has::LineOfDeletion => return Err(Refusal::Deleted),
        Has::Stub | Has::Line => return Err(Refusal::Elsewhere { holder }),
    }
    // A deletion that this line does not follow is given up as contents are.
    let is_side = |it: &Holding| it.has_payload() || it.has == Has::Tombstone && !own.covers(it);
    let is_rival = |it: &&Holding| is_side(it) && it.at != at && !lost.contains(&it.at.as_str());
    let rivals: Vec<_> = seen.iter().filter(is_rival).collect();
    let given_up: Vec<_> =
        rivals.iter().filter(|it| !own.covers(it)).map(|it| it.at.clone()).collect();
    let top = highest(seen.iter().filter(|it| !lost.contains(&it.at.as_str())));
    let named = top.map_or(own.custody.holder(), |top| top.custody.holder());
    if given_up.is_empty() && named != at && !lost.contains(&named) {
        let holder = named.to_owned();
        let is_seen = seen.iter().any(|it| it.has_payload() && it.at == named);
        return Err(if is_seen {
            Refusal::Copy { holder }
        } else {
            Refusal::HolderUnseen { holder }
        });
    }
    if given_up.is_empty()
        && let Some(top) = speaking(seen)
        && top.highest.rank() > own.rank()
        && !own.covers(top.highest)
        && !lost.contains(&top.highest.custody.holder())
    {
        let at = top.highest.at.clone();
        if top.is_deletion() {
            // The deletion itself is given up.
            if !top.is_in_place() && discard == Discard::Refuse {
                return Err(Refusal::GivesUp { at: vec![at] });
            }
        } else if !seen.iter().any(|it| it.has_contents_of(top.highest)) {
            // Contents that nobody has are lost, and not one of two lines: a person accepts the loss by its name.
            return Err(Refusal::Newer { at });
        }
    }
    if !given_up.is_empty() && discard == Discard::Refuse {
        return Err(Refusal::GivesUp { at: given_up });
    }
    Ok(rivals.into_iter().map(|it| &it.custody).collect())
}

/// Whether a promotion may give up contents of other lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discard {
    /// It is refused, and names them.
    #[default]
    Refuse,
    /// A person has seen what is given up.
    Accept,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::custody::{CustodyId, Leaves};
    use crate::identity::Instant;

    const ALL: [Has; 4] = [Has::Payload, Has::Stub, Has::Tombstone, Has::Damaged];

    fn id(number: u64) -> CustodyId {
        CustodyId::from(number.to_be_bytes())
    }

    fn holding(at: &str, has: Has, (custody, changed): &(Custody, i64)) -> Holding {
        let changed = Instant::from_seconds(*changed);
        Holding { at: at.to_owned(), has, custody: custody.clone(), changed }
    }

    /// Custodies of one item, with the dates of the contents: two states in A, handed to B, changed there, handed back, a
    /// fork in A, deleted in A, ceded to B.
    fn custodies() -> Vec<(Custody, i64)> {
        let one = Custody::first(id(1), "A");
        let two = one.amended(id(2));
        let at_b = two.passed_to("B", id(3));
        let changed = at_b.amended(id(4));
        let back = changed.passed_to("A", id(5));
        let fork = one.amended(id(9));
        let gone = two.passed_to("A", id(6));
        let ceded = two.ceded_to(&at_b, Leaves::Stub);
        [one, two, at_b, changed, back, fork, gone, ceded]
            .into_iter()
            .zip([1, 2, 2, 3, 3, 4, 5, 2])
            .collect()
    }

    /// Every holding of A with every one of B, or none.
    fn pairs() -> Vec<(Holding, Option<Holding>)> {
        let all = |at: &'static str| {
            let custodies = custodies();
            ALL.into_iter()
                .flat_map(move |has| {
                    let fits = |it: &&(Custody, i64)| has == Has::Payload || it.0.ceded().is_none();
                    custodies.iter().filter(fits).map(|it| holding(at, has, it)).collect::<Vec<_>>()
                })
                .collect::<Vec<_>>()
        };
        let theirs: Vec<_> = all("B").into_iter().map(Some).chain([None]).collect();
        let with = |own: Holding| theirs.iter().map(move |it| (own.clone(), it.clone()));
        all("A").into_iter().flat_map(with).collect()
    }

    #[test]
    fn no_step_replaces_what_it_does_not_cover_nor_an_original() {
        let mut steps = std::collections::BTreeMap::new();
        for (from, there) in pairs() {
            let seen: Vec<_> = [Some(from.clone()), there.clone()].into_iter().flatten().collect();
            for verb in [Verb::Copy, Verb::Migrate] {
                let result = decide(verb, &from, "B", &seen);
                *steps.entry(format!("{verb:?} {:?}", result.as_ref().ok())).or_insert(0) += 1;
                let Ok(step) = result else { continue };
                let context = format!("{step:?} of {from:?} onto {there:?}");
                let is_ceded = |it: &Holding| it.custody.ceded().is_some();
                assert!(
                    step == Step::Nothing || !is_ceded(&from) && !there.iter().any(is_ceded),
                    "{context}"
                );
                if step == Step::Nothing || there.is_none() {
                    continue;
                }
                let there = there.as_ref().unwrap();
                assert_ne!(there.has, Has::Damaged, "{context}");
                assert!(there.has == Has::Stub || from.covers(there), "{context}");
                assert!(step == Step::HandOver || !there.is_original(), "{context}");
                assert!(step != Step::HandOver || from.is_original(), "{context}");
                assert_eq!(step == Step::Bury, from.has == Has::Tombstone, "{context}");
            }
        }
        // A change of these numbers is a change of the rule.
        let steps: Vec<_> =
            steps.into_iter().map(|(step, count)| format!("{step}: {count}")).collect();
        let expected = [
            "Copy None: 742",
            "Copy Some(Bury): 13",
            "Copy Some(Copy): 47",
            "Copy Some(Nothing): 68",
            "Migrate None: 833",
            "Migrate Some(HandOver): 37",
        ];
        assert_eq!(steps, expected);
    }

    #[test]
    fn the_table_of_copies_and_migrations() {
        use Has::{Payload, Stub, Tombstone};
        let [one, two, at_b, changed, back, fork, gone, ceded] = &custodies()[..] else {
            unreachable!()
        };
        let a = |has, custody| holding("A", has, custody);
        let b = |has, custody| Some(holding("B", has, custody));
        let newer = |at: &str| Err(Refusal::Newer { at: at.to_owned() });
        let other = |at: &str| Err(Refusal::Fork { at: at.to_owned() });
        let original = Err(Refusal::Copy { holder: "B".to_owned() });
        let behind = |at: &str| Err(Refusal::OriginalBehind { at: at.to_owned() });
        for (from, there, copy, migrate) in [
            (a(Payload, two), None, Ok(Step::Copy), Ok(Step::HandOver)),
            (a(Payload, two), b(Stub, two), Ok(Step::Copy), Ok(Step::HandOver)),
            (a(Payload, two), b(Payload, two), Ok(Step::Nothing), Ok(Step::HandOver)),
            (a(Payload, two), b(Payload, one), Ok(Step::Copy), Ok(Step::HandOver)),
            (a(Payload, two), b(Payload, at_b), newer("B"), newer("B")),
            (a(Payload, two), b(Stub, at_b), newer("B"), newer("B")),
            (a(Payload, two), b(Payload, fork), other("B"), other("B")),
            (a(Payload, fork), b(Payload, two), other("B"), other("B")),
            (a(Payload, two), b(Tombstone, gone), newer("B"), newer("B")),
            (a(Payload, back), b(Payload, changed), behind("B"), Ok(Step::HandOver)),
            (a(Payload, back), b(Stub, changed), Ok(Step::Copy), Ok(Step::HandOver)),
            // A Copy in A of the Original in B.
            (a(Payload, at_b), b(Payload, at_b), Ok(Step::Nothing), original.clone()),
            (a(Payload, at_b), b(Payload, changed), newer("B"), original),
            (a(Payload, changed), b(Payload, at_b), behind("B"), behind("B")),
            (a(Payload, at_b), None, behind("B"), behind("B")),
            (a(Tombstone, gone), b(Payload, two), Ok(Step::Bury), Err(Refusal::Deleted)),
            (a(Tombstone, gone), b(Payload, at_b), other("B"), Err(Refusal::Deleted)),
            (a(Tombstone, gone), None, Ok(Step::Bury), Err(Refusal::Deleted)),
            (
                a(Payload, ceded),
                None,
                Err(Refusal::Ceded { at: "A".to_owned() }),
                Err(Refusal::Ceded { at: "A".to_owned() }),
            ),
            (
                a(Stub, at_b),
                None,
                Err(Refusal::Elsewhere { holder: "B".to_owned() }),
                Err(Refusal::Elsewhere { holder: "B".to_owned() }),
            ),
        ] {
            let seen: Vec<_> = [Some(from.clone()), there.clone()].into_iter().flatten().collect();
            assert_eq!(decide(Verb::Copy, &from, "B", &seen), copy, "{from:?} {there:?}");
            assert_eq!(decide(Verb::Migrate, &from, "B", &seen), migrate, "{from:?} {there:?}");
        }
        // A Copy goes on to a third collection.
        let copy = holding("C", Payload, two);
        assert_eq!(decide(Verb::Copy, &copy, "B", std::slice::from_ref(&copy)), Ok(Step::Copy));
        assert_eq!(
            decide(Verb::Migrate, &copy, "B", std::slice::from_ref(&copy)),
            Ok(Step::MoveCopy)
        );
    }

    #[test]
    fn only_an_original_that_nothing_outranks_is_changed() {
        let [one, two, at_b, _, _, _, gone, ceded] = &custodies()[..] else { unreachable!() };
        let own = holding("A", Has::Payload, one);
        assert_eq!(may_change(&own, std::slice::from_ref(&own)), Ok(()));
        let newer = Err(Refusal::Newer { at: "A".to_owned() });
        assert_eq!(may_change(&own, &[own.clone(), holding("A", Has::Line, two)]), newer);
        let ceded = holding("A", Has::Payload, ceded);
        assert_eq!(may_change(&ceded, &[]), Err(Refusal::Ceded { at: "A".to_owned() }));
        let copy = holding("B", Has::Payload, one);
        assert_eq!(may_change(&copy, &[]), Err(Refusal::Copy { holder: "A".to_owned() }));
        assert_eq!(delete(&own, std::slice::from_ref(&own)), Ok(Deletion::Delete));
        assert_eq!(delete(&copy, std::slice::from_ref(&own)), Ok(Deletion::Drop));
        let back = holding("A", Has::Line, at_b);
        let newer = Err(Refusal::Newer { at: "B".to_owned() });
        assert_eq!(delete(&copy, &[copy.clone(), back]), newer, "the Original was put back");
        let grave = holding("A", Has::Tombstone, gone);
        assert_eq!(delete(&grave, &[]), Err(Refusal::Deleted));
        assert_eq!(restore(&grave, &[grave.clone(), own.clone()]), Ok(()));
        let there = Err(Refusal::DeletedThere { at: "A".to_owned() });
        assert_eq!(restore(&holding("B", Has::Tombstone, gone), &[]), there);
        let below = holding("A", Has::Tombstone, &(two.0.passed_to("A", id(7)), 5));
        let passed = holding("B", Has::Payload, &(below.custody.passed_to("B", id(8)), 5));
        assert_eq!(restore(&below, &[passed]), Err(Refusal::Newer { at: "B".to_owned() }));
        assert_eq!(
            delete(&holding("A", Has::Stub, at_b), &[]),
            Err(Refusal::Elsewhere { holder: "B".to_owned() })
        );
    }

    #[test]
    fn a_promotion_takes_over_what_it_saw_and_gives_nothing_up_in_silence() {
        let [one, two, at_b, _, _, fork, ..] = &custodies()[..] else { unreachable!() };
        let at = |at, custody| holding(at, Has::Payload, custody);
        let copy = at("B", two);
        assert_eq!(
            promote(&copy, std::slice::from_ref(&copy), &["A"], Discard::Refuse),
            Ok(vec![])
        );
        let unseen = Refusal::HolderUnseen { holder: "A".to_owned() };
        assert_eq!(promote(&copy, std::slice::from_ref(&copy), &[], Discard::Refuse), Err(unseen));
        let original = Refusal::Copy { holder: "A".to_owned() };
        let seen = [copy.clone(), at("A", two)];
        assert_eq!(promote(&copy, &seen, &[], Discard::Refuse), Err(original));
        let seen = [copy.clone(), at("C", one)];
        assert_eq!(promote(&copy, &seen, &["A"], Discard::Refuse).unwrap(), [&one.0]);
        let seen = [copy.clone(), at("C", fork)];
        let gives_up = Err(Refusal::GivesUp { at: vec!["C".to_owned()] });
        assert_eq!(promote(&copy, &seen, &["A"], Discard::Refuse), gives_up);
        assert_eq!(promote(&copy, &seen, &["A"], Discard::Accept).unwrap(), [&fork.0]);
        // A newer line is in a stub, whose payload is lost: nothing is taken over from it.
        let seen = [copy.clone(), holding("C", Has::Stub, at_b)];
        assert_eq!(promote(&copy, &seen, &["A", "B"], Discard::Refuse), Ok(vec![]));
        // The newest state of the Original itself is lost.
        let (own, line) = (at("A", one), holding("A", Has::Line, two));
        let newer = Err(Refusal::Newer { at: "A".to_owned() });
        assert_eq!(promote(&own, &[own.clone(), line.clone()], &[], Discard::Refuse), newer);
        assert_eq!(promote(&own, &[own.clone(), line], &["A"], Discard::Refuse), Ok(vec![]));
    }
}
