//! Counts over all collections.

use std::collections::BTreeMap;

use urepo::holdings::{Concern, Holding, Holdings, Standing};
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
    /// The rank of the most urgent concern, and what to type next if it is the only one of its kind, and if not.
    first: Option<(usize, [String; 2])>,
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

/// A kind of concern, its text in counts, and the next command: `NAME` stands for an item, `PATH` for the
/// collection, `OTHER` for the second of two.
#[derive(Clone, Copy)]
pub(super) struct ConcernKind {
    pub(super) name: &'static str,
    one: &'static str,
    many: &'static str,
    hint: &'static str,
}

/// In order of urgency.
const KINDS: [ConcernKind; 11] = [
    ConcernKind {
        name: "two-originals",
        one: "item with two Originals",
        many: "items with two Originals",
        hint: "`urepo whereis NAME` shows where they are",
    },
    ConcernKind {
        name: "returned",
        one: "item back after it was given up",
        many: "items back after they were given up",
        hint: "`urepo -c PATH verify NAME` says when, and what to do",
    },
    ConcernKind {
        name: "lost",
        one: "item lost by its holder",
        many: "items lost by their holder",
        hint: "`urepo -c OTHER repair NAME --from PATH` brings it back there; if it cannot be, `urepo -c PATH promote NAME`",
    },
    ConcernKind {
        name: "migration",
        one: "unfinished migration",
        many: "unfinished migrations",
        hint: "`urepo -c PATH recover` finishes or withdraws them",
    },
    ConcernKind {
        name: "unreadable",
        one: "unreadable sidecar",
        many: "unreadable sidecars",
        hint: "`urepo -c PATH verify --quick NAME` lists what is wrong",
    },
    ConcernKind {
        name: "unsealed",
        one: "broken seal",
        many: "broken seals",
        hint: "`urepo -c PATH verify NAME` lists what is wrong",
    },
    ConcernKind {
        name: "few-copies",
        one: "item with too few Copies",
        many: "items with too few Copies",
        hint: "`urepo -c PATH copy --all --to COLLECTION` makes those that are missing",
    },
    ConcernKind {
        name: "behind",
        one: "item behind a newer state",
        many: "items behind a newer state",
        hint: "`urepo -c OTHER copy NAME --to PATH` brings a Copy up to date; an Original that was put back needs `urepo -c \
               PATH recover --with OTHER`",
    },
    ConcernKind {
        name: "fork",
        one: "item changed in two collections",
        many: "items changed in two collections",
        hint: "`urepo whereis NAME` shows both; `urepo promote NAME` in the collection whose line goes on ends it",
    },
    ConcernKind {
        name: "orphan",
        one: "Copy without an Original",
        many: "Copies without an Original",
        hint: "`--with COLLECTION` names the collection that holds it; `urepo -c PATH promote NAME --lost COLLECTION \
               --reason TEXT` makes a Copy the Original when that is lost",
    },
    ConcernKind {
        name: "vanished",
        one: "item vanished",
        many: "items vanished",
        hint: "`urepo -c PATH repair --quick --from COLLECTION` brings back what that collection holds",
    },
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
            first: None,
        }
    }

    pub(super) fn count(&mut self, known: &Known, holdings: &Holdings, concerns: &[Concern]) {
        self.items += 1;
        for holding in &holdings.all {
            self.collections[holding.collection].count(holding);
        }
        if let [original] = holdings.originals()[..] {
            for at in (0..self.collections.len()).filter(|at| *at != original) {
                let is_copy =
                    |it: &Holding| it.collection == at && it.standing == Standing::Current;
                *self.lacking.entry([original, at]).or_default() +=
                    u64::from(!holdings.all.iter().any(is_copy));
            }
        }
        for concern in concerns {
            let Some(rank) = rank(concern.kind()) else {
                self.notices += 1;
                continue;
            };
            let mut about = concern.collections();
            if let Concern::Behind(copy) = concern {
                let copy = holdings.all.iter().find(|holding| holding.collection == *copy);
                about.extend(copy.and_then(|copy| copy.against));
            }
            self.add(known, rank, &holdings.name, &about);
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
            self.unseen.push(format!("`{name}` lacks {}", human::count(lacking, "item")));
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

    /// Counts an item that contradicts the ledger of `collection`.
    pub(super) fn contradicted(
        &mut self,
        known: &Known,
        collection: usize,
        name: &RepositoryName,
        what: Contradiction,
    ) {
        if let Some(rank) = rank(what.kind()) {
            self.add(known, rank, name, &[collection]);
        }
    }

    fn add(&mut self, known: &Known, rank: usize, name: &RepositoryName, about: &[usize]) {
        self.concerns[rank].1 += 1;
        if self.first.as_ref().is_none_or(|(first, _)| rank < *first) {
            let hint = KINDS[rank].hint;
            let hints = [hint.to_owned(), hint.replace("promote NAME", "promote --all")];
            let hints = hints.map(|hint| {
                let mut hint = hint.replace("NAME", name.as_str());
                for (place, at) in ["PATH", "OTHER"].into_iter().zip(about) {
                    hint = hint.replace(place, &shell::word(known.collections[*at].path()));
                }
                hint
            });
            self.first = Some((rank, hints));
        }
    }

    pub(super) fn unlisted(&mut self, known: &Known, collection: usize, reason: String) {
        if self.collections[collection].unlisted.replace(reason).is_none() {
            let name = &known.collections[collection].settings().name;
            self.unseen.push(format!("`{name}` not listed to its end"));
        }
    }

    /// Whether there are no faults.
    pub(super) fn judge(&self) -> Done {
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
        let (exit, hint) = match &self.first {
            Some((rank, [one, many])) => {
                let exit = if *rank == CONFLICT { Exit::Conflict } else { Exit::Partial };
                (exit, if self.concerns[*rank].1 == 1 { one } else { many }.as_str())
            }
            None => (Exit::Partial, "`urepo config` shows where the collections should be"),
        };
        Err(Failure::new(exit, parts.join(", ")).hint(hint))
    }
}

impl Counts {
    fn count(&mut self, holding: &Holding) {
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
