//! The last good copy.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::io::Errno;

use super::*;
use crate::support::{Trace, on};

#[test]
fn is_not_the_last_where_a_copy_is_whole() {
    let world = World::with_copy();
    let others = [world.open("other")];
    world.delete("archive", &relying_on(&Sight::of_many(&others))).unwrap();
    assert_eq!(world.sidecar("archive").state, State::Deleted);
    assert_eq!(world.sidecar("other").state, State::Copy);
}

#[test]
fn stays_unless_told() {
    let world = World::new();
    let error = world.delete("archive", &relying_on(Sight::alone())).unwrap_err();
    let RemovalError::LastHolding { looked_at, .. } = error else { panic!("{error}") };
    assert_eq!(looked_at, []);
    world.delete("archive", &forced()).unwrap();
}

#[test]
fn is_not_proven_by_a_clone_or_itself() {
    let world = World::new();
    copy_tree(&world.root("archive"), &world.root("clone"));
    let others = [world.open("archive"), world.open("clone")];
    let error = world.delete("archive", &relying_on(&Sight::of_many(&others))).unwrap_err();
    let RemovalError::LastHolding { looked_at, .. } = error else { panic!("{error}") };
    assert!(looked_at.iter().all(|place| place.lack == Lack::SameCollection), "{looked_at:?}");
    assert_eq!(looked_at.len(), 2);
}

/// It may be the same directory, mounted twice.
#[test]
fn is_not_proven_by_what_can_not_be_compared_with_it() {
    let world = World::with_copy();
    for failing in ["archive", "other"] {
        for at in 1.. {
            let (seen, struck) = (AtomicUsize::default(), Arc::new(AtomicBool::default()));
            let has_struck = Arc::clone(&struck);
            let doc = world.item(failing).join("doc");
            let watcher = on(Operation::Inspect, &doc, move || {
                if seen.fetch_add(1, Ordering::Relaxed) + 1 == at {
                    has_struck.store(true, Ordering::Relaxed);
                    return Err(Errno::IO.into());
                }
                Ok(())
            });
            let [archive, other] = ["archive", "other"].map(|root| {
                let watcher = if root == failing { watcher.clone() } else { Watcher::default() };
                Collection::open(&world.root(root), &watcher).unwrap()
            });
            let others = [other];
            let sight = Sight::of_many(&others);
            let order = relying_on(&sight);
            let planned = plan(&archive, &world.name, &order, &NoProgress, &Interrupt::default());
            if !struck.load(Ordering::Relaxed) {
                planned.unwrap();
                assert!(at > 1);
                break;
            }
            planned.unwrap_err();
        }
    }
}

/// Deletes the other one in the moment in which the first one is to be locked.
struct Rival(PathBuf);

impl Watch for Rival {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if operation == Operation::Lock && path.ends_with(".urepo/change.lock") {
            let (mut sidecar, _) = Sidecar::read(&std::fs::read(&self.0)?).unwrap();
            sidecar.state = State::Deleted;
            std::fs::write(&self.0, sidecar.to_text())?;
        }
        Ok(())
    }
}

#[test]
fn may_be_proven_by_a_collection_that_can_not_be_written() {
    let world = World::with_copy();
    let watcher = Watcher::new(Arc::new(ReadOnly));
    let others = [Collection::open(&world.root("other"), &watcher).unwrap()];
    let before = tree(&world.root("other"));
    world.delete("archive", &relying_on(&Sight::of_many(&others))).unwrap();
    assert_eq!(tree(&world.root("other")), before);
    // One's own that can not be written is an error.
    let collection = Collection::open(&world.root("other"), &watcher).unwrap();
    delete(&collection, &world.name, &forced()).unwrap_err();
    assert_eq!(tree(&world.root("other")), before);
}

#[test]
fn may_not_go_between_the_proof_and_the_lock() {
    let world = World::with_copy();
    for goes in ["other", "archive"] {
        let rival = Arc::new(Rival(world.item(goes).join("item.toml")));
        let collection =
            Collection::open(&world.root("archive"), &Watcher::new(rival as _)).unwrap();
        let others = [world.open("other")];
        let error =
            delete(&collection, &world.name, &relying_on(&Sight::of_many(&others))).unwrap_err();
        let RemovalError::Collection(CollectionError::Changed { path, .. }) = &error else {
            panic!("{error}")
        };
        assert_eq!(*path, world.root(goes));
        assert_eq!(trash(&collection), []);
        world.rewrite("other", |sidecar| sidecar.state = State::Copy);
    }
}

/// A large sidecar is read once to decide, twice as the proof, and its text is compared under the locks.
#[test]
fn its_sidecar_is_read_four_times_at_most() {
    let world = World::with_copy();
    let trace = Arc::new(Trace::default());
    let watcher = Watcher::new(Arc::clone(&trace) as _);
    let others = [Collection::open(&world.root("other"), &watcher).unwrap()];
    world.delete("archive", &relying_on(&Sight::of_many(&others))).unwrap();
    let trace = trace.0.lock().unwrap();
    let sidecar = world.item("other").join("item.toml");
    let opened = trace.iter().filter(|it| **it == (Operation::Open, sidecar.clone())).count();
    assert!((1..=4).contains(&opened), "{opened} times");
}

/// A directory that is mounted in two places holds its bytes once.
#[test]
fn is_not_proven_by_its_own_directory_in_another_collection() {
    let world = crate::support::World::with_collection();
    let script = r#"
        "$UREPO" -q init other --host other.example.org
        item=$("$UREPO" -c archive new a.txt)
        mkdir other/example.org
        mount --bind archive/example.org other/example.org
        code=0; "$UREPO" -c archive delete --yes "$item" --with other > told 2>&1 || code=$?
        tell "$code"
        "$UREPO" -c archive verify "$item" > told 2>&1
    "#;
    let Some(told) = crate::errors::with_mounts(&world, script) else { return };
    let why = "its directory of the item is the one here";
    assert!(told.starts_with("exit 23") && told.contains(why), "{told}");
}
