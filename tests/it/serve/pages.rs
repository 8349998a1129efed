//! Pages and alerts: what a reader sees, and what a program gets.

use urepo::web::listen::Limits;

use super::site::Site;
use crate::resolve::{family, name, put};
use crate::support::{World, append, change_item, send_away};

#[test]
fn persistent_urls_lead_on_as_the_resolver_would() {
    let world = family();
    let site = Site::of(&world.path("a"));
    let file = |number: usize, of: usize| {
        format!("http://a.example.org/col/{}/doc/%C3%A9%20{of}.txt", name(number))
    };
    for (target, status, location) in [
        (name(0), 302, file(0, 0)),
        (format!("rep/{}", name(0)), 302, file(0, 0)),
        (format!("{}+(en)", name(0)), 302, file(0, 0)),
        (format!("{}%2B%28en%29", name(0)), 302, file(0, 0)),
        (format!("{}/%C3%A9%200.txt", name(0)), 302, file(0, 0)),
        (
            format!("{}?a=1&ibiurl.verblist=GetTranslation(en)&b=2", name(0)),
            302,
            file(0, 0) + "?a=1&b=2",
        ),
        (format!("{}!", name(4)), 302, file(4, 4)),
        // The next edition and the translation are in other archives.
        (format!("{}!", name(0)), 404, String::new()),
        (format!("{}+(pt)", name(0)), 404, String::new()),
        (format!("{}+(fr)", name(0)), 404, String::new()),
        (format!("{}/nothing", name(0)), 404, String::new()),
        (format!("{}:(marc)", name(0)), 404, String::new()),
        (format!("{}!!", name(0)), 400, String::new()),
        ("example.org/x/2030/01.01.00.00".to_owned(), 404, String::new()),
    ] {
        let answer = site.get(&format!("/{target}"));
        assert_eq!(
            (answer.status, answer.field("location")),
            (status, location.as_str()),
            "{target}"
        );
        if status == 302 {
            assert_eq!(answer.field("cache-control"), "no-cache");
            assert!(answer.field("link").ends_with("; rel=\"cite-as\""));
        } else {
            assert!(answer.text().starts_with("alert {"), "{answer:?}");
            assert_eq!(answer.field("cache-control"), "no-store");
        }
    }
    let alert = site.get(&format!("/{}+(fr)", name(0)));
    assert_eq!(alert.text(), "alert {translation not found}\r\nlanguage fr");
}

#[test]
fn descriptions_are_given_in_every_format() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world
        .run_args([
            "-c",
            "archive",
            "new",
            "a.txt",
            "--title",
            "A <b> & c",
            "--creator",
            "Banon, Gerald",
        ])
        .line();
    let site = Site::of(&world.path("archive"));
    for (modifier, media, begin) in [
        (":", "text/plain; charset=utf-8", "creator = [\"Banon, Gerald\"]"),
        (":(oai_dc)", "text/xml; charset=utf-8", "<?xml"),
        (":(bibtex)", "text/plain; charset=utf-8", "@"),
        (":(datacite)", "application/json", "{"),
        (":(abnt)", "text/plain; charset=utf-8", "BANON"),
        (":(apa)", "text/plain; charset=utf-8", "Banon, G."),
    ] {
        let answer = site.get(&format!("/{name}{modifier}"));
        assert_eq!((answer.status, answer.field("content-type")), (200, media), "{modifier}");
        assert!(answer.text().starts_with(begin), "{modifier}: {}", answer.text());
    }
    let page = site.browse(&format!("/{name}:"));
    assert_eq!(page.field("content-type"), "text/html; charset=utf-8");
    assert!(page.field("content-security-policy").starts_with("default-src 'none'"));
    let html = page.text();
    assert!(html.contains("<h1>A &#60;b&#62; &#38; c</h1>"), "{html}");
    assert!(
        html.contains("<html lang=\"en\">")
            && html.contains(&format!("<a href=\"/{name}\">Open the item</a>"))
    );
    let fields = ["Accept: text/html", "Accept-Language: pt-BR,pt;q=0.9,en;q=0.1"];
    let html = site.ask("GET", "a.example.org", &format!("/{name}:"), &fields).text();
    assert!(html.contains("<html lang=\"pt-BR\">") && html.contains("Abrir o item"), "{html}");
}

#[test]
fn deleted_and_departed_items_say_so_or_lead_on() {
    let world = World::with_collection();
    for file in ["a.txt", "b.txt"] {
        world.write(file, file);
    }
    let deleted = world.run("-c archive new a.txt").line();
    let away = world.run("-c archive new b.txt").line();
    world
        .run_args([
            "-c",
            "archive",
            "delete",
            "-y",
            &deleted,
            "--force",
            "last",
            "--reason",
            "was <wrong>",
        ])
        .succeeded();
    send_away(&world.path("archive"), &away);
    let alone = Site::of(&world.path("archive"));
    let root = world.path("archive");
    append(&root.join("urepo.toml"), "[archive]\nurl_base = \"https://resolver.example.net/\"\n");
    let site = Site::with(&[(&root, "a.example.org")], Limits::default(), |exposed| {
        exposed.email = Some("keeper@example.org".to_owned());
    });
    for target in
        [format!("/{deleted}"), format!("/{deleted}!:"), format!("/col/{deleted}/doc/a.txt")]
    {
        let answer = alone.get(&target);
        assert_eq!(answer.status, 410, "{target}");
        assert!(
            answer.text().starts_with("alert {information item deleted}\r\ntimestamp 20"),
            "{answer:?}"
        );
        let page = site.browse(&target).text();
        assert!(
            !page.contains("wrong") && page.contains("mailto:keeper@example.org"),
            "the reason is for the keepers: {page}"
        );
    }
    for (target, at_resolver) in [
        (format!("/{away}!+(pt)?a=b"), format!("/{away}!+(pt)?a=b")),
        (format!("/col/{away}/doc/b.txt"), format!("/{away}/b.txt")),
    ] {
        assert_eq!(alone.get(&target).status, 404, "{target}");
        let answer = site.get(&target);
        let location = format!("https://resolver.example.net{at_resolver}");
        assert_eq!((answer.status, answer.field("location")), (302, location.as_str()));
        assert_eq!(answer.field("cache-control"), "no-store");
    }
    // What is not here is never sent to the resolver by itself: a link leads there.
    let page = site.browse("/example.org/x/2030/01.01.00.00");
    assert_eq!(page.status, 404);
    assert!(page.text().contains("https://resolver.example.net/example.org/x/2030/01.01.00.00"));
}

#[test]
fn closed_items_say_so_and_the_description_stays_open() {
    let world = family();
    let level = |number: usize, level: &str, allowed: &[&str]| {
        change_item(&world.path("a"), &name(number), |sidecar| {
            sidecar.access.level = level.parse().unwrap();
            sidecar.access.allow = allowed.iter().map(|it| it.parse().unwrap()).collect();
        });
    };
    put(&world.path("a"), &name(30), &"title = 'allowed'".parse().unwrap());
    put(&world.path("a"), &name(31), &"title = 'metadata'".parse().unwrap());
    level(0, "closed", &[]);
    level(31, "metadata", &["203.0.113.0/24"]);
    level(30, "closed", &["127.0.0.0/8"]);
    let site = Site::of(&world.path("a"));
    let status = |target: String| (site.get(&target).status, site.browse(&target).status);
    for part in ["", ":", ":(oai_dc)", "?ibiurl.verblist=GetFileList", "/x"] {
        if part != "/x" {
            assert_eq!(status(format!("/{}{part}", name(0))), (403, 403), "{part}");
        }
    }
    assert_eq!(status(format!("/col/{}/", name(0))), (403, 403));
    assert_eq!(status(format!("/{}", name(31))), (403, 403));
    assert_eq!(status(format!("/{}:", name(31))), (200, 200));
    assert_eq!(status(format!("/{}:(apa)", name(31))), (200, 200));
    assert_eq!(status(format!("/{}?ibiurl.verblist=GetFileList", name(31))), (403, 403));
    let page = site.browse(&format!("/{}", name(31))).text();
    assert!(page.contains(&format!("<a href=\"/{}:\">Its description</a>", name(31))), "{page}");
    let answer = site.get(&format!("/col/{}/doc/a.txt", name(30)));
    assert_eq!((answer.status, answer.field("cache-control")), (200, "private, no-store"));
    assert_eq!(site.get(&format!("/{}:", name(31))).field("cache-control"), "private, no-store");
}

#[test]
fn names_from_outside_change_no_page() {
    let world = World::with_collection();
    world.write("d/<img src=x>.txt", "1");
    world.write("d/a\u{202e}txt.exe", "2");
    world.write("d/\"quoted\"&.txt", "3");
    let name = world
        .run_args(["-c", "archive", "new", "d", "--title", "</title><script>alert(1)</script>"])
        .line();
    let site = Site::of(&world.path("archive"));
    for target in [
        format!("/{name}?ibiurl.verblist=GetFileList"),
        format!("/{name}:"),
        format!("/{name}/%3Cscript%3E"),
    ] {
        let html = site.browse(&target).text();
        assert!(
            !html.contains("<script") && !html.contains("<img") && !html.contains('\u{202e}'),
            "{html}"
        );
        assert_eq!(html.matches("<title>").count(), 1);
    }
}

#[test]
fn the_first_page_says_what_this_is() {
    let world = World::with_collection();
    let site = Site::of(&world.path("archive"));
    let html = site.browse("/").text();
    for text in ["http://a.example.org/<var>identifier</var>", super::site::SERVICE] {
        assert!(html.contains(text), "{text}: {html}");
    }
    assert_eq!(site.get("/style.css").field("content-type"), "text/css; charset=utf-8");
    assert_eq!(site.get("/robots.txt").text(), "User-agent: *\nAllow: /\n");
    let icon = site.get("/favicon.ico");
    assert_eq!((icon.status, icon.field("cache-control")), (204, "max-age=86400"));
    assert!(!html.contains("urlib.net"), "no resolver knows the archive: {html}");
    let root = world.path("archive");
    append(&root.join("urepo.toml"), "[archive]\nurl_base = 'https://resolver.example.net/'\n");
    let html = Site::of(&root).browse("/").text();
    assert!(html.contains("https://resolver.example.net/<var>"), "{html}");
}

/// An archive without a resolver is the place where its items are found.
#[test]
fn an_archive_without_a_resolver_cites_itself() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt --title T --creator C").line();
    let root = world.path("archive");
    let cited = |url: &str| {
        let site = Site::of(&root);
        let link = format!("<{url}/{name}>; rel=\"cite-as\"");
        for target in [format!("/{name}"), format!("/{name}:"), format!("/col/{name}/doc/a.txt")] {
            assert_eq!(site.get(&target).field("link"), link, "{target}");
        }
        for target in [":", ":(abnt)", ":(apa)", ":(datacite)"] {
            let page = site.browse(&format!("/{name}{target}")).text();
            assert!(page.contains(&format!("{url}/{name}")), "{target}: {page}");
            assert!(url.contains("urlib.net") || !page.contains("urlib.net"), "{target}: {page}");
        }
    };
    cited("http://a.example.org");
    append(&root.join("urepo.toml"), "[archive]\nurl_base = 'http://urlib.net/'\n");
    cited("http://urlib.net");
}

/// A resolver that is this archive would send the reader back to where they are.
#[test]
fn an_item_that_is_elsewhere_is_not_looked_for_here() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let away = world.run("-c archive new a.txt").line();
    let root = world.path("archive");
    send_away(&root, &away);
    append(&root.join("urepo.toml"), "[archive]\nurl_base = 'http://a.example.org/'\n");
    let site = Site::of(&root);
    for target in [format!("/{away}"), format!("/{away}!:"), format!("/col/{away}/doc/a.txt")] {
        let answer = site.get(&target);
        assert_eq!((answer.status, answer.field("location")), (404, ""), "{target}");
        assert!(!site.browse(&target).text().contains("Look for it in all archives"), "{target}");
    }
}

const INTERNAL: [&str; 4] = ["nota", "doador", "fulano", "/home/"];

/// Two forms of one answer say the same: what the page hides, no text and no format shows.
#[test]
fn internal_keys_are_in_no_form_of_an_item() {
    let world = World::with_collection();
    world.write("secret-name.txt", "alpha");
    let new = |access: &str| {
        let line = [
            "-c",
            "archive",
            "new",
            "secret-name.txt",
            "--title",
            "T",
            "--creator",
            "C",
            "--meta",
            &format!("access={access}"),
            "--meta",
            "x.nota-interna=doador: fulano",
            "--meta",
            "x.caixa=12",
        ];
        world.run_args(line).line()
    };
    let (open, closed) = (new("open"), new("metadata"));
    let root = world.path("archive");
    for name in [&open, &closed] {
        change_item(&root, name, |sidecar| {
            sidecar.origin.insert("path".to_owned(), "/home/ana/fulano".into());
            sidecar.relations = urepo::sidecar::Relations::as_found(
                toml::from_str("[x]\nnota = ['LK47B6W/362SFKH']").unwrap(),
            );
        });
    }
    let forms = |site: &Site, name: &str| {
        let formats =
            ["", "(oai_dc)", "(bibtex)", "(datacite)", "(abnt)", "(apa)", "(ris)", "(csl)"];
        let targets: Vec<_> = formats.iter().map(|it| format!("/{name}:{it}")).collect();
        let both = targets.iter().flat_map(|it| [site.get(it), site.browse(it)]);
        both.map(|answer| {
            assert_eq!(answer.status, 200, "{answer:?}");
            answer.text()
        })
        .collect::<Vec<_>>()
    };
    let site = Site::of(&root);
    for name in [&open, &closed] {
        for form in forms(&site, name) {
            assert!(!INTERNAL.iter().any(|word| form.contains(word)), "{form}");
            assert!(!form.contains("caixa"), "{form}");
            // Who may not read the files does not learn their names.
            assert!(*name == open || !form.contains("secret-name"), "{form}");
        }
    }
    append(&root.join("urepo.toml"), "[archive]\npublish = ['x.caixa']\n");
    let site = Site::of(&root);
    assert_eq!(site.get(&format!("/{open}:")).text().matches("caixa").count(), 1);
    for form in forms(&site, &open) {
        assert!(!INTERNAL.iter().any(|word| form.contains(word)), "{form}");
    }
}

#[test]
fn a_deletion_says_no_more_than_the_item_did() {
    let world = World::with_collection();
    let deleted = |access: &str, file: &str| {
        world.write(file, file);
        let name = world
            .run_args(["-c", "archive", "new", file, "--meta", &format!("access={access}")])
            .line();
        let line =
            ["-c", "archive", "delete", "-y", &name, "--force", "last", "--reason", "Ana asked"];
        world.run_args(line).succeeded();
        name
    };
    let (open, metadata, closed) =
        (deleted("open", "a.txt"), deleted("metadata", "b.txt"), deleted("closed", "c.txt"));
    let root = world.path("archive");
    let site = Site::of(&root);
    for (name, status) in [(&open, 410), (&metadata, 410), (&closed, 403)] {
        for target in [format!("/{name}"), format!("/{name}:"), format!("/col/{name}/doc/a.txt")] {
            let (text, page) = (site.get(&target), site.browse(&target));
            assert_eq!((text.status, page.status), (status, status), "{target}");
            for answer in [text, page] {
                assert!(!answer.text().contains("Ana asked"), "{answer:?}");
                assert!(
                    status == 410 || !answer.text().contains("2026-"),
                    "no date: {}",
                    answer.text()
                );
            }
        }
    }
    append(&root.join("urepo.toml"), "[archive]\npublish = ['removal.reason']\n");
    let site = Site::of(&root);
    assert!(site.browse(&format!("/{open}")).text().contains("Ana asked"));
    assert!(!site.browse(&format!("/{closed}")).text().contains("Ana asked"));
}

/// U+202E turned the URL behind the title around.
#[test]
fn a_title_does_not_write_over_the_citation() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let title = "a\u{202e}b\u{2066}c";
    let name = world.run_args(["-c", "archive", "new", "a.txt", "--title", title]).line();
    let site = Site::of(&world.path("archive"));
    for target in [":", ":(abnt)", ":(apa)"] {
        let text = site.browse(&format!("/{name}{target}")).text();
        assert!(!text.contains(['\u{202e}', '\u{2066}']), "{target}: {text}");
        assert!(text.contains('\u{fffd}') && text.contains(&name), "{target}: {text}");
    }
    assert!(site.get(&format!("/{name}:")).text().contains(title), "data stays as it is");
}

/// `%40` is what many programs write for the `@` in a quarter of all names.
#[test]
fn escaped_identifiers_lead_to_their_items() {
    let world = family();
    let (plain, root) = ("sid.inpe.br/mtc-m18@80/2009/07.21.14.43", world.path("a"));
    put(&root, plain, &"file = 'a.txt'".parse().unwrap());
    let site = Site::of(&root);
    for spelling in [
        "sid.inpe.br/mtc-m18%4080/2009/07.21.14.43",
        "sid.inpe.br/mtc-m18@80/2009/07%2E21%2e14.43",
        "sid%2einpe.br/mtc%2Dm18%4080/2009/07.21.14.43",
        "sid.inpe.br/mtc-m18@80/2009/07.21.14.43.",
        "sid.inpe.br/mtc-m18@80/2009/07.21.14.43).",
        "sid.inpe.br/mtc-m18@80/2009/07.21.14.43,",
    ] {
        let answer = site.get(&format!("/{spelling}"));
        let location = format!("http://a.example.org/col/{plain}/doc/a.txt");
        assert_eq!((answer.status, answer.field("location")), (302, &*location), "{spelling}");
    }
    assert_eq!(site.get("/sid.inpe.br/mtc-m18%4080/2009/07.21.14.43%3A").status, 200);
}

/// A page of a stranger could load it in the browser of somebody who may, and measure it.
#[test]
fn strangers_show_nothing_of_an_item_that_is_closed_to_some() {
    let world = World::with_collection();
    world.write("a.html", "<img src='b.png'>");
    let name = world
        .run("-c archive new a.html --meta access=closed --meta access.allow=127.0.0.0/8")
        .line();
    let site = Site::of(&world.path("archive"));
    let policy = "cross-origin-resource-policy";
    for target in [format!("/col/{name}/doc/a.html"), format!("/col/{name}/"), format!("/{name}:")]
    {
        let answer = site.get(&target);
        assert_eq!((answer.status, answer.field(policy)), (200, "same-origin"), "{target}");
    }
    let html = site.get(&format!("/col/{name}/doc/a.html"));
    assert!(
        html.field("content-security-policy").starts_with("sandbox allow-same-origin; default")
    );
}

#[test]
fn a_page_is_for_programs_that_want_one() {
    let world = World::with_collection();
    let site = Site::of(&world.path("archive"));
    for (accept, media) in [
        ("text/html;q=0, text/plain", "text/plain"),
        ("TEXT/HTML", "text/html; charset=utf-8"),
        ("text/html;q=0.1, text/plain;q=0.2", "text/plain"),
        ("*/*", "text/plain"),
    ] {
        let field = format!("Accept: {accept}");
        let answer = site.ask("GET", "a.example.org", "/nothing", &[&field]);
        assert_eq!(answer.field("content-type"), media, "{accept}");
    }
}
