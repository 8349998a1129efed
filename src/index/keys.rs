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

/// The keys of `[relations]` that `key` of a search means: one, or for `related` all of them.
pub fn relations_of(key: &str) -> Option<&'static [&'static str]> {
    let all: &'static [&'static str] = &RELATION_KEYS;
    if key == "related" {
        return Some(all);
    }
    let known = match RelationKind::of_description_key(key) {
        Some(Ok(kind)) => kind.key(),
        _ => key,
    };
    let at = all.iter().position(|it| *it == known && key != "x")?;
    Some(&all[at..=at])
}

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
            ("translation.pt", Some("translation")),
            ("relation.x.cites", Some("x")),
            ("x", None),
            ("x.cites", None),
            ("relation", None),
            ("http", None),
        ] {
            assert_eq!(relations_of(key).map(|it| it[0]), expected, "{key}");
        }
        assert_eq!(relations_of("related").map(<[_]>::len), Some(RELATION_KEYS.len()));
    }
}
