//! The event log: what happened to which item, from whom, and when.

use std::fs;

use urepo::collection::{Collection, Event, EventKind};
use urepo::disk::{PathError, Watcher};
use urepo::identity::{Instant, RepositoryName};

use crate::support::{World, agent, make_collection, scratch};

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

#[test]
fn what_is_logged_is_read_in_order_of_months() {
    let scratch = scratch();
    let collection = make_collection(&scratch.path().join("archive"));
    let dates = ["2026-11-30T23:59:59Z", "2026-12-01T00:00:00Z", "10000-01-01T00:00:00Z"];
    let logged = dates.map(event);
    collection.log(&logged[1..]).unwrap();
    collection.log(&logged[..1]).unwrap();
    assert_eq!(events(&collection, None), logged);
    assert_eq!(events(&collection, Some(dates[1].parse().unwrap())), logged[1..]);
    assert_eq!(fs::read_dir(scratch.path().join("archive/.urepo/log")).unwrap().count(), 3);
}

#[test]
fn a_torn_line_is_passed_over_and_spoils_no_other() {
    let scratch = scratch();
    let collection = make_collection(&scratch.path().join("archive"));
    let [first, second] = ["2026-11-21T02:13:00Z", "2026-11-21T02:14:00Z"].map(event);
    collection.log(std::slice::from_ref(&first)).unwrap();
    let file = scratch.path().join("archive/.urepo/log/2026-11.jsonl");
    let whole = fs::read(&file).unwrap();
    for length in 1..whole.len() {
        let mut bytes = whole.clone();
        bytes.extend_from_slice(&whole[..length]);
        fs::write(&file, bytes).unwrap();
        collection.log(std::slice::from_ref(&second)).unwrap();
        let found = events(&collection, None);
        assert_eq!((found.first(), found.last()), (Some(&first), Some(&second)), "{length}");
    }
}

#[test]
fn writers_do_not_mix_their_lines() {
    let scratch = scratch();
    let root = scratch.path().join("archive");
    make_collection(&root);
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                let collection = Collection::open(&root, &Watcher::default()).unwrap();
                for _ in 0..100 {
                    collection.log(&[event("2026-11-21T02:13:00Z")]).unwrap();
                }
            });
        }
    });
    let collection = Collection::open(&root, &Watcher::default()).unwrap();
    assert_eq!(events(&collection, None).len(), 400);
}

#[test]
fn a_log_that_can_not_be_written_fails_no_deposit() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    world.write("archive/.urepo/log", "in the way");
    world.run("-c archive new a.txt").succeeded();
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
        "-c archive delete --revive ITEM",
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
            assert_eq!(event["outcome"], "success");
            event["event"].as_str().unwrap().to_owned()
        };
        ran.succeeded().lines().map(words).collect()
    };
    let here = ["ingestion", "deletion", "recovery", "transfer", "recovery", "deletion"];
    assert_eq!(told("archive"), here);
    assert_eq!(told("mirror"), ["replication", "transfer"]);
    let lines = world.run("-c archive log").succeeded().to_owned();
    assert!(lines.contains("deletion") && lines.contains("(bored)"), "{lines}");
    assert_eq!(world.run("-c archive log --since 2999-01-01").stderr, "no such event\n");
}
