//! The archive service: Algorithm 1 over HTTP [resolution, 6 and 7].

use std::collections::BTreeSet;

use urepo::collection::{Collection, Scheme};
use urepo::disk::Watcher;
use urepo::identity::{Identifier, Verbs, encode_value};
use urepo::resolve::{Announced, LocalArchive, Pairs, filter, list_of_urls};
use urepo::web::listen::Limits;

use super::site::{Answered, SERVICE, Site};
use crate::identity::{read, resolution, tables, text};
use crate::resolve::{family, name, put, standard};
use crate::support::{World, make_collection};

fn query(identifier: &str, verbs: &str, path: &str) -> String {
    let mut pairs = format!(
        "/{SERVICE}?servicesubject=urlRequest&clientinformation.ipaddress=192.0.2.7&parsedibiurl.ibi={identifier}"
    );
    for (name, value) in [("verblist", verbs), ("filepath", path)] {
        if !value.is_empty() {
            pairs += &format!("&parsedibiurl.{name}={}", encode_value(value.as_bytes()));
        }
    }
    pairs
}

#[test]
fn the_three_subjects_are_answered_exactly() {
    let world = family();
    let site = Site::of(&world.path("a"));
    for service in [SERVICE, "EXAMPLE.org/x/2026/01.01.09.09", "lk47b6w/362sfkh"] {
        let answer = site.get(&format!("/{service}?servicesubject=inclusionConfirmationRequest"));
        assert_eq!((answer.status, answer.text().as_str()), (200, "confirmation yes"), "{service}");
        assert_eq!(answer.field("content-type"), "text/plain");
        assert_eq!(answer.field("cache-control"), "no-store");
        assert_eq!(answer.field("x-content-type-options"), "nosniff");
    }
    // An identifier that is unknown here: nothing, and no error.
    let answer = site.get(&query("example.org/x/2030/01.01.00.00", "", ""));
    assert_eq!((answer.status, answer.text().as_str()), (200, ""));
    assert_eq!(answer.field("content-length"), "0");
    for (query, notice) in [
        ("servicesubject=other", "notice {unknown service subject}"),
        ("servicesubject=", "notice {unknown service subject}"),
        ("servicesubject=urlRequest", "notice {invalid pair clientinformation.ipaddress}"),
        (
            "servicesubject=urlRequest&clientinformation.ipaddress=1.2.3.4&parsedibiurl.ibi=x",
            "notice {invalid pair parsedibiurl.ibi}",
        ),
        ("servicesubject=acknowledgment", "notice {invalid pair clientinformation.ipaddress}"),
    ] {
        let answer = site.get(&format!("/{SERVICE}?{query}"));
        assert_eq!((answer.status, answer.text().as_str()), (400, notice), "{query}");
    }
    // Without a subject, the item that the service is would be there; at another path the pair is any pair.
    assert_eq!(site.get(&format!("/{SERVICE}")).status, 404);
    let answer = site.get(&format!("/{}?servicesubject=urlRequest", name(0)));
    assert_eq!(answer.status, 302);
    assert!(answer.field("location").ends_with("?servicesubject=urlRequest"), "{answer:?}");
}

/// Example 8.9, and the acknowledgments of both conversations, with their pairs in any order.
#[test]
fn acknowledgments_are_noticed() {
    let world = family();
    let site = Site::of(&world.path("a"));
    let example = "servicesubject=acknowledgment&clientinformation.ipaddress=150.163.2.175&contenttype=Data\
                   &ibi=rep%20sid.inpe.br/mtc-m19/2013/09.04.12.27.57%20ibip%208JMKD3MGP7W/3EPGUE5\
                   &url=http://mtc-m16d.sid.inpe.br/col/sid.inpe.br/mtc-m19/2013/09.04.12.27.57/doc/Relat%f3rio%20Final.pdf\
                   &url.persistent=http://mtc-m16d.sid.inpe.br:80/8JMKD3MGP7W/3EPGUE5&urlkey=1424636122-5331490054869684";
    let conversation = "clientinformation.ipaddress=172.16.44.200%20150.163.68.1&contenttype=Metadata\
                        &ibi=rep%20sid.inpe.br/mtc-m18/2012/07.12.18.08.49&servicesubject=acknowledgment&state=Original\
                        &url=http://mtc-m16c.sid.inpe.br/col/sid.inpe.br/mtc-m18/2012/07.12.18.08.49/doc/metadata.cgi%3Fchoice%3Doai_dc\
                        &url.persistent=http://urlib.net:80/8JMKD3MGP8W/35MMLL8!:(oai_dc)&urlkey=1426286454-36108967764060357";
    for query in [example, conversation] {
        let answer = site.get(&format!("/{SERVICE}?{query}"));
        assert_eq!(
            (answer.status, answer.text().as_str()),
            (200, "notice {acknowledgment received}")
        );
        for name in ["contenttype", "url", "url.persistent", "urlkey"] {
            let without: Vec<&str> =
                query.split('&').filter(|pair| !pair.starts_with(&format!("{name}="))).collect();
            let answer = site.get(&format!("/{SERVICE}?{}", without.join("&")));
            let notice = format!("notice {{invalid pair {name}}}");
            assert_eq!((answer.status, answer.text()), (400, notice));
        }
    }
}

/// A program that looks at the head of a URL is no resolver.
#[test]
fn the_service_is_asked_by_get_only() {
    let site = Site::of(&family().path("a"));
    for query in [query(&name(0), "", ""), format!("/{SERVICE}?servicesubject=acknowledgment")] {
        let answer = site.ask("HEAD", "a.example.org", &query, &[]);
        assert_eq!((answer.status, answer.field("allow")), (405, "GET, OPTIONS"), "{query}");
    }
}

/// The archive that a row is about, and its answer to the request of that row.
fn answer_to(row: &toml::Table, verbs: &str) -> (String, Answered) {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/vectors/archive.toml");
    let archives = tables(&read(fixture), "archive");
    let archive = &archives[usize::try_from(row["archive"].as_integer().unwrap()).unwrap()];
    let address = text(archive, "address");
    let world = World::new();
    make_collection(&world.path("a"));
    for item in archive["item"].as_array().unwrap() {
        let item = item.as_table().unwrap();
        put(&world.path("a"), item["name"].as_str().unwrap(), item);
    }
    let site = Site::with(&[(&world.path("a"), address)], Limits::default(), |_| {});
    let query = query(text(row, "ibi"), verbs, text(row, "path"));
    (address.to_owned(), site.ask("GET", address, &query, &[]))
}

/// Examples 9.4 to 9.12: single pairs, each in the answer to a request for its relation.
#[test]
fn pairs_have_the_values_of_the_standard() {
    for row in resolution("pair") {
        let name = text(&row, "name");
        let verbs = match name.split_once('.') {
            Some((_, "lastedition")) => "GetLastEdition",
            // A program describes the item there; it is not run here.
            Some((_, "metadata")) => continue,
            _ => text(&row, "verbs"),
        };
        let (address, answer) = answer_to(&row, verbs);
        let pairs: Pairs = answer.text().parse().unwrap();
        // The list of files is a program there, and a page here.
        let list = format!(
            "http://{address}/iconet.com.br/banon/2009/09.09.22.01?ibiurl.verblist=GetFileList"
        );
        let is_list = text(&row, "value").contains("displaydoccontent.cgi");
        let expected = if is_list { &list } else { text(&row, "value") };
        let found = pairs.get(name).unwrap_or_default();
        assert_eq!(found, expected, "{row:?}\n{}", answer.text());
    }
}

/// Example 9.2, relation by relation, from items that the engines made; its pairs of metadata are those of programs, which
/// are not run here.
#[test]
fn the_pairs_of_example_9_2_are_given_relation_by_relation() {
    let is_ours = |line: &&str| {
        let name = line.split(' ').next().unwrap();
        let own = ["urlkey", "ibi.archiveservice", "ibi.platformsoftware"];
        !own.contains(&name) && !name.contains(".metadata")
    };
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/vectors/example-9.2.txt");
    let text = read(fixture);
    let expected: BTreeSet<&str> = text.lines().filter(is_ours).collect();
    let (world, address) = (standard(), "mtc-m16c.sid.inpe.br");
    let site = Site::with(&[(&world.path("a"), address)], Limits::default(), |_| {});
    let answers = ["", "GetLastEdition", "GetTranslation"]
        .map(|it| site.ask("GET", address, &query("8JMKD3MGP8W/35MME4E", it, ""), &[]).text());
    let found = answers.iter().flat_map(|answer| answer.lines()).filter(is_ours);
    assert_eq!(found.collect::<BTreeSet<_>>(), expected);
    assert_eq!(expected.len(), 21);
}

/// The relations came in 2014; the files are those of 2009 for every reader.
#[test]
fn files_keep_their_date_when_relations_are_added() {
    let (world, address) = (standard(), "mtc-m16c.sid.inpe.br");
    let site = Site::with(&[(&world.path("a"), address)], Limits::default(), |_| {});
    let name = "sid.inpe.br/mtc-m18@80/2009/07.21.13.23";
    let file = format!("/col/{name}/doc/CCSDS%20643.0-B-1.pdf");
    let file = site.ask("GET", address, &file, &[]);
    assert_eq!(file.field("last-modified"), "Tue, 21 Jul 2009 13:23:45 GMT", "{file:?}");
    let page = site.ask("GET", address, &format!("/{name}:"), &["Accept: text/html"]).text();
    assert!(page.contains("2009-07-21T13:23:45Z"), "{page}");
    assert!(!page.contains("2014-05-01"), "{page}");
}

/// The printed answers that need no program to be run, letter by letter but for the key.
#[test]
fn answers_are_those_of_the_standard() {
    let mut compared = 0;
    for row in resolution("answer") {
        if text(&row, "lines").contains("metadata.cgi") {
            continue;
        }
        let (_, answer) = answer_to(&row, text(&row, "verbs"));
        let comparable = |text: &str| {
            let is_ours = |line: &&str| {
                ["urlkey", "ibi.archiveservice", "ibi.platformsoftware"]
                    .iter()
                    .all(|it| !line.starts_with(it))
            };
            text.lines().filter(is_ours).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(comparable(&answer.text()), comparable(text(&row, "lines")), "{row:?}");
        let has_key = |text: &str| text.contains("\nurlkey ");
        assert_eq!(has_key(&answer.text()), has_key(text(&row, "lines")), "{row:?}");
        assert!(
            answer
                .text()
                .contains("\r\nibi.archiveservice {rep example.org/x/2026/01.01.09.09}\r\n")
        );
        compared += 1;
    }
    assert_eq!(compared, 4);
}

/// Only the relations that a request needs are looked up, and no pair is missing for that.
#[test]
fn the_short_way_gives_the_pairs_of_algorithm_2() {
    let world = family();
    let verbs = crate::identity::resolution("modifiers");
    let mut verbs: Vec<Verbs> =
        verbs.iter().map(|row| text(row, "verbs").parse().unwrap()).collect();
    verbs.push(Verbs::default());
    verbs.push("GetFileList".parse().unwrap());
    verbs.push("GetTranslation(pt) GetMetadata".parse().unwrap());
    for root in ["a", "b", "c"] {
        let site = Site::of(&world.path(root));
        let collection = Collection::open(&world.path(root), &Watcher::default()).unwrap();
        let announced = Announced {
            address: Some("a.example.org".parse().unwrap()),
            scheme: Scheme::Http,
            service: SERVICE.parse::<Identifier>().unwrap().into(),
            ..Announced::default()
        };
        for number in [0, 1, 2, 3, 4, 10, 11, 20, 24] {
            for verbs in &verbs {
                let identifier = name(number).parse().unwrap();
                let archive = LocalArchive::new(&collection, &announced);
                let mut expected = list_of_urls(&archive, &identifier, b"", verbs).unwrap();
                filter(&mut expected, verbs);
                let answer = site.get(&query(&name(number), &verbs.to_string(), ""));
                let found: Pairs = answer.text().parse().unwrap();
                let lines: Vec<_> =
                    found.lines().filter(|line| !line.starts_with("urlkey")).collect();
                assert_eq!(lines, expected.lines().collect::<Vec<_>>(), "{root} {number} {verbs}");
            }
        }
    }
}

#[test]
fn each_answer_has_a_key_of_its_own() {
    let world = family();
    let site = Site::of(&world.path("a"));
    let key = || {
        let pairs: Pairs = site.get(&query(&name(0), "", "")).text().parse().unwrap();
        pairs.get("urlkey").unwrap().to_owned()
    };
    let (first, second) = (key(), key());
    assert_ne!(first, second);
    // Seconds since 1970 by the clock that the server was given.
    assert!(first.starts_with("1796126400-"), "{first}");
    assert!(first.parse::<urepo::resolve::UrlKey>().is_ok());
}

/// Section 9.2 of the standard: the address of the reader decides which URL is given [resolution, 7.4].
#[test]
fn the_reader_that_the_resolver_names_decides_the_url() {
    let world = World::new();
    let collection = make_collection(&world.path("a"));
    drop(collection);
    for (number, level) in [(0, "metadata"), (1, "closed")] {
        put(&world.path("a"), &name(number), &"title = 't'".parse().unwrap());
        crate::support::change_item(&world.path("a"), &name(number), |sidecar| {
            sidecar.access.level = level.parse().unwrap();
            sidecar.access.allow = vec!["198.51.100.0/24".parse().unwrap()];
        });
    }
    let site = Site::of(&world.path("a"));
    let answer = |number, client: &str, verbs: &str| -> Pairs {
        let query = query(&name(number), verbs, "").replace("192.0.2.7", client);
        site.get(&query).text().parse().unwrap()
    };
    let file = format!("http://a.example.org/col/{}/doc/a.txt", name(0));
    let allowed = answer(0, "198.51.100.9%20192.0.2.7", "");
    assert_eq!(
        (allowed.get("url"), allowed.get("contenttype")),
        (Some(file.as_str()), Some("Data"))
    );
    let described = format!("http://a.example.org/{}:", name(0));
    for client in ["192.0.2.7", "192.0.2.7%20198.51.100.9", "0.0.0.0"] {
        let other = answer(0, client, "");
        assert_eq!(other.get("url"), Some(described.as_str()), "{client}");
        assert_eq!(other.get("contenttype"), Some("Metadata"));
        assert_eq!(other.get("ibi").map(|ibi| ibi.starts_with("rep ")), Some(true));
        assert_eq!(answer(0, client, "GetFileList").get("url"), Some(described.as_str()));
        let closed = format!("http://a.example.org/{}", name(1));
        for verbs in ["", "GetFileList", "GetMetadata"] {
            let relation = if verbs == "GetMetadata" { "url.metadata" } else { "url" };
            assert_eq!(answer(1, client, verbs).get(relation), Some(closed.as_str()), "{verbs}");
        }
    }
    // The connection decides about the file itself.
    assert_eq!(site.get(&format!("/{}", name(1))).status, 403);
    assert_eq!(site.get(&format!("/col/{}/doc/a.txt", name(0))).status, 403);
}
