//! A large item that was half copied is taken up again, file by file.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use urepo::collection::recover;
use urepo::disk::{Operation, Watch};
use urepo::identity::RepositoryName;
use urepo::interrupt::Interrupt;
use urepo::transfer::{Leaves, Step, Verb};

use super::support::{Pair, State, step};
use crate::support::{Faults, Mode, System, Trace, agent, staged, tree, waiter, whole_items};

/// A pair whose item counts as large.
fn pair() -> (Pair, RepositoryName) {
    let pair = Pair::new();
    pair.resume_bytes.store(1, Ordering::Relaxed);
    let name = pair.deposit_tree();
    (pair, name)
}

/// Copies until the n-th operation, as if the process had been killed there.
fn cut_short(pair: &Pair, at: usize) -> bool {
    cut_short_by(pair, at, Leaves::Stub)
}

fn cut_short_by(pair: &Pair, at: usize, rules: Leaves) -> bool {
    let faults = Arc::new(Faults::new(pair.root(0), at, Mode::Killed));
    if let Some((from, to)) = pair.watched(Arc::clone(&faults) as _) {
        let _ = pair.try_between(&from, &to, Verb::Copy, rules, |_| ());
    }
    faults.struck().is_some()
}

fn partial(root: &Path) -> PathBuf {
    root.join(".urepo/partial")
}

/// The files in the making, without their directory.
fn half_copied(root: &Path) -> Vec<PathBuf> {
    let walk = walkdir::WalkDir::new(partial(root)).into_iter().filter_map(Result::ok);
    walk.filter(|entry| entry.file_type().is_file()).map(|entry| entry.path().into()).collect()
}

#[test]
fn whole_files_are_taken_over() {
    let mut taken_over = 0;
    for at in 1.. {
        let (pair, name) = pair();
        let struck = cut_short(&pair, at);
        let inode = |path: &Path| std::fs::metadata(path).unwrap().ino();
        let sizes = |path: &&PathBuf| std::fs::metadata(path).unwrap().len() == 300_000;
        let large = half_copied(pair.root(1)).iter().find(sizes).map(|path| inode(path));
        pair.run(Verb::Copy, Leaves::Stub);
        let copied = pair.to().item(&name).unwrap().payload_path().join("sub/b.bin");
        if let Some(large) = large {
            assert_eq!(inode(&copied), large, "{at}: a file that was whole was copied again");
            taken_over += 1;
        }
        assert!(pair.is_clean(), "{at}");
        assert!(half_copied(pair.root(1)).is_empty(), "{at}");
        // A child that another test is just starting may have kept the run from finding itself alone.
        recover(&pair.to(), &agent(), &waiter(&pair.clock)).unwrap();
        assert_eq!(staged(pair.root(1)), [""; 0], "{at}");
        if !struck {
            break;
        }
    }
    assert!(taken_over > 10, "{taken_over}");
}

/// Files that did not change were linked from the Copy that goes.
#[test]
fn a_refresh_that_was_cut_short_is_taken_up_again() {
    let refresh = Leaves::Stub;
    for at in 1.. {
        let (pair, name) = pair();
        pair.run(Verb::Copy, Leaves::Stub);
        pair.edit_source(&name, "a.txt", b"edited");
        let struck = cut_short_by(&pair, at, refresh);
        let outcomes = pair.run(Verb::Copy, refresh);
        assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()), "{at}: {outcomes:?}");
        let payload = pair.to().item(&name).unwrap().payload_path();
        assert_eq!(std::fs::read(payload.join("a.txt")).unwrap(), b"edited", "{at}");
        assert!(pair.is_clean() && half_copied(pair.root(1)).is_empty(), "{at}");
        if !struck {
            break;
        }
    }
}

#[test]
fn what_does_not_prove_itself_is_copied_again() {
    let (pair, name) = pair();
    // Killed when the large file is there.
    let is_there = |root: &Path| {
        half_copied(root).iter().any(|path| std::fs::metadata(path).unwrap().len() == 300_000)
    };
    let mut at = 50;
    while !is_there(pair.root(1)) {
        cut_short(&pair, at);
        at += 1;
    }
    for path in half_copied(pair.root(1)) {
        let mut bytes = std::fs::read(&path).unwrap();
        if let Some(first) = bytes.first_mut() {
            *first ^= 1;
        }
        std::fs::write(&path, bytes).unwrap();
    }
    let outcomes = pair.run(Verb::Copy, Leaves::Stub);
    assert_eq!(step(&outcomes[0]), Step::Copy);
    assert_eq!(whole_items(&pair.to()), [name.to_string()]);
}

#[test]
fn an_original_is_handed_over_from_what_was_taken_up() {
    let (pair, name) = pair();
    cut_short(&pair, 90);
    assert_ne!(tree(&partial(pair.root(1))), [""; 0]);
    let rules = Leaves::Copy;
    pair.run(Verb::Migrate, rules);
    assert_eq!(pair.sidecar_at_destination(&name).state, State::Original);
    assert!(pair.is_clean());
    assert_eq!(tree(&partial(pair.root(1))), [""; 0]);
}

#[test]
fn recovery_gives_up_what_was_half_copied() {
    let (pair, _) = pair();
    cut_short(&pair, 90);
    let to = pair.to();
    let removed = recover(&to, &agent(), &waiter(&pair.clock)).unwrap().removed;
    assert!(
        removed.iter().any(|found| found.path.starts_with(partial(pair.root(1)))),
        "{removed:?}"
    );
    assert!(!partial(pair.root(1)).exists());
    assert!(pair.run(Verb::Copy, Leaves::Stub)[0].result.is_ok());
}

/// Starts a second copy of the same item at a certain operation of the first one.
struct SecondRun {
    pair: Arc<Pair>,
    begun: std::sync::atomic::AtomicBool,
}

impl Watch for SecondRun {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        let is_file = operation == Operation::CreateFile && path.ends_with("sub/b.bin");
        if is_file && !self.begun.swap(true, Ordering::Relaxed) {
            let outcomes = self.pair.run(Verb::Copy, Leaves::Stub);
            assert_eq!(step(&outcomes[0]), Step::Copy, "it is first");
        }
        Ok(())
    }
}

#[test]
fn two_runs_do_not_meddle_with_each_other() {
    let (pair, name) = pair();
    let pair = Arc::new(pair);
    let second = SecondRun { pair: Arc::clone(&pair), begun: false.into() };
    let (from, to) = pair.watched(Arc::new(second)).unwrap();
    let mut failed = 0;
    pair.try_between(&from, &to, Verb::Copy, Leaves::Stub, |outcome| {
        failed += u32::from(outcome.result.is_err());
    });
    assert_eq!(failed, 0, "the name was taken meanwhile: there is nothing left to do");
    assert_eq!(whole_items(&pair.to()), [name.to_string()]);
    assert!(pair.is_clean());
}

/// Requests a stop when the first byte of a file below a path is read.
struct StopAt(PathBuf, Interrupt);

impl Watch for StopAt {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if operation == Operation::Read && path.starts_with(&self.0) {
            self.1.request();
        }
        Ok(())
    }
}

/// The bytes of a large item that is whole are worth keeping, also where its group is not published.
#[test]
fn an_item_that_was_whole_at_a_stop_is_not_read_again() {
    for verb in [Verb::Copy, Verb::Migrate] {
        let pair = if verb == Verb::Copy { Pair::new() } else { Pair::across() };
        pair.resume_bytes.store(1, Ordering::Relaxed);
        let names = [pair.deposit_tree(), pair.deposit_tree()];
        let payload = |name: &RepositoryName| pair.from().item(name).unwrap().payload_path();
        let [first, second] = [payload(&names[0]), payload(&names[1])];
        let interrupt = Interrupt::default();
        *pair.interrupt.lock().unwrap() = interrupt.clone();
        let (from, to) = pair.watched(Arc::new(StopAt(second.clone(), interrupt.clone()))).unwrap();
        let mut stopped = false;
        pair.try_between(&from, &to, verb, Leaves::Stub, |it| stopped |= it.result.is_err());
        assert!(interrupt.requested() && stopped, "{verb:?}");

        *pair.interrupt.lock().unwrap() = Interrupt::default();
        let trace = Arc::new(Trace::on(System::Own));
        let (from, to) = pair.watched(Arc::clone(&trace) as _).unwrap();
        pair.run_between(&from, &to, verb, Leaves::Stub);
        let trace = trace.0.lock().unwrap();
        let is_read = |payload: &Path| {
            trace.iter().any(|(done, path)| *done == Operation::Read && path.starts_with(payload))
        };
        assert_eq!((is_read(&first), is_read(&second)), (false, true), "{verb:?}");
        assert_eq!(whole_items(&pair.to()), names.map(|name| name.to_string()));
    }
}
