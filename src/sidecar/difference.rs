//! The differences between two descriptions of an item, key by key.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::Sidecar;

/// A key of a sidecar whose value changes. A missing value is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyChange {
    /// The key with the tables above it, as in `metadata.title` and `metadata.x.box`.
    pub key: String,
    /// The value before.
    pub before: Option<Value>,
    /// The value afterwards.
    pub after: Option<Value>,
}

impl Sidecar {
    /// The keys of the description whose values `after` changes.
    pub fn differences(&self, after: &Sidecar) -> Vec<KeyChange> {
        let mut changes = Vec::new();
        let mut compare = |key: &str, before: Option<Value>, after: Option<Value>| {
            // `nan` does not equal itself.
            let text = |value: &Option<Value>| value.as_ref().map(Value::to_string);
            if before != after && text(&before) != text(&after) {
                changes.push(KeyChange { key: key.to_owned(), before, after });
            }
        };
        let target = |it: &Sidecar| it.target.as_ref().map(|path| path.to_text().as_ref().into());
        compare("target", target(self), target(after));
        let transferable = |it: &Sidecar| Some(Value::Boolean(it.transferable));
        compare("transferable", transferable(self), transferable(after));
        compare_tables("access", &self.access.table(), &after.access.table(), &mut compare);
        compare_tables("metadata", self.metadata.table(), after.metadata.table(), &mut compare);
        compare_tables("relations", self.relations.table(), after.relations.table(), &mut compare);
        changes
    }
}

/// Compares the values of two tables, and of the tables directly in them.
fn compare_tables(
    above: &str,
    before: &Table,
    after: &Table,
    compare: &mut impl FnMut(&str, Option<Value>, Option<Value>),
) {
    let keys: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    for key in keys {
        let path = format!("{above}.{key}");
        match (before.get(key), after.get(key)) {
            (None | Some(Value::Table(_)), None | Some(Value::Table(_))) => {
                let inner = |table: &Table| table.get(key).and_then(Value::as_table).cloned();
                let [before, after] = [before, after].map(|table| inner(table).unwrap_or_default());
                let keys: BTreeSet<_> = before.keys().chain(after.keys()).collect();
                for key in keys {
                    let values = (before.get(key).cloned(), after.get(key).cloned());
                    compare(&format!("{path}.{key}"), values.0, values.1);
                }
            }
            (before, after) => compare(&path, before.cloned(), after.cloned()),
        }
    }
}
