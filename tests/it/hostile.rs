//! Each file that a stranger may have written, or that a disk may have spoilt, with something changed
//! in it: no command panics on it, takes it for a reason to touch anything else, or loses another item.
//!
//! `fuzz/` has targets for the readers that need no directory.

use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::{World, copy_tree};

/// The good item, which no damage of another file harms.
const GOOD: &str = "the good item";

/// A file of the world, and the commands that read it. `ITEM` is the item whose sidecar is changed.
const READERS: &[(&str, &[&str])] = &[
    ("archive/urepo.toml", &["-c archive list", "-c archive new good.txt"]),
    (
        "archive/ITEM/item.toml",
        &[
            "-c archive verify",
            "-c archive show ITEM",
            "-c archive copy --all --to mirror",
            "-c archive list rain",
            "-c archive export ITEM --to out",
            "-c archive repair ITEM --from mirror --dry-run",
        ],
    ),
    (
        "archive/.urepo/memory/example.org+archive",
        &["-c archive status --machine", "-c archive new good.txt"],
    ),
    (
        "archive/.urepo/ledger/000001.jsonl",
        &[
            "-c archive verify",
            "-c archive log",
            "-c archive import drop --dry-run",
            "-c archive recover --accept-loss --dry-run",
            "-c archive new good.txt",
        ],
    ),
    ("archive/.urepo/round", &["-c archive verify --time-limit 1h"]),
    (".config/urepo/config.toml", &["status --settings", "-c archive list"]),
    ("list.csv", &["-c archive import list.csv"]),
    ("list.tsv", &["-c archive import list.tsv"]),
    ("list.jsonl", &["-c archive import list.jsonl"]),
    ("list.toml", &["-c archive import list.toml"]),
    ("bag/bagit.txt", &["-c archive import bag"]),
    ("bag/bag-info.txt", &["-c archive import bag"]),
    ("bag/manifest-sha256.txt", &["-c archive import bag"]),
    ("bag/fetch.txt", &["-c archive import bag"]),
    (
        "col/sid.inpe.br/mtc-m18@80/2009/02.16.17.46/doc/@reference.bib",
        &["init col --adopt --dry-run", "init col --adopt"],
    ),
];

/// Runs of each reader, unless `HOSTILE_RUNS` says otherwise. A run takes some ten milliseconds for each command.
const RUNS: u32 = 6;

/// How a file is changed. Positions are parts of its length, in thousandths.
#[derive(Clone, Debug)]
enum Change {
    Cut(usize),
    Flip(usize, u8),
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
    Repeat(usize, usize),
    Replace(Vec<u8>),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let at = |part: &usize| part * bytes.len() / 1000;
        match self {
            Change::Cut(end) => bytes.truncate(at(end)),
            Change::Flip(part, bits) => {
                let at = at(part);
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bits);
            }
            Change::Insert(part, text) => {
                let at = at(part);
                bytes.splice(at..at, text.iter().copied());
            }
            Change::Remove(start, length) => {
                let (start, length) = (at(start), at(length));
                let end = bytes.len().min(start + length);
                bytes.drain(start..end);
            }
            Change::Repeat(start, length) => {
                let (start, length) = (at(start), at(length));
                let piece = bytes[start..bytes.len().min(start + length)].to_vec();
                bytes.splice(start..start, piece);
            }
            Change::Replace(text) => bytes.clone_from(text),
        }
    }
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let part = 0..1000usize;
    let nasty = prop::sample::select(vec![
        "\0",
        "\n",
        "\r\n",
        "\"",
        "'",
        "[",
        "]]",
        "{",
        "}",
        "=",
        "\\",
        "\\x",
        "../",
        "/etc/passwd",
        "@",
        "9999999999999999999999",
        "-1",
        "\u{feff}",
        "\u{202e}",
        "\u{1b}[2J",
        "Original",
        "Deleted",
        "2026-02-30T25:61:00Z",
        "sha256 = \"0\"",
        "[[file]]\n",
        "[[file]]\npath = \"../../outside.txt\"\n",
        "[[subsystem]]\n",
        ",,,,",
        "\t\t",
        "inf",
        "nan",
        "0x",
        "#",
        "@string{a = a # a}",
    ]);
    let text = prop_oneof![
        4 => nasty.prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..200),
    ];
    let change = prop_oneof![
        2 => part.clone().prop_map(Change::Cut),
        3 => (part.clone(), 1..=255u8).prop_map(|(part, bits)| Change::Flip(part, bits)),
        4 => (part.clone(), text.clone()).prop_map(|(part, text)| Change::Insert(part, text)),
        2 => (part.clone(), 0..300usize).prop_map(|(at, length)| Change::Remove(at, length)),
        1 => (part, 0..1000usize).prop_map(|(at, length)| Change::Repeat(at, length)),
        1 => text.prop_map(Change::Replace),
    ];
    prop::collection::vec(change, 1..4)
}

/// A world with every file of [`READERS`], the good item and the one that may be spoilt.
fn seed() -> (World, String, String) {
    let world = World::with_collection();
    world.write("good.txt", GOOD);
    world.write("outside.txt", "not for urepo");
    world.write("trip/diary.txt", "rain");
    world.write("trip/photos/1.png", "PNG");
    world.run("init mirror --host mirror.example.org").succeeded();
    let good = world.run("-c archive new good.txt").line();
    let item =
        world.run("-c archive new trip --title rain --target diary.txt --creator Silva").line();
    world.run("-c archive copy --all --to mirror").succeeded();
    world.write("drop/1.txt", "one");
    world.run("-c archive import drop").succeeded();
    assert_eq!(world.run("-c archive verify").code, 0);
    world.run("-c archive verify -j 1 --time-limit 0").succeeded();
    let archive = world.path("archive").display().to_string();
    world.write(
        ".config/urepo/config.toml",
        format!("jobs = 1\n[collections]\none = \"{archive}\"\n"),
    );
    world.write("in/a.txt", "a");
    world.write("list.csv", "path,title,creator,x.box\nin/a.txt,\"A, B\",Silva,17\n");
    world.write("list.tsv", "path\ttitle\nin/a.txt\tA\n");
    world.write("list.jsonl", "{\"path\": \"in/a.txt\", \"title\": \"A\", \"x\": {\"box\": 17}}\n");
    world.write("list.toml", "[[item]]\npath = 'in/a.txt'\ntitle = 'A'\n");
    world.run(&format!("-c archive export {item} --format bag --to out.bag")).succeeded();
    let bag = walkdir::WalkDir::new(world.path("out.bag")).min_depth(1).max_depth(1);
    let bag = bag.into_iter().next().unwrap().unwrap().into_path();
    std::fs::rename(bag, world.path("bag")).unwrap();
    world.write("bag/fetch.txt", "");
    world.write(
        "col/sid.inpe.br/mtc-m18@80/2009/02.16.17.46/doc/@reference.bib",
        "@string{inpe = \"INPE\"}\n@InProceedings{k, title = {Um {\\c c}},\n author = \"Banon, Lise\", \
         publisher = inpe, ibip = {8JMKD3MGP8W/34PGRBS}, lastupdate = {2017:05.17.17.45.29 (UTC) x}}\n",
    );
    (world, good, item)
}

fn path_of(file: &str, item: &str) -> String {
    file.replace("ITEM", item)
}

/// Every other file that is not urepo's to change.
fn outside(world: &World) -> Vec<(String, Vec<u8>)> {
    ["good.txt", "outside.txt", "trip/diary.txt", "drop/1.txt", "in/a.txt"]
        .map(|path| (path.to_owned(), std::fs::read(world.path(path)).unwrap_or_default()))
        .to_vec()
}

#[test]
fn whatever_a_file_says_nothing_else_is_harmed() {
    let (seed, good, item) = seed();
    let runs =
        std::env::var("HOSTILE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(RUNS);
    for (file, commands) in READERS {
        let path = path_of(file, &item);
        let text = std::fs::read(seed.path(&path));
        let text = text.unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut runner =
            TestRunner::new(Config { cases: runs, failure_persistence: None, ..Config::default() });
        let ran = runner.run(&changes(), |changes| {
            let world = World::new();
            copy_tree(&seed.path(""), &world.path(""));
            let mut bytes = text.clone();
            for change in &changes {
                change.apply(&mut bytes);
            }
            std::fs::write(world.path(&path), bytes).unwrap();
            let before = outside(&world);
            for command in *commands {
                let ran = world.run(&command.replace("ITEM", &item));
                let said = format!("{command}: {}\n{}{}", ran.code, ran.stdout, ran.stderr);
                prop_assert!((0..=24).contains(&ran.code), "{said}");
                prop_assert!(!ran.stderr.contains("panicked"), "{said}");
            }
            prop_assert_eq!(outside(&world), before);
            let kept =
                std::fs::read(world.path(Path::new("archive").join(&good).join("doc/good.txt")));
            prop_assert_eq!(kept.unwrap_or_default(), GOOD.as_bytes());
            Ok(())
        });
        ran.unwrap_or_else(|error| panic!("{path}: {error}"));
    }
}
