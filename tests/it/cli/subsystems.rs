//! Several subsystems in one collection: which of them names an item.

use std::collections::BTreeSet;

use crate::support::World;

/// A collection with these settings in place of its own subsystems.
fn world(settings: &str) -> World {
    let world = World::new();
    world.run("init archive --host first.example.org").succeeded();
    let path = world.path("archive/urepo.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let head = &text[..text.find("[[subsystem]]").unwrap()];
    std::fs::write(path, format!("{head}{settings}")).unwrap();
    world.write("a.txt", "a");
    world.write("b.txt", "b");
    world.write("large.bin", vec![b'x'; 2000]);
    world
}

/// The prefixes of the identifiers that a command prints.
fn prefixes(world: &World, line: &str) -> Vec<String> {
    let ran = world.run(line);
    let prefix = |name: &str| {
        let levels: Vec<_> = name.split('/').collect();
        levels[..2].join("/")
    };
    ran.succeeded().lines().map(prefix).collect()
}

const RULES: &str = "
[[subsystem]]
host = 'maps.example.org'
takes = { type = ['Map*', 'Image'] }
[[subsystem]]
host = 'large.example.org'
takes = { min_bytes = 1000 }
[[subsystem]]
host = 'rest.example.org'
";

#[test]
fn an_item_is_named_by_the_subsystem_that_takes_it() {
    let world = world(RULES);
    let of = |line: &str| prefixes(&world, &format!("-c archive {line}"));
    assert_eq!(of("new a.txt"), ["example.org/rest"]);
    assert_eq!(of("new a.txt --meta type=map"), ["example.org/maps"]);
    assert_eq!(of("new large.bin"), ["example.org/large"]);
    // What a person chooses goes before every rule.
    assert_eq!(of("new large.bin --subsystem example.org/rest"), ["example.org/rest"]);
    let each = of("new --each a.txt large.bin");
    assert_eq!(
        BTreeSet::from_iter(each),
        ["example.org/large", "example.org/rest"].map(Into::into).into()
    );
    world.write("list.csv", "path,type\na.txt,Map of Brazil\nb.txt,Text\n");
    world.run("-c archive import list.csv").succeeded();
    let listed = of("list");
    let count = |prefix: &str| listed.iter().filter(|it| *it == prefix).count();
    assert_eq!((count("example.org/maps"), count("example.org/rest")), (2, 4));
    world.run("-c archive verify").succeeded();
}

#[test]
fn subsystems_take_turns() {
    let world = world(
        "spread = 'turn'\n[[subsystem]]\nhost = 'one.example.org'\n[[subsystem]]\nhost = 'two.example.org'\n",
    );
    let mut all = prefixes(&world, "-c archive new --each a.txt large.bin");
    for _ in 0..2 {
        all.extend(prefixes(&world, "-c archive new --each a.txt large.bin"));
    }
    let ones = all.iter().filter(|it| *it == "example.org/one").count();
    assert_eq!((ones, all.len()), (3, 6), "{all:?}");
}

#[test]
fn rules_that_leave_items_without_a_name_are_refused() {
    for (settings, expected) in [
        (
            "[[subsystem]]\nhost = 'a.example.org'\ntakes = { type = 'Map' }\n",
            "one without it names all",
        ),
        (
            "[[subsystem]]\nhost = 'a.example.org'\ntakes = { tipe = 'Map' }\n",
            "`tipe` is not a term",
        ),
        ("spread = 'all'\n", "expected `first` or `turn`"),
    ] {
        let world = world(settings);
        let ran = world.run("-c archive new a.txt");
        assert_ne!(ran.code, 0);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn the_example_of_the_guide_works() {
    let guide = std::fs::read_to_string("docs/guide.md").unwrap();
    let section = &guide[guide.find("### Several subsystems").unwrap()..];
    let example = section.split("```toml").nth(1).unwrap().split("```").next().unwrap();
    let world = world(example);
    assert_eq!(prefixes(&world, "-c archive new a.txt --meta type=Map"), ["example.org/maps"]);
    let rest = prefixes(&world, "-c archive new --each a.txt large.bin");
    assert_eq!(
        BTreeSet::from_iter(rest),
        ["example.org/archive", "example.org/archive.8080"].map(Into::into).into()
    );
}

/// A mirror need not issue identifiers.
#[test]
fn a_collection_without_one_can_be_looked_at() {
    let world = world("");
    let ran = world.run("-c archive status --machine");
    let told = "prefix       none: this collection issues no identifiers\ntemporary    none\n";
    assert!(ran.succeeded().ends_with(told), "{}", ran.stdout);
    assert!(
        world.run("-c archive status --machine --json").succeeded().contains("\"distributors\":[]")
    );
    world.run("-c archive recover").succeeded();
}
