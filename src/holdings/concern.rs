//! Concerns: faults in the holdings of one item. Pure.

use super::{Holding, Holdings, Standing};
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
    /// An unfinished hand-over of the Original, recorded by one side or both.
    Handover(Vec<usize>),
    /// The Original has fewer current Copies than it should.
    FewCopies {
        /// The collection of the Original.
        original: usize,
        /// The number of current Copies.
        current: u32,
        /// The number that there should be.
        wanted: u32,
    },
    /// A stale Copy.
    Stale(usize),
    /// A Copy with other content or another description than its Original, though it is not stale.
    Different(usize),
    /// A Copy whose Original is in none of these collections.
    Orphan(usize),
    /// An Original that another collection records as deleted.
    Deleted {
        /// The collection of the Original.
        original: usize,
        /// The collection of the tombstone.
        deleted: usize,
    },
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
            Concern::TwoOriginals(_) => Weight::Conflict,
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
            Concern::Handover(_) => "handover",
            Concern::FewCopies { .. } => "few-copies",
            Concern::Stale(_) => "stale",
            Concern::Different(_) => "different",
            Concern::Orphan(_) => "orphan",
            Concern::Deleted { .. } => "deleted-elsewhere",
            Concern::Left { .. } => "left",
        }
    }

    /// The collections concerned.
    pub fn collections(&self) -> Vec<usize> {
        match self {
            Concern::TwoOriginals(all) | Concern::Handover(all) => all.clone(),
            Concern::Left { copy: held, deleted }
            | Concern::Deleted { original: held, deleted } => {
                vec![*held, *deleted]
            }
            Concern::FewCopies { original: at, .. }
            | Concern::Unreadable(at)
            | Concern::Unsealed(at)
            | Concern::Stale(at)
            | Concern::Different(at)
            | Concern::Orphan(at) => vec![*at],
        }
    }
}

impl Holdings {
    /// The collections that hold the Original: one if all is well.
    pub fn originals(&self) -> Vec<usize> {
        self.standing(Standing::Original).collect()
    }

    /// The concerns about these holdings. `wanted` says how many Copies the Originals of a collection should
    /// have.
    pub fn concerns(&self, wanted: impl Fn(usize) -> u32) -> Vec<Concern> {
        let mut concerns = Vec::new();
        let originals = self.originals();
        if originals.len() > 1 {
            concerns.push(Concern::TwoOriginals(originals.clone()));
        }
        concerns.extend(self.standing(Standing::Unreadable).map(Concern::Unreadable));
        concerns.extend(self.unsealed().map(Concern::Unsealed));
        let in_hand = self.in_hand();
        if !in_hand.is_empty() {
            concerns.push(Concern::Handover(in_hand.clone()));
        }
        concerns.extend(self.all.iter().filter_map(|holding| {
            let original = holding.against.filter(|_| holding.standing == Standing::Deleted)?;
            Some(Concern::Deleted { original, deleted: holding.collection })
        }));
        if let [original] = originals[..] {
            let (current, wanted) = (self.current_copies(), wanted(original));
            if current < wanted {
                concerns.push(Concern::FewCopies { original, current, wanted });
            }
        }
        concerns.extend(self.standing(Standing::Stale).map(Concern::Stale));
        // A broken seal says why it differs.
        let differing = self.all.iter().filter(|holding| !holding.is_unsealed());
        let differing = differing.filter(|holding| holding.standing == Standing::Different);
        concerns.extend(differing.map(|holding| Concern::Different(holding.collection)));
        // A holding that cannot be read, or is part of a hand-over, may be the Original.
        if in_hand.is_empty() && self.standing(Standing::Unreadable).next().is_none() {
            let deleted = self.standing(Standing::Deleted).next();
            concerns.extend(self.standing(Standing::Orphan).map(|copy| match deleted {
                Some(deleted) => Concern::Left { copy, deleted },
                None => Concern::Orphan(copy),
            }));
        }
        concerns
    }

    /// The number of current Copies with intact seals.
    fn current_copies(&self) -> u32 {
        let is_good =
            |holding: &&Holding| holding.standing == Standing::Current && !holding.is_unsealed();
        u32::try_from(self.all.iter().filter(is_good).count()).unwrap_or(u32::MAX)
    }

    fn standing(&self, standing: Standing) -> impl Iterator<Item = usize> {
        let of_it = move |holding: &&Holding| holding.standing == standing;
        self.all.iter().filter(of_it).map(|holding| holding.collection)
    }

    fn unsealed(&self) -> impl Iterator<Item = usize> {
        self.all.iter().filter(|holding| holding.is_unsealed()).map(|holding| holding.collection)
    }

    fn in_hand(&self) -> Vec<usize> {
        let is_handed = |holding: &&Holding| {
            holding.record.as_ref().is_ok_and(|record| record.handover.is_some())
        };
        self.all.iter().filter(is_handed).map(|holding| holding.collection).collect()
    }
}

impl Holding {
    fn is_unsealed(&self) -> bool {
        self.record.as_ref().is_ok_and(|record| record.seal != Seal::Intact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::CollectionError;
    use crate::digest::Digest;
    use crate::holdings::HoldingRecord;
    use crate::item::{State, Totals};
    use crate::sidecar::{Handover, Party};

    const NAME: &str = "example.org/archive/2026/11.21.02.13";

    fn holdings(standings: &[Standing]) -> Holdings {
        let holding = |(collection, standing): (usize, &Standing)| Holding {
            collection,
            name: NAME.parse().unwrap(),
            path: NAME.into(),
            record: match standing {
                Standing::Unreadable => {
                    Err(CollectionError::NoSidecar { name: NAME.parse().unwrap() })
                }
                _ => Ok(record()),
            },
            standing: *standing,
            against: None,
        };
        let all = standings.iter().enumerate().map(holding).collect();
        Holdings { name: NAME.parse().unwrap(), all }
    }

    fn record() -> HoldingRecord {
        let digest = Digest::of(b"a");
        HoldingRecord {
            state: State::Copy,
            ibip: None,
            timestamp: "2026-11-21T02:13:05Z".parse().unwrap(),
            payload: Totals { files: 1, bytes: 1, digest },
            content: digest,
            description: digest,
            made_of: None,
            handover: None,
            seal: Seal::Intact,
        }
    }

    #[test]
    fn copies_are_counted_if_they_are_current() {
        use Standing::{Current, Different, Original, Stale};
        let few = |current, wanted| Concern::FewCopies { original: 0, current, wanted };
        for (standings, wanted, expected) in [
            (vec![Original], 0, vec![]),
            (vec![Original], 1, vec![few(0, 1)]),
            (vec![Original, Current], 1, vec![]),
            (vec![Original, Current], 2, vec![few(1, 2)]),
            (vec![Original, Current, Current], 1, vec![]),
            (vec![Original, Stale], 0, vec![Concern::Stale(1)]),
            (vec![Original, Stale, Current], 2, vec![few(1, 2), Concern::Stale(1)]),
            (vec![Original, Different], 1, vec![few(0, 1), Concern::Different(1)]),
        ] {
            assert_eq!(holdings(&standings).concerns(|_| wanted), expected, "{standings:?}");
        }
        // It is the wish of the collection that holds the Original.
        let wish = |at| [3, 1][at];
        assert_eq!(holdings(&[Current, Original]).concerns(wish), []);
        assert_eq!(holdings(&[Original, Current]).concerns(wish), [few(1, 3)]);
    }

    #[test]
    fn without_one_original() {
        use Standing::{Deleted, Disputed, Original, Orphan, Unreadable};
        for (standings, expected) in [
            (vec![Original, Disputed, Original], vec![Concern::TwoOriginals(vec![0, 2])]),
            (vec![Orphan, Orphan], vec![Concern::Orphan(0), Concern::Orphan(1)]),
            (vec![Orphan, Deleted], vec![Concern::Left { copy: 0, deleted: 1 }]),
            (vec![Deleted, Deleted], vec![]),
            // A holding that cannot be read may be the Original.
            (vec![Orphan, Unreadable], vec![Concern::Unreadable(1)]),
        ] {
            assert_eq!(holdings(&standings).concerns(|_| 1), expected, "{standings:?}");
        }
    }

    #[test]
    fn a_broken_seal_and_a_hand_over_are_told() {
        let mut holdings = holdings(&[Standing::Original, Standing::Current]);
        holdings.all[1].record.as_mut().unwrap().seal = Seal::Missing;
        let few = Concern::FewCopies { original: 0, current: 0, wanted: 1 };
        assert_eq!(holdings.concerns(|_| 1), [Concern::Unsealed(1), few]);
        for (holding, party) in
            holdings.all.iter_mut().zip([Party::To("B".into()), Party::From("A".into())])
        {
            holding.standing = Standing::Orphan;
            let record = holding.record.as_mut().unwrap();
            record.seal = Seal::Intact;
            record.handover = Some(Handover { token: "t".to_owned(), party });
        }
        assert_eq!(holdings.concerns(|_| 1), [Concern::Handover(vec![0, 1])]);
    }
}
