//! Items that are read from a stream, whose end may come too early.

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
