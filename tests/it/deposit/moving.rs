//! `new --remove-source`: sources that go once their items are proven, wherever the process is killed.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use urepo::collection::{Collection, CollectionError, lock_changes};
use urepo::deposit::{Options, Request, Source, SourceRule};
use urepo::disk::{Operation, Watch, Watcher};

use crate::support::{
    Faults, Mode, System, TestClock, agent, between_users, deposit, first_user, make_collection,
    options, request, scratch, share, tree, waiter, whole_items,
};

const REMOVE: fn() -> Options = || Options { sources: SourceRule::Remove, ..options() };

fn make_sources(sources: &Path) {
    for name in ["one", "two"] {
        std::fs::create_dir_all(sources.join(name).join("sub/empty")).unwrap();
        std::fs::write(sources.join(name).join("a.txt"), name).unwrap();
        std::fs::write(sources.join(name).join("sub/b.bin"), vec![7; 100_000]).unwrap();
    }
    std::fs::write(sources.join("file"), "file").unwrap();
    std::fs::create_dir(sources.join("hollow")).unwrap();
    std::fs::write(sources.join("last"), "last").unwrap();
}

/// One item of a directory, and one of several sources side by side.
fn requests(sources: &Path) -> Vec<Request> {
    let together = ["two", "file", "hollow"].map(|name| sources.join(name)).to_vec();
    let together = Request { source: Source::Together(together), ..request("") };
    vec![request(sources.join("one")), together]
}

/// The bytes of every file are in its source or in an item.
#[test]
fn killed_at_any_operation_loses_no_file() {
    let scratch = scratch();
    for at in System::Own.points() {
        let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
        make_collection(&root);
        make_sources(&sources);
        share(&sources);
        let before = tree(&sources);
        let faults = Arc::new(Faults::new(&root, at, Mode::Killed).of_changes());
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        let watcher = Watcher::new(Arc::clone(&faults) as _);
        first_user(|| {
            if let Ok(collection) = Collection::open(&root, &watcher) {
                let _ = deposit(&collection, requests(&sources), REMOVE(), &clock, |_| ());
            }
        });
        let context = format!("{at} {:?}", faults.struck());
        let left = tree(&sources);
        let collection = Collection::open(&root, &Watcher::default()).unwrap();
        let items: Vec<_> =
            whole_items(&collection).iter().flat_map(|it| tree(&root.join(it))).collect();
        for file in before.iter().filter(|it| !it.ends_with('/') && !left.contains(it)) {
            let file = file.strip_prefix("one/").unwrap_or(file);
            assert!(items.iter().any(|it| it.ends_with(file)), "{file} of {items:?}: {context}");
        }
        std::fs::remove_dir_all(&root).unwrap();
        std::fs::remove_dir_all(&sources).unwrap();
        if faults.struck().is_none() {
            assert_eq!(left, ["last 4"]);
            assert!(at > 30, "only {at} operations");
            break;
        }
    }
}

#[test]
fn between_two_users() {
    between_users(killed_at_any_operation_loses_no_file);
}

/// What cannot be removed is reported with its cause, and stays where it is.
#[test]
fn a_file_that_can_not_be_removed_is_named() {
    for (at, first) in [(1, "one/a.txt"), (2, "one/sub/b.bin")] {
        let scratch = scratch();
        let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
        make_collection(&root);
        make_sources(&sources);
        let faults = Faults::new(&root, at, Mode::Once(rustix::io::Errno::PERM));
        let faults = Refusing(faults.of(Operation::Remove), sources.clone());
        let collection = Collection::open(&root, &Watcher::new(Arc::new(faults))).unwrap();
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        let wanted = vec![request(sources.join("one"))];
        let outcome = deposit(&collection, wanted, REMOVE(), &clock, |_| ()).unwrap().0.remove(0);
        let left = outcome.result.unwrap().left.remove(0);
        let reason = format!("cannot remove `{}`: Oper", sources.join(first).display());
        assert!(left.contains(&reason), "{left}");
        assert_eq!(sources.join("one/a.txt").exists(), at == 1);
        assert!(sources.join("one/sub/b.bin").exists());
    }
}

/// Lets faults strike in one directory only.
struct Refusing(Faults, std::path::PathBuf);

impl urepo::disk::Watch for Refusing {
    fn before(&self, operation: urepo::disk::Operation, path: &Path) -> std::io::Result<()> {
        if path.starts_with(&self.1) { self.0.before(operation, path) } else { Ok(()) }
    }
}

/// Acts once, before an operation that it waits for.
struct Once<F>(fn(Operation, &Path) -> bool, Mutex<Option<F>>);

impl<F: FnOnce() + Send> Watch for Once<F> {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if self.0(operation, path)
            && let Some(act) = self.1.lock().unwrap().take()
        {
            act();
        }
        Ok(())
    }
}

/// Deposits and removes a source, with an act before the first operation that `is_it`, and returns what was left.
fn removed(
    (root, source): (&Path, &Path),
    time: &str,
    is_it: fn(Operation, &Path) -> bool,
    act: impl FnOnce() + Send + 'static,
) -> Vec<String> {
    let watcher = Watcher::new(Arc::new(Once(is_it, Mutex::new(Some(act)))));
    let collection = Collection::open(root, &watcher).unwrap();
    let clock = TestClock::at(time);
    let done = deposit(&collection, vec![request(source)], REMOVE(), &clock, |_| ());
    done.unwrap().0.remove(0).result.unwrap().left
}

fn is_removal(operation: Operation, path: &Path) -> bool {
    operation == Operation::Remove && path.ends_with("one/a.txt")
}

/// The lock under which a source goes: the item is there.
fn is_lock_of_removal(operation: Operation, path: &Path) -> bool {
    let is_there = || path.ancestors().nth(2).is_some_and(|root| root.join("example.org").exists());
    operation == Operation::Lock && path.ends_with(".urepo/change.lock") && is_there()
}

/// Until its source is gone, nobody takes away the item that was proven for it.
#[test]
fn an_item_that_goes_before_its_source_keeps_it() {
    let scratch = scratch();
    let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
    make_collection(&root);
    make_sources(&sources);
    let purge = {
        let root = root.clone();
        move || std::fs::remove_dir_all(root.join("example.org")).unwrap()
    };
    let source = sources.join("one");
    let left = removed((&root, &source), "2026-11-21T02:13:00Z", is_lock_of_removal, purge);
    assert!(left.len() == 1 && left[0].contains("no item"), "{left:?}");
    assert!(source.join("a.txt").exists());
    let lock = {
        let root = root.clone();
        move || {
            let collection = Collection::open(&root, &Watcher::default()).unwrap();
            let clock = TestClock::at("2026-11-21T03:13:00Z");
            let waiter = waiter(&clock).up_to(Duration::ZERO);
            let locked = lock_changes([&collection], &agent(), &waiter);
            assert!(matches!(locked, Err(CollectionError::Locked { .. })), "{locked:?}");
        }
    };
    let left = removed((&root, &source), "2026-11-21T03:13:00Z", is_removal, lock);
    assert_eq!(left, [""; 0]);
}

/// It is not ours: `flock` may hold it around the whole command.
#[test]
fn the_directory_of_a_source_is_not_locked() {
    let scratch = scratch();
    let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
    make_collection(&root);
    make_sources(&sources);
    let is_lock =
        |it, path: &Path| it == Operation::Lock && !path.to_str().unwrap().contains("/.urepo/");
    let refuse = || panic!("a directory of sources is locked");
    assert_eq!(
        removed((&root, &sources.join("one")), "2026-11-21T02:13:00Z", is_lock, refuse),
        [""; 0]
    );
}
