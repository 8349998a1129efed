//! A column: a key of the records, and the text of its values.

use serde_json::Value;

use super::grid::Cell;
use super::keys::{Keys, Record};
use crate::cli::failure::Failure;
use crate::cli::human;

/// The key whose values a column shows.
#[derive(Debug)]
pub(super) struct Column(String);

impl Column {
    /// The column that is named `text` in a list given to `option`.
    pub(super) fn parse(text: &str, keys: &'static Keys, option: &str) -> Result<Column, Failure> {
        let text = text.trim();
        keys.read(text).map(Column).map_err(|near| {
            let hint = near.map_or_else(|| keys.listed(), |near| format!("did you mean `{near}`?"));
            Failure::usage(format!("{} has no key `{text}` in `{option}`", keys.what)).hint(hint)
        })
    }

    pub(super) fn key(&self) -> &str {
        &self.0
    }

    pub(super) fn heading(&self) -> String {
        match self.key() {
            "id" => "IDENTIFIER".to_owned(),
            "bytes" => "SIZE".to_owned(),
            key => key.rsplit('.').next().unwrap_or(key).to_uppercase(),
        }
    }

    /// Its value in a row. Bytes have units on a terminal.
    pub(super) fn cell(&self, record: &dyn Record, is_drawn: bool) -> Cell {
        let value = record.value(self.key());
        match (self.key(), value.as_u64()) {
            ("bytes" | "freed", Some(bytes)) if is_drawn => Cell::number(human::bytes(bytes)),
            _ if value.is_number() => Cell::number(value_text(&value)),
            ("id", _) => Cell::identifier(&value_text(&value)),
            (
                "ibip" | "path" | "date" | "event" | "created" | "timestamp" | "state" | "standing",
                _,
            ) => Cell::whole(&value_text(&value)),
            _ => Cell::text(&value_text(&value)),
        }
    }
}

/// A value as plain text: several are separated by `; `, and tables are in JSON.
pub(super) fn value_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(value_text).collect::<Vec<_>>().join("; "),
        Value::Object(_) | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
