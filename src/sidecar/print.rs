//! Printing TOML: the only place where a key or a value of a sidecar becomes text.
//!
//! Every pair takes one line, whatever its value. So neither urepo nor a line-wise tool can take a part of a
//! value for a table or a key.

use toml::{Table, Value};
use toml_writer::{TomlStringBuilder, TomlWrite as _};

/// Appends `key = "value"`.
pub(super) fn text_pair(text: &mut String, key: &str, value: &str) {
    print_key(text, key);
    text.push_str(" = ");
    print_text(text, value);
    text.push('\n');
}

/// Appends the table called `name`, after an empty line, unless it is empty.
pub(super) fn table(text: &mut String, name: &str, table: &Table) {
    if !table.is_empty() {
        let mut header = String::new();
        print_key(&mut header, name);
        print_table(text, &header, Brackets::Single, table);
    }
}

/// The header of a table: one of its name, or one of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brackets {
    Single,
    Double,
}

fn print_table(text: &mut String, header: &str, brackets: Brackets, table: &Table) {
    let is_apart = |value: &Value| value.is_table() || tables_of(value).is_some();
    let has_own_pairs = table.is_empty() || !table.values().all(is_apart);
    match brackets {
        Brackets::Single if has_own_pairs => text.push_str(&format!("\n[{header}]\n")),
        Brackets::Single => {}
        Brackets::Double => text.push_str(&format!("\n[[{header}]]\n")),
    }
    for (key, value) in table.iter().filter(|(_, value)| !is_apart(value)) {
        print_key(text, key);
        text.push_str(" = ");
        print_value(text, value);
        text.push('\n');
    }
    for (key, value) in table {
        let below = || {
            let mut header = format!("{header}.");
            print_key(&mut header, key);
            header
        };
        if let Value::Table(inner) = value {
            print_table(text, &below(), Brackets::Single, inner);
        } else if let Some(tables) = tables_of(value) {
            let header = below();
            tables.for_each(|inner| print_table(text, &header, Brackets::Double, inner));
        }
    }
}

/// The tables of a list of tables.
fn tables_of(value: &Value) -> Option<impl Iterator<Item = &Table>> {
    let values = value.as_array().filter(|values| !values.is_empty())?;
    values.iter().all(Value::is_table).then(|| values.iter().filter_map(Value::as_table))
}

fn print_value(text: &mut String, value: &Value) {
    // Writing to a string never fails.
    let _ = match value {
        Value::String(value) => return print_text(text, value),
        Value::Integer(value) => text.value(*value),
        Value::Float(value) => text.value(*value),
        Value::Boolean(value) => text.value(*value),
        Value::Datetime(value) => return text.push_str(&value.to_string()),
        Value::Array(values) => {
            text.push('[');
            for (at, value) in values.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                print_value(text, value);
            }
            return text.push(']');
        }
        Value::Table(table) => {
            text.push('{');
            for (at, (key, value)) in table.iter().enumerate() {
                text.push_str(if at == 0 { " " } else { ", " });
                print_key(text, key);
                text.push_str(" = ");
                print_value(text, value);
            }
            return text.push_str(if table.is_empty() { "}" } else { " }" });
        }
    };
}

fn print_key(text: &mut String, key: &str) {
    let _ = text.key(key);
}

fn print_text(text: &mut String, value: &str) {
    let builder = TomlStringBuilder::new(value);
    // Multi-line forms are never used.
    let quoted = builder.as_basic_pretty().or_else(|| builder.as_literal());
    let _ = text.value(quoted.unwrap_or_else(|| builder.as_basic()));
}
