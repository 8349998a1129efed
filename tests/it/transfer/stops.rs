//! The first failure ends a run that was told so: nothing more is begun. A request to stop ends a migration
//! between two groups. A long run makes room as it goes.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use urepo::disk::{Operation, Watch};
use urepo::identity::RepositoryName;
use urepo::interrupt::Interrupt;
use urepo::transfer::{Leaves, NameFeed, Outcome, Summary, TransferError, Verb};

use super::support::Pair;
use crate::support::{System, Trace, deposit, options, request_of_stream, staged, whole_items};

/// The sidecar of an item at the source.
fn sidecar(pair: &Pair, name: &RepositoryName) -> PathBuf {
    pair.from().item(name).unwrap().path_of("item.toml")
}

/// Hands on the last item only when it has been told what became of the second, and says whether it
/// was taken then.
fn run(pair: &Pair, verb: Verb, names: &[RepositoryName]) -> (Summary, Vec<Outcome>, bool) {
    let (told, taken) = (AtomicBool::new(false), AtomicBool::new(false));
    let feed: Box<NameFeed<'_>> = Box::new(|take| {
        for name in &names[..2] {
            assert!(take(name.clone()).is_continue());
        }
        // Not for ever: a run that ends in another way is to fail the test, and not to hang it.
        let mut patience = 0..10_000_000;
        while !told.load(Ordering::SeqCst) && patience.next().is_some() {
            std::thread::yield_now();
        }
        let answer = take(names[2].clone());
        taken.store(answer == ControlFlow::Continue(()), Ordering::SeqCst);
        Ok(())
    });
    let mut outcomes = Vec::new();
    let mut each = |outcome: Outcome| {
        told.fetch_or(outcome.name == names[1], Ordering::SeqCst);
        outcomes.push(outcome);
    };
    let (from, to) = (pair.from(), pair.to());
    let summary = pair.transfer(&from, &to, verb, Leaves::Stub, feed, &mut each).unwrap();
    assert!(summary.fatal.is_none(), "{summary:?}");
    (summary, outcomes, taken.into_inner())
}

#[test]
fn a_failed_item_stops_no_other() {
    for verb in [Verb::Copy, Verb::Migrate] {
        for make in [Pair::new, Pair::across] {
            let pair = make();
            let names: Vec<_> = (0..3).map(|_| pair.deposit_tree()).collect();
            let good = std::fs::read_to_string(sidecar(&pair, &names[1])).unwrap();
            let bad = good.replace("files = 2", "files = 3");
            std::fs::write(sidecar(&pair, &names[1]), bad).unwrap();
            let (summary, outcomes, taken) = run(&pair, verb, &names);
            let context = format!("{verb:?}, {outcomes:?}");
            assert!(taken, "{context}");
            let counts = (summary.transferred, summary.failed, summary.skipped);
            assert_eq!(counts, (2, 1, 0), "{context}");
            assert!(outcomes[1].name == names[1] && outcomes[1].result.is_err(), "{context}");
            let there = vec![names[0].to_string(), names[2].to_string()];
            assert_eq!(whole_items(&pair.to()), there, "{context}");
            assert_eq!(pair.open(), 0, "{context}");

            // Mended, the same run completes it.
            std::fs::write(sidecar(&pair, &names[1]), good).unwrap();
            let (from, to) = (pair.from(), pair.to());
            let rules = Leaves::Stub;
            let summary = pair.try_between(&from, &to, verb, rules, |_| ());
            assert!(summary.fatal.is_none() && summary.failed == 0, "{summary:?}");
            let all: Vec<_> = names.iter().map(ToString::to_string).collect();
            assert_eq!(whole_items(&to), all, "{context}");
            for root in [0, 1] {
                assert_eq!(staged(pair.root(root)), [""; 0], "{context}");
            }
        }
    }
}

/// What lies in the stages of the giver when an item comes to the receiver.
struct AtArrival {
    place: PathBuf,
    staging: PathBuf,
    left: Mutex<Option<Vec<PathBuf>>>,
}

impl Watch for AtArrival {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if operation == Operation::Rename && path == self.place {
            let walk = walkdir::WalkDir::new(&self.staging).into_iter().map(Result::unwrap);
            let items = walk.filter(|entry| entry.file_name() == "doc");
            let items = items.map(walkdir::DirEntry::into_path).collect();
            self.left.lock().unwrap().get_or_insert(items);
        }
        Ok(())
    }
}

/// Who migrates off a full disk needs the room of each group, and not only at the end.
#[test]
fn the_giver_is_cleared_group_by_group() {
    let pair = Pair::across();
    let names = [pair.deposit_tree(), pair.deposit_tree()];
    let place = pair.root(1).join(urepo::layout::item_directory(&names[1]));
    let staging = pair.root(0).join(".urepo/staging");
    let arrival = Arc::new(AtArrival { place, staging, left: Mutex::default() });
    let (from, to) = pair.watched(Arc::clone(&arrival) as _).unwrap();
    let told = AtomicBool::new(false);
    // The second is a group of its own: it is named once the first has been reported.
    let feed: Box<NameFeed<'_>> = Box::new(|take| {
        let _ = take(names[0].clone());
        let mut patience = 0..10_000_000;
        while !told.load(Ordering::SeqCst) && patience.next().is_some() {
            std::thread::yield_now();
        }
        let _ = take(names[1].clone());
        Ok(())
    });
    let mut each = |outcome: Outcome| {
        assert!(outcome.result.is_ok(), "{outcome:?}");
        told.store(true, Ordering::SeqCst);
    };
    pair.transfer(&from, &to, Verb::Migrate, Leaves::Stub, feed, &mut each).unwrap();
    assert_eq!(arrival.left.lock().unwrap().as_deref(), Some(&[][..]));
    assert_eq!(whole_items(&pair.to()), names.map(|name| name.to_string()));
}

/// More items than a migration puts under its locks at a time.
const MANY: usize = 600;

fn deposit_many(pair: &Pair) {
    let requests = (0..MANY).map(|_| request_of_stream("a.txt", b"a")).collect();
    let (outcomes, _) = deposit(&pair.from(), requests, options(), &pair.clock, |_| ()).unwrap();
    assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()));
}

/// A sync takes longer than everything else that a small item needs.
#[test]
fn items_that_migrate_share_their_syncs() {
    for has_copies in [false, true] {
        let pair = Pair::across();
        deposit_many(&pair);
        if has_copies {
            pair.run(Verb::Copy, Leaves::Stub);
        }
        let trace = Arc::new(Trace::on(System::Own));
        let (from, to) = pair.watched(Arc::clone(&trace) as _).unwrap();
        pair.run_between(&from, &to, Verb::Migrate, Leaves::Stub);
        let is_sync = |operation: &Operation| {
            use Operation::{SyncDirectory, SyncFile, SyncFileSystem};
            matches!(operation, SyncDirectory | SyncFile | SyncFileSystem)
        };
        let trace = trace.0.lock().unwrap();
        let syncs = trace.iter().filter(|(operation, _)| is_sync(operation)).count();
        assert!(syncs < MANY / 2, "{syncs} syncs, Copies before: {has_copies}");
        assert_eq!(whole_items(&pair.to()).len(), MANY);
    }
}

/// Requests a stop when the first Original is ceded.
struct StopAtFirst {
    interrupt: Interrupt,
    giver: std::path::PathBuf,
}

impl Watch for StopAtFirst {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if operation == Operation::Rename
            && path.starts_with(&self.giver)
            && path.ends_with("item.toml")
        {
            self.interrupt.request();
        }
        Ok(())
    }
}

/// Somebody who stops a wrong migration wants no further item to move.
#[test]
fn a_request_to_stop_ends_a_migration_between_two_groups() {
    for make in [Pair::new, Pair::across] {
        let pair = make();
        deposit_many(&pair);
        let interrupt = Interrupt::default();
        *pair.interrupt.lock().unwrap() = interrupt.clone();
        let (from, to) =
            pair.watched(Arc::new(StopAtFirst { interrupt, giver: pair.root(0).into() })).unwrap();
        let (mut moved, mut stopped) = (0, 0);
        pair.try_between(&from, &to, Verb::Migrate, Leaves::Stub, |outcome| match outcome.result {
            Ok(_) => moved += 1,
            Err(TransferError::Interrupted) => stopped += 1,
            Err(error) => panic!("{error:?}"),
        });
        assert!(moved > 0 && stopped > 0, "{moved} moved, {stopped} stopped");
        assert_eq!((moved, stopped), (whole_items(&pair.to()).len(), MANY - moved));
        assert_eq!(pair.open(), 0);
        assert!(pair.is_clean());
    }
}
