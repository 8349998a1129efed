//! The same command run twice at once ends well on both sides.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use urepo::collection::{CollectionError, lock_changes};
use urepo::disk::{Operation, Watch};
use urepo::identity::RepositoryName;
use urepo::transfer::{Leaves, Outcome, Step, Verb};

use super::support::{Pair, State, step};
use crate::support::{agent, deposit, options, request, staged, waiter, whole_items};

/// What both runs do.
#[derive(Clone, Copy)]
struct Both {
    verb: Verb,
    rules: Leaves,
}

/// Lets a second run do everything when the first is at its n-th step of a kind.
struct Overtaken {
    pair: Arc<Pair>,
    both: Both,
    moment: fn(&Pair, Operation, &Path) -> bool,
    begun: AtomicBool,
}

impl Watch for Overtaken {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if (self.moment)(&self.pair, operation, path) && !self.begun.swap(true, Ordering::SeqCst) {
            for outcome in self.pair.run(self.both.verb, self.both.rules) {
                outcome.result.expect("because the faster run meets nobody");
            }
        }
        Ok(())
    }
}

/// Both runs, the second one at `moment` of the first; what became of the first one's items.
#[track_caller]
fn overtake(
    pair: Pair,
    both: Both,
    moment: fn(&Pair, Operation, &Path) -> bool,
) -> (Arc<Pair>, Vec<Outcome>) {
    let pair = Arc::new(pair);
    let watch = Arc::new(Overtaken {
        pair: Arc::clone(&pair),
        both,
        moment,
        begun: AtomicBool::new(false),
    });
    let (from, to) = pair.watched(Arc::clone(&watch) as _).unwrap();
    let outcomes = pair.run_between(&from, &to, both.verb, both.rules);
    assert!(watch.begun.load(Ordering::SeqCst), "the second run never began");
    for outcome in &outcomes {
        assert!(outcome.result.is_ok(), "{outcome:?}");
    }
    assert!(pair.is_clean());
    assert_eq!(pair.open(), 0);
    for at in 0..2 {
        assert_eq!(staged(pair.root(at)), [""; 0]);
    }
    (pair, outcomes)
}

/// The first run is about to make a file of the payload.
fn copies(_: &Pair, operation: Operation, path: &Path) -> bool {
    operation == Operation::CreateFile && path.ends_with("sub/b.bin")
}

/// The first run is about to force what it has staged to the disk.
fn syncs(pair: &Pair, operation: Operation, path: &Path) -> bool {
    let is_sync = operation == Operation::SyncFileSystem || operation == Operation::SyncFile;
    is_sync && path.starts_with(pair.root(1).join(".urepo/staging"))
}

/// The first run is about to take its first change lock, on either side.
fn locks(_: &Pair, operation: Operation, path: &Path) -> bool {
    operation == Operation::Lock && path.ends_with(".urepo/change.lock")
}

fn three(pair: Pair) -> (Pair, Vec<RepositoryName>) {
    let names = (0..3).map(|_| pair.deposit_tree()).collect();
    (pair, names)
}

#[test]
fn copies_of_the_same_items() {
    for moment in [copies, syncs] {
        let (pair, names) = three(Pair::new());
        let both = Both { verb: Verb::Copy, rules: Leaves::Stub };
        let (pair, outcomes) = overtake(pair, both, moment);
        assert!(outcomes.iter().all(|outcome| step(outcome) == Step::Nothing));
        assert_eq!(whole_items(&pair.to()).len(), names.len());
    }
}

#[test]
fn migrations_across_file_systems() {
    for rules in [Leaves::Stub, Leaves::Copy] {
        for moment in [copies, syncs, locks] {
            let (pair, names) = three(Pair::across());
            let (pair, outcomes) = overtake(pair, Both { verb: Verb::Migrate, rules }, moment);
            assert!(outcomes.iter().all(|outcome| step(outcome) == Step::Nothing));
            for name in &names {
                assert_eq!(pair.sidecar_at_destination(name).state, State::Original);
            }
        }
    }
}

#[test]
fn migrations_within_a_file_system() {
    let (pair, names) = three(Pair::new());
    let both = Both { verb: Verb::Migrate, rules: Leaves::Stub };
    let (pair, outcomes) = overtake(pair, both, locks);
    assert!(outcomes.iter().all(|outcome| step(outcome) == Step::Nothing));
    assert_eq!(whole_items(&pair.to()).len(), names.len());
}

#[test]
fn migrations_of_copies() {
    // Both go to where nothing is, or to where the same Copy is.
    for twin in [false, true] {
        let pair = Pair::across();
        let name = pair.deposit_tree();
        let original = pair.third();
        let moved = pair.run_between(&pair.from(), &original, Verb::Migrate, Leaves::Stub);
        assert!(matches!(step(&moved[0]), Step::HandOver));
        pair.run_between(&original, &pair.from(), Verb::Copy, Leaves::Stub);
        if twin {
            pair.run(Verb::Copy, Leaves::Stub);
        }
        let moment = if twin { locks } else { copies };
        let both = Both { verb: Verb::Migrate, rules: Leaves::Stub };
        let (pair, outcomes) = overtake(pair, both, moment);
        assert_eq!(step(&outcomes[0]), Step::Nothing);
        assert_eq!(pair.sidecar_at_destination(&name).state, State::Copy);
        assert_eq!(pair.sidecar_at_source(&name).state, State::Elsewhere);
    }
}

#[test]
fn refreshing_the_same_copies() {
    for verb in [Verb::Copy] {
        for moment in [copies, syncs] {
            let (pair, names) = three(Pair::new());
            pair.run(Verb::Copy, Leaves::Stub);
            for name in &names {
                pair.edit_source(name, "sub/b.bin", b"changed");
            }
            let both = Both { verb, rules: Leaves::Stub };
            let (pair, outcomes) = overtake(pair, both, moment);
            assert!(outcomes.iter().all(|outcome| step(outcome) == Step::Nothing));
            for name in &names {
                let files = pair.sidecar_at_source(name).files;
                assert_eq!(pair.sidecar_at_destination(name).files, files);
            }
        }
    }
}

/// Two threads that start together: whichever is faster, both end well.
#[test]
fn started_together() {
    for (verb, across) in [(Verb::Copy, false), (Verb::Migrate, false), (Verb::Migrate, true)] {
        let pair = if across { Pair::across() } else { Pair::new() };
        let names: Vec<_> = (0..8).map(|_| pair.deposit_tree()).collect();
        let start = std::sync::Barrier::new(2);
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    let (from, to) = (pair.from(), pair.to());
                    start.wait();
                    let rules = Leaves::Stub;
                    let summary = pair.try_between(&from, &to, verb, rules, |outcome| {
                        assert!(outcome.result.is_ok(), "{verb:?} {outcome:?}");
                    });
                    assert!(summary.fatal.is_none(), "{verb:?} {summary:?}");
                });
            }
        });
        assert_eq!(whole_items(&pair.to()).len(), names.len());
        assert!(pair.is_clean());
        assert_eq!(pair.open(), 0);
    }
}

/// Lets another run copy everything when this one has chosen its places, and is about to lock.
struct OvertakenAtLock {
    pair: Arc<Pair>,
    begun: AtomicBool,
}

impl Watch for OvertakenAtLock {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if operation == Operation::Lock
            && path.ends_with(".urepo/change.lock")
            && !self.begun.swap(true, Ordering::SeqCst)
        {
            for outcome in self.pair.run(Verb::Copy, Leaves::Stub) {
                assert_eq!(step(&outcome), Step::Copy);
            }
        }
        Ok(())
    }
}

/// The same item from two mirrors that spell its prefix differently.
#[test]
fn copies_whose_sources_spell_the_prefix_differently() {
    let pair = Arc::new(Pair::new());
    let name = pair.deposit_tree();
    let capitals = pair.root(0).with_file_name("capitals");
    crate::support::copy_tree(pair.root(0), &capitals);
    let [subdomain, word, ..] = name.components();
    let prefix = capitals.join(subdomain);
    std::fs::rename(prefix.join(word), prefix.join(word.to_uppercase())).unwrap();
    let spelt = name.as_str().replacen(word, &word.to_uppercase(), 1);
    crate::support::change_item(&capitals, &spelt, |sidecar| {
        sidecar.repository = spelt.parse().unwrap();
    });
    let watch = OvertakenAtLock { pair: Arc::clone(&pair), begun: AtomicBool::default() };
    let watch = Arc::new(watch);
    let watcher = urepo::disk::Watcher::new(Arc::clone(&watch) as _);
    let open = |root: &Path| urepo::collection::Collection::open(root, &watcher).unwrap();
    let (from, to) = (open(&capitals), open(pair.root(1)));
    let outcomes = pair.run_between(&from, &to, Verb::Copy, Leaves::Stub);
    assert!(watch.begun.load(Ordering::SeqCst));
    assert_eq!(outcomes.iter().map(step).collect::<Vec<_>>(), [Step::Nothing]);
    assert_eq!(whole_items(&pair.to()), [name.as_str()]);
}

/// Tries to take an item on when the directory of its year is about to be synced: it is in place by then, and not
/// recorded yet.
struct TakesOn {
    pair: Arc<Pair>,
    /// Where the item arrives.
    at: usize,
    has_tried: AtomicBool,
}

impl Watch for TakesOn {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        let TakesOn { pair, at, has_tried } = self;
        let year = pair.root(*at).join("example.org/archive/2026");
        let is_in_place = || std::fs::read_dir(&year).is_ok_and(|mut items| items.next().is_some());
        if operation == Operation::SyncDirectory && path == year && is_in_place() {
            has_tried.store(true, Ordering::SeqCst);
            let here = if *at == 0 { pair.from() } else { pair.to() };
            let at_once = waiter(&pair.clock).up_to(Duration::ZERO);
            let locked = lock_changes([&here], &agent(), &at_once);
            assert!(matches!(locked, Err(CollectionError::Locked { .. })), "{locked:?}");
        }
        Ok(())
    }
}

/// So its departure cannot be recorded before its arrival.
#[test]
fn no_item_is_taken_on_before_it_is_recorded() {
    let pair = Arc::new(Pair::new());
    let begin = |at| {
        let has_tried = AtomicBool::default();
        let watch = Arc::new(TakesOn { pair: Arc::clone(&pair), at, has_tried });
        let (from, to) = pair.watched(Arc::clone(&watch) as _).unwrap();
        (watch, from, to)
    };
    // A Copy that has just come.
    pair.deposit_tree();
    let (watch, from, to) = begin(1);
    pair.run_between(&from, &to, Verb::Copy, Leaves::Stub);
    assert!(watch.has_tried.load(Ordering::SeqCst));
    // A new item.
    let (watch, from, _) = begin(0);
    let requests = vec![request(pair.root(0).with_file_name("sources").join("dir"))];
    deposit(&from, requests, options(), &pair.clock, |_| ()).unwrap();
    assert!(watch.has_tried.load(Ordering::SeqCst));
}
