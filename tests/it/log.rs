//! The event log: what happened to which item, from whom, and when.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use urepo::collection::{Collection, Event, EventKind};
use urepo::disk::{PathError, Watcher};
use urepo::identity::{Instant, RepositoryName};

use crate::support::{
    World, add_lines, agent, append, ledger_file, make_collection, scratch, screen, wide_terminal,
};

fn events(collection: &Collection, since: Option<Instant>) -> Vec<Event> {
    let mut found = Vec::new();
    collection
        .visit_events(since, |event| {
            found.push(event);
            Ok::<_, PathError>(())
        })
        .unwrap();
    found
}

fn event(date: &str) -> Event {
    let name: RepositoryName = "example.org/archive/2026/11.21.02.13".parse().unwrap();
    Event::new(EventKind::Ingestion, &name, date.parse().unwrap(), &agent())
}

fn add(root: &Path, events: &[Event]) {
    let lines: Vec<_> = events.iter().map(|it| serde_json::to_string(it).unwrap()).collect();
    add_lines(root, &lines);
}

#[test]
fn events_are_read_in_order() {
    let scratch = scratch();
    let root = scratch.path().join("archive");
    let collection = make_collection(&root);
    let dates = ["2026-12-01T00:00:00Z", "10000-01-01T00:00:00Z", "2026-11-30T23:59:59Z"];
    let logged = dates.map(event);
    add(&root, &logged);
    assert_eq!(events(&collection, None), logged);
    assert_eq!(events(&collection, Some(dates[0].parse().unwrap())), logged[..2]);
}

#[test]
fn writers_do_not_mix_their_lines() {
    let world = World::with_collection();
    let root = world.path("archive");
    world.write("a.txt", "alpha");
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                for _ in 0..5 {
                    world.run("-c archive new a.txt").succeeded();
                }
            });
        }
    });
    let collection = Collection::open(&root, &Watcher::default()).unwrap();
    assert_eq!(events(&collection, None).len(), 20);
    world.run("-c archive verify").succeeded();
}

/// The life of an item, as both collections tell it.
#[test]
fn every_change_leaves_a_line() {
    let world = World::with_collection();
    world.run("init mirror --host mirror.example.org").succeeded();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt").line();
    for line in [
        "-c archive copy ITEM --to mirror",
        "-c archive delete ITEM --reason bored --with mirror",
        "-c archive restore ITEM",
        "-c archive migrate ITEM --to mirror --leave-copy",
    ] {
        world.run(&line.replace("ITEM", &name)).succeeded();
    }
    world.write(&format!("archive/{name}/doc/a.txt"), "gamma");
    world.run(&format!("-c archive repair {name} --from mirror")).succeeded();
    world.run("-c archive purge -y").succeeded();
    let told = |root: &str| -> Vec<String> {
        let ran = world.run(&format!("-c {root} log {name} --json"));
        let words = |line: &str| {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!((&event["type"], &event["id"]), (&"event".into(), &name.as_str().into()));
            event["event"].as_str().unwrap().to_owned()
        };
        let (events, summary) = ran.succeeded().trim_end().rsplit_once('\n').unwrap();
        assert!(summary.contains("\"summary\""), "{summary}");
        events.lines().map(words).collect()
    };
    let here = ["ingestion", "deletion", "recovery", "transfer", "recovery", "purge"];
    assert_eq!(told("archive"), here);
    assert_eq!(told("mirror"), ["replication", "transfer"]);
    let moved = world.run(&format!("-c mirror log {name}")).succeeded().to_owned();
    assert!(moved.contains("\tmigrate from archive to mirror by "), "{moved}");
    let lines = world.run("-c archive log").succeeded().to_owned();
    let who = std::process::Command::new("id").arg("-un").output().unwrap().stdout;
    let who = String::from_utf8(who).unwrap();
    assert!(lines.contains(&format!("\tnew by {} on ", who.trim())), "{lines}");
    assert!(
        lines.lines().any(|line| line.contains("\tpurge\t") && line.contains(" freed")),
        "{lines}"
    );
    assert!(lines.contains("deletion") && lines.contains("(bored)"), "{lines}");
    assert_eq!(world.run("-c archive log --since 2999-01-01").stderr, "no matching events\n");
}

/// What an older program wrote is told as it is.
#[test]
fn lines_without_a_user_are_read() {
    let world = World::with_collection();
    let name = "example.org/archive/2026/11.21.02.13";
    let line = format!(
        r#"{{"date":"2026-11-21T02:13:00Z","event":"transfer","id":"{name}","to":"0123456789abcdef","#
    ) + r#""command":"urepo migrate","machine":"vault","process":7}"#;
    add_lines(&world.path("archive"), &[line]);
    let expected =
        format!("2026-11-21T02:13:00Z\ttransfer\t{name}\tmigrate to 01234567 on vault\n");
    // It is not here any more, and its log knows where it went.
    assert_eq!(world.run("-c archive log 11.21.02.13").succeeded(), expected);
    assert_eq!(world.run("-c archive log 11.21.02.14").code, 21);
}

/// One line, such as a hole that a power cut left, does not hide the others.
#[test]
fn a_line_that_is_too_long_is_passed_over_and_told() {
    let world = World::with_collection();
    let root = world.path("archive");
    let collection = Collection::open(&root, &Watcher::default()).unwrap();
    world.write("a.txt", "alpha");
    world.run("-c archive new a.txt").succeeded();
    let first = events(&collection, None);
    let whole = fs::read(ledger_file(&root)).unwrap();
    // Of just the longest length, longer, and of several times that length.
    for length in [1 << 20, (1 << 20) + 1, 3 << 20] {
        let mut damaged = whole.clone();
        damaged.resize(whole.len() + length, 0);
        damaged.push(b'\n');
        fs::write(ledger_file(&root), damaged).unwrap();
        world.run("-c archive new a.txt").succeeded();
        let found = events(&collection, None);
        assert_eq!((found.len(), &found[..1]), (2, &first[..]), "{length}");
        let ran = world.run("-c archive log");
        assert_eq!(ran.succeeded().lines().count(), 2);
        assert!(ran.stderr.starts_with("warning: passed over "), "{}", ran.stderr);
    }
}

/// A file that a mended item shares with what was replaced is not freed by the purge.
#[test]
fn a_purge_counts_what_is_freed() {
    let world = World::with_collection();
    world.write("a/shared.bin", vec![7; 1_000_000]);
    world.write("a/own.bin", vec![9; 100_000]);
    let name = world.run("-c archive new a").line();
    world.run("init mirror --host mirror.example.org").succeeded();
    world.run(&format!("-c archive copy {name} --to mirror")).succeeded();
    world.write(&format!("archive/{name}/doc/own.bin"), vec![8; 100_000]);
    world.run(&format!("-c archive repair {name} --from mirror")).succeeded();
    let ran = world.run("-c archive purge -y --json");
    let last = ran.succeeded().lines().last().unwrap().to_owned();
    let summary: serde_json::Value = serde_json::from_str(&last).unwrap();
    assert!(summary["counts"]["bytes"].as_u64().unwrap() > 1_100_000, "{summary}");
    let freed = summary["counts"]["freed"].as_u64().unwrap();
    assert!((100_000..500_000).contains(&freed), "{freed}");
}

/// Details have a line of their own on a terminal, and the same line as the rest in a pipe.
#[test]
fn a_terminal_has_room_for_details() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt").line();
    world.run(&format!("-c archive meta set {name} title=Letter x.box=2")).succeeded();
    let line = ["-c", "archive", "delete", "--force", "last", "--reason", "deposited twice", &name];
    world.run_args(line).succeeded();
    let shown = |line: &str, columns| {
        let (mut own, programs) = wide_terminal(columns)?;
        let mut command = world.command(line.split(' '));
        let mut child = command.stdout(programs).spawn().unwrap();
        drop(command);
        let mut shown = Vec::new();
        // A terminal that nobody writes to any more ends with an error.
        let _ = own.read_to_end(&mut shown);
        assert!(child.wait().unwrap().success());
        Some(screen(columns.into(), &String::from_utf8(shown).unwrap().replace('\n', "\r\n")))
    };
    let Some(shown) = shown("-c archive log", 100) else { return };
    assert!(shown[0].ends_with(&format!("  ingestion  {name}")), "{shown:?}");
    assert!(shown[1].starts_with("  new by "), "{shown:?}");
    let changes = "  meta: title: \"a.txt\" -> \"Letter\", x.box: nothing -> \"2\" by ";
    assert!(shown[3].starts_with(changes), "{shown:?}");
    assert!(shown[5].starts_with("  delete (deposited twice) by "), "{shown:?}");
    let lines = world.run("-c archive log").stdout;
    assert!(lines.contains(&format!("\t{name}\t{}", changes.trim_start())), "{lines}");
}

#[test]
fn a_line_that_is_no_event_is_told_of() {
    let world = World::with_collection();
    world.write("a.txt", "a");
    world.run("-c archive new a.txt").succeeded();
    let ledger = ledger_file(&world.path("archive"));
    append(&ledger, "garbage\n");
    let ran = world.run("-c archive log");
    assert_eq!(ran.succeeded().lines().count(), 1);
    let told = "warning: passed over 1 line of the log: damaged, or of a later version\n";
    assert_eq!(ran.stderr, told);
    // One that is just being written.
    append(&ledger, "{\"date\":");
    assert_eq!(world.run("-c archive log").stderr, told);
}

/// Identifiers without items are in no other record.
#[test]
fn what_is_minted_is_an_event() {
    let world = World::with_collection();
    let minted = world.run("-c archive mint --count 3").succeeded().to_owned();
    let last = minted.lines().last().unwrap();
    let collection = Collection::open(&world.path("archive"), &Watcher::default()).unwrap();
    let [event] = &events(&collection, None)[..] else { panic!("one for each batch") };
    assert_eq!((event.event, event.id.as_str()), (EventKind::Mint, last));
    assert_eq!(event.note.as_deref(), Some("and 2 before it"));
    assert_eq!(world.run(&format!("-c archive show {last}")).code, 21);
    world.run("-c archive verify").succeeded();
}

/// Whoever writes first adds the line that a killed run had not written.
#[test]
fn minting_completes_the_lines_of_a_killed_run() {
    let world = World::with_collection();
    world.write("a.txt", "a");
    let name = world.run("-c archive new a.txt").line();
    let root = world.path("archive");
    crate::support::forget(&root, &name);
    world.write("archive/.urepo/staging/4194303-dead/names", format!("{name}\n"));
    world.run("-c archive mint").line();
    let told = world.run(&format!("-c archive log {name}"));
    assert!(told.succeeded().contains("registration"), "{}", told.stdout);
    assert_eq!(crate::support::staged(&root), [""; 0]);
}
