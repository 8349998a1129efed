//! Answers to queries.

use std::ops::ControlFlow;

use rusqlite::types::Value;

use super::record::seconds;
use super::rows::{ITEM_COLUMNS, ItemRow, number_of};
use super::tables::Tables;
use super::{IndexError, Query};
use crate::identity::{Prefix, RepositoryName};
use crate::item::twins::fold;

/// A part of a statement, with its bound values.
#[derive(Default)]
struct Clauses {
    text: String,
    values: Vec<Value>,
}

impl Clauses {
    /// Adds a condition; each `?` in it takes one of `values`.
    fn and(&mut self, condition: &str, values: impl IntoIterator<Item = Value>) {
        self.text.push_str(" AND ");
        self.text.push_str(condition);
        self.values.extend(values);
    }
}

/// The wanted part of the records that a query finds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which<'a> {
    /// All.
    All,
    /// Those after this one.
    After(&'a Position),
    /// Those of these numbers.
    Only(&'a [i64]),
}

/// The position of a record in the order of answers.
#[derive(Clone, Debug)]
pub(crate) struct Position {
    created: i64,
    leaf: String,
    number: i64,
}

impl Position {
    pub(crate) fn of(name: &RepositoryName, kept: &ItemRow) -> Position {
        let [.., leaf] = name.components();
        Position { created: kept.created, leaf: leaf.to_owned(), number: kept.number }
    }
}

impl Tables<'_> {
    /// Calls `visit` with the name and the row of each record that `query` finds, in order of date, until
    /// `visit` breaks.
    pub(crate) fn search<E: From<IndexError>>(
        &self,
        query: &Query,
        which: Which<'_>,
        mut visit: impl FnMut(RepositoryName, ItemRow) -> Result<ControlFlow<()>, E>,
    ) -> Result<(), E> {
        let clauses = self.clauses(query, which)?;
        // Sorting few rows takes less time than reading many in order.
        let order = if query.is_narrow() || matches!(which, Which::Only(_)) {
            "+item.created"
        } else {
            "item.created"
        };
        let metadata = if query.wanted.terms.is_empty() { "''" } else { "item.metadata" };
        let text = format!(
            "SELECT directory.path, item.leaf, {metadata}, {ITEM_COLUMNS} FROM item
             JOIN directory ON directory.id = item.directory WHERE 1{} ORDER BY {order}, item.leaf, item.id",
            clauses.text
        );
        let mut select = self.0.prepare_cached(&text).map_err(IndexError::from)?;
        let values = rusqlite::params_from_iter(clauses.values);
        let mut rows = select.query(values).map_err(IndexError::from)?;
        while let Some(row) = rows.next().map_err(IndexError::from)? {
            let read = || -> rusqlite::Result<_> {
                let (directory, leaf): (String, String) = (row.get(0)?, row.get(1)?);
                Ok((directory, leaf, row.get::<_, String>(2)?, ItemRow::read(row, 3)?))
            };
            let (directory, leaf, metadata, kept) = read().map_err(IndexError::from)?;
            let Ok((name, _)) = RepositoryName::parse_as_found(&format!("{directory}/{leaf}"))
            else {
                continue;
            };
            let terms = &query.wanted.terms;
            let fits = query.is_in_time(&name) && (terms.is_empty() || has_terms(&metadata, terms));
            if fits && visit(name, kept)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The number of the record of the item called `leaf` in the directory at `path`.
    pub(crate) fn number_of(&self, path: &str, leaf: &str) -> Result<Option<i64>, IndexError> {
        use rusqlite::OptionalExtension;
        let mut select = self.0.prepare_cached(
            "SELECT item.id FROM item JOIN directory ON directory.id = item.directory
             WHERE directory.path = ?1 AND item.leaf = ?2",
        )?;
        Ok(select.query_row((path, leaf), |row| row.get(0)).optional()?)
    }

    fn clauses(&self, query: &Query, which: Which<'_>) -> Result<Clauses, IndexError> {
        let mut clauses = Clauses::default();
        let matching = "(SELECT rowid FROM words WHERE words MATCH ?)";
        if !query.wanted.all_of.is_empty() {
            let all = query.wanted.all_of.join(" AND ");
            clauses.and(&format!("item.id IN {matching}"), [Value::Text(all)]);
        }
        if !query.wanted.none_of.is_empty() {
            let any = query.wanted.none_of.join(" OR ");
            clauses.and(&format!("item.id NOT IN {matching}"), [Value::Text(any)]);
        }
        for key in &query.keys {
            let found = "item.id IN (SELECT item FROM key WHERE hash = ?)";
            clauses.and(found, [Value::Integer(*key)]);
        }
        for keys in &query.any_key {
            let found = format!("item.id IN (SELECT item FROM key WHERE hash IN ({}))", list(keys));
            clauses.and(&found, []);
        }
        for (pattern, key) in &query.patterns {
            let found = "item.id IN (SELECT item FROM file WHERE path GLOB ? OR path GLOB ?
                                     UNION ALL SELECT item FROM key WHERE hash = ?)";
            let whole = Value::Text(pattern.clone());
            let at_any_depth = Value::Text(format!("*/{pattern}"));
            clauses.and(found, [whole, at_any_depth, Value::Integer(*key)]);
        }
        for source in &query.sources {
            clauses.and("instr(item.source, ?) > 0", [Value::Text(source.clone())]);
        }
        if let Some(state) = query.state {
            clauses.and("item.state = ?", [Value::Integer(number_of(state).into())]);
        }
        if let Some(since) = query.since {
            clauses.and("item.created >= ?", [Value::Integer(seconds(since))]);
        }
        if let Some(until) = query.until {
            clauses.and("item.created <= ?", [Value::Integer(seconds(until))]);
        }
        if let Some(prefix) = &query.prefix {
            let directories = self.years_of(prefix)?;
            clauses.and(&format!("item.directory IN ({})", list(&directories)), []);
        }
        match which {
            Which::All => {}
            Which::After(Position { created, leaf, number }) => {
                let position =
                    [Value::Integer(*created), Value::Text(leaf.clone()), Value::Integer(*number)];
                clauses.and("(item.created, item.leaf, item.id) > (?, ?, ?)", position);
            }
            Which::Only(only) => clauses.and(&format!("item.id IN ({})", list(only)), []),
        }
        Ok(clauses)
    }

    /// The years of a prefix, in every spelling.
    pub(super) fn years_of(&self, prefix: &Prefix) -> Result<Vec<i64>, IndexError> {
        let (subdomain, word) = prefix.path_components();
        let below = format!("{subdomain}/{word}/").to_ascii_lowercase();
        let mut select =
            self.0.prepare_cached("SELECT id FROM directory WHERE folded > ?1 AND folded < ?2")?;
        // `0` is the character after `/`.
        let end = format!("{}0", below.trim_end_matches('/'));
        let rows = select.query_map((below, end), |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl Query {
    /// Whether it finds few items of many.
    fn is_narrow(&self) -> bool {
        let Query { wanted, keys, any_key, patterns, .. } = self;
        !(wanted.all_of.is_empty() && keys.is_empty() && any_key.is_empty() && patterns.is_empty())
    }
}

/// Numbers of ours, with commas between them.
pub(super) fn list(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

/// Whether each term has a value that contains the text.
fn has_terms(metadata: &str, terms: &[(String, String)]) -> bool {
    let Ok(serde_json::Value::Object(metadata)) = serde_json::from_str(metadata) else {
        return false;
    };
    terms.iter().all(|(term, text)| {
        let value = match term.strip_prefix("x.") {
            Some(own) => metadata.get("x").and_then(|table| table.get(own)),
            None => metadata
                .iter()
                .find(|(key, _)| key.eq_ignore_ascii_case(term))
                .map(|(_, value)| value),
        };
        value.is_some_and(|value| contains(value, &fold(text)))
    })
}

fn contains(value: &serde_json::Value, text: &str) -> bool {
    use serde_json::Value as Json;
    match value {
        Json::String(value) => fold(value).contains(text),
        Json::Array(values) => values.iter().any(|value| contains(value, text)),
        Json::Object(values) => values.values().any(|value| contains(value, text)),
        Json::Number(number) => number.to_string().contains(text),
        Json::Bool(_) | Json::Null => false,
    }
}
