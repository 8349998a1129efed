//! Every command that changes an item, in every standing of the item among the collections in sight: what is done, and what is
//! refused with which code.

use std::fs;

use std::sync::Arc;

use urepo::collection::Collection;
use urepo::disk::Watcher;
use urepo::holdings::Sight;
use urepo::interrupt::Interrupt;
use urepo::transfer::{Leaves, Options, RunMode, Tombstones, Transfer, Verb};

use crate::support::{
    Faults, Mode, TestClock, World, agent, caller, copy_tree, make_collection, waiter,
};

/// The commands, run in `a`. `ITEM` and `OTHER` are items there; `c` is an empty collection, and no neighbour.
const COMMANDS: [&str; 10] = [
    "meta set ITEM title=Two",
    "meta import rows.csv",
    "meta set ITEM part_of=OTHER",
    "import --update update.csv",
    "copy ITEM --to c",
    "migrate ITEM --to c",
    "delete ITEM --force last --yes",
    "restore ITEM",
    "promote ITEM --yes",
    "repair ITEM",
];

/// How the item comes to stand in `a`, beside its neighbour `b`; and the exit code of each command. 23 is a conflict, 20 damage,
/// 22 a deleted item, 3 a row that is left as it is.
const STANDINGS: &[(&str, &[&str], [i32; 10])] = &[
    ("the Original, and a Copy in `b`", &["a copy ITEM --to b"], [0; 10]),
    (
        "the Original, put back; `b` has it by now",
        &["save", "a migrate ITEM --to b", "put back"],
        [23, 1, 23, 3, 23, 23, 23, 0, 23, 20],
    ),
    (
        "the Original, put back; `b` has a newer Copy",
        &["save", "a meta set ITEM title=New", "a copy ITEM --to b", "put back"],
        [23, 1, 23, 3, 23, 23, 23, 0, 23, 0],
    ),
    (
        "a line of its own: both were changed",
        &[
            "save",
            "a migrate ITEM --to b",
            "b meta set ITEM title=There",
            "put back",
            "unknown",
            "a meta set ITEM title=Here",
            "known",
        ],
        [23, 1, 23, 3, 23, 23, 23, 0, 23, 20],
    ),
    ("a Copy", &["a migrate ITEM --to b --leave-copy"], [23, 1, 23, 0, 0, 0, 0, 0, 23, 0]),
    ("a stub", &["a migrate ITEM --to b"], [23, 1, 23, 0, 23, 23, 23, 23, 23, 0]),
    ("a tombstone", &["a delete ITEM --force last --yes"], [22, 1, 22, 3, 22, 22, 22, 0, 22, 0]),
    (
        "the Original, put back; its deletion has travelled to `b`",
        &[
            "a copy ITEM --to b",
            "save",
            "a delete ITEM --force last --yes",
            "a copy --all --to b",
            "put back",
        ],
        [23, 1, 23, 3, 23, 23, 0, 0, 23, 20],
    ),
    (
        "missing; a Copy in `b`",
        &["a copy ITEM --to b", "lose"],
        [21, 1, 21, 3, 21, 21, 21, 21, 21, 0],
    ),
    ("ceded to `b`, which has nothing yet", &["cede"], [23, 1, 23, 3, 23, 0, 23, 0, 23, 0]),
    (
        "damaged: somebody has edited its sidecar",
        &["garble a"],
        [20, 1, 20, 3, 20, 20, 20, 0, 20, 20],
    ),
    (
        "the Original, and a Copy in `b` that cannot be read",
        &["a copy ITEM --to b", "garble b"],
        [0; 10],
    ),
];

fn settings(world: &World, names: &[&str]) {
    let line = |name: &&str| format!("{name} = \"{}\"", world.path(name).display());
    let lines: Vec<_> = names.iter().map(line).collect();
    world.write(".config/urepo/config.toml", format!("[collections]\n{}\n", lines.join("\n")));
}

/// A world in which the item stands so, and the item.
fn stand(how: &[&str]) -> (World, String) {
    let world = World::new();
    for name in ["a", "b", "c"] {
        make_collection(&world.path(name));
    }
    settings(&world, &["a", "b"]);
    world.write("x.txt", "Dear all");
    world.write("update.csv", "path,title\nx.txt,One\n");
    let made = world.run("-c a import update.csv");
    let item =
        made.succeeded().lines().next().unwrap().split_whitespace().next().unwrap().to_owned();
    world.write("update.csv", "path,title\nx.txt,Two\n");
    world.write("rows.csv", "path,title\nx.txt,Two\n");
    for step in how {
        match *step {
            "save" => copy_tree(&world.path("a"), &world.path("saved")),
            // The whole collection, and what the machine knew of it, is as it was.
            "put back" => {
                fs::remove_dir_all(world.path("a")).unwrap();
                fs::rename(world.path("saved"), world.path("a")).unwrap();
                let _ = fs::remove_dir_all(world.path(".state"));
            }
            "unknown" => settings(&world, &["a"]),
            "known" => settings(&world, &["a", "b"]),
            "lose" => fs::remove_dir_all(world.path("a").join(&item)).unwrap(),
            "cede" => cede(&world, &item),
            "garble a" | "garble b" => {
                let root = step.strip_prefix("garble ").unwrap();
                let sidecar = world.path(root).join(&item).join("item.toml");
                let text = fs::read_to_string(&sidecar).unwrap();
                fs::write(&sidecar, text.replacen("transferable", "transferrable", 1)).unwrap();
            }
            line => {
                let line = line.replace("ITEM", &item);
                world.run(&format!("-c {line}")).succeeded();
            }
        }
    }
    (world, item)
}

/// Begins to migrate the item to `b`, and is killed between the fence and the commit point.
fn cede(world: &World, item: &str) {
    let (agent, clock, interrupt) =
        (agent(), TestClock::at("2027-01-01T00:00:00Z"), Interrupt::default());
    let sidecar = world.path("a").join(item).join("item.toml");
    for at in 1..200 {
        let faults = Faults::new(&world.path(""), at, Mode::Killed).of_changes();
        let watcher = Watcher::new(Arc::new(faults));
        let open = |root| Collection::open(&world.path(root), &watcher).unwrap();
        let (from, to, waiter) = (open("a"), open("b"), waiter(&clock));
        let writers = (to.writer(&agent, &waiter), from.writer_to_delete(&agent, &waiter));
        let (Ok(writer), Ok(source_writer)) = writers else { continue };
        let transfer = Transfer {
            from: &from,
            to: &to,
            writer: Some(writer),
            source_writer: Some(source_writer),
            options: Options {
                verb: Verb::Migrate,
                leaves: Leaves::Stub,
                line_up: None,
                mode: RunMode::Act,
                state: None,
                tombstones: Tombstones::Refuse,
                jobs: 1,
                resume_bytes: u64::MAX,
            },
            sight: Sight::alone(),
            caller: caller(&agent, &clock, &interrupt),
        };
        let name = item.parse().unwrap();
        let feed = Box::new(move |take: &mut dyn FnMut(_) -> _| {
            let _ = take(name);
            Ok(())
        });
        transfer.run(feed, |_| Ok(()));
        if fs::read_to_string(&sidecar).unwrap().contains("ceded") {
            return;
        }
    }
    panic!("no kill falls between the fence and the commit point");
}

#[test]
fn what_is_in_sight_decides_what_is_changed() {
    let mut found = Vec::new();
    for (standing, how, expected) in STANDINGS {
        let (world, item) = stand(how);
        let other = world.write("y.txt", "Dear Ana");
        let other = world.run_args(["-c", "a", "new", other.to_str().unwrap()]).line();
        copy_tree(&world.path(""), &world.path("../saved-world"));
        let codes = COMMANDS.map(|command| {
            for name in ["a", "b", "c", ".state", ".cache"] {
                let _ = fs::remove_dir_all(world.path(name));
                let saved = world.path("../saved-world").join(name);
                if saved.exists() {
                    copy_tree(&saved, &world.path(name));
                }
            }
            let line = command.replace("ITEM", &item).replace("OTHER", &other);
            let ran = world.run(&format!("-c a {line}"));
            if std::env::var_os("TELL").is_some() {
                println!("{standing}: {command}: {} {}{}", ran.code, ran.stdout, ran.stderr);
            }
            ran.code
        });
        fs::remove_dir_all(world.path("../saved-world")).unwrap();
        if codes != *expected {
            found.push(format!("{standing}: {codes:?}"));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Whether a command says always, in text, that a neighbour is away: because it needs it.
fn needs_neighbours(command: &str) -> bool {
    ["part_of", "delete", "restore"].iter().any(|it| command.contains(it))
}

#[test]
fn a_neighbour_that_is_away_is_in_the_records_and_in_verbose_text() {
    let mut wrong = Vec::new();
    // A promotion ends before it begins.
    for command in COMMANDS.iter().filter(|it| !it.starts_with("promote")) {
        for (flag, is_said) in [("", needs_neighbours(command)), (" -v", true), (" --json", true)] {
            let (world, item) = stand(&[]);
            let other = world.write("y.txt", "Dear Ana");
            let other = world.run_args(["-c", "a", "new", other.to_str().unwrap()]).line();
            fs::rename(world.path("b"), world.path("drawer")).unwrap();
            let line = command.replace("ITEM", &item).replace("OTHER", &other);
            let ran = world.run(&format!("-c a {line}{flag}"));
            let found = if flag == " --json" {
                let last = ran.stdout.lines().last().unwrap_or_default();
                let last: serde_json::Value = serde_json::from_str(last).unwrap_or_default();
                last["type"] == "summary" && last["missing"] == serde_json::json!(["b"])
            } else {
                ran.stderr.contains("`b` is out of sight")
                    || ran.stderr.contains("`b` cannot be opened")
            };
            if found != is_said {
                wrong.push(format!("{line}{flag}: {}{}", ran.stdout, ran.stderr));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
