//! Items above their lines: the line of the last change is missing, or they were copied in by hand.

use urepo::collection::{Actual, Collection, Corrected, Deviation, Event, EventKind, recover};
use urepo::custody::{Custody, CustodyId};
use urepo::disk::Watcher;
use urepo::identity::RepositoryName;
use urepo::sidecar::Sidecar;
use urepo::verify::Code;

use crate::support::{TestClock, World, agent, forget_head, ledger_lines, waiter, write_ledger};

/// An archive whose item was entitled, and whose ledger does not know.
fn unlogged() -> (World, RepositoryName) {
    let world = World::with_collection();
    world.write("a.txt", "a");
    let name = world.run("-c archive new a.txt --title=").line();
    let root = world.path("archive");
    let lines = ledger_lines(&root);
    world.run(&format!("-c archive meta set {name} title=Letter")).succeeded();
    write_ledger(&root, &lines);
    forget_head(&root);
    (world, name.parse().unwrap())
}

fn open(world: &World) -> Collection {
    Collection::open(&world.path("archive"), &Watcher::default()).unwrap()
}

/// The kinds of the last lines.
fn kinds(world: &World) -> Vec<EventKind> {
    let event = |line: &String| serde_json::from_str::<Event>(line).unwrap().event;
    ledger_lines(&world.path("archive")).iter().map(event).collect()
}

#[test]
fn verification_warns_and_recovery_adds_the_line() {
    let (world, name) = unlogged();
    let ran = world.run("-c archive verify");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.ends_with(&format!("\tU{}\n", Code::Unrecorded as u16)), "{}", ran.stdout);
    assert!(ran.stdout.contains(name.as_str()), "{}", ran.stdout);
    let ran = world.run("-c archive recover");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let closing = "recorded 1 item, whose lines the ledger lacked\n";
    assert!(
        ran.stderr.contains(closing) && !ran.stderr.contains("nothing to do"),
        "{}",
        ran.stderr
    );
    assert_eq!(kinds(&world), [EventKind::Ingestion, EventKind::Found]);
    let found = open(&world).last_record(&name).unwrap().unwrap();
    assert!(found.changes.is_empty());
    assert_eq!(world.run("-c archive verify").stdout, "");
}

#[test]
fn the_next_change_of_the_item_adds_the_line_of_the_one_before() {
    let (world, name) = unlogged();
    world.run(&format!("-c archive meta set {name} title=Card")).succeeded();
    assert_eq!(kinds(&world), [EventKind::Ingestion, EventKind::Found, EventKind::Description]);
    let (world, name) = unlogged();
    world.run(&format!("-c archive delete {name} --force last --yes")).succeeded();
    assert_eq!(kinds(&world), [EventKind::Ingestion, EventKind::Found, EventKind::Deletion]);
}

/// A run at work has replaced the sidecar, and is about to write the line.
#[test]
fn what_a_run_at_work_has_announced_is_no_finding() {
    let (world, name) = unlogged();
    let (collection, clock) = (open(&world), TestClock::at("2027-01-01T00:00:00Z"));
    let writer = collection.writer(&agent(), &waiter(&clock)).unwrap();
    let note = writer.stage_path().join("names");
    std::fs::write(&note, format!("{name}\n")).unwrap();
    assert!(collection.deviation(&name).unwrap().is_none());
    std::fs::remove_file(note).unwrap();
    let deviation = collection.deviation(&name).unwrap();
    assert!(matches!(deviation, Some(Deviation::Above(it)) if it.is_continued));
}

/// A person decides about an item under a high epoch that does not follow its line.
#[test]
fn what_was_copied_in_by_hand_is_recorded_by_a_person() {
    let world = World::with_collection();
    world.write("a.txt", "a");
    let name = world.run("-c archive new a.txt --title=").line();
    let root = world.path("archive");
    let own = open(&world).id().to_owned();
    let path = root.join(&name).join("item.toml");
    let (mut sidecar, _) = Sidecar::read(&std::fs::read(&path).unwrap()).unwrap();
    let id = CustodyId::from(*b"stranger");
    sidecar.custody = Custody::read(7, id, Vec::new(), own, None).unwrap();
    std::fs::write(&path, sidecar.to_text()).unwrap();
    let ran = world.run("-c archive verify");
    assert!(ran.stdout.starts_with("warning\t"), "{}", ran.stdout);
    for change in ["meta set ITEM title=Mine", "delete ITEM --force last --yes"] {
        let ran = world.run(&format!("-c archive {}", change.replace("ITEM", &name)));
        assert_eq!(ran.code, 23, "{}", ran.stderr);
    }
    let (collection, clock) = (open(&world), TestClock::at("2027-01-01T00:00:00Z"));
    let recovered = recover(&collection, &agent(), &waiter(&clock)).unwrap();
    assert!(matches!(&recovered.foreign[..], [it] if matches!(it.is, Actual::Foreign { .. })));
    assert_eq!(kinds(&world), [EventKind::Ingestion]);
    let ran = world.run("-c archive recover");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(
        ran.stderr.contains(&format!("to be taken in: {name}, from Original of ")),
        "{}",
        ran.stderr
    );
    assert_eq!(kinds(&world), [EventKind::Ingestion]);
    world.run("-c archive recover --yes").succeeded();
    assert_eq!(kinds(&world), [EventKind::Ingestion, EventKind::Found]);
    assert_eq!(world.run("-c archive verify").stdout, "");
    world.run(&format!("-c archive meta set {name} title=Mine")).succeeded();
    assert_eq!(open(&world).ledger_corrections().unwrap(), Corrected::default());
}
