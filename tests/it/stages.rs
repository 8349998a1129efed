//! Stages: each is held by its run for as long as that lives, so whoever comes next empties those of killed
//! runs and no other, also while others are at work.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use urepo::collection::{Collection, Writer};
use urepo::disk::{Operation, Watch, Watcher};

use crate::support::{
    Faults, Mode, System, TestClock, agent, between_users, deposit, first_user, make_collection,
    options, request, scratch, staged, waiter, whole_items,
};

const NFS: i128 = 0x6969;
/// Longer than any machine takes.
const LIMIT: Duration = Duration::from_secs(60);

fn open(root: &Path, watch: Arc<dyn Watch>) -> Collection {
    Collection::open(root, &Watcher::new(watch)).unwrap()
}

fn join(collection: &Collection) -> Result<Writer, urepo::collection::CollectionError> {
    collection.writer(&agent(), &waiter(&TestClock::at("2026-11-21T02:14:00Z")))
}

/// A collection with a run at work, which has a file in its stage.
struct AtWork {
    root: PathBuf,
    writer: Writer,
    stage: PathBuf,
}

impl AtWork {
    fn new(root: PathBuf, system: System) -> AtWork {
        make_collection(&root);
        let watch = Arc::new(Faults::new(&root, usize::MAX, Mode::Killed).on(system));
        let writer = join(&open(&root, watch)).unwrap();
        let stage = writer.stage_path().to_path_buf();
        std::fs::write(stage.join("in the making"), "").unwrap();
        AtWork { root, writer, stage }
    }

    fn is_untouched(&self) -> bool {
        self.stage.join("holder").is_file() && self.stage.join("in the making").is_file()
    }

    /// What is in the stages of others.
    fn others(&self) -> Vec<String> {
        let own = self.stage.file_name().unwrap().to_str().unwrap();
        staged(&self.root).into_iter().filter(|line| !line.starts_with(own)).collect()
    }

    /// Runs empty the stages of others, but for the notes of whose they are. A child that another test is
    /// just starting may hold the lock of a dead one for a moment.
    fn is_emptied_by(&self, told: &str, run: impl Fn()) {
        let begun = Instant::now();
        let is_note = |line: &str| line.contains("/holder ") || line.contains("/names ");
        let is_left = |line: &String| line.trim_end_matches('/').contains('/') && !is_note(line);
        loop {
            run();
            let others = self.others();
            if !others.iter().any(is_left) {
                return;
            }
            assert!(begun.elapsed() < LIMIT, "{others:?}: {told}");
        }
    }

    /// The stage of a run that was killed.
    fn leave_a_stage(&self) {
        let item = self.root.join(".urepo/staging/7-0123456789abcdef/0-0/0/doc");
        std::fs::create_dir_all(&item).unwrap();
        std::fs::write(item.join("a.txt"), "al").unwrap();
        std::fs::write(item.join("../../../holder"), "a killed run").unwrap();
    }
}

/// What stays of that stage.
const NOTE: &str = "7-0123456789abcdef/holder 12";

/// A deposit is killed at any operation beside a run at work: the next one empties its stage.
#[test]
fn a_killed_run_beside_one_at_work() {
    let scratch = scratch();
    let source = scratch.path().join("a.txt");
    std::fs::write(&source, "alpha").unwrap();
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let mut left = 0;
    for at in System::Own.points() {
        let at_work = AtWork::new(scratch.path().join(format!("archive-{at}")), System::Own);
        let faults = Arc::new(Faults::new(&at_work.root, at, Mode::Killed).of_changes());
        let watcher = Watcher::new(Arc::clone(&faults) as _);
        let run = |collection: &Collection| {
            deposit(collection, vec![request(&source)], options(), &clock, |_| ())
        };
        first_user(|| {
            let _ = Collection::open(&at_work.root, &watcher).map(|collection| run(&collection));
        });
        left += usize::from(at_work.others().len() > 2);
        let collection = Collection::open(&at_work.root, &Watcher::default()).unwrap();
        let told = format!("at {at}, {:?}", faults.struck());
        at_work.is_emptied_by(&told, || {
            let (outcomes, _) = run(&collection).unwrap();
            assert!(outcomes[0].result.is_ok());
        });
        assert!(at_work.is_untouched(), "{told}");
        // Alone, the next one clears up the rest.
        drop(at_work.writer);
        run(&collection).unwrap();
        assert_eq!(staged(&at_work.root), [""; 0], "{told}");
        whole_items(&collection);
        std::fs::remove_dir_all(&at_work.root).unwrap();
        if faults.struck().is_none() {
            break;
        }
    }
    assert!(left > 2, "only {left} runs left something");
}

/// The run that empties a stage is killed at any operation, or one of them fails.
#[test]
fn emptying_fails_anywhere() {
    let scratch = scratch();
    for mode in [Mode::Killed, Mode::Once(Errno::IO)] {
        for at in System::Own.points() {
            let at_work = AtWork::new(scratch.path().join(format!("archive-{at}")), System::Own);
            at_work.leave_a_stage();
            let faults = Arc::new(Faults::new(&at_work.root, at, mode).of_changes());
            let watcher = Watcher::new(Arc::clone(&faults) as _);
            first_user(|| {
                let opened = Collection::open(&at_work.root, &watcher);
                let _ = opened.map(|collection| join(&collection));
            });
            let told = format!("{mode:?} at {at}, {:?}", faults.struck());
            assert!(at_work.is_untouched(), "{told}");
            let collection = Collection::open(&at_work.root, &Watcher::default()).unwrap();
            at_work.is_emptied_by(&told, || join(&collection).unwrap().finish().unwrap());
            assert!(at_work.is_untouched(), "{told}");
            assert!(at_work.others().contains(&NOTE.to_owned()), "{told}");
            std::fs::remove_dir_all(&at_work.root).unwrap();
            if faults.struck().is_none() {
                let least = if mode == Mode::Killed { 5 } else { 20 };
                assert!(at > least, "only {at} operations");
                break;
            }
        }
    }
}

#[test]
fn between_two_users() {
    between_users(a_killed_run_beside_one_at_work);
    between_users(emptying_fails_anywhere);
}

/// The lock of a run on another machine may not be seen: only who is alone removes anything.
#[test]
fn a_network_file_system_needs_the_lock_of_the_collection() {
    let scratch = scratch();
    let system = System::Mounted(NFS);
    let at_work = AtWork::new(scratch.path().join("archive"), system);
    at_work.leave_a_stage();
    let before = at_work.others();
    let watch = Arc::new(Faults::new(&at_work.root, usize::MAX, Mode::Killed).on(system));
    let collection = open(&at_work.root, watch);
    join(&collection).unwrap().finish().unwrap();
    assert_eq!(at_work.others(), before);
    drop(at_work.writer);
    join(&collection).unwrap().finish().unwrap();
    assert_eq!(staged(&at_work.root), [""; 0]);
}

/// A file system that answers each lock on a stage in this way.
struct Locks(Errno);

impl Watch for Locks {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        let is_stage = path.parent().is_some_and(|above| above.ends_with(".urepo/staging"));
        if operation == Operation::Lock && is_stage { Err(self.0.into()) } else { Ok(()) }
    }
}

#[test]
fn a_file_system_without_locks_on_directories_needs_it_too() {
    let scratch = scratch();
    let at_work = AtWork::new(scratch.path().join("archive"), System::Own);
    at_work.leave_a_stage();
    let before = at_work.others();
    let without = open(&at_work.root, Arc::new(Locks(Errno::BADF)));
    join(&without).unwrap().finish().unwrap();
    assert_eq!(at_work.others(), before);
    drop(at_work.writer);
    join(&without).unwrap().finish().unwrap();
    assert_eq!(staged(&at_work.root), [""; 0]);
}

/// A stage that could not be locked just now would be taken for the left-over of a killed run.
#[test]
fn a_lock_that_fails_makes_no_stage() {
    let scratch = scratch();
    let root = scratch.path().join("archive");
    make_collection(&root);
    for errno in [Errno::IO, Errno::NOLCK] {
        join(&open(&root, Arc::new(Locks(errno)))).unwrap_err();
        assert_eq!(staged(&root), [""; 0]);
    }
}

/// Recovery names those who are at work, and nobody who was killed.
#[test]
fn recovery_waits_for_the_living() {
    let scratch = scratch();
    let at_work = AtWork::new(scratch.path().join("archive"), System::Own);
    at_work.leave_a_stage();
    let collection = Collection::open(&at_work.root, &Watcher::default()).unwrap();
    let clock = TestClock::at("2026-11-21T02:14:00Z");
    let at_once = waiter(&clock).up_to(Duration::ZERO);
    let error = urepo::collection::recover(&collection, &agent(), &at_once).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("vault") && !cause.contains("killed"), "{cause}");
}

/// What is made beside writers, with the lock file of whoever makes it, and what a killed run leaves of it.
const MADE_BESIDE: [(&str, &[&str]); 1] = [("change.lock", &["README.new", "round.new"])];

#[test]
fn recovery_removes_what_killed_runs_have_not_put_in_place() {
    let scratch = scratch();
    let root = scratch.path().join("archive");
    make_collection(&root);
    let own = root.join(".urepo");
    let left = MADE_BESIDE.iter().flat_map(|(_, left)| left.iter().map(|file| own.join(file)));
    for path in left.chain([root.join("urepo.toml.new")]) {
        std::fs::write(path, "half").unwrap();
    }
    crate::support::recovered_whole(&root, "");
}

#[test]
fn recovery_leaves_what_is_being_made_to_its_maker() {
    let scratch = scratch();
    let root = scratch.path().join("archive");
    make_collection(&root);
    let collection = Collection::open(&root, &Watcher::default()).unwrap();
    let clock = TestClock::at("2026-11-21T02:14:00Z");
    for (lock, files) in MADE_BESIDE {
        let own = urepo::disk::Dir::open(&root.join(".urepo"), Watcher::default()).unwrap();
        let (mode, waiter) = (urepo::disk::LockMode::Exclusive, waiter(&clock));
        let lock =
            urepo::disk::Lock::take(&own, lock, mode, &agent().holder(&clock), &waiter).unwrap();
        for file in files {
            std::fs::write(own.path().join(file), "half").unwrap();
        }
        let recovered = urepo::collection::recover(&collection, &agent(), &waiter).unwrap();
        assert_eq!(recovered.removed, []);
        let left = urepo::collection::left_overs(&collection).unwrap();
        assert_eq!(left.len(), files.len());
        assert!(left.iter().all(|it| it.life == urepo::collection::Life::AtWork), "{left:?}");
        drop(lock);
        crate::support::recovered_whole(&root, files[0]);
    }
}

/// NFS locks files only, and not what is open for reading alone.
#[test]
fn without_locks_on_directories_what_is_lost_is_rebuilt() {
    struct FilesOnly;
    impl Watch for FilesOnly {
        fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
            let refused = operation == Operation::Lock && path.is_dir();
            if refused { Err(Errno::BADF.into()) } else { Ok(()) }
        }
    }
    let scratch = scratch();
    let root = scratch.path().join("archive");
    make_collection(&root);
    std::fs::remove_dir_all(root.join(".urepo/ledger")).unwrap();
    join(&open(&root, Arc::new(FilesOnly))).unwrap().finish().unwrap();
    assert!(root.join(".urepo/ledger").is_dir());
}
