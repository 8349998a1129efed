//! An error of the file system is no fact about a collection: nothing is concluded from it, and nothing is done.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;
use urepo::collection::{Collection, Names};
use urepo::disk::{Exclusion, Links, Operation, Watcher};
use urepo::identity::RepositoryName;
use urepo::import::{SourceTree, Units};
use urepo::interrupt::Interrupt;
use urepo::progress::NoProgress;
use urepo::relation::{Correction, plan};
use urepo::sidecar::{Relation, RelationKind};
use urepo::verify::{
    Code, Depth, Findings, Options, Report, Scope, Severity, note_damaged, verify,
};

use crate::support::{
    Faults, Mode, TestClock, World, copy_tree, deposit, make_collection, on, options, request,
    whole_items,
};

/// A disk that fails to `operate` on `path` once.
pub(crate) fn failing_once(operation: Operation, path: &Path) -> Watcher {
    let has_failed = AtomicBool::default();
    on(operation, path, move || {
        let is_first = !has_failed.swap(true, Ordering::Relaxed);
        if is_first { Err(Errno::IO.into()) } else { Ok(()) }
    })
}

/// A collection with items of the files `one` and `two`, of which the first links to the second.
struct Linked {
    _world: World,
    root: PathBuf,
    names: Vec<RepositoryName>,
}

impl Linked {
    fn new() -> Linked {
        let world = World::new();
        let root = world.path("archive");
        let archive = make_collection(&root);
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        let text = "<a href='../../11.21.02.14/doc/two'>";
        let requests = [("one.html", text), ("two", "two")];
        for (file, text) in requests {
            let request = request(world.write(file, text));
            deposit(&archive, vec![request], options(), &clock, |_| ()).unwrap();
            clock.jump(60_000);
        }
        let names = whole_items(&archive).iter().map(|it| it.parse().unwrap()).collect();
        Linked { _world: world, root, names }
    }

    fn sidecar(&self, at: usize) -> PathBuf {
        self.root.join(self.names[at].as_str()).join("item.toml")
    }

    fn open(&self, watcher: &Watcher) -> Collection {
        Collection::open(&self.root, watcher).unwrap()
    }
}

#[test]
fn a_link_to_an_item_that_can_not_be_read_leads_nowhere_known() {
    let linked = Linked::new();
    let verified = |watcher: &Watcher| {
        let collection = linked.open(watcher);
        let scope = Scope::Items(Box::new(std::iter::once(linked.names[0].clone())));
        let options = Options { depth: Depth::Full, jobs: 1 };
        let mut found = Findings::default();
        let ended =
            verify(&collection, scope, options, &NoProgress, &Interrupt::default(), |told| {
                if let Report::Item(item) = told {
                    found = item.findings;
                }
                ControlFlow::Continue(())
            });
        ended.map(|_| found.counts().to_vec())
    };
    assert_eq!(verified(&Watcher::default()).unwrap(), []);
    let other = linked.root.join(linked.names[1].as_str());
    std::fs::remove_file(other.join("doc/two")).unwrap();
    assert_eq!(verified(&Watcher::default()).unwrap(), [(Code::LinkBroken, 1)]);
    for path in [other, linked.sidecar(1)] {
        assert_eq!(verified(&failing_once(Operation::Open, &path)).unwrap(), []);
        // A process that runs short has found nothing out.
        let short = on(Operation::Open, &path, || Err(Errno::MFILE.into()));
        assert!(verified(&short).unwrap_err().shortage().is_some());
    }
}

#[test]
fn a_related_item_that_can_not_be_read_is_not_unknown() {
    let linked = Linked::new();
    let [from, to] = &linked.names[..] else { panic!("{:?}", linked.names) };
    let link = vec![Relation { kind: RelationKind::NextEdition, to: to.clone().into() }];
    let (name, edits, unlink) = (from.clone(), Vec::new(), Vec::new());
    let correction = Correction { name, edits, unlink, link };
    let planned = |watcher: &Watcher| plan(&[linked.open(watcher)], 0, &correction);
    assert_eq!(planned(&Watcher::default()).unwrap().ends.len(), 2);
    planned(&on(Operation::Open, &linked.sidecar(1), || Err(Errno::IO.into()))).unwrap_err();
}

/// Its tag files would become payload.
#[test]
fn a_bag_is_not_taken_for_a_directory() {
    let world = World::new();
    world.write("in/bag/bagit.txt", "BagIt-Version: 1.0\n");
    world.write("in/bag/data/a.txt", "alpha");
    let found = |watcher: &Watcher| {
        let (units, exclusion) = (Units::default(), Exclusion::default());
        let path = world.path("in/bag");
        let tree = SourceTree::open(&path, units, Links::Keep, &exclusion, watcher);
        tree.map(Iterator::collect::<Vec<_>>)
    };
    assert!(matches!(&found(&Watcher::default()).unwrap()[..], [Ok(_)]));
    let bag = world.path("in/bag/bagit.txt");
    assert!(found(&failing_once(Operation::Inspect, &bag)).is_err());
}

/// Items that were found damaged are read again until they are repaired.
#[test]
fn a_note_that_can_not_be_read_is_not_replaced() {
    let linked = Linked::new();
    let [one, two] = &linked.names[..] else { panic!("{:?}", linked.names) };
    note_damaged(&linked.open(&Watcher::default()), std::slice::from_ref(one));
    let note = linked.root.join(".urepo/round");
    let before = std::fs::read_to_string(&note).unwrap();
    assert!(before.contains(one.as_str()), "{before}");
    let failing = linked.open(&failing_once(Operation::Open, &note));
    note_damaged(&failing, std::slice::from_ref(two));
    assert_eq!(std::fs::read_to_string(&note).unwrap(), before);
}

/// An item that was put back is damage, whatever the disk does not let be read.
#[test]
fn an_error_while_reading_is_never_no_damage() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    world.write("b.txt", "beta");
    let name = world.run("-c archive new a.txt").line();
    world.run("-c archive new b.txt").succeeded();
    let (root, item) = (world.path("archive"), world.path("archive").join(&name));
    copy_tree(&item, &world.path("night"));
    world.run(&format!("-c archive meta set {name} title=Later")).succeeded();
    std::fs::remove_dir_all(&item).unwrap();
    copy_tree(&world.path("night"), &item);
    for at in 1.. {
        let faults = Arc::new(Faults::new(&root, at, Mode::Once(Errno::IO)));
        let watcher = Watcher::new(Arc::clone(&faults) as _);
        if let Ok(collection) = Collection::open(&root, &watcher) {
            let (mut damage, names) = (0, Names::default());
            let options = Options { depth: Depth::Full, jobs: 1 };
            let told = |report| {
                let found = match report {
                    Report::Item(item) => item.findings.count(Severity::Damage),
                    Report::Tree(found) => u64::from(found.severity() == Severity::Damage),
                };
                damage += found;
                ControlFlow::Continue(())
            };
            let interrupt = Interrupt::default();
            let scope = Scope::All(&names);
            verify(&collection, scope, options, &NoProgress, &interrupt, told).unwrap();
            assert!(damage > 0, "{at}: {:?}", faults.struck());
        }
        if faults.struck().is_none() {
            assert!(at > 20);
            break;
        }
    }
}
