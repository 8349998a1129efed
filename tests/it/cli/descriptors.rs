//! A process may have few files open only; those that were written lately are held open for a while.

use urepo::identity::RepositoryName;
use urepo::item::State;
use urepo::sidecar::{Metadata, Sidecar};

use crate::errors::with_mounts;
use crate::support::{World, original};

#[test]
fn few_are_enough_for_many_large_files() {
    let world = World::with_collection();
    world.run("init mirror --host mirror.example.org").succeeded();
    for item in 0..8 {
        for file in 0..8 {
            world.write(&format!("in/{item}/{file}"), vec![7; 300_000]);
        }
    }
    let run = |line: &str| world.run_with_descriptors(32, line).succeeded().to_owned();
    let items: Vec<_> = (0..8).map(|item| format!("in/{item}")).collect();
    let names = run(&format!("-c archive new -j 2 --each {}", items.join(" ")));
    assert_eq!(names.lines().count(), 8);
    run("-c archive copy -j 2 --all --to mirror");
    run(&format!("-c archive export --to out {}", names.replace('\n', " ")));
    for collection in ["archive", "mirror"] {
        assert_eq!(world.run(&format!("-c {collection} verify")).code, 0);
    }
    assert_eq!(walkdir::WalkDir::new(world.path("out")).into_iter().count(), 1 + 8 * 9);
}

/// A Copy without files, as another site may have made it.
fn empty_copy(name: &RepositoryName) -> Sidecar {
    let mut metadata = Metadata::default();
    metadata.add("title", "rain").unwrap();
    Sidecar { state: State::Copy, metadata, ..original(name.clone(), Vec::new()) }
}

/// Years are held open while many items are looked at, but not all of them at once.
#[test]
fn few_are_enough_for_many_prefixes_and_years() {
    let world = World::with_collection();
    for prefix in 0..12 {
        for year in 2001..2011 {
            let name = format!("p{prefix}.example.org/b/{year}/01.01.00.00");
            let name: RepositoryName = name.parse().unwrap();
            std::fs::create_dir_all(world.path("archive").join(name.as_str()).join("doc")).unwrap();
            world.write(&format!("archive/{name}/item.toml"), empty_copy(&name).to_text());
        }
    }
    let run = |line: &str| {
        let ran = world.run_with_descriptors(64, &format!("-c archive {line}"));
        ran.succeeded();
        assert_eq!(ran.stderr, "", "{line}");
        ran.stdout.lines().count()
    };
    for _ in 0..2 {
        assert_eq!(run("-q list rain"), 120);
        assert_eq!(run("-q list --long"), 120);
    }
    run("-q verify");
    run("-q status --counts");
    run("-q recover --index");
}

/// The sources of one item are opened one after another.
#[test]
fn few_are_enough_for_an_item_of_many_directories() {
    let world = World::with_collection();
    let sources: Vec<_> = (0..100).map(|number| format!("in/{number}")).collect();
    for source in &sources {
        world.write(&format!("{source}/a.txt"), source);
    }
    let line = format!("-c archive new {}", sources.join(" "));
    let ran = world.run_with_descriptors(48, &line);
    assert_eq!(ran.succeeded().lines().count(), 1);
}

/// Each item is locked while it leaves, but not all of them at once.
#[test]
fn few_are_enough_to_migrate_many_items() {
    let world = World::with_collection();
    world.run("init mirror --host mirror.example.org").succeeded();
    let files: Vec<_> = (0..150).map(|number| format!("in/{number}")).collect();
    for file in &files {
        world.write(file, file);
    }
    world.run(&format!("-c archive -q new --each {}", files.join(" "))).succeeded();
    let script = "
        ulimit -n 64
        count() { echo $($UREPO -c $1 list --state Original | wc -l) $($UREPO -c $1 -q verify && echo whole); }
        $UREPO -c archive -q migrate --all --to mirror; count archive; count mirror
        mount -t tmpfs tmpfs mount; $UREPO -q init mount/far --host far.example.org
        $UREPO -c mirror -q migrate --all --to mount/far; count mirror; count mount/far";
    let Some(told) = with_mounts(&world, script) else { return };
    assert_eq!(told, "0 whole\n150 whole\n0 whole\n150 whole\n");
}
