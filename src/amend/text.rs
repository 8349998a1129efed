//! A description as a text that a person edits.

use toml::{Table, Value};

use super::{Description, Edit, EditError};
use crate::sidecar::{Conditions, Metadata, MetadataError};

/// Why an edited text is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {cause}")]
pub struct TextError {
    /// The line, from 1.
    pub line: usize,
    /// The fault.
    pub cause: TextFault,
}

/// A fault in an edited text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextFault {
    /// It is not TOML.
    #[error("{0}")]
    Syntax(String),
    /// It has a key that is not part of a description.
    #[error("`{0}` is not a key here; terms stand below `[metadata]`")]
    Key(String),
    /// A value is refused.
    #[error(transparent)]
    Value(EditError),
}

impl Description {
    /// The text that [`Description::edited`] reads, without relations.
    pub fn to_text(&self) -> String {
        let mut settings = Table::new();
        if let Some(target) = &self.target {
            settings.insert("target".to_owned(), target.to_text().as_ref().into());
        }
        settings.insert("transferable".to_owned(), self.conditions.transferable.into());
        settings.insert("access".to_owned(), self.conditions.access.level.to_string().into());
        let allow = self.conditions.values("access.allow").into_iter().map(Value::String);
        settings.insert("allow".to_owned(), Value::Array(allow.collect()));
        format!("{settings}{}", self.metadata.to_text())
    }

    /// The description that `text` gives the item. Unchanged values need not be valid.
    pub fn edited(&self, text: &str) -> Result<Description, TextError> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start.min(text.len()));
            let before = &text.as_bytes()[..start];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            let cause = TextFault::Syntax(error.message().trim().replace('\n', ", "));
            TextError { line, cause }
        })?;
        let fault = |key: &str, cause| TextError { line: line_of(text, key), cause };
        let mut edited = Description {
            metadata: Metadata::default(),
            target: None,
            conditions: Conditions::default(),
            ..self.clone()
        };
        for (key, value) in &table {
            let edit = match (key.as_str(), value) {
                ("metadata", Value::Table(terms)) => {
                    edited.metadata = self.metadata.edited(terms).map_err(|error| {
                        let key = key_of(&error).to_owned();
                        fault(&key, TextFault::Value(error.into()))
                    })?;
                    continue;
                }
                ("target" | "access", Value::String(value)) => {
                    Edit::Set(key.clone(), vec![value.clone()])
                }
                ("allow", Value::Array(values)) => {
                    let text =
                        |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
                    Edit::Set("access.allow".to_owned(), values.iter().map(text).collect())
                }
                ("transferable", value) => Edit::Set(key.clone(), vec![value.to_string()]),
                _ => return Err(fault(key, TextFault::Key(key.clone()))),
            };
            let set = edit.change(&mut edited);
            set.map_err(|error| fault(key, TextFault::Value(error)))?;
        }
        Ok(edited)
    }
}

/// The line of the first pair with `key`, or the first one.
fn line_of(text: &str, key: &str) -> usize {
    let key = key.rsplit('.').next().unwrap_or(key);
    let is_pair = |line: &str| {
        let (name, _) = line.split_once('=').unwrap_or((line, ""));
        let name = name.trim().trim_matches(['"', '\'']);
        name == key || name.rsplit('.').next() == Some(key)
    };
    text.lines().position(is_pair).map_or(1, |at| at + 1)
}

/// The key that an error is about, or the value by which it is found.
fn key_of(error: &MetadataError) -> &str {
    match error {
        MetadataError::Language(_) => "language",
        MetadataError::OwnKeys(_) => "x",
        MetadataError::UnknownTerm(key)
        | MetadataError::Key(key)
        | MetadataError::Date(key, _)
        | MetadataError::GivenTwice(key)
        | MetadataError::Empty(key)
        | MetadataError::Text(key)
        | MetadataError::Kind(key) => key,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::PayloadPath;
    use crate::sidecar::{Access, AccessLevel, Relations};

    fn described() -> Description {
        let mut metadata = Metadata::default();
        metadata.add("title", "A \"title\"\nof two lines").unwrap();
        metadata.add("creator", "One").unwrap();
        metadata.add("x.box", "17").unwrap();
        Description {
            name: "example.org/a/2026/11.21.02.13".parse().unwrap(),
            metadata,
            relations: Relations::default(),
            target: Some(PayloadPath::from_text("a \\\\ b").unwrap()),
            conditions: Conditions {
                transferable: false,
                access: Access {
                    level: AccessLevel::Closed,
                    allow: vec!["192.0.2.0/24".parse().unwrap()],
                },
            },
        }
    }

    #[test]
    fn what_is_printed_is_read() {
        let description = described();
        assert_eq!(description.edited(&description.to_text()), Ok(description.clone()));
        let text =
            description.to_text().replace("One", "Two").replace("[metadata.x]\nbox = \"17\"", "");
        let edited = description.edited(&text).unwrap();
        assert_eq!(edited.metadata.values("creator").unwrap(), ["Two"]);
        assert_eq!(edited.metadata.values("x.box").unwrap(), [""; 0]);
        let empty = description.edited("").unwrap();
        assert_eq!((empty.target, empty.conditions), (None, Conditions::default()));
    }

    #[test]
    fn what_is_wrong_is_found_in_its_line() {
        let refused = |text: &str| described().edited(text).unwrap_err().to_string();
        for (text, expected) in [
            ("transferable = true\n[metadata]\ntitle = \"", "line 3: "),
            ("transferable = true\n\n[metadata]\ntitel = 'A'", "line 4: `titel` is not a term"),
            ("\n[metadata]\ntitle = 17", "line 3: `title` has a value"),
            ("[metadata]\n\nlanguage = '?'", "line 3: `?` is not a language tag"),
            ("[metadata.x]\n'a b' = 1", "line 2: `x.a b` has characters"),
            ("\ntitle = 'A'", "line 2: `title` is not a key here"),
            ("transferable = 1", "line 1: `1` is not a value of `transferable`"),
        ] {
            let error = refused(text);
            assert!(error.starts_with(expected), "{error}");
        }
    }

    /// A number below `x` may be `nan`, which does not equal itself.
    #[test]
    fn a_description_equals_itself() {
        let found: Table = "[x]\nnumber = nan".parse().unwrap();
        let before = Description { metadata: Metadata::as_found(found), ..described() };
        let edited = before.edited(&before.to_text()).unwrap();
        before.clone().replace(&before, &edited).unwrap();
        assert_eq!(edited, before);
        assert_ne!(before.edited(&before.to_text().replace("nan", "inf")).unwrap(), before);
    }

    #[test]
    fn what_others_wrote_may_stay() {
        let found: Table = "shade = 'red'\ndate = 1998\n[x]\n'a b' = 1".parse().unwrap();
        let description = Description { metadata: Metadata::as_found(found), ..described() };
        let text = description.to_text().replace("shade = \"red\"", "shade = 'red'\ntitle = 'A'");
        let edited = description.edited(&text).unwrap();
        assert_eq!(edited.metadata.values("title").unwrap(), ["A"]);
        assert_eq!(edited.metadata.values("date").unwrap(), ["1998"]);
        assert!(description.edited(&text.replace("red", "blue")).is_err());
    }
}
