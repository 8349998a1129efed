//! Files: exactly those of the sidecar, by exact bytes, with conditions and ranges.

use std::os::unix::ffi::OsStrExt;

use super::site::{Answered, Site};
use crate::support::World;

/// A collection with one item of several files and links, and its name.
fn world() -> (World, String) {
    let world = World::with_collection();
    world.write("d/a b.txt", "alpha\n");
    world.write("d/sub/page.html", "<script>alert(1)</script>");
    world.write("d/sub/x.html.cgi", "#!/bin/sh\n");
    world.write("d/.hidden", "hidden");
    world.write("d/.hidden.html", "hidden");
    world.write("d/empty", "");
    world.write("d/large.bin", vec![7; 3 << 20]);
    std::fs::write(world.path("d").join(std::ffi::OsStr::from_bytes(b"Relat\xf3rio.pdf")), "%PDF")
        .unwrap();
    std::os::unix::fs::symlink("../a b.txt", world.path("d/sub/link")).unwrap();
    std::fs::create_dir(world.path("d/none")).unwrap();
    let name = world.run("-c archive new d --target large.bin --title T").line();
    (world, name)
}

#[test]
fn files_are_given_by_their_exact_bytes() {
    let (world, name) = world();
    let site = Site::of(&world.path("archive"));
    let get = |path: &str| site.get(&format!("/col/{name}/doc/{path}"));
    let answer = get("a%20b.txt");
    assert_eq!((answer.status, answer.body.as_slice()), (200, b"alpha\n".as_slice()));
    for (field, value) in [
        ("content-type", "text/plain"),
        ("content-disposition", "inline; filename=\"a b.txt\"; filename*=UTF-8''a%20b.txt"),
        ("etag", "\"b6a98d9ce9a2d9149288fa3df42d377c3e42737afdcdaf714e33c0a100b51060\""),
        ("repr-digest", "sha-256=:tqmNnOmi2RSSiPo99C03fD5Cc3r9za9xTjPAoQC1EGA=:"),
        ("accept-ranges", "bytes"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-cache"),
        ("link", &format!("<http://a.example.org/{name}>; rel=\"cite-as\"")),
    ] {
        assert_eq!(answer.field(field), value, "{field}");
    }
    assert_eq!((get("large.bin").body.len(), get("empty").body.len()), (3 << 20, 0));
    assert_eq!(get("Relat%f3rio.pdf").body, b"%PDF");
    assert_eq!(get("Relat%c3%b3rio.pdf").status, 404);
    // Scripts and hidden files are saved, and nothing runs in a page.
    for path in ["sub/x.html.cgi", ".hidden", ".hidden.html"] {
        let answer = get(path);
        assert_eq!(answer.field("content-type"), "application/octet-stream", "{path}");
        assert!(answer.field("content-disposition").starts_with("attachment;"), "{path}");
    }
    let page = get("sub/page.html");
    assert_eq!(page.field("content-type"), "text/html");
    assert_eq!(
        page.field("content-security-policy"),
        "sandbox; default-src 'self' data: 'unsafe-inline'; script-src 'none'"
    );
    assert_eq!(page.field("cross-origin-resource-policy"), "");
    for path in ["a b.txt/", "sub/nothing", "a%2520b.txt", "A%20b.txt", "large.bin/x"] {
        assert_eq!(get(&path.replace(' ', "%20")).status, 404, "{path}");
    }
}

#[test]
fn a_head_has_the_fields_of_a_get_and_other_methods_are_refused() {
    let (world, name) = world();
    let site = Site::of(&world.path("archive"));
    for target in [
        format!("/col/{name}/doc/a%20b.txt"),
        format!("/col/{name}/doc/large.bin"),
        format!("/{name}"),
        format!("/{name}:"),
        "/".to_owned(),
        "/nothing".to_owned(),
    ] {
        let fields = |answer: Answered| {
            let mut fields = answer.fields;
            fields.retain(|(name, _)| name != "date");
            fields.sort();
            (answer.status, fields)
        };
        let (get, head) = (site.get(&target), site.ask("HEAD", "a.example.org", &target, &[]));
        assert_eq!(fields(get), fields(head), "{target}");
        let options = site.ask("OPTIONS", "a.example.org", &target, &[]);
        assert_eq!((options.status, options.field("allow")), (204, "GET, HEAD, OPTIONS"));
        for method in ["POST", "PUT", "DELETE", "TRACE", "PROPFIND"] {
            let answer = site.ask(method, "a.example.org", &target, &["Content-Length: 0"]);
            assert_eq!(
                (answer.status, answer.field("allow")),
                (405, "GET, HEAD, OPTIONS"),
                "{method}"
            );
        }
    }
}

#[test]
fn ranges_and_conditions_hold_before_and_after_the_proof() {
    let (world, name) = world();
    let site = Site::of(&world.path("archive"));
    let target = format!("/col/{name}/doc/large.bin");
    let ask = |fields: &[&str]| site.ask("GET", "a.example.org", &target, fields);
    for _ in 0..2 {
        let part = ask(&["Range: bytes=10-19"]);
        assert_eq!((part.status, part.body.as_slice()), (206, [7; 10].as_slice()));
        assert_eq!(part.field("content-range"), "bytes 10-19/3145728");
        let tag = part.field("etag").to_owned();
        assert_eq!(ask(&[&format!("If-None-Match: {tag}")]).status, 304);
        assert_eq!(ask(&["If-Match: \"other\""]).status, 412);
        let beyond = ask(&["Range: bytes=3145728-"]);
        assert_eq!((beyond.status, beyond.field("content-range")), (416, "bytes */3145728"));
        let stale = ask(&["Range: bytes=0-1", "If-Range: \"other\""]);
        assert_eq!((stale.status, stale.body.len()), (200, 3 << 20));
        let fresh = ask(&["Range: bytes=-1", &format!("If-Range: {tag}")]);
        assert_eq!((fresh.status, fresh.body.len()), (206, 1));
        assert_eq!(ask(&["Range: bytes=0-1,4-5"]).status, 200);
    }
}

/// The size of the whole is what a download manager asks for.
#[test]
fn a_range_of_a_head_is_the_whole() {
    let (world, name) = world();
    let site = Site::of(&world.path("archive"));
    for range in ["bytes=2-4", "bytes=3145728-", "bytes=0-"] {
        let target = format!("/col/{name}/doc/large.bin");
        let field = format!("Range: {range}");
        let answer = site.ask("HEAD", "a.example.org", &target, &[&field]);
        assert_eq!((answer.status, answer.field("content-length")), (200, "3145728"), "{range}");
        assert_eq!(answer.field("content-range"), "", "{range}");
    }
}

/// Browsers take a text without a charset for that of Windows.
#[test]
fn a_text_in_utf_8_says_so_once_it_was_read() {
    let world = World::with_collection();
    world.write("d/carta.txt", "Cara Ana, os mapas chegaram também\n");
    world.write("d/nota.html", "<p>não</p>");
    world.write("d/ascii.txt", "only ASCII\n");
    world.write("d/latin-1.txt", b"tamb\xe9m\n");
    world.write("d/utf-16.txt", b"\xff\xfee\0");
    world.write("d/é.bin", "é");
    world.write("d/long.txt", "também\n".repeat(300_000));
    world.write("d/long-latin-1.txt", [&*vec![b'a'; 2 << 20], b"tamb\xe9m"].concat());
    let name = world.run("-c archive new d").line();
    let site = Site::of(&world.path("archive"));
    let media = |method: &str, path: &str| {
        let answer = site.ask(method, "a.example.org", &format!("/col/{name}/doc/{path}"), &[]);
        assert_eq!(answer.status, 200, "{path}");
        answer.field("content-type").to_owned()
    };
    // A long file is read on its way the first time, when its head has gone already.
    for path in ["long.txt", "long-latin-1.txt"] {
        assert_eq!(media("GET", path), "text/plain", "{path}");
    }
    for method in ["HEAD", "GET", "GET", "HEAD"] {
        for (path, expected) in [
            ("carta.txt", "text/plain; charset=utf-8"),
            ("nota.html", "text/html; charset=utf-8"),
            ("long.txt", "text/plain; charset=utf-8"),
            ("ascii.txt", "text/plain"),
            ("latin-1.txt", "text/plain"),
            ("long-latin-1.txt", "text/plain"),
            ("utf-16.txt", "text/plain"),
            ("%C3%A9.bin", "application/octet-stream"),
        ] {
            assert_eq!(media(method, path), expected, "{method} {path}");
        }
    }
}

/// A clock elsewhere was ahead. No answer has a change after itself [RFC 9110, 8.8.2.1].
#[test]
fn no_file_changed_in_the_future() {
    let (world, name) = world();
    let changed = |date: &str| {
        crate::support::change_item(&world.path("archive"), &name, |sidecar| {
            sidecar.timestamp = date.parse().unwrap();
        });
        let site = Site::of(&world.path("archive"));
        site.get(&format!("/col/{name}/doc/a%20b.txt")).field("last-modified").to_owned()
    };
    assert_eq!(changed("2020-01-01T00:00:00Z"), "Wed, 01 Jan 2020 00:00:00 GMT");
    assert_eq!(changed("2099-01-01T00:00:00Z"), "Tue, 01 Dec 2026 12:00:00 GMT");
}

#[test]
fn links_and_directories_lead_on() {
    let (world, name) = world();
    let site = Site::of(&world.path("archive"));
    let answer = site.get(&format!("/col/{name}/doc/sub/link"));
    let expected = format!("http://a.example.org/col/{name}/doc/a%20b.txt");
    assert_eq!((answer.status, answer.field("location")), (302, expected.as_str()));
    for (path, lines) in [
        (
            "",
            ".hidden\n.hidden.html\nRelat%F3rio.pdf\na%20b.txt\nempty\nlarge.bin\nsub/link\nsub/page.html\nsub/x.html.cgi\n",
        ),
        (
            "/",
            ".hidden\n.hidden.html\nRelat%F3rio.pdf\na%20b.txt\nempty\nlarge.bin\nsub/link\nsub/page.html\nsub/x.html.cgi\n",
        ),
        ("/doc/sub", "sub/link\nsub/page.html\nsub/x.html.cgi\n"),
        ("/doc/sub/", "sub/link\nsub/page.html\nsub/x.html.cgi\n"),
        ("/doc/none/", ""),
    ] {
        let answer = site.get(&format!("/col/{name}{path}"));
        assert_eq!((answer.status, answer.text().as_str()), (200, lines), "{path}");
    }
    let page = site.browse(&format!("/col/{name}/doc/sub/")).text();
    assert!(
        page.contains(&format!("<a href=\"/col/{name}/doc/sub/page.html\">page.html</a>")),
        "{page}"
    );
}

/// The tree of directories is the tree of URLs, so that relative links between items work [generation, 1].
#[test]
fn relative_links_between_items_work() {
    let (world, name) = world();
    let other = "../../../../..";
    world.write("e/a.html", format!("<a href='{other}/{name}/doc/a%20b.txt'>"));
    let link = format!("{other}/{name}/doc/a b.txt");
    std::os::unix::fs::symlink(&link, world.path("e/link")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", world.path("e/out")).unwrap();
    std::os::unix::fs::symlink("../../../../../../../urepo.toml", world.path("e/settings"))
        .unwrap();
    let linking = world.run("-c archive new e --links asis").line();
    let site = Site::of(&world.path("archive"));
    let answer = site.get(&format!("/col/{linking}/doc/link"));
    assert_eq!(answer.field("location"), format!("http://a.example.org/col/{name}/doc/a%20b.txt"));
    for link in ["out", "settings"] {
        assert_eq!(site.get(&format!("/col/{linking}/doc/{link}")).status, 404, "{link}");
    }
}

/// What is in the directory of an item and not in its sidecar is not there.
#[test]
fn nothing_but_what_the_sidecar_lists_is_given() {
    let (world, name) = world();
    let item = world.path("archive").join(&name);
    std::fs::write(item.join("doc/planted.txt"), "planted").unwrap();
    std::os::unix::fs::symlink("/etc", item.join("doc/etc")).unwrap();
    std::fs::rename(item.join("doc/sub"), item.join("doc/moved")).unwrap();
    std::os::unix::fs::symlink("moved", item.join("doc/sub")).unwrap();
    let site = Site::of(&world.path("archive"));
    for path in ["planted.txt", "etc/passwd", "moved/page.html"] {
        assert_eq!(site.get(&format!("/col/{name}/doc/{path}")).status, 404, "{path}");
    }
    // A directory that was swapped for a link is damage, and is not followed.
    assert_eq!(site.get(&format!("/col/{name}/doc/sub/page.html")).status, 500);
}
