//! Deleting, reviving, purging and finishing, killed or failing at every file operation: no byte is
//! ever lost, and a repetition completes.

use urepo::custody::{CustodyId, Refusal};

use super::*;
use crate::ledger::check_ledger;
use crate::support::{Faults, Mode, System, between_users, first_user, recovered_whole};

/// Where the bytes of an item are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bytes {
    /// In the item, which is an Original or a Copy.
    InPlace,
    /// In the trash.
    InTrash,
    /// Set aside, by a run that was killed where two names cannot be swapped: recovery puts them back.
    Displaced,
    /// Nowhere, as it should be after a purge.
    Purged,
}

/// Finds the bytes of the item, whole, in exactly one place.
pub(super) fn bytes_of(root: &Path, name: &RepositoryName) -> Bytes {
    let collection = Collection::open(root, &Watcher::default()).unwrap();
    let item = match collection.item(name) {
        Err(CollectionError::Displaced { .. }) => return Bytes::Displaced,
        item => item.unwrap(),
    };
    let (sidecar, seal) = item.sidecar().unwrap();
    assert_eq!(seal, Seal::Intact);
    let is_here = matches!(sidecar.state, State::Original | State::Copy);
    let has_payload = root.join(item.name().as_str()).join("doc").exists();
    assert_eq!(is_here, has_payload, "{}", sidecar.state);
    assert!(is_whole(&collection, name));
    let mut in_trash = 0;
    for doc in payloads_in_trash(root) {
        let text = std::fs::read(root.join(&doc).join("../item.toml")).unwrap();
        let (sidecar, seal) = Sidecar::read(&text).unwrap();
        assert_eq!(seal, Seal::Intact);
        let doc = collection.root().open_dir(doc).unwrap();
        assert!(is_payload_whole(doc, &sidecar), "half of it is in the trash");
        in_trash += 1;
    }
    match (is_here, in_trash) {
        (true, 0) => Bytes::InPlace,
        (false, 1) => Bytes::InTrash,
        (false, 0) => Bytes::Purged,
        found => panic!("the bytes are in several places: {found:?}"),
    }
}

/// The payloads of whole items in the trash, relative to the root.
fn payloads_in_trash(root: &Path) -> Vec<PathBuf> {
    let trash = Path::new(".urepo/trash");
    let Ok(entries) = std::fs::read_dir(root.join(trash)) else { return Vec::new() };
    let entries = entries.map(|entry| trash.join(entry.unwrap().file_name()));
    let payloads = entries.filter(|entry| entry.extension().is_none_or(|it| it != "purge"));
    payloads.map(|entry| entry.join("doc")).filter(|doc| root.join(doc).exists()).collect()
}

fn is_payload_whole(doc: urepo::disk::Dir, sidecar: &Sidecar) -> bool {
    let interrupt = Interrupt::default();
    let findings =
        verify_payload(doc, sidecar, Depth::Full, &NoProgress, &interrupt).expect("not stopped");
    !findings.is_damage()
}

/// What is done, from which state, and where the bytes are then.
struct Case {
    prepare: fn(&World),
    act: fn(&Collection, &RepositoryName) -> Result<(), RemovalError>,
    end: Bytes,
    /// Where the bytes may be meanwhile.
    meanwhile: &'static [Bytes],
    /// A lower limit of the operations that were made to fail.
    operations: usize,
}

pub(super) const MODES: [Mode; 2] = [Mode::Killed, Mode::DISK];

impl Case {
    /// Makes the n-th operation fail, for every n.
    fn run(&self) {
        for mode in MODES {
            self.run_on(System::Own, mode);
        }
        for system in System::OTHERS {
            self.run_on(system, Mode::Killed);
        }
    }

    fn run_on(&self, system: System, mode: Mode) {
        let template = World::new();
        (self.prepare)(&template);
        let name = &template.name;
        for at in system.points() {
            let root = template.root(&format!("archive-{at}"));
            copy_tree(&template.root("archive"), &root);
            let faults = Arc::new(Faults::new(&root, at, mode).on(system).of_changes());
            let watcher = Watcher::new(Arc::clone(&faults) as _);
            let outcome = first_user(|| {
                let opened = Collection::open(&root, &watcher).map_err(RemovalError::from);
                opened.and_then(|collection| (self.act)(&collection, name))
            });
            let struck = faults.struck();
            let told = format!("{mode:?} at {at}, {struck:?}: {outcome:?}");
            let found = bytes_of(&root, name);
            if outcome.is_ok() {
                assert_eq!(found, self.end, "{told}");
            } else {
                let is_displaced = found == Bytes::Displaced && system != System::Own;
                assert!(is_displaced || self.meanwhile.contains(&found), "{found:?}: {told}");
            }
            // What was said to be done is known, and nothing looks lost.
            let here = outcome.is_ok() && root.join(name.as_str()).exists();
            check_ledger(&root, if here { std::slice::from_ref(name) } else { &[] }, &told);
            self.repeat(&root, name, &told);
            check_ledger(&root, &[], &told);
            std::fs::remove_dir_all(&root).unwrap();
            if struck.is_none() {
                let least =
                    if mode == Mode::Killed { self.operations / 6 } else { self.operations };
                assert!(at > least, "only {at} operations were made to fail");
                break;
            }
        }
    }

    /// The next run completes what was begun, and leaves nothing that is not needed.
    fn repeat(&self, root: &Path, name: &RepositoryName, told: &str) {
        let collection = Collection::open(root, &Watcher::default()).unwrap();
        match (self.act)(&collection, name) {
            // Or it had been completed.
            Ok(()) | Err(RemovalError::AlreadyDeleted { .. }) => {}
            Err(RemovalError::Refused { refusal, .. })
                if matches!(*refusal, Refusal::Elsewhere { .. }) && self.end == Bytes::InTrash => {}
            Err(error) => panic!("{error}: {told}"),
        }
        assert_eq!(bytes_of(root, name), self.end, "{told}");
        recovered_whole(root, told);
        assert_eq!(bytes_of(root, name), self.end, "{told}");
        let kept = usize::from(self.end == Bytes::InTrash);
        assert_eq!(trash(&collection).len(), kept, "{told}");
        // The next writer has added the line that the killed run owed.
        let state = collection.item(name).unwrap().sidecar().unwrap().0.state;
        let line = collection.last_record(name).unwrap().unwrap();
        assert_eq!(line.state(), Some(state), "{told}");
    }
}

pub(super) fn delete_forced(
    collection: &Collection,
    name: &RepositoryName,
) -> Result<(), RemovalError> {
    delete(collection, name, &forced()).map(|_| ())
}

pub(super) fn restore_all(
    collection: &Collection,
    name: &RepositoryName,
) -> Result<(), RemovalError> {
    remover(collection, &later(), |remover| restore(remover, name, &alone())).map(|_| ())
}

pub(super) fn purge_all(collection: &Collection, _: &RepositoryName) -> Result<(), RemovalError> {
    purge(collection, &Wanted::default()).map(|_| ())
}

pub(super) fn become_copy(world: &World) {
    world.rewrite("archive", |sidecar| {
        sidecar.state = State::Copy;
        sidecar.custody = sidecar.custody.passed_to("other", CustodyId::from(*b"migrated"));
    });
}

pub(super) fn become_tombstone(world: &World) {
    world.delete("archive", &forced()).unwrap();
}

#[test]
fn deleting_an_original() {
    Case {
        prepare: |_| (),
        act: delete_forced,
        end: Bytes::InTrash,
        meanwhile: &[Bytes::InPlace, Bytes::InTrash],
        operations: 50,
    }
    .run();
}

#[test]
fn deleting_a_copy() {
    Case {
        prepare: become_copy,
        act: delete_forced,
        end: Bytes::InTrash,
        meanwhile: &[Bytes::InPlace, Bytes::InTrash],
        operations: 50,
    }
    .run();
}

/// A backup undid the deletion, whose line the ledger has: the same tombstone is written again.
#[test]
fn deleting_again() {
    Case {
        prepare: |world| {
            let (item, night) = (world.item("archive"), world.root("night"));
            copy_tree(&item, &night);
            become_tombstone(world);
            world.purge().unwrap();
            std::fs::remove_dir_all(&item).unwrap();
            std::fs::rename(night, item).unwrap();
        },
        act: delete_forced,
        end: Bytes::InTrash,
        meanwhile: &[Bytes::InPlace, Bytes::InTrash],
        operations: 50,
    }
    .run();
}

#[test]
fn reviving_an_original() {
    Case {
        prepare: become_tombstone,
        act: restore_all,
        end: Bytes::InPlace,
        meanwhile: &[Bytes::InTrash, Bytes::InPlace],
        operations: 50,
    }
    .run();
}

#[test]
fn reviving_a_copy() {
    Case {
        prepare: |world| {
            become_copy(world);
            become_tombstone(world);
        },
        act: restore_all,
        end: Bytes::InPlace,
        meanwhile: &[Bytes::InTrash, Bytes::InPlace],
        operations: 50,
    }
    .run();
}

#[test]
fn purging_the_payload_of_an_original() {
    Case {
        prepare: become_tombstone,
        act: purge_all,
        end: Bytes::Purged,
        meanwhile: &[Bytes::InTrash, Bytes::Purged],
        operations: 40,
    }
    .run();
}

#[test]
fn purging_a_copy() {
    Case {
        prepare: |world| {
            become_copy(world);
            become_tombstone(world);
        },
        act: purge_all,
        end: Bytes::Purged,
        meanwhile: &[Bytes::InTrash, Bytes::Purged],
        operations: 40,
    }
    .run();
}

#[test]
fn between_two_users() {
    between_users(deleting_an_original);
    between_users(deleting_a_copy);
    between_users(reviving_an_original);
    between_users(reviving_a_copy);
    between_users(purging_the_payload_of_an_original);
    between_users(purging_a_copy);
}

/// A run that is refused leaves no trace.
#[test]
fn a_refused_run_writes_nothing() {
    let world = World::new();
    let before = tree(&world.root("archive"));
    world.delete("archive", &relying_on(Sight::alone())).unwrap_err();
    assert_eq!(tree(&world.root("archive")), before);
}
