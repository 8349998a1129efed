//! Answers to queries.

use std::ops::ControlFlow;

use rusqlite::types::Value;
use serde_json::Value as Json;

use super::query::{Condition, What};
use super::record::seconds;
use super::rows::{ITEM_COLUMNS, ItemRow, number_of};
use super::tables::Tables;
use super::words::Word;
use super::{IndexError, Query};
use crate::identity::{Prefix, RepositoryName};

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
        let metadata = if query.in_keys.is_empty() { "''" } else { "item.metadata" };
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
            let words = &query.in_keys;
            let fits = query.is_in_time(&name) && (words.is_empty() || fits_keys(&metadata, words));
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
        // Expressions are searched together, those that are unwanted, too.
        for (is_unwanted, not, between) in [(false, "", " AND "), (true, "NOT ", " OR ")] {
            let words = query.conditions.iter().filter_map(|it| match &it.what {
                What::Words(words) if it.is_unwanted == is_unwanted => Some(&**words),
                _ => None,
            });
            let words = words.collect::<Vec<_>>().join(between);
            if !words.is_empty() {
                clauses.and(&format!("{not}({MATCHING})"), [Value::Text(words)]);
            }
        }
        let others = query.conditions.iter().filter(|it| !matches!(it.what, What::Words(_)));
        for Condition { what, is_unwanted } in others {
            let (condition, values) = what.clause();
            let not = if *is_unwanted { "NOT " } else { "" };
            clauses.and(&format!("{not}({condition})"), values);
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

/// Items with a match of an expression.
const MATCHING: &str = "item.id IN (SELECT rowid FROM words WHERE words MATCH ?)";

impl What {
    /// The condition, and the values of each `?` in it.
    fn clause(&self) -> (String, Vec<Value>) {
        let digests = "item.id IN (SELECT item FROM key WHERE hash BETWEEN ? AND ?)";
        let integers = |of: &[i64]| of.iter().map(|it| Value::Integer(*it)).collect::<Vec<_>>();
        match self {
            What::Words(words) => (MATCHING.to_owned(), vec![Value::Text(words.clone())]),
            What::WordsOrDigest(words, (first, last)) => {
                let values = [vec![Value::Text(words.clone())], integers(&[*first, *last])];
                (format!("{MATCHING} OR {digests}"), values.concat())
            }
            What::Digest((first, last)) => (digests.to_owned(), integers(&[*first, *last])),
            What::Key(key) => {
                ("item.id IN (SELECT item FROM key WHERE hash = ?)".to_owned(), integers(&[*key]))
            }
            What::AnyKey(keys) => {
                let keys = list(keys);
                (format!("item.id IN (SELECT item FROM key WHERE hash IN ({keys}))"), Vec::new())
            }
            What::Pattern(pattern, key) => {
                let found = "item.id IN (SELECT item FROM file WHERE path GLOB ? OR path GLOB ?
                                         UNION ALL SELECT item FROM key WHERE hash = ?)";
                let whole = Value::Text(pattern.clone());
                let at_any_depth = Value::Text(format!("*/{pattern}"));
                (found.to_owned(), vec![whole, at_any_depth, Value::Integer(*key)])
            }
            What::Source(text) => {
                ("instr(item.source, ?) > 0".to_owned(), vec![Value::Text(text.clone())])
            }
            What::Bytes(first, last) => {
                ("item.bytes BETWEEN ? AND ?".to_owned(), integers(&[*first, *last]))
            }
            What::Days(term, first, last) => {
                let found =
                    "item.id IN (SELECT item FROM day WHERE term = ? AND first <= ? AND last >= ?)";
                let values = [vec![Value::Text((*term).to_owned())], integers(&[*last, *first])];
                (found.to_owned(), values.concat())
            }
        }
    }
}

/// Numbers of ours, with commas between them.
pub(super) fn list(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

/// Whether the values of the keys of a description are as each of `words` says.
fn fits_keys(metadata: &str, words: &[Word]) -> bool {
    let Ok(Json::Object(metadata)) = serde_json::from_str(metadata) else { return false };
    words.iter().all(|word| {
        let key = word.key.as_deref().unwrap_or_default();
        let value = match key.strip_prefix("x.") {
            Some(own) => metadata.get("x").and_then(|table| table.get(own)),
            None => metadata
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(key))
                .map(|(_, value)| value),
        };
        let mut values = Vec::new();
        if let Some(value) = value {
            add_texts(value, &mut values);
        }
        word.is_in(&values) != word.is_unwanted
    })
}

/// Adds every text in `value`.
fn add_texts(value: &Json, texts: &mut Vec<String>) {
    match value {
        Json::String(text) => texts.push(text.clone()),
        Json::Array(values) => {
            for value in values {
                add_texts(value, texts);
            }
        }
        Json::Object(values) => {
            for value in values.values() {
                add_texts(value, texts);
            }
        }
        Json::Number(_) | Json::Bool(_) => texts.push(value.to_string()),
        Json::Null => {}
    }
}
