//! Rows in formats that have fewer terms than a description.
//!
//! The description of the item is written in the format and read back. Differences from the row are changes;
//! everything else stays, so that values without a place in the format are not lost.

use std::collections::BTreeMap;

use super::DescribedError;
use crate::correction::NewValues;
use crate::sidecar::{Relations, Sidecar};

/// The values of the keys or elements of a format, in order.
pub(super) type ForeignValues = BTreeMap<String, Vec<String>>;

/// Terms that share a field. The last one takes a value where the item has none of them.
const SHARED: [(&str, [&str; 2]); 4] = [
    ("date", ["issued", "date"]),
    ("abstract", ["description", "abstract"]),
    ("description", ["abstract", "description"]),
    ("rights", ["license", "rights"]),
];

/// A row, and the present form of the item in the format.
pub(super) struct ForeignRow<'a> {
    /// The values of the item in the format.
    pub before: &'a ForeignValues,
    /// The values in the row.
    pub after: &'a ForeignValues,
    /// Whether fields that are missing from the row lose their values.
    pub clears: bool,
}

impl ForeignRow<'_> {
    /// The changed terms, for the item of `sidecar`. `term_of` returns the key of a field: among terms that
    /// share a field, the item decides.
    pub(super) fn new_values(&self, sidecar: &Sidecar) -> Result<NewValues, DescribedError> {
        let mut new = NewValues::default();
        let none = Vec::new();
        let mut fields: Vec<_> = self.after.keys().collect();
        if self.clears {
            fields.extend(self.before.keys().filter(|field| !self.after.contains_key(*field)));
        }
        for field in fields {
            let before = self.before.get(field).unwrap_or(&none);
            let after = self.after.get(field).unwrap_or(&none);
            if before == after {
                continue;
            }
            let term = term_of(field, sidecar)?;
            let held = sidecar.metadata.values(&term)?;
            let several = || DescribedError::Several { field: field.clone() };
            let values = merged(&held, before, after).ok_or_else(several)?;
            new.values.push((term, values));
        }
        Ok(new)
    }
}

/// The key that a field changes: among terms that share it, the one that the item has.
fn term_of(field: &str, sidecar: &Sidecar) -> Result<String, DescribedError> {
    let Some((_, terms)) = SHARED.iter().find(|(shared, _)| *shared == field) else {
        return Ok(field.to_owned());
    };
    let mut held = Vec::new();
    for term in terms {
        if !sidecar.metadata.values(term)?.is_empty() {
            held.push(*term);
        }
    }
    match held[..] {
        [] => Ok(terms[1].to_owned()),
        [term] => Ok(term.to_owned()),
        _ => Err(DescribedError::Several { field: field.to_owned() }),
    }
}

/// The new values for `held`, if `before`, their form in a format, becomes `after`. `None` if it is not clear
/// which value was changed.
fn merged(held: &[String], before: &[String], after: &[String]) -> Option<Vec<String>> {
    if held.len() == before.len() {
        // An unchanged value keeps its spelling.
        let value = |text: &String| {
            let at = before.iter().position(|it| it == text);
            at.map_or_else(|| text.clone(), |at| held[at].clone())
        };
        return Some(after.iter().map(value).collect());
    }
    let mut values = held.to_vec();
    for gone in before.iter().filter(|text| !after.contains(text)) {
        let at = values.iter().position(|text| text == gone)?;
        values.remove(at);
    }
    values.extend(after.iter().filter(|text| !before.contains(text)).cloned());
    Some(values)
}

/// Kinds of relation whose items differ, with those of the row.
pub(super) fn new_relations(before: &Relations, after: &Relations, clears: bool) -> NewValues {
    let mut kinds: Vec<_> = after.iter().map(|relation| relation.kind).collect();
    if clears {
        kinds.extend(before.iter().map(|relation| relation.kind));
    }
    kinds.sort();
    kinds.dedup();
    let items = |relations: &Relations, kind: &_| relations.of(kind).collect::<Vec<_>>();
    kinds.retain(|kind| items(before, kind) != items(after, kind));
    let relations = kinds.into_iter().map(|kind| (items(after, &kind), kind));
    NewValues {
        values: Vec::new(),
        relations: relations.map(|(items, kind)| (kind, items)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_format_changes_in_a_value_is_no_change() {
        let list = |texts: &[&str]| texts.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let merged = |held: &[&str], before: &[&str], after: &[&str]| {
            merged(&list(held), &list(before), &list(after))
        };
        assert_eq!(
            merged(&["a\nb", "c"], &["a b", "c"], &["a b", "d"]),
            Some(list(&["a\nb", "d"]))
        );
        assert_eq!(merged(&["a, b"], &["a", "b"], &["a", "b", "c"]), Some(list(&["a, b", "c"])));
        assert_eq!(merged(&["a, b"], &["a", "b"], &["a"]), None);
        assert_eq!(merged(&["own", "x"], &["x"], &["y"]), Some(list(&["own", "y"])));
        assert_eq!(merged(&["x"], &["x"], &[]), Some(Vec::new()));
    }
}
