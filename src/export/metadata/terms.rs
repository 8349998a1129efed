//! The terms of a description, whatever the type of their values.

use toml::{Table, Value};

use super::mapping::{self, RelationMapping, TermMapping};
use crate::sidecar::{Metadata, Relation, Relations, Sidecar};

/// The description in a sidecar, perhaps written by hand.
pub(crate) struct Terms<'a> {
    table: &'a Table,
    relations: &'a Relations,
}

impl<'a> Terms<'a> {
    pub(crate) fn of(sidecar: &'a Sidecar) -> Terms<'a> {
        Terms::new(&sidecar.metadata, &sidecar.relations)
    }

    pub(super) fn new(metadata: &'a Metadata, relations: &'a Relations) -> Terms<'a> {
        Terms { table: metadata.table(), relations }
    }

    /// The values of a term, in their order.
    pub(crate) fn values(&self, term: &str) -> Vec<String> {
        let mut values = Vec::new();
        if let Some(value) = self.table.get(term) {
            collect(value, &mut values);
        }
        values
    }

    /// Its first value.
    pub(crate) fn first(&self, term: &str) -> Option<String> {
        self.values(term).into_iter().next()
    }

    /// The values of several terms, one term after the other.
    pub(crate) fn all(&self, terms: &[&str]) -> Vec<String> {
        terms.iter().flat_map(|term| self.values(term)).collect()
    }

    /// Keys below `x`, with their values.
    pub(crate) fn own(&self) -> Vec<(String, String)> {
        let mut pairs = Vec::new();
        for (key, value) in self.table.get("x").and_then(Value::as_table).into_iter().flatten() {
            let mut values = Vec::new();
            collect(value, &mut values);
            pairs.extend(values.into_iter().map(|value| (key.clone(), value)));
        }
        pairs
    }

    /// The values of the terms that a format has, one term after the other.
    pub(super) fn mapped(&self, is_wanted: impl Fn(&TermMapping) -> bool) -> Vec<String> {
        self.all(&mapping::terms_of(is_wanted))
    }

    /// Related items, each with the mapping of its relation.
    pub(super) fn related(&self) -> impl Iterator<Item = (&'static RelationMapping, Relation)> {
        self.relations.iter().filter_map(|it| Some((mapping::of_relation(it.kind.key())?, it)))
    }
}

fn collect(value: &Value, values: &mut Vec<String>) {
    match value {
        Value::String(text) if text.trim().is_empty() => {}
        Value::String(text) => values.push(text.clone()),
        Value::Array(several) => several.iter().for_each(|value| collect(value, values)),
        Value::Table(table) => table.values().for_each(|value| collect(value, values)),
        other => values.push(other.to_string()),
    }
}

/// The DOI in a text that is a DOI, with or without a prefix.
pub(super) fn doi(text: &str) -> Option<&str> {
    const INTRODUCTIONS: [&str; 3] = ["https://doi.org/", "http://doi.org/", "doi:"];
    let bare = INTRODUCTIONS.iter().find_map(|start| {
        let head = text.get(..start.len())?;
        head.eq_ignore_ascii_case(start).then(|| text[start.len()..].trim_start())
    });
    let bare = bare.unwrap_or(text);
    (bare.starts_with("10.") && bare.contains('/')).then_some(bare)
}

/// A text on one line: a value with lines would begin a line of a format of lines.
pub(super) fn one_line(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
