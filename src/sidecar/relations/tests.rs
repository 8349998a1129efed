//! Relations are read, changed and printed without loss.

use proptest::prelude::*;

use super::*;

const NAME: &str = "sid.inpe.br/mtc-m18@80/2009/08.25.19.43";
const OTHER: &str = "8JMKD3MGP8W/34PGRBS";

fn relations(text: &str) -> Relations {
    Relations::as_found(text.parse().expect("because it is valid"))
}

fn id(text: &str) -> Identifier {
    text.parse().expect("because it is valid")
}

fn kind(text: &str) -> RelationKind {
    text.parse().expect("because it is valid")
}

#[test]
fn all_kinds_are_read() {
    let found = relations(
        "next_edition = 'sid.inpe.br/mtc-m18/2012/07.12.18.08'\nnext_higher_unit = ['8JMKD3MGPCW/46KUATE', \
         '8JMKD3MGPCW/46KUBT5']\n[translation]\npor = '8JMKD3MGP8W/34PGRBS'\n'pt-br' = \
         'sid.inpe.br/mtc-m18@80/2009/08.25.19.43'\n[x]\nreview = '83LX3pFwXQZeBBx/65ij'",
    );
    let kinds: Vec<_> = found.iter().map(|relation| relation.kind.to_string()).collect();
    let expected = [
        "next_edition",
        "next_higher_unit",
        "next_higher_unit",
        "translation.pt",
        "translation.pt-BR",
        "x.review",
    ];
    let mut sorted = kinds.clone();
    sorted.sort();
    assert_eq!(sorted, expected);
    assert_eq!(found.first(&kind("translation.pt-BR")), Some(id(NAME)));
    assert_eq!(found.of(&kind("part-of")).count(), 2);
    assert_eq!(found.unclear(), []);
}

#[test]
fn what_is_not_understood_is_named_and_kept() {
    let text = "cites = 'a'\nnext_edition = ['8JMKD3MGP8W/34PGRBS', '8JMKD3MGP8W/34PGRBT']\n\
                metadata = 17\nprevious_edition = 'soon'\n[translation]\nklingon = '8JMKD3MGP8W/34PGRBS'\n\
                [x]\n'a b' = '8JMKD3MGP8W/34PGRBS'\n[x.deep]\na = 'b'";
    let mut found = relations(text);
    let unclear: Vec<_> = found.unclear().into_iter().map(|it| (it.key, it.reason)).collect();
    let mut expected = [
        ("cites".to_owned(), NOT_A_KIND),
        ("metadata".to_owned(), NOT_AN_IDENTIFIER),
        ("next_edition".to_owned(), SEVERAL),
        ("previous_edition".to_owned(), NOT_AN_IDENTIFIER),
        ("translation.klingon".to_owned(), NOT_A_LANGUAGE),
        ("x.a b".to_owned(), NOT_A_KEY),
        ("x.deep".to_owned(), NOT_AN_IDENTIFIER),
    ];
    expected.sort();
    let mut sorted = unclear;
    sorted.sort();
    assert_eq!(sorted, expected);
    // Both are known, so that both can be reported.
    assert_eq!(found.of(&RelationKind::NextEdition).count(), 2);
    for kind in [RelationKind::Metadata, RelationKind::PreviousEdition] {
        assert_eq!(found.add(&kind, &id(NAME), None), Err(RelationError::Unclear(kind.clone())));
        assert!(!found.remove(&kind, &id(NAME), None));
    }
    assert_eq!(found, relations(text));
}

#[test]
fn a_single_relation_is_not_replaced_and_is_known_by_both_spellings() {
    let mut held = relations(&format!("next_edition = '{OTHER}'"));
    let next = RelationKind::NextEdition;
    assert_eq!(held.add(&next, &id(NAME), Some(&id(OTHER))), Ok(false));
    let occupied = RelationError::Occupied { kind: next.clone(), held: id(OTHER) };
    assert_eq!(held.add(&next, &id(NAME), None), Err(occupied));
    assert!(!held.remove(&next, &id(NAME), None));
    assert!(held.remove(&next, &id(NAME), Some(&id(OTHER))));
    assert!(held.is_empty());
}

#[test]
fn an_empty_table_goes_with_its_last_relation() {
    let mut held = relations(&format!("[translation]\nPT_br = ['{NAME}']"));
    let kind = kind("translation.pt-BR");
    assert_eq!(held.add(&kind, &id(NAME), None), Ok(false));
    assert!(held.remove(&kind, &id(NAME), None));
    assert!(held.is_empty(), "{held:?}");
}

#[test]
fn every_relation_but_that_of_a_part_leads_back() {
    let portuguese = "pt".parse().expect("because it is valid");
    for text in [
        "next_edition",
        "previous_edition",
        "translation.en",
        "translation_of",
        "metadata",
        "metadata_of",
    ] {
        let back = kind(text).inverse(Some(&portuguese)).expect("because it is valid");
        let english = "en".parse().expect("because it is valid");
        assert_eq!(back.inverse(Some(&english)), Some(kind(text)), "{text}");
    }
    for text in ["next_higher_unit", "x.review"] {
        assert_eq!(kind(text).inverse(Some(&portuguese)), None, "{text}");
    }
    assert_eq!(RelationKind::TranslationOf.inverse(None), None);
}

fn any_kind() -> impl Strategy<Value = RelationKind> {
    let plain = prop::sample::select(PLAIN.map(|(kind, _)| kind).to_vec());
    let language = prop::sample::select(vec!["pt", "pt-BR", "en"]);
    let translation = language
        .prop_map(|tag| RelationKind::Translation(tag.parse().expect("because it is valid")));
    prop_oneof![plain, translation, "[a-z_-]{1,4}".prop_map(RelationKind::Own)]
}

fn any_identifier() -> impl Strategy<Value = Identifier> {
    let name = (1_u8..13, 10_u8..29)
        .prop_map(|(month, day)| format!("example.org/a.8080/2026/{month:02}.{day}.02.13"));
    let known = prop::sample::select(vec![OTHER.to_owned(), "83LX3pFwXQZeBBx/65ij".to_owned()]);
    prop_oneof![name, known].prop_map(|text| text.parse().expect("because it is valid"))
}

proptest! {
    /// A printed kind is read back.
    #[test]
    fn kinds_are_read_as_printed(kind in any_kind()) {
        prop_assert_eq!(kind.to_string().parse::<RelationKind>(), Ok(kind));
    }

    /// An added relation is read back from the printed table, is not added twice, and can be removed.
    #[test]
    fn what_is_added_is_there_until_it_is_removed(
        wanted in prop::collection::vec((any_kind(), any_identifier()), 0..12)
    ) {
        let mut relations = Relations::default();
        let mut added = Vec::new();
        for (kind, to) in wanted {
            let before = relations.clone();
            let is_held = added.contains(&(kind.clone(), to.clone()));
            if let Ok(is_new) = relations.add(&kind, &to, None) {
                prop_assert_eq!(is_new, !is_held);
                if is_new {
                    added.push((kind, to));
                }
            } else {
                prop_assert_eq!(&relations, &before);
            }
        }
        let text = relations.table().to_string();
        let read = Relations::as_found(text.parse().expect("because it was printed"));
        prop_assert_eq!(&read, &relations);
        prop_assert_eq!(read.unclear(), vec![]);
        let mut found: Vec<_> = read.iter().map(|it| (it.kind, it.to)).collect();
        let mut expected = added.clone();
        found.sort();
        expected.sort();
        prop_assert_eq!(found, expected);
        for (kind, to) in added {
            prop_assert!(relations.remove(&kind, &to, None));
        }
        prop_assert!(relations.is_empty(), "{:?}", relations);
    }
}
