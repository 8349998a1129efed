//! The valid keys and texts of a description.

use toml::{Table, Value};

use super::super::edtf::DateError;

/// Limit on a text; a longer one belongs into a payload.
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// Why a description refuses a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// The term does not exist.
    #[error("`{0}` is not a term")]
    UnknownTerm(String),
    /// `x` without a key, which would mean all keys below it.
    #[error("`x` is not a key; the keys of your own are `{}`", .0.join("`, `"))]
    OwnKeys(Vec<String>),
    /// A key below `x` that is not valid as a label everywhere.
    #[error("`{0}` has characters other than letters, digits, `-` and `_`")]
    Key(String),
    /// The term takes one value.
    #[error("`{0}` is given twice")]
    GivenTwice(String),
    /// The value is not a language tag.
    #[error("`{0}` is not a language tag; expected a tag such as `en` or `pt-BR`")]
    Language(String),
    /// The value is not a date.
    #[error("`{0}`: {1}")]
    Date(String, DateError),
    /// The text is empty.
    #[error("the text of `{0}` is empty")]
    Empty(String),
    /// The text is too long, or has control characters.
    #[error("the text of `{0}` is longer than 64 KiB, or has control characters")]
    Text(String),
    /// The value is neither a text nor a list of texts.
    #[error("`{0}` has a value that is neither a text nor a list of texts")]
    Kind(String),
}

/// Checks keys below `x` and their values, at any depth.
pub(super) fn check_own(above: &str, table: &Table) -> Result<(), MetadataError> {
    for (key, value) in table {
        check_key(above, key)?;
        check_value(&format!("{above}.{key}"), value)?;
    }
    Ok(())
}

fn check_value(key: &str, value: &Value) -> Result<(), MetadataError> {
    match value {
        Value::String(text) => check_text(key, text),
        Value::Array(values) => values.iter().try_for_each(|value| check_value(key, value)),
        Value::Table(table) => check_own(key, table),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => Ok(()),
    }
}

/// A key becomes a label elsewhere, such as in a bag.
pub(super) fn check_key(above: &str, key: &str) -> Result<(), MetadataError> {
    let named = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if key.is_empty() || !key.chars().all(named) {
        return Err(MetadataError::Key(format!("{above}.{key}")));
    }
    Ok(())
}

/// Whether no text has this character.
pub(in crate::sidecar) fn is_refused(character: char) -> bool {
    character.is_control() && character != '\n' && character != '\t'
}

pub(super) fn check_text(key: &str, text: &str) -> Result<(), MetadataError> {
    if text.trim().is_empty() {
        return Err(MetadataError::Empty(key.to_owned()));
    }
    if text.len() > MAX_TEXT_BYTES || text.contains(is_refused) {
        return Err(MetadataError::Text(key.to_owned()));
    }
    Ok(())
}
