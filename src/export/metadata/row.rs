//! A description as a row: columns in the form of manifests, each with its values.

use std::collections::BTreeMap;

use super::mapping::TERMS;
use crate::sidecar::{Conditions, Sidecar};

/// The column that names the item.
const IDENTIFIER: &str = "identifier";

/// The cells of one item in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row(pub(super) Vec<(String, Vec<String>)>);

/// The columns of a table, in order, each with the number of times it occurs.
#[derive(Clone, Debug, Default)]
pub struct RowColumns(BTreeMap<(usize, String), usize>);

impl Row {
    /// The row of the item of `sidecar`. Conditions are included unless they are the defaults. Unknown keys,
    /// for which there is no column, are not.
    pub fn of(sidecar: &Sidecar) -> Row {
        let metadata = &sidecar.metadata;
        let conditions =
            Conditions { transferable: sidecar.transferable, access: sidecar.access.clone() };
        let usual = Conditions::default();
        let mut columns = vec![(IDENTIFIER.to_owned(), vec![sidecar.repository.to_string()])];
        let mut add = |name: String, values: Vec<String>| {
            if !values.is_empty() {
                columns.push((name, values));
            }
        };
        for term in TERMS.map(|row| row.term) {
            // The column of this name identifies the item.
            let name = if term == IDENTIFIER { format!("dc.{term}") } else { term.to_owned() };
            add(name, metadata.values(term).unwrap_or_default());
        }
        for key in Conditions::KEYS {
            let values = conditions.values(key);
            add(key.to_owned(), if values == usual.values(key) { Vec::new() } else { values });
        }
        for key in metadata.keys().into_iter().filter(|key| key.starts_with("x.")) {
            let values = metadata.values(&key).unwrap_or_default();
            add(key, values);
        }
        let mut related: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for relation in sidecar.relations.iter() {
            related.entry(relation.kind).or_default().push(relation.to.to_string());
        }
        for (kind, items) in related {
            add(format!("relation.{kind}"), items);
        }
        Row(columns)
    }
}

impl RowColumns {
    /// Makes room for `row`.
    pub fn add(&mut self, row: &Row) {
        for (name, values) in &row.0 {
            let most = self.0.entry((place(name), name.clone())).or_default();
            *most = values.len().max(*most);
        }
    }

    /// The names of all columns.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|((_, name), times)| std::iter::repeat_n(name.as_str(), *times))
    }

    /// The cells of `row` under these columns; `None` if it does not fit.
    pub(super) fn cells<'r>(&self, row: &'r Row) -> Option<Vec<&'r str>> {
        let mut cells = Vec::new();
        let mut taken = 0;
        for ((_, name), times) in &self.0 {
            let values = row.0.iter().find(|(known, _)| known == name);
            let values = values.map_or(&[][..], |(_, values)| values);
            if values.len() > *times {
                return None;
            }
            taken += usize::from(!values.is_empty());
            cells.extend(values.iter().map(String::as_str));
            cells.extend(std::iter::repeat_n("", times - values.len()));
        }
        (taken == row.0.len()).then_some(cells)
    }
}

/// The order of columns: the identifier, the terms, the conditions, keys below `x`, the relations.
fn place(name: &str) -> usize {
    let term = name.strip_prefix("dc.").unwrap_or(name);
    let conditions = TERMS.len() + 1;
    match TERMS.iter().position(|row| row.term == term) {
        _ if name == IDENTIFIER => 0,
        Some(at) => at + 1,
        None if Conditions::KEYS.contains(&name) => conditions,
        None if name.starts_with("x.") => conditions + 1,
        None => conditions + 2,
    }
}
