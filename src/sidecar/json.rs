//! Tables of a sidecar as JSON.

use toml::{Table, Value};

/// The table as JSON, which has no dates: they become text.
pub fn json(table: &Table) -> serde_json::Value {
    table.iter().map(|(key, value)| (key.clone(), json_of(value))).collect()
}

/// The value as JSON.
pub fn json_of(value: &Value) -> serde_json::Value {
    match value {
        Value::String(text) => text.as_str().into(),
        Value::Integer(number) => (*number).into(),
        // JSON has neither infinity nor NaN: null.
        Value::Float(number) => (*number).into(),
        Value::Boolean(value) => (*value).into(),
        Value::Datetime(date) => date.to_string().into(),
        Value::Array(values) => values.iter().map(json_of).collect(),
        Value::Table(table) => json(table),
    }
}
