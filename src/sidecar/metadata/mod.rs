//! The description of an item: terms of Dublin Core and of references, and free keys below `x`.

mod check;

use toml::{Table, Value};

pub use self::check::MetadataError;
pub(super) use self::check::is_refused;
use self::check::{check_key, check_own, check_text};
use super::edtf;
use super::tag::language;
use crate::identity::Language;

/// The terms in `[metadata]`: those of Dublin Core, and those that references need.
pub const TERMS: [&str; 40] = [
    "abstract",
    "advisor",
    "alternative",
    "audience",
    "bibliographicCitation",
    "booktitle",
    "contributor",
    "coverage",
    "creator",
    "date",
    "degree",
    "description",
    "edition",
    "editor",
    "event",
    "extent",
    "format",
    "identifier",
    "illustrator",
    "institution",
    "issued",
    "journal",
    "language",
    "license",
    "number",
    "pages",
    "place",
    "provenance",
    "publisher",
    "recipient",
    "relation",
    "rights",
    "series",
    "source",
    "subject",
    "title",
    "translator",
    "type",
    "version",
    "volume",
];

/// Terms that hold one text; all others hold one or a list.
const SINGLE: [&str; 4] = ["date", "issued", "language", "title"];

/// Terms that are a list even when they hold one text.
const LISTS: [&str; 8] = [
    "advisor",
    "contributor",
    "creator",
    "editor",
    "illustrator",
    "recipient",
    "subject",
    "translator",
];

/// Terms that hold a date.
pub(crate) const DATES: [&str; 2] = ["date", "issued"];

/// The description of an item.
#[derive(Clone, Debug, Default)]
pub struct Metadata(Table);

/// As texts, since `nan` does not equal itself.
impl PartialEq for Metadata {
    fn eq(&self, other: &Metadata) -> bool {
        self.0 == other.0 || self.0.to_string() == other.0.to_string()
    }
}

impl Metadata {
    /// The description in a sidecar, unchecked and unchanged.
    pub(crate) fn as_found(table: Table) -> Metadata {
        Metadata(table)
    }

    /// The table of the sidecar.
    pub fn table(&self) -> &Table {
        &self.0
    }

    /// The title, if there is one.
    pub fn title(&self) -> Option<&str> {
        self.0.get("title").and_then(Value::as_str)
    }

    /// The description in a table of a file, perhaps below `[metadata]`.
    pub fn from_table(table: &Table) -> Result<Metadata, MetadataError> {
        let table = match table.get("metadata") {
            Some(Value::Table(inner)) if table.len() == 1 => inner,
            _ => table,
        };
        Metadata::of_terms(table)
    }

    fn of_terms(table: &Table) -> Result<Metadata, MetadataError> {
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

    /// The description in `table` for an item with this description: unchanged values need not be valid.
    pub(crate) fn edited(&self, table: &Table) -> Result<Metadata, MetadataError> {
        let (mut kept, mut changed) = (Table::new(), Table::new());
        for (key, value) in table {
            let before = self.0.get(key);
            match (value, before) {
                (Value::Table(own), Some(Value::Table(before))) if key == "x" => {
                    let is_kept = |key: &String, value: &Value| before.get(key) == Some(value);
                    let part = |keeps: bool| {
                        let pairs = own.iter().filter(|(key, it)| is_kept(key, it) == keeps);
                        Value::Table(pairs.map(|(key, it)| (key.clone(), it.clone())).collect())
                    };
                    kept.insert(key.clone(), part(true));
                    changed.insert(key.clone(), part(false));
                }
                _ if before == Some(value) => drop(kept.insert(key.clone(), value.clone())),
                _ => drop(changed.insert(key.clone(), value.clone())),
            }
        }
        let mut edited = Metadata(kept);
        edited.override_with(Metadata::of_terms(&changed)?);
        if edited.0.get("x").and_then(Value::as_table).is_some_and(Table::is_empty) {
            edited.0.remove("x");
        }
        Ok(edited)
    }

    /// The table `[metadata]` as a text.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        super::print::table(&mut text, "metadata", &self.0);
        text
    }

    /// Adds one value to a term, or to a key `x.key`. A date has to be valid EDTF.
    pub fn add(&mut self, key: &str, text: &str) -> Result<(), MetadataError> {
        check_text(key, text)?;
        if DATES.iter().any(|date| date.eq_ignore_ascii_case(key)) {
            edtf::check(text).map_err(|error| MetadataError::Date(key.to_owned(), error))?;
        }
        self.add_as_found(key, text)
    }

    /// Adds a value that another system has recorded: a date may have any form.
    pub(crate) fn add_as_found(&mut self, key: &str, text: &str) -> Result<(), MetadataError> {
        check_text(key, text)?;
        if let Some(own) = key.strip_prefix("x.") {
            return self.add_own(own, text);
        }
        let Some(term) = TERMS.iter().find(|term| term.eq_ignore_ascii_case(key)) else {
            return Err(unknown(key));
        };
        let normalised;
        let text = if *term == "language" {
            normalised = language(text).ok_or_else(|| MetadataError::Language(text.to_owned()))?;
            normalised.as_str()
        } else {
            text
        };
        if SINGLE.contains(term) && self.0.contains_key(*term) {
            return Err(MetadataError::GivenTwice(key.to_owned()));
        }
        append(&mut self.0, term, text, LISTS.contains(term));
        Ok(())
    }

    /// Its language, if that is a tag.
    pub fn language(&self) -> Option<Language> {
        Language::normalised(self.0.get("language")?.as_str()?).ok()
    }

    /// Its language, if the standard does not list it: no URL leads to such a translation.
    pub fn unlisted_language(&self) -> Option<&str> {
        let text = self.0.get("language")?.as_str()?;
        let is_listed = text.parse::<Language>().is_ok_and(|language| language.is_listed());
        (!is_listed).then_some(text)
    }

    /// All terms, and keys in the form `x.key`.
    pub fn keys(&self) -> Vec<String> {
        let own = |table: &Table| table.keys().map(|key| format!("x.{key}")).collect();
        let keys = |(key, value): (&String, &Value)| match value {
            Value::Table(table) if key == "x" => own(table),
            _ => vec![key.clone()],
        };
        self.0.iter().flat_map(keys).collect()
    }

    /// The values of a term, or of a key `x.key`, each as text.
    pub fn values(&self, key: &str) -> Result<Vec<String>, MetadataError> {
        let found = match self.place(key)? {
            KeyPlace::Term(term) => self.0.get(&term),
            KeyPlace::Own(own) => self.0.get("x").and_then(|table| table.get(&own)),
        };
        Ok(match found {
            None => Vec::new(),
            Some(Value::Array(values)) => values.iter().map(text_of).collect(),
            Some(value) => vec![text_of(value)],
        })
    }

    /// Removes a term, or a key `x.key`, with all its values.
    pub fn remove(&mut self, key: &str) -> Result<(), MetadataError> {
        match self.place(key)? {
            KeyPlace::Term(term) => {
                self.0.remove(&term);
            }
            KeyPlace::Own(own) => {
                if let Some(Value::Table(table)) = self.0.get_mut("x") {
                    table.remove(&own);
                    if table.is_empty() {
                        self.0.remove("x");
                    }
                }
            }
        }
        Ok(())
    }

    /// Removes one of the values of a term, or of a key `x.key`. The others stay.
    pub fn remove_value(&mut self, key: &str, text: &str) -> Result<(), MetadataError> {
        // In the stored form: a language is normalized.
        let mut alone = Metadata::default();
        let wanted = match alone.add(key, text).and_then(|()| alone.values(key)) {
            Ok(values) => values,
            Err(_) => vec![text.to_owned()],
        };
        let is_meant = |value: &Value| wanted.contains(&text_of(value)) || text_of(value) == text;
        let place = self.place(key)?;
        let is_gone = match self.found(&place) {
            None => false,
            Some(Value::Array(values)) => {
                let before = values.len();
                values.retain(|value| !is_meant(value));
                values.is_empty() && before > 0
            }
            Some(value) => is_meant(value),
        };
        if is_gone { self.remove(key) } else { Ok(()) }
    }

    /// Replaces the values of a term, or of a key `x.key`. A value with the same text keeps its type.
    pub fn set<T: AsRef<str>>(&mut self, key: &str, texts: &[T]) -> Result<(), MetadataError> {
        let mut changed = self.clone();
        let place = self.place(key)?;
        let mut held = match changed.found(&place) {
            Some(Value::Array(values)) => values.clone(),
            found => found.cloned().into_iter().collect(),
        };
        changed.remove(key)?;
        texts.iter().try_for_each(|text| changed.add(key, text.as_ref()))?;
        let mut keep = |value: &mut Value| {
            if let Some(at) = held.iter().position(|held| text_of(held) == text_of(value)) {
                *value = held.swap_remove(at);
            }
        };
        match changed.found(&place) {
            Some(Value::Array(values)) => values.iter_mut().for_each(keep),
            Some(value) => keep(value),
            None => {}
        }
        *self = changed;
        Ok(())
    }

    fn found(&mut self, place: &KeyPlace) -> Option<&mut Value> {
        match place {
            KeyPlace::Term(term) => self.0.get_mut(term.as_str()),
            KeyPlace::Own(own) => self.0.get_mut("x")?.as_table_mut()?.get_mut(own),
        }
    }

    /// The place of the values of `key`; any existing key is accepted.
    fn place(&self, key: &str) -> Result<KeyPlace, MetadataError> {
        if let Some(own) = key.strip_prefix("x.") {
            check_key("x", own)?;
            return Ok(KeyPlace::Own(own.to_owned()));
        }
        if let ("x", Some(Value::Table(own))) = (key, self.0.get(key)) {
            let keys = own.keys().map(|key| format!("x.{key}")).collect();
            return Err(MetadataError::OwnKeys(keys));
        }
        let term = TERMS.iter().find(|term| term.eq_ignore_ascii_case(key)).copied();
        let found = term.or(self.0.contains_key(key).then_some(key));
        found.map(|key| KeyPlace::Term(key.to_owned())).ok_or_else(|| unknown(key))
    }

    fn add_own(&mut self, key: &str, text: &str) -> Result<(), MetadataError> {
        check_key("x", key)?;
        let own = self.0.entry("x").or_insert_with(|| Value::Table(Table::new()));
        let Value::Table(own) = own else { return Err(MetadataError::Kind("x".to_owned())) };
        append(own, key, text, false);
        Ok(())
    }

    /// Adds every term of `other`, which wins if both have it.
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

/// The place of the values of a key in the table of a description.
enum KeyPlace {
    Term(String),
    /// The key below `x`.
    Own(String),
}

fn unknown(key: &str) -> MetadataError {
    MetadataError::UnknownTerm(key.to_owned())
}

/// A value as text; a value of another type is printed as in TOML.
fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn append(table: &mut Table, key: &str, text: &str, always_list: bool) {
    let text = Value::String(text.to_owned());
    match table.get_mut(key) {
        None => {
            let value = if always_list { Value::Array(vec![text]) } else { text };
            table.insert(key.to_owned(), value);
        }
        Some(Value::Array(values)) => values.push(text),
        Some(single) => *single = Value::Array(vec![single.clone(), text]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_checked_and_own_keys_are_kept_apart() {
        let mut metadata = Metadata::default();
        metadata.add("title", "A \"quoted\" title").unwrap();
        metadata.add("date", "1911~").unwrap();
        let error = metadata.add("issued", "31/12/2020").unwrap_err();
        assert!(matches!(error, MetadataError::Date(..)));
        metadata.remove("date").unwrap();
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
            ("[x.shelf]\nrow = ''", MetadataError::Empty("x.shelf.row".into())),
        ] {
            assert_eq!(read(text), Err(error), "{text}");
        }
    }
}
