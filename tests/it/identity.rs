//! Identifiers: the standard's worked examples, real names, what is refused, and the rules that
//! hold for all of them.

mod examples;
mod languages;
mod properties;
mod refusals;
mod urls;

use toml::{Table, Value};

/// The tables called `key` of a fixture.
pub(crate) fn tables(text: &str, key: &str) -> Vec<Table> {
    let table: Table = text.parse().expect("the fixture is TOML");
    let rows = table[key].as_array().expect("the fixture has rows").clone();
    rows.into_iter().map(|row| row.as_table().expect("a row is a table").clone()).collect()
}

pub(crate) fn generation(key: &str) -> Vec<Table> {
    let text = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/vectors/generation.toml");
    tables(&read(text), key)
}

pub(crate) fn resolution(key: &str) -> Vec<Table> {
    let text = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/vectors/resolution.toml");
    tables(&read(text), key)
}

fn names(file: &str, key: &str) -> Vec<Table> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/names/");
    tables(&read(&format!("{directory}{file}")), key)
}

#[expect(clippy::disallowed_methods, reason = "fixtures are read without the library under test")]
pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(path).expect("the fixture is there")
}

/// The text under `key`; empty if there is none.
pub(crate) fn text<'row>(row: &'row Table, key: &str) -> &'row str {
    row.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn number<T: TryFrom<i64>>(row: &Table, key: &str) -> Option<T> {
    T::try_from(row.get(key)?.as_integer()?).ok()
}
