//! Archives that fail, lie or attack, and readers who do.

use std::net::{Ipv6Addr, SocketAddr, TcpListener};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use urepo::resolver::{Addresses, AskLimits, NameService};

use super::scripted::{
    Act, ITEM, Resolving, SERVICE, Scripted, hasty, pairs, patient, plain, registry, url,
    write_registry,
};
use crate::serve::{PIECES, Random};

fn good(name: &'static str) -> Scripted {
    Scripted::new(name, move |_| pairs(name, ITEM, &url(name, "", "Copy")))
}

fn bytes(head: &str, body: &[u8]) -> Act {
    Act::Bytes([head.as_bytes(), body].concat())
}

/// The answer of a resolver whose first archive does this, and whose second one has a Copy: all answers are waited for.
fn beside(act: impl Fn() -> Act + Send + Sync + 'static, limits: AskLimits) -> (u16, String) {
    let archives = [Scripted::new("a", move |_| act()), good("b")];
    let resolving = Resolving::of(&archives, limits);
    let answer = resolving.get(&format!("/{ITEM}?ibiurl.requireditemstatus=Original"));
    (answer.status, answer.text().replace("\r\n", " "))
}

#[test]
fn an_answer_that_is_none_is_dropped_and_counted() {
    let claim = pairs("a", ITEM, &url("a", "", "Original"));
    let Act::Pairs(claim) = claim else { panic!() };
    let long = plain(claim.len());
    let replaced = |from: &'static str, to: &'static str| {
        let claim = claim.replace(from, to);
        move || Act::Pairs(claim.clone())
    };
    let with_head = |head: String| {
        let claim = claim.clone();
        move || bytes(&head, claim.as_bytes())
    };
    let many: Vec<String> = (0..100_000).map(|number| format!("n{number} x")).collect();
    let found = (302, String::new());
    let dropped = (404, "alert {original not found} unanswered 1".to_owned());
    // The claim counts where nothing is wrong with it.
    assert_eq!(beside(replaced("", ""), patient()), found);
    assert_eq!(beside(with_head(long.clone()), patient()), found);
    for media in ["Text/Plain", "text/plain ; charset=us-ascii", "TEXT/PLAIN;charset=utf-8"] {
        let head = long.replace("text/plain", media);
        assert_eq!(beside(with_head(head), patient()), found, "{media}");
    }
    type Script = Box<dyn Fn() -> Act + Send + Sync>;
    let acts: Vec<(&str, Script)> = vec![
        ("braces", Box::new(|| Act::Pairs("{{bad".to_owned()))),
        ("another's name", Box::new(replaced("/a/2026", "/b/2026"))),
        ("no name", Box::new(replaced("ibi.archiveservice", "ibi.other"))),
        ("another host", Box::new(replaced("url http://a.", "url http://b."))),
        ("a user", Box::new(replaced("url http://a.", "url http://a.example.org@b."))),
        ("a port", Box::new(replaced("url http://a.example.org", "url http://a.example.org:8080"))),
        ("no scheme", Box::new(replaced("url http:", "url "))),
        ("a script", Box::new(replaced("url http://", "url javascript://"))),
        ("another status", Box::new(with_head(long.replace("200 OK", "404 Not Found")))),
        (
            "a redirect",
            Box::new(with_head(
                long.replace("200 OK", "302 Found\r\nLocation: http://b.example.org/"),
            )),
        ),
        ("a page", Box::new(with_head(long.replace("text/plain", "text/html")))),
        ("no type", Box::new(with_head(long.replace("Content-Type: text/plain\r\n", "")))),
        (
            "packed",
            Box::new(with_head(
                long.replace("Content-Type", "Content-Encoding: gzip\r\nContent-Type"),
            )),
        ),
        ("not whole", Box::new(with_head(plain(claim.len() + 1)))),
        ("not HTTP", Box::new(|| Act::Bytes(b"220 mail\r\n".to_vec()))),
        ("nothing", Box::new(|| Act::Bytes(Vec::new()))),
        ("many pairs", Box::new(move || Act::Pairs(many.join(" ")))),
        ("bytes", Box::new(|| bytes(&plain(4), b"a \xff\xfe"))),
        (
            "a long head",
            Box::new(|| bytes("HTTP/1.1 200 OK\r\n", "A: b\r\n".repeat(9999).as_bytes())),
        ),
        (
            "endless",
            Box::new(|| {
                Act::Endless(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n".to_vec())
            }),
        ),
    ];
    for (name, act) in acts {
        assert_eq!(beside(act, patient()), dropped, "{name}");
    }
    // What never ends, and sends nothing more.
    assert_eq!(beside(|| Act::Hang, hasty()), dropped);
}

#[test]
fn a_dead_archive_is_left_out_and_comes_back() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let b = good("b");
    let text = format!("{gone} a.example.org\n{} b.example.org\n", b.address);
    let resolving =
        Resolving::with(&registry(&["a", "b"]), &text, AskLimits { failures: 2, ..patient() });
    let target = format!("/{ITEM}?ibiurl.requireditemstatus=Original");
    for _ in 0..3 {
        let answer = resolving.get(&target);
        assert_eq!(answer.text(), "alert {original not found}\r\nunanswered 1");
    }
    // It is announced again, at another address: this counts at once.
    let changed = registry(&["b", "c"]);
    write_registry(&resolving.registry, &changed);
    let answer = resolving.get(&target);
    assert_eq!(answer.text(), "alert {original not found}\r\nunanswered 1");
    write_registry(&resolving.registry, &registry(&["b"]));
    assert_eq!(resolving.get(&target).text(), "alert {original not found}");
    // What nobody can read changes nothing.
    write_registry(&resolving.registry, "[[archive");
    assert_eq!(resolving.get(&target).text(), "alert {original not found}");
}

/// Anybody chooses what an archive is asked. An answer of any kind says that it is there.
#[test]
fn answers_that_cannot_be_used_leave_no_archive_out() {
    let long = plain(5);
    for head in [
        long.replace("200 OK", "431 Request Header Fields Too Large"),
        long.replace("200 OK", "500 Internal Server Error"),
        long.replace("text/plain", "text/html"),
        long.replace("Content-Type", "Content-Encoding: gzip\r\nContent-Type"),
        // Cut after the head.
        plain(100),
    ] {
        let count = AtomicUsize::new(0);
        let archive = Scripted::new("a", move |_| match count.fetch_add(1, Ordering::Relaxed) {
            0..3 => bytes(&head, b"state"),
            _ => pairs("a", ITEM, &url("a", "", "Original")),
        });
        let resolving = Resolving::of(&[archive], AskLimits { failures: 1, ..patient() });
        for _ in 0..3 {
            assert_eq!(resolving.get(&format!("/{ITEM}")).status, 504);
        }
        assert_eq!(resolving.get(&format!("/{ITEM}")).status, 302);
    }
}

#[test]
fn an_archive_that_answers_again_is_asked_again() {
    let a = Scripted::new("a", {
        let count = std::sync::atomic::AtomicUsize::new(0);
        move |_| match count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0..2 => Act::Bytes(b"broken\r\n\r\n".to_vec()),
            _ => pairs("a", ITEM, &url("a", "", "Original")),
        }
    });
    let archives = [a];
    let limits = AskLimits { failures: 2, pause: std::time::Duration::ZERO, ..patient() };
    let resolving = Resolving::of(&archives, limits);
    let target = format!("/{ITEM}");
    for _ in 0..2 {
        assert_eq!(resolving.get(&target).status, 504);
    }
    // Before it is asked for an item, it has to confirm that it is there.
    let asked: Vec<String> = (0..3).map(|_| archives[0].next_target()).collect();
    assert!(asked[2].ends_with("?servicesubject=inclusionConfirmationRequest"), "{asked:?}");
    while resolving.get(&target).status != 302 {}
}

/// Requests that wait for one of its places end when the first of them has failed.
#[test]
fn nobody_waits_for_an_archive_that_is_left_out() {
    let archives = [Scripted::new("a", |_| Act::Hang)];
    let limits = AskLimits { answer: hasty().answer, failures: 1, connections: 1, ..patient() };
    let resolving = Resolving::of(&archives, limits);
    std::thread::scope(|scope| {
        for _ in 0..5 {
            scope.spawn(|| assert_eq!(resolving.get(&format!("/{ITEM}")).status, 504));
        }
    });
    assert_eq!(archives[0].targets().len(), 1);
}

#[test]
fn private_addresses_are_not_asked_unless_that_is_allowed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    for host in
        ["127.0.0.1", "[::ffff:127.0.0.1]", "localhost", "0.0.0.0", "[::1]", "[64:ff9b::7f00:1]"]
    {
        let text = registry(&["a"]).replace("a.example.org\"", &format!("{host}:{port}\""));
        let resolving = Resolving::with(&text, "", patient());
        assert_eq!(resolving.get(&format!("/{ITEM}")).status, 504, "{host}");
        assert!(listener.accept().is_err(), "{host}: a connection was made");
    }
    let a = Scripted::new("a", |_| Act::Pairs(String::new()));
    let text = registry(&["a"]).replace("a.example.org\"", &format!("{}\"", a.address));
    let allowed = text.replacen("salt", "allow_private = true\nsalt", 1);
    assert_eq!(Resolving::with(&allowed, "", patient()).get(&format!("/{ITEM}")).status, 404);
    assert_eq!(a.targets().len(), 1);
}

/// A name that is public when it is checked, and private a moment later: one look-up is both, so the connection goes to the
/// address that was checked.
#[test]
fn a_name_that_changes_its_address_leads_to_no_private_one() {
    static LOOK_UPS: AtomicUsize = AtomicUsize::new(0);
    // An address of nobody: a connection fails, or takes too long.
    fn public() -> SocketAddr {
        SocketAddr::from((Ipv6Addr::new(0x2001, 0x4860, 0xffff, 0, 0, 0, 0, 1), 9))
    }
    let names: NameService = |name, port| {
        let local = SocketAddr::from(([127, 0, 0, 1], port));
        let look_up = LOOK_UPS.fetch_add(1, Ordering::Relaxed);
        Ok(match name {
            "turns.example.org" if look_up % 2 == 1 => vec![local],
            "both.example.org" => vec![public(), local],
            _ => vec![public()],
        })
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    for host in ["turns.example.org", "both.example.org"] {
        let text = registry(&["a"]).replace("a.example.org\"", &format!("{host}:{port}\""));
        let known = Addresses::default().with_names(names);
        let resolving = Resolving::knowing(known, &text, hasty());
        LOOK_UPS.store(0, Ordering::Relaxed);
        for request in 1..5 {
            assert_eq!(resolving.get(&format!("/{ITEM}")).status, 504, "{host}");
            assert_eq!(LOOK_UPS.load(Ordering::Relaxed), request, "one for each connection");
            assert!(listener.accept().is_err(), "{host}: a connection was made");
        }
    }
}

#[test]
fn requests_of_readers_are_bounded_and_lead_nowhere_else() {
    let archives = [good("a")];
    let resolving = Resolving::of(&archives, patient());
    for (target, status) in [
        ("/", 200),
        ("/style.css", 200),
        ("/robots.txt", 200),
        ("/healthz", 200),
        ("/x", 404),
        ("//evil.org/", 404),
        ("/..%2fx", 404),
        (&format!("/{ITEM}!!"), 400),
        (&format!("/{ITEM}/../x"), 404),
        (&format!("/{ITEM}/%2e%2e/x"), 404),
        (&format!("/{SERVICE}?servicesubject=urlRequest"), 400),
        (&format!("/{ITEM}"), 302),
    ] {
        assert_eq!(resolving.get(target).status, status, "{target}");
    }
    for host in ["evil.org", "urlib.net:8080", "127.0.0.1"] {
        assert_eq!(resolving.site.ask("GET", host, &format!("/{ITEM}"), &[]).status, 421, "{host}");
    }
    let www = resolving.site.ask("HEAD", "WWW.urlib.net:80", &format!("/{ITEM}?x=//evil.org"), &[]);
    assert_eq!(
        (www.status, www.field("location")),
        (302, "http://a.example.org/col/Copy?x=//evil.org")
    );
    assert_eq!(resolving.site.ask("POST", "urlib.net", "/", &[]).status, 405);
    let with_body = "GET / HTTP/1.1\r\nHost: urlib.net\r\nContent-Length: 1\r\n\r\nx";
    assert_eq!(resolving.site.send(with_body).unwrap().status, 400);
}

/// Parts of answers: some that belong there, and some that do not.
const PAIRS: [&str; 24] = [
    "state Original",
    "state Deleted",
    "state {}",
    "timestamp 2026-10-01T12:00:00Z",
    "urlkey 1796126400-1234567890",
    "url http://a.example.org/x",
    "url.lastedition http://a.example.org/y",
    "url.translation(en) http://a.example.org/en",
    "url.translation http://a.example.org/?",
    "url.translation(pt).metadata http://a.example.org/m",
    "url.evil http://evil.org/",
    "url.metadata http://evil.org/",
    "state.lastedition Copy",
    "contenttype Data",
    "ibi.nextedition {rep example.org/items/2026/02.02.02.02}",
    "ibi.nextedition {rep example.org/items/2026/03.03.03.03 ibip 8JMKD3MGP8W/35MMLL8}",
    "ibi.translation(pt) {ibip 8JMKD3MGP8W/35MMLL8}",
    "ibi.metadata {rep example.org/items/2026/03.03.03.03}",
    "ibi.lastedition {}",
    "ibi.lastedition {rep ..}",
    "ibi.translation( x",
    "{",
    "}",
    "\u{e9} x",
];

/// Random requests, and archives that answer them at random: every answer is one of the specification, and leads to an
/// announced host only.
#[test]
fn random_answers_lead_to_announced_hosts_only() {
    let archive = |name: &'static str, seed| {
        let random = Mutex::new(Random(seed));
        Scripted::new(name, move |asked| {
            let mut random = random.lock().unwrap();
            let count = random.next(6);
            let more: Vec<&str> = (0..count).map(|_| PAIRS[random.next(PAIRS.len())]).collect();
            pairs(name, &asked.item, &more.join(" "))
        })
    };
    let archives = [archive("a", 1), archive("b", 2)];
    let moment = std::time::Duration::ZERO;
    let resolving = Resolving::of(&archives, AskLimits { moment, rounds: 8, ..patient() });
    let mut random = Random(20_261_128);
    let mut tally = std::collections::BTreeMap::<u16, usize>::new();
    for number in 0..3000 {
        let mut target =
            format!("/{ITEM}{}", ["", "!", "+", "+(pt)", ":", "!+:", "/"][random.next(7)]);
        for _ in 0..random.next(3) {
            target.push_str(PIECES[random.next(PIECES.len())]);
        }
        if random.next(4) == 0 {
            target.push_str("?ibiurl.requireditemstatus=Original");
        }
        let head = format!(
            "GET {target} HTTP/1.1\r\nHost: urlib.net\r\nConnection: close\r\nAccept-Language: pt,en;q=0.5\r\n\r\n"
        );
        let Some(answer) = resolving.site.send(head) else { continue };
        *tally.entry(answer.status).or_default() += 1;
        assert!(
            [200, 302, 400, 404, 409, 410, 504, 508].contains(&answer.status),
            "{number} {target}: {answer:?}"
        );
        let location = answer.field("location");
        assert!(
            location.is_empty() || location.starts_with("http://a.example.org/"),
            "{number} {target}: {answer:?}"
        );
    }
    for status in [302, 400, 404, 410, 508] {
        assert!(tally.contains_key(&status), "{tally:?}");
    }
}
