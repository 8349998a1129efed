//! Restoring the sidecar of a broken seal, with the text of a donor.
//!
//! The seal covers every byte before it. The sidecars of other holdings still have the description that has
//! rotted here. Combined with the lines of this holding alone, they give the sealed text, and its digest
//! proves it.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::facts::{DonorFacts, Facts, Written};
use crate::identity::SECOND;
use crate::item::State;
use crate::sidecar::{COPY_KEYS, NewText, Seal, Sidecar, SidecarText, date_value};

/// Limit in seconds between the writing of a Copy's sidecar and its record, within which its date is
/// searched.
const RECORDED_WITHIN: i128 = 10;

/// Limit on a text for which dates are tried.
const LONGEST_DATED: usize = 64 * 1024;

/// At most this number of the 64 digits of the seal may have rotted: the others still prove the text.
const MOST_ROTTEN: usize = 4;

/// The first text made of `own` and one of `donors` with the digest in the seal of `own`, and the donor.
pub(super) fn as_sealed(
    facts: &Facts,
    own: &Written,
    donors: &[DonorFacts],
) -> Option<(usize, Sidecar, NewText)> {
    let Seal::Broken { sealed, .. } = own.seal else { return None };
    let sealed = sealed.to_string();
    let copies = copies(facts, own, donors);
    // Changing a text means parsing it, which takes long for many files, so that comes last.
    [Spelling::Plain, Spelling::OfOwn, Spelling::OfDonor].into_iter().find_map(|spelling| {
        donors.iter().enumerate().find_map(|(at, donor)| {
            let donor = donor.record.as_ref()?;
            candidates(&own.sidecar, &donor.sidecar, &copies).find_map(|candidate| {
                let text = spelling.print(&candidate, own, donor)?;
                if !has_seal(&text, &sealed) {
                    return None;
                }
                let text = match &own.text {
                    SidecarText::Held(_) => NewText::Held(text.into_bytes()),
                    SidecarText::Digested(_) => NewText::Printed(Box::new(candidate.clone())),
                };
                Some((at, candidate, text))
            })
        })
    })
}

/// Whether `text` ends with the seal `sealed`, of which a few digits may have rotted.
fn has_seal(text: &str, sealed: &str) -> bool {
    let Some((_, found)) = text.trim_end_matches("\"\n").rsplit_once('"') else { return false };
    let others = found.bytes().zip(sealed.bytes()).filter(|(found, sealed)| found != sealed);
    found.len() == sealed.len() && others.count() <= MOST_ROTTEN
}

/// Candidates for the former sidecar: shared values from `donor`, the others from `own`, or computed if they
/// have rotted. `copies` are the possible values of a Copy about its copying.
fn candidates<'a>(
    own: &'a Sidecar,
    donor: &'a Sidecar,
    copies: &[Table],
) -> impl Iterator<Item = Sidecar> + 'a {
    let mut shared = donor.clone();
    shared.remove_copy_keys();
    let mut kept = own.clone();
    kept.remove_copy_keys();
    // Hand-overs, removals and restorations may be recorded here alone.
    let mut both = kept.origin.clone();
    both.extend(shared.origin.clone());
    let mut heads = Vec::new();
    for history in [shared.origin, kept.origin, both] {
        for copied in copies.iter().chain([&donor.origin]) {
            let copied = copied.iter().filter(|(key, _)| COPY_KEYS.contains(&key.as_str()));
            let mut origin = history.clone();
            origin.extend(copied.map(|(key, value)| (key.clone(), value.clone())));
            let is_copy = COPY_KEYS.iter().any(|key| origin.contains_key(*key));
            let likely = if is_copy { State::Copy } else { State::Original };
            for state in [own.state, likely] {
                // A removal has a date of its own.
                for timestamp in [donor.timestamp, own.timestamp] {
                    let head = (state, timestamp, origin.clone());
                    if !heads.contains(&head) {
                        heads.push(head);
                    }
                }
            }
        }
    }
    heads.into_iter().map(|(state, timestamp, origin)| Sidecar {
        state,
        timestamp,
        origin,
        repository: own.repository.clone(),
        handover: own.handover.clone(),
        removal: own.removal.clone(),
        ..donor.clone()
    })
}

/// The possible values in `[origin]` about the copying; empty for an Original.
fn copies(facts: &Facts, own: &Written, donors: &[DonorFacts]) -> Vec<Table> {
    let own_origin = &own.sidecar.origin;
    let mut copies = vec![own_origin.clone(), Table::new()];
    let mut add = |key: &str, value: Option<Value>| {
        let mut other = own_origin.clone();
        other.remove(key);
        other.extend(value.map(|value| (key.to_owned(), value)));
        copies.push(other);
    };
    add("through", None);
    let records = donors.iter().filter_map(|donor| donor.record.as_ref());
    let ids: BTreeSet<&str> = facts
        .elsewhere(donors)
        .map(|it| &*it.collection)
        .chain(records.filter_map(|record| record.sidecar.made_of()))
        .chain(facts.holder_elsewhere(donors))
        .collect();
    for id in ids {
        add("collection", Some(id.into()));
        add("through", Some(id.into()));
    }
    let is_short = matches!(&own.text, SidecarText::Held(text) if text.len() <= LONGEST_DATED);
    if let Some(recorded) = facts.recorded.as_ref().filter(|_| is_short) {
        for seconds in 0..=RECORDED_WITHIN {
            let date = recorded.line.date.checked_add(-seconds * SECOND);
            add("copied", date.map(date_value));
        }
    }
    copies
}

/// The spelling of a text.
#[derive(Clone, Copy)]
enum Spelling {
    /// The form that urepo writes.
    Plain,
    /// With the comments and other keys of the item's own sidecar.
    OfOwn,
    /// With those of the donor's.
    OfDonor,
}

impl Spelling {
    /// The sealed text of `candidate`.
    fn print(self, candidate: &Sidecar, own: &Written, donor: &Written) -> Option<String> {
        match self {
            Spelling::Plain => Some(candidate.to_text()),
            Spelling::OfOwn => spell_like(candidate, own),
            Spelling::OfDonor => spell_like(candidate, donor),
        }
    }
}

/// The text of `candidate` in place of `written`. A long text has the form that urepo prints, or cannot be
/// changed.
fn spell_like(candidate: &Sidecar, written: &Written) -> Option<String> {
    match &written.text {
        SidecarText::Held(text) => candidate.rewrite(text, &written.sidecar).ok(),
        SidecarText::Digested(_) => None,
    }
}
