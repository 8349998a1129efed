//! The standing of each holding of an item among those in sight.

use std::fmt;

use super::{Custody, Has, Holding};

/// The standing of a holding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// The Original.
    Original,
    /// A Copy with the contents of the Original, or of the highest custody in sight.
    Current,
    /// The highest custody in sight covers it. An Original that is behind was put back from a backup, or the holder of
    /// a newer one is another collection.
    Behind,
    /// A line of its own, which the highest custody in sight does not cover.
    Fork,
    /// A Copy, not behind, of an Original that is not in sight.
    Orphan,
    /// A stub.
    Elsewhere,
    /// A tombstone.
    Deleted,
    /// Its sidecar or its payload is damaged, or it cannot be read.
    Damaged,
}

/// The verdict on the holdings of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The place of the Original among the holdings, if it is in sight. It may be behind, or a fork.
    pub original: Option<usize>,
    /// The place of the highest custody.
    pub highest: Option<usize>,
    /// The standing of each holding. That of a line of the ledger has no meaning.
    pub standings: Vec<Standing>,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Standing::Original => "original",
            Standing::Current => "current",
            Standing::Behind => "behind",
            Standing::Fork => "fork",
            Standing::Orphan => "orphan",
            Standing::Elsewhere => "elsewhere",
            Standing::Deleted => "deleted",
            Standing::Damaged => "damaged",
        })
    }
}

/// The highest holding of an item in sight, with all others of its id. They speak together: an id that one of them follows,
/// all follow. A line of the ledger lists no ids, and a stub of another collection may list those that the line's own
/// directory has lost.
#[derive(Clone, Debug)]
pub struct Speaking<'a> {
    /// The highest.
    pub highest: &'a Holding,
    /// All with its id, itself included.
    same: Vec<&'a Holding>,
}

impl Speaking<'_> {
    /// Whether the contents that speak are those of `other`, or follow them.
    pub fn covers(&self, other: &Holding) -> bool {
        self.same.iter().any(|it| it.covers(other))
    }

    /// Whether it lies in a directory in sight. A line alone is no side of a fork: what it names and nobody has is lost.
    pub fn is_in_place(&self) -> bool {
        self.same.iter().any(|it| it.is_in_place())
    }

    /// Whether the item is deleted. A giver may have kept a stub with the custody of the deletion.
    pub fn is_deletion(&self) -> bool {
        self.same.iter().any(|it| it.is_deletion())
    }

    /// The custody that speaks, with all that it follows.
    pub fn custody(&self) -> Custody {
        self.highest.custody_among(self.same.iter().copied())
    }
}

/// The holding that speaks of those in sight, lines of the ledgers included, with all of its id.
pub fn speaking<'a>(seen: impl IntoIterator<Item = &'a Holding> + Clone) -> Option<Speaking<'a>> {
    let highest = highest(seen.clone())?;
    let is_same = |it: &&Holding| it.has != Has::Damaged && it.custody.id() == highest.custody.id();
    Some(Speaking { highest, same: seen.into_iter().filter(is_same).collect() })
}

/// The highest of the holdings in sight, lines of the ledgers included. Of equal ones, a directory speaks.
pub fn highest<'a>(seen: impl IntoIterator<Item = &'a Holding>) -> Option<&'a Holding> {
    let speaking = seen.into_iter().filter(|it| it.has != Has::Damaged);
    speaking.max_by(|a, b| (a.rank(), a.is_in_place()).cmp(&(b.rank(), b.is_in_place())))
}

/// Judges the holdings of one item, lines of the ledgers included.
pub fn judge(seen: &[Holding]) -> Verdict {
    let top = speaking(seen);
    let place = |found: &Holding| seen.iter().position(|it| std::ptr::eq(it, found));
    let original = top.as_ref().and_then(|top| {
        let holder = top.highest.custody.holder();
        seen.iter().position(|it| it.has_payload() && it.at == holder)
    });
    let standing = |it: &Holding| match (it.has, &top) {
        (Has::Damaged, _) | (_, None) => Standing::Damaged,
        (Has::Stub, _) => Standing::Elsewhere,
        (Has::Tombstone | Has::Line | Has::LineOfDeletion, Some(top)) => {
            match (it.is_in_place(), top.covers(it), it.covers(top.highest)) {
                // Two deletions say the same.
                (true, false, false) if top.is_in_place() && !top.is_deletion() => Standing::Fork,
                (true, false, false) if top.is_deletion() => Standing::Deleted,
                (true, false, false) => Standing::Behind,
                // The deletion was undone.
                (true, true, false) if !top.highest.is_deletion() => Standing::Behind,
                _ => Standing::Deleted,
            }
        }
        (Has::Payload, Some(top)) if it.custody.id() == top.highest.custody.id() => {
            match original {
                Some(original) if it.at == seen[original].at => Standing::Original,
                Some(_) => Standing::Current,
                None => Standing::Orphan,
            }
        }
        (Has::Payload, Some(top)) if top.covers(it) || !top.is_in_place() => Standing::Behind,
        (Has::Payload, Some(_)) => Standing::Fork,
    };
    let standings = seen.iter().map(standing).collect();
    Verdict { original, highest: top.and_then(|top| place(top.highest)), standings }
}

impl Holding {
    /// Its custody, as it is written elsewhere, with what all of its id among `seen` follow.
    pub fn custody_among<'a>(&self, seen: impl IntoIterator<Item = &'a Holding>) -> Custody {
        let is_same =
            |it: &&Holding| it.has != Has::Damaged && it.custody.id() == self.custody.id();
        let same = seen.into_iter().filter(is_same);
        same.fold(self.custody.elsewhere(), |custody, it| custody.following(&it.custody))
    }

    /// Whether the holding `at_holder` of the collection that this one names as the holder is less than it must be:
    /// nothing, or only what this one covers. Then what this collection was told it could rely on is lost.
    pub fn lacks_its_holder(&self, at_holder: Option<&Holding>) -> bool {
        let relies = matches!(self.has, Has::Payload | Has::Stub) && !self.is_own();
        relies
            && at_holder.is_none_or(|other| {
                other.has != Has::Damaged
                    && other.custody.id() != self.custody.id()
                    && self.covers(other)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::custody::{CustodyId, Leaves};
    use crate::identity::Instant;

    fn id(number: u64) -> CustodyId {
        CustodyId::from(number.to_be_bytes())
    }

    fn holding(at: &str, has: Has, custody: &Custody, changed: i64) -> Holding {
        let changed = Instant::from_seconds(changed);
        Holding { at: at.to_owned(), has, custody: custody.clone(), changed }
    }

    /// A line has no ids that it follows: what another holding of its id follows counts, whichever is found first.
    #[test]
    fn what_has_one_id_speaks_together() {
        let one = Custody::first(id(1), "A");
        let two = one.amended(id(2));
        let own = holding("B", Has::Payload, &one, 1);
        let bare = holding("C", Has::Line, &two.bare(), 2);
        let own_line = holding("A", Has::Line, &two, 2);
        for seen in [[&own, &bare, &own_line], [&own_line, &bare, &own]] {
            let top = speaking(seen).unwrap();
            assert!(top.covers(&own) && top.custody().covers(&one), "{seen:?}");
            assert!(!top.is_in_place());
        }
        // A state that a line names and nobody has is a loss, and no fork.
        let seen = [own.clone(), bare];
        assert_eq!(judge(&seen).standings[0], Standing::Behind);
        let fork = [own, holding("A", Has::Payload, &two.bare(), 2)];
        assert_eq!(judge(&fork).standings[0], Standing::Fork);
    }

    /// The standings of holdings in collections `A`, `B`, `C` as words, and the collection with the Original.
    fn judged(seen: &[Holding]) -> (String, Option<&str>) {
        let verdict = judge(seen);
        let words = seen.iter().zip(&verdict.standings).filter(|(it, _)| it.is_in_place());
        let words: Vec<_> = words.map(|(_, standing)| standing.to_string()).collect();
        (words.join(" "), verdict.original.map(|at| seen[at].at.as_str()))
    }

    #[test]
    fn the_highest_custody_says_where_the_original_is() {
        use Has::{Damaged, Line, LineOfDeletion, Payload, Stub, Tombstone};
        let one = Custody::first(id(1), "A");
        let two = one.amended(id(2));
        let at_b = two.passed_to("B", id(3));
        let fork = one.amended(id(9));
        let gone = two.passed_to("A", id(4));
        let of = |at, has, custody, changed| holding(at, has, custody, changed);
        let cases = [
            (
                vec![of("A", Payload, &one, 1), of("B", Payload, &one, 1)],
                "original current",
                Some("A"),
            ),
            (
                vec![of("A", Payload, &two, 2), of("B", Payload, &one, 1)],
                "original behind",
                Some("A"),
            ),
            // By hand, an Original was copied into another root.
            (vec![of("B", Payload, &one, 1)], "orphan", None),
            (
                vec![of("A", Stub, &at_b, 2), of("B", Payload, &at_b, 2)],
                "elsewhere original",
                Some("B"),
            ),
            // The giver was put back.
            (
                vec![of("A", Payload, &two, 2), of("B", Payload, &at_b, 2)],
                "behind original",
                Some("B"),
            ),
            (vec![of("A", Payload, &two, 2), of("A", Line, &at_b, 2)], "behind", None),
            // The holder was put back: it stays the Original, behind.
            (
                vec![of("A", Payload, &one, 1), of("C", Payload, &two, 2)],
                "behind current",
                Some("A"),
            ),
            (vec![of("A", Payload, &one, 1), of("A", Line, &two, 2)], "behind", Some("A")),
            // The receiver was put back.
            (
                vec![of("A", Stub, &at_b, 2), of("B", Payload, &two, 2)],
                "elsewhere behind",
                Some("B"),
            ),
            (vec![of("A", Stub, &at_b, 2), of("C", Payload, &at_b, 2)], "elsewhere orphan", None),
            (
                vec![of("A", Payload, &two, 2), of("B", Payload, &fork, 3)],
                "fork current",
                Some("A"),
            ),
            (
                vec![of("A", Payload, &two, 2), of("B", Payload, &fork, 1)],
                "original fork",
                Some("A"),
            ),
            (vec![of("A", Tombstone, &gone, 3), of("B", Payload, &two, 2)], "deleted behind", None),
            (
                vec![of("A", Payload, &two, 2), of("A", LineOfDeletion, &gone, 3)],
                "behind",
                Some("A"),
            ),
            (vec![of("A", Damaged, &two, 2), of("B", Payload, &one, 1)], "damaged orphan", None),
            (
                vec![of("A", Payload, &one, 1), of("B", Damaged, &at_b, 2)],
                "original damaged",
                Some("A"),
            ),
            (vec![of("A", Damaged, &two, 2)], "damaged", None),
            (vec![], "", None),
        ];
        for (seen, standings, original) in cases {
            assert_eq!(judged(&seen), (standings.to_owned(), original), "{seen:#?}");
            let mut turned: Vec<_> = seen.iter().rev().cloned().collect();
            assert_eq!(judged(&turned).1, original, "in another order");
            turned.extend(seen);
            assert_eq!(judged(&turned).1, original, "twice");
        }
    }

    #[test]
    fn at_every_instant_of_a_migration_one_is_the_original() {
        let own = Custody::first(id(1), "A");
        let offered = own.passed_to("B", id(2));
        let a = |has, custody: &Custody| holding("A", has, custody, 1);
        let b = |custody: &Custody| holding("B", Has::Payload, custody, 1);
        let fenced = own.ceded_to(&offered, Leaves::Stub);
        for (seen, original) in [
            (vec![a(Has::Payload, &own)], "A"),
            (vec![a(Has::Payload, &fenced)], "A"),
            (vec![a(Has::Payload, &fenced), b(&offered)], "B"),
            (vec![a(Has::Stub, &offered), b(&offered)], "B"),
            // With a Copy at the receiver before.
            (vec![a(Has::Payload, &fenced), b(&own)], "A"),
        ] {
            assert_eq!(judged(&seen).1, Some(original));
            let say_so = seen.iter().filter(|it| it.is_original()).count();
            assert!(say_so <= 1, "never two that say Original");
        }
    }

    #[test]
    fn a_copy_or_stub_shows_what_its_holder_lost() {
        let one = Custody::first(id(1), "A");
        let two = one.amended(id(2));
        let copy = holding("B", Has::Payload, &two, 2);
        let stub = holding("B", Has::Stub, &two, 2);
        let at_a = |has, custody: &Custody| holding("A", has, custody, 1);
        for it in [&copy, &stub] {
            assert!(it.lacks_its_holder(None));
            assert!(it.lacks_its_holder(Some(&at_a(Has::Payload, &one))));
            assert!(!it.lacks_its_holder(Some(&at_a(Has::Payload, &two))));
            assert!(!it.lacks_its_holder(Some(&at_a(Has::Payload, &two.amended(id(3))))));
            assert!(!it.lacks_its_holder(Some(&at_a(Has::Tombstone, &two.passed_to("A", id(4))))));
            assert!(!it.lacks_its_holder(Some(&at_a(Has::Payload, &one.amended(id(9))))), "a fork");
        }
        assert!(!at_a(Has::Payload, &one).lacks_its_holder(None), "the Original relies on none");
        let gone = holding("B", Has::Tombstone, &two, 2);
        assert!(!gone.lacks_its_holder(None));
    }
}
