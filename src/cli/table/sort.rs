//! The order of rows.

use std::cmp::Ordering;

use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use urepo::identity::{Instant, RepositoryName};

use super::column::{Column, value_text};
use super::keys::{Keys, Record};
use crate::cli::failure::Failure;

/// A key that rows are sorted by.
#[derive(Debug)]
pub(super) struct Order {
    key: String,
    is_descending: bool,
}

/// The sort value of a row. Rows without a value come last.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SortValue {
    Number(u64),
    Time(Instant),
    /// By prefix and date: the text of a date is not in order.
    Name(String, Instant),
    /// Without case and accents, and then with them.
    Text(String, String),
    None,
}

impl Order {
    pub(super) fn parse(text: &str, keys: &'static Keys) -> Result<Order, Failure> {
        let (key, is_descending) = match text.strip_prefix('-') {
            Some(key) => (key, true),
            None => (text, false),
        };
        let column = Column::parse(key, keys, "--sort")?;
        Ok(Order { key: column.key().to_owned(), is_descending })
    }

    pub(super) fn key(&self) -> &str {
        &self.key
    }

    pub(super) fn value(&self, record: &dyn Record) -> SortValue {
        let value = record.value(&self.key);
        if let Some(number) = value.as_u64() {
            return SortValue::Number(number);
        }
        let text = match value {
            Value::Null => return SortValue::None,
            value => value_text(&value),
        };
        if self.key == "id"
            && let Ok(name) = text.parse::<RepositoryName>()
        {
            return SortValue::Name(name.prefix().to_string().to_lowercase(), name.instant());
        }
        if let Ok(time) = text.parse() {
            return SortValue::Time(time);
        }
        let plain = text.nfd().filter(|it| !is_combining_mark(*it));
        SortValue::Text(plain.flat_map(char::to_lowercase).collect(), text)
    }

    pub(super) fn compare(&self, a: &SortValue, b: &SortValue) -> Ordering {
        match (a, b) {
            (SortValue::None, _) | (_, SortValue::None) => a.cmp(b),
            _ if self.is_descending => b.cmp(a),
            _ => a.cmp(b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::keys::ITEMS;
    use super::*;

    fn sorted(order: &str, key: &str, values: &[Value]) -> Vec<Value> {
        let order = Order::parse(order, &ITEMS).unwrap();
        let mut values = values.to_vec();
        let value = |it: &Value| order.value(&serde_json::json!({ key: it }));
        values.sort_by(|a, b| order.compare(&value(a), &value(b)));
        values
    }

    #[test]
    fn numbers_dates_names_and_words_have_their_own_order() {
        let json = |text: &str| serde_json::from_str::<Vec<Value>>(text).unwrap();
        let both = |key: &str, text: &str| {
            let values = json(text);
            let mut shuffled = values.clone();
            shuffled.reverse();
            assert_eq!(sorted(key, key, &shuffled), values);
            // Descending, but rows without a value still come last.
            let mut backwards: Vec<_> =
                values.iter().filter(|it| !it.is_null()).rev().cloned().collect();
            backwards.extend(values.iter().filter(|it| it.is_null()).cloned());
            assert_eq!(sorted(&format!("-{key}"), key, &values), backwards);
        };
        both("bytes", "[2, 10, 9000000000, null]");
        both(
            "created",
            r#"["2026-11-21T02:13:00Z", "2026-11-21T02:13:00.5Z", "2026-11-21T02:13:01Z", null]"#,
        );
        both("state", r#"["agua", "Água", "árvore", "Zebra"]"#);
        both(
            "id",
            r#"["example.org/a/2026/11.21.02.13.05.7", "example.org/a/2026/11.21.02.13.05.75",
                "example.org/a/2026/11.21.02.13.05.8", "example.org/b/2025/11.21.02.13"]"#,
        );
    }
}
