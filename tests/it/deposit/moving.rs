//! `new --remove-source`: sources that go once their items are proven, wherever the process is killed.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use urepo::collection::{Collection, CollectionError, lock_items};
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

#[test]
fn killed_at_any_operation_leaves_no_part_of_a_source() {
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
        for name in ["one", "two"] {
            let of = |lines: &[String]| -> Vec<_> {
                lines.iter().filter(|line| line.starts_with(name)).cloned().collect()
            };
            assert!(of(&left).is_empty() || of(&left) == of(&before), "{left:?}: {context}");
        }
        // The next removal in the same directory ends what was begun.
        let collection = Collection::open(&root, &Watcher::default()).unwrap();
        let ended =
            deposit(&collection, vec![request(sources.join("last"))], REMOVE(), &clock, |_| ());
        ended.unwrap();
        let left = tree(&sources);
        assert!(!left.iter().any(|line| line.starts_with(".urepo-")), "{left:?}: {context}");
        let items = whole_items(&collection).len();
        assert!((1..=3).contains(&items), "{context}");
        assert!(items == 3 || left.iter().any(|line| line.contains("a.txt")), "{context}");
        std::fs::remove_dir_all(&root).unwrap();
        std::fs::remove_dir_all(&sources).unwrap();
        if faults.struck().is_none() {
            assert_eq!(left, [""; 0]);
            assert!(at > 30, "only {at} operations");
            break;
        }
    }
}

#[test]
fn between_two_users() {
    between_users(killed_at_any_operation_leaves_no_part_of_a_source);
}

/// What can not be removed is reported with its cause, and stays whole.
#[test]
fn a_directory_that_can_not_be_renamed_stays_whole() {
    let scratch = scratch();
    let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
    make_collection(&root);
    make_sources(&sources);
    let before = tree(&sources);
    let faults = Faults::new(&root, 1, Mode::Once(rustix::io::Errno::ACCESS));
    let faults = Refusing(faults.of(urepo::disk::Operation::Rename), sources.clone());
    let collection = Collection::open(&root, &Watcher::new(Arc::new(faults))).unwrap();
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let wanted = vec![request(sources.join("one"))];
    let (outcomes, _) = deposit(&collection, wanted, REMOVE(), &clock, |_| ()).unwrap();
    let left = &outcomes[0].result.as_ref().unwrap().left;
    assert!(left[0].contains("ermission denied"), "{left:?}");
    assert_eq!(tree(&sources), before);
}

/// Whole, it has its name again. A part stays hidden: under its name, it would become another item.
#[test]
fn a_directory_that_can_not_be_removed_is_named_where_it_is() {
    for at in [1, 2] {
        let scratch = scratch();
        let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
        make_collection(&root);
        make_sources(&sources);
        let before = tree(&sources);
        let faults = Faults::new(&root, at, Mode::Once(rustix::io::Errno::PERM));
        let faults = Refusing(faults.of(Operation::Remove), sources.clone());
        let collection = Collection::open(&root, &Watcher::new(Arc::new(faults))).unwrap();
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        let remove = |name| {
            let wanted = vec![request(sources.join(name))];
            deposit(&collection, wanted, REMOVE(), &clock, |_| ()).unwrap().0.remove(0)
        };
        let left = remove("one").result.unwrap().left.remove(0);
        if at == 1 {
            let first = format!("cannot remove `{}`", sources.join("one/a.txt").display());
            assert!(left.contains(&first), "{left}");
            assert_eq!(tree(&sources), before);
        } else {
            let rest = format!("the rest is `{}", sources.join(".urepo-removing-").display());
            assert!(left.contains(&rest) && left.contains("/sub/b.bin`: Oper"), "{left}");
            assert!(!sources.join("one").exists());
        }
        assert_eq!(remove("last").result.unwrap().left, [""; 0]);
        assert!(!tree(&sources).iter().any(|line| line.starts_with(".urepo-")), "{at}");
    }
}

/// Nothing in it can be removed, and nothing beside it is.
#[test]
fn a_directory_of_another_user_keeps_the_whole_source() {
    between_users(|| {
        let scratch = scratch();
        let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
        make_collection(&root);
        make_sources(&sources);
        share(&sources);
        let theirs = sources.join("one/theirs");
        first_user(|| {
            std::fs::create_dir(&theirs).unwrap();
            std::fs::write(theirs.join("file"), "file").unwrap();
            std::fs::set_permissions(&theirs, std::fs::Permissions::from_mode(0o755)).unwrap();
        });
        let before = tree(&sources);
        let source = sources.join("one");
        let left = removed((&root, &source), "2026-11-21T02:13:00Z", |_, _| false, || ());
        let reason = format!("cannot change `{}`: Permission denied", theirs.display());
        assert!(left.len() == 1 && left[0].starts_with(&reason), "{left:?}");
        assert_eq!(tree(&sources), before);
    });
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

fn is_under_hidden_name(operation: Operation, path: &Path) -> bool {
    let hidden = |name: &str| name.starts_with(".urepo-removing-");
    operation != Operation::Rename && path.iter().any(|name| name.to_str().is_some_and(hidden))
}

/// Under its hidden name, the source of a live process looks like one that a killed process left.
#[test]
fn two_that_remove_sources_of_one_directory_do_not_disturb_each_other() {
    for directories in [false, true] {
        let scratch = scratch();
        let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
        make_collection(&root);
        let [first, second] = ["first", "second"].map(|name| {
            let source = sources.join(name);
            let file = if directories { source.join("file") } else { source.clone() };
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, name).unwrap();
            source
        });
        let other = Arc::new(Mutex::new(None));
        let meet = {
            let (root, other) = (root.clone(), Arc::clone(&other));
            move || {
                let left = removed((&root, &second), "2026-11-21T03:13:00Z", |_, _| false, || ());
                *other.lock().unwrap() = Some(left);
            }
        };
        let left = removed((&root, &first), "2026-11-21T02:13:00Z", is_under_hidden_name, meet);
        assert_eq!((left, other.lock().unwrap().take()), (Vec::new(), Some(Vec::new())));
        assert_eq!(tree(&sources), [""; 0], "{directories}");
    }
}

fn is_lock_of_an_item(operation: Operation, path: &Path) -> bool {
    operation == Operation::Lock && path.parent().is_some_and(|it| it.ends_with(".urepo/locks"))
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
    let left = removed((&root, &source), "2026-11-21T02:13:00Z", is_lock_of_an_item, purge);
    assert!(left.len() == 1 && left[0].contains("no item"), "{left:?}");
    assert!(source.join("a.txt").exists());
    let lock = {
        let root = root.clone();
        move || {
            let collection = Collection::open(&root, &Watcher::default()).unwrap();
            let clock = TestClock::at("2026-11-21T03:13:00Z");
            let waiter = waiter(&clock).up_to(Duration::ZERO);
            let name = whole_items(&collection)[0].parse().unwrap();
            let locked = lock_items([(&collection, &name)], &agent(), &waiter);
            assert!(matches!(locked, Err(CollectionError::ItemLocked { .. })), "{locked:?}");
        }
    };
    let left = removed((&root, &source), "2026-11-21T03:13:00Z", is_under_hidden_name, lock);
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
