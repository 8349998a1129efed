//! Hosts choose archives, and heads that can be read in two ways are refused.

use urepo::web::listen::Limits;

use super::site::Site;
use crate::resolve::name;
use crate::support::{World, change_item, make_collection};

/// Two archives with one item, which is closed in the second.
fn two() -> (World, Site) {
    let world = World::new();
    for root in ["a", "b"] {
        make_collection(&world.path(root));
        crate::resolve::put(
            &world.path(root),
            &name(0),
            &format!("title = '{root}'").parse().unwrap(),
        );
    }
    change_item(&world.path("b"), &name(0), |sidecar| {
        sidecar.access.level = "closed".parse().unwrap();
        sidecar.access.allow = vec!["198.51.100.0/24".parse().unwrap()];
    });
    let (a, b) = (world.path("a"), world.path("b"));
    let roots = [(a.as_path(), "a.example.org"), (b.as_path(), "b.example.org:8080")];
    let site = Site::with(&roots, Limits::default(), |_| {});
    (world, site)
}

#[test]
fn each_archive_answers_under_its_own_address_only() {
    let (_world, site) = two();
    let targets = [
        format!("/{}", name(0)),
        format!("/{}:", name(0)),
        format!("/{}?ibiurl.verblist=GetFileList", name(0)),
        format!("/col/{}/doc/a.txt", name(0)),
        format!("/col/{}/", name(0)),
        "/".to_owned(),
    ];
    let forged = [
        "X-Forwarded-For: 198.51.100.9",
        "X-Forwarded-Host: a.example.org",
        "Forwarded: for=198.51.100.9;host=a.example.org",
    ];
    for target in &targets {
        for host in ["a.example.org", "A.Example.org.", "a.example.org:80"] {
            let answer = site.ask("GET", host, target, &forged);
            assert!([200, 302].contains(&answer.status), "{host} {target}: {answer:?}");
            assert!(!format!("{answer:?}").contains("b.example.org"), "{answer:?}");
        }
        let answer = site.ask("GET", "b.example.org:8080", target, &forged);
        let expected = if target == "/" { 200 } else { 403 };
        assert_eq!(answer.status, expected, "{target}");
        assert!(!format!("{answer:?}").contains("a.example.org"), "{answer:?}");
        for host in
            ["c.example.org", "b.example.org", "a.example.org:8080", "127.0.0.1", "localhost"]
        {
            let answer = site.ask("GET", host, target, &forged);
            assert_eq!(answer.status, 421, "{host}");
            assert!(!format!("{answer:?}").contains("example.org/"), "{answer:?}");
        }
    }
    assert_eq!(site.ask("GET", "anything", "/healthz", &[]).text(), "ok");
}

#[test]
fn trusted_proxies_name_the_client() {
    let (world, _) = two();
    let limits = Limits { trusted: vec!["127.0.0.0/8".parse().unwrap()], ..Limits::default() };
    let site = Site::with(&[(&world.path("b"), "b.example.org")], limits, |_| {});
    let status = |forwarded: &str| {
        let field = format!("X-Forwarded-For: {forwarded}");
        site.ask("GET", "b.example.org", &format!("/col/{}/doc/a.txt", name(0)), &[&field]).status
    };
    assert_eq!(status("198.51.100.9"), 200);
    assert_eq!(status("198.51.100.9, 203.0.113.1"), 403);
    assert_eq!(status("203.0.113.1, 198.51.100.9, 127.0.0.1"), 200);
    assert_eq!(status("198.51.100.9:4711"), 200);
}

/// A client that the server in front does not name has no right by any address, least of all by that of the server in front.
#[test]
fn a_client_without_a_name_is_let_in_nowhere() {
    let (world, _) = two();
    change_item(&world.path("b"), &name(0), |sidecar| {
        let allow = ["127.0.0.0/8", "0.0.0.0/0", "::/0"];
        sidecar.access.allow = allow.map(|it| it.parse().unwrap()).into();
    });
    let limits = Limits { trusted: vec!["127.0.0.0/8".parse().unwrap()], ..Limits::default() };
    let site = Site::with(&[(&world.path("b"), "b.example.org")], limits, |_| {});
    let target = format!("/col/{}/doc/a.txt", name(0));
    let status = |fields: &[u8]| {
        let head = format!("GET {target} HTTP/1.1\r\nHost: b.example.org\r\nConnection: close\r\n");
        site.send([head.as_bytes(), fields, b"\r\n"].concat()).unwrap().status
    };
    assert_eq!(status(b"X-Forwarded-For: 203.0.113.9\r\n"), 200, "everybody with an address");
    for _ in 0..2 {
        for fields in [
            b"".as_slice(),
            b"X-Forwarded-For: \r\n",
            b"X-Forwarded-For: unknown\r\n",
            b"X-Forwarded-For: unix:\r\n",
            b"X-Forwarded-For: 203.0.113.9,\r\n",
            b"X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-For: \xff\r\n",
            b"X-Forwarded-For: 198.51.100.9, \xff\r\n",
            b"Forwarded: for=203.0.113.9\r\n",
        ] {
            assert_eq!(status(fields), 403, "{}", fields.escape_ascii());
        }
        // What the server in front appended counts, whatever a client wrote before it.
        assert_eq!(status(b"X-Forwarded-For: \xff, 203.0.113.9\r\n"), 200);
    }
}

#[test]
fn heads_that_can_be_read_in_two_ways_are_refused_and_the_connection_ends() {
    let (_world, site) = two();
    let host = "Host: a.example.org\r\n";
    for (head, why) in [
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), "no host"),
        (format!("GET / HTTP/1.1\r\n{host}{host}\r\n"), "two hosts"),
        (
            format!("GET http://b.example.org:8080/ HTTP/1.1\r\n{host}\r\n"),
            "another host in the target",
        ),
        (format!("GET / HTTP/1.1\r\n{host}Content-Length: 5\r\n\r\nGET /"), "a body"),
        (
            format!("GET / HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            "a chunked body",
        ),
        (
            format!(
                "POST / HTTP/1.1\r\n{host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            ),
            "both lengths",
        ),
        (
            format!("POST / HTTP/1.1\r\n{host}Content-Length: 5\r\nContent-Length: 6\r\n\r\n12345"),
            "two lengths",
        ),
        (format!("POST / HTTP/1.1\r\n{host}Content-Length: +5\r\n\r\n12345"), "a signed length"),
        (format!("GET / HTTP/1.1\r\n{host}X: a\r\n b\r\n\r\n"), "a folded field"),
        (format!("GET / HTTP/1.1\r\n{host}X: a\rb\r\n\r\n"), "a bare carriage return"),
        (format!("GET / HTTP/1.1\r\n{host}X : a\r\n\r\n"), "a space before the colon"),
        (format!("GET / HTTP/3.7\r\n{host}\r\n"), "an unknown version"),
        ("GARBAGE\r\n\r\n".to_owned(), "garbage"),
    ] {
        use std::io::{Read, Write};
        let mut stream = site.connect();
        stream.write_all(head.as_bytes()).unwrap();
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        let text = String::from_utf8_lossy(&all);
        assert!(text.starts_with("HTTP/1.1 400 ") || text.is_empty(), "{why}: {text}");
        assert_eq!(text.matches("HTTP/1.").count(), usize::from(!text.is_empty()), "{why}: {text}");
    }
    let answer =
        site.send("GET http://a.example.org/healthz HTTP/1.1\r\nHost: a.example.org\r\n\r\n");
    assert_eq!(answer.unwrap().status, 200);
}
