//! Lists of pairs: the standard's grammar, algorithms and worked examples.

use proptest::prelude::*;
use toml::{Table, Value};
use urepo::identity::{Identifier, Verbs};
use urepo::resolve::{
    Forms, Pairs, Request, RequestError, UrlRequest, answer, filter, list_of_urls,
};

use super::{Memory, item};
use crate::identity::{read, resolution, tables, text};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/vectors/");

/// The relations of Example 9.2, and those of the other examples.
const RELATIONS: [&str; 11] = [
    "",
    ".lastedition",
    ".lastedition.metadata",
    ".lastedition.metadata(oai_dc)",
    ".metadata",
    ".metadata(oai_dc)",
    ".metadata.translation",
    ".translation(en)",
    ".translation(pt)",
    ".lastedition.translation(pt)",
    ".translation(fr)",
];

fn forms(text: &str) -> Forms {
    text.parse::<Identifier>().expect("an identifier").into()
}

/// An archive of the fixture, by its number.
fn archive(number: usize) -> Memory {
    let row = &tables(&read(&format!("{FIXTURES}archive.toml")), "archive")[number];
    let mut archive = Memory {
        address: text(row, "address").to_owned(),
        service: forms(text(row, "service")),
        software: forms(text(row, "software")),
        relations: RELATIONS.iter().map(|it| Verbs::of_relation(it).unwrap()).collect(),
        ..Memory::default()
    };
    for row in row["item"].as_array().unwrap() {
        archive.add(item(row.as_table().unwrap()));
    }
    archive
}

fn archive_of(row: &Table) -> Memory {
    archive(row["archive"].as_integer().and_then(|at| usize::try_from(at).ok()).unwrap())
}

fn request(row: &Table) -> UrlRequest {
    UrlRequest {
        addresses: text(row, "client")
            .split_terminator(' ')
            .map(|it| it.parse().unwrap())
            .collect(),
        path: text(row, "path").as_bytes().to_vec(),
        identifier: text(row, "ibi").parse().unwrap(),
        verbs: text(row, "verbs").parse().unwrap(),
    }
}

/// Examples 6.2, 9.3, 10.1 and 10.2: Algorithm 1 with the filter.
#[test]
fn archives_answer_as_the_standard_shows() {
    for row in resolution("answer") {
        let mut archive = archive_of(&row);
        archive.key = row.get("urlkey").and_then(Value::as_str).map(str::to_owned);
        let answer = answer(&Request::Url(request(&row)), &archive).unwrap();
        assert_eq!(answer.lines().collect::<Vec<_>>().join("\n"), text(&row, "lines"), "{row:?}");
        assert_eq!(answer.to_string(), text(&row, "lines").replace('\n', "\r\n"));
        assert_eq!(text(&row, "lines").parse::<Pairs>().unwrap(), answer);
    }
}

/// Examples 9.4 to 9.12: single pairs.
#[test]
fn pairs_have_the_values_that_the_standard_shows() {
    for row in resolution("pair") {
        let UrlRequest { identifier, path, verbs, .. } = request(&row);
        let pairs = list_of_urls(&archive_of(&row), &identifier, &path, &verbs).unwrap();
        let expected = Some(text(&row, "value")).filter(|value| !value.is_empty());
        assert_eq!(pairs.get(text(&row, "name")), expected, "{row:?}");
    }
}

#[test]
fn an_unknown_item_has_no_pairs_and_a_deleted_one_five() {
    let mut archive = archive(0);
    let other = "LK47B6W/362SFKH".parse().unwrap();
    assert!(list_of_urls(&archive, &other, b"", &Verbs::default()).unwrap().is_empty());
    let name = "sid.inpe.br/mtc-m18@80/2009/07.21.13.23";
    archive.add(item(&toml::toml! {
        name = "sid.inpe.br/mtc-m18@80/2009/07.21.13.23"
        state = "Deleted"
        timestamp = "2026-10-01T12:00:00Z"
    }));
    let verbs = "GetLastEdition".parse().unwrap();
    let mut pairs = list_of_urls(&archive, &name.parse().unwrap(), b"", &verbs).unwrap();
    let all = pairs.clone();
    filter(&mut pairs, &verbs);
    assert_eq!(pairs, all);
    let names: Vec<_> = pairs.iter().map(|(name, _)| name).collect();
    let expected = [
        "archiveaddress",
        "ibi",
        "ibi.archiveservice",
        "ibi.platformsoftware",
        "state",
        "timestamp",
    ];
    assert_eq!(names, expected);
    assert_eq!(pairs.get("timestamp"), Some("2026-10-01T12:00:00Z"));
}

/// Section 7.6: an Archive that serves simple persistent URLs only. Nothing stands in for what is asked.
#[test]
fn a_minimal_archive_has_no_url_for_verbs() {
    let mut archive = archive(0);
    archive.relations.truncate(1);
    let ask = |verbs: &str| {
        let identifier = "8JMKD3MGP8W/35MME4E".parse().unwrap();
        let (addresses, path, verbs) = (Vec::new(), Vec::new(), verbs.parse().unwrap());
        answer(&Request::Url(UrlRequest { addresses, path, identifier, verbs }), &archive).unwrap()
    };
    assert!(ask("").get("url").is_some());
    for verbs in
        ["GetLastEdition", "GetTranslation", "GetMetadata", "GetTranslation(pt) GetMetadata"]
    {
        let names: Vec<_> = ask(verbs).iter().map(|(name, _)| name.to_owned()).collect();
        let expected = ["archiveaddress", "ibi", "ibi.archiveservice", "ibi.platformsoftware"];
        assert_eq!(names, expected, "{verbs}");
    }
}

/// Section 7.3: the related item may live elsewhere; filter rule 6.
#[test]
fn the_identifier_of_a_translation_elsewhere_is_passed_on() {
    let mut archive = archive(0);
    let pt: Identifier = "sid.inpe.br/mtc-m18@80/2009/08.25.19.43".parse().unwrap();
    archive.items.remove(&pt);
    let ask = |verbs: &str| {
        let verbs: Verbs = verbs.parse().unwrap();
        let identifier = "8JMKD3MGP8W/35MME4E".parse().unwrap();
        let mut pairs = list_of_urls(&archive, &identifier, b"", &verbs).unwrap();
        filter(&mut pairs, &verbs);
        pairs
    };
    let expected = Some("rep sid.inpe.br/mtc-m18@80/2009/08.25.19.43");
    for verbs in ["GetTranslation(pt)", "GetTranslation(pt) GetMetadata"] {
        let pairs = ask(verbs);
        assert_eq!(pairs.get("ibi.translation(pt)"), expected, "{verbs}");
        assert_eq!((pairs.get("url.translation(pt)"), pairs.get("urlkey")), (None, None));
    }
    assert_eq!(ask("GetTranslation(fr)").get("ibi.translation(fr)"), None);
    // Where there is a URL, nothing has to be gone on with.
    assert_eq!(ask("GetMetadata").get("ibi.translation(pt)"), None);
}

/// Examples 6.1, 9.1 and the requests of section 10.
#[test]
fn requests_are_written_and_read() {
    for row in resolution("request") {
        let request = request(&row);
        let target = request.target(text(&row, "service"));
        let url = format!("http://{}{target}", text(&row, "address"));
        assert_eq!(url, text(&row, "url"));
        let (_, query) = url.split_once('?').unwrap();
        assert_eq!(Request::of_query(query).unwrap(), Request::Url(request));
    }
    let example_6_1 = "servicesubject=urlRequest&clientinformation.ipaddress=150.163.2.175\
                       &parsedibiurl.ibi=8JMKD3MGP7W/3EPGUE5";
    let Request::Url(request) = Request::of_query(example_6_1).unwrap() else { panic!() };
    assert_eq!(request.identifier.as_str(), "8JMKD3MGP7W/3EPGUE5");
}

/// Algorithm 1, and E08.
#[test]
fn the_other_subjects_have_constant_answers() {
    let ask = |query: &str| Request::of_query(query);
    let confirmation = ask("servicesubject=inclusionConfirmationRequest").unwrap();
    assert_eq!(answer(&confirmation, &archive(0)).unwrap().to_string(), "confirmation yes");
    let acknowledgment = ask("urlkey=1&servicesubject=acknowledgment").unwrap();
    let notice = answer(&acknowledgment, &archive(0)).unwrap().to_string();
    assert_eq!(notice, "notice {acknowledgment received}");
    for (query, error) in [
        ("", RequestError::UnknownSubject),
        ("servicesubject=other", RequestError::UnknownSubject),
        ("servicesubject=urlRequest", RequestError::Pair("clientinformation.ipaddress")),
        (
            "servicesubject=urlRequest&clientinformation.ipaddress=1.2.3",
            RequestError::Pair("parsedibiurl.ibi"),
        ),
        (
            "servicesubject=urlRequest&clientinformation.ipaddress=1.2.3&parsedibiurl.ibi=a/o",
            RequestError::Pair("clientinformation.ipaddress"),
        ),
        (
            "servicesubject=urlRequest&clientinformation.ipaddress=1.2.3.4&parsedibiurl.ibi=a/o",
            RequestError::Pair("parsedibiurl.ibi"),
        ),
        (
            "servicesubject=urlRequest&clientinformation.ipaddress=1.2.3.4\
             &parsedibiurl.ibi=LK47B6W/362SFKH&parsedibiurl.verblist=GetAll",
            RequestError::Pair("parsedibiurl.verblist"),
        ),
        ("servicesubject=a&servicesubject=a", RequestError::Pair("servicesubject")),
    ] {
        assert_eq!(ask(query), Err(error), "{query}");
    }
}

/// Table 6.2, with E03.
#[test]
fn lists_of_pairs_are_read_as_they_are_found() {
    let expected: Pairs = "a1 {a2 a3}\r\na4 a5".parse().unwrap();
    for text in ["a4 {a5} a1 { a2\ta3 }\n", "a1 {a2\r\na3} a4 a5", "\n a1   {a2 a3}\n\na4\na5 "] {
        assert_eq!(text.parse::<Pairs>().unwrap(), expected, "{text}");
    }
    assert_eq!("".parse::<Pairs>().unwrap(), Pairs::default());
    assert_eq!("a {}".parse::<Pairs>().unwrap().get("a"), Some(""));
    for (text, column) in [
        ("a", 2),
        ("a b c", 6),
        ("a {b", 5),
        ("a {b {c}}", 6),
        ("a }", 4),
        ("{a} b", 1),
        ("a b}", 4),
        ("a b a c", 5),
        ("a ó", 3),
        ("a b\0", 4),
    ] {
        assert_eq!(text.parse::<Pairs>().expect_err(text).column(), column, "{text}");
    }
    assert!(format!("a {{{}}}", "b ".repeat(140_000)).parse::<Pairs>().is_err());
}

proptest! {
    #[test]
    fn printing_what_was_read_gives_the_same_pairs(
        pairs in prop::collection::btree_map("[!-z|~]{1,8}", prop::collection::vec("[!-z|~]{1,6}", 0..4), 0..6)
    ) {
        let lines: Vec<_> = pairs.iter().map(|(name, words)| match words.as_slice() {
            [word] => format!("{name} {word}"),
            words => format!("{name} {{{}}}", words.join(" ")),
        }).collect();
        let read: Pairs = lines.join("\n").parse().unwrap();
        prop_assert_eq!(read.lines().collect::<Vec<_>>(), lines);
        prop_assert_eq!(read.to_string().parse::<Pairs>().unwrap(), read);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[a-b{} \r\n\tó]{0,16}") {
        let _ = text.parse::<Pairs>();
        let _ = Request::of_query(&text);
    }
}
