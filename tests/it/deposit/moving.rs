//! `new --remove-source`: sources that go once their items are proven, wherever the process is killed.

use std::path::Path;
use std::sync::Arc;

use urepo::collection::Collection;
use urepo::deposit::{Options, Request, Source, SourceRule};
use urepo::disk::Watcher;

use crate::support::{
    Faults, Mode, System, TestClock, between_users, deposit, first_user, make_collection, options,
    request, scratch, share, tree, whole_items,
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

/// Lets faults strike in one directory only.
struct Refusing(Faults, std::path::PathBuf);

impl urepo::disk::Watch for Refusing {
    fn before(&self, operation: urepo::disk::Operation, path: &Path) -> std::io::Result<()> {
        if path.starts_with(&self.1) { self.0.before(operation, path) } else { Ok(()) }
    }
}
