//! What others do to an item while it is brought back.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use urepo::collection::{CollectionError, lock_items};
use urepo::disk::Watcher;
use urepo::wait::Waiter;

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

fn revive_while(
    world: &World,
    act: impl Fn() + Send + Sync + 'static,
) -> Result<Revived, RemovalError> {
    let at_read = Arc::new(AtRead { act, done: AtomicBool::default() });
    let watcher = Watcher::new(Arc::clone(&at_read) as _);
    let collection = Collection::open(&world.root("archive"), &watcher).unwrap();
    let outcome = remover(&collection, &later(), |remover| remover.revive(&world.name, &alone()));
    assert!(at_read.done.load(Ordering::Relaxed), "the payload was not read");
    outcome
}

#[test]
fn nobody_waits_while_it_is_read() {
    let world = World::new();
    world.delete("archive", &forced()).unwrap();
    let (other, name) = (world.open("archive"), world.name.clone());
    revive_while(&world, move || {
        // As long as a child that another test is just starting may hold the lock.
        let clock = later();
        let patient = waiter(&clock).up_to(Duration::from_secs(5));
        drop(lock_items([(&other, &name)], &agent(), &patient).unwrap());
    })
    .unwrap();
    assert!(is_whole(&world.open("archive"), &world.name));
}

#[test]
fn who_is_brought_back_by_another_is_not_brought_back_again() {
    let world = World::new();
    world.delete("archive", &forced()).unwrap();
    let (root, name) = (world.root("archive"), world.name.clone());
    let error = revive_while(&world, move || {
        let collection = Collection::open(&root, &Watcher::default()).unwrap();
        let revive = |remover: &Remover<'_>| remover.revive(&name, &alone());
        // On a thread of its own, for each has one buffer to read into.
        std::thread::scope(|threads| {
            threads.spawn(|| remover(&collection, &later(), revive).unwrap()).join().unwrap();
        });
    })
    .unwrap_err();
    assert!(matches!(error, RemovalError::NotDeleted { .. }), "{error}");
    assert!(is_whole(&world.open("archive"), &world.name));
}

/// Whether the Copy in the other collection was locked when an item was moved out of the trash.
#[derive(Default)]
struct AtMove {
    other: Option<(Collection, RepositoryName)>,
    locked: AtomicBool,
}

impl Watch for AtMove {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        if let Some((other, name)) = &self.other
            && operation == Operation::Rename
            && path.ends_with("doc")
        {
            let impatient = Waiter::default().up_to(Duration::ZERO);
            let refused = lock_items([(other, name)], &agent(), &impatient);
            let is_locked = matches!(refused, Err(CollectionError::ItemLocked { .. }));
            self.locked.store(is_locked, Ordering::Relaxed);
        }
        Ok(())
    }
}

#[test]
fn no_copy_is_promoted_while_the_original_comes_back() {
    let world = World::with_copy();
    world.delete("archive", &forced()).unwrap();
    let other = Some((world.open("other"), world.name.clone()));
    let at_move = Arc::new(AtMove { other, ..AtMove::default() });
    let watcher = Watcher::new(Arc::clone(&at_move) as _);
    let collection = Collection::open(&world.root("archive"), &watcher).unwrap();
    let others = [world.open("other")];
    let revival = Revival { others: &others, ..alone() };
    remover(&collection, &later(), |remover| remover.revive(&world.name, &revival)).unwrap();
    assert!(at_move.locked.load(Ordering::Relaxed));
}
