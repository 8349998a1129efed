//! Counts over all collections.

use std::collections::BTreeMap;

use urepo::holdings::{Holdings, JudgedHolding, Standing};
use urepo::item::State;

use super::fault::Fault;
use crate::cli::Done;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::human;
use crate::cli::known::Known;

/// The counts.
pub(super) struct Tally {
    pub(super) items: u64,
    /// Those that are not deleted everywhere.
    live: u64,
    /// One for each known collection.
    pub(super) collections: Vec<Counts>,
    /// Collections that could not be opened or listed, and their outcomes.
    pub(super) unseen: Vec<String>,
    /// Number of items whose gravest fault is of each kind.
    pub(super) kinds: BTreeMap<&'static str, u64>,
    /// Number of items with a fault, and the exit codes of these.
    faulty: u64,
    exits: Vec<Exit>,
    /// Of the Originals of one collection, the number without a current Copy in another, by their numbers.
    lacking: BTreeMap<[usize; 2], u64>,
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

impl Tally {
    pub(super) fn new(known: &Known) -> Tally {
        Tally {
            items: 0,
            live: 0,
            collections: vec![Counts::default(); known.collections.len()],
            unseen: Vec::new(),
            kinds: BTreeMap::new(),
            faulty: 0,
            exits: Vec::new(),
            lacking: BTreeMap::new(),
        }
    }

    pub(super) fn count(&mut self, holdings: &Holdings) {
        self.items += 1;
        let is_live =
            |it: &JudgedHolding| it.record.as_ref().is_ok_and(|it| it.state.has_payload());
        self.live += u64::from(holdings.all.iter().any(is_live));
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
    }

    /// Counts an item that only a ledger knows.
    pub(super) fn count_absent(&mut self) {
        self.items += 1;
        self.live += 1;
    }

    /// Calls `visit` for each collection with Originals and each other one, with the number of those that the other lacks.
    pub(super) fn each_pair(&self, mut visit: impl FnMut([usize; 2], u64)) {
        self.lacking.iter().for_each(|(pair, lacking)| visit(*pair, *lacking));
    }

    /// Number of Originals of the first that have no current Copy in the second.
    pub(super) fn lacks(&self, pair: [usize; 2]) -> u64 {
        self.lacking.get(&pair).copied().unwrap_or_default()
    }

    /// Judges the collection `at`, which is called `called`, by what it lacks, unless that is reported item by item.
    pub(super) fn judge_lacking(&mut self, at: usize, called: &str) {
        let of = self.lacking.iter().filter(|([_, to], _)| *to == at);
        let lacking: u64 = of.map(|(_, lacking)| lacking).sum();
        if lacking > 0 && !self.kinds.contains_key("few-copies") {
            let items = human::count(lacking, "item");
            let hint = "which `urepo copy --all --to COLLECTION` brings";
            self.unseen.push(format!("`{called}` lacks {items}, {hint}"));
        }
    }

    pub(super) fn unlisted(&mut self, collection: usize, called: &str, reason: String) {
        if self.collections[collection].unlisted.replace(reason).is_none() {
            self.unseen.push(format!("`{called}` not listed to its end"));
        }
    }

    /// Counts the gravest fault of an item.
    pub(super) fn found(&mut self, fault: &Fault) {
        *self.kinds.entry(fault.kind()).or_default() += 1;
        self.faulty += u64::from(!fault.is_notice());
        if !self.exits.contains(&fault.exit()) {
            self.exits.push(fault.exit());
        }
    }

    /// The gravest exit code, if there are faults; `hints` say what mends them.
    pub(super) fn judge(&self, hints: &[String]) -> Done {
        let mut facts = Vec::new();
        if let faulty @ 1.. = self.faulty {
            let need = if faulty == 1 { "needs" } else { "need" };
            facts
                .push(format!("{faulty} of {} {need} attention", human::count(self.items, "item")));
        }
        facts.extend(self.unseen.iter().cloned());
        if facts.is_empty() {
            return Ok(());
        }
        let found = |exit: &Exit| self.exits.contains(exit);
        let exit = [Exit::Damage, Exit::Conflict].into_iter().find(found);
        let failure = Failure::new(exit.unwrap_or(Exit::Partial), facts.join(", "));
        let settings = "`urepo status --settings` shows where the collections should be";
        Err(match hints.is_empty() {
            true if self.unseen.is_empty() => failure,
            true => failure.hint(settings),
            false => failure.hint(hints.join("\n")),
        })
    }

    /// The last line, if there are no faults.
    pub(super) fn closing(&self, known: &Known) -> String {
        let items = human::count(self.live, "item");
        let with_originals =
            known.collections.iter().zip(&self.collections).filter(|(_, it)| it.originals > 0);
        let mut wanted = with_originals.map(|(it, _)| it.settings().copies);
        let first = wanted.next().unwrap_or_default();
        match first {
            _ if known.collections.len() == 1 && known.missing.is_empty() => {
                format!("{items}, no second collection known: nothing has a Copy")
            }
            _ if !wanted.all(|it| it == first) => {
                format!("{items}: each has its Copies, and all agree")
            }
            0 => format!("{items}: all agree"),
            1 => format!("{items}: each has its 1 Copy, and all agree"),
            copies => format!("{items}: each has its {copies} Copies, and all agree"),
        }
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
