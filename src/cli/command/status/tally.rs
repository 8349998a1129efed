//! Counts over all collections.

use std::collections::BTreeMap;

use urepo::holdings::{Concern, Holdings, JudgedHolding, Standing};
use urepo::identity::RepositoryName;
use urepo::item::State;

use crate::cli::Done;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::known::Known;
use crate::cli::printer::Verbosity;
use crate::cli::report::REPEATED_PRINTED;
use crate::cli::{escape, human, shell};

/// The counts.
pub(super) struct Tally {
    pub(super) items: u64,
    /// One for each known collection.
    pub(super) collections: Vec<Counts>,
    /// Collections that could not be opened or listed, and their outcomes.
    pub(super) unseen: Vec<String>,
    /// Number of concerns of each kind that is more than a notice, in order of urgency.
    pub(super) concerns: [(ConcernKind, u64); 11],
    /// Number of named concerns of each kind.
    named: [u64; 11],
    pub(super) notices: u64,
    /// Of the Originals of one collection, the number without a current Copy in another, by their numbers.
    lacking: BTreeMap<[usize; 2], u64>,
    /// The items of these concerns, but for those that only lack Copies.
    pub(super) concerned: BTreeMap<RepositoryName, Vec<String>>,
    /// A collection with an Original that has too few Copies.
    too_few: Option<usize>,
    /// A collection with a Copy without an Original, and the item.
    orphan: Option<(usize, RepositoryName)>,
}

/// The counts of one collection.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) originals: u64,
    pub(super) copies: u64,
    pub(super) deleted: u64,
    pub(super) unreadable: u64,
    /// Of Originals and Copies.
    pub(super) bytes: u64,
    /// Why it could not be listed to its end.
    pub(super) unlisted: Option<String>,
}

/// A kind of concern, and its text in counts.
#[derive(Clone, Copy)]
pub(super) struct ConcernKind {
    pub(super) name: &'static str,
    one: &'static str,
    many: &'static str,
}

/// In order of urgency.
const KINDS: [ConcernKind; 11] = [
    ConcernKind {
        name: "two-originals",
        one: "item with two Originals",
        many: "items with two Originals",
    },
    ConcernKind {
        name: "returned",
        one: "item back after it was given up",
        many: "items back after they were given up",
    },
    ConcernKind {
        name: "lost",
        one: "item lost by its holder",
        many: "items lost by their holder",
    },
    ConcernKind { name: "migration", one: "unfinished migration", many: "unfinished migrations" },
    ConcernKind { name: "unreadable", one: "unreadable sidecar", many: "unreadable sidecars" },
    ConcernKind { name: "unsealed", one: "broken seal", many: "broken seals" },
    ConcernKind {
        name: "few-copies",
        one: "item with too few Copies",
        many: "items with too few Copies",
    },
    ConcernKind {
        name: "behind",
        one: "item behind a newer state",
        many: "items behind a newer state",
    },
    ConcernKind {
        name: "fork",
        one: "item changed in two collections",
        many: "items changed in two collections",
    },
    ConcernKind {
        name: "orphan",
        one: "Copy without an Original",
        many: "Copies without an Original",
    },
    ConcernKind { name: "vanished", one: "item vanished", many: "items vanished" },
];

/// The place of a kind in [`KINDS`], unless it is only a notice.
fn rank(kind: &str) -> Option<usize> {
    KINDS.iter().position(|known| known.name == kind)
}

/// The index of contradictions.
const CONFLICT: usize = 0;

/// A difference between the ledger of a collection and its items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contradiction {
    /// An Original or a tombstone is here that was given up.
    Returned,
    /// An item is missing that did not leave.
    Vanished,
}

impl Contradiction {
    /// A word for it, which never changes its meaning.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Contradiction::Returned => "returned",
            Contradiction::Vanished => "vanished",
        }
    }
}

impl Tally {
    pub(super) fn new(known: &Known) -> Tally {
        Tally {
            items: 0,
            collections: vec![Counts::default(); known.collections.len()],
            unseen: Vec::new(),
            concerns: KINDS.map(|kind| (kind, 0)),
            named: [0; 11],
            notices: 0,
            lacking: BTreeMap::new(),
            concerned: BTreeMap::new(),
            too_few: None,
            orphan: None,
        }
    }

    pub(super) fn count(&mut self, holdings: &Holdings, concerns: &[Concern]) {
        self.items += 1;
        for holding in &holdings.all {
            self.collections[holding.collection].count(holding);
        }
        if let [original] = holdings.originals()[..] {
            for at in (0..self.collections.len()).filter(|at| *at != original) {
                let is_copy =
                    |it: &JudgedHolding| it.collection == at && it.standing == Standing::Current;
                *self.lacking.entry([original, at]).or_default() +=
                    u64::from(!holdings.all.iter().any(is_copy));
            }
        }
        for concern in concerns {
            let Some(rank) = rank(concern.kind()) else {
                self.notices += 1;
                continue;
            };
            self.concerns[rank].1 += 1;
            match concern {
                Concern::FewCopies { original, .. } => self.too_few = Some(*original),
                Concern::Orphan(at) => {
                    self.orphan.get_or_insert_with(|| (*at, holdings.name.clone()));
                    self.concern(&holdings.name);
                }
                _ => self.concern(&holdings.name),
            }
        }
    }

    /// Calls `visit` for each collection with Originals and each other one, with the number of those that the other lacks.
    pub(super) fn each_pair(&self, mut visit: impl FnMut([usize; 2], u64)) {
        self.lacking.iter().for_each(|(pair, lacking)| visit(*pair, *lacking));
    }

    /// Judges the collection `at` by what it lacks, unless that is reported item by item.
    pub(super) fn judge_lacking(&mut self, known: &Known, at: usize) {
        let of = self.lacking.iter().filter(|([_, to], _)| *to == at);
        let lacking: u64 = of.map(|(_, lacking)| lacking).sum();
        let is_reported =
            self.concerns.iter().any(|(it, count)| it.name == "few-copies" && *count > 0);
        if lacking > 0 && !is_reported {
            let name = escape::one_line(&known.collections[at].settings().name);
            self.unseen.push(format!(
                "`{name}` lacks {}, which `urepo copy --all --to COLLECTION` brings",
                human::count(lacking, "item")
            ));
        }
    }

    /// Whether one more of a kind is named, or only counted.
    pub(super) fn names_one(&mut self, kind: &str, verbosity: Verbosity) -> bool {
        let Some(at) = rank(kind) else { return true };
        let is_named = verbosity > Verbosity::Normal || self.named[at] < REPEATED_PRINTED;
        self.named[at] += u64::from(is_named);
        is_named
    }

    /// Concerns that are counted and not named.
    pub(super) fn unnamed(&self) -> impl Iterator<Item = String> {
        self.concerns.iter().zip(self.named).filter_map(|((kind, count), named)| {
            let more = count.checked_sub(named).filter(|more| *more > 0)?;
            let noun = if more == 1 { kind.one } else { kind.many };
            Some(format!("{more} more: {noun}; `-v` names each"))
        })
    }

    /// Counts an item that contradicts the ledger of its collection.
    pub(super) fn contradicted(&mut self, name: &RepositoryName, what: Contradiction) {
        if let Some(rank) = rank(what.kind()) {
            self.concerns[rank].1 += 1;
            self.concern(name);
        }
    }

    fn concern(&mut self, name: &RepositoryName) {
        self.concerned.entry(name.clone()).or_default();
    }

    pub(super) fn unlisted(&mut self, known: &Known, collection: usize, reason: String) {
        if self.collections[collection].unlisted.replace(reason).is_none() {
            let name = &known.collections[collection].settings().name;
            self.unseen.push(format!("`{name}` not listed to its end"));
        }
    }

    /// Whether there are no faults. Where the table of remedies says what to do, `has_remedy`, nothing else does.
    pub(super) fn judge(&self, known: &Known, has_remedy: bool) -> Done {
        let seen = self.concerns.iter().filter(|(_, count)| *count > 0);
        let mut parts: Vec<_> = seen
            .map(|(kind, count)| {
                let noun = if *count == 1 { kind.one } else { kind.many };
                format!("{count} {noun}")
            })
            .collect();
        parts.extend(self.unseen.iter().cloned());
        if parts.is_empty() {
            return Ok(());
        }
        let exit = if self.concerns[CONFLICT].1 > 0 { Exit::Conflict } else { Exit::Partial };
        let failure = Failure::new(exit, parts.join(", "));
        let root = |at: usize| shell::word(known.collections[at].path());
        Err(match (self.too_few, &self.orphan) {
            _ if has_remedy => failure,
            (Some(at), _) => failure.hint(format!(
                "`urepo -c {} copy --all --to COLLECTION` makes those that are missing",
                root(at)
            )),
            // The newest state is whole here: only a person knows that its Original is lost.
            (None, Some((at, name))) => {
                let is_one =
                    |(kind, count): &(ConcernKind, u64)| kind.name == "orphan" && *count == 1;
                let is_one = self.concerns.iter().any(is_one);
                let which = if is_one { name.to_string() } else { "--all".to_owned() };
                failure.hint(format!(
                    "`--with COLLECTION` names the collection that holds it; `urepo -c {} promote {which} --lost \
                     COLLECTION` makes a Copy the Original when that is lost",
                    root(*at)
                ))
            }
            (None, None) if self.unseen.is_empty() => {
                failure.hint("`urepo verify` in that collection says what is wrong")
            }
            (None, None) => {
                failure.hint("`urepo status --settings` shows where the collections should be")
            }
        })
    }
}

impl Counts {
    fn count(&mut self, holding: &JudgedHolding) {
        let Ok(record) = &holding.record else {
            self.unreadable += 1;
            return;
        };
        match record.state {
            State::Original => self.originals += 1,
            State::Copy => self.copies += 1,
            State::Elsewhere => {}
            State::Deleted => self.deleted += 1,
        }
        if record.state.has_payload() {
            // A hostile sidecar may give any size.
            self.bytes = self.bytes.saturating_add(record.payload.bytes);
        }
    }
}
