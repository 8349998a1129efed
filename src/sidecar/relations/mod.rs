//! The relations of an item: editions, translations, metadata, units, and free kinds below `x`.
//!
//! [`Relations`] keeps the table of the sidecar unchanged. Values that cannot be understood stay, and
//! [`Relations::unclear`] names them. An identifier keeps the spelling that it was stored in.
//!
//! Translations lead to and from the first text, which need not list itself: its language is in its
//! description.

mod kind;
#[cfg(test)]
mod tests;

use toml::{Table, Value};

use crate::identity::{Identifier, Language};

use kind::{OWN, PLAIN, TRANSLATION, is_own};
pub use kind::{RELATION_KEYS, RelationKind};

/// The relations of an item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Relations(Table);

/// A relation of one item to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// The kind of relation.
    pub kind: RelationKind,
    /// The other item.
    pub to: Identifier,
}

/// Why a relation is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RelationError {
    /// The kind does not exist.
    #[error("`{0}` is not a kind of relation")]
    UnknownKind(String),
    /// An item has at most one relation of this kind, and already has another.
    #[error("its `{kind}` is `{held}` already")]
    Occupied {
        /// The kind.
        kind: RelationKind,
        /// The other item.
        held: Identifier,
    },
    /// The value of this key in the sidecar is not understood, and is not overwritten.
    #[error("its `{0}` is not understood and stays as it is")]
    Unclear(RelationKind),
}

/// A value of `[relations]` that is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnclearRelation {
    /// The key, with those of its tables.
    pub key: String,
    /// The fault, as a part of a sentence.
    pub reason: &'static str,
}

const NOT_A_KIND: &str = "it is not a kind of relation; kinds of your own stand below `x`";
const NOT_A_LANGUAGE: &str = "its key is not a language tag";
const NOT_A_KEY: &str = "its key has characters other than letters, digits, `-` and `_`";
const NOT_AN_IDENTIFIER: &str = "it is not an identifier";
const NOT_A_TABLE: &str = "it is not a table";
const SEVERAL: &str = "it has several values, and one is expected";

impl Relations {
    /// The relations in a sidecar, unchecked and unchanged.
    pub fn as_found(table: Table) -> Relations {
        Relations(table)
    }

    /// The table of the sidecar.
    pub fn table(&self) -> &Table {
        &self.0
    }

    /// Whether the table is empty, without even a value that is not understood.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All relations that are understood, in the order of the sidecar.
    pub fn iter(&self) -> impl Iterator<Item = Relation> {
        self.read().0.into_iter()
    }

    /// The values that are not understood.
    pub fn unclear(&self) -> Vec<UnclearRelation> {
        self.read().1
    }

    /// The items that it has of `kind`.
    pub fn of(&self, kind: &RelationKind) -> impl Iterator<Item = Identifier> {
        self.iter().filter(move |relation| relation.kind == *kind).map(|relation| relation.to)
    }

    /// The first item that it has of `kind`.
    pub fn first(&self, kind: &RelationKind) -> Option<Identifier> {
        self.of(kind).next()
    }

    /// Adds a relation to the item `to`, which `alias` may name as well. Returns whether it is new.
    pub fn add(
        &mut self,
        kind: &RelationKind,
        to: &Identifier,
        alias: Option<&Identifier>,
    ) -> Result<bool, RelationError> {
        let held: Vec<_> = self.of(kind).collect();
        if held.iter().any(|held| held == to || Some(held) == alias) {
            return Ok(false);
        }
        if let Some(held) = held.into_iter().next().filter(|_| kind.is_single()) {
            return Err(RelationError::Occupied { kind: kind.clone(), held });
        }
        let unclear = || RelationError::Unclear(kind.clone());
        let (table, key) = self.place(kind).ok_or_else(unclear)?;
        let value = Value::String(to.to_string());
        match table.get_mut(&key) {
            None => {
                table.insert(key, value);
            }
            Some(_) if kind.is_single() => return Err(unclear()),
            Some(Value::Array(values)) => values.push(value),
            Some(single @ Value::String(_)) => *single = Value::Array(vec![single.clone(), value]),
            Some(_) => return Err(unclear()),
        }
        Ok(true)
    }

    /// Removes the relation to the item `to`, which `alias` may name as well. Returns whether there was one.
    pub fn remove(
        &mut self,
        kind: &RelationKind,
        to: &Identifier,
        alias: Option<&Identifier>,
    ) -> bool {
        let is_it = |value: &Value| {
            identifier(value).is_some_and(|held| held == *to || Some(&held) == alias)
        };
        let (outer, _) = kind.keys();
        // A key that people wrote need not be in its normal form.
        let mut is_removed = false;
        let mut prune = |table: &mut Table, is_of_kind: &dyn Fn(&str) -> bool| {
            table.retain(|key, value| match value {
                _ if !is_of_kind(key) => true,
                Value::Array(values) => {
                    let before = values.len();
                    values.retain(|value| !is_it(value));
                    is_removed |= values.len() < before;
                    !values.is_empty()
                }
                value if is_it(value) => {
                    is_removed = true;
                    false
                }
                _ => true,
            });
        };
        match (kind, self.0.get_mut(outer)) {
            (RelationKind::Translation(language), Some(Value::Table(table))) => {
                prune(table, &|key| Language::normalised(key).as_ref() == Ok(language));
            }
            (RelationKind::Own(name), Some(Value::Table(table))) => {
                prune(table, &|key| key == name);
            }
            (RelationKind::Translation(_) | RelationKind::Own(_), _) => {}
            (_, _) => prune(&mut self.0, &|key| key == outer),
        }
        if is_removed && matches!(self.0.get(outer), Some(Value::Table(table)) if table.is_empty())
        {
            self.0.remove(outer);
        }
        is_removed
    }

    /// Adds the relations of `other` of kinds that are missing here.
    pub(crate) fn complete_with(&mut self, other: Relations) {
        for (key, value) in other.0 {
            self.0.entry(key).or_insert(value);
        }
    }

    /// The table and the key of a relation of `kind`.
    fn place(&mut self, kind: &RelationKind) -> Option<(&mut Table, String)> {
        match kind.keys() {
            (key, None) => Some((&mut self.0, key.to_owned())),
            (outer, Some(key)) => {
                let inner = self.0.entry(outer).or_insert_with(|| Value::Table(Table::new()));
                inner.as_table_mut().map(|inner| (inner, key))
            }
        }
    }

    fn read(&self) -> (Vec<Relation>, Vec<UnclearRelation>) {
        let mut reader = RelationReader::default();
        for (key, value) in &self.0 {
            let plain = PLAIN.iter().find(|(_, known)| known == key);
            match (plain, key.as_str(), value) {
                (Some((kind, _)), ..) => reader.values(key, kind, value),
                (None, TRANSLATION, Value::Table(table)) => {
                    for (tag, value) in table {
                        let key = format!("{TRANSLATION}.{tag}");
                        match Language::normalised(tag) {
                            Ok(language) => {
                                reader.values(&key, &RelationKind::Translation(language), value);
                            }
                            Err(_) => reader.unclear(key, NOT_A_LANGUAGE),
                        }
                    }
                }
                (None, OWN, Value::Table(table)) => {
                    for (name, value) in table {
                        let key = format!("{OWN}.{name}");
                        if is_own(name) {
                            reader.values(&key, &RelationKind::Own(name.clone()), value);
                        } else {
                            reader.unclear(key, NOT_A_KEY);
                        }
                    }
                }
                (None, TRANSLATION | OWN, _) => reader.unclear(key.clone(), NOT_A_TABLE),
                (None, ..) => reader.unclear(key.clone(), NOT_A_KIND),
            }
        }
        (reader.relations, reader.unclear)
    }
}

#[derive(Default)]
struct RelationReader {
    relations: Vec<Relation>,
    unclear: Vec<UnclearRelation>,
}

impl RelationReader {
    fn values(&mut self, key: &str, kind: &RelationKind, value: &Value) {
        let values = match value {
            Value::Array(values) => values.as_slice(),
            value => std::slice::from_ref(value),
        };
        if kind.is_single() && values.len() > 1 {
            self.unclear(key.to_owned(), SEVERAL);
        }
        for value in values {
            match identifier(value) {
                Some(to) => self.relations.push(Relation { kind: kind.clone(), to }),
                None => self.unclear(key.to_owned(), NOT_AN_IDENTIFIER),
            }
        }
    }

    fn unclear(&mut self, key: String, reason: &'static str) {
        self.unclear.push(UnclearRelation { key, reason });
    }
}

/// The identifier in a value, which may depart from the grammar as existing ones do.
fn identifier(value: &Value) -> Option<Identifier> {
    value.clone().try_into().ok()
}
