//! The flags that select items, on every command that has them.

use std::fs;

use super::{records, world_with_item};
use crate::support::World;

/// A collection with an Original, a Copy of another prefix, and a tombstone, each with a link that leads
/// nowhere. The collection of the Copy's Original is lost; `twin` has another Original of the first.
struct Three {
    world: World,
    names: [String; 3],
}

impl Three {
    fn new() -> Three {
        let world = World::with_collection();
        for root in ["mirror", "twin", "third"] {
            world.run(&format!("init {root} --host {root}.example.org")).succeeded();
        }
        let deposit = |root: &str, file: &str| {
            let link = "<a href='../../../../../example.org/gone/2020/01.01.00.00/doc/a'>a</a>";
            world.write(file, format!("{file} {link}"));
            world.run(&format!("-c {root} new {file}")).line()
        };
        let names = [("archive", "a.html"), ("mirror", "b.html"), ("archive", "c.html")]
            .map(|(root, file)| deposit(root, file));
        world.run(&format!("-c mirror copy {} --to archive", names[1])).succeeded();
        world.run(&format!("-c archive delete --force last {}", names[2])).succeeded();
        fs::remove_dir_all(world.path("mirror")).unwrap();
        world.run(&format!("-c archive copy {} --to twin", names[0])).succeeded();
        fs::rename(world.path("archive"), world.path("away")).unwrap();
        let lost = world.path("archive").display().to_string();
        let line = format!("-c twin promote --all --lost {lost} --reason test --yes");
        world.run(&line).succeeded();
        fs::rename(world.path("away"), world.path("archive")).unwrap();
        Three { world, names }
    }

    /// Which of the items a dry run of `line` reports.
    fn reported(&self, line: &str) -> Vec<&str> {
        let ran = self.world.run(&format!("-c archive --dry-run --json {line}"));
        let text = format!("{}{}", ran.stdout, ran.stderr);
        assert_ne!(ran.code, 2, "{line}: {text}");
        // A later name may begin with an earlier one.
        let is_reported = |name: &&str| {
            let mut ends = text.split(name).skip(1);
            ends.any(|rest| !rest.starts_with('.'))
        };
        self.names.iter().map(String::as_str).filter(is_reported).collect()
    }
}

/// The commands, and what else they need; with a state that an item has which they report.
const COMMANDS: [(&str, &str, Option<&str>); 17] = [
    ("copy", "--to third", Some("Original")),
    ("delete", "--force last", Some("Original")),
    ("export", "--to exported", Some("Copy")),
    ("list", "", Some("Deleted")),
    ("meta-set", "publisher=INPE", Some("Original")),
    ("meta-undo", "", Some("Original")),
    ("migrate", "--to third", Some("Original")),
    ("promote", "--lost mirror --reason test", Some("Copy")),
    ("purge", "", None),
    ("repair", "--from twin", None),
    ("repair", "--accept", None),
    ("restore", "", None),
    ("show", "", Some("Deleted")),
    ("show", "--as manifest", Some("Copy")),
    ("show", "--path", Some("Deleted")),
    ("status", "", None),
    ("verify", "", None),
];

#[test]
fn narrow_every_command_that_has_them() {
    let three = Three::new();
    let [original, copy, deleted] = three.names.each_ref().map(String::as_str);
    let states = [("Original", original), ("Copy", copy), ("Deleted", deleted)];
    for (command, rest, reported) in COMMANDS {
        let line = format!("{} {rest}", command.replace('-', " "));
        let is_among = |filter: &str, expected: &[&str]| {
            let found = three.reported(&format!("{line} {filter}"));
            assert!(found.iter().all(|it| expected.contains(it)), "{line} {filter}: {found:?}");
        };
        if reported.is_some() {
            for (state, name) in states {
                is_among(&format!("--state {state}"), &[name]);
                is_among(&format!("{original} {copy} {deleted} --state {state}"), &[name]);
            }
        }
        is_among("--prefix example.org/mirror", &[copy]);
        is_among("--since 9999-12-31", &[]);
        is_among("--until 1995", &[]);
        is_among(&format!("- < {}", list(&three.world, copy)), &[copy]);
        if let Some(state) = reported {
            let found = three.reported(&format!("{line} --state {state}"));
            let (_, name) = states.into_iter().find(|(it, _)| *it == state).unwrap();
            assert_eq!(found, [name], "{line} --state {state}");
        }
    }
}

/// A list of one item.
fn list(world: &World, name: &str) -> &'static str {
    world.write("items", format!("{name}\n"));
    "items"
}

/// The pages of the manual name the commands that have these flags.
#[test]
fn are_tested_on_every_command_that_has_them() {
    // The dates of a log are those of events.
    let has_flags =
        |(command, page): &(String, String)| page.contains("\\-\\-until") && command != "log";
    let mut found: Vec<_> =
        crate::manual::pages().into_iter().filter(has_flags).map(|(command, _)| command).collect();
    found.sort();
    let mut tested = COMMANDS.map(|(command, ..)| command).to_vec();
    tested.dedup();
    assert_eq!(found, tested);
}

#[test]
fn items_that_are_listed_by_their_identifiers_are_there() {
    let (world, name) = world_with_item();
    let absent = "example.org/archive/2009/02.16.17.46";
    for more in ["", " --long", " --state Original"] {
        let ran = world.run(&format!("-c archive list {absent}{more}"));
        assert_eq!((ran.code, ran.stdout.as_str()), (21, ""), "{more}: {}", ran.stderr);
        assert!(ran.stderr.starts_with(&format!("error: no item `{absent}`")), "{}", ran.stderr);
    }
    let ran = world.run(&format!("-c archive list {absent} {}", name.to_uppercase()));
    assert_eq!((ran.code, ran.stdout), (3, format!("{name}\n")), "{}", ran.stderr);
}

/// An unset variable of a shell selects nothing instead of everything.
#[test]
fn empty_texts_are_refused() {
    let (world, _) = world_with_item();
    for flags in [
        &["list", "origin:"][..],
        &["list", "origin: "],
        &["list", "file:"],
        &["list", "sha256:"],
        &["list", "title:="],
        &["list", "title:= "],
        &["list", ""],
        &["list", "!!!"],
        &["list", "--prefix", ""],
        &["list", "--since", ""],
        &["delete", "--prefix", "", "--force", "last", "--yes"],
        &["verify", "--until", "6m"],
    ] {
        let ran = world.run_args(["-c", "archive"].iter().chain(flags));
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{flags:?}: {}", ran.stderr);
    }
    for flags in [&["show", ""][..], &["show", "--path", "/"][..], &["list", "related:"][..]] {
        let ran = world.run_args(["-c", "archive"].iter().chain(flags));
        assert!(ran.code != 0 && ran.stdout.is_empty(), "{flags:?}: {}", ran.stdout);
    }
}

/// Copies and tombstones stay as they are, and the question does not count them.
#[test]
fn a_person_is_asked_with_the_number_of_originals() {
    let three = Three::new();
    let ask =
        |answer| super::removal::typed(&three.world, "-c archive meta set --all title=B", answer);
    let Some(told) = ask("n\n") else { return };
    assert!(told.contains("change 1 Original in `"), "{told}");
    assert!(told.contains("nothing was done"), "{told}");
    let told = ask("y\n").unwrap();
    assert!(told.contains("changed 1 item"), "{told}");
}

mod trash;

mod verifying {
    use super::*;

    #[test]
    fn items_that_vanished_are_found_by_their_dates() {
        let (world, name) = world_with_item();
        let before = |line: &str| world.run(&format!("-c archive {line}")).code;
        assert_eq!(before("verify --since 1d"), 0);
        fs::remove_dir_all(world.path("archive").join(&name)).unwrap();
        for flags in ["--since 1d", "--quick --since 7d", "--since 2020 --until 9998"] {
            let ran = world.run(&format!("-c archive verify {flags}"));
            assert_eq!(ran.code, 20, "{flags}: {}", ran.stderr);
            assert!(ran.stdout.contains(&name), "{flags}: {}", ran.stdout);
        }
        world.run("init mirror --host mirror.example.org").succeeded();
        assert_eq!(world.run("verify archive mirror --since 1d").code, 20);
        assert_eq!(before("verify --until 1995"), 0);
        // The state of what is gone is not in a sidecar.
        for flags in ["--state Original", "--since 1d --time-limit 5h"] {
            assert_eq!(before(&format!("verify {flags}")), 2, "{flags}");
        }
    }

    /// A directory that this user may not list is reported; the items in the others are verified all the same.
    #[test]
    fn a_directory_that_cannot_be_listed_hides_no_others() {
        use std::os::unix::fs::PermissionsExt;
        let three = Three::new();
        let closed = three.world.path("archive/example.org/archive");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        let ran = three.world.run_unprivileged("-c archive verify --json --since 1d");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        let told = records(&ran);
        assert!(told.iter().any(|it| it["id"] == three.names[1].as_str()), "{told:?}");
    }
}
