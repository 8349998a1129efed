//! What others may do to an item while it is transferred, and what a plan says of what they do.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Once};
use std::time::Duration;

use urepo::collection::{Collection, lock_changes};
use urepo::custody::CustodyId;
use urepo::disk::{Operation, Watch, Watcher};
use urepo::transfer::{Leaves, Verb};

use super::support::{Pair, State};
use crate::support::{TestClock, agent, waiter};

/// Locks both sides whenever a file of its payload is read.
struct LocksAtReads {
    sides: [Collection; 2],
    reads: AtomicUsize,
}

impl Watch for LocksAtReads {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if operation == Operation::Read && path.ends_with("doc/sub/b.bin") {
            self.reads.fetch_add(1, Ordering::Relaxed);
            let clock = TestClock::at("2026-11-23T00:00:00Z");
            // As long as a child that another test is just starting may hold the lock.
            let patient = waiter(&clock).up_to(Duration::from_secs(5));
            for side in &self.sides {
                let locked = lock_changes([side], &agent(), &patient);
                drop(locked.map_err(std::io::Error::other)?);
            }
        }
        Ok(())
    }
}

#[test]
fn nobody_waits_while_a_payload_is_read() {
    let leaving = Leaves::Copy;
    for (verb, rules, has_copy) in [
        (Verb::Copy, Leaves::Stub, false),
        (Verb::Copy, Leaves::Stub, true),
        (Verb::Migrate, Leaves::Stub, false),
        (Verb::Migrate, leaving, false),
        (Verb::Migrate, leaving, true),
    ] {
        let pair = Pair::across();
        let name = pair.deposit_tree();
        if has_copy {
            pair.run(Verb::Copy, Leaves::Stub);
            pair.edit_source(&name, "sub/b.bin", &vec![9; 200_000]);
        }
        assert_nobody_waits(&pair, verb, rules);
    }
}

/// A Copy that the destination has as well is dropped once the other was read.
#[test]
fn nobody_waits_while_the_copy_that_stays_is_read() {
    let pair = Pair::across();
    let name = pair.deposit_tree();
    let third = pair.third();
    pair.run_between(&pair.from(), &third, Verb::Copy, Leaves::Stub);
    pair.run_between(&third, &pair.to(), Verb::Copy, Leaves::Stub);
    super::support::rewrite(&pair.from(), &name, |sidecar| {
        sidecar.state = State::Copy;
        sidecar.custody = sidecar.custody.passed_to("other", CustodyId::from(*b"migrated"));
    });
    assert_nobody_waits(&pair, Verb::Migrate, Leaves::Stub);
    assert_eq!(pair.sidecar_at_source(&name).state, State::Elsewhere);
}

fn assert_nobody_waits(pair: &Pair, verb: Verb, rules: Leaves) {
    let sides = [pair.from(), pair.to()];
    let watch = LocksAtReads { sides, reads: AtomicUsize::default() };
    let watch = Arc::new(watch);
    let (from, to) = pair.watched(Arc::clone(&watch) as _).unwrap();
    for outcome in pair.run_between(&from, &to, verb, rules) {
        outcome.result.unwrap_or_else(|error| panic!("{verb:?} {rules:?}: {error}"));
    }
    assert!(watch.reads.load(Ordering::Relaxed) > 0, "{verb:?} {rules:?}: nothing was read");
}

/// Moves the item when the second collection is looked into for the first time.
struct Migration {
    pair: Pair,
    done: Once,
}

impl Watch for Migration {
    fn before(&self, _: Operation, path: &Path) -> std::io::Result<()> {
        if path.starts_with(self.pair.root(1).join("example.org")) {
            self.done.call_once(|| {
                for outcome in self.pair.run(Verb::Migrate, Leaves::Stub) {
                    outcome.result.unwrap();
                }
            });
        }
        Ok(())
    }
}

#[test]
fn a_plan_takes_an_item_that_migrates_meanwhile_for_one_original() {
    let pair = Pair::new();
    pair.deposit_tree();
    let roots = [0, 1].map(|at| pair.root(at).to_path_buf());
    // It plans between collections that are handed to it.
    let planner = Pair::new();
    planner.plans.store(true, Ordering::Relaxed);
    let migration = Arc::new(Migration { pair, done: Once::new() });
    let watcher = Watcher::new(Arc::clone(&migration) as _);
    let [from, to] = roots.map(|root| Collection::open(&root, &watcher).unwrap());
    let outcomes = planner.run_between(&from, &to, Verb::Copy, Leaves::Stub);
    assert!(migration.done.is_completed());
    let told: Vec<String> =
        outcomes.iter().map(|it| it.result.as_ref().map(|_| ()).unwrap_err().to_string()).collect();
    assert_eq!(told.len(), 1);
    assert!(!told[0].contains("both collections"), "{told:?}");
}
