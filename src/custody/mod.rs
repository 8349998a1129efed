//! Custody: which collection has the Original of an item, by one rule over all holdings in sight. Pure.
//!
//! Each holding has a [`Custody`]: an epoch that only rises, a random id, the ids that its contents follow, and the
//! collection that has the Original as far as it knows. Of all holdings in sight the one of the highest
//! [`rank`](Holding::rank) speaks, and the collection that it names as holder has the Original. So a holding that was put
//! back from a backup, copied by hand or left by a killed run needs no record of its past: it is *behind* what
//! [covers](Custody::covers) it, or it is a *fork*.
//!
//! | file | subject |
//! |---|---|
//! | `mod` | the custody, and how each change continues it |
//! | `judge` | the standing of each holding in sight |
//! | `decide` | what a copy, a migration, a deletion may do |
//! | `permit` | the custody that a change writes, which only a decision gives |
//! | `recovery` | how an interrupted migration ends, and how a holding that is behind comes up |
//! | `remedy` | the one command that ends what is wrong |
//!
//! # Why ids, and not epochs or dates alone
//!
//! After a backup is put back, an epoch and a holder repeat: of 20,000 random histories of four collections, 29 lost an
//! edit when contents were compared by epochs. Clocks of two machines differ, so dates decide only between forks, which
//! a person ends. The histories run as a test in `histories`.

mod decide;
#[cfg(test)]
mod histories;
mod judge;
mod permit;
mod recovery;
pub mod remedy;

use std::fmt;
use std::str::FromStr;

use crate::identity::Instant;

pub use decide::{Deletion, Discard, Refusal, Step, Verb, decide};
pub use judge::{Speaking, Standing, Verdict, highest, judge, speaking};
pub use permit::Permit;
pub use recovery::{Authority, LineUp, MigrationEnd, interrupted, line_up, rebuild};

/// The largest number of ids that a custody follows. What has more changes between two contacts is a fork.
pub const MOST_FOLLOWED: usize = 1_000;

/// Distance of a promotion from the highest epoch in sight: a lost collection that went on does not reach it.
pub const PROMOTION: u64 = 1_000;

/// The largest epoch that is read and written. Each change of custody adds one, or [`PROMOTION`].
const HIGHEST_EPOCH: u64 = 1 << 53;

/// The random id of the contents and the custody of a holding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CustodyId(u64);

/// Who has the Original of an item, as far as one holding knows, and what its contents follow.
///
/// The epoch is at least 1. The id is not among those followed, no id is followed twice, and there are at most
/// [`MOST_FOLLOWED`]. Only a custody whose holder is the collection itself is ceded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Custody {
    epoch: u64,
    id: CustodyId,
    follows: Vec<CustodyId>,
    holder: String,
    ceded: Option<Ceded>,
}

/// The fence of a migration under way: its giver refuses every other change of the item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ceded {
    /// The id of the receiver.
    pub to: String,
    /// The epoch that the receiver gets.
    pub epoch: u64,
    /// The id that the receiver gets.
    pub id: CustodyId,
    /// The holding that stays at the giver.
    pub leaves: Leaves,
}

/// The holding that a migrated Original leaves at its giver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// A stub.
    Stub,
    /// A Copy.
    Copy,
}

/// The holding of an item in one collection, or the latest line of its ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    /// The id of the collection.
    pub at: String,
    /// The contents of the item's directory.
    pub has: Has,
    /// Its custody.
    pub custody: Custody,
    /// [`Sidecar::changed`](crate::sidecar::Sidecar::changed): along one line it rises with every change of contents.
    pub changed: Instant,
}

/// The contents of a holding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Has {
    /// Payload: an Original or a Copy.
    Payload,
    /// A sidecar that says where the item went.
    Stub,
    /// The sidecar of a deleted item.
    Tombstone,
    /// A sidecar with a broken seal, or other bytes than it lists. It neither speaks, nor is it covered.
    Damaged,
    /// Nothing: this is a line of the ledger.
    Line,
    /// Nothing: this is the line of a deletion.
    LineOfDeletion,
}

/// A text or number that is not part of a custody.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CustodyError {
    /// The epoch is 0, or larger than any history makes it.
    #[error("the epoch {0} is not between 1 and {HIGHEST_EPOCH}")]
    Epoch(u64),
    /// Not an id.
    #[error("`{0}` is not an id of 16 hexadecimal digits")]
    Id(String),
    /// Not the mark of a ceded Original.
    #[error("`{0}` is not `COLLECTION:EPOCH:ID:stub` or `COLLECTION:EPOCH:ID:copy`")]
    Ceded(String),
    /// Too many ids.
    #[error("it follows {0} ids, more than {MOST_FOLLOWED}")]
    TooManyFollowed(usize),
    /// An id occurs twice.
    #[error("the id {0} occurs twice")]
    Repeated(CustodyId),
}

impl Custody {
    /// The custody of a new Original in the collection `holder`, or of a Copy of an unknown archive, whose holder is empty.
    pub fn first(id: CustodyId, holder: &str) -> Custody {
        Custody { epoch: 1, id, follows: Vec::new(), holder: holder.to_owned(), ceded: None }
    }

    /// The custody of these values, as they were found.
    pub fn read(
        epoch: u64,
        id: CustodyId,
        follows: Vec<CustodyId>,
        holder: String,
        ceded: Option<Ceded>,
    ) -> Result<Custody, CustodyError> {
        check_epoch(epoch)?;
        if follows.len() > MOST_FOLLOWED {
            return Err(CustodyError::TooManyFollowed(follows.len()));
        }
        let mut sorted = follows.clone();
        sorted.push(id);
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(CustodyError::Repeated(pair[0]));
        }
        Ok(Custody { epoch, id, follows, holder, ceded })
    }

    /// Makes sure that it can be read again: an epoch that stood still at a maximum would no longer decide.
    pub(crate) fn check(&self) -> Result<(), CustodyError> {
        check_epoch(self.epoch)?;
        self.ceded.as_ref().map_or(Ok(()), |ceded| check_epoch(ceded.epoch))
    }

    /// The number that rises with each hand-over, deletion, restoration and promotion.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The id of these contents under this custody.
    pub fn id(&self) -> CustodyId {
        self.id
    }

    /// The ids that these contents follow, newest last.
    pub fn follows(&self) -> &[CustodyId] {
        &self.follows
    }

    /// The id of the collection that has the Original, as far as this holding knows.
    pub fn holder(&self) -> &str {
        &self.holder
    }

    /// Whether a holding with it is the Original in the collection with the id `at`.
    pub fn is_original_in(&self, at: &str) -> bool {
        self.holder == at && self.ceded.is_none()
    }

    /// The migration under way, at its giver.
    pub fn ceded(&self) -> Option<&Ceded> {
        self.ceded.as_ref()
    }

    /// Whether these contents are those of `other`, or follow them.
    pub fn covers(&self, other: &Custody) -> bool {
        other.id == self.id || self.follows.contains(&other.id)
    }

    /// Whether these contents come next after those of `other`.
    pub fn directly_follows(&self, other: &Custody) -> bool {
        self.follows.last() == Some(&other.id)
    }

    /// The custody of changed contents, in the same hands.
    #[must_use]
    pub fn amended(&self, id: CustodyId) -> Custody {
        self.continued(id, self.epoch, &self.holder, &[])
    }

    /// The custody after a hand-over to `holder`, a deletion or a restoration.
    #[must_use]
    pub fn passed_to(&self, holder: &str, id: CustodyId) -> Custody {
        self.continued(id, self.epoch + 1, holder, &[])
    }

    /// The custody of a Copy in the collection `holder` that becomes the Original. `highest` is the highest epoch in
    /// sight, `taken` are the other holdings in sight whose payload was seen.
    #[must_use]
    pub fn promoted(
        &self,
        holder: &str,
        id: CustodyId,
        highest: u64,
        taken: &[&Custody],
    ) -> Custody {
        let epoch = highest.max(self.epoch) + PROMOTION;
        self.continued(id, epoch, holder, taken)
    }

    /// The custody of a giver that offers the Original to the receiver whose custody will be `offered`.
    #[must_use]
    pub fn ceded_to(&self, offered: &Custody, leaves: Leaves) -> Custody {
        let to = offered.holder.clone();
        let ceded = Ceded { to, epoch: offered.epoch, id: offered.id, leaves };
        Custody { ceded: Some(ceded), ..self.clone() }
    }

    /// The custody that the receiver gets by the offer of this giver, which has the contents already.
    #[must_use]
    pub fn offered(&self) -> Option<Custody> {
        let ceded = self.ceded.as_ref()?;
        Some(self.elsewhere().passed_to(&ceded.to, ceded.id))
    }

    /// The same without the ids that it follows: enough to rank a holding.
    #[must_use]
    pub fn bare(&self) -> Custody {
        Custody { follows: Vec::new(), ceded: None, ..self.clone() }
    }

    /// The same, following what `earlier` follows, and `earlier` itself.
    #[must_use]
    pub fn following(&self, earlier: &Custody) -> Custody {
        let mut next = self.clone();
        next.follow(earlier.follows.iter().copied().chain([earlier.id]));
        next
    }

    /// The same, following `ids` as well: those of earlier lines of the ledger that names it.
    #[must_use]
    pub fn following_all(&self, ids: impl IntoIterator<Item = CustodyId>) -> Custody {
        let mut next = self.clone();
        let newest: Vec<_> = std::mem::take(&mut next.follows);
        next.follow(ids.into_iter().chain(newest));
        next
    }

    /// The custody as it is noted in other collections.
    #[must_use]
    pub fn elsewhere(&self) -> Custody {
        Custody { ceded: None, ..self.clone() }
    }

    /// The custody of a giver that withdraws its offer, or accepts that what the receiver made of it is lost: the number
    /// offered is burnt, and the id offered is followed, so that the receiver gives way if it has the item after all and did
    /// not change it. The epoch is at least `lowest`. Without an offer, it is unchanged.
    #[must_use]
    pub fn withdrawn(&self, id: CustodyId, lowest: u64) -> Custody {
        let Some(ceded) = &self.ceded else { return self.clone() };
        let epoch = lowest.max(ceded.epoch + 1);
        let mut kept = self.continued(id, epoch, &self.holder, &[]);
        kept.follow([ceded.id]);
        kept
    }

    /// The custody of a holding that keeps its contents as the Original, above `other`.
    #[must_use]
    pub fn kept_above(&self, other: &Custody, id: CustodyId) -> Custody {
        self.continued(id, other.epoch.max(self.epoch) + 1, &self.holder, &[other])
    }

    fn continued(&self, id: CustodyId, epoch: u64, holder: &str, taken: &[&Custody]) -> Custody {
        let mut next = Custody::first(id, holder);
        next.epoch = epoch;
        let older = taken.iter().flat_map(|it| it.follows.iter().copied().chain([it.id]));
        next.follow(older.chain(self.follows.iter().copied()).chain([self.id]));
        next
    }

    /// Appends ids, each once and newest last, and drops the oldest beyond [`MOST_FOLLOWED`].
    fn follow(&mut self, ids: impl IntoIterator<Item = CustodyId>) {
        self.follows.extend(ids);
        let mut seen = std::collections::HashSet::from([self.id]);
        let mut newest: Vec<_> =
            self.follows.iter().rev().copied().filter(|id| seen.insert(*id)).collect();
        newest.truncate(MOST_FOLLOWED);
        newest.reverse();
        self.follows = newest;
    }
}

impl Holding {
    /// The order of holdings: of all in sight, the highest speaks.
    pub fn rank(&self) -> (u64, Instant, &str, CustodyId) {
        (self.custody.epoch, self.changed, &self.custody.holder, self.custody.id)
    }

    /// Whether it has payload that its sidecar describes.
    pub fn has_payload(&self) -> bool {
        self.has == Has::Payload
    }

    /// Whether it is a directory, and not a line of the ledger.
    pub fn is_in_place(&self) -> bool {
        !matches!(self.has, Has::Line | Has::LineOfDeletion)
    }

    /// Whether it says that the item is deleted.
    pub fn is_deletion(&self) -> bool {
        matches!(self.has, Has::Tombstone | Has::LineOfDeletion)
    }

    /// Whether its sidecar says that it is the Original: the holder is its own collection, and nothing is ceded.
    pub fn is_original(&self) -> bool {
        self.has_payload() && self.custody.is_original_in(&self.at)
    }

    /// Whether the holder of the Original is its own collection.
    pub fn is_own(&self) -> bool {
        self.custody.holder == self.at
    }

    /// Whether its contents are those of `other`, or follow them.
    pub fn covers(&self, other: &Holding) -> bool {
        self.has != Has::Damaged && other.has != Has::Damaged && self.custody.covers(&other.custody)
    }
}

fn check_epoch(epoch: u64) -> Result<(), CustodyError> {
    if (1..=HIGHEST_EPOCH).contains(&epoch) { Ok(()) } else { Err(CustodyError::Epoch(epoch)) }
}

impl From<[u8; 8]> for CustodyId {
    fn from(random: [u8; 8]) -> CustodyId {
        CustodyId(u64::from_be_bytes(random))
    }
}

impl fmt::Display for CustodyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for CustodyId {
    type Err = CustodyError;

    fn from_str(text: &str) -> Result<CustodyId, CustodyError> {
        let is_id = text.len() == 16
            && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        u64::from_str_radix(text, 16)
            .ok()
            .filter(|_| is_id)
            .map(CustodyId)
            .ok_or_else(|| CustodyError::Id(text.to_owned()))
    }
}

impl fmt::Display for Ceded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leaves = match self.leaves {
            Leaves::Stub => "stub",
            Leaves::Copy => "copy",
        };
        write!(f, "{}:{}:{}:{leaves}", self.to, self.epoch, self.id)
    }
}

impl FromStr for Ceded {
    type Err = CustodyError;

    fn from_str(text: &str) -> Result<Ceded, CustodyError> {
        let parts: Vec<_> = text.rsplitn(4, ':').collect();
        let [leaves, id, epoch, to] = parts[..] else {
            return Err(CustodyError::Ceded(text.to_owned()));
        };
        let leaves = match leaves {
            "stub" => Leaves::Stub,
            "copy" => Leaves::Copy,
            _ => return Err(CustodyError::Ceded(text.to_owned())),
        };
        let epoch = epoch.parse().map_err(|_| CustodyError::Ceded(text.to_owned()))?;
        check_epoch(epoch)?;
        Ok(Ceded { to: to.to_owned(), epoch, id: id.parse()?, leaves })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u64) -> CustodyId {
        CustodyId(number)
    }

    #[test]
    fn each_change_follows_what_was_before() {
        let first = Custody::first(id(1), "A");
        let amended = first.amended(id(2));
        let handed = amended.passed_to("B", id(3));
        assert_eq!((amended.epoch, handed.epoch, handed.holder()), (1, 2, "B"));
        assert_eq!(handed.follows(), [id(1), id(2)]);
        assert!(handed.covers(&first) && handed.covers(&handed) && !amended.covers(&handed));
        let other = first.amended(id(9));
        assert!(!other.covers(&amended) && !amended.covers(&other), "two lines");
        let promoted = amended.promoted("C", id(4), 7, &[&other]);
        assert_eq!((promoted.epoch, promoted.holder()), (1_007, "C"));
        assert_eq!(promoted.follows(), [id(9), id(1), id(2)]);
        let kept = amended.kept_above(&handed, id(5));
        assert_eq!((kept.epoch, kept.holder()), (3, "A"));
        assert!(kept.covers(&handed));
    }

    #[test]
    fn a_withdrawn_offer_burns_its_number_and_follows_its_id() {
        let own = Custody::first(id(1), "A");
        assert_eq!(own.withdrawn(id(7), 0), own);
        let offered = own.passed_to("B", id(2));
        let ceded = own.ceded_to(&offered, Leaves::Stub);
        assert_eq!(ceded.ceded().unwrap().to_string(), "B:2:0000000000000002:stub");
        assert_eq!(ceded.elsewhere(), own);
        let kept = ceded.withdrawn(id(3), 0);
        assert_eq!((kept.epoch(), kept.holder(), kept.ceded()), (3, "A", None));
        assert!(kept.covers(&offered) && kept.covers(&own));
        assert!(!kept.covers(&offered.amended(id(8))), "what was changed there is a fork");
    }

    #[test]
    fn only_the_newest_ids_are_followed() {
        let mut custody = Custody::first(id(0), "A");
        for number in 1..=2_000 {
            custody = custody.amended(id(number));
        }
        assert_eq!(custody.follows().len(), MOST_FOLLOWED);
        assert_eq!(custody.follows()[0], id(1_000));
        assert_eq!(*custody.follows().last().unwrap(), id(1_999));
        let Custody { epoch, follows, holder, .. } = custody.clone();
        assert_eq!(Custody::read(epoch, custody.id, follows, holder, None), Ok(custody));
    }

    #[test]
    fn only_a_custody_is_read() {
        let read = |epoch, follows: &[u64]| {
            let follows = follows.iter().map(|number| id(*number)).collect();
            Custody::read(epoch, id(1), follows, "A".to_owned(), None)
        };
        assert!(read(1, &[2, 3]).is_ok());
        assert_eq!(read(0, &[]), Err(CustodyError::Epoch(0)));
        assert_eq!(read(u64::MAX, &[]), Err(CustodyError::Epoch(u64::MAX)));
        assert_eq!(read(1, &[2, 1]), Err(CustodyError::Repeated(id(1))));
        assert_eq!(read(1, &[2, 2]), Err(CustodyError::Repeated(id(2))));
        let many: Vec<_> = (2..1_100).collect();
        assert_eq!(read(1, &many), Err(CustodyError::TooManyFollowed(1_098)));
    }

    #[test]
    fn an_epoch_beyond_the_highest_is_an_error() {
        let highest = Custody::read(HIGHEST_EPOCH, id(1), vec![], "A".to_owned(), None).unwrap();
        assert_eq!(highest.check(), Ok(()));
        let offered = highest.passed_to("B", id(7));
        let beyond = |epoch| Err(CustodyError::Epoch(epoch));
        assert_eq!(offered.check(), beyond(HIGHEST_EPOCH + 1));
        assert_eq!(highest.ceded_to(&offered, Leaves::Stub).check(), beyond(HIGHEST_EPOCH + 1));
        let promoted = highest.promoted("C", id(8), 0, &[]);
        assert_eq!(promoted.check(), beyond(HIGHEST_EPOCH + PROMOTION));
    }

    #[test]
    fn ids_and_marks_are_read_as_they_are_printed() {
        for text in ["0000000000000001", "00a1b2c3d4e5f607", "ffffffffffffffff"] {
            assert_eq!(text.parse::<CustodyId>().unwrap().to_string(), text);
        }
        for text in ["", "1", "00A1B2C3D4E5F607", "+0a1b2c3d4e5f607", "00a1b2c3d4e5f6070"] {
            assert!(text.parse::<CustodyId>().is_err(), "{text}");
        }
        for text in ["60cb:4:00a1b2c3d4e5f607:stub", "60cb:1:00a1b2c3d4e5f607:copy"] {
            assert_eq!(text.parse::<Ceded>().unwrap().to_string(), text);
        }
        for text in ["", "60cb:4:00a1b2c3d4e5f607", "60cb:0:00a1b2c3d4e5f607:stub", "a:4:1:stub"] {
            assert!(text.parse::<Ceded>().is_err(), "{text}");
        }
    }
}
