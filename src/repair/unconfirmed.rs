//! The keys of a sidecar that a donor does not confirm, though both are about the same payload.

use toml::{Table, Value};

use super::facts::{DonorFacts, Facts, Written};
use crate::item::State;
use crate::sidecar::{COPY_KEYS, Sidecar, date_value};

/// The keys of a description, with its dates.
const DESCRIPTION: [&str; 7] =
    ["timestamp", "described", "target", "transferable", "access", "metadata", "relations"];

/// The keys of `sidecar`, which the item of `own` is to have, that `donor` does not confirm.
pub(super) fn keys(
    facts: &Facts,
    (own, sidecar): (&Written, &Sidecar),
    donor: &DonorFacts,
) -> Vec<String> {
    let Some(record) = &donor.record else { return Vec::new() };
    let other = &record.sidecar;
    let is_deleted = sidecar.state == State::Deleted;
    let described = [
        // A removal has a date of its own.
        !is_deleted && sidecar.timestamp != other.timestamp,
        sidecar.described != other.described,
        sidecar.target != other.target,
        sidecar.transferable != other.transferable,
        sidecar.access != other.access,
        sidecar.metadata != other.metadata,
        sidecar.relations != other.relations,
    ];
    let removal = ("removal", is_deleted && sidecar.removal != other.removal);
    let known = DESCRIPTION
        .into_iter()
        .zip(described)
        .chain([removal])
        .filter(|(_, differs)| *differs)
        .map(|(key, _)| key.to_owned());
    let mut keys: Vec<String> = known.collect();
    let origin = differing(&sidecar.origin, &other.origin).filter(|key| {
        let is_copys = COPY_KEYS.contains(key);
        let is_told = sidecar.state == State::Copy;
        !is_copys || (is_told && !is_confirmed(key, facts, sidecar, (donor, other)))
    });
    keys.extend(origin.map(|key| format!("origin.{key}")));
    if sidecar.state == State::Copy && sidecar.made_of().is_none() {
        keys.push("origin.collection".to_owned());
    }
    if let (Some(own), Some(other)) = (own.text.added(), record.text.added()) {
        keys.extend(differing(&own, &other).map(str::to_owned));
    }
    keys
}

/// Whether a Copy gets this key, or its absence, with the description of its Original.
pub(super) fn comes_with_original(key: &str) -> bool {
    DESCRIPTION.contains(&key) || key == "origin.copied"
}

/// Whether a key that only a Copy has is right, though the donor has another value.
fn is_confirmed(
    key: &str,
    facts: &Facts,
    sidecar: &Sidecar,
    (donor, other): (&DonorFacts, &Sidecar),
) -> bool {
    let value = sidecar.origin.get(key);
    match key {
        "collection" => {
            other.state == State::Original && sidecar.made_of() == Some(&donor.collection)
        }
        "copied" => {
            let recorded = facts.recorded.as_ref().map(|it| date_value(it.line.date));
            value.is_some() && value == recorded.as_ref()
        }
        _ => other.state == State::Copy && value.and_then(Value::as_str) == Some(&donor.collection),
    }
}

/// The keys with different values in the two.
fn differing<'a>(a: &'a Table, b: &'a Table) -> impl Iterator<Item = &'a str> {
    let all = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
    all.filter(|key| a.get(*key) != b.get(*key)).map(String::as_str)
}
