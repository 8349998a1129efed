//! Rebuilding what is missing: killed, beside others, and with closed directories in the collection.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rustix::io::Errno;
use urepo::collection::Collection;
use urepo::disk::Watcher;

use super::{PARTS, listening, lose, world};
use crate::ledger::check_ledger;
use crate::support::{
    Faults, Mode, System, TestClock, agent, between_users, deposit, first_user, make_collection,
    options, request, scratch, waiter, whole_items,
};

/// A clock that was ahead has been set back: what is recorded of names that left is known all the same.
#[test]
fn names_that_left_are_known_without_the_memory() {
    let scratch = scratch();
    let root = scratch.path().join("archive");
    let file = scratch.path().join("a.txt");
    std::fs::write(&file, "a").unwrap();
    let name_at = |time: &str| {
        let collection = Collection::open(&root, &Watcher::default()).unwrap();
        let clock = TestClock::at(time);
        let (outcomes, _) =
            deposit(&collection, vec![request(&file)], options(), &clock, |_| ()).unwrap();
        outcomes[0].result.as_ref().unwrap().label.name.clone()
    };
    make_collection(&root);
    // The first is that of the minute.
    let given = [(); 2].map(|()| name_at("2026-11-21T02:13:20Z"))[1].clone();
    std::fs::remove_dir_all(root.join("example.org")).unwrap();
    std::fs::remove_dir_all(root.join(".urepo/memory")).unwrap();
    let next = name_at("2026-11-21T02:13:18Z");
    assert!(next.instant() > given.instant(), "{next} after {given}");
}

/// An item that a writer takes away while the ledger is built would look lost.
#[test]
fn the_ledger_is_not_built_beside_a_writer() {
    let scratch = scratch();
    let root = scratch.path().join("archive");
    make_collection(&root);
    let open = || listening(Collection::open(&root, &Watcher::default()).unwrap());
    let clock = TestClock::at("2026-11-21T02:14:00Z");
    let (busy, _) = open();
    let writer = busy.writer(&agent(), &waiter(&clock)).unwrap();
    let ledger = root.join(".urepo/ledger");
    std::fs::remove_dir_all(&ledger).unwrap();
    let (other, heard) = open();
    let another = other.writer(&agent(), &waiter(&clock)).unwrap();
    assert!(!ledger.exists());
    let told = heard.lock().unwrap().drain(..).map(|it| it.to_string()).collect::<Vec<_>>();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("the ledger is missing, and another command"), "{told:?}");
    another.finish().unwrap();
    writer.finish().unwrap();
    other.writer(&agent(), &waiter(&clock)).unwrap().finish().unwrap();
    assert!(ledger.exists());
    assert_eq!(heard.lock().unwrap().len(), 1);
}

/// Whoever is alone builds what was put off, though the writer ended only a moment ago.
#[test]
fn recovery_builds_a_ledger_that_was_put_off() {
    let (scratch, clock) = (scratch(), TestClock::at("2026-11-21T02:14:00Z"));
    for is_correcting in [false, true] {
        let root = scratch.path().join(format!("archive-{is_correcting}"));
        make_collection(&root);
        let open = || Collection::open(&root, &Watcher::default()).unwrap();
        let ledger = root.join(".urepo/ledger");
        let writer = open().writer(&agent(), &waiter(&clock)).unwrap();
        std::fs::remove_dir_all(&ledger).unwrap();
        let writer = Mutex::new(Some(writer));
        let collection = open().on_rebuild(move |rebuilt| {
            if rebuilt.is_deferred {
                drop(writer.lock().unwrap().take());
            }
        });
        if is_correcting {
            collection.rebuild(&agent(), &waiter(&clock)).unwrap();
            assert!(!ledger.exists());
            collection
                .correct_ledger(&urepo::collection::Corrected::default(), &agent(), &waiter(&clock))
                .unwrap();
        } else {
            urepo::collection::recover(&collection, &agent(), &waiter(&clock)).unwrap();
        }
        assert!(ledger.exists(), "{is_correcting}");
    }
}

/// A closed item is listed, so that its loss is damage; a closed year is named.
#[test]
fn what_is_closed_is_named_and_stops_nothing() {
    let (world, kept, deleted) = world();
    let archive = world.path("archive");
    let chmod = |path: &Path, mode| {
        std::fs::set_permissions(archive.join(path), PermissionsExt::from_mode(mode)).unwrap();
    };
    let year = "other.org/archive/1999";
    std::fs::create_dir_all(archive.join(year)).unwrap();
    lose(&world, "ledger");
    for closed in [&*kept, year] {
        chmod(Path::new(closed), 0);
    }
    let ran = world.run_unprivileged("-c archive recover");
    assert!(ran.stderr.contains("lists the 2 items found"), "{}", ran.stderr);
    for closed in [&*kept, year] {
        let told = format!("`[WORLD]/archive/{closed}` could not be read");
        assert_eq!(ran.stderr.matches(&told).count(), 1, "{}", ran.stderr);
    }
    // What is closed hides no loss beside it.
    std::fs::rename(archive.join(&deleted), world.path("aside")).unwrap();
    let ran = world.run_unprivileged("-c archive verify");
    assert_eq!(ran.stdout.matches("U108").count(), 1, "{}", ran.stdout);
    for closed in [&*kept, year] {
        chmod(Path::new(closed), 0o755);
    }
    std::fs::rename(archive.join(&kept), world.path("aside too")).unwrap();
    let ran = world.run("-c archive verify");
    assert_eq!(ran.stdout.matches("U108").count(), 2, "{}", ran.stdout);
}

/// A collection with two items that has lost `part`.
fn without(root: &Path, part: &str) -> Vec<String> {
    make_collection(root);
    let collection = Collection::open(root, &Watcher::default()).unwrap();
    let file = root.with_file_name("a.txt");
    std::fs::write(&file, "a").unwrap();
    let requests = || vec![request(&file), request(&file)];
    let clock = TestClock::at("2026-11-21T02:13:20Z");
    deposit(&collection, requests(), options(), &clock, |_| ()).unwrap();
    let path = root.join(".urepo").join(part);
    let removed = std::fs::remove_dir_all(&path).or_else(|_| std::fs::remove_file(&path));
    removed.unwrap();
    whole_items(&collection)
}

/// Lets the rebuilding fail at the n-th operation, for every n; the next change completes it.
fn every_operation(mode: Mode, system: System, part: &str) {
    let scratch = scratch();
    let mut strikes = 0;
    for at in system.points() {
        let root = scratch.path().join(format!("archive-{at}"));
        let names = without(&root, part);
        let faults = Arc::new(Faults::new(&root, at, mode).on(system).of_changes());
        let clock = TestClock::at("2026-11-21T02:14:00Z");
        let watcher = Watcher::new(Arc::clone(&faults) as _);
        let rebuilt = first_user(|| {
            Collection::open(&root, &watcher)
                .and_then(|collection| collection.rebuild(&agent(), &waiter(&clock)))
        });
        let struck = faults.struck();
        let context = format!("{part}, {at}: {struck:?}");
        let is_whole = || PARTS.iter().all(|part| root.join(".urepo").join(part).exists());
        if rebuilt.is_ok() {
            assert!(is_whole(), "{context}");
        }
        let (collection, heard) = listening(Collection::open(&root, &Watcher::default()).unwrap());
        let is_rebuilt = is_whole();
        let file = root.with_file_name("a.txt");
        let requests = vec![request(file)];
        let (outcomes, _) = deposit(&collection, requests, options(), &clock, |_| ()).unwrap();
        let new = outcomes[0].result.as_ref().unwrap().label.name.clone();
        assert!(!names.contains(&new.to_string()), "{context}");
        let mut heard = std::mem::take(&mut *heard.lock().unwrap());
        // A process that another test is just starting may have a lock for a moment longer.
        heard.retain(|it| !it.is_deferred);
        assert_eq!(heard.len(), usize::from(!is_rebuilt), "{context}");
        // Whatever the process that was killed had made already.
        assert!(heard.iter().all(|it| it.memories == part.is_empty()), "{context}: {heard:?}");
        assert!(is_whole() && !root.join(".urepo/ledger.new").exists(), "{context}");
        let all = whole_items(&collection);
        assert_eq!(all.len(), names.len() + 1, "{context}");
        let recorded: Vec<_> = all.iter().map(|name| name.parse().unwrap()).collect();
        check_ledger(&root, &recorded, &context);
        crate::support::recovered_whole(&root, &context);
        std::fs::remove_dir_all(&root).unwrap();
        if struck.is_none() {
            break;
        }
        strikes = at;
    }
    let least = if mode == Mode::Killed { 5 } else { 10 };
    assert!(strikes > least, "only {strikes} operations were made to fail");
}

#[test]
fn killed_at_any_operation_of_rebuilding() {
    for part in ["", "ledger"] {
        every_operation(Mode::Killed, System::Own, part);
    }
    for system in System::OTHERS {
        every_operation(Mode::Killed, system, "");
    }
}

#[test]
fn between_two_users() {
    for mode in [Mode::Killed, Mode::DISK] {
        between_users(|| every_operation(mode, System::Own, ""));
    }
}

#[test]
fn an_error_at_any_operation_of_rebuilding() {
    for errno in [Errno::IO, Errno::NOSPC] {
        every_operation(Mode::Once(errno), System::Own, "");
    }
}

#[test]
fn two_writers_rebuild_it_at_once() {
    let scratch = scratch();
    for round in 0..20 {
        let root: PathBuf = scratch.path().join(format!("archive-{round}"));
        let names = without(&root, "");
        let heard: Vec<_> = std::thread::scope(|threads| {
            let write = || {
                let opened = Collection::open(&root, &Watcher::default()).unwrap();
                let (collection, heard) = listening(opened);
                let clock = TestClock::at("2026-11-21T02:14:00Z");
                let writer = collection.writer(&agent(), &waiter(&clock)).unwrap();
                writer.finish().unwrap();
                heard.lock().unwrap().len()
            };
            let started: Vec<_> = (0..4).map(|_| threads.spawn(write)).collect();
            started.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(heard.iter().sum::<usize>(), 1, "one of them rebuilds it: {heard:?}");
        let recorded: Vec<_> = names.iter().map(|name| name.parse().unwrap()).collect();
        check_ledger(&root, &recorded, "");
    }
}
