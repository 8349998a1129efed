//! Changes of a description as the event log keeps them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::digest::Digest;
use crate::sidecar::{KeyChange, json_of};

/// A longer value, as JSON, is logged by its size and digest.
const MAX_VALUE_BYTES: usize = 8 * 1024;

/// Limit on the values of all keys in one event. Further values are logged by their keys alone.
const MAX_VALUES_BYTES: usize = 256 * 1024;

/// Limit on logged keys: a line of the log is limited.
const MAX_KEYS: usize = 1000;

/// A key of the description whose value changed. A missing value is `None`.
///
/// A value of more than 8 KiB is an object with `bytes`, the size of its JSON text, and `sha256`, the digest of
/// that text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedChange {
    /// The key with the tables above it, as in `metadata.title`.
    pub key: String,
    /// The value before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The value afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// Whether `logged` is the form of `value` in the log: the value, or its size and digest.
pub(crate) fn is_logged_as(value: Option<&toml::Value>, logged: Option<&Value>) -> bool {
    match (value.map(json_of), logged) {
        (Some(value), Some(logged)) => {
            value == *logged || summary_of(&value.to_string()) == *logged
        }
        (value, logged) => value.is_none() && logged.is_none(),
    }
}

fn summary_of(text: &str) -> Value {
    json!({ "bytes": text.len(), "sha256": Digest::of(text.as_bytes()).to_string() })
}

/// `changes` in the form of the log, within its limits.
pub(super) fn logged(changes: Vec<KeyChange>) -> Vec<LoggedChange> {
    let mut left = MAX_VALUES_BYTES;
    let mut value = |value: Option<toml::Value>| {
        let value = json_of(&value?);
        let text = value.to_string();
        if text.len() <= MAX_VALUE_BYTES.min(left) {
            left -= text.len();
            return Some(value);
        }
        Some(summary_of(&text))
    };
    let logged = |KeyChange { mut key, before, after }| {
        let short = (0..=key.len().min(128)).rev().find(|at| key.is_char_boundary(*at));
        key.truncate(short.unwrap_or(0));
        LoggedChange { key, before: value(before), after: value(after) }
    };
    changes.into_iter().take(MAX_KEYS).map(logged).collect()
}
