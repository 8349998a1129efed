//! Deletions and restorations that were interrupted, finished by the next run.

use urepo::removal::{IntentKind, pending, unpurgeable};

use super::faults::*;
use super::*;
use crate::support::{Faults, Mode, System, between_users, first_user, recovered_whole};
use urepo::custody::CustodyId;

/// An operation that is interrupted between a tombstone and its payload, and where the bytes are when it is finished.
struct Interrupted {
    prepare: fn(&World),
    act: fn(&Collection, &RepositoryName) -> Result<(), RemovalError>,
    kind: IntentKind,
    end: Bytes,
}

const DELETION: Interrupted = Interrupted {
    prepare: |_| (),
    act: delete_forced,
    kind: IntentKind::Deletion,
    end: Bytes::InTrash,
};

const RESTORATION: Interrupted = Interrupted {
    prepare: become_tombstone,
    act: restore_all,
    kind: IntentKind::Restoration,
    end: Bytes::InPlace,
};

impl Interrupted {
    /// A world whose collection `killed` was left with a payload beside a tombstone.
    fn world(&self) -> World {
        let world = World::new();
        (self.prepare)(&world);
        let killed = world.root("killed");
        for at in 1.. {
            let _ = std::fs::remove_dir_all(&killed);
            copy_tree(&world.root("archive"), &killed);
            let faults = Arc::new(Faults::new(&killed, at, Mode::Killed));
            let watcher = Watcher::new(Arc::clone(&faults) as _);
            if let Ok(collection) = Collection::open(&killed, &watcher) {
                let _ = (self.act)(&collection, &world.name);
            }
            assert!(faults.struck().is_some(), "it was never left unfinished");
            if bytes_of(&killed, &world.name) == Bytes::Left {
                break;
            }
        }
        world
    }

    /// The run that finishes it is itself interrupted at every operation.
    fn is_finished_by_any_run(&self) {
        let world = self.world();
        let (name, killed) = (&world.name, world.root("killed"));
        for mode in MODES {
            for at in System::Own.points() {
                let root = world.root(&format!("killed-{at}"));
                copy_tree(&killed, &root);
                let faults = Arc::new(Faults::new(&root, at, mode).of_changes());
                let watcher = Watcher::new(Arc::clone(&faults) as _);
                first_user(|| {
                    if let Ok(collection) = Collection::open(&root, &watcher) {
                        let _ = finish(&collection);
                    }
                });
                let told = format!("{mode:?} at {at}, {:?}", faults.struck());
                assert!([Bytes::Left, self.end].contains(&bytes_of(&root, name)), "{told}");
                let collection = Collection::open(&root, &Watcher::default()).unwrap();
                finish_all(&collection);
                recovered_whole(&root, &told);
                assert_eq!(bytes_of(&root, name), self.end, "{told}");
                assert_eq!(journal(&root), [""; 0], "{told}");
                let kept = usize::from(self.end == Bytes::InTrash);
                assert_eq!(trash(&collection).len(), kept, "{told}");
                std::fs::remove_dir_all(&root).unwrap();
                if faults.struck().is_none() {
                    assert!(at > 5);
                    break;
                }
            }
        }
    }
}

#[test]
fn a_deletion() {
    DELETION.is_finished_by_any_run();
}

#[test]
fn a_restoration() {
    RESTORATION.is_finished_by_any_run();
}

#[test]
fn between_two_users() {
    between_users(a_deletion);
    between_users(a_restoration);
}

#[test]
fn what_is_pending_is_named() {
    for interrupted in [DELETION, RESTORATION] {
        let world = interrupted.world();
        let collection = world.open("killed");
        let (items, failed) = pending(&collection).unwrap();
        assert!(failed.is_empty());
        let [item] = &items[..] else { panic!("{items:?}") };
        assert_eq!((&item.name, item.kind), (&world.name, interrupted.kind));
        finish_all(&collection);
        assert_eq!(pending(&collection).unwrap().0, []);
    }
}

/// An Original does not come back while another collection holds one: its files stay, and a purge says so.
#[test]
fn a_restoration_that_must_not_be_completed_stays_on_record() {
    let world = RESTORATION.world();
    copy_tree(&world.root("killed"), &world.root("other"));
    let text = std::fs::read_to_string(world.root("other/urepo.toml")).unwrap();
    let id = world.open("killed").id().to_string();
    assert!(text.contains(&id));
    let text = text.replace(&id, "0123456789abcdef0123456789abcdef");
    std::fs::write(world.root("other/urepo.toml"), text).unwrap();
    world.rewrite("other", |sidecar| {
        sidecar.state = State::Original;
        sidecar.custody = sidecar.custody.passed_to("other", CustodyId::from(*b"restored"));
        sidecar.removal = None;
    });
    let (collection, others) = (world.open("killed"), [world.open("other")]);
    let (agent, interrupt, clock) = (agent(), Interrupt::default(), later());
    let caller = caller(&agent, &clock, &interrupt);
    let restoration = Restoration { others: &others, ..alone() };
    let finished = finish_pending(&collection, &restoration, &caller).unwrap();
    let [RemovalError::Refused { .. }] = &finished.failed[..] else { panic!("{finished:?}") };
    assert_eq!(bytes_of(&world.root("killed"), &world.name), Bytes::Left);
    assert_eq!(pending(&collection).unwrap().0.len(), 1);
    let left = |wanted| unpurgeable(&collection, &wanted, &agent, &waiter(&clock)).unwrap();
    let names = Some(vec![world.name.clone()]);
    for wanted in [Wanted::default(), Wanted { names, ..Wanted::default() }] {
        let [(name, RemovalError::Unfinished { .. })] = &left(wanted)[..] else { panic!() };
        assert_eq!(*name, world.name);
    }
    let before = world.open("killed").item(&world.name).unwrap().sidecar().unwrap().0.timestamp;
    assert!(left(Wanted { before: Some(before), ..Wanted::default() }).is_empty());
    // Its deletion is not in doubt.
    delete(&collection, &world.name, &forced()).unwrap();
    assert_eq!(bytes_of(&world.root("killed"), &world.name), Bytes::InTrash);
    finish_all(&collection);
    assert_eq!(journal(&world.root("killed")), [""; 0]);
}

/// Of a restoration and a deletion of one item, neither is finished, whether the intents can be read or not: its files are
/// left where no purge removes them, until it is restored or deleted by its identifier.
#[test]
fn what_two_runs_may_have_left_is_finished_by_neither() {
    for (left, other) in [(RESTORATION, "delete-00.toml"), (DELETION, "restore-00.toml")] {
        let world = left.world();
        let root = world.root("killed");
        let journal_of = root.join(".urepo/journal");
        let intent = std::fs::read_dir(&journal_of).unwrap().next().unwrap().unwrap().path();
        let text = std::fs::read_to_string(&intent).unwrap();
        for second in [text.to_ascii_lowercase(), "items = [".to_owned()] {
            std::fs::write(journal_of.join(other), second).unwrap();
            let collection = world.open("killed");
            let finished = finish(&collection).unwrap();
            assert!(finished.items.is_empty(), "{finished:?}");
            let is_named = |error: &RemovalError| matches!(error, RemovalError::Unfinished { name } if *name == world.name);
            assert!(finished.failed.iter().any(is_named), "{finished:?}");
            assert_eq!(bytes_of(&root, &world.name), Bytes::Left);
            assert!(trash(&collection).iter().all(|it| *it == TrashContents::Remains));
        }
        std::fs::write(journal_of.join(other), text).unwrap();
        let collection = world.open("killed");
        restore_all(&collection, &world.name).unwrap();
        finish_all(&collection);
        assert_eq!(bytes_of(&root, &world.name), Bytes::InPlace);
        assert_eq!(journal(&root), [""; 0]);
    }
}

/// While another process restores, or looks at its intent, no deletion of what it restores is finished.
#[test]
fn a_deletion_of_what_is_being_restored_is_not_finished() {
    let world = RESTORATION.world();
    let journal_of = world.root("killed/.urepo/journal");
    let intent = std::fs::read_dir(&journal_of).unwrap().next().unwrap().unwrap().path();
    std::fs::copy(&intent, journal_of.join("delete-00.toml")).unwrap();
    let held = std::fs::File::open(&intent).unwrap();
    held.lock().unwrap();
    let finished = finish(&world.open("killed")).unwrap();
    assert_eq!((finished.at_work, finished.items.len()), (1, 0), "{finished:?}");
    assert_eq!(bytes_of(&world.root("killed"), &world.name), Bytes::Left);
}

/// Nobody takes a run that has ended for one at work because another process looks at its intent.
#[test]
fn a_look_at_an_intent_does_not_make_its_run_one_at_work() {
    let world = RESTORATION.world();
    let journal_of = world.root("killed/.urepo/journal");
    let intent = std::fs::read_dir(&journal_of).unwrap().next().unwrap().unwrap().path();
    let looking = std::fs::File::open(&intent).unwrap();
    looking.lock_shared().unwrap();
    let (items, _) = pending(&world.open("killed")).unwrap();
    assert!(!items[0].is_at_work);
}

/// A restoration needs the inventory, which the run that finishes it rebuilds: it does not wait for itself.
#[test]
fn a_restoration_is_completed_without_an_inventory() {
    let world = RESTORATION.world();
    let root = world.root("killed");
    std::fs::remove_dir_all(root.join(".urepo/inventory")).unwrap();
    assert_eq!(finish_all(&world.open("killed")), std::slice::from_ref(&world.name));
    assert!(root.join(".urepo/inventory").exists());
    assert_eq!(bytes_of(&root, &world.name), Bytes::InPlace);
}

/// The intent of a run that is at work is left alone: not until it has ended is it finished.
#[test]
fn a_run_at_work_is_not_finished_by_others() {
    let world = World::new();
    let collection = world.open("archive");
    let order = forced();
    remover(&collection, &later(), |remover| {
        let mut deletion = remover.deletion(std::slice::from_ref(&world.name), &order);
        deletion.delete(&world.name)?;
        let finished = finish(&world.open("archive"))?;
        assert_eq!((finished.at_work, finished.items.len()), (1, 0));
        assert_eq!(tree(&world.root("archive/.urepo/journal")).len(), 1);
        deletion.finish()
    })
    .unwrap();
    assert_eq!(tree(&world.root("archive/.urepo/journal")), [""; 0]);
}

/// An intent that cannot be read is reported, and stops nothing else.
#[test]
fn a_spoilt_intent_is_reported() {
    let world = World::new();
    let journal = world.root("archive/.urepo/journal");
    std::fs::create_dir_all(&journal).unwrap();
    for text in ["items = [\"", "items = [\"../../x\"]", "\u{0}", "other = 1"] {
        std::fs::write(journal.join("delete-00.toml"), text).unwrap();
        let collection = world.open("archive");
        let finished = finish(&collection).unwrap();
        let [RemovalError::Intent { path, .. }] = &finished.failed[..] else { panic!("{text}") };
        assert!(path.ends_with("delete-00.toml"));
        assert!(journal.join("delete-00.toml").exists());
        assert!(is_whole(&collection, &world.name));
    }
}
