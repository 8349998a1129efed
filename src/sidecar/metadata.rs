//! The description of an item: Dublin Core terms, and keys of one's own below `x`.

use toml::{Table, Value};

/// The terms of Dublin Core that stand directly in `[metadata]`.
pub const TERMS: [&str; 22] = [
    "abstract",
    "alternative",
    "audience",
    "bibliographicCitation",
    "contributor",
    "coverage",
    "creator",
    "date",
    "description",
    "format",
    "identifier",
    "issued",
    "language",
    "license",
    "provenance",
    "publisher",
    "relation",
    "rights",
    "source",
    "subject",
    "title",
    "type",
];

/// Terms that hold one text; all others hold one or a list.
const SINGLE: [&str; 4] = ["date", "issued", "language", "title"];

/// Terms that are a list even when they hold one text.
const LISTS: [&str; 3] = ["contributor", "creator", "subject"];

/// Text longer than this is a payload, not a description.
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// The description of an item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata(Table);

/// Why a text is not taken into a description.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// No such term.
    #[error("`{0}` is no term of Dublin Core")]
    UnknownTerm(String),
    /// A key of one's own that cannot stand as a label everywhere.
    #[error("`{0}` has characters other than letters, digits, `-` and `_`")]
    Key(String),
    /// The term takes one value.
    #[error("`{0}` is given twice")]
    GivenTwice(String),
    /// The value is no language tag.
    #[error("`{0}` is no language; expected a tag such as `en` or `pt-BR`")]
    Language(String),
    /// The text is empty, too long, or has control characters.
    #[error("the text of `{0}` is empty, longer than 64 KiB, or has control characters")]
    Text(String),
    /// The value is neither a text nor a list of texts.
    #[error("`{0}` has a value that is neither a text nor a list of texts")]
    Kind(String),
}

impl Metadata {
    /// What a sidecar says, unchecked: it is kept as it is.
    pub(super) fn as_found(table: Table) -> Metadata {
        Metadata(table)
    }

    /// The table as it stands in the sidecar.
    pub fn table(&self) -> &Table {
        &self.0
    }

    /// The title, if there is one.
    pub fn title(&self) -> Option<&str> {
        self.0.get("title").and_then(Value::as_str)
    }

    /// The description that a table gives: of a file, perhaps below `[metadata]`.
    pub fn from_table(table: &Table) -> Result<Metadata, MetadataError> {
        let table = match table.get("metadata") {
            Some(Value::Table(inner)) if table.len() == 1 => inner,
            _ => table,
        };
        let mut metadata = Metadata::default();
        for (key, value) in table {
            match value {
                Value::Table(own) if key == "x" => {
                    check_own("x", own)?;
                    metadata.0.insert("x".to_owned(), Value::Table(own.clone()));
                }
                Value::Array(values) => {
                    for value in values {
                        let text =
                            value.as_str().ok_or_else(|| MetadataError::Kind(key.clone()))?;
                        metadata.add(key, text)?;
                    }
                }
                Value::String(text) => metadata.add(key, text)?,
                Value::Datetime(date) => metadata.add(key, &date.to_string())?,
                _ => return Err(MetadataError::Kind(key.clone())),
            }
        }
        Ok(metadata)
    }

    /// Adds one value to a term, or to a key of one's own written `x.key`.
    pub fn add(&mut self, key: &str, text: &str) -> Result<(), MetadataError> {
        check_text(key, text)?;
        if let Some(own) = key.strip_prefix("x.") {
            return self.add_own(own, text);
        }
        let Some(term) = TERMS.iter().find(|term| term.eq_ignore_ascii_case(key)) else {
            return Err(MetadataError::UnknownTerm(key.to_owned()));
        };
        if *term == "language" && !is_language(text) {
            return Err(MetadataError::Language(text.to_owned()));
        }
        if SINGLE.contains(term) && self.0.contains_key(*term) {
            return Err(MetadataError::GivenTwice(key.to_owned()));
        }
        append(&mut self.0, term, text, LISTS.contains(term));
        Ok(())
    }

    fn add_own(&mut self, key: &str, text: &str) -> Result<(), MetadataError> {
        check_key("x", key)?;
        let own = self.0.entry("x").or_insert_with(|| Value::Table(Table::new()));
        let Value::Table(own) = own else { return Err(MetadataError::Kind("x".to_owned())) };
        append(own, key, text, false);
        Ok(())
    }

    /// Takes every term of `other`, which wins where both have it.
    pub fn override_with(&mut self, other: Metadata) {
        for (key, value) in other.0 {
            match (self.0.get_mut(&key), value) {
                (Some(Value::Table(own)), Value::Table(others)) => own.extend(others),
                (_, value) => {
                    self.0.insert(key, value);
                }
            }
        }
    }
}

/// Checks keys of one's own and their values, however deep they are.
fn check_own(above: &str, table: &Table) -> Result<(), MetadataError> {
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
fn check_key(above: &str, key: &str) -> Result<(), MetadataError> {
    let named = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if key.is_empty() || !key.chars().all(named) {
        return Err(MetadataError::Key(format!("{above}.{key}")));
    }
    Ok(())
}

fn check_text(key: &str, text: &str) -> Result<(), MetadataError> {
    let control = |c: char| c.is_control() && c != '\n' && c != '\t';
    if text.trim().is_empty() || text.len() > MAX_TEXT_BYTES || text.contains(control) {
        return Err(MetadataError::Text(key.to_owned()));
    }
    Ok(())
}

fn append(table: &mut Table, key: &str, text: &str, always_list: bool) {
    let text = Value::String(text.to_owned());
    match table.get_mut(key) {
        None if always_list => {
            table.insert(key.to_owned(), Value::Array(vec![text]));
        }
        None => {
            table.insert(key.to_owned(), text);
        }
        Some(Value::Array(values)) => values.push(text),
        Some(single) => *single = Value::Array(vec![single.clone(), text]),
    }
}

/// Whether `text` has the form of a language tag: `en`, `pt-BR`, `zh-Hant-TW`.
fn is_language(text: &str) -> bool {
    let mut parts = text.split('-');
    let first = parts.next().unwrap_or_default();
    (2..=3).contains(&first.len())
        && first.bytes().all(|byte| byte.is_ascii_alphabetic())
        && parts.all(|part| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_checked_and_own_keys_are_kept_apart() {
        let mut metadata = Metadata::default();
        metadata.add("title", "A \"quoted\" title").unwrap();
        metadata.add("creator", "One").unwrap();
        metadata.add("creator", "Two").unwrap();
        metadata.add("x.box", "17").unwrap();
        assert_eq!(metadata.add("title", "B"), Err(MetadataError::GivenTwice("title".into())));
        assert_eq!(metadata.add("box", "17"), Err(MetadataError::UnknownTerm("box".into())));
        assert_eq!(metadata.add("x.a b", "1"), Err(MetadataError::Key("x.a b".into())));
        assert_eq!(metadata.add("language", "?"), Err(MetadataError::Language("?".into())));
        assert_eq!(metadata.add("rights", "\u{7}"), Err(MetadataError::Text("rights".into())));
        let expected =
            "title = 'A \"quoted\" title'\ncreator = [\"One\", \"Two\"]\n[x]\nbox = \"17\"";
        assert_eq!(metadata.table(), &expected.parse::<Table>().unwrap());
    }

    #[test]
    fn a_file_is_checked_like_a_flag() {
        let read = |text: &str| Metadata::from_table(&text.parse().unwrap()).map(|_| ());
        for text in ["[x]\nbox = 17\n[x.shelf]\nrow = ['a', 'b']", "[metadata.x]\nbox = 'b'"] {
            assert_eq!(read(text), Ok(()), "{text}");
        }
        for (text, error) in [
            ("[x]\n\"a\\nPayload-Oxum\" = '9.9'", MetadataError::Key("x.a\nPayload-Oxum".into())),
            ("[x]\n'a b' = 1", MetadataError::Key("x.a b".into())),
            ("[x.shelf]\n'a:b' = 1", MetadataError::Key("x.shelf.a:b".into())),
            ("[x]\nbox = [\"\\u0007\"]", MetadataError::Text("x.box".into())),
            ("[x.shelf]\nrow = ''", MetadataError::Text("x.shelf.row".into())),
        ] {
            assert_eq!(read(text), Err(error), "{text}");
        }
    }
}
