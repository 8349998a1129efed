//! Persistent URLs: the standard's worked examples, what is refused and where, and the rules that hold for
//! all of them.

use proptest::prelude::*;
use toml::{Table, Value};
use urepo::identity::{
    Language, Pasted, PersistentUrl, RequiredStatus, Selection, Verbs, decode_value, encode_value,
};

use super::{number, resolution, text};

fn list(row: &Table, key: &str) -> Vec<Box<str>> {
    let list = row.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    list.iter().map(|it| it.as_str().expect("a string").into()).collect()
}

#[test]
fn persistent_urls_of_the_standard_come_apart() {
    for row in resolution("url") {
        let url: PersistentUrl = text(&row, "text").parse().expect("a persistent URL");
        let Selection { verbs, path, status, question, unknown } = url.selection.clone();
        assert_eq!(verbs.to_string(), text(&row, "verbs"), "{row:?}");
        assert_eq!(path, text(&row, "path").as_bytes(), "{row:?}");
        assert_eq!(status == RequiredStatus::Original, text(&row, "status") == "Original");
        assert_eq!((question, unknown), (list(&row, "question"), list(&row, "unknown")));
        let canonical = row.get("canonical").map_or(text(&row, "text"), |it| it.as_str().unwrap());
        assert_eq!(url.to_string(), canonical);
    }
}

#[test]
fn what_is_not_a_persistent_url_is_refused_with_a_column() {
    for row in resolution("refused_url") {
        let error = text(&row, "text").parse::<PersistentUrl>().expect_err(text(&row, "text"));
        assert_eq!(Some(error.column()), number(&row, "column"), "{}", error.excerpt());
    }
}

/// The compositions of one to four modifiers, with and without parameters.
fn compositions() -> Vec<Vec<&'static str>> {
    let longer = |before: &[Vec<&'static str>]| -> Vec<Vec<&'static str>> {
        let last = ["!", "+", "+(pt-BR)", ":", ":(oai_dc)"];
        before.iter().flat_map(|it| last.map(|last| [&it[..], &[last]].concat())).collect()
    };
    let mut all = Vec::new();
    let mut last = vec![Vec::new()];
    for _ in 0..4 {
        last = longer(&last);
        all.extend(last.clone());
    }
    all
}

#[test]
fn fourteen_compositions_of_modifiers_are_allowed() {
    let rows = resolution("modifiers");
    let allowed: Vec<_> = rows.iter().map(|row| text(row, "text")).collect();
    let plain = |modifiers: &[&str]| -> String {
        modifiers.iter().map(|modifier| &modifier[..1]).collect()
    };
    let mut found = std::collections::BTreeSet::new();
    let all = compositions();
    assert_eq!(all.len(), 5 + 25 + 125 + 625);
    for modifiers in all {
        let url = format!("LK47B6W/362SFKH{}", modifiers.concat());
        let right = (0..=modifiers.len())
            .rev()
            .find(|count| *count == 0 || allowed.contains(&plain(&modifiers[..*count]).as_str()));
        match url.parse::<PersistentUrl>() {
            Ok(_) => _ = found.insert(plain(&modifiers)),
            // The column is that of the first modifier that is one too many.
            Err(error) => {
                let before = modifiers[..right.unwrap()].concat().len();
                assert_eq!(error.column(), "LK47B6W/362SFKH".len() + before + 1, "{url}");
            }
        }
    }
    assert_eq!(found, allowed.into_iter().map(str::to_owned).collect());
}

#[test]
fn verbs_have_three_notations() {
    for row in resolution("modifiers") {
        let url: PersistentUrl = format!("LK47B6W/362SFKH{}", text(&row, "text")).parse().unwrap();
        let verbs = url.selection.verbs;
        assert_eq!(verbs.relation(), text(&row, "relation"));
        assert_eq!(verbs.modifiers(), text(&row, "text"));
        assert_eq!(Verbs::of_relation(text(&row, "relation")).unwrap(), verbs);
        assert_eq!(verbs.to_string().parse::<Verbs>().unwrap(), verbs);
    }
    for row in resolution("relation") {
        let verbs = Verbs::of_relation(text(&row, "text")).unwrap();
        assert_eq!(verbs.relation(), text(&row, "text"));
    }
    for (refused, column) in
        [(".metadata.lastedition", 10), (".translation(x)", 14), ("lastedition", 1), (".", 1)]
    {
        assert_eq!(Verbs::of_relation(refused).unwrap_err().column(), column, "{refused}");
    }
}

#[test]
fn the_first_steps_are_taken_off_the_list() {
    let verbs: Verbs = "GetLastEdition GetTranslation(pt) GetMetadata GetFileList".parse().unwrap();
    assert_eq!(verbs.before(2).to_string(), "GetLastEdition GetTranslation(pt)");
    assert_eq!(verbs.before(9).steps().len(), 3);
}

#[test]
fn values_are_encoded_by_table_6_1() {
    for row in resolution("encoded") {
        let value = text(&row, "value");
        assert_eq!(encode_value(value.as_bytes()), text(&row, "text"));
        assert_eq!(decode_value(text(&row, "text")).unwrap(), value.as_bytes());
    }
    for row in resolution("decoded") {
        let value = decode_value(text(&row, "text")).unwrap();
        assert_eq!(value, text(&row, "value").as_bytes());
    }
    for refused in ["%", "a%4", "%zz", "%+1"] {
        assert_eq!(decode_value(refused), None, "{refused}");
    }
    // Latin-1, as in example 6.2.
    assert_eq!(decode_value("Relat%f3rio").unwrap(), b"Relat\xf3rio");
}

#[test]
fn what_follows_a_pasted_identifier_is_read_too() {
    let text = "See <http://urlib.net/8JMKD3MGP8W/35MMLL8!:(oai_dc)>.";
    let selection = Selection::of(&Pasted::read(text).unwrap()).unwrap();
    assert_eq!(selection.verbs.to_string(), "GetLastEdition GetMetadata(oai_dc)");
    let error = Selection::of(&Pasted::read("8JMKD3MGP8W/35MMLL8!!").unwrap()).unwrap_err();
    assert_eq!((error.kind(), error.column()), ("persistent URL", 2));
}

/// The port of an address is 800 where none is written [generation, 6].
#[test]
fn an_address_and_a_time_are_a_label() {
    for (text, label) in [
        ("150.163.2.174:800 2010-10-28T01:04:22Z", "J8LNKAN8PW/38G3TS3"),
        ("150.163.2.174 2010-10-28T01:04:22Z", "J8LNKAN8PW/38G3TS3"),
        ("[2001:252:0:1::2008:6] 2010-10-28T01:04:22Z", "7URMDHLL9SSN2D89MX/38G3TS3"),
        ("2001:252:0:1::2008:6 2010-10-28T01:04:22Z", "7URMDHLL9SSN2D89MX/38G3TS3"),
    ] {
        assert_eq!(Pasted::read(text).unwrap().identifier.as_str(), label, "{text}");
    }
}

fn language() -> impl Strategy<Value = Option<Language>> {
    prop::option::of("[a-z]{2}(-[A-Z]{2})?")
        .prop_map(|text| text.map(|text| text.parse().expect("a tag")))
}

/// A sequence of Table 8.2 with parameters, as modifiers and as names.
fn steps() -> impl Strategy<Value = Vec<[String; 2]>> {
    let sequence = prop::sample::select(resolution("modifiers"));
    let format = prop::option::of("[A-Za-z0-9_-]{1,8}");
    (sequence, language(), language(), format).prop_map(|(row, first, second, format)| {
        let mut languages = [first, second].into_iter();
        let with = |parameter: Option<String>, symbol: &str, name: &str| {
            let parameter = parameter.map_or(String::new(), |it| format!("({it})"));
            [format!("{symbol}{parameter}"), format!("{name}{parameter}")]
        };
        let mut step = |symbol: char| match symbol {
            '!' => with(None, "!", "GetLastEdition"),
            '+' => {
                let language = languages.next().flatten().map(|it| it.to_string());
                with(language, "+", "GetTranslation")
            }
            _ => with(format.clone(), ":", "GetMetadata"),
        };
        text(&row, "text").chars().map(&mut step).collect()
    })
}

fn identifier() -> impl Strategy<Value = &'static str> {
    let all = [
        "LK47B6W/362SFKH",
        "iconet.com.br/banon/2009/09.09.22.01",
        "a.br/b@80/2009/02.16.17.46.01.5",
    ];
    prop::sample::select(all.to_vec())
}

fn canonical() -> impl Strategy<Value = String> {
    let modifiers = prop::option::of(
        steps()
            .prop_map(|steps| steps.into_iter().map(|[modifier, _]| modifier).collect::<String>()),
    );
    let path = "(/([A-Za-z0-9._~!$&'()*+,;=:@-]|%20|%25|%3F|%C3%B3){1,6}){0,3}/?";
    let pairs = prop::collection::vec("[a-z.]{1,4}=[!-%'-<>-~]{0,4}", 0..3);
    let status = prop::option::of(Just("ibiurl.requireditemstatus=Original".to_owned()));
    let list = prop::option::of(Just("ibiurl.verblist=GetFileList".to_owned()));
    (identifier(), modifiers, path, status, list, pairs).prop_map(
        |(identifier, modifiers, path, status, list, pairs)| {
            let pairs: Vec<_> = status.into_iter().chain(list).chain(pairs).collect();
            let question =
                if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) };
            let path = if path == "/" { "" } else { &path };
            format!(
                "http://urlib.net/{identifier}{}{path}{question}",
                modifiers.unwrap_or_default()
            )
        },
    )
}

proptest! {
    #[test]
    fn printing_a_canonical_url_gives_the_same(text in canonical()) {
        let url: PersistentUrl = text.parse().expect("a persistent URL");
        prop_assert_eq!(url.to_string(), text);
    }

    #[test]
    fn modifiers_and_the_equal_list_of_verbs_are_one(
        identifier in identifier(), steps in steps(), cut in 0..5_usize
    ) {
        let cut = cut.min(steps.len());
        let join = |steps: &[[String; 2]], notation: usize, separator: &str| {
            steps.iter().map(|step| step[notation].clone()).collect::<Vec<_>>().join(separator)
        };
        let modifiers: PersistentUrl =
            format!("{identifier}{}", join(&steps, 0, "")).parse().expect("modifiers");
        // What the modifiers have is not taken from the question.
        let (begin, end) = steps.split_at(cut);
        prop_assume!(!end.iter().any(|step| begin.contains(step)));
        let url = format!(
            "{identifier}{}?ibiurl.verblist={}", join(begin, 0, ""), join(end, 1, "+")
        );
        prop_assert_eq!(url.parse::<PersistentUrl>().expect("verbs"), modifiers.clone());
        let repeated = format!(
            "{identifier}{}?ibiurl.verblist={}", join(&steps, 0, ""), join(&steps, 1, "%20")
        );
        prop_assert_eq!(repeated.parse::<PersistentUrl>().expect("both"), modifiers);
    }

    #[test]
    fn no_text_makes_the_reader_panic(
        any in any::<String>(), near in "(http://)?(LK47B6W/362SFKH)?[!+:()a-zA-Z/?=&.%2ó]{0,24}"
    ) {
        for text in [&any, &near] {
            if let Ok(url) = text.parse::<PersistentUrl>() {
                prop_assert_eq!(url.to_string().parse::<PersistentUrl>().unwrap().to_string(), url.to_string());
            }
            let _ = (text.parse::<Verbs>(), Verbs::of_relation(text), decode_value(text));
        }
    }

    #[test]
    fn decoding_gives_what_was_encoded(value in prop::collection::vec(any::<u8>(), 0..40)) {
        prop_assert_eq!(decode_value(&encode_value(&value)), Some(value));
    }
}
