//! What the states of one item in several collections mean together [protocol: write orders]. Pure.

use crate::digest::Digest;
use crate::identity::Instant;
use crate::item::{State, manifest};
use crate::sidecar::{Handover, Party, Sidecar};

/// What one root holds of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holding {
    /// Which root.
    pub root: usize,
    /// What its sidecar says; nothing if it can not be read.
    pub head: Option<Head>,
}

/// What matters of a sidecar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub state: State,
    pub timestamp: Instant,
    /// Of files, links and empty directories: it stands for the whole payload.
    pub digest: Digest,
    /// Stands for description, relations and target.
    pub description: Digest,
    pub handover: Option<Handover>,
}

impl Head {
    pub(super) fn of(sidecar: Sidecar) -> Head {
        Head {
            state: sidecar.state,
            timestamp: sidecar.timestamp,
            digest: manifest::content_digest(&sidecar.files),
            description: sidecar.description_digest(),
            handover: sidecar.handover,
        }
    }
}

/// What is wrong with the holding of one root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub root: usize,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// It is an Original, and so is that of the root `other`.
    TwoOriginals { other: usize },
    /// It is a Copy, and no root holds the Original.
    NoOriginal(Absence),
    /// It is a Copy with the date `copy`; the Original in the root `original` is of the date `is`.
    Stale { original: usize, copy: Instant, is: Instant },
    /// It is a Copy that is not older than the Original in the root `original`, and differs from it.
    Differs { original: usize, copy: Digest, is: Digest },
    /// Its description is not that of the holding in the root `other`, which is not newer.
    OtherDescription { other: usize },
}

/// What is known of an Original that was not found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Absence {
    /// This root has a tombstone.
    pub deleted: Option<usize>,
    /// The sidecar of this root can not be read.
    pub unreadable: Option<usize>,
    /// It was handed over to the collection of this id.
    pub handed_to: Option<String>,
}

/// Judges all holdings of one item; `ids` are those of the collections, by root.
///
/// Roots of one id are one collection copied by hand: they are not compared with each other.
pub(super) fn judge(ids: &[&str], holdings: &[Holding]) -> Vec<Verdict> {
    let item = Item { ids, holdings };
    let originals: Vec<Known<'_>> = item.known().filter(|it| item.is_original(it)).collect();
    let mut verdicts = Vec::new();
    for (at, original) in originals.iter().enumerate() {
        let mut before = originals[..at].iter();
        if let Some(other) = before.find(|other| item.can_be_compared(other, original)) {
            let what = What::TwoOriginals { other: other.root };
            verdicts.push(Verdict { root: original.root, what });
        }
    }
    let is_copy = |it: &Known<'_>| {
        it.head.state == State::Copy && !item.is_original(it) && !item.has_handed_over(it)
    };
    for copy in item.known().filter(is_copy) {
        let what = item.judge_copy(&copy, &originals);
        verdicts.extend(what.map(|what| Verdict { root: copy.root, what }));
    }
    let orphans: Vec<_> = item.known().filter(|_| originals.is_empty()).filter(is_copy).collect();
    for (at, copy) in orphans.iter().enumerate() {
        let differs = |other: &&Known<'_>| {
            item.can_be_compared(other, copy)
                && other.head.timestamp == copy.head.timestamp
                && other.head.digest == copy.head.digest
                && other.head.description != copy.head.description
        };
        if let Some(other) = orphans[..at].iter().find(differs) {
            let what = What::OtherDescription { other: other.root };
            verdicts.push(Verdict { root: copy.root, what });
        }
    }
    verdicts.sort_by_key(|verdict| verdict.root);
    verdicts
}

/// A holding whose sidecar can be read.
#[derive(Clone, Copy)]
struct Known<'a> {
    root: usize,
    head: &'a Head,
}

struct Item<'a> {
    ids: &'a [&'a str],
    holdings: &'a [Holding],
}

impl<'a> Item<'a> {
    fn known(&self) -> impl Iterator<Item = Known<'a>> {
        let holdings = self.holdings.iter();
        holdings.filter_map(|it| Some(Known { root: it.root, head: it.head.as_ref()? }))
    }

    fn can_be_compared(&self, a: &Known<'_>, b: &Known<'_>) -> bool {
        self.ids[a.root] != self.ids[b.root]
    }

    /// The reader rule: an Original says so, or is the receiver's Copy whose token stands in the
    /// sidecar of the giver, who has a Copy only.
    fn is_original(&self, holding: &Known<'_>) -> bool {
        match holding.head.state {
            State::Original => true,
            State::Copy => self.known().any(|giver| self.is_handed_over(&giver, holding)),
            State::Deleted => false,
        }
    }

    /// Whether it is the giver's, and the receiver's counts as the Original.
    fn has_handed_over(&self, holding: &Known<'_>) -> bool {
        self.known().any(|receiver| self.is_handed_over(holding, &receiver))
    }

    fn is_handed_over(&self, giver: &Known<'_>, receiver: &Known<'_>) -> bool {
        let (Some(given), Some(received)) = (&giver.head.handover, &receiver.head.handover) else {
            return false;
        };
        giver.head.state == State::Copy
            && receiver.head.state == State::Copy
            && given.token == received.token
            && given.party == Party::To(self.ids[receiver.root].to_owned())
            && received.party == Party::From(self.ids[giver.root].to_owned())
    }

    fn judge_copy(&self, copy: &Known<'_>, originals: &[Known<'_>]) -> Option<What> {
        let mut others = originals.iter().filter(|it| self.can_be_compared(it, copy));
        let Some(original) = others.next() else {
            // The Original of the same collection, copied by hand, is one after all.
            return originals.is_empty().then(|| What::NoOriginal(self.absence(copy)));
        };
        if others.any(|other| self.can_be_compared(other, original)) {
            // Of which of two Originals it should be a Copy nobody knows.
            return None;
        }
        let (copy, is) = (copy.head, original.head);
        let original = original.root;
        if copy.timestamp < is.timestamp {
            return Some(What::Stale { original, copy: copy.timestamp, is: is.timestamp });
        }
        if copy.digest != is.digest {
            return Some(What::Differs { original, copy: copy.digest, is: is.digest });
        }
        (copy.description != is.description).then_some(What::OtherDescription { other: original })
    }

    fn absence(&self, copy: &Known<'_>) -> Absence {
        let deleted = self.known().find(|it| it.head.state == State::Deleted);
        let unreadable = self.holdings.iter().find(|it| it.head.is_none());
        let handed_to = match copy.head.handover.as_ref().map(|handover| &handover.party) {
            Some(Party::To(id)) => Some(id.clone()),
            Some(Party::From(_)) | None => None,
        };
        Absence {
            deleted: deleted.map(|it| it.root),
            unreadable: unreadable.map(|it| it.root),
            handed_to,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: [&str; 4] = ["id-a", "id-b", "id-c", "id-d"];

    fn head(state: State, hour: i64, content: &str) -> Head {
        Head {
            state,
            timestamp: Instant::from_seconds(3600 * hour),
            digest: Digest::of(content.as_bytes()),
            description: Digest::of(b"described"),
            handover: None,
        }
    }

    fn original() -> Head {
        head(State::Original, 2, "content")
    }

    fn copy() -> Head {
        head(State::Copy, 2, "content")
    }

    fn deleted() -> Head {
        head(State::Deleted, 2, "content")
    }

    fn with(token: &str, party: Party, mut head: Head) -> Head {
        head.handover = Some(Handover { token: token.to_owned(), party });
        head
    }

    fn to(id: &str, head: Head) -> Head {
        with("token", Party::To(id.to_owned()), head)
    }

    fn from(id: &str, head: Head) -> Head {
        with("token", Party::From(id.to_owned()), head)
    }

    /// The verdicts on these heads, one root each; `None` holds nothing.
    fn judged<const N: usize>(heads: [Option<Head>; N]) -> Vec<Verdict> {
        judged_with(&IDS, heads)
    }

    fn judged_with<const N: usize>(ids: &[&str], heads: [Option<Head>; N]) -> Vec<Verdict> {
        let heads = heads.into_iter().enumerate();
        let held = heads.filter_map(|(root, head)| Some(Holding { root, head: Some(head?) }));
        judge(ids, &held.collect::<Vec<_>>())
    }

    fn verdict(root: usize, what: What) -> Verdict {
        Verdict { root, what }
    }

    fn no_original(root: usize) -> Verdict {
        verdict(root, What::NoOriginal(Absence::default()))
    }

    fn absent(root: usize, absence: Absence) -> Verdict {
        verdict(root, What::NoOriginal(absence))
    }

    #[test]
    fn one_original_and_copies_like_it_are_well() {
        for heads in [
            [Some(original()), None, None],
            [Some(original()), Some(copy()), Some(copy())],
            [None, Some(copy()), Some(original())],
            [Some(deleted()), None, None],
            [Some(deleted()), Some(original()), Some(copy())],
            // Refreshed later than the Original was changed.
            [Some(original()), Some(head(State::Copy, 3, "content")), None],
            [None, None, None],
        ] {
            assert_eq!(judged(heads.clone()), [], "{heads:?}");
        }
    }

    #[test]
    fn two_originals() {
        let two = |root, other| verdict(root, What::TwoOriginals { other });
        assert_eq!(judged([Some(original()), Some(original())]), [two(1, 0)]);
        let other = head(State::Original, 7, "other");
        assert_eq!(judged([None, Some(original()), Some(other.clone())]), [two(2, 1)]);
        let three = [Some(original()), Some(original()), Some(other)];
        assert_eq!(judged(three), [two(1, 0), two(2, 0)]);
        // Of which of them it is a Copy nobody knows.
        let copy = head(State::Copy, 1, "third");
        assert_eq!(judged([Some(original()), Some(copy), Some(original())]), [two(2, 0)]);
    }

    #[test]
    fn no_original_anywhere() {
        assert_eq!(judged([Some(copy()), None]), [no_original(0)]);
        assert_eq!(judged([Some(copy()), Some(copy())]), [no_original(0), no_original(1)]);
        let absence = Absence { deleted: Some(1), ..Absence::default() };
        assert_eq!(judged([Some(copy()), Some(deleted())]), [absent(0, absence)]);
        let unreadable = Holding { root: 1, head: None };
        let held = [Holding { root: 0, head: Some(copy()) }, unreadable];
        let absence = Absence { unreadable: Some(1), ..Absence::default() };
        assert_eq!(judge(&IDS, &held), [absent(0, absence)]);
    }

    #[test]
    fn copies_that_are_older_or_differ() {
        let (copy_at, is) = (Instant::from_seconds(3600), Instant::from_seconds(7200));
        let stale = |root, original| verdict(root, What::Stale { original, copy: copy_at, is });
        for content in ["content", "other"] {
            let copy = head(State::Copy, 1, content);
            assert_eq!(judged([Some(original()), Some(copy)]), [stale(1, 0)], "{content}");
        }
        let (other, is) = (Digest::of(b"other"), Digest::of(b"content"));
        let differs = || verdict(0, What::Differs { original: 1, copy: other, is });
        for hour in [2, 3] {
            let copy = head(State::Copy, hour, "other");
            assert_eq!(judged([Some(copy), Some(original())]), [differs()], "{hour}");
        }
    }

    #[test]
    fn holdings_of_one_date_with_different_descriptions() {
        let described = |state| {
            let description = Digest::of(b"another title");
            Head { description, ..head(state, 2, "content") }
        };
        let other = |root, other| verdict(root, What::OtherDescription { other });
        assert_eq!(judged([Some(original()), Some(described(State::Copy))]), [other(1, 0)]);
        assert_eq!(
            judged([Some(copy()), Some(described(State::Copy))]),
            [no_original(0), no_original(1), other(1, 0)]
        );
        // A Copy that is behind is stale, and nothing else.
        let later = Head { timestamp: Instant::from_seconds(9000), ..described(State::Original) };
        let verdicts = judged([Some(copy()), Some(later)]);
        assert!(matches!(verdicts[..], [Verdict { what: What::Stale { .. }, .. }]), "{verdicts:?}");
    }

    #[test]
    fn a_hand_over_past_its_commit_point_makes_the_receiver_the_original() {
        let (giver, receiver) = (to("id-b", copy()), from("id-a", copy()));
        assert_eq!(judged([Some(giver.clone()), Some(receiver.clone())]), []);
        assert_eq!(judged([Some(giver.clone()), Some(receiver.clone()), Some(copy())]), []);
        // What the giver still has is about to go, however old.
        let old = to("id-b", head(State::Copy, 1, "old"));
        assert_eq!(judged([Some(old), Some(receiver.clone())]), []);
        let two = verdict(2, What::TwoOriginals { other: 1 });
        assert_eq!(judged([Some(giver), Some(receiver), Some(original())]), [two]);
    }

    #[test]
    fn a_hand_over_before_its_commit_point_changes_nothing() {
        let receiver = from("id-a", copy());
        assert_eq!(judged([Some(original()), Some(receiver.clone())]), []);
        assert_eq!(judged([Some(original()), Some(receiver), Some(copy())]), []);
        // The receiver has said so, the giver has not cleaned up.
        assert_eq!(judged([Some(to("id-b", copy())), Some(from("id-a", original()))]), []);
    }

    #[test]
    fn a_hand_over_whose_sides_do_not_match_is_none() {
        let handed = |id: &str| Absence { handed_to: Some(id.to_owned()), ..Absence::default() };
        for (giver, receiver, id) in [
            (to("id-b", copy()), with("another", Party::From("id-a".into()), copy()), "id-b"),
            (to("id-b", copy()), from("id-c", copy()), "id-b"),
            (to("id-c", copy()), from("id-a", copy()), "id-c"),
            (to("id-b", copy()), to("id-a", copy()), "id-b"),
        ] {
            let verdicts = judged([Some(giver), Some(receiver.clone())]);
            let second = match receiver.handover.map(|it| it.party) {
                Some(Party::To(id)) => absent(1, handed(&id)),
                _ => no_original(1),
            };
            assert_eq!(verdicts, [absent(0, handed(id)), second]);
        }
        assert_eq!(judged([Some(to("id-d", copy())), None]), [absent(0, handed("id-d"))]);
        let absence = Absence { deleted: Some(1), ..handed("id-b") };
        let giver = Some(to("id-b", copy()));
        assert_eq!(judged([giver, Some(from("id-a", deleted()))]), [absent(0, absence)]);
    }

    #[test]
    fn roots_of_one_id_are_not_compared_with_each_other() {
        const ONE: [&str; 3] = ["id-a", "id-a", "id-b"];
        let other = || Some(head(State::Original, 7, "other"));
        assert_eq!(judged_with(&ONE, [Some(original()), other(), None]), []);
        assert_eq!(judged_with(&ONE, [Some(original()), Some(copy()), None]), []);
        let old = || Some(head(State::Copy, 1, "other"));
        assert_eq!(judged_with(&ONE, [Some(original()), old(), None]), []);
        // Each of them is compared with the others.
        let two = verdict(2, What::TwoOriginals { other: 0 });
        assert_eq!(judged_with(&ONE, [Some(original()), other(), other()]), [two]);
        assert_eq!(judged_with(&ONE, [Some(original()), Some(original()), Some(copy())]), []);
        assert_eq!(judged_with(&ONE, [Some(original()), Some(original()), old()]).len(), 1);
    }
}
