//! A repair that fails or is killed at any file operation loses no byte and can be repeated.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::io::Errno;
use urepo::agent::Caller;
use urepo::collection::{Collection, CollectionError, Names, lock_changes};
use urepo::custody::CustodyId;
use urepo::digest::Digest;
use urepo::disk::{Operation, Watch, Watcher};
use urepo::item::State;
use urepo::repair::{Options, Outcome, RepairError, Repairer, Unsealed};

use super::{Pair, copy_tree, everything, flip, lose_sidecar, mended};
use crate::ledger::check_ledger;
use crate::power::Disk;
use crate::support::{
    Faults, Mode, System, TestClock, Trace, agent, between_users, first_user, recovered_whole,
    staged, waiter,
};

/// An item with every kind of damage, its sidecar `with` it or not.
fn damage(pair: &Pair, with_sidecar: bool) {
    let doc = pair.item("a").join("doc");
    flip(&doc.join("a.txt"));
    fs::remove_file(doc.join("sub/b.bin")).unwrap();
    fs::write(doc.join("added"), "added").unwrap();
    if with_sidecar {
        fs::write(pair.item("a").join("item.toml"), "rot").unwrap();
    }
}

/// Whether files that no donor could give at that moment were named, and the rest was mended.
pub(super) fn is_partial(outcome: &Result<Outcome, RepairError>) -> bool {
    matches!(outcome, Ok(Outcome::Repaired(plan)) if plan.lost().next().is_some())
}

/// Repairs with the n-th operation failing, for every n, and checks the promises each time.
fn every_operation(mode: Mode, with_sidecar: bool, system: System) {
    let pair = Pair::new();
    let sidecar = pair.sidecar("a");
    damage(&pair, with_sidecar);
    copy_tree(&pair.root("a"), &pair.root("template"));
    let bytes: BTreeSet<Digest> = files_of(&pair);
    let old = everything(&pair.item("a"));
    let donor = everything(&pair.root("b"));
    let mut strikes = 0;
    for at in system.points() {
        let faults = Arc::new(Faults::new(pair.scratch.path(), at, mode).on(system).of_changes());
        let watcher = Watcher::new(Arc::clone(&faults) as _);
        let outcome = first_user(|| pair.repair_with(&["b"], Options::default(), &watcher));
        let struck = faults.struck();
        let context = format!("{at}: {struck:?}: {:?}", outcome.as_ref().err());
        assert!(bytes.is_subset(&pair.kept()), "bytes are lost: {context}");
        if let (Mode::Once(Errno::MFILE), Err(error)) = (mode, &outcome) {
            assert!(!error.is_damage(), "a shortage is no damage: {context}");
        }
        if !pair.item("a").exists() {
            // Set aside, where two names cannot be swapped: readers say so, and the next writer puts it back.
            let displaced = pair.open("a").displaced(&Names::default()).unwrap();
            assert_eq!(displaced, std::slice::from_ref(&pair.name), "{context}");
        } else if everything(&pair.item("a")) == old {
            assert!(outcome.is_err(), "{context}");
        } else if !is_partial(&outcome) {
            assert_eq!(pair.codes(), [], "neither the old item nor the mended one: {context}");
            if !matches!(mode, Mode::Killed | Mode::Once(Errno::MFILE)) {
                assert!(is_told(&outcome), "{context}");
            }
        }
        let here = if outcome.is_ok() { std::slice::from_ref(&pair.name) } else { &[] };
        check_ledger(&pair.root("a"), here, &context);
        // Again, as after a crash.
        let again = pair.repair(&["b"]);
        assert!(again.is_ok(), "{again:?}: {context}");
        assert_eq!(pair.codes(), [], "{context}");
        assert_eq!(pair.sidecar("a"), sidecar, "{context}");
        recovered_whole(&pair.root("a"), &context);
        assert!(bytes.is_subset(&pair.kept()), "bytes are lost by the second run: {context}");
        check_ledger(&pair.root("a"), std::slice::from_ref(&pair.name), &context);
        assert_eq!(everything(&pair.root("b")), donor, "the donor was changed: {context}");
        if struck.is_none() {
            assert_eq!(again.unwrap(), Outcome::Sound);
            break;
        }
        strikes = at;
        fs::remove_dir_all(pair.root("a")).unwrap();
        copy_tree(&pair.root("template"), &pair.root("a"));
    }
    assert!(strikes > 15, "only {strikes} operations were made to fail");
}

/// Whether the outcome says that the item was changed, whatever happened afterwards.
pub(super) fn is_told(outcome: &Result<Outcome, RepairError>) -> bool {
    use urepo::collection::Stopped;
    matches!(
        outcome,
        Ok(Outcome::Repaired(_))
            | Err(RepairError::Collection(CollectionError::Stopped(Stopped::Unconfirmed { .. }))
                | RepairError::NotWholeInPlace { .. })
    )
}

/// Of an item that was put back, nothing is found sound that could not be read, and nothing is swapped for itself.
#[test]
fn an_error_while_reading_is_never_nothing_to_repair() {
    for donors in [&["b"][..], &[]] {
        let pair = Pair::new();
        let newer = pair.sidecar("a").custody.passed_to("", CustodyId::from(*b"newer---"));
        let holder = pair.open("a").id().to_owned();
        let newer = newer.passed_to(&holder, CustodyId::from(*b"newest--"));
        pair.change("b", |sidecar| sidecar.custody = newer.clone());
        pair.record(State::Original, &newer, "2026-11-21T02:13:00Z");
        copy_tree(&pair.root("a"), &pair.root("template"));
        let run = |watcher: &Watcher| pair.repair_with(donors, Options::default(), watcher);
        let expected = run(&Watcher::default());
        let again = || {
            fs::remove_dir_all(pair.root("a")).unwrap();
            copy_tree(&pair.root("template"), &pair.root("a"));
        };
        for at in 1.. {
            again();
            let mode = Mode::Once(Errno::IO);
            let faults = Arc::new(Faults::new(pair.scratch.path(), at, mode));
            let outcome = run(&Watcher::new(Arc::clone(&faults) as _));
            let struck = faults.struck();
            let context = format!("{donors:?} at {at}: {struck:?}: {outcome:?}, not {expected:?}");
            match (&outcome, &expected) {
                (Ok(Outcome::Sound), Ok(Outcome::Repaired(_))) => panic!("{context}"),
                (Ok(Outcome::Repaired(plan)), _) => {
                    assert!(!plan.changes_nothing(), "{context}");
                }
                _ => {}
            }
            if struck.is_none() {
                assert!(at > 10, "{context}");
                break;
            }
        }
    }
}

#[test]
fn between_two_users() {
    for mode in [Mode::Killed, Mode::ANY] {
        between_users(|| every_operation(mode, true, System::Own));
    }
}

/// Power may fail at any moment: everything is on the disk before it takes the place of the old item,
/// and the swap is on the disk before anything is said.
#[test]
fn nothing_is_in_its_place_before_it_is_on_the_disk() {
    [System::Own, System::Network, System::Many]
        .into_iter()
        .for_each(nothing_relies_on_what_is_not_there);
}

fn nothing_relies_on_what_is_not_there(system: System) {
    let pair = Pair::new();
    damage(&pair, true);
    let trace = Arc::new(Trace::on(system));
    let watcher = Watcher::new(Arc::clone(&trace) as _);
    pair.repair_with(&["b"], Options::default(), &watcher).unwrap();
    let trace = trace.0.lock().unwrap();
    let last = |wanted: &dyn Fn(Operation, &Path) -> bool| {
        trace.iter().rposition(|(operation, path)| wanted(*operation, path)).unwrap()
    };
    let year = pair.item("a").parent().unwrap().to_path_buf();
    let trash = pair.root("a").join(".urepo/trash");
    let staging = pair.root("a").join(".urepo/staging");
    let is_staged = |path: &Path| path.starts_with(&staging) && !path.ends_with("names");
    let made = last(&|operation, path| {
        let makes = [Operation::Write, Operation::MakeLink, Operation::SetAttributes];
        makes.contains(&operation) && is_staged(path)
    });
    let read_back = last(&|operation, path| operation == Operation::Read && is_staged(path));
    let swapped = last(&|operation, path| operation == Operation::Rename && path == pair.item("a"));
    let year_synced =
        last(&|operation, path| operation == Operation::SyncDirectory && path == year);
    let trash_synced =
        last(&|operation, path| operation == Operation::SyncDirectory && path == trash);
    let mut disk = Disk::default();
    trace[..read_back].iter().for_each(|(operation, path)| disk.apply(*operation, path));
    let root = pair.root("a");
    let lost = disk.lost_of_stages(&root);
    assert!(lost.is_empty(), "{lost:?} is not on the disk when it is read back");
    let order = [made, read_back, swapped, year_synced];
    assert!(order.is_sorted(), "{order:?}\n{trace:#?}");
    assert!(swapped < trash_synced);
}

/// The digests of all that is in the damaged item.
fn files_of(pair: &Pair) -> BTreeSet<Digest> {
    super::digests_below(&pair.item("a"), |_| true)
}

#[test]
fn killed_at_any_operation() {
    every_operation(Mode::Killed, false, System::Own);
}

#[test]
fn killed_at_any_operation_with_the_sidecar_lost() {
    every_operation(Mode::Killed, true, System::Own);
}

#[test]
fn an_error_at_any_operation() {
    every_operation(Mode::DISK, false, System::Own);
}

#[test]
fn an_error_at_any_operation_with_the_sidecar_lost() {
    every_operation(Mode::DISK, true, System::Own);
}

#[test]
fn too_few_descriptors_at_any_operation() {
    every_operation(Mode::Once(Errno::MFILE), false, System::Own);
    every_operation(Mode::Once(Errno::MFILE), true, System::Own);
}

#[test]
fn on_other_systems() {
    for system in System::OTHERS {
        every_operation(Mode::Killed, false, system);
        every_operation(Mode::Once(Errno::IO), true, system);
    }
}

/// An item whose sidecar is written from what speaks: no other collection has it.
struct WrittenFromLines {
    prepare: fn(&Pair),
    donors: &'static [&'static str],
    unsealed: Unsealed,
}

impl WrittenFromLines {
    fn every_operation(&self) {
        for mode in [Mode::Killed, Mode::DISK, Mode::Once(Errno::NOSPC)] {
            let pair = Pair::new();
            (self.prepare)(&pair);
            copy_tree(&pair.root("a"), &pair.root("template"));
            let options = Options { unsealed: self.unsealed };
            for at in System::Own.points() {
                let faults = Arc::new(Faults::new(&pair.root("a"), at, mode).of_changes());
                let watcher = Watcher::new(Arc::clone(&faults) as _);
                let outcome = first_user(|| pair.repair_with(self.donors, options, &watcher));
                let struck = faults.struck();
                let context = format!("{mode:?} at {at}: {struck:?}: {outcome:?}");
                assert!(struck.is_some() || outcome.is_ok(), "{context}");
                let again = pair.repair_with(self.donors, options, &Watcher::default());
                assert!(again.is_ok(), "{again:?}: {context}");
                assert_eq!(pair.codes(), [], "{context}");
                recovered_whole(&pair.root("a"), &context);
                if struck.is_none() {
                    assert!(at > 10, "only {at} operations were made to fail");
                    break;
                }
                fs::remove_dir_all(pair.root("a")).unwrap();
                copy_tree(&pair.root("template"), &pair.root("a"));
            }
        }
    }
}

#[test]
fn a_stub_is_written_at_any_operation() {
    let prepare = |pair: &Pair| {
        let holder = pair.open("b").id().to_owned();
        let passed = pair.sidecar("a").custody.passed_to(&holder, CustodyId::from(*b"migrated"));
        pair.change("b", |sidecar| {
            (sidecar.state, sidecar.custody) = (State::Original, passed.clone());
        });
        pair.record(State::Elsewhere, &passed, "2026-11-21T02:13:00Z");
        fs::remove_dir_all(pair.item("a")).unwrap();
    };
    WrittenFromLines { prepare, donors: &["b"], unsealed: Unsealed::Refuse }.every_operation();
}

#[test]
fn a_payload_is_sealed_as_it_lies_there_at_any_operation() {
    let prepare = |pair: &Pair| fs::remove_file(pair.item("a").join("item.toml")).unwrap();
    WrittenFromLines { prepare, donors: &[], unsealed: Unsealed::Seal }.every_operation();
}

/// Does something once, before the first write into the stage that is for `file`.
struct Meanwhile<F> {
    file: &'static str,
    act: F,
    done: AtomicBool,
}

impl<F: Fn() + Send + Sync> Watch for Meanwhile<F> {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        let is_staged = path.display().to_string().contains("/staging/");
        if operation == Operation::CreateFile
            && is_staged
            && path.ends_with(self.file)
            && !self.done.swap(true, Ordering::SeqCst)
        {
            (self.act)();
        }
        Ok(())
    }
}

fn repair_while(
    pair: &Pair,
    file: &'static str,
    act: impl Fn() + Send + Sync + 'static,
) -> Result<Outcome, RepairError> {
    let watch = Arc::new(Meanwhile { file, act, done: AtomicBool::new(false) });
    let outcome =
        pair.repair_with(&["b"], Options::default(), &Watcher::new(Arc::clone(&watch) as _));
    assert!(watch.done.load(Ordering::SeqCst), "it did not come to that");
    assert_eq!(staged(&pair.root("a")), [""; 0]);
    outcome
}

/// Its bytes were right when they were looked for, and are others when they are copied.
#[test]
fn a_donor_that_changes_meanwhile() {
    let pair = Pair::new();
    damage(&pair, false);
    let old = everything(&pair.item("a"));
    let theirs = pair.item("b").join("doc/a.txt");
    let outcome = repair_while(&pair, "doc/a.txt", move || flip(&theirs));
    assert!(matches!(outcome, Err(RepairError::Changed { .. })), "{outcome:?}");
    assert_eq!(everything(&pair.item("a")), old);
}

/// Somebody writes into the sidecar by hand: their text is not replaced by an older one.
#[test]
fn a_sidecar_that_changes_meanwhile() {
    let pair = Pair::new();
    damage(&pair, false);
    let own = pair.item("a").join("item.toml");
    let text = format!("# by hand\n{}", fs::read_to_string(&own).unwrap());
    let (path, changed) = (own.clone(), text.clone());
    let outcome = repair_while(&pair, "doc/a.txt", move || fs::write(&path, &changed).unwrap());
    assert!(matches!(outcome, Err(RepairError::Changed { .. })), "{outcome:?}");
    assert_eq!(fs::read_to_string(&own).unwrap(), text);
}

/// A file that was good is not any more when it is read back.
#[test]
fn a_kept_file_that_changes_meanwhile() {
    let pair = Pair::new();
    damage(&pair, false);
    let kept = pair.item("a").join("doc/c.txt");
    let outcome = repair_while(&pair, "doc/a.txt", move || flip(&kept));
    match outcome {
        Err(RepairError::NotWhole { finding, .. }) => {
            assert!(finding.contains("U204"), "{finding}");
        }
        outcome => panic!("{outcome:?}"),
    }
    assert!(pair.item("a").join("doc/added").exists());
    // The next run takes it from the donor as well.
    pair.repair(&["b"]).unwrap();
    assert_eq!(pair.codes(), []);
}

/// It was an honest Copy when the decision was made, and holds the Original when that is carried out.
#[test]
fn a_donor_that_becomes_the_original_meanwhile() {
    for holder in ["b", "c"] {
        let mut pair = Pair::new();
        pair.add_copy("c");
        pair.witnesses = vec!["c"];
        lose_sidecar(&pair, "a");
        let theirs = pair.item(holder).join("item.toml");
        let mut sidecar = pair.sidecar(holder);
        sidecar.state = State::Original;
        let own = pair.open(holder).id().to_owned();
        sidecar.custody = sidecar.custody.passed_to(&own, CustodyId::from(*b"promoted"));
        let (path, text) = (theirs.clone(), sidecar.to_text());
        let outcome = repair_while(&pair, "item.toml", move || fs::write(&path, &text).unwrap());
        match outcome {
            Err(RepairError::Changed { path, .. }) => assert_eq!(path, theirs),
            outcome => panic!("{outcome:?}"),
        }
        assert!(!pair.item("a").join("item.toml").exists());
        pair.repair(&["b"]).unwrap();
        // Of a Copy that was Current before, `a` is what it was: an Original that is behind.
        let expected = if holder == "b" { State::Copy } else { State::Original };
        assert_eq!(pair.sidecar("a").state, expected);
    }
}

/// Two repairs of one item at once: the slower one finds that nothing is left to mend.
#[test]
fn an_item_that_is_mended_meanwhile() {
    for is_missing in [false, true] {
        let pair = Arc::new(Pair::new());
        damage(&pair, true);
        if is_missing {
            fs::remove_dir_all(pair.item("a")).unwrap();
        }
        let faster = Arc::clone(&pair);
        let outcome = repair_while(&pair, "doc/a.txt", move || {
            mended(faster.repair(&["b"]));
        });
        assert_eq!(outcome.unwrap(), Outcome::Sound);
        assert_eq!(pair.codes(), []);
    }
}

/// Two who change an item do so one after the other, in the collection that decides as well.
#[test]
fn an_item_that_is_locked() {
    for holder in ["a", "b"] {
        let pair = Pair::new();
        damage(&pair, true);
        let (other, clock) = (pair.open(holder), TestClock::at("2026-11-22T00:00:00Z"));
        let locks = lock_changes([&other], &agent(), &waiter(&clock)).unwrap();
        let (options, watcher) = (Options::default(), Watcher::default());
        let outcome = pair.with_repairer(&["b"], options, &watcher, |repairer| {
            let writer = repairer.collection.writer(&agent(), &waiter(repairer.caller.clock))?;
            Repairer { caller: Caller { wait: Duration::ZERO, ..repairer.caller }, ..*repairer }
                .repair(&pair.name, &writer)
        });
        let locked =
            matches!(outcome, Err(RepairError::Collection(CollectionError::Locked { .. })));
        assert!(locked, "{outcome:?}");
        drop(locks);
        pair.repair(&["b"]).unwrap();
        assert_eq!(pair.codes(), []);
    }
}

/// Tries to lock the item when its line in the ledger is written.
struct Recording {
    root: PathBuf,
    is_locked: AtomicBool,
}

impl Watch for Recording {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        let is_ledger = path.starts_with(self.root.join(".urepo/ledger"));
        if is_ledger && operation == Operation::Write {
            let a = Collection::open(&self.root, &Watcher::default()).unwrap();
            let clock = TestClock::at("2026-11-22T00:00:00Z");
            let at_once = waiter(&clock).up_to(Duration::ZERO);
            let locks = lock_changes([&a], &agent(), &at_once);
            let is_locked = matches!(locks, Err(CollectionError::Locked { .. }));
            self.is_locked.store(is_locked, Ordering::SeqCst);
        }
        Ok(())
    }
}

/// Whoever has the lock next finds what is recorded as it is on the disk.
#[test]
fn a_mended_item_is_recorded_while_it_is_locked() {
    let pair = Pair::new();
    damage(&pair, false);
    let root = pair.root("a");
    let watch = Arc::new(Recording { root, is_locked: AtomicBool::new(false) });
    let watcher = Watcher::new(Arc::clone(&watch) as _);
    mended(pair.repair_with(&["b"], Options::default(), &watcher));
    assert!(watch.is_locked.load(Ordering::SeqCst));
}

/// Other items can be changed while files and donors are read.
#[test]
fn no_lock_is_held_while_the_item_is_read_and_built() {
    let pair = Pair::new();
    damage(&pair, false);
    let root = pair.root("a");
    let outcome = repair_while(&pair, "doc/a.txt", move || {
        let other = Collection::open(&root, &Watcher::default()).unwrap();
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        drop(lock_changes([&other], &agent(), &waiter(&clock)).unwrap());
    });
    assert!(matches!(outcome, Ok(Outcome::Repaired(_))), "{outcome:?}");
}
