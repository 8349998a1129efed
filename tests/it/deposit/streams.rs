//! Deposits that are stopped: what is staged whole is put in place; a stream, whose end may come too early, is not.

use urepo::interrupt::Interrupt;

use super::*;
use crate::support::{deposit_until, request_of_stream};

/// Asks for a stop when everything is staged and named, and only has to be put in place.
struct StopAtTheSync(Interrupt);

impl Watch for StopAtTheSync {
    fn before(&self, operation: Operation, _: &Path) -> std::io::Result<()> {
        if operation == Operation::SyncFileSystem {
            self.0.request();
        }
        Ok(())
    }

    fn few(&self) -> Option<usize> {
        Some(0)
    }
}

/// Ctrl-C ends both sides of a pipe, and what this side sees first is the end of its input.
#[test]
fn that_may_have_been_cut_short_are_no_items() {
    let place = Place::new();
    let file = place.source("a.txt");
    std::fs::write(&file, "alpha").unwrap();
    let interrupt = Interrupt::default();
    let watcher = Watcher::new(Arc::new(StopAtTheSync(interrupt.clone())));
    let collection = Collection::open(place.collection.path(), &watcher).unwrap();
    let stream = request_of_stream("data", b"half of what was mea");
    let requests = vec![request(file), stream];
    let (outcomes, summary) =
        deposit_until(&interrupt, &collection, requests, options(), &place.clock, |_| ()).unwrap();
    let [file, stream] = <[_; 2]>::try_from(outcomes).unwrap();
    let deposited = file.result.unwrap();
    assert!(matches!(stream.result, Err(DepositError::Interrupted)), "{:?}", stream.result);
    assert!(summary.fatal.is_none(), "{:?}", summary.fatal);
    assert_eq!(whole_items(&place.collection), [deposited.label.name.to_string()]);
    assert_eq!(staged(place.collection.path()), [""; 0]);
}

/// Asks for a stop in the moment in which a file of this name is read.
struct StopAtTheRead(&'static str, Interrupt);

impl Watch for StopAtTheRead {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if operation == Operation::Read && path.ends_with(self.0) {
            self.1.request();
        }
        Ok(())
    }
}

/// What is staged whole when a stop is asked for is put in place and reported: reading it was the work.
#[test]
fn that_are_stopped_keep_what_is_staged() {
    let place = Place::new();
    let files: Vec<_> = (0..10).map(|number| place.source(&format!("{number}.txt"))).collect();
    for file in &files {
        std::fs::write(file, "text").unwrap();
    }
    let interrupt = Interrupt::default();
    let watcher = Watcher::new(Arc::new(StopAtTheRead("6.txt", interrupt.clone())));
    let collection = Collection::open(place.collection.path(), &watcher).unwrap();
    let requests = files.iter().map(request).collect();
    let (outcomes, summary) =
        deposit_until(&interrupt, &collection, requests, options(), &place.clock, |_| ()).unwrap();
    assert!(summary.fatal.is_none(), "{:?}", summary.fatal);
    let names: Vec<_> = outcomes.iter().filter_map(|it| it.result.as_ref().ok()).collect();
    assert!(names.len() >= 6 && names.len() < 10, "{} items", names.len());
    let names: Vec<_> = names.into_iter().map(|it| it.label.name.to_string()).collect();
    assert_eq!(whole_items(&place.collection), names);
    for outcome in &outcomes[names.len()..] {
        assert!(matches!(outcome.result, Err(DepositError::Interrupted)), "{:?}", outcome.result);
    }
    assert_eq!(staged(place.collection.path()), [""; 0]);
}
