//! The keys of rows: those of the records of `--json` in docs/json.md.

use serde_json::Value;
use urepo::catalog::Hit;
use urepo::identity::RepositoryName;
use urepo::sidecar::TERMS;

use crate::cli::nearest::nearest;

/// The keys of a type of record.
#[derive(Debug)]
pub(crate) struct Keys {
    /// The name of the records.
    pub(super) what: &'static str,
    /// Separated by blanks.
    fixed: &'static str,
    /// Beginnings of keys that are not fixed.
    free: &'static [&'static str],
    /// Terms of Dublin Core may be named without `metadata.`.
    has_terms: bool,
}

/// Of items.
pub(crate) const ITEMS: Keys = Keys {
    what: "an item",
    fixed: "id ibip path path_b64 state files bytes digest created timestamp described target transferable \
            access access.level access.allow metadata relations origin custody custody.epoch \
            custody.id custody.holder custody.ceded removal removal.by removal.reason removal.was removal.date metadata.x",
    free: &["metadata.x.", "relations.", "origin."],
    has_terms: true,
};

/// Of events.
pub(crate) const EVENTS: Keys = Keys {
    what: "an event",
    fixed: "date event id holding holding.state holding.epoch holding.id holding.changed holding.holder import \
            import.source import.shape import.content import.bytes detail \
            command user user_id machine process digest digest_before from from_name to to_name freed note changes",
    free: &[],
    has_terms: false,
};

impl Keys {
    fn fixed(&self) -> impl Iterator<Item = &'static str> {
        self.fixed.split(' ')
    }

    /// The main ones.
    pub(super) fn listed(&self) -> String {
        let main: Vec<_> = self.fixed().filter(|it| !it.contains(['.', '_'])).collect();
        format!("the keys are those of `--json`, such as {}", main.join(", "))
    }

    /// The key `text`, or a suggestion.
    pub(super) fn read(&self, text: &str) -> Result<String, Option<String>> {
        let is_free = |start: &&str| text.strip_prefix(*start).is_some_and(|rest| !rest.is_empty());
        if self.fixed().any(|key| key == text) || self.free.iter().any(is_free) {
            return Ok(text.to_owned());
        }
        // The words in messages and pages.
        if text == "identifier" {
            return Ok("id".to_owned());
        }
        let term = text.strip_prefix("metadata.").unwrap_or(text);
        let is_own = term.starts_with("x.") && term.len() > 2;
        if self.has_terms && (is_own || TERMS.contains(&term)) {
            return Ok(format!("metadata.{term}"));
        }
        let terms = TERMS.into_iter().filter(|_| self.has_terms);
        let words: Vec<_> = self.fixed().chain(terms).collect();
        Err(nearest(term, &words).map(str::to_owned))
    }
}

/// A record with keys.
pub(crate) trait Record {
    /// The value of a key in the spelling of [`Keys`]; null without one.
    fn value(&self, key: &str) -> Value;

    /// All of it.
    fn to_json(&self) -> Value;
}

impl Record for Value {
    fn value(&self, key: &str) -> Value {
        let Value::Object(fields) = self else { return Value::Null };
        if let Some(value) = fields.get(key) {
            return value.clone();
        }
        let inner =
            key.split_once('.').and_then(|(first, rest)| Some(fields.get(first)?.value(rest)));
        inner.unwrap_or_default()
    }

    fn to_json(&self) -> Value {
        self.clone()
    }
}

/// The keys of an item in the index.
pub(crate) const HIT_KEYS: [&str; 5] = ["id", "state", "files", "bytes", "metadata.title"];

impl Record for Hit {
    fn value(&self, key: &str) -> Value {
        match key {
            "id" => self.name.as_str().into(),
            "state" => self.state.map_or("unread".to_owned(), |it| it.to_string()).into(),
            "files" => self.files.into(),
            "bytes" => self.bytes.into(),
            "metadata.title" => self.title.clone().into(),
            _ => Value::Null,
        }
    }

    fn to_json(&self) -> Value {
        HIT_KEYS.iter().map(|key| ((*key).to_owned(), self.value(key))).collect()
    }
}

impl Record for RepositoryName {
    fn value(&self, key: &str) -> Value {
        if key == "id" { self.as_str().into() } else { Value::Null }
    }

    fn to_json(&self) -> Value {
        [("id".to_owned(), self.value("id"))].into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The only vocabulary is that of docs/json.md.
    #[test]
    fn every_key_is_documented() {
        let page = include_str!("../../../docs/json.md");
        for (keys, section) in [(&ITEMS, "item"), (&EVENTS, "event")] {
            let start = page.find(&format!("\n## {section}\n")).unwrap();
            let section = page[start + 4..].split("\n## ").next().unwrap();
            for key in keys.fixed() {
                let key = key.trim_end_matches("_b64").trim_end_matches(".x");
                let is_row = section.contains(&format!("| `{key}` |"));
                assert!(is_row || section.contains(&format!("| `{key}.")), "{key}");
            }
        }
    }

    #[test]
    fn keys_have_short_forms_and_typing_errors_are_understood() {
        let read = |text| ITEMS.read(text);
        for (text, key) in [
            ("id", "id"),
            ("identifier", "id"),
            ("title", "metadata.title"),
            ("metadata.title", "metadata.title"),
            ("metadata.identifier", "metadata.identifier"),
            ("created", "created"),
            ("metadata.issued", "metadata.issued"),
            ("x.shelf", "metadata.x.shelf"),
            ("relations.translation.pt", "relations.translation.pt"),
        ] {
            assert_eq!(read(text), Ok(key.to_owned()), "{text}");
        }
        assert_eq!(read("titel"), Err(Some("title".to_owned())));
        assert_eq!(read("metadata.titel"), Err(Some("title".to_owned())));
        assert_eq!(read("byte"), Err(Some("bytes".to_owned())));
        assert_eq!(read("relations."), Err(Some("relations".to_owned())));
        for wrong in ["", "x.", "nothing like it", "metadata."] {
            assert_eq!(read(wrong), Err(None), "{wrong}");
        }
        assert_eq!(EVENTS.read("title"), Err(None));
    }

    #[test]
    fn values_are_found_at_every_depth() {
        let record = serde_json::json!({"id": "a", "metadata": {"title": "T", "x": {"a.b": "c"}}});
        assert_eq!(Record::value(&record, "metadata.title"), "T");
        assert_eq!(Record::value(&record, "metadata.x.a.b"), "c");
        assert_eq!(Record::value(&record, "metadata.nothing"), Value::Null);
        assert_eq!(Record::value(&record, "id.nothing"), Value::Null);
    }
}
