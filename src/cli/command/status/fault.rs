//! The gravest fault of an item, and its words.

use urepo::holdings::{Concern, Holdings, JudgedHolding};

use crate::cli::exit::Exit;
use crate::cli::human::{copies, count};

/// The gravest fault of an item. Items with equal ones make a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fault {
    /// Its place among [`KINDS`].
    rank: usize,
    /// The collections where it is, by their numbers.
    pub(super) at: Vec<usize>,
    /// Those with the item, or with the newer state.
    pub(super) has: Vec<usize>,
    /// The thing there, if it is older: `Original`, `Copy`, `tombstone`, `stub`.
    thing: &'static str,
    /// The Copies that there are, and that there should be.
    pub(super) copies: Option<(u32, u32)>,
    /// The row of the table of remedies.
    condition: &'static str,
}

/// The kinds of faults, the gravest first: the word in JSON, which never changes its meaning, the words for people, and the exit
/// code.
const KINDS: [(&str, &str, Exit); 13] = [
    ("fork", "changed in two places", Exit::Conflict),
    ("two-originals", "two Originals", Exit::Conflict),
    ("vanished", "missing", Exit::Damage),
    ("lost", "missing", Exit::Damage),
    ("unreadable", "unreadable", Exit::Damage),
    ("unsealed", "damaged", Exit::Damage),
    ("returned", "given up", Exit::Partial),
    ("behind", "older", Exit::Partial),
    ("migration", "unfinished", Exit::Partial),
    ("orphan", "no Original", Exit::Partial),
    ("few-copies", "no Copy", Exit::Partial),
    ("open", "to do", Exit::Success),
    (NOTICE, "left over", Exit::Success),
];

/// The last kind, which may be intended.
const NOTICE: &str = "left";

impl Fault {
    pub(super) fn new(kind: &str, at: Vec<usize>) -> Fault {
        let rank = KINDS.iter().position(|(word, ..)| *word == kind).unwrap_or(KINDS.len() - 1);
        Fault { rank, at, ..Fault::default() }
    }

    /// The gravest of `concerns`, the faults of `holdings`.
    pub(super) fn gravest(holdings: &Holdings, concerns: &[Concern]) -> Option<Fault> {
        let mut fault = concerns.iter().map(|it| Fault::new(it.kind(), Vec::new())).min()?;
        let kind = fault.kind();
        for concern in concerns.iter().filter(|it| it.kind() == kind) {
            match concern {
                Concern::Lost { holder, .. } => fault.at.push(*holder),
                Concern::Left { copy, deleted } => {
                    fault.at.push(*copy);
                    fault.has.push(*deleted);
                }
                Concern::FewCopies { original, current, wanted } => {
                    fault.at.push(*original);
                    fault.copies = Some((*current, *wanted));
                }
                concern => fault.at.extend(concern.collections()),
            }
        }
        match kind {
            "lost" => fault.has = with_payload(holdings, &fault.at),
            "fork" => fault.at = with_payload(holdings, &[]),
            "behind" => {
                let behind =
                    holdings.all.iter().find(|it| fault.at.first() == Some(&it.collection));
                fault.has.extend(behind.and_then(|it| it.against));
                let state = behind.and_then(|it| Some(it.record.as_ref().ok()?.state.to_string()));
                let things = ["Original", "Copy", "tombstone", "stub"];
                let states = ["Original", "Copy", "Deleted", "Elsewhere"];
                let at = states.iter().position(|it| state.as_deref() == Some(it));
                fault.thing = things[at.unwrap_or_default()];
            }
            _ => {}
        }
        fault.at.sort_unstable();
        fault.at.dedup();
        Some(fault)
    }

    /// That the item is missing in the collections `at`.
    pub(super) fn vanished(holdings: &Holdings, at: Vec<usize>) -> Fault {
        Fault { has: with_payload(holdings, &at), ..Fault::new("vanished", at) }
    }

    /// No fault but a row of the table of remedies.
    pub(super) fn open(condition: &'static str) -> Fault {
        Fault { condition, ..Fault::new("open", Vec::new()) }
    }

    /// A word for its kind.
    pub(super) fn kind(&self) -> &'static str {
        KINDS[self.rank].0
    }

    /// The exit code of a run that finds it.
    pub(super) fn exit(&self) -> Exit {
        KINDS[self.rank].2
    }

    /// Whether it may be intended.
    pub(super) fn is_notice(&self) -> bool {
        self.exit() == Exit::Success
    }

    pub(super) fn severity(&self) -> &'static str {
        match self.exit() {
            Exit::Success => "notice",
            Exit::Partial => "warning",
            _ => "damage",
        }
    }

    /// Its kind, for people.
    pub(super) fn label(&self) -> &'static str {
        let has_some = self.copies.is_some_and(|(current, _)| current > 0);
        if has_some { "too few Copies" } else { KINDS[self.rank].1 }
    }

    /// The fault of `number` items; `called` are the collections.
    pub(super) fn in_words(&self, number: u64, called: &[String]) -> String {
        let (at, has) = (listed(&self.at, called), listed(&self.has, called));
        let items = count(number, "item");
        let (is, it) = if number == 1 { ("is", "it") } else { ("are", "them") };
        match self.kind() {
            "vanished" | "lost" => {
                let has = match self.has.len() {
                    0 => "no other collection in sight has".to_owned(),
                    1 => format!("{has} has"),
                    _ => format!("{has} have"),
                };
                format!("{items} {is} gone from {at}; {has} {it}")
            }
            "unsealed" => {
                format!("{items} in {at}, whose item.toml was changed by hand or damaged")
            }
            "returned" => format!("{items} {is} in {at} again, where a person gave {it} up"),
            "behind" => {
                let newer = match self.thing {
                    "Copy" => "the Original".to_owned(),
                    _ => format!("what {has} has"),
                };
                let things = match self.thing {
                    "Copy" => copies(number),
                    thing => count(number, thing),
                };
                format!("{things} in {at} {is} older than {newer}")
            }
            "migration" => format!("{items} on the way from {at}"),
            "open" => format!("{items}: {}", self.condition),
            "orphan" => {
                format!("{} in {at}, whose Original is in no collection in sight", copies(number))
            }
            "few-copies" => match self.copies.unwrap_or_default() {
                (0, wanted) => {
                    format!("{items}, of which there should be {}", copies(wanted.into()))
                }
                (current, wanted) => format!("{items} with {current} of {}", copies(wanted.into())),
            },
            NOTICE => format!("{} in {at}, deleted in {has}", copies(number)),
            _ => format!("{items} in {at}"),
        }
    }
}

/// The collections other than `besides` that have the files.
fn with_payload(holdings: &Holdings, besides: &[usize]) -> Vec<usize> {
    let has = |it: &&JudgedHolding| {
        it.record.as_ref().is_ok_and(|it| it.state.has_payload())
            && !besides.contains(&it.collection)
    };
    holdings.all.iter().filter(has).map(|it| it.collection).collect()
}

fn listed(at: &[usize], called: &[String]) -> String {
    let names: Vec<_> = at.iter().map(|at| called[*at].as_str()).collect();
    match names.split_last() {
        Some((last, before @ [_, ..])) => format!("{} and {last}", before.join(", ")),
        _ => names.concat(),
    }
}
