//! The keys of a search, before a colon.

use crate::sidecar::{RELATION_KEYS, RelationKind, TERMS};

/// Keys that are none of a description.
const KEYS: [&str; 6] = ["file", "origin", "sha256", "content", "bytes", "related"];

/// Terms with dates, of which the days are known.
pub(super) const DATES: [&str; 2] = ["date", "issued"];

/// Whether `text` can be the key of a word: a URL has a colon, too.
pub(super) fn is_key(text: &str) -> bool {
    KEYS.contains(&text) || is_term(text) || relations_of(text).is_some()
}

/// Whether `text` can be the name of a term.
pub(super) fn is_term(text: &str) -> bool {
    let own = text.strip_prefix("x.");
    own.is_some_and(|own| !own.is_empty()) || TERMS.iter().any(|it| it.eq_ignore_ascii_case(text))
}

/// The column of the full-text search that has the values of `term`, among others.
pub(super) fn column_of(term: &str) -> &'static str {
    match term.to_ascii_lowercase().as_str() {
        "title" | "alternative" => "title",
        "creator" | "contributor" => "creator",
        "subject" => "subject",
        _ => "other",
    }
}

/// The kinds of relation that `key` of a search means: one, with its language or name, or for `related` all of them.
pub fn relations_of(key: &str) -> Option<Vec<String>> {
    if key == "related" {
        return Some(RELATION_KEYS.map(str::to_owned).to_vec());
    }
    if let Some(Ok(kind)) = RelationKind::of_description_key(key) {
        return Some(vec![kind.to_string()]);
    }
    // A translation into any language.
    (key == TRANSLATION).then(|| vec![key.to_owned()])
}

/// The kinds by which a relation is found: with its language or name, and without.
pub(super) fn kinds_of(kind: &RelationKind) -> Vec<String> {
    let mut kinds = vec![kind.key().to_owned(), kind.to_string()];
    kinds.dedup();
    kinds
}

const TRANSLATION: &str = "translation";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_are_keys_by_all_their_names() {
        for (key, expected) in [
            ("edition_of", Some("previous_edition")),
            ("next_edition", Some("next_edition")),
            ("part_of", Some("next_higher_unit")),
            ("relation.part_of", Some("next_higher_unit")),
            ("translation", Some("translation")),
            ("translation.pt", Some("translation.pt")),
            ("relation.x.cites", Some("x.cites")),
            ("x", None),
            ("x.cites", None),
            ("relation", None),
            ("http", None),
        ] {
            let found = relations_of(key).map(|it| it.concat());
            assert_eq!(found.as_deref(), expected, "{key}");
        }
        assert_eq!(relations_of("related").map(|it| it.len()), Some(RELATION_KEYS.len()));
    }
}
