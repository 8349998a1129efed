//! Where the Original is, and how the Copies stand to it. Pure.

use std::fmt;

use super::Record;
use crate::item::State;
use crate::sidecar::Party;

/// How what one collection holds of an item stands to what the others hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// The Original, by the reader rule.
    Original,
    /// A Copy with the content and the description of the Original, and not behind it.
    Current,
    /// A Copy that the Original has left behind.
    Stale,
    /// A Copy with other content or another description than the Original, though it is not behind it.
    Different,
    /// A Copy of an Original that none of these collections holds.
    Orphan,
    /// A Copy, while two collections say that they hold the Original.
    Disputed,
    /// A tombstone.
    Deleted,
    /// Its sidecar can not be read.
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

/// What is known of one holding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'a> {
    /// The id of the collection.
    pub collection: &'a str,
    /// What its sidecar says, if it can be read.
    pub record: Option<&'a Record>,
}

/// How each of the holdings of one item stands to the others.
pub(super) fn judge(seen: &[Seen<'_>]) -> Vec<Standing> {
    let mut originals = seen.iter().filter(|holding| holding.is_original(seen));
    let (original, second) = (originals.next(), originals.next());
    let original = original.and_then(|holding| holding.record);
    seen.iter()
        .map(|holding| match holding.record {
            None => Standing::Unreadable,
            Some(Record { state: State::Deleted, .. }) => Standing::Deleted,
            Some(_) if holding.is_original(seen) => Standing::Original,
            Some(_) if second.is_some() => Standing::Disputed,
            Some(copy) => original.map_or(Standing::Orphan, |original| compare(copy, original)),
        })
        .collect()
}

impl Seen<'_> {
    /// The reader rule: an Original is a sidecar that says so, or a Copy that was handed the Original,
    /// if the one who gave it has the same token and says Copy by now.
    fn is_original(&self, others: &[Seen<'_>]) -> bool {
        let Some(record) = self.record else { return false };
        match (record.state, &record.handover) {
            (State::Original, _) => true,
            (State::Copy, Some(handover)) => {
                let Party::From(giver) = &handover.party else { return false };
                let gave = |other: &Seen<'_>| {
                    other.collection == giver
                        && other.record.is_some_and(|giver| {
                            giver.state == State::Copy
                                && giver.handover.as_ref().is_some_and(|given| {
                                    given.token == handover.token
                                        && given.party == Party::To(self.collection.to_owned())
                                })
                        })
                };
                others.iter().any(gave)
            }
            (State::Copy | State::Deleted, _) => false,
        }
    }
}

fn compare(copy: &Record, original: &Record) -> Standing {
    if copy.timestamp < original.timestamp {
        Standing::Stale
    } else if (copy.content, copy.description) == (original.content, original.description) {
        Standing::Current
    } else {
        Standing::Different
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::item::Totals;
    use crate::sidecar::{Handover, Seal};

    const EARLY: &str = "2026-11-21T02:13:05Z";
    const LATE: &str = "2026-11-22T00:00:00Z";

    fn record(state: State, timestamp: &str, content: &[u8]) -> Record {
        let digest = Digest::of(content);
        Record {
            state,
            ibip: None,
            timestamp: timestamp.parse().unwrap(),
            payload: Totals { files: 1, bytes: 1, digest },
            content: digest,
            description: Digest::of(b"described"),
            handover: None,
            seal: Seal::Intact,
        }
    }

    fn original() -> Record {
        record(State::Original, EARLY, b"a")
    }

    fn copy() -> Record {
        record(State::Copy, EARLY, b"a")
    }

    fn handed(mut record: Record, token: &str, party: Party) -> Record {
        record.handover = Some(Handover { token: token.to_owned(), party });
        record
    }

    /// The standings of records in collections `A`, `B`, `C`, as words.
    fn standings(records: &[Option<Record>]) -> String {
        let seen: Vec<_> = ["A", "B", "C"]
            .into_iter()
            .zip(records)
            .map(|(collection, record)| Seen { collection, record: record.as_ref() })
            .collect();
        judge(&seen).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
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
        let described = Record { description: Digest::of(b"another title"), ..copy() };
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
            // Anything that does not go together hands nothing over.
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
    }
}
