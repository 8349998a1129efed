//! The conversations of the standard, letter by letter [resolution, 9], and Example 8.8.

use std::sync::Mutex;

use urepo::collection::ClientAddress;
use urepo::collection::{Collection, Scheme};
use urepo::disk::Watcher;
use urepo::identity::{Identifier, decode_value};
use urepo::resolve::{Announced, LocalArchive, Request, UrlRequest, answer};

use super::scripted::{Act, Resolving, Scripted, hosts, patient, registry, service};
use crate::identity::{read, resolution, tables, text};
use crate::resolve::put;
use crate::support::{World, make_collection};

const SERVICE: &str = "sid.inpe.br/mtc-m18@80/2008/03.17.15.17";
const READER: [&str; 2] = [
    "X-Forwarded-For: 172.16.44.200, 150.163.68.1",
    "Accept-Language: pt-BR,fr;q=0.8,en;q=0.5,pt;q=0.3",
];

/// A registry with the archive of the conversations.
fn standard() -> String {
    registry(&["mtc-m16c"])
        .replace(&service("mtc-m16c"), SERVICE)
        .replace("mtc-m16c.example.org", "mtc-m16c.sid.inpe.br")
}

/// A resolver of one archive that gives these answers, one after the other.
fn answering(answers: &[&str]) -> (Resolving, Scripted) {
    let answers: Mutex<Vec<String>> =
        Mutex::new(answers.iter().rev().map(|it| (*it).to_owned()).collect());
    let archive =
        Scripted::new("mtc-m16c", move |_| Act::Pairs(answers.lock().unwrap().pop().unwrap()));
    let hosts = format!("{} mtc-m16c.sid.inpe.br", archive.address);
    (Resolving::with(&standard(), &hosts, patient()), archive)
}

fn lines(text: &str) -> String {
    text.trim().lines().map(str::trim).collect::<Vec<_>>().join("\r\n")
}

#[test]
fn the_first_conversation() {
    let (resolving, archive) = answering(&[&lines(
        "archiveaddress mtc-m16c.sid.inpe.br
         contenttype Data
         ibi {rep sid.inpe.br/mtc-m18@80/2009/07.21.14.43 ibip 8JMKD3MGP8W/35MMLL8}
         ibi.archiveservice {rep sid.inpe.br/mtc-m18@80/2008/03.17.15.17}
         ibi.platformsoftware {rep dpi.inpe.br/banon/1998/08.02.08.56}
         state Original
         timestamp 2009-07-21T14:43:31Z
         url http://mtc-m16c.sid.inpe.br/col/sid.inpe.br/mtc-m18@80/2009/07.21.14.43/doc/CCSDS%20650.0-B-1.pdf
         urlkey 1427244889-5349022633744855",
    )]);
    let answer = resolving.get_with("/8JMKD3MGP8W/35MMLL8", &READER);
    let url = "http://mtc-m16c.sid.inpe.br/col/sid.inpe.br/mtc-m18@80/2009/07.21.14.43/doc/CCSDS%20650.0-B-1.pdf";
    assert_eq!((answer.status, answer.field("location")), (302, url));
    assert_eq!(answer.field("cache-control"), "no-cache");
    let cite = "<http://urlib.net/sid.inpe.br/mtc-m18@80/2009/07.21.14.43>; rel=\"cite-as\"";
    assert_eq!(answer.field("link"), cite);
    assert_eq!(
        archive.next_target(),
        "/sid.inpe.br/mtc-m18@80/2008/03.17.15.17?clientinformation.ipaddress=172.16.44.200%20150.163.68.1\
         &parsedibiurl.ibi=8JMKD3MGP8W/35MMLL8&servicesubject=urlRequest"
    );
    assert_eq!(
        archive.next_target(),
        "/sid.inpe.br/mtc-m18@80/2008/03.17.15.17?clientinformation.ipaddress=172.16.44.200%20150.163.68.1\
         &contenttype=Data&ibi=rep%20sid.inpe.br/mtc-m18@80/2009/07.21.14.43%20ibip%208JMKD3MGP8W/35MMLL8\
         &servicesubject=acknowledgment&state=Original\
         &url=http://mtc-m16c.sid.inpe.br/col/sid.inpe.br/mtc-m18@80/2009/07.21.14.43/doc/CCSDS%20650.0-B-1.pdf\
         &url.persistent=http://urlib.net:80/8JMKD3MGP8W/35MMLL8&urlkey=1427244889-5349022633744855"
    );
}

const SECOND_ANSWERS: [&str; 2] = [
    "archiveaddress mtc-m16c.sid.inpe.br
     ibi {rep sid.inpe.br/mtc-m18@80/2009/07.21.14.43 ibip 8JMKD3MGP8W/35MMLL8}
     ibi.archiveservice {rep sid.inpe.br/mtc-m18@80/2008/03.17.15.17}
     ibi.nextedition {rep sid.inpe.br/mtc-m18/2012/07.12.18.08}
     ibi.platformsoftware {rep dpi.inpe.br/banon/1998/08.02.08.56}",
    "archiveaddress mtc-m16c.sid.inpe.br
     contenttype.lastedition.metadata(oai_dc) Metadata
     ibi {rep sid.inpe.br/mtc-m18/2012/07.12.18.08 ibip 8JMKD3MGP8W/3C9EP6P}
     ibi.archiveservice {rep sid.inpe.br/mtc-m18@80/2008/03.17.15.17}
     ibi.lastedition.metadata(oai_dc) {rep sid.inpe.br/mtc-m18/2012/07.12.18.08.49}
     ibi.platformsoftware {rep dpi.inpe.br/banon/1998/08.02.08.56}
     state.lastedition.metadata(oai_dc) Original
     timestamp.lastedition.metadata(oai_dc) 2014-04-04T17:36:01Z
     url.lastedition.metadata(oai_dc) http://mtc-m16c.sid.inpe.br/col/sid.inpe.br/mtc-m18/2012/07.12.18.08.49/doc/metadata.cgi?choice=oai_dc
     urlkey 1426286454-36108967764060357",
];

#[test]
fn the_second_conversation() {
    let answers = SECOND_ANSWERS.map(lines);
    let (resolving, archive) = answering(&[&answers[0], &answers[1]]);
    let answer = resolving.get_with("/8JMKD3MGP8W/35MMLL8!:(oai_dc)", &READER);
    let url = "http://mtc-m16c.sid.inpe.br/col/sid.inpe.br/mtc-m18/2012/07.12.18.08.49/doc/metadata.cgi?choice=oai_dc";
    assert_eq!((answer.status, answer.field("location")), (302, url));
    for item in ["8JMKD3MGP8W/35MMLL8", "sid.inpe.br/mtc-m18/2012/07.12.18.08"] {
        let expected = format!(
            "/sid.inpe.br/mtc-m18@80/2008/03.17.15.17?clientinformation.ipaddress=172.16.44.200%20150.163.68.1\
             &parsedibiurl.ibi={item}&parsedibiurl.verblist=GetLastEdition%20GetMetadata(oai_dc)&servicesubject=urlRequest"
        );
        assert_eq!(archive.next_target(), expected);
    }
    assert_eq!(
        archive.next_target(),
        "/sid.inpe.br/mtc-m18@80/2008/03.17.15.17?clientinformation.ipaddress=172.16.44.200%20150.163.68.1\
         &contenttype=Metadata&ibi=rep%20sid.inpe.br/mtc-m18/2012/07.12.18.08.49&servicesubject=acknowledgment\
         &state=Original\
         &url=http://mtc-m16c.sid.inpe.br/col/sid.inpe.br/mtc-m18/2012/07.12.18.08.49/doc/metadata.cgi%3Fchoice%3Doai_dc\
         &url.persistent=http://urlib.net:80/8JMKD3MGP8W/35MMLL8!:(oai_dc)&urlkey=1426286454-36108967764060357"
    );
}

/// The second conversation with answers of our own archive, with a given key and with programs as printed.
#[test]
fn the_second_conversation_with_an_archive_of_ours() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/vectors/archive.toml");
    let archives = tables(&read(fixture), "archive");
    let world = World::new();
    for (root, archive) in ["a", "b"].iter().zip(&archives) {
        make_collection(&world.path(root));
        for item in archive["item"].as_array().unwrap() {
            let item = item.as_table().unwrap();
            put(&world.path(root), item["name"].as_str().unwrap(), item);
        }
    }
    let roots = [world.path("a"), world.path("b")];
    let archive = Scripted::new("mtc-m16c", move |asked| {
        let is_first = asked.item == "8JMKD3MGP8W/35MMLL8";
        let root = if is_first { &roots[0] } else { &roots[1] };
        let collection = Collection::open(root, &Watcher::default()).unwrap();
        let form = |name: &str| name.parse::<Identifier>().unwrap().into();
        let announced = Announced {
            address: Some("mtc-m16c.sid.inpe.br".parse().unwrap()),
            scheme: Scheme::Http,
            runs_programs: true,
            service: form(SERVICE),
            software: form("dpi.inpe.br/banon/1998/08.02.08.56"),
            key: Some("1426286454-36108967764060357".parse().unwrap()),
        };
        let request = Request::Url(UrlRequest {
            addresses: vec!["172.16.44.200".parse().unwrap()],
            path: Vec::new(),
            identifier: asked.item.parse().unwrap(),
            verbs: asked.verbs.parse().unwrap(),
        });
        let pairs = answer(&request, &LocalArchive::new(&collection, &announced)).unwrap();
        assert_eq!(pairs.to_string(), lines(SECOND_ANSWERS[usize::from(!is_first)]));
        Act::Pairs(pairs.to_string())
    });
    let hosts = format!("{} mtc-m16c.sid.inpe.br", archive.address);
    let resolving = Resolving::with(&standard(), &hosts, patient());
    let answer = resolving.get_with("/8JMKD3MGP8W/35MMLL8!:(oai_dc)", &READER);
    let url = "http://mtc-m16c.sid.inpe.br/col/sid.inpe.br/mtc-m18/2012/07.12.18.08.49/doc/metadata.cgi?choice=oai_dc";
    assert_eq!((answer.status, answer.field("location")), (302, url));
}

/// Example 8.8, and the other forms of addresses that archives get.
#[test]
fn archives_get_what_was_captured() {
    let archive = Scripted::new("a", |_| Act::Pairs(String::new()));
    let resolving = Resolving::of(std::slice::from_ref(&archive), patient());
    let target = "/LK47B6W/362SFKH+?ibiurl.requireditemstatus=Original&ibiurl.verblist=GetMetadata";
    resolving.get_with(
        target,
        &["X-Forwarded-For: 150.163.2.175", "Accept-Language: pt-br,fr;q=0.8,en;q=0.5,pt;q=0.3"],
    );
    let expected = format!(
        "/{}?clientinformation.ipaddress=150.163.2.175&parsedibiurl.ibi=LK47B6W/362SFKH\
         &parsedibiurl.verblist=GetTranslation%20GetMetadata&servicesubject=urlRequest",
        service("a")
    );
    assert_eq!(archive.next_target(), expected);
    for (client, expected) in
        [(ClientAddress::Network, "150.163.2.0%202001:db8:1::"), (ClientAddress::None, "0.0.0.0")]
    {
        let archive = Scripted::new("a", |_| Act::Pairs(String::new()));
        let hosts = hosts(std::slice::from_ref(&archive));
        let resolving = Resolving::with_client(client, &registry(&["a"]), &hosts);
        resolving
            .get_with("/LK47B6W/362SFKH", &["X-Forwarded-For: 150.163.2.175, 2001:db8:1:2::3"]);
        let address = format!("?clientinformation.ipaddress={expected}&");
        assert!(archive.next_target().contains(&address));
    }
}

/// The URLs of section 6 and those that it refuses: what archives are asked, and that they are not asked at all.
#[test]
fn urls_are_captured_as_the_standard_says() {
    let archive = Scripted::new("a", |_| Act::Pairs(String::new()));
    let resolving = Resolving::of(std::slice::from_ref(&archive), patient());
    let target = |row: &toml::Table| {
        let target = text(row, "text").strip_prefix("http://urlib.net/")?;
        // The others cannot be sent.
        let is_sent = target.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#');
        is_sent.then(|| format!("/{target}"))
    };
    let mut sent = [0, 0];
    for row in resolution("url") {
        let Some(target) = target(&row) else { continue };
        assert_eq!(resolving.get(&target).status, 404, "{target}");
        let asked = archive.next_target();
        let pair = |name: &str| {
            let mut pairs = asked.split(['?', '&']);
            let value = pairs.find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
            String::from_utf8(decode_value(value.unwrap_or_default()).unwrap()).unwrap()
        };
        assert_eq!(pair("parsedibiurl.verblist"), text(&row, "verbs"), "{target}: {asked}");
        let path = pair("parsedibiurl.filepath");
        assert_eq!(path.trim_start_matches('/'), text(&row, "path"), "{target}: {asked}");
        assert!(!asked.contains("requireditemstatus") && !asked.contains("Original"), "{asked}");
        sent[0] += 1;
    }
    for row in resolution("refused_url") {
        let Some(target) = target(&row) else { continue };
        let status = resolving.get(&target).status;
        assert!([400, 404].contains(&status) || target == "/", "{target}: {status}");
        assert!(archive.targets().is_empty(), "{target}");
        sent[1] += 1;
    }
    assert!(sent[0] > 20 && sent[1] > 25, "{sent:?}");
}
