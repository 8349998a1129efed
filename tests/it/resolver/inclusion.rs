//! Registration, inclusion and exclusion [resolution, 5], and keys that are guessed.

use super::scripted::{Act, ITEM, Resolving, SERVICE, Scripted, hasty, pairs, patient, url};
use crate::serve::Answered;

const ARCHIVE: &str = "sid.inpe.br/mtc-m21/2012/06.05.15.34.39";

/// Example 7.2.
pub(super) const INCLUSION: &str = "servicesubject=inclusionRequest&archiveaddress=mtc-m21.sid.inpe.br\
    &archiveserviceibi=sid.inpe.br/mtc-m21/2012/06.05.15.34.39&archiveip=150.163.34.239&archiveprotocol=HTTP\
    &archiveplatformversion=2014:11.09.02.16.15&archiveadmemailaddress=banon@dpi.inpe.br&registrationkey=1234567890";

/// The archive of the examples, registered with the key `1234567890`; the digest is that of another implementation.
pub(super) fn registered() -> String {
    format!(
        "[[archive]]\nservice = \"{ARCHIVE}\"\nsalt = \"00\"\nrounds = 1\n\
         key = \"d76d86f9bdc4df575adc0aeddef674e4c914702d614b4859eedbae15c60be46f\"\n"
    )
}

fn resolver_of(archive: &Scripted) -> Resolving {
    let hosts = format!("{} mtc-m21.sid.inpe.br moved.sid.inpe.br", archive.address);
    Resolving::with(&registered(), &hosts, patient())
}

/// An archive that has every item.
pub(super) fn scripted() -> Scripted {
    Scripted::new("a", |asked| match pairs("a", &asked.item, &url("a", "", "Original")) {
        Act::Pairs(text) => Act::Pairs(
            text.replace(&super::scripted::service("a"), ARCHIVE)
                .replace("http://a.example.org", "http://mtc-m21.sid.inpe.br"),
        ),
        act => act,
    })
}

fn ask(resolving: &Resolving, query: &str) -> (u16, String) {
    let Answered { status, body, .. } = resolving.get(&format!("/{SERVICE}?{query}"));
    (status, String::from_utf8(body).unwrap())
}

fn said(status: u16, text: &str) -> (u16, String) {
    (status, text.to_owned())
}

/// Figure 7.1 with Examples 7.2, 7.3 and 7.4.
#[test]
fn an_archive_is_included_confirmed_and_excluded() {
    let archive = scripted();
    let resolving = resolver_of(&archive);
    let resolved = || resolving.get(&format!("/{ITEM}")).status;
    assert_eq!(resolved(), 504);
    let included = "status.archive included status.confirmation successful";
    assert_eq!(ask(&resolving, INCLUSION), said(200, included));
    let confirmation = format!("/{ARCHIVE}?servicesubject=inclusionConfirmationRequest");
    assert_eq!(archive.next_target(), confirmation);
    assert_eq!(resolved(), 302);
    let text = || std::fs::read_to_string(&resolving.registry).unwrap();
    for line in [
        "address = \"mtc-m21.sid.inpe.br\"",
        "ip = \"150.163.34.239\"",
        "platform = \"2014:11.09.02.16.15\"",
        "email = \"banon@dpi.inpe.br\"",
        "since = \"2026-12-01T12:00:00Z\"",
        "confirmed = true",
    ] {
        assert!(text().contains(line), "{line}: {}", text());
    }
    assert!(!text().contains("1234567890"));
    // Once more, in another order and at another address.
    let moved = INCLUSION.replace("=mtc-m21.sid.inpe.br", "=moved.sid.inpe.br");
    let reversed: Vec<&str> = moved.split('&').rev().collect();
    assert_eq!(ask(&resolving, &reversed.join("&")), said(200, included));
    assert!(text().contains("moved.sid.inpe.br") && !text().contains("\"mtc-m21.sid.inpe.br\""));
    let exclusion = INCLUSION.replace("inclusionRequest", "exclusionRequest");
    for _ in 0..2 {
        assert_eq!(ask(&resolving, &exclusion), said(200, "status.archive excluded"));
        assert_eq!(resolved(), 504);
    }
    // The registration stays.
    assert_eq!(text().matches("[[archive]]").count(), 1);
    assert_eq!(ask(&resolving, INCLUSION), said(200, included));
}

#[test]
fn an_archive_that_cannot_be_reached_is_included_without_a_confirmation() {
    let unsuccessful = said(200, "status.archive included status.confirmation unsuccessful");
    let hung = Scripted::new("a", |_| Act::Hang);
    for hosts in [
        "127.0.0.1:1 mtc-m21.sid.inpe.br".to_owned(),
        // Not a public address: no connection is made.
        String::new(),
        format!(
            "{} mtc-m21.sid.inpe.br",
            std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
        ),
    ] {
        let resolving = Resolving::with(&registered(), &hosts, hasty());
        let query = INCLUSION.replace("=mtc-m21.sid.inpe.br", "=127.0.0.1:1");
        let query = if hosts.is_empty() { &query } else { INCLUSION };
        assert_eq!(ask(&resolving, query), unsuccessful, "{hosts}");
        let text = std::fs::read_to_string(&resolving.registry).unwrap();
        assert!(text.contains("confirmed = false"), "{text}");
    }
    assert!(hung.targets().is_empty());
}

/// Nothing is asked, and nothing is written, before the key is known.
#[test]
fn wrong_requests_and_keys_are_refused() {
    let archive = scripted();
    let resolving = resolver_of(&archive);
    let refused = |name| said(400, &format!("status.archive refused status.reason {name}"));
    for (from, to, name) in [
        ("archiveaddress=mtc-m21.sid.inpe.br", "archiveaddress=a%20b", "archiveaddress"),
        ("archiveaddress=mtc-m21.sid.inpe.br", "archiveaddress=www.urlib.net:80", "archiveaddress"),
        ("archiveprotocol=HTTP", "archiveprotocol=USP", "archiveprotocol"),
        ("&archiveip=150.163.34.239", "", "archiveip"),
        ("1234567890", "123456789", "registrationkey"),
        ("&registrationkey", "&archiveip=1.1.1.1&registrationkey", "archiveip"),
    ] {
        assert_eq!(ask(&resolving, &INCLUSION.replace(from, to)), refused(name), "{to}");
    }
    assert_eq!(ask(&resolving, "servicesubject=x"), said(400, "notice {unknown service subject}"));
    let unknown = INCLUSION.replace("15.34.39", "15.34.40");
    let wrong = INCLUSION.replace("1234567890", "1234567891");
    let forbidden = said(403, "status.archive refused");
    for query in [&unknown, &wrong, &wrong.replace("inclusionRequest", "exclusionRequest")] {
        assert_eq!(ask(&resolving, query), forbidden, "{query}");
    }
    assert!(archive.targets().is_empty());
    assert_eq!(std::fs::read_to_string(&resolving.registry).unwrap(), registered());
    // Two more, and this client has to wait for a minute, even with the right key.
    for _ in 0..2 {
        assert_eq!(ask(&resolving, &wrong), forbidden);
    }
    let answer = resolving.get(&format!("/{SERVICE}?{INCLUSION}"));
    assert_eq!((answer.status, answer.field("retry-after")), (429, "10"));
    let other =
        resolving.get_with(&format!("/{SERVICE}?{INCLUSION}"), &["X-Forwarded-For: 192.0.2.9"]);
    assert_eq!(other.status, 200);
    resolving.clock.jump(60_000);
    assert_eq!(ask(&resolving, INCLUSION).0, 200);
}

/// Who asks many times at once has no more guesses than one after the other.
#[test]
fn a_burst_of_wrong_keys_has_five_guesses() {
    let slow = registered().replace("rounds = 1", "rounds = 100000");
    let resolving = Resolving::with(&slow, "", patient());
    let wrong = INCLUSION.replace("1234567890", "1234567891");
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let one = || scope.spawn(|| ask(&resolving, &wrong).0);
        let all: Vec<_> = (0..40).map(|_| one()).collect();
        all.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert!(statuses.iter().all(|it| [403, 429, 503].contains(it)), "{statuses:?}");
    assert_eq!(statuses.iter().filter(|it| **it == 403).count(), 5, "{statuses:?}");
}

/// A program that looks at the head of a URL changes nothing.
#[test]
fn a_service_is_asked_by_get_only() {
    let archive = scripted();
    let resolving = resolver_of(&archive);
    let target = format!("/{SERVICE}?{INCLUSION}");
    let answer = resolving.site.ask("HEAD", "urlib.net", &target, &[]);
    assert_eq!((answer.status, answer.field("allow")), (405, "GET, OPTIONS"));
    assert_eq!(std::fs::read_to_string(&resolving.registry).unwrap(), registered());
    assert!(archive.targets().is_empty());
}

/// Many announcements with wrong keys, from many networks: each is refused, and nothing is written.
#[test]
fn ten_thousand_announcements_change_nothing() {
    let resolving = resolver_of(&scripted());
    let before = std::fs::metadata(&resolving.registry).unwrap().modified().unwrap();
    let wrong = INCLUSION.replace("1234567890", "1234567891");
    let mut stream = resolving.site.connect();
    let mut statuses = std::collections::BTreeMap::new();
    for number in 0..10_000_u32 {
        // Eight requests of each network.
        let [.., high, low] = (number / 8).to_be_bytes();
        let head = format!(
            "GET /{SERVICE}?{wrong} HTTP/1.1\r\nHost: urlib.net\r\nX-Forwarded-For: 11.{high}.{low}.1\r\n\r\n"
        );
        std::io::Write::write_all(&mut stream, head.as_bytes()).unwrap();
        let answer = Answered::read(&mut stream, false).unwrap();
        assert_eq!(answer.text(), "status.archive refused");
        *statuses.entry(answer.status).or_insert(0) += 1;
    }
    assert_eq!(statuses.into_iter().collect::<Vec<_>>(), [(403, 6250), (429, 3750)]);
    assert_eq!(std::fs::metadata(&resolving.registry).unwrap().modified().unwrap(), before);
    assert_eq!(ask(&resolving, INCLUSION).0, 200);
}

/// The change of one archive does not undo that of another, nor what the administrator does meanwhile.
#[test]
fn many_announcements_at_a_time_all_count() {
    let archive = scripted();
    let names: Vec<String> =
        (10..26).map(|second| ARCHIVE.replace("34.39", &format!("34.{second}"))).collect();
    let text: String = names.iter().map(|name| registered().replace(ARCHIVE, name)).collect();
    let hosts = format!("{} mtc-m21.sid.inpe.br", archive.address);
    let resolving = Resolving::with(&text, &hosts, patient());
    std::thread::scope(|scope| {
        for name in &names {
            let resolving = &resolving;
            scope.spawn(move || {
                let query = INCLUSION.replace(ARCHIVE, name);
                assert_eq!(ask(resolving, &query).0, 200);
            });
        }
    });
    let text = std::fs::read_to_string(&resolving.registry).unwrap();
    assert_eq!(text.matches("confirmed = true").count(), names.len());
    let page = resolving.get_with("/", &["Accept-Language: en"]).text();
    assert!(page.contains(&format!("<dd>{}</dd>", names.len())), "{page}");
}
