//! Sources that cannot be listed to the end.

use rustix::io::Errno;

use super::*;
use crate::support::{Faults, Mode};

/// Every directory of a source counts: no item is made of those that could be listed.
#[test]
fn that_fails_makes_no_item() {
    for operation in [Operation::List, Operation::Inspect] {
        let mut struck = 0;
        for at in 1.. {
            let place = Place::new();
            let source = place.source("dir");
            std::fs::create_dir_all(source.join("a/b")).unwrap();
            std::fs::write(source.join("a/b/file"), "alpha").unwrap();
            let faults = Arc::new(Faults::new(&source, at, Mode::Once(Errno::IO)).of(operation));
            let watcher = Watcher::new(Arc::clone(&faults) as _);
            let collection = Collection::open(place.collection.path(), &watcher);
            let Ok(collection) = collection else { continue };
            let requests = vec![request(&source)];
            let run = deposit(&collection, requests, options(), &place.clock, |_| ());
            let Some((_, path)) = faults.struck() else { break };
            if path.is_absolute() {
                continue;
            }
            struck += 1;
            let (outcomes, _) = run.unwrap();
            let error = outcomes[0].result.as_ref().unwrap_err();
            assert!(matches!(error, DepositError::Disk(_)), "{operation:?} {at}: {error}");
            assert_eq!(whole_items(&place.collection), [""; 0]);
        }
        assert!(struck >= 3, "{operation:?}: {struck}");
    }
}

/// Two directories that lead into one another by links have no end.
#[test]
fn that_comes_back_is_an_error() {
    let place = Place::new();
    let source = place.source("dir");
    for (directory, target) in [("a", "../b"), ("b", "../a")] {
        std::fs::create_dir_all(source.join(directory)).unwrap();
        symlink(target, source.join(directory).join("link")).unwrap();
    }
    let follow = Options { links: Links::Follow, ..options() };
    let error = place.deposit_with(&source, follow).unwrap_err().to_string();
    assert!(error.starts_with("cannot walk") && error.ends_with("/link/link`"), "{error}");
    std::fs::remove_file(source.join("b/link")).unwrap();
    std::fs::write(source.join("b/file"), "beta").unwrap();
    let deposited = place.deposit_with(&source, follow).unwrap();
    assert_eq!(
        tree(&place.payload(&deposited)),
        ["a/", "a/link/", "a/link/file 4", "b/", "b/file 4"]
    );
}
