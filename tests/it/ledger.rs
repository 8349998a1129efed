//! The collection knows what it should hold, whatever becomes of its files.

mod correcting;
mod unlogged;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;
use urepo::collection::{Collection, Discrepancy, EventKind, Names};
use urepo::disk::{Operation, Watcher};
use urepo::distributor::HostState;
use urepo::identity::RepositoryName;
use urepo::item::State;

use crate::own::listening;
use crate::support::{
    Faults, Mode, TestClock, add_lines, agent, deposit, ledger_file, ledger_line, ledger_lines,
    make_collection, on, options, request, scratch, waiter, write_ledger,
};

const MINUTES: [&str; 4] = [
    "2026-11-21T02:13:00Z",
    "2026-11-21T02:14:00Z",
    "2026-11-21T02:15:00Z",
    "2027-01-01T00:00:00Z",
];

/// A collection with an item of each minute.
struct World {
    _scratch: tempfile::TempDir,
    root: PathBuf,
    names: Vec<RepositoryName>,
}

impl World {
    fn new() -> World {
        let scratch = scratch();
        let root = scratch.path().join("archive");
        make_collection(&root);
        std::fs::write(scratch.path().join("a.txt"), "a").unwrap();
        let mut world = World { _scratch: scratch, root, names: Vec::new() };
        for minute in MINUTES {
            let name = world.deposit(minute);
            world.names.push(name);
        }
        world
    }

    fn deposit(&self, minute: &str) -> RepositoryName {
        let (source, clock) = (self.root.with_file_name("a.txt"), TestClock::at(minute));
        let mut name = None;
        deposit(&self.collection(), vec![request(&source)], options(), &clock, |outcome| {
            name = Some(outcome.result.as_ref().unwrap().label.name.clone());
        })
        .unwrap();
        name.unwrap()
    }

    fn collection(&self) -> Collection {
        Collection::open(&self.root, &Watcher::default()).unwrap()
    }

    fn ledger(&self) -> PathBuf {
        self.root.join(".urepo/ledger")
    }

    fn item(&self, at: usize) -> PathBuf {
        self.root.join(self.names[at].as_str())
    }
}

/// What does not agree.
#[derive(Debug, Default, PartialEq)]
struct Told {
    missing: Vec<(RepositoryName, Option<State>)>,
    unrecorded: Vec<RepositoryName>,
    returned: Vec<RepositoryName>,
    damaged: u64,
    accepted: u64,
    is_lost: bool,
    is_put_back: bool,
}

fn told(root: &Path) -> Told {
    told_by(&Collection::open(root, &Watcher::default()).unwrap())
}

fn told_by(collection: &Collection) -> Told {
    let mut told = Told::default();
    let flow = collection.visit_discrepancies(&Names::default(), |found| {
        match found {
            Discrepancy::NoteFault(fault) => panic!("{fault:?}"),
            Discrepancy::NoLedger => told.is_lost = true,
            Discrepancy::PutBack => told.is_put_back = true,
            Discrepancy::Broken { damaged, is_accepted: true } => told.accepted = damaged,
            Discrepancy::Broken { damaged, .. } => told.damaged = damaged,
            Discrepancy::Missing(name, state) => told.missing.push((name, state)),
            Discrepancy::OtherState(..) | Discrepancy::Unlogged(..) => {
                panic!("states are not compared here")
            }
            Discrepancy::Unrecorded(names) => told.unrecorded.extend(names),
            Discrepancy::Returned(name, _) => told.returned.push(name),
        }
        ControlFlow::Continue(())
    });
    assert!(flow.unwrap().is_continue());
    told
}

/// The items that vanished.
pub(crate) fn missing(root: &Path) -> Vec<RepositoryName> {
    told(root).missing.into_iter().map(|(name, _)| name).collect()
}

/// No item looks missing that is not, and every one of `names` is recorded, if it is there.
pub(crate) fn check_ledger(root: &Path, names: &[RepositoryName], context: &str) {
    let told = told(root);
    assert_eq!(told.missing, [], "{context}");
    assert_eq!((told.damaged, told.is_lost), (0, false), "{context}");
    for name in names {
        assert!(!told.unrecorded.contains(name), "{name} is not recorded: {context}");
    }
}

#[test]
fn what_is_there_is_recorded() {
    let world = World::new();
    check_ledger(&world.root, &world.names, "");
    let line = world.collection().last_record(&world.names[0]).unwrap().unwrap();
    assert_eq!((line.state(), line.event), (Some(State::Original), EventKind::Ingestion));
    let lines = ledger_lines(&world.root);
    assert_eq!(lines.len(), 4);
    let line: serde_json::Value = serde_json::from_str(&lines[3]).unwrap();
    assert_eq!(line["id"], world.names[3].as_str());
    assert_eq!(line["holding"]["holder"], world.collection().id());
}

/// The sums are those of `docs/format.md`: the support of these tests computes them on its own.
#[test]
fn lines_written_by_others_are_followed() {
    let world = World::new();
    write_ledger(&world.root, &ledger_lines(&world.root));
    assert_eq!(told(&world.root), Told::default());
    let before = std::fs::read(ledger_file(&world.root)).unwrap();
    world.deposit("2027-01-02T00:00:00Z");
    let after = std::fs::read(ledger_file(&world.root)).unwrap();
    assert!(after.starts_with(&before) && after.len() > before.len());
    assert_eq!(told(&world.root), Told::default());
}

/// A collection that stays open hears of what is added, and of what takes the place of the file.
#[test]
fn the_last_line_counts_whenever_it_was_written() {
    let world = World::new();
    let (collection, name) = (world.collection(), &world.names[0]);
    let state = || collection.last_record(name).unwrap().unwrap().state();
    assert_eq!(state(), Some(State::Original));
    let before = std::fs::read(ledger_file(&world.root)).unwrap();
    add_lines(&world.root, &[ledger_line("modification", name.as_str(), Some("Copy"))]);
    let after = std::fs::read(ledger_file(&world.root)).unwrap();
    std::fs::write(ledger_file(&world.root), &after[..before.len() + 9]).unwrap();
    assert_eq!(state(), Some(State::Original), "nobody relies on half a line");
    std::fs::write(ledger_file(&world.root), &after).unwrap();
    assert_eq!(state(), Some(State::Copy));
    assert_eq!(collection.last_record(&world.names[1]).unwrap().unwrap().id, world.names[1]);
    std::fs::write(ledger_file(&world.root), &before).unwrap();
    assert_eq!(state(), Some(State::Original));
}

#[test]
fn what_was_removed_by_hand_is_missing() {
    let world = World::new();
    std::fs::remove_dir_all(world.item(1)).unwrap();
    std::fs::remove_dir_all(world.item(3).parent().unwrap()).unwrap();
    let gone = |at: usize| (world.names[at].clone(), Some(State::Original));
    assert_eq!(told(&world.root).missing, [gone(1), gone(3)]);
    std::fs::remove_dir_all(world.root.join("example.org")).unwrap();
    assert_eq!(told(&world.root).missing.len(), 4);
}

/// An error that passes, as on a network file system, hides no loss, and that of one year no loss of another.
#[test]
fn an_error_is_not_taken_for_an_item_that_is_there() {
    let world = World::new();
    let gone = [&world.names[0], &world.names[3]];
    for name in gone {
        std::fs::remove_dir_all(world.root.join(name.as_str())).unwrap();
    }
    for errno in [Errno::IO, Errno::STALE, Errno::MFILE] {
        let (mut errors, mut partial) = (0, 0);
        for at in 1.. {
            let faults = Arc::new(Faults::new(&world.root, at, Mode::Once(errno)));
            let watcher = Watcher::new(Arc::clone(&faults) as _);
            let Ok(collection) = Collection::open(&world.root, &watcher) else { continue };
            let mut missing = Vec::new();
            let visited = collection.visit_discrepancies(&Names::default(), |found| {
                if let Discrepancy::Missing(name, ..) = found {
                    missing.push(name);
                }
                ControlFlow::Continue(())
            });
            let Some(struck) = faults.struck() else { break };
            errors += usize::from(visited.is_err());
            partial += usize::from(visited.is_err() && missing.len() == 1);
            let is_whole = missing.iter().eq(gone);
            assert!(visited.is_err() || is_whole, "{errno:?} at {struck:?}: {missing:?}");
        }
        assert!(errors > 10 && partial > 1, "{errno:?}: {errors} errors, {partial} of one year");
    }
}

#[test]
fn what_was_put_there_by_hand_is_not_recorded() {
    let world = World::new();
    let by_hand = world.item(0).with_file_name("11.20.00.00");
    std::fs::create_dir(&by_hand).unwrap();
    assert_eq!(told(&world.root), Told::default(), "nothing without a sidecar is an item");
    std::fs::copy(world.item(0).join("item.toml"), by_hand.join("item.toml")).unwrap();
    let name = "example.org/archive/2026/11.20.00.00".parse().unwrap();
    assert_eq!(told(&world.root), Told { unrecorded: vec![name], ..Told::default() });
}

#[test]
fn what_another_writes_now_is_not_reported() {
    let world = World::new();
    write_ledger(&world.root, &[]);
    assert_eq!(told(&world.root).unrecorded.len(), 4);
    let clock = TestClock::at("2027-01-02T00:00:00Z");
    let collection = world.collection();
    let writer = collection.writer(&agent(), &waiter(&clock)).unwrap();
    assert_eq!(told(&world.root).unrecorded, []);
    writer.finish().unwrap();
}

/// A loss that a person accepts when the comparison has seen that no process writes.
#[test]
fn what_begins_to_leave_meanwhile_has_not_returned() {
    let world = World::new();
    let (root, name) = (world.root.clone(), world.names[0].clone());
    write_ledger(&root, &ledger_lines(&root)[1..]);
    let staging = root.join(".urepo/staging");
    let (begun, others) = (std::sync::atomic::AtomicBool::new(false), staging.join("other"));
    let watcher = on(Operation::List, &staging, move || {
        if !begun.swap(true, std::sync::atomic::Ordering::SeqCst) {
            add_lines(&root, &[ledger_line("loss", name.as_str(), None)]);
        } else if !others.exists() {
            std::fs::create_dir(&others)?;
        }
        Ok(())
    });
    let collection = Collection::open(&world.root, &watcher).unwrap();
    let mut returned = Vec::new();
    let flow = collection.visit_discrepancies(&Names::default(), |found| {
        if let Discrepancy::Returned(name, _) = found {
            returned.push(name);
        }
        ControlFlow::Continue(())
    });
    assert!(flow.unwrap().is_continue() && staging.join("other").exists());
    assert_eq!(returned, []);
    std::fs::remove_dir(staging.join("other")).unwrap();
    assert_eq!(told(&world.root).returned, [world.names[0].clone()]);
}

/// The next writer builds what is lost, with the states that the sidecars say; a directory without a file is no ledger.
#[test]
fn a_lost_ledger_is_built_from_what_is_there() {
    for is_emptied in [false, true] {
        let world = World::new();
        std::fs::remove_dir_all(world.ledger()).unwrap();
        if is_emptied {
            std::fs::create_dir(world.ledger()).unwrap();
        }
        assert_eq!(told(&world.root), Told { is_lost: true, ..Told::default() });
        let clock = TestClock::at("2027-01-02T00:00:00Z");
        let (collection, heard) = listening(world.collection());
        let change = || collection.writer(&agent(), &waiter(&clock)).unwrap().finish().unwrap();
        change();
        assert_eq!(heard.lock().unwrap()[0].ledger.as_ref().unwrap().items, 4);
        check_ledger(&world.root, &world.names, "");
        let line = collection.last_record(&world.names[2]).unwrap().unwrap();
        assert_eq!((line.event, line.state()), (EventKind::Registration, Some(State::Original)));
        change();
        assert_eq!(heard.lock().unwrap().len(), 1);
    }
}

/// Whatever bit rots, no item looks missing that is there, the damage is reported, and nothing rotten is believed.
#[test]
fn no_rot_is_believed() {
    let world = World::new();
    add_lines(
        &world.root,
        &[ledger_line("modification", world.names[0].as_str(), Some("Deleted"))],
    );
    let file = ledger_file(&world.root);
    let whole = std::fs::read(&file).unwrap();
    let states = |root: &Path| {
        let collection = Collection::open(root, &Watcher::default()).unwrap();
        let record = |name| collection.last_record(name).unwrap().map(|line| line.holding);
        let states: Vec<_> = world.names.iter().map(record).collect();
        // The first item is scanned for, and a second one makes a replay of all.
        assert_eq!(record(&world.names[0]), states[0]);
        states
    };
    let known = states(&world.root);
    for at in 0..whole.len() {
        let mut rotten = whole.clone();
        rotten[at] ^= 1 << (at % 8);
        std::fs::write(&file, &rotten).unwrap();
        let found = told(&world.root);
        assert_eq!(found.missing, [], "{at}");
        // Without its end, the last line is one that was being written.
        assert!(found.damaged > 0 || at + 1 == whole.len(), "{at}");
        for (number, (state, known)) in states(&world.root).iter().zip(&known).enumerate() {
            // The first item has an earlier line.
            assert!(state.is_none() || number == 0 || state == known, "{at}: {state:?}");
        }
    }
}

/// A line that is taken out, put in, or moved breaks the chain, though each line is whole in itself.
#[test]
fn lines_out_of_order_are_damage() {
    let world = World::new();
    let file = ledger_file(&world.root);
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    assert_eq!(lines.len(), 5);
    for at in 0..4 {
        let without = [&lines[..at], &lines[at + 1..]].concat().concat();
        let twice = [&lines[..=at], &lines[at..]].concat().concat();
        let mut swapped = lines.clone();
        swapped.swap(at, at + 1);
        for changed in [without, twice, swapped.concat()] {
            std::fs::write(&file, changed).unwrap();
            assert!(told(&world.root).damaged > 0, "{at}");
        }
    }
}

/// A file is missing, or is that of another collection.
#[test]
fn files_follow_each_other() {
    let world = World::new();
    let second = world.ledger().join("000002.jsonl");
    std::fs::copy(ledger_file(&world.root), &second).unwrap();
    assert!(told(&world.root).damaged > 0, "it follows nothing");
    std::fs::rename(&second, world.ledger().join("000003.jsonl")).unwrap();
    std::fs::remove_file(ledger_file(&world.root)).unwrap();
    assert_eq!(
        told(&world.root),
        Told::default(),
        "whole in itself, and the first one that is there"
    );
}

/// A line that a power cut left without an end is cut off by the next one.
#[test]
fn a_torn_line_is_cut_off() {
    let world = World::new();
    let file = ledger_file(&world.root);
    let whole = std::fs::read(&file).unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for length in [last + 1, whole.len() - 9, whole.len() - 1] {
        std::fs::write(&file, &whole[..length]).unwrap();
        let lost = Told { unrecorded: vec![world.names[3].clone()], ..Told::default() };
        assert_eq!(told(&world.root), lost, "{length}");
        let name = world.deposit("2027-01-02T00:00:00Z");
        assert_eq!(told(&world.root), lost, "{length}");
        assert!(world.collection().last_record(&name).unwrap().is_some());
        std::fs::remove_dir_all(world.root.join(name.as_str())).unwrap();
    }
}

/// Lines whose sync failed are not relied on: the next ones begin a file that follows the last line before them.
#[test]
fn after_a_failed_sync_a_new_file_begins() {
    let world = World::new();
    let faults = on(Operation::SyncFile, &ledger_file(&world.root), || Err(Errno::IO.into()));
    let collection = Collection::open(&world.root, &faults).unwrap();
    let source = world.root.with_file_name("a.txt");
    let mut results = Vec::new();
    for minute in ["2027-01-02T00:00:00Z", "2027-01-03T00:00:00Z"] {
        let clock = TestClock::at(minute);
        let _ = deposit(&collection, vec![request(&source)], options(), &clock, |outcome| {
            results.push(outcome.result.as_ref().map(|it| it.label.name.clone()).ok());
        });
    }
    assert!(matches!(&results[..], [None, Some(_)]), "{results:?}");
    assert!(world.ledger().join("000002.jsonl").exists());
    // The next writer that is alone records what was published.
    world.deposit("2027-01-04T00:00:00Z");
    assert_eq!(told(&world.root), Told::default());
    assert_eq!(ledger_lines(&world.root).len(), 4);
}

/// A ledger that was put back, shortened or lost is whole in itself: the machine remembers where it wrote last.
#[test]
fn the_machine_remembers_the_head() {
    let world = World::new();
    let host = HostState { dir: Some(world.root.with_file_name("state")) };
    let open = || world.collection().with_host_state(&host);
    let (source, clock) =
        (world.root.with_file_name("a.txt"), TestClock::at("2027-01-02T00:00:00Z"));
    let add = || deposit(&open(), vec![request(&source)], options(), &clock, |_| ()).map(drop);
    assert!(!told_by(&open()).is_put_back, "nothing is remembered of it");
    let before = std::fs::read(ledger_file(&world.root)).unwrap();
    add().unwrap();
    let after = std::fs::read(ledger_file(&world.root)).unwrap();
    assert!(!told_by(&open()).is_put_back);
    // On another machine, or by a user without host state, more may be added.
    world.deposit("2027-01-03T00:00:00Z");
    assert!(!told_by(&open()).is_put_back);
    for shorter in [&before[..], &after[..after.len() - 10]] {
        std::fs::write(ledger_file(&world.root), shorter).unwrap();
        assert!(told_by(&open()).is_put_back);
        assert!(!told(&world.root).is_put_back, "there is nothing to compare with");
        // What is added does not hide it.
        add().unwrap();
        assert!(told_by(&open()).is_put_back);
    }
    open().accept_ledger(&crate::support::agent(), &clock).unwrap();
    assert!(!told_by(&open()).is_put_back);
    std::fs::remove_dir_all(world.ledger()).unwrap();
    let found = told_by(&open());
    assert!(found.is_lost && found.is_put_back);
    // A copy of the collection elsewhere is not this one.
    let copy = world.root.with_file_name("copy");
    crate::support::copy_tree(&world.root, &copy);
    let copied = Collection::open(&copy, &Watcher::default()).unwrap().with_host_state(&host);
    assert!(!told_by(&copied).is_put_back);
}

/// A hole of terabytes is not read to its end.
#[test]
fn a_file_without_lines_is_refused() {
    let world = World::new();
    let file = std::fs::OpenOptions::new().write(true).open(ledger_file(&world.root)).unwrap();
    file.set_len(1 << 40).unwrap();
    let visited =
        world.collection().visit_discrepancies(&Names::default(), |_| ControlFlow::Continue(()));
    assert!(visited.unwrap_err().to_string().contains("000001.jsonl"));
    let (source, clock) =
        (world.root.with_file_name("a.txt"), TestClock::at("2027-01-02T00:00:00Z"));
    let (outcomes, _) =
        deposit(&world.collection(), vec![request(source)], options(), &clock, |_| ()).unwrap();
    assert!(outcomes[0].result.is_err());
}

/// A writer was killed before it had written the header of a new file, or a disk was full.
#[test]
fn a_file_without_its_header_breaks_no_chain() {
    for begun in ["", "{\"collection\":"] {
        let world = World::new();
        for number in [2, 3] {
            std::fs::write(world.ledger().join(format!("{number:06}.jsonl")), begun).unwrap();
            assert_eq!(told(&world.root), Told::default(), "{number}");
        }
        let open = world.collection();
        assert!(open.last_record(&world.names[0]).unwrap().is_some());
        for day in [2, 3] {
            let name = world.deposit(&format!("2027-01-0{day}T00:00:00Z"));
            assert_eq!(told(&world.root), Told::default(), "{day}");
            assert!(open.last_record(&name).unwrap().is_some());
        }
        assert!(open.last_record(&world.names[3]).unwrap().is_some());
        let third = std::fs::read_to_string(world.ledger().join("000003.jsonl")).unwrap();
        assert_eq!(third.lines().count(), 3, "the header, and a line for each");
        assert_eq!(ledger_lines(&world.root).len(), 4);
    }
}
