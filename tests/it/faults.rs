//! A deposit that fails or is killed at any file operation leaves no item or a whole one.

use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;
use urepo::collection::Collection;
use urepo::deposit::{Outcome, Request};
use urepo::disk::Watcher;

use crate::ledger::check_ledger;
use crate::support::{
    Faults, Mode, System, TestClock, between_users, deposit, first_user, make_collection, options,
    recovered_whole, request, request_of_stream, scratch, staged, whole_items,
};

/// A directory with everything that is kept, a file, and a stream: three items.
fn requests(sources: &Path) -> Vec<Request> {
    vec![
        request(sources.join("dir")),
        request(sources.join("file.bin")),
        request_of_stream("log/stream.txt", b"streamed"),
    ]
}

fn make_sources(sources: &Path) {
    std::fs::create_dir_all(sources.join("dir/sub/empty")).unwrap();
    std::fs::write(sources.join("dir/a.txt"), "a").unwrap();
    std::fs::write(sources.join("dir/sub/b.bin"), vec![7; 300_000]).unwrap();
    std::os::unix::fs::symlink("sub/b.bin", sources.join("dir/link")).unwrap();
    std::fs::write(sources.join("file.bin"), vec![9; 10_000]).unwrap();
}

/// Runs the deposit with the n-th operation failing, for every n, and checks the promises each time.
fn every_operation(mode: Mode, system: System) {
    let scratch = scratch();
    let sources = scratch.path().join("sources");
    make_sources(&sources);
    let mut strikes = 0;
    for at in system.points() {
        let root = scratch.path().join(format!("archive-{at}"));
        make_collection(&root);
        let faults = Arc::new(Faults::new(&root, at, mode).on(system).of_changes());
        let reported = first_user(|| run_with_faults(&root, &sources, &faults));
        let struck = faults.struck();
        check_after(&root, &sources, &reported, mode, struck.as_ref().map(|it| format!("{it:?}")));
        std::fs::remove_dir_all(&root).unwrap();
        if struck.is_none() {
            assert_eq!(reported.len(), 3, "without a fault all three are deposited");
            break;
        }
        strikes = at;
    }
    assert!(strikes > 30, "only {strikes} operations were made to fail");
}

/// The names that were reported as deposited.
fn run_with_faults(root: &Path, sources: &Path, faults: &Arc<Faults>) -> Vec<String> {
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let watcher = Watcher::new(Arc::clone(faults) as _);
    let Ok(collection) = Collection::open(root, &watcher) else { return Vec::new() };
    let mut names = Vec::new();
    let run = deposit(&collection, requests(sources), options(), &clock, |outcome| {
        if let Outcome { result: Ok(deposited), .. } = outcome {
            names.push(deposited.label.name.to_string());
        }
    });
    if let Ok((outcomes, summary)) = &run {
        let failed = outcomes.iter().any(|outcome| outcome.result.is_err());
        let told = failed || summary.fatal.is_some() || outcomes.len() < 3;
        assert_eq!(summary.deposited, names.len() as u64);
        assert!(told || names.len() == 3, "a failure was not told");
    }
    names
}

fn check_after(
    root: &Path,
    sources: &Path,
    reported: &[String],
    mode: Mode,
    context: Option<String>,
) {
    let context = context.unwrap_or_default();
    let collection = Collection::open(root, &Watcher::default()).unwrap();
    let found = whole_items(&collection);
    for name in reported {
        assert!(found.contains(name), "{name} was reported and is not there: {context}");
    }
    if mode != Mode::Killed
        && !context.contains("Remove")
        && !context.contains("Inspect")
        && !context.contains("List")
    {
        // Without bytes, a stage shows that something was published which may not be recorded.
        let is_note = |left: &String| left.contains("/holder ") || left.contains("/names ");
        let is_empty = |left: &String| left.ends_with('/') || is_note(left);
        let left = staged(root);
        let is_right =
            if found.len() > reported.len() { left.iter().all(is_empty) } else { left.is_empty() };
        assert!(is_right, "left in the stage: {context}: {left:?}");
    }
    // The next run clears up, goes on, and gives other names.
    let clock = TestClock::at("2026-11-21T02:13:30Z");
    let (outcomes, summary) =
        deposit(&collection, requests(sources), options(), &clock, |_| ()).unwrap();
    assert!(summary.fatal.is_none(), "{:?}: {context}", summary.fatal);
    for Outcome { result, .. } in outcomes {
        let name = result.unwrap().label.name.to_string();
        assert!(!found.contains(&name), "{name} was given twice: {context}");
    }
    assert_eq!(whole_items(&collection).len(), found.len() + 3, "{context}");
    let found: Vec<_> = found.iter().map(|name| name.parse().unwrap()).collect();
    check_ledger(root, &found, &context);
    assert_eq!(staged(root), [""; 0], "{context}");
    recovered_whole(root, &context);
}

#[test]
fn killed_at_any_operation() {
    every_operation(Mode::Killed, System::Own);
}

#[test]
fn an_io_error_at_any_operation() {
    every_operation(Mode::Once(Errno::IO), System::Own);
}

#[test]
fn a_full_disk_at_any_operation() {
    every_operation(Mode::Once(Errno::NOSPC), System::Own);
}

#[test]
fn any_error_at_any_operation() {
    every_operation(Mode::ANY, System::Own);
}

#[test]
fn on_other_systems() {
    for system in System::OTHERS {
        every_operation(Mode::Killed, system);
        every_operation(Mode::Once(Errno::IO), system);
    }
}

#[test]
fn between_two_users() {
    for mode in [Mode::Killed, Mode::ANY] {
        between_users(|| every_operation(mode, System::Own));
    }
    between_users(init_killed_at_any_operation);
    between_users(|| recovery_killed(System::Own));
}

/// Making a collection may be killed at any operation too, and then be repeated.
#[test]
fn init_killed_at_any_operation() {
    use urepo::collection::Subsystem;

    use crate::support::init;
    let scratch = scratch();
    let subsystem = || Subsystem::new("archive.example.org".parse().unwrap());
    for at in System::Own.points() {
        let root = scratch.path().join(format!("deep-{at}/er/archive"));
        let faults = Arc::new(Faults::new(&root, at, Mode::Killed));
        let watcher = Watcher::new(Arc::clone(&faults) as _);
        let made = first_user(|| init(&root, "archive", subsystem(), &watcher));
        if Collection::open(&root, &Watcher::default()).is_err() {
            assert!(made.is_err());
            init(&root, "archive", subsystem(), &Watcher::default()).unwrap();
        }
        let collection = Collection::open(&root, &Watcher::default()).unwrap();
        assert_eq!(collection.settings().subsystems.len(), 1);
        assert_eq!(collection.stated_id(), None, "{:?}", faults.struck());
        if faults.struck().is_none() {
            assert!(at > 10);
            break;
        }
    }
}

#[test]
fn init_goes_on_where_others_make_directories_meanwhile() {
    use urepo::collection::Subsystem;

    use crate::support::{Quicker, init};
    for quicker in ["deep", "deep/er"] {
        let scratch = scratch();
        let watcher = Watcher::new(Arc::new(Quicker(scratch.path().join(quicker))));
        let subsystem = Subsystem::new("archive.example.org".parse().unwrap());
        init(&scratch.path().join("deep/er/archive"), "archive", subsystem, &watcher).unwrap();
    }
}

/// Its id is that of the names which it may have issued already.
#[test]
fn a_collection_that_others_make_meanwhile_stays() {
    use urepo::collection::{CollectionError, Subsystem, init_without_names};

    use crate::support::{QuickerFounder, init};
    type Make = fn(&Path, &Watcher) -> Result<Collection, CollectionError>;
    let makes: [Make; 2] = [
        |root, watcher| {
            let subsystem = Subsystem::new("archive.example.org".parse().unwrap());
            init(root, "archive", subsystem, watcher)
        },
        |root, watcher| init_without_names(root, "archive", watcher),
    ];
    for make in makes {
        let scratch = scratch();
        let root = scratch.path().join("archive");
        let made = make(&root, &Watcher::new(Arc::new(QuickerFounder(root.clone()))));
        assert!(matches!(made, Err(CollectionError::ExistsAlready { .. })), "{made:?}");
        let found = Collection::open(&root, &Watcher::default()).unwrap();
        assert_eq!((&*found.settings().name, found.settings().subsystems.len()), ("quicker", 1));
        assert!(!root.join("urepo.toml.new").exists());
    }
}

/// Clearing up may be killed at any operation and be repeated.
#[test]
fn recovery_killed_at_any_operation() {
    recovery_killed(System::Own);
    System::OTHERS.into_iter().for_each(recovery_killed);
}

fn recovery_killed(system: System) {
    use urepo::collection::recover;
    let scratch = scratch();
    let sources = scratch.path().join("sources");
    make_sources(&sources);
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    for at in system.points() {
        let root = scratch.path().join(format!("archive-{at}"));
        make_collection(&root);
        // Killed after the items were staged, before they were put in place.
        run_with_faults(
            &root,
            &sources,
            &Arc::new(Faults::new(&root, 75, Mode::Killed).on(system)),
        );
        assert_ne!(staged(&root), [""; 0]);
        let faults = Arc::new(Faults::new(&root, at, Mode::Killed).on(system).of_changes());
        let watcher = Watcher::new(Arc::clone(&faults) as _);
        first_user(|| {
            if let Ok(collection) = Collection::open(&root, &watcher) {
                let (agent, waiter) = (crate::support::agent(), crate::support::waiter(&clock));
                let _ = recover(&collection, &agent, &waiter);
            }
        });
        recovered_whole(&root, &format!("at {at}"));
        std::fs::remove_dir_all(&root).unwrap();
        if faults.struck().is_none() {
            assert!(at > 5);
            break;
        }
    }
}
