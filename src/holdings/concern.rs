//! Concerns: faults in the holdings of one item. Pure.

use super::{HoldingRecord, Holdings, JudgedHolding, Standing};
use crate::custody::Has;
use crate::item::State;
use crate::sidecar::Seal;

/// A fault in the holdings of an item. Collections are given by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Concern {
    /// Several collections say that they hold the Original.
    TwoOriginals(Vec<usize>),
    /// A sidecar cannot be read.
    Unreadable(usize),
    /// A sidecar does not match its seal; such a Copy is not counted.
    Unsealed(usize),
    /// What another collection handed over to the holder, or copied from there, is not there any more.
    Lost {
        /// The collection with the Copy or the stub.
        at: usize,
        /// The holder of the Original.
        holder: usize,
    },
    /// An unfinished migration of the Original from here.
    Migration(usize),
    /// The Original has fewer current Copies than it should.
    FewCopies {
        /// The collection of the Original.
        original: usize,
        /// The number of current Copies.
        current: u32,
        /// The number that there should be.
        wanted: u32,
    },
    /// A newer state of the item is in sight, which follows this one.
    Behind(usize),
    /// A line of its own, which the newest state in sight does not follow.
    Fork(usize),
    /// A Copy whose Original is in none of these collections.
    Orphan(usize),
    /// A Copy of an item that was deleted.
    Left {
        /// The collection of the Copy.
        copy: usize,
        /// The collection of the tombstone.
        deleted: usize,
    },
}

/// How much a concern matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Good to know; it may be intended.
    Notice,
    /// Something should be done.
    Lack,
    /// Two records contradict each other.
    Conflict,
}

impl Concern {
    /// How much it matters.
    pub fn weight(&self) -> Weight {
        match self {
            Concern::TwoOriginals(_) | Concern::Fork(_) => Weight::Conflict,
            Concern::Left { .. } => Weight::Notice,
            _ => Weight::Lack,
        }
    }

    /// A word for it, which never changes its meaning.
    pub fn kind(&self) -> &'static str {
        match self {
            Concern::TwoOriginals(_) => "two-originals",
            Concern::Unreadable(_) => "unreadable",
            Concern::Unsealed(_) => "unsealed",
            Concern::Lost { .. } => "lost",
            Concern::Migration(_) => "migration",
            Concern::FewCopies { .. } => "few-copies",
            Concern::Behind(_) => "behind",
            Concern::Fork(_) => "fork",
            Concern::Orphan(_) => "orphan",
            Concern::Left { .. } => "left",
        }
    }

    /// The collections concerned.
    pub fn collections(&self) -> Vec<usize> {
        match self {
            Concern::TwoOriginals(all) => all.clone(),
            Concern::Left { copy: at, deleted: other } | Concern::Lost { at, holder: other } => {
                vec![*at, *other]
            }
            Concern::FewCopies { original: at, .. }
            | Concern::Unreadable(at)
            | Concern::Unsealed(at)
            | Concern::Migration(at)
            | Concern::Behind(at)
            | Concern::Fork(at)
            | Concern::Orphan(at) => vec![*at],
        }
    }
}

impl Holdings {
    /// The collections that say that they hold the Original: one if all is well. Of two collections with one id, the first.
    pub fn originals(&self) -> Vec<usize> {
        let mut originals: Vec<&JudgedHolding> = Vec::new();
        for holding in &self.all {
            let is_twin = |other: &&JudgedHolding| other.id() == holding.id();
            if holding.is_original() && !originals.iter().any(is_twin) {
                originals.push(holding);
            }
        }
        originals.into_iter().map(|it| it.collection).collect()
    }

    /// The concerns about these holdings. `wanted` says how many Copies the Originals of a collection should
    /// have.
    pub fn concerns(&self, wanted: impl Fn(usize) -> u32) -> Vec<Concern> {
        let mut concerns = Vec::new();
        let originals = self.originals();
        if originals.len() > 1 {
            concerns.push(Concern::TwoOriginals(originals.clone()));
        }
        let unreadable = self.those(|it| it.record.is_err());
        concerns.extend(unreadable.map(|it| Concern::Unreadable(it.collection)));
        let unsealed = self.those(|it| it.record.as_ref().is_ok_and(|it| it.seal != Seal::Intact));
        concerns.extend(unsealed.map(|it| Concern::Unsealed(it.collection)));
        concerns.extend(
            self.all
                .iter()
                .filter_map(|it| Some(Concern::Lost { at: it.collection, holder: it.relies_on? })),
        );
        let is_ceded = |it: &JudgedHolding| {
            it.record.as_ref().is_ok_and(|record| record.rule.custody.ceded().is_some())
        };
        concerns.extend(self.those(is_ceded).map(|it| Concern::Migration(it.collection)));
        if let [original] = originals[..] {
            let (current, wanted) = (self.current_copies(), wanted(original));
            if current < wanted {
                concerns.push(Concern::FewCopies { original, current, wanted });
            }
        }
        let deleted = self.those(|it| it.has(Has::Tombstone)).next().map(|it| it.collection);
        let stubs: Vec<_> =
            self.those(|it| it.has(Has::Stub)).map(|it| Some(it.collection)).collect();
        for holding in self.all.iter().filter(|it| !is_ceded(it)) {
            let at = holding.collection;
            let is_copy = holding.record.as_ref().is_ok_and(|it| it.state == State::Copy);
            concerns.extend(match (holding.standing, deleted) {
                (Standing::Behind, Some(deleted))
                    if is_copy && holding.against == Some(deleted) =>
                {
                    Some(Concern::Left { copy: at, deleted })
                }
                // The Original is out of sight, and nothing here shows how far it has moved on.
                (Standing::Behind, _) if is_copy && stubs.contains(&holding.against) => None,
                (Standing::Behind, _) => Some(Concern::Behind(at)),
                (Standing::Fork, _) => Some(Concern::Fork(at)),
                // A holding that cannot be read, or is migrating, may be the Original.
                (Standing::Orphan, _)
                    if holding.relies_on.is_none()
                        && !self.all.iter().any(|it| is_ceded(it) || it.record.is_err()) =>
                {
                    Some(Concern::Orphan(at))
                }
                _ => None,
            });
        }
        // One fault is one concern: an older state that lies at the holder is behind, and not lost.
        let behind: Vec<_> =
            concerns.iter().filter(|it| matches!(it, Concern::Behind(_))).cloned().collect();
        concerns.retain(|it| {
            !matches!(it, Concern::Lost { holder, .. } if behind.contains(&Concern::Behind(*holder)))
        });
        concerns
    }

    /// The number of current Copies.
    fn current_copies(&self) -> u32 {
        let current = self.those(|it| it.standing == Standing::Current).count();
        u32::try_from(current).unwrap_or(u32::MAX)
    }

    fn those(
        &self,
        wanted: impl Fn(&JudgedHolding) -> bool,
    ) -> impl Iterator<Item = &JudgedHolding> {
        self.all.iter().filter(move |it| wanted(it))
    }
}

impl JudgedHolding {
    /// Whether it is a Copy without an Original that names the collection with the id `holder`, where it may have been given up.
    pub fn is_missed_by(&self, holder: &str) -> bool {
        let names_it = |it: &HoldingRecord| it.rule.custody.holder() == holder;
        self.standing == Standing::Orphan && self.record.as_ref().is_ok_and(names_it)
    }

    fn is_original(&self) -> bool {
        self.record.as_ref().is_ok_and(|record| record.rule.is_original())
    }

    /// The id of its collection, if its sidecar can be read.
    fn id(&self) -> Option<&str> {
        self.record.as_ref().ok().map(|record| &*record.rule.at)
    }

    fn has(&self, has: Has) -> bool {
        self.record.as_ref().is_ok_and(|record| record.rule.has == has)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::CollectionError;
    use crate::custody::{self, Custody, CustodyId, Leaves};
    use crate::digest::Digest;
    use crate::holdings::HoldingRecord;
    use crate::identity::Instant;
    use crate::item::Totals;

    fn name() -> crate::identity::RepositoryName {
        "example.org/a/2026/11.21.02.13".parse().unwrap()
    }

    fn holding(collection: usize, has: Has, custody: Custody, standing: Standing) -> JudgedHolding {
        let changed = Instant::from_seconds(0);
        let at = ["A", "B", "C"][collection].to_owned();
        let rule = custody::Holding { at, has, custody, changed };
        let state = match has {
            Has::Tombstone => State::Deleted,
            Has::Stub => State::Elsewhere,
            _ if rule.is_original() => State::Original,
            _ => State::Copy,
        };
        let record = HoldingRecord {
            state,
            ibip: None,
            timestamp: changed,
            payload: Totals::of(&[]),
            content: Digest::of(b""),
            description: Digest::of(b""),
            rule,
            seal: Seal::Intact,
        };
        let path = "item".into();
        JudgedHolding {
            collection,
            name: name(),
            path,
            record: Ok(record),
            standing,
            against: None,
            relies_on: None,
        }
    }

    fn custody(holder: &str) -> Custody {
        Custody::first(CustodyId::from([1; 8]), holder)
    }

    fn concerns(all: Vec<JudgedHolding>) -> Vec<&'static str> {
        let holdings = Holdings { name: name(), all };
        holdings.concerns(|_| 1).iter().map(Concern::kind).collect()
    }

    #[test]
    fn each_fault_is_named_once() {
        use Standing::{Behind, Current, Deleted, Fork, Original, Orphan};
        let of = |at, has, holder, standing| holding(at, has, custody(holder), standing);
        let original = || of(0, Has::Payload, "A", Original);
        let copy = |standing| of(1, Has::Payload, "A", standing);
        assert_eq!(concerns(vec![original(), copy(Current)]), [""; 0]);
        assert_eq!(concerns(vec![original()]), ["few-copies"]);
        assert_eq!(concerns(vec![original(), copy(Behind)]), ["few-copies", "behind"]);
        let two = vec![original(), of(1, Has::Payload, "B", Fork)];
        assert_eq!(concerns(two), ["two-originals", "fork"]);
        assert_eq!(concerns(vec![copy(Orphan)]), ["orphan"]);
        let lost = JudgedHolding { relies_on: Some(0), ..copy(Orphan) };
        assert_eq!(concerns(vec![lost]), ["lost"]);
        let grave = || of(0, Has::Tombstone, "A", Deleted);
        let left = JudgedHolding { against: Some(0), ..copy(Behind) };
        assert_eq!(concerns(vec![grave(), left]), ["left"]);
        let original_put_back = JudgedHolding { against: Some(1), ..original() };
        let original_put_back = JudgedHolding { standing: Behind, ..original_put_back };
        let grave = of(1, Has::Tombstone, "B", Deleted);
        assert_eq!(concerns(vec![original_put_back, grave]), ["few-copies", "behind"]);
        let offered = custody("A").passed_to("B", CustodyId::from([2; 8]));
        let ceded = custody("A").ceded_to(&offered, Leaves::Stub);
        let ceded = holding(0, Has::Payload, ceded, Original);
        assert_eq!(concerns(vec![ceded, copy(Orphan)]), ["migration"]);
        let error = CollectionError::NoSidecar { name: name() };
        let unreadable =
            JudgedHolding { record: Err(error), standing: Standing::Damaged, ..original() };
        assert_eq!(concerns(vec![unreadable, copy(Orphan)]), ["unreadable"]);
    }
}
