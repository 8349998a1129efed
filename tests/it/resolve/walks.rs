//! Verbs lead from item to item.

use proptest::prelude::*;
use urepo::identity::{Identifier, LanguagePreferences, Verbs};
use urepo::resolve::{DestinationKind, Unresolved, walk};

use super::{Memory, item};

/// The item of a number, in the notation of the tests: `example.org/a/2026/01.01.00.07` for 7.
fn name(number: usize) -> String {
    format!(
        "example.org/a/{}/01.01.{:02}.{:02}",
        2026 + number / 1440,
        number / 60 % 24,
        number % 60
    )
}

fn memory(items: &str) -> Memory {
    let table: toml::Table = items.parse().unwrap();
    let mut memory = Memory::default();
    for (number, row) in table {
        let mut row = row.as_table().unwrap().clone();
        row.insert("name".to_owned(), name(number.parse().unwrap()).into());
        memory.add(item(&row));
    }
    memory
}

/// Where verbs lead from item 0: the number and the file of an item, or the error.
fn from_0(memory: &Memory, relation: &str, preferences: &str) -> Result<String, String> {
    let verbs = Verbs::of_relation(relation).unwrap();
    let start: Identifier = name(0).parse().unwrap();
    let preferences: LanguagePreferences = preferences.parse().unwrap();
    let found = walk(memory, &start, verbs.steps(), &preferences).map_err(|it| it.to_string())?;
    let item = found.item.record.name.to_string();
    let number = (0..20_000).find(|number| name(*number) == item).unwrap();
    Ok(match found.kind {
        DestinationKind::Data => number.to_string(),
        DestinationKind::MetadataItem(format) => format!("{number} as {format:?}"),
        DestinationKind::Description { format, .. } => format!("of {number} as {format:?}"),
    })
}

#[test]
fn ten_thousand_editions_are_followed() {
    let mut memory = Memory::default();
    for number in 0..10_000 {
        let mut row = toml::toml! { file = "a" };
        row.insert("name".to_owned(), name(number).into());
        if number < 9_999 {
            let next =
                toml::Table::from_iter([("next_edition".to_owned(), name(number + 1).into())]);
            row.insert("relations".to_owned(), next.into());
        }
        memory.add(item(&row));
    }
    assert_eq!(from_0(&memory, ".lastedition", ""), Ok("9999".to_owned()));
    // The last edition of any edition is the last edition of every other.
    let middle: Identifier = name(5_000).parse().unwrap();
    let verbs = Verbs::of_relation(".lastedition").unwrap();
    let found = walk(&memory, &middle, verbs.steps(), &LanguagePreferences::default()).unwrap();
    assert_eq!(found.item.record.name.to_string(), name(9_999));
}

/// Scenarios of section 11: loops, editions elsewhere, deleted ones.
#[test]
fn a_chain_that_does_not_end_here_has_no_last_edition() {
    let next = |from: usize, to: usize| format!("{from}.relations.next_edition = '{}'\n", name(to));
    let circle = memory(&(next(0, 1) + &next(1, 2) + &next(2, 1)));
    let error = from_0(&circle, ".lastedition", "").unwrap_err();
    assert_eq!(error, format!("the editions of `{}` lead in a circle", name(1)));
    let own = memory(&next(0, 0));
    assert!(from_0(&own, ".lastedition", "").unwrap_err().ends_with("in a circle"));
    let elsewhere = memory(&next(0, 1));
    let error = from_0(&elsewhere, ".lastedition", "").unwrap_err();
    let expected = format!("the next edition of `{}` is `{}`, which is not here", name(0), name(1));
    assert_eq!(error, expected);
    // Not the edition before the deleted one, nor the one behind it.
    let deleted = memory(&(next(0, 1) + &next(1, 2) + "1.state = 'Deleted'\n2.file = 'b'"));
    let expected = format!("`{}` was deleted on 2026-01-01T00:00:00Z", name(1));
    assert_eq!(from_0(&deleted, ".lastedition", ""), Err(expected));
    assert_eq!(from_0(&deleted, "", ""), Ok("0".to_owned()));
    let missing = from_0(&memory("1.file = 'a'"), "", "").unwrap_err();
    assert_eq!(missing, format!("no item `{}`", name(0)));
}

/// Example 8.3, and the table of section 8.3.
#[test]
fn a_translation_is_chosen_by_preference() {
    let all = format!(
        "0.language = 'en'\n0.relations.translation = {{ pt = '{}', fr-CA = '{}' }}\n\
         1.language = 'pt'\n1.relations.translation_of = '{}'\n2.language = 'fr-CA'",
        name(1),
        name(2),
        name(0)
    );
    let memory = memory(&all);
    for (relation, preferences, expected) in [
        (".translation", "pt-BR,fr;q=0.8,en;q=0.5,pt;q=0.3", "1"),
        (".translation", "pt-BR,fr;q=0.8,en;q=0.5", "1"),
        (".translation", "en", "0"),
        (".translation", "fr", "2"),
        (".translation", "de", "0"),
        (".translation", "", "0"),
        (".translation(pt)", "en", "1"),
        (".translation(en)", "pt", "0"),
        (".translation(fr)", "", "2"),
        (".translation(fr-CA)", "", "2"),
    ] {
        let found = from_0(&memory, relation, preferences);
        assert_eq!(found.as_deref(), Ok(expected), "{relation} {preferences}");
    }
    let error = from_0(&memory, ".translation(pt-BR)", "").unwrap_err();
    assert_eq!(error, format!("`{}` has no translation into `pt-BR`", name(0)));
    // The item that was written first lists the translations of all.
    let verbs: Verbs = "GetTranslation(fr)".parse().unwrap();
    let start = name(1).parse().unwrap();
    let found = walk(&memory, &start, verbs.steps(), &LanguagePreferences::default()).unwrap();
    assert_eq!(found.item.record.name.to_string(), name(2));
    let verbs: Verbs = "GetTranslation(en)".parse().unwrap();
    let found = walk(&memory, &start, verbs.steps(), &LanguagePreferences::default()).unwrap();
    assert_eq!(found.item.record.name.to_string(), name(0));
    let Err(Unresolved::NoTranslation { languages, .. }) = walk(
        &memory,
        &name(0).parse().unwrap(),
        "GetTranslation(de)".parse::<Verbs>().unwrap().steps(),
        &LanguagePreferences::default(),
    ) else {
        panic!("there is no German");
    };
    let languages: Vec<_> = languages.iter().map(ToString::to_string).collect();
    assert_eq!(languages, ["en", "fr-CA", "pt"]);
}

#[test]
fn a_translation_that_is_elsewhere_is_named() {
    let memory = memory(&format!("0.language = 'en'\n0.relations.translation.pt = '{}'", name(1)));
    let expected = format!("the translation of `{}` is `{}`, which is not here", name(0), name(1));
    assert_eq!(from_0(&memory, ".translation(pt)", ""), Err(expected));
    // Where no language is asked for, another will do, or the item itself.
    for (there, expected) in [("2.language = 'fr'", "2"), ("", "0")] {
        let translations = format!("{{ pt = '{}', fr = '{}' }}", name(1), name(2));
        let items = format!("0.language = 'en'\n0.relations.translation = {translations}\n{there}");
        let memory = super::walks::memory(&items);
        assert_eq!(from_0(&memory, ".translation", "pt,fr;q=0.5").as_deref(), Ok(expected));
    }
    // An item in no known language is in no relation, but is its own bare translation.
    let unknown = super::walks::memory("0.file = 'a'");
    assert_eq!(from_0(&unknown, ".translation", "pt"), Ok("0".to_owned()));
}

#[test]
fn metadata_is_an_item_or_a_description() {
    let plain = memory("0.language = 'en'");
    for (relation, expected) in [
        (".metadata", "of 0 as None"),
        (".metadata(oai_dc)", "of 0 as Some(FormatName(\"oai_dc\"))"),
        (".metadata.translation", "of 0 as None"),
        (".metadata.translation(en)", "of 0 as None"),
    ] {
        assert_eq!(from_0(&plain, relation, "pt").as_deref(), Ok(expected), "{relation}");
    }
    let error = from_0(&plain, ".metadata(marc)", "").unwrap_err();
    assert_eq!(error, format!("`{}` has no metadata in the format `marc`", name(0)));
    let error = from_0(&plain, ".metadata.translation(pt)", "").unwrap_err();
    assert_eq!(error, format!("`{}` has no translation into `pt`", name(0)));
    let with_item = memory(&format!(
        "0.relations.metadata = '{}'\n1.language = 'en'\n1.relations.translation.pt = '{}'\n2.file = 'b'",
        name(1),
        name(2)
    ));
    assert_eq!(from_0(&with_item, ".metadata", "").as_deref(), Ok("1 as None"));
    let translated = from_0(&with_item, ".metadata.translation(pt)", "");
    assert_eq!(translated.as_deref(), Ok("2 as None"));
    // Without the metadata item there is still the description, and its identifier is kept.
    let elsewhere = memory(&format!("0.relations.metadata = '{}'", name(1)));
    assert_eq!(from_0(&elsewhere, ".metadata", "").as_deref(), Ok("of 0 as None"));
}

proptest! {
    /// Whatever the relations are, every sequence of verbs ends.
    #[test]
    fn every_walk_ends(
        links in prop::collection::vec((0_usize..4, 0_usize..5, 0_usize..4), 0..12),
        relation in prop::sample::select(crate::identity::resolution("modifiers")),
    ) {
        let mut table: toml::Table = "0.file = 'a'\n1.file = 'b'\n2.file = 'c'\n3.file = 'd'".parse().unwrap();
        for (from, kind, to) in links {
            let kinds = ["next_edition", "translation_of", "metadata", "pt", "en"];
            let item = table.get_mut(&from.to_string()).unwrap().as_table_mut().unwrap();
            let relations = item.entry("relations").or_insert_with(|| toml::Table::new().into());
            let relations = relations.as_table_mut().unwrap();
            let relations = if kind < 3 { relations } else {
                let inner = relations.entry("translation").or_insert_with(|| toml::Table::new().into());
                inner.as_table_mut().unwrap()
            };
            relations.insert(kinds[kind].to_owned(), name(to).into());
        }
        let memory = memory(&table.to_string());
        let relation = crate::identity::text(&relation, "relation").to_owned();
        let _ = from_0(&memory, &relation, "pt");
    }
}
