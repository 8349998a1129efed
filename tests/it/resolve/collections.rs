//! Persistent URLs are resolved over three collections.

use std::path::Path;

use urepo::collection::Collection;
use urepo::custody::{Custody, CustodyId};
use urepo::disk::Watcher;
use urepo::identity::{LanguagePreferences, PersistentUrl};
use urepo::item::{Entry, PayloadPath, State, Totals};
use urepo::resolve::{Alert, Holders, ResolveError, Target, Unresolved, resolve};
use urepo::sidecar::{Metadata, Relations, Sidecar};

use crate::support::{World, make_collection};

pub(super) const ROOTS: [&str; 3] = ["a", "b", "c"];

/// Puts an item into a collection by hand: a table of a fixture, with its target and its other files.
pub(crate) fn put(root: &Path, name: &str, row: &toml::Table) {
    let text = |key: &str| row.get(key).and_then(toml::Value::as_str);
    let small = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/collections/small/");
    let item = format!("{small}sid.inpe.br/mtc-m18/2009/02.16.17.46.01/item.toml");
    let (mut sidecar, _) = Sidecar::read(&std::fs::read(item).unwrap()).unwrap();
    sidecar.repository = name.parse().unwrap();
    sidecar.created = sidecar.repository.instant();
    sidecar.timestamp = text("timestamp").unwrap_or("2026-11-21T00:00:00Z").parse().unwrap();
    sidecar.state = text("state").map_or(State::Original, |text| text.parse().unwrap());
    let base = Custody::first(CustodyId::from([1; 8]), "60cb");
    let gone = base.passed_to("60cb", CustodyId::from([2; 8]));
    sidecar.custody = match sidecar.state {
        State::Original => {
            let own = Collection::open(root, &Watcher::default()).unwrap();
            gone.passed_to(own.id(), CustodyId::from([3; 8]))
        }
        State::Copy if row.contains_key("restored") => {
            gone.passed_to("60cb", CustodyId::from([3; 8]))
        }
        State::Deleted => gone,
        _ => base,
    };
    sidecar.ibip = text("ibip").map(|text| text.parse().unwrap());
    sidecar.metadata = Metadata::default();
    sidecar.metadata.add("title", text("title").unwrap_or(name)).unwrap();
    if let Some(language) = text("language") {
        sidecar.metadata.add("language", language).unwrap();
    }
    let relations = row.get("relations").and_then(toml::Value::as_table).cloned();
    sidecar.relations = Relations::as_found(relations.unwrap_or_default());
    let path = PayloadPath::from_text(text("file").unwrap_or("a.txt")).unwrap();
    let content = urepo::item::Content::File {
        bytes: 1,
        digest: urepo::digest::Digest::of(b"x"),
        modified: sidecar.created,
        mode: 0o644,
    };
    let others = row.get("files").and_then(toml::Value::as_array).into_iter().flatten();
    let others = others.map(|other| PayloadPath::from_text(other.as_str().unwrap()).unwrap());
    let paths = others.chain([path.clone()]);
    let mut entries: Vec<_> = paths.map(|path| Entry { path, content: content.clone() }).collect();
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    sidecar.payload = Totals::of(&entries);
    sidecar.target = Some(path);
    let directory = root.join(name);
    std::fs::create_dir_all(directory.join("doc")).unwrap();
    for entry in &entries {
        std::fs::write(directory.join("doc").join(entry.path.as_path()), "x").unwrap();
    }
    sidecar.files = entries.into();
    std::fs::write(directory.join("item.toml"), sidecar.to_text()).unwrap();
}

/// The name of an item of the fixture, by its number.
pub(crate) fn name(number: usize) -> String {
    format!("example.org/x/2026/01.01.{:02}.{:02}", number / 60, number % 60)
}

pub(crate) fn open(world: &World, roots: [&str; 3]) -> Vec<Collection> {
    roots.map(|root| Collection::open(&world.path(root), &Watcher::default()).unwrap()).into()
}

/// Editions, translations and metadata items over three collections. Each item is an edition of English or
/// Portuguese, or metadata: English, with a Portuguese translation.
pub(crate) fn family() -> World {
    let world = World::new();
    for root in ROOTS {
        make_collection(&world.path(root));
    }
    // English editions 0 and 1; their translations 2 and 3; editions of the translation 2 and 4. The metadata
    // of item n is item 10 + n, and the translation of that item 20 + n.
    for (number, root, language, relations) in [
        (0, "a", "en", vec![("next_edition", 1), ("translation", 2)]),
        (1, "b", "en", vec![("previous_edition", 0), ("translation", 3)]),
        (2, "b", "pt", vec![("next_edition", 4), ("translation_of", 0)]),
        (3, "c", "pt", vec![("translation_of", 1)]),
        (4, "a", "pt", vec![("previous_edition", 2)]),
    ] {
        let relation = |(kind, to): (&str, usize)| match kind {
            "translation" => format!("relations.translation.pt = '{}'\n", name(to)),
            kind => format!("relations.{kind} = '{}'\n", name(to)),
        };
        let relations: String =
            relations.into_iter().chain([("metadata", 10 + number)]).map(relation).collect();
        let row = format!("language = '{language}'\nfile = 'é {number}.txt'\n{relations}");
        put(&world.path(root), &name(number), &row.parse().unwrap());
        let row = format!("language = 'en'\nrelations.translation.pt = '{}'", name(20 + number));
        put(&world.path(ROOTS[(number + 1) % 3]), &name(10 + number), &row.parse().unwrap());
        let row = "language = 'pt'".parse().unwrap();
        put(&world.path(ROOTS[(number + 2) % 3]), &name(20 + number), &row);
    }
    world
}

/// What the modifiers lead to, by the rules of the family.
pub(crate) fn expected(modifiers: &str) -> usize {
    modifiers.chars().fold(0, |at, modifier| match (modifier, at) {
        ('!', 0) => 1,
        ('!', 2) => 4,
        ('+', 0 | 1) => at + 2,
        ('+', 10..20) | (':', 0..10) => at + 10,
        _ => at,
    })
}

#[test]
fn every_composition_leads_to_its_item_in_three_collections() {
    let world = family();
    let collections = open(&world, ROOTS);
    let preferences: LanguagePreferences = "pt-BR".parse().unwrap();
    let rows = crate::identity::resolution("modifiers");
    let mut compositions: Vec<String> =
        rows.iter().map(|row| crate::identity::text(row, "text").to_owned()).collect();
    compositions.push(String::new());
    for plain in &compositions {
        // Each translation is wanted in Portuguese, or by preference.
        for parameters in 0..4 {
            let mut number = 0;
            let with: String = plain
                .chars()
                .map(|modifier| {
                    let has_parameter = modifier == '+' && parameters >> number & 1 == 1;
                    number += usize::from(modifier == '+');
                    if has_parameter { "+(pt)".to_owned() } else { modifier.to_string() }
                })
                .collect();
            let url: PersistentUrl = format!("{}{with}", name(0)).parse().unwrap();
            let found = resolve(&Holders::new(&collections), &url, &preferences).expect(&with);
            assert_eq!(found.item.record.name.to_string(), name(expected(plain)), "{with}");
            assert!(found.path().is_file(), "{with}");
            assert!(found.path().starts_with(world.path(ROOTS[found.item.collection])));
            // The same by the list of verbs.
            let verbs = url.selection.verbs.to_string().replace(' ', "+");
            let url: PersistentUrl =
                format!("{}?ibiurl.verblist={verbs}", name(0)).parse().unwrap();
            let again = resolve(&Holders::new(&collections), &url, &preferences).unwrap();
            assert_eq!(again.path(), found.path());
        }
    }
}

/// A format is rendered from the description of what is described.
#[test]
fn formats_are_rendered_from_descriptions() {
    let world = family();
    let collections = open(&world, ROOTS);
    let ask = |rest: &str| {
        let url = format!("{}{rest}", name(0)).parse().unwrap();
        resolve(&Holders::new(&collections), &url, &LanguagePreferences::default())
    };
    for (rest, number) in [
        (":(oai_dc)", 0),
        ("!:(bibtex)", 1),
        ("!+(pt):(datacite)", 3),
        ("+(pt)!:(oai_dc)", 4),
        ("!:(abnt)", 1),
        ("!:(apa)", 1),
        (":(oai_dc)+(en)", 0),
        (":(oai_dc)+", 0),
        ("+(pt):(oai_dc)+(pt)", 2),
    ] {
        let found = ask(rest).expect(rest);
        assert_eq!(found.item.record.name.to_string(), name(number), "{rest}");
        assert!(matches!(found.target, Target::Rendered(_)), "{rest}");
    }
    let error = |rest: &str| ask(rest).unwrap_err().to_string();
    assert!(error(":(marc)").ends_with("has no metadata in the format `marc`"));
    assert!(error(":(oai_dc)+(pt)").ends_with("has no translation into `pt`"));
    assert!(error(":(oai_dc)/a.txt").ends_with("has no files"));
}

#[test]
fn a_path_is_that_of_a_file_of_the_item() {
    let world = family();
    let collections = open(&world, ROOTS);
    let ask = |rest: &str| {
        let url = format!("{}{rest}", name(0)).parse().unwrap();
        resolve(&Holders::new(&collections), &url, &LanguagePreferences::default())
    };
    let path = ask("!+(pt)/%C3%A9%203.txt").unwrap().path();
    assert_eq!(path, world.path("c").join(name(3)).join("doc/é 3.txt"));
    let files = ask("?ibiurl.verblist=GetFileList").unwrap().target;
    assert_eq!(files, Target::Files(vec![PayloadPath::from_text("é 0.txt").unwrap()]));
    // Section 11: the list of files of the Portuguese item.
    let found = ask("+(pt)?ibiurl.verblist=GetFileList").unwrap();
    assert_eq!(found.target, Target::Files(vec![PayloadPath::from_text("é 2.txt").unwrap()]));
    for absent in [
        "/b.txt",
        "/../item.toml",
        "/.",
        "/é 0.txt/".replace('é', "%C3%A9").replace(' ', "%20").as_str(),
    ] {
        assert!(matches!(ask(absent), Err(ResolveError::NoFile { .. })), "{absent}");
    }
}

/// How one collection holds an item.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Held {
    Nothing,
    Original,
    Copy,
    Stale,
    Deleted,
    Unreadable,
}

const ALL: [Held; 6] =
    [Held::Nothing, Held::Original, Held::Copy, Held::Stale, Held::Deleted, Held::Unreadable];

fn hold(world: &World, root: &str, name: &str, held: Held) {
    let (state, timestamp) = match held {
        Held::Nothing => return,
        Held::Original | Held::Unreadable => ("Original", "2026-11-21T00:00:00Z"),
        Held::Copy => ("Copy", "2026-11-21T00:00:00Z"),
        Held::Stale => ("Copy", "2026-11-20T00:00:00Z"),
        Held::Deleted => ("Deleted", "2026-11-22T00:00:00Z"),
    };
    let title = if held == Held::Stale { "old" } else { "one" };
    let row = format!("title = '{title}'\nstate = '{state}'\ntimestamp = '{timestamp}'");
    put(&world.path(root), name, &row.parse().unwrap());
    if held == Held::Unreadable {
        std::fs::write(world.path(root).join(name).join("item.toml"), "{{bad").unwrap();
    }
}

/// The outcome in a word, whatever the order of the collections is.
fn outcome(world: &World, roots: [&str; 3], url: &str) -> String {
    let collections = open(world, roots);
    let none = LanguagePreferences::default();
    match resolve(&Holders::new(&collections), &url.parse().unwrap(), &none) {
        Ok(found) => format!("{} {}", roots[found.item.collection], found.item.standing),
        Err(ResolveError::NoOriginal { .. }) => "no original".to_owned(),
        Err(ResolveError::TwoOriginals { collections, .. }) => {
            let mut all: Vec<_> = collections.into_iter().map(|at| roots[at]).collect();
            all.sort_unstable();
            format!("originals in {}", all.join(" "))
        }
        Err(ResolveError::Unresolved(error)) => match error {
            Unresolved::NotFound(_) => "not found".to_owned(),
            Unresolved::Deleted { date, .. } => format!("deleted {date}"),
            Unresolved::Items(_) => "unreadable".to_owned(),
            error => panic!("{error}"),
        },
        Err(error) => panic!("{error}"),
    }
}

/// The scenarios of section 11 with an Original, and all others that three collections allow.
#[test]
fn any_order_of_collections_gives_the_same_original() {
    let world = World::new();
    for root in ROOTS {
        make_collection(&world.path(root));
    }
    let orders = [
        ["a", "b", "c"],
        ["a", "c", "b"],
        ["b", "a", "c"],
        ["b", "c", "a"],
        ["c", "a", "b"],
        ["c", "b", "a"],
    ];
    for number in 0..216 {
        let held = [ALL[number % 6], ALL[number / 6 % 6], ALL[number / 36]];
        for (root, held) in ROOTS.into_iter().zip(held) {
            hold(&world, root, &name(number), held);
        }
        let has = |wanted: Held| held.contains(&wanted);
        let originals: Vec<_> = ROOTS
            .into_iter()
            .zip(held)
            .filter(|(_, it)| *it == Held::Original)
            .map(|(root, _)| root)
            .collect();
        let expected = match originals.as_slice() {
            [only] => format!("{only} original"),
            [] if has(Held::Deleted) => "deleted 2026-11-22T00:00:00Z".to_owned(),
            [] if has(Held::Copy) || has(Held::Stale) => "no original".to_owned(),
            [] if has(Held::Unreadable) => "unreadable".to_owned(),
            [] => "not found".to_owned(),
            several => format!("originals in {}", several.join(" ")),
        };
        let url = format!("{}?ibiurl.requireditemstatus=Original", name(number));
        for roots in orders {
            assert_eq!(outcome(&world, roots, &url), expected, "{held:?} {roots:?}");
        }
        // Where any state will do, the first collection answers that is not behind.
        let current =
            |held: Held| held == Held::Original || (held == Held::Copy && !originals.is_empty());
        let first = ROOTS.into_iter().zip(held).find(|(_, held)| current(*held));
        let found = outcome(&world, ROOTS, &name(number));
        match first {
            Some((root, _)) => assert!(found.starts_with(root), "{held:?}: {found}"),
            // A Copy answers beside a tombstone [resolution, E15]: more collections never find less.
            None if has(Held::Copy) || has(Held::Stale) => {
                let standing = if has(Held::Deleted) { "behind" } else { "orphan" };
                assert!(found.contains(standing), "{held:?}: {found}");
            }
            None => assert_eq!(found, expected, "{held:?}"),
        }
    }
}

/// The vector of section 11: one archive says Deleted, another has a Copy.
#[test]
fn a_copy_answers_beside_a_tombstone_with_a_warning() {
    let world = World::new();
    for root in ROOTS {
        make_collection(&world.path(root));
    }
    hold(&world, "a", &name(0), Held::Deleted);
    hold(&world, "b", &name(0), Held::Copy);
    assert_eq!(outcome(&world, ROOTS, &name(0)), "b behind");
    let ran = world.run(&format!("-c a resolve {} --with b", name(0)));
    assert!(ran.succeeded().starts_with("[WORLD]/b/"), "{}", ran.stdout);
    let warning = "was deleted on 2026-11-22T00:00:00Z; a Copy is left";
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
    let ran = world.run(&format!("-c a resolve --original {} --with b", name(0)));
    assert_eq!(ran.code, 22, "{}", ran.stderr);
    // Restored in a collection that is not at hand.
    let row = "title = 'one'\nstate = 'Copy'\nrestored = true";
    put(&world.path("b"), &name(0), &row.parse().unwrap());
    assert_eq!(outcome(&world, ROOTS, &name(0)), "b orphan");
}

#[test]
fn what_is_wrong_on_the_way_is_an_alert() {
    let world = family();
    let none = LanguagePreferences::default();
    let url: PersistentUrl = format!("{}!", name(0)).parse().unwrap();
    put(&world.path("c"), &name(1), &"title = 'other'".parse().unwrap());
    std::fs::create_dir_all(world.path("b").join(name(0))).unwrap();
    std::fs::write(world.path("b").join(name(0)).join("item.toml"), "{{bad").unwrap();
    let path = world.path("a").join(name(0)).join("item.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("[relations]", "# by hand\n[relations]")).unwrap();
    let collections = open(&world, ROOTS);
    let items = Holders::new(&collections);
    assert!([1, 2].contains(&resolve(&items, &url, &none).unwrap().item.collection));
    let name_of = |number| name(number).parse().unwrap();
    let alerts = items.alerts();
    assert!(
        matches!(&alerts[0], Alert::Unreadable { name, collection: 1, .. } if *name == name_of(0))
    );
    assert_eq!(alerts[1], Alert::Unsealed { name: name_of(0), collection: 0 });
    assert_eq!(alerts[2], Alert::TwoOriginals { name: name_of(1), collections: vec![1, 2] });
    assert_eq!(alerts.len(), 3);
}

/// Nobody believes it.
#[test]
fn a_copy_answers_for_an_original_that_does_not_match_its_seal() {
    let world = family();
    put(&world.path("b"), &name(0), &"state = 'Copy'\ntitle = 'sound'".parse().unwrap());
    let path = world.path("a").join(name(0)).join("item.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let rotten = text.replace("timestamp = 2026-", "timestamp = 2027-");
    assert_ne!(rotten, text);
    std::fs::write(&path, rotten).unwrap();
    let collections = open(&world, ROOTS);
    let items = Holders::new(&collections);
    let ask = |rest: &str| {
        let url = format!("{}{rest}", name(0)).parse().unwrap();
        let found = resolve(&items, &url, &LanguagePreferences::default());
        found.map(|found| found.item.collection).ok()
    };
    assert_eq!((ask(""), ask("?ibiurl.requireditemstatus=Original")), (Some(1), None));
}

/// An IBIp is looked up in every collection.
#[test]
fn an_ibip_leads_to_its_item() {
    let world = family();
    let row = "ibip = '8JMKD3MGP8W/35MMLL8'".parse().unwrap();
    put(&world.path("c"), "sid.inpe.br/mtc-m18@80/2009/07.21.14.43", &row);
    let collections = open(&world, ROOTS);
    let ask = |text: &str| {
        let url = text.parse().unwrap();
        resolve(&Holders::new(&collections), &url, &LanguagePreferences::default())
    };
    let found = ask("http://urlib.net/8jmkd3mgp8w/35mmll8").unwrap();
    assert_eq!(found.item.collection, 2);
    assert!(matches!(
        ask("8JMKD3MGP8W/35MMLL9"),
        Err(ResolveError::Unresolved(Unresolved::NotFound(_)))
    ));
}
