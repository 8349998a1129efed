//! The terms of a description, whatever the type of their values.

use toml::{Table, Value};

use super::mapping::{self, RelationMapping, TermMapping};
use crate::sidecar::{Relation, Relations, Sidecar};

/// The description in a sidecar, perhaps written by hand.
pub(crate) struct Terms<'a> {
    table: &'a Table,
    relations: &'a Relations,
}

impl<'a> Terms<'a> {
    pub(crate) fn of(sidecar: &'a Sidecar) -> Terms<'a> {
        Terms { table: sidecar.metadata.table(), relations: &sidecar.relations }
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

/// The names in a list of people.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct People {
    pub names: Vec<String>,
    /// Whether the list ends with `et al.`: there are more people, whom it does not name.
    pub has_others: bool,
}

/// Words at the end of a list that stand for people it does not name.
const OTHERS: [&str; 10] = [
    "et al.",
    "et al",
    "et alii",
    "and others",
    "e outros",
    "e outras",
    "y otros",
    "et autres",
    "und andere",
    "u. a.",
];

impl People {
    /// The people in `values`, the last of which may be `et al.`, or end with it.
    pub(super) fn of(mut values: Vec<String>) -> People {
        let rest = values.last().and_then(|last| without_others(last)).map(str::to_owned);
        let has_others = rest.is_some();
        if let Some(rest) = rest {
            values.pop();
            values.extend((!rest.is_empty()).then_some(rest));
        }
        People { names: values, has_others }
    }
}

/// The name before `et al.` at the end of `name`; `None` without such an end.
fn without_others(name: &str) -> Option<&str> {
    let name = name.trim();
    let bare = name.trim_matches(['[', ']', '(', ')']);
    if bare.eq_ignore_ascii_case("others") || bare.eq_ignore_ascii_case("outros") {
        return Some("");
    }
    OTHERS.iter().find_map(|others| {
        let start = bare.len().checked_sub(others.len())?;
        let (before, end) = (bare.get(..start)?, bare.get(start..)?);
        let ends = |c: char| c.is_whitespace() || [',', ';', '[', '('].contains(&c);
        let is_word = before.is_empty() || before.ends_with(ends);
        (end.eq_ignore_ascii_case(others) && is_word).then(|| before.trim_end_matches(ends))
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn et_al_is_a_mark_and_not_a_person() {
        for (last, rest, has_others) in [
            ("et al.", "", true),
            ("others", "", true),
            ("AND OTHERS", "", true),
            ("e outros", "", true),
            ("[et al.]", "", true),
            ("Costa, Rui et al.", "Costa, Rui", true),
            ("Costa, Rui, et al", "Costa, Rui", true),
            ("Costa, Rui [et al.]", "Costa, Rui", true),
            ("Łoś, Jan u. a.", "Łoś, Jan", true),
            ("Costa, Rui", "Costa, Rui", false),
            ("Significant Others", "Significant Others", false),
            ("Duet al.", "Duet al.", false),
            ("他", "他", false),
        ] {
            let found = People::of(vec!["Silva, Ana".to_owned(), last.to_owned()]);
            let mut names = vec!["Silva, Ana".to_owned()];
            names.extend((!rest.is_empty()).then(|| rest.to_owned()));
            assert_eq!(found, People { names, has_others }, "{last}");
        }
        assert_eq!(People::of(Vec::new()), People { names: Vec::new(), has_others: false });
    }
}
