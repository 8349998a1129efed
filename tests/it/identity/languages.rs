//! Language tags, and choosing one by preference.

use proptest::prelude::*;
use toml::Table;
use urepo::identity::{Language, LanguagePreferences};

use super::{resolution, text};

fn tag(text: &str) -> Language {
    text.parse().expect("a language tag")
}

fn tags(row: &Table) -> Vec<Language> {
    let tags = row["tags"].as_array().expect("the row has tags");
    tags.iter().map(|it| tag(it.as_str().expect("a tag is a string"))).collect()
}

fn assert_chosen(preferences: &LanguagePreferences, row: &Table) {
    let tags = tags(row);
    let chosen = preferences.lookup(&tags).map_or("", Language::as_str);
    assert_eq!(chosen, text(row, "chosen"), "{row:?}");
}

#[test]
fn a_header_chooses_a_language() {
    for row in resolution("lookup") {
        assert_chosen(&text(&row, "header").parse().unwrap(), &row);
    }
}

#[test]
fn a_locale_chooses_a_language() {
    for row in resolution("locale") {
        assert_chosen(&LanguagePreferences::from_locale(text(&row, "locale")), &row);
    }
}

#[test]
fn what_people_write_is_normalised() {
    for row in resolution("language") {
        let read = Language::normalised(text(&row, "text"));
        assert_eq!(read.as_ref().map_or("", Language::as_str), text(&row, "tag"), "{row:?}");
    }
}

#[test]
fn a_fault_has_a_column() {
    for (header, column) in [("pt,e n", 4), ("pt;q=2", 4), ("pt, en;r=1", 8), ("pt;q=0.0001", 4)] {
        let error = header.parse::<LanguagePreferences>().unwrap_err();
        assert_eq!(error.column(), column, "{header}");
    }
    for (text, column) in [("p", 1), ("por", 1), ("pt-B", 1), ("pt_BR", 1), ("", 1)] {
        assert_eq!(text.parse::<Language>().unwrap_err().column(), column, "{text}");
    }
    assert_eq!(Language::normalised("  tlh").unwrap_err().column(), 3);
}

#[test]
fn the_standard_lists_languages_and_countries() {
    let letters = || (b'a'..=b'z').map(char::from);
    let codes: Vec<_> = letters().flat_map(|a| letters().map(move |b| format!("{a}{b}"))).collect();
    let listed = codes.iter().filter(|code| tag(code).is_listed()).count();
    let is_country = |code: &&String| tag(&format!("pt-{code}")).is_listed();
    assert_eq!((listed, codes.iter().filter(is_country).count()), (184, 249));
    assert!(tag("bh").is_listed() && !tag("sh").is_listed());
    assert!(!tag("xq").is_listed() && !tag("pt-XX").is_listed());
}

proptest! {
    #[test]
    fn printing_what_was_read_gives_the_tag(text in "[a-z]{2}(-[A-Z]{2})?") {
        let read = tag(&text);
        prop_assert_eq!(read.as_str(), &text);
        prop_assert_eq!(&tag(&text.to_uppercase()), &read);
        prop_assert_eq!(&Language::normalised(&text.replace('-', "_")).unwrap(), &read);
        let parts = [Some(read.language()), read.country()];
        let joined = parts.into_iter().flatten().collect::<Vec<_>>().join("-");
        prop_assert_eq!(joined, text);
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in any::<String>(), header in "[a-zA-Z*;,=q.0-9 -]{0,24}") {
        let _ = (text.parse::<Language>(), Language::normalised(&text));
        let locale = LanguagePreferences::from_locale(&text);
        let _ = locale.lookup(&[tag("pt"), tag("pt-BR")]);
        if let Ok(preferences) = header.parse::<LanguagePreferences>() {
            let _ = preferences.lookup(&[tag("pt"), tag("pt-BR")]);
        }
    }
}
