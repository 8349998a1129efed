//! Deleting, reviving, purging and finishing, killed or failing at every file operation: no byte is
//! ever lost, and a repetition completes.

use urepo::catalog::RefreshDepth;

use super::*;
use crate::index::{agrees_after, with_index};
use crate::inventory::check_inventory;
use crate::support::{Faults, Mode, System, between_users, first_user, recovered_whole};

/// Where the bytes of an item are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bytes {
    /// In the item, which is an Original or a Copy.
    InPlace,
    /// Beside a tombstone.
    Left,
    /// In the trash.
    InTrash,
    /// Nowhere, as it should be after a purge.
    Purged,
}

/// Finds the bytes of the item, whole, in exactly one place.
pub(super) fn bytes_of(root: &Path, name: &RepositoryName) -> Bytes {
    let collection = Collection::open(root, &Watcher::default()).unwrap();
    let mut in_trash = 0;
    let place = match collection.item(name) {
        Ok(item) => {
            let (sidecar, seal) = item.sidecar().unwrap();
            assert_eq!(seal, Seal::Intact);
            let doc = Path::new(item.name().as_str()).join("doc");
            let doc = collection.root().open_dir_if_there(doc).unwrap();
            collection
                .visit_trash(|trashed| {
                    if let Some(doc) = collection.trashed_payload(&trashed?)? {
                        assert!(is_payload_whole(doc, &sidecar), "half of it is in the trash");
                        in_trash += 1;
                    }
                    Ok::<_, urepo::disk::PathError>(())
                })
                .unwrap();
            match (sidecar.state, doc) {
                (State::Deleted, Some(doc)) => {
                    assert!(is_payload_whole(doc, &sidecar));
                    Some(Bytes::Left)
                }
                (State::Deleted, None) => None,
                (_, doc) => {
                    assert!(doc.is_some() && is_whole(&collection, name));
                    Some(Bytes::InPlace)
                }
            }
        }
        Err(error) => {
            assert!(error.to_string().starts_with("no item"), "{error}");
            collection
                .visit_trash(|trashed| {
                    if let Some(item) = collection.trashed_copy(&trashed?)? {
                        let (depth, interrupt) = (Depth::Full, Interrupt::default());
                        let report = verify_item(&item, depth, &NoProgress, &interrupt).unwrap();
                        assert!(!report.findings.is_damage());
                        in_trash += 1;
                    }
                    Ok::<_, urepo::disk::PathError>(())
                })
                .unwrap();
            None
        }
    };
    match (place, in_trash) {
        (Some(place), 0) => place,
        (None, 1) => Bytes::InTrash,
        (None, 0) => Bytes::Purged,
        found => panic!("the bytes are in several places: {found:?}"),
    }
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
        for system in System::LACKING {
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
            with_index(&root);
            let faults = Arc::new(Faults::new(&root, at, mode).on(system).of_changes());
            let watcher = Watcher::new(Arc::clone(&faults) as _);
            let outcome = first_user(|| {
                let opened = Collection::open(&root, &watcher).map_err(RemovalError::from);
                opened.and_then(|collection| (self.act)(&collection, name))
            });
            let struck = faults.struck();
            let told = format!("{mode:?} at {at}, {struck:?}: {outcome:?}");
            let found = bytes_of(&root, name);
            agrees_after(&root, RefreshDepth::Directories, &told);
            if outcome.is_ok() {
                assert_eq!(found, self.end, "{told}");
            } else {
                assert!(self.meanwhile.contains(&found), "{found:?}: {told}");
            }
            if found == Bytes::Left {
                finished_by_others(&root, name, self.end, &told);
            }
            // What was said to be done is known, and nothing looks lost.
            let here = outcome.is_ok() && root.join(name.as_str()).exists();
            check_inventory(&root, if here { std::slice::from_ref(name) } else { &[] }, &told);
            self.repeat(&root, name, &told);
            check_inventory(&root, &[], &told);
            agrees_after(&root, RefreshDepth::Directories, &told);
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
            // A Copy leaves no trace that it was deleted.
            Err(RemovalError::Collection(error)) if self.end == Bytes::InTrash => {
                assert!(error.to_string().starts_with("no item"), "{error}: {told}");
            }
            Err(error) => panic!("{error}: {told}"),
        }
        assert_eq!(bytes_of(root, name), self.end, "{told}");
        finish_all(&collection);
        recovered_whole(root, told);
        assert_eq!(bytes_of(root, name), self.end, "{told}");
        assert_eq!(journal(root), [""; 0], "{told}");
        let kept = usize::from(self.end == Bytes::InTrash);
        assert_eq!(trash(&collection).len(), kept, "{told}");
    }
}

/// The next run finishes it, and nobody has to know which item it was.
fn finished_by_others(root: &Path, name: &RepositoryName, end: Bytes, told: &str) {
    let twin = root.with_extension("twin");
    copy_tree(root, &twin);
    let finished = finish_all(&Collection::open(&twin, &Watcher::default()).unwrap());
    assert_eq!(finished, std::slice::from_ref(name), "{told}");
    assert_eq!(bytes_of(&twin, name), end, "{told}");
    recovered_whole(&twin, told);
    assert_eq!(journal(&twin), [""; 0], "{told}");
    std::fs::remove_dir_all(&twin).unwrap();
}

/// The intents of runs; there is no journal until there was one.
pub(super) fn journal(root: &Path) -> Vec<String> {
    let journal = root.join(".urepo/journal");
    if journal.exists() { tree(&journal) } else { Vec::new() }
}

/// Finishes what killed runs left. A child that another test is just starting may hold the lock of
/// a file for a moment.
pub(super) fn finish_all(collection: &Collection) -> Vec<RepositoryName> {
    let mut items = Vec::new();
    loop {
        let finished = finish(collection).unwrap();
        assert!(finished.failed.is_empty(), "{:?}", finished.failed);
        items.extend(finished.items.into_iter().map(|item| item.name));
        if finished.at_work == 0 {
            return items;
        }
        std::thread::yield_now();
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
    world.rewrite("archive", |sidecar| sidecar.state = State::Copy);
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
        meanwhile: &[Bytes::InPlace, Bytes::Left, Bytes::InTrash],
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

#[test]
fn reviving_an_original() {
    Case {
        prepare: become_tombstone,
        act: restore_all,
        end: Bytes::InPlace,
        meanwhile: &[Bytes::InTrash, Bytes::Left, Bytes::InPlace],
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
    world.delete("archive", &relying_on(&[])).unwrap_err();
    assert_eq!(tree(&world.root("archive")), before);
}
