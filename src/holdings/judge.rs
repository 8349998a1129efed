//! Which collection has the Original, and the standing of every Copy. This is the only judge of holdings in
//! several collections. Pure.

use std::fmt;

use super::HoldingRecord;
use crate::item::State;
use crate::sidecar::Handover;

/// The standing of one holding among the holdings of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// The Original, by the reader rule.
    Original,
    /// A Copy with the content and the description of the Original, and not older. The holding of a giver
    /// past the commit point counts as current, too, until the hand-over is finished.
    Current,
    /// A Copy that is older than the Original.
    Stale,
    /// A Copy with other content or another description than the Original, though it is not older.
    Different,
    /// A Copy of an Original that none of these collections holds.
    Orphan,
    /// A Copy without a single Original to compare it with: two collections say that they hold it, or
    /// only a clone of its own collection does.
    Disputed,
    /// A tombstone.
    Deleted,
    /// Its sidecar cannot be read.
    Unreadable,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Standing::Original => "original",
            Standing::Current => "current",
            Standing::Stale => "stale",
            Standing::Different => "different",
            Standing::Orphan => "orphan",
            Standing::Disputed => "disputed",
            Standing::Deleted => "deleted",
            Standing::Unreadable => "unreadable",
        })
    }
}

/// One holding, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'a> {
    /// The id of the collection.
    pub collection: &'a str,
    /// The record of its sidecar, if that can be read.
    pub record: Option<&'a HoldingRecord>,
}

/// The verdict on one holding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub standing: Standing,
    /// The holding it was compared with, and lost, by its place among those seen: the Original of a Copy
    /// that is stale or different, or of a tombstone, the first of two Originals, and of orphans of one date and content an
    /// earlier one with another description.
    pub against: Option<usize>,
}

/// The standing of each of the holdings of one item.
///
/// Collections with one id are clones of each other, and are not compared.
pub(super) fn judge(seen: &[Seen<'_>]) -> Vec<Verdict> {
    let originals: Vec<_> =
        seen.iter().enumerate().filter(|(_, it)| it.is_original(seen)).collect();
    let verdict_on = |(at, holding): (usize, &Seen<'_>)| {
        let is_elsewhere = |other: &Seen<'_>| other.collection != holding.collection;
        let (standing, against) = match holding.record {
            None => (Standing::Unreadable, None),
            Some(HoldingRecord { state: State::Deleted, .. }) => {
                let alive = originals.iter().find(|(_, it)| is_elsewhere(it));
                (Standing::Deleted, alive.map(|(original, _)| *original))
            }
            Some(_) if originals.iter().any(|(original, _)| *original == at) => {
                let mut before = originals.iter().take_while(|(original, _)| *original < at);
                (
                    Standing::Original,
                    before.find(|(_, it)| is_elsewhere(it)).map(|(first, _)| *first),
                )
            }
            Some(_) if seen.iter().any(|it| holding.has_handed_over_to(it)) => {
                (Standing::Current, None)
            }
            Some(copy) if originals.is_empty() => {
                let mut before = seen[..at].iter();
                let is_twin =
                    |it: &Seen<'_>| is_elsewhere(it) && it.differs_only_in_description(copy);
                (Standing::Orphan, before.position(is_twin))
            }
            Some(copy) => {
                let mut theirs = originals.iter().filter(|(_, it)| is_elsewhere(it));
                match theirs.next() {
                    Some((first, original))
                        if theirs.all(|(_, it)| it.collection == original.collection) =>
                    {
                        let standing = original.compare(copy);
                        (standing, Some(*first).filter(|_| standing != Standing::Current))
                    }
                    _ => (Standing::Disputed, None),
                }
            }
        };
        Verdict { standing, against }
    };
    seen.iter().enumerate().map(verdict_on).collect()
}

impl Seen<'_> {
    /// The reader rule: an Original is a sidecar with that state, or the Copy of a receiver whose token is in
    /// the sidecar of a giver that has only a Copy.
    fn is_original(&self, others: &[Seen<'_>]) -> bool {
        let Some(record) = self.record else { return false };
        match record.state {
            State::Original => true,
            State::Copy => others.iter().any(|giver| giver.has_handed_over_to(self)),
            State::Deleted => false,
        }
    }

    /// Whether this is the holding of a giver past the commit point, and `receiver` has the Original.
    fn has_handed_over_to(&self, receiver: &Seen<'_>) -> bool {
        let given = self.mark().and_then(|mark| mark.given_to(receiver.collection));
        given.is_some()
            && given == receiver.mark().and_then(|mark| mark.received_from(self.collection))
    }

    /// The mark of a hand-over on a Copy; marks of other states do not count.
    fn mark(&self) -> Option<&Handover> {
        self.record?.handover.as_ref().filter(|_| self.record.is_some_and(HoldingRecord::is_copy))
    }

    /// The standing of `copy` with this Original.
    fn compare(&self, copy: &HoldingRecord) -> Standing {
        let Some(original) = self.record else { return Standing::Orphan };
        if copy.timestamp < original.timestamp {
            Standing::Stale
        } else if (copy.content, copy.description) == (original.content, original.description) {
            Standing::Current
        } else {
            Standing::Different
        }
    }

    fn differs_only_in_description(&self, copy: &HoldingRecord) -> bool {
        self.record.is_some_and(|other| {
            other.is_copy()
                && (other.timestamp, other.content) == (copy.timestamp, copy.content)
                && other.description != copy.description
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::item::Totals;
    use crate::sidecar::{Party, Seal};

    const EARLY: &str = "2026-11-21T02:13:05Z";
    const LATE: &str = "2026-11-22T00:00:00Z";

    fn record(state: State, timestamp: &str, content: &[u8]) -> HoldingRecord {
        let digest = Digest::of(content);
        HoldingRecord {
            state,
            ibip: None,
            timestamp: timestamp.parse().unwrap(),
            payload: Totals { files: 1, bytes: 1, digest },
            content: digest,
            description: Digest::of(b"described"),
            made_of: None,
            handover: None,
            seal: Seal::Intact,
        }
    }

    fn original() -> HoldingRecord {
        record(State::Original, EARLY, b"a")
    }

    fn copy() -> HoldingRecord {
        record(State::Copy, EARLY, b"a")
    }

    fn handed(mut record: HoldingRecord, token: &str, party: Party) -> HoldingRecord {
        record.handover = Some(Handover { token: token.to_owned(), party });
        record
    }

    fn described(title: &str, record: HoldingRecord) -> HoldingRecord {
        HoldingRecord { description: Digest::of(title.as_bytes()), ..record }
    }

    /// The standings of records in collections `A`, `B`, `C`, as words.
    fn standings(records: &[Option<HoldingRecord>]) -> String {
        standings_in(["A", "B", "C"], records)
    }

    /// The same, in collections of these ids.
    fn standings_in(ids: [&str; 3], records: &[Option<HoldingRecord>]) -> String {
        let words = verdicts(ids, records).into_iter().map(|(standing, _)| standing.to_string());
        words.collect::<Vec<_>>().join(" ")
    }

    fn verdicts(
        ids: [&str; 3],
        records: &[Option<HoldingRecord>],
    ) -> Vec<(Standing, Option<usize>)> {
        let seen: Vec<_> = ids
            .into_iter()
            .zip(records)
            .map(|(collection, record)| Seen { collection, record: record.as_ref() })
            .collect();
        judge(&seen).into_iter().map(|it| (it.standing, it.against)).collect()
    }

    #[test]
    fn copies_are_compared_with_the_original() {
        let newer = record(State::Original, LATE, b"a");
        let changed = record(State::Original, LATE, b"b");
        for (records, expected) in [
            (vec![original(), copy()], "original current"),
            (vec![copy(), original()], "current original"),
            (vec![newer.clone(), copy()], "original stale"),
            (vec![changed, copy()], "original stale"),
            (vec![original(), record(State::Copy, EARLY, b"b")], "original different"),
            (vec![original(), record(State::Copy, LATE, b"a")], "original current"),
            (vec![original(), record(State::Copy, LATE, b"b")], "original different"),
            (vec![newer, copy(), record(State::Copy, LATE, b"a")], "original stale current"),
            (vec![copy(), copy()], "orphan orphan"),
            (vec![original(), original(), copy()], "original original disputed"),
            (vec![record(State::Deleted, LATE, b"a"), copy()], "deleted orphan"),
            (vec![original(), record(State::Deleted, LATE, b"a")], "original deleted"),
        ] {
            let records: Vec<_> = records.into_iter().map(Some).collect();
            assert_eq!(standings(&records), expected);
        }
        assert_eq!(standings(&[None, Some(copy())]), "unreadable orphan");
        assert_eq!(standings(&[]), "");
        let described = described("another title", copy());
        assert_eq!(standings(&[Some(original()), Some(described)]), "original different");
    }

    #[test]
    fn a_hand_over_counts_once_the_giver_says_so() {
        let from = |id: &str| Party::From(id.to_owned());
        let to = |id: &str| Party::To(id.to_owned());
        for (giver, receiver, expected) in [
            // Before the commit point the giver has the Original, after it the receiver.
            (original(), handed(copy(), "t", from("A")), "original current"),
            (handed(copy(), "t", to("B")), handed(copy(), "t", from("A")), "current original"),
            (handed(copy(), "t", to("B")), original(), "current original"),
            (handed(copy(), "t", to("B")), handed(original(), "t", from("A")), "current original"),
            // The holding of the giver is about to be removed, whatever it is.
            (
                handed(record(State::Copy, EARLY, b"old"), "t", to("B")),
                handed(record(State::Copy, LATE, b"a"), "t", from("A")),
                "current original",
            ),
            // Marks that do not match are not a hand-over.
            (handed(copy(), "t", to("B")), handed(copy(), "u", from("A")), "orphan orphan"),
            (handed(copy(), "t", to("C")), handed(copy(), "t", from("A")), "orphan orphan"),
            (handed(copy(), "t", to("B")), handed(copy(), "t", from("C")), "orphan orphan"),
            (handed(copy(), "t", to("B")), copy(), "orphan orphan"),
            (handed(copy(), "t", from("B")), handed(copy(), "t", from("A")), "orphan orphan"),
            (
                handed(record(State::Deleted, EARLY, b"a"), "t", to("B")),
                handed(copy(), "t", from("A")),
                "deleted orphan",
            ),
        ] {
            assert_eq!(standings(&[Some(giver), Some(receiver)]), expected);
        }
        assert_eq!(standings(&[None, Some(handed(copy(), "t", from("A")))]), "unreadable orphan");
        // For everyone else the receiver has it.
        let (giver, receiver) = (handed(copy(), "t", to("B")), handed(copy(), "t", from("A")));
        let of = |third| [Some(giver.clone()), Some(receiver.clone()), Some(third)];
        assert_eq!(standings(&of(copy())), "current original current");
        assert_eq!(standings(&of(record(State::Copy, EARLY, b"b"))), "current original different");
        let two = verdicts(["A", "B", "C"], &of(original()));
        assert_eq!(two[1..], [(Standing::Original, None), (Standing::Original, Some(1))]);
    }

    #[test]
    fn what_lost_says_to_what() {
        use Standing::{Different, Disputed, Original, Orphan, Stale};
        let newer = || record(State::Original, LATE, b"a");
        let of = |records: [HoldingRecord; 3]| verdicts(["A", "B", "C"], &records.map(Some));
        assert_eq!(
            of([original(), original(), newer()]),
            [(Original, None), (Original, Some(0)), (Original, Some(0))]
        );
        assert_eq!(
            of([copy(), newer(), record(State::Copy, LATE, b"b")]),
            [(Stale, Some(1)), (Original, None), (Different, Some(1))]
        );
        // With two Originals there is no telling which one it copies.
        assert_eq!(
            of([original(), record(State::Copy, EARLY, b"c"), original()]),
            [(Original, None), (Disputed, None), (Original, Some(0))]
        );
        // Nothing shows which of two descriptions is right.
        assert_eq!(
            of([copy(), described("another title", copy()), record(State::Copy, LATE, b"a")]),
            [(Orphan, None), (Orphan, Some(0)), (Orphan, None)]
        );
        let later = described("another title", newer());
        assert_eq!(of([copy(), later, copy()])[0], (Stale, Some(1)));
    }

    #[test]
    fn clones_are_not_compared_with_each_other() {
        let clones = |records: [Option<HoldingRecord>; 3]| standings_in(["A", "A", "B"], &records);
        let old = || Some(record(State::Copy, EARLY, b"old"));
        let newer = || Some(record(State::Original, LATE, b"a"));
        assert_eq!(clones([newer(), newer(), None]), "original original unreadable");
        assert_eq!(clones([newer(), old(), None]), "original disputed unreadable");
        // Each of them is compared with the others.
        assert_eq!(clones([newer(), newer(), old()]), "original original stale");
        let three = [newer(), newer(), newer()];
        let against = verdicts(["A", "A", "B"], &three).into_iter().map(|(_, against)| against);
        assert_eq!(against.collect::<Vec<_>>(), [None, None, Some(0)]);
    }
}
