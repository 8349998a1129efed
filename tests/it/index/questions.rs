//! What can be asked, and what is found.

use std::ops::ControlFlow;
use std::path::PathBuf;

use urepo::catalog::CachedLookup;
use urepo::collection::Names;
use urepo::digest::Digest;
use urepo::disk::PathError;
use urepo::index::{Query, QueryError};

use super::support::{catalog, found, index_file, open, with_index};
use crate::support::World;

/// A collection of items that are named in the answers by their first file.
fn world() -> (World, PathBuf) {
    let world = World::new();
    world.run("init archive --host archive.example.org --ip 192.0.2.7").succeeded();
    for (file, text) in
        [("a.TXT", "alpha"), ("b.csv", "beta"), ("c[1].csv", "gamma"), ("d", "delta")]
    {
        world.write(&format!("in/{file}"), text);
    }
    world.write("in/e/sub/a.txt", "alpha");
    world.write("in/e/sub/Über.pdf", "epsilon");
    let rows = [
        r#"{"path": "a.TXT", "title": "Relatório anual de chuvas", "creator": ["da Silva, João"],
            "subject": "rain", "x": {"box": 17, "shelf": "A \"b\" c"}, "publisher": "INPE"}"#,
        r#"{"path": "b.csv", "title": "Rain and snow", "description": "a deep sea", "language": "en"}"#,
        r#"{"path": "c[1].csv", "title": "Snowfall NEAR(town) AND NOT* rain:", "x": {"box": 170}}"#,
        r#"{"path": "d"}"#,
        r#"{"path": "e", "title": "深海 生物", "creator": "O'Neill", "dc.identifier": "alias-7"}"#,
    ];
    world.write("in.jsonl", rows.map(|row| row.replace('\n', " ")).join("\n"));
    world.run("-c archive import in.jsonl --root in").succeeded();
    let root = world.path("archive");
    with_index(&root);
    (world, root)
}

/// The first letters of the files of what is found, in order.
fn ask(root: &std::path::Path, query: &Query) -> String {
    let mut letters: Vec<_> = catalog(root, |catalog| found(catalog, query))
        .into_iter()
        .map(|found| {
            let doc = root.join(found.name.as_str()).join("doc");
            let mut files: Vec<_> =
                std::fs::read_dir(doc).unwrap().map(|it| it.unwrap().file_name()).collect();
            files.sort();
            files[0].to_string_lossy()[..1].replace('s', "e")
        })
        .collect();
    letters.sort();
    letters.concat()
}

#[test]
fn words_of_descriptions() {
    let (_world, root) = world();
    for (text, expected) in [
        ("rain", "abc"),
        ("RAIN snow", "b"),
        ("relatorio", "a"),
        ("RELATÓRIO Anual", "a"),
        ("chuva", ""),
        ("box:17", ""),
        ("chuva*", "a"),
        ("\"rain and\"", "b"),
        ("\"and rain\"", ""),
        ("\"rain an\"*", "b"),
        ("rain -snow", "ac"),
        ("-rain", "de"),
        ("-rain -\"深海\"", "d"),
        ("title:rain", "bc"),
        ("subject:rain", "a"),
        ("Creator:silva", "a"),
        ("creator:\"da silva\"", "a"),
        ("creator:o'neill", "e"),
        ("publisher:inpe", "a"),
        ("publisher:inp", ""),
        ("description:sea", "b"),
        ("language:en", "b"),
        ("x.box:17", "a"),
        ("x.shelf:\"A\"", "a"),
        ("x.shelf:=\"A\"", ""),
        ("x.box:=170", "c"),
        ("x.box:*", "ac"),
        ("title:*", "abcde"),
        ("x.box:=***", ""),
        ("x.box:", "ac"),
        ("-x.box:", "bde"),
        ("not:x.box:17", "bcde"),
        ("title:silva", ""),
        ("inpe", "a"),
        ("17", "a"),
        ("深海", "e"),
        ("海", ""),
        ("生", "e"),
        ("origin:relatorio", ""),
        ("file:*.csv -file:b*", "c"),
        ("csv", "bc"),
        ("\"c 1 csv\"", "c"),
        ("uber", "e"),
        ("bytes:..4", "b"),
        ("bytes:1k..", ""),
        ("origin:in/", "abcde"),
        ("alias-7", "e"),
        ("NEAR(town)", "c"),
        ("AND", "bc"),
        ("NOT*", "c"),
        ("rain:", "abc"),
        ("http://rain/", ""),
        ("sea title:rain", "b"),
    ] {
        let query = Query::default().text(text).unwrap();
        assert_eq!(ask(&root, &query), expected, "{text}");
    }
}

#[test]
fn terms_that_contain() {
    let (_world, root) = world();
    for (term, text, expected) in [
        ("publisher", "inpe", "a"),
        ("title", "rain", "bc"),
        ("x.box", "17", "a"),
        ("x.shelf", "A \"b\" c", "a"),
        ("X.box", "17", ""),
        ("Title", "ANUAL DE", "a"),
    ] {
        match Query::default().term(term, text) {
            Ok(query) => assert_eq!(ask(&root, &query), expected, "{term}={text}"),
            Err(error) => {
                assert_eq!(error, QueryError::UnknownTerm(term.to_owned()));
                assert_eq!(term, "X.box");
            }
        }
    }
}

/// No text is anything else than words.
#[test]
fn hostile_texts() {
    let (_world, root) = world();
    let long = "a".repeat(64 * 1024);
    let many = "rain ".repeat(12 * 1024);
    let unwanted = "-x ".repeat(20 * 1024);
    let texts = [
        "\0",
        "a\0b",
        "rain\0\" OR \"",
        "' OR 1 --",
        "\" \"",
        "*",
        "-",
        "--",
        "-*",
        "^rain",
        "{title}: x",
        "title:",
        "title:\"\"",
        "x.:1",
        "rain*snow",
        "+",
        "a+b",
        "(",
        ")",
        "()",
        "NEAR(a b, 2)",
        "%",
        "_",
        "\u{301}",
        "Ⓐ",
        "ा",
        "\u{200d}",
        "\u{feff}rain",
        "rain\u{a0}snow",
        "\\",
        "\";DROP TABLE item;--",
        &long,
        &many,
        &unwanted,
    ];
    for text in texts {
        let shown = text.chars().take(40).collect::<String>();
        for text in
            [text.to_owned(), format!("title:{text}"), format!("-{text}"), format!("{text}*")]
        {
            match Query::default().text(&text) {
                Ok(query) => drop(ask(&root, &query)),
                Err(QueryError::OpenQuote(_) | QueryError::Value { .. }) => {}
                Err(error) => panic!("{error:?} {shown}"),
            }
        }
        for query in [
            Query::default().term("x.box", text).unwrap_or_default(),
            Query::default().file(text),
            Query::default().file(&format!("{text}*")),
            Query::default().file(&format!("[{text}")),
            Query::default().identifier(text),
        ] {
            assert_eq!(ask(&root, &query).replace(['a', 'b', 'c', 'd', 'e'], ""), "", "{shown}");
        }
    }
    for text in ["title:!!!", "not:title:§", "x.box:\u{301}"] {
        assert!(matches!(Query::default().text(text), Err(QueryError::Value { .. })), "{text}");
    }
    // Words of nothing but marks do not matter.
    for text in ["!!!", "\u{301}", "+-+"] {
        for (text, expected) in [
            (format!("rain {text}"), "abc"),
            (format!("rain -{text}"), "abc"),
            (format!("{text} \"snow {text}\""), "b"),
        ] {
            assert_eq!(ask(&root, &Query::default().text(&text).unwrap()), expected, "{text}");
        }
    }
}

#[test]
fn files() {
    let (_world, root) = world();
    for (name, expected) in [
        ("a.txt", "ae"),
        ("A.TXT", "ae"),
        ("sub/a.txt", "e"),
        ("SUB/*", "e"),
        ("*.csv", "bc"),
        ("?.csv", "b"),
        ("c[1].csv", "c"),
        ("c?1?.csv", "c"),
        ("[bc]*", "bc"),
        ("über.pdf", "e"),
        ("ÜBER.*", "e"),
        ("*über*", "e"),
        ("*ÜBER*", "e"),
        ("*", "abcde"),
        ("sub", ""),
        ("", ""),
    ] {
        assert_eq!(ask(&root, &Query::default().file(name)), expected, "{name}");
    }
    let both = Query::default().file("a.txt").file("*.pdf");
    assert_eq!(ask(&root, &both), "e");
}

#[test]
fn all_else() {
    let (_world, root) = world();
    let ask = |query| ask(&root, &query);
    assert_eq!(ask(Query::default().digest(&Digest::of(b"alpha"))), "ae");
    assert_eq!(ask(Query::default().digest(&Digest::of(b"nothing"))), "");
    assert_eq!(ask(Query::default().identifier("ALIAS-7")), "e");
    for prefix in ["example.org/archive", "EXAMPLE.org./Archive"] {
        assert_eq!(ask(Query::default().prefix(Some(prefix.parse().unwrap()))), "abcde");
    }
    assert_eq!(ask(Query::default().prefix(Some("example.org/other".parse().unwrap()))), "");
    let all = catalog(&root, |catalog| found(catalog, &Query::default()));
    let [first, last] = [&all[0], &all[4]].map(|found| found.name.instant());
    assert_eq!(ask(Query::default().named(Some(first), Some(last))), "abcd");
    assert_eq!(ask(Query::default().named(Some(last), None)), "e");
    assert_eq!(ask(Query::default().named(None, Some(first))), "");
    let query = Query::default().text("rain").unwrap().file("*.csv").named(Some(first), None);
    assert_eq!(ask(query), "bc");
}

/// Both spellings of an identifier lead to an item, in any case, and so does an alias.
#[test]
fn relations_to_an_item() {
    let world = World::new();
    world.run("init archive --host archive.example.org --ip 192.0.2.7").succeeded();
    for file in ["whole", "one", "two", "pt"] {
        world.write(&format!("in/{file}"), file);
    }
    let made = world.run("-c archive new in/whole --json --meta identifier=83LX3pFwXQZeBBx/65ij");
    let made: serde_json::Value =
        serde_json::from_str(made.succeeded().lines().next().unwrap()).unwrap();
    let (name, ibip) = (made["id"].as_str().unwrap(), made["ibip"].as_str().unwrap());
    let (loud, quiet) = (name.to_uppercase(), ibip.to_lowercase());
    world.write(
        "in.csv",
        format!(
            "path,title,relation.part_of,relation.translation.pt,relation.x.cites\n\
             one,One,{loud},,\ntwo,Two,{quiet},row:pt,\npt,Dois,,,83LX3pFwXQZeBBx/65ij\n"
        ),
    );
    world.run("-c archive import in.csv --root in").succeeded();
    let find = |related: &str| {
        let ran = world.run(&format!("-c archive list {related} --columns title"));
        let mut titles: Vec<_> = ran.stdout.lines().map(str::to_owned).collect();
        titles.sort();
        titles.join(" ")
    };
    for (related, expected) in [
        (format!("related:{name}"), "Dois One Two"),
        (format!("related:{ibip}"), "Dois One Two"),
        (format!("part_of:{name}"), "One Two"),
        (format!("part_of:{name} not:title:two"), "One"),
        (format!("title: not:part_of:{name} -title:whole"), "Dois"),
        (format!("next_higher_unit:{name}"), "One Two"),
        (format!("relation.x.cites:{ibip}"), "Dois"),
        (format!("translation:{name}"), ""),
        (format!("relation.x.nosuch:{name}"), ""),
        ("part_of:".to_owned(), "One Two"),
        ("-part_of:".to_owned(), "Dois whole"),
        ("related:".to_owned(), "Dois One Two"),
        // An item that is elsewhere.
        ("relation.x.cites:83LX3pFwXQZeBBx/65ij".to_owned(), "Dois"),
        ("related:example.org/other/2026/11.21.02.13".to_owned(), ""),
    ] {
        assert_eq!(find(&related), expected, "{related}");
    }
    let shown = world.run(&format!("-c archive show {name}"));
    let parts = shown.succeeded().lines().filter(|line| line.starts_with("has part")).count();
    assert_eq!(parts, 2, "{}", shown.stdout);
    let shown = world.run(&format!("-c archive show --json {name}"));
    let shown: serde_json::Value = serde_json::from_str(shown.succeeded()).unwrap();
    let relations: Vec<_> = shown["referenced_by"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["title"].as_str().unwrap(), it["relation"].as_str().unwrap()))
        .collect();
    assert_eq!(
        relations,
        [("One", "next_higher_unit"), ("Two", "next_higher_unit"), ("Dois", "x")]
    );
    // Without an index nothing is looked up, and none is built.
    let index = index_file(&world.path("archive"));
    std::fs::remove_file(&index).unwrap();
    let shown = world.run(&format!("-c archive show --json {name}"));
    assert!(!shown.succeeded().contains("referenced_by"), "{}", shown.stdout);
    assert!(!index.exists());
}

#[test]
fn pages_that_are_looked_up_ahead() {
    let (_world, root) = world();
    let collection = open(&root);
    let mut names = Vec::new();
    let visit = |name| {
        names.push(name);
        Ok::<_, PathError>(ControlFlow::Continue(()))
    };
    collection.visit_names(&Names::default(), visit).unwrap();
    names.push("archive.example.org/in/2026/01.01.00.00".parse().unwrap());
    let known = || {
        let pages: Vec<_> = CachedLookup::new(&collection, 2).ahead(|lookup| {
            let mut pages: Vec<_> =
                names.chunks(1).filter_map(|page| lookup.add(page.to_vec())).collect();
            assert!(pages.len() < names.len(), "the last pages are in progress");
            pages.extend(lookup);
            pages
        });
        let (found, hits): (Vec<_>, Vec<_>) =
            pages.into_iter().flat_map(|(names, hits)| names.into_iter().zip(hits)).unzip();
        assert_eq!(found, names);
        let is_known: Vec<_> = hits.iter().map(Option::is_some).collect();
        assert!(found.iter().zip(hits).all(|(name, hit)| hit.is_none_or(|hit| hit.name == *name)));
        is_known
    };
    assert_eq!(known(), [true, true, true, true, true, false]);
    let sidecar = root.join(names[2].as_str()).join("item.toml");
    std::fs::write(&sidecar, std::fs::read_to_string(&sidecar).unwrap() + "\n").unwrap();
    assert_eq!(known(), [true, true, false, true, true, false]);
    // An item that is gone.
    std::fs::remove_dir_all(root.join(names[3].as_str())).unwrap();
    assert_eq!(known(), [true, true, false, false, true, false]);
}
