//! The collection knows what it should hold, whatever becomes of its files.

mod correcting;
mod meanwhile;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;
use urepo::collection::{Certainty, Collection, Discrepancy, InventoryChange, Names};
use urepo::disk::Watcher;
use urepo::identity::RepositoryName;
use urepo::item::State;

use crate::own::listening;
use crate::support::{
    Faults, Mode, TestClock, agent, append, deposit, inventory_file, inventory_line,
    make_collection, options, request, scratch, waiter,
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
        let collection = make_collection(&root);
        let source = scratch.path().join("a.txt");
        std::fs::write(&source, "a").unwrap();
        let mut names = Vec::new();
        for minute in MINUTES {
            let clock = TestClock::at(minute);
            deposit(&collection, vec![request(&source)], options(), &clock, |outcome| {
                names.push(outcome.result.as_ref().unwrap().label.name.clone());
            })
            .unwrap();
        }
        World { _scratch: scratch, root, names }
    }

    fn collection(&self) -> Collection {
        Collection::open(&self.root, &Watcher::default()).unwrap()
    }

    fn inventory(&self) -> PathBuf {
        self.root.join(".urepo/inventory")
    }

    fn item(&self, at: usize) -> PathBuf {
        self.root.join(self.names[at].as_str())
    }
}

/// What does not agree: items that are gone, for certain or perhaps, items that are not recorded, rotten
/// lines.
#[derive(Debug, Default, PartialEq)]
struct Told {
    missing: Vec<(RepositoryName, Option<State>)>,
    unrecorded: Vec<RepositoryName>,
    returned: Vec<RepositoryName>,
    doubtful: Vec<RepositoryName>,
    rotten: u64,
    is_lost: bool,
}

fn told(root: &Path) -> Told {
    let collection = Collection::open(root, &Watcher::default()).unwrap();
    let mut told = Told::default();
    let flow = collection.visit_discrepancies(&Names::default(), |found| {
        match found {
            Discrepancy::NoInventory => told.is_lost = true,
            Discrepancy::Rotten(_, lines) => told.rotten += lines,
            Discrepancy::Missing(name, state, Certainty::Certain) => {
                told.missing.push((name, state));
            }
            Discrepancy::Missing(name, _, Certainty::Doubtful) => told.doubtful.push(name),
            Discrepancy::OtherState(..) => panic!("states are not compared here"),
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
pub(crate) fn check_inventory(root: &Path, names: &[RepositoryName], context: &str) {
    let told = told(root);
    assert_eq!((told.missing, told.doubtful), (vec![], vec![]), "{context}");
    assert_eq!((told.rotten, told.is_lost), (0, false), "{context}");
    for name in names {
        assert!(!told.unrecorded.contains(name), "{name} is not recorded: {context}");
    }
}

#[test]
fn what_is_there_is_recorded() {
    let world = World::new();
    check_inventory(&world.root, &world.names, "");
    let line = world.collection().last_record(&world.names[0]).unwrap().unwrap().line;
    assert_eq!(line.state(), Some(State::Original));
    let text = std::fs::read_to_string(world.inventory().join("example.org+archive+2027")).unwrap();
    assert!(text.starts_with("2027-01-01T00:00:0"), "{text}");
    assert!(text.contains(&format!(" entered {} Original ", world.names[3])), "{text}");
}

/// A collection that stays open hears of what is added, and of what takes the place of the file.
#[test]
fn the_last_line_counts_whenever_it_was_written() {
    let world = World::new();
    let (collection, name) = (world.collection(), &world.names[0]);
    let state = || collection.last_record(name).unwrap().unwrap().line.state();
    assert_eq!(state(), Some(State::Original));
    let file = inventory_file(&world.root, name.as_str());
    let before = std::fs::read_to_string(&file).unwrap();
    let became = inventory_line("2026-11-23T10:00:00Z", &format!("became {name} Copy"));
    append(&file, &became[..9]);
    assert_eq!(state(), Some(State::Original), "nobody relies on half a line");
    append(&file, &became[9..]);
    assert_eq!(state(), Some(State::Copy));
    assert_eq!(collection.last_record(&world.names[1]).unwrap().unwrap().line.name, world.names[1]);
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, before).unwrap();
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
        assert!(errors > 10 && partial > 4, "{errno:?}: {errors} errors, {partial} of one year");
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
    std::fs::remove_dir_all(world.inventory()).unwrap();
    std::fs::create_dir(world.inventory()).unwrap();
    assert_eq!(told(&world.root).unrecorded.len(), 4);
    let clock = TestClock::at("2027-01-02T00:00:00Z");
    let collection = world.collection();
    let writer = collection.writer(&agent(), &waiter(&clock)).unwrap();
    assert_eq!(told(&world.root).unrecorded, []);
    writer.finish().unwrap();
}

/// The next writer builds what is lost, with the states that the sidecars say.
#[test]
fn a_lost_inventory_is_built_from_what_is_there() {
    let world = World::new();
    std::fs::remove_dir_all(world.inventory()).unwrap();
    assert_eq!(told(&world.root), Told { is_lost: true, ..Told::default() });
    let clock = TestClock::at("2027-01-02T00:00:00Z");
    let (collection, heard) = listening(world.collection());
    let change = || collection.writer(&agent(), &waiter(&clock)).unwrap().finish().unwrap();
    change();
    assert_eq!(heard.lock().unwrap()[0].inventory.as_ref().unwrap().items, 4);
    check_inventory(&world.root, &world.names, "");
    let line = collection.last_record(&world.names[2]).unwrap().unwrap().line;
    assert!(matches!(line.change, InventoryChange::Found(Some(_))));
    assert_eq!(line.state(), Some(State::Original));
    change();
    assert_eq!(heard.lock().unwrap().len(), 1);
}

/// Whatever bit rots, and wherever a file ends: no item is missing that is there, and none that is gone
/// goes unnoticed unless the damage is reported.
#[test]
fn no_rot_is_believed() {
    let world = World::new();
    let file = world.inventory().join("example.org+archive+2026");
    let whole = std::fs::read(&file).unwrap();
    let kept = world.item(1);
    let aside = world.root.join("aside");
    for at in 0..whole.len() {
        let mut rotten = whole.clone();
        rotten[at] ^= 1 << (at % 8);
        std::fs::write(&file, &rotten).unwrap();
        let found = told(&world.root);
        assert_eq!(found.missing, [], "{at}");
        let is_noticed = |found: &Told| found.rotten > 0 || rotten.last() != Some(&b'\n');
        assert!(is_noticed(&found), "{at}");
        std::fs::rename(&kept, &aside).unwrap();
        let found = told(&world.root);
        assert!(is_noticed(&found) || !found.missing.is_empty(), "{at}");
        std::fs::rename(&aside, &kept).unwrap();
    }
    for length in 0..whole.len() {
        std::fs::write(&file, &whole[..length]).unwrap();
        let found = told(&world.root);
        assert_eq!((found.missing, found.rotten), (vec![], 0), "{length}");
    }
}

/// A damaged line may have said that an item left: such an item is not called vanished.
#[test]
fn a_departure_that_cannot_be_read_is_no_proof_of_a_loss() {
    let world = World::new();
    let file = world.inventory().join("example.org+archive+2026");
    let before = std::fs::metadata(&file).unwrap().len();
    let name = &world.names[0];
    let line = inventory_line("2026-11-23T10:00:00Z", &format!("left {name} lost"));
    append(&file, &line);
    std::fs::remove_dir_all(world.item(0)).unwrap();
    assert_eq!(told(&world.root), Told::default());
    let whole = std::fs::read(&file).unwrap();
    for at in usize::try_from(before).unwrap()..whole.len() {
        let mut rotten = whole.clone();
        rotten[at] ^= 1 << (at % 8);
        std::fs::write(&file, &rotten).unwrap();
        let doubtful = Told { doubtful: vec![name.clone()], rotten: 1, ..Told::default() };
        // Of the last byte only the end of the line is lost.
        let expected = if at + 1 < whole.len() { doubtful } else { Told::default() };
        assert_eq!(told(&world.root), expected, "{at}");
    }
    // The damage is older than what is known of the others.
    let mut rotten = whole.clone();
    rotten[0] ^= 1;
    std::fs::write(&file, &rotten).unwrap();
    std::fs::remove_dir_all(world.item(1)).unwrap();
    let gone = vec![(world.names[1].clone(), Some(State::Original))];
    assert_eq!(told(&world.root), Told { missing: gone, rotten: 1, ..Told::default() });
}

/// A line that a power cut left without an end does not spoil the next one.
#[test]
fn a_torn_line_is_passed_over() {
    let world = World::new();
    let file = world.inventory().join("example.org+archive+2026");
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, &whole[..whole.len() - 9]).unwrap();
    assert_eq!(told(&world.root).unrecorded, [world.names[2].clone()]);
    let (source, clock) =
        (world.root.with_file_name("a.txt"), TestClock::at("2026-11-21T02:16:00Z"));
    deposit(&world.collection(), vec![request(source)], options(), &clock, |_| ()).unwrap();
    let found = told(&world.root);
    assert_eq!(found, Told { unrecorded: vec![world.names[2].clone()], ..Told::default() });
}
