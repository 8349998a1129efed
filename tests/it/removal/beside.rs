//! What others do to an item while it is brought back.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use urepo::collection::lock_changes;
use urepo::disk::Watcher;
use urepo::verify::{self, Report, Scope};

use super::*;

/// Does something at the first read of a payload in the trash.
struct AtRead<F> {
    act: F,
    done: AtomicBool,
}

impl<F: Fn() + Send + Sync> Watch for AtRead<F> {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        let is_payload = path.iter().any(|level| level == "trash") && path.ends_with("doc/a.txt");
        if operation == Operation::Read && is_payload && !self.done.swap(true, Ordering::Relaxed) {
            (self.act)();
        }
        Ok(())
    }
}

fn restore_while(
    world: &World,
    act: impl Fn() + Send + Sync + 'static,
) -> Result<Restored, RemovalError> {
    let at_read = Arc::new(AtRead { act, done: AtomicBool::default() });
    let watcher = Watcher::new(Arc::clone(&at_read) as _);
    let collection = Collection::open(&world.root("archive"), &watcher).unwrap();
    let outcome = remover(&collection, &later(), |remover| restore(remover, &world.name, &alone()));
    assert!(at_read.done.load(Ordering::Relaxed), "the payload was not read");
    outcome
}

#[test]
fn nobody_waits_while_it_is_read() {
    let world = World::new();
    world.delete("archive", &forced()).unwrap();
    let other = world.open("archive");
    restore_while(&world, move || {
        // As long as a child that another test is just starting may hold the lock.
        let clock = later();
        let patient = waiter(&clock).up_to(Duration::from_secs(5));
        drop(lock_changes([&other], &agent(), &patient).unwrap());
    })
    .unwrap();
    assert!(is_whole(&world.open("archive"), &world.name));
}

#[test]
fn who_is_brought_back_by_another_is_not_brought_back_again() {
    let world = World::new();
    world.delete("archive", &forced()).unwrap();
    let (root, name) = (world.root("archive"), world.name.clone());
    let restored = restore_while(&world, move || {
        let collection = Collection::open(&root, &Watcher::default()).unwrap();
        let act = |remover: &Remover<'_>| restore(remover, &name, &alone());
        // On a thread of its own, for each has one buffer to read into.
        std::thread::scope(|threads| {
            threads.spawn(|| remover(&collection, &later(), act).unwrap()).join().unwrap();
        });
    })
    .unwrap();
    assert!(restored.was_here);
    assert!(is_whole(&world.open("archive"), &world.name));
}

/// Does something when the collection is locked for a change.
struct AtLock<F> {
    act: F,
    done: AtomicBool,
}

impl<F: Fn() + Send + Sync> Watch for AtLock<F> {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        let is_change = path.ends_with(".urepo/change.lock");
        if operation == Operation::Lock && is_change && !self.done.swap(true, Ordering::Relaxed) {
            (self.act)();
        }
        Ok(())
    }
}

/// Both plan the deletion; the one that comes to the lock later finds that the other one has done it.
#[test]
fn of_two_deletions_the_second_finds_a_tombstone() {
    for state in [State::Original, State::Copy] {
        let world = World::new();
        if state == State::Copy {
            faults::become_copy(&world);
        }
        let (root, name) = (world.root("archive"), world.name.clone());
        let act = move || {
            let collection = Collection::open(&root, &Watcher::default()).unwrap();
            // On a thread of its own, for each has one buffer to read into.
            std::thread::scope(|threads| {
                threads.spawn(|| delete(&collection, &name, &forced()).unwrap()).join().unwrap();
            });
        };
        let at_lock = Arc::new(AtLock { act, done: AtomicBool::default() });
        let watcher = Watcher::new(Arc::clone(&at_lock) as _);
        let collection = Collection::open(&world.root("archive"), &watcher).unwrap();
        let error = delete(&collection, &world.name, &forced()).unwrap_err();
        assert!(at_lock.done.load(Ordering::Relaxed), "nothing was locked");
        match state {
            State::Copy => assert!(error.to_string().contains("changed"), "{error}"),
            _ => assert!(matches!(error, RemovalError::AlreadyDeleted { .. }), "{error}"),
        }
    }
}

/// Restores the item when its payload is looked for.
struct RestoredAtLook {
    world: World,
    done: AtomicBool,
}

impl Watch for RestoredAtLook {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        let is_look =
            operation == Operation::Inspect && path == self.world.item("archive").join("doc");
        if is_look && !self.done.swap(true, Ordering::Relaxed) {
            self.world.restore(&[], DamageRule::Refuse).unwrap();
        }
        Ok(())
    }
}

#[test]
fn an_item_that_comes_back_while_it_is_verified_is_in_order() {
    let world = World::new();
    world.delete("archive", &forced()).unwrap();
    let (root, name) = (world.root("archive"), world.name.clone());
    let restored = Arc::new(RestoredAtLook { world, done: AtomicBool::default() });
    let watcher = Watcher::new(Arc::clone(&restored) as _);
    let collection = Collection::open(&root, &watcher).unwrap();
    let scope = Scope::Items(Box::new([name].into_iter()));
    let options = verify::Options { depth: Depth::Full, jobs: 1 };
    let mut reports = Vec::new();
    let interrupt = Interrupt::default();
    verify::verify(&collection, scope, options, &NoProgress, &interrupt, |report| {
        reports.push(report);
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(restored.done.load(Ordering::Relaxed), "nobody looked for the payload");
    let [Report::Item(report)] = reports.as_slice() else { panic!("{reports:?}") };
    assert_eq!(report.findings.as_slice(), []);
    // The tombstone was read as a whole before the item came back.
    assert_eq!(report.state, Some(State::Deleted));
}
