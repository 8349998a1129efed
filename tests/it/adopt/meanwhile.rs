//! Trees that change while they are adopted.

use std::time::Duration;

use urepo::adopt::measure;
use urepo::clock::Clock;
use urepo::disk::{Dir, FileFault};
use urepo::identity::{Instant, SECOND};
use urepo::progress::{Progress, Scan, scan_first};

use super::*;

/// Changes a file each time it is read, so often.
struct Meddler {
    path: PathBuf,
    left: AtomicUsize,
}

impl Watch for Meddler {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        let is_it = operation == Operation::Read && path == self.path;
        if is_it && self.left.load(Ordering::SeqCst) > 0 {
            let left = self.left.fetch_sub(1, Ordering::SeqCst);
            std::fs::write(&self.path, vec![0; 10 + left])?;
        }
        Ok(())
    }
}

#[test]
fn a_file_that_changes_is_read_again_three_times_in_all() {
    for (changes, taken) in [(1, true), (2, true), (1000, false)] {
        let world = World::new();
        let path = world.write(&format!("{REPORT}/doc/a"), "a");
        let collection = world.collection(&Watcher::default());
        drop(collection);
        let left = AtomicUsize::new(changes);
        let watcher = Watcher::new(Arc::new(Meddler { path, left }));
        let told = world.adopt_watched(&watcher);
        assert_eq!(told.taken.len(), usize::from(taken), "{changes}");
        if taken {
            whole_items(&world.collection(&Watcher::default()));
        } else {
            let error = &told.refused[REPORT];
            assert!(matches!(error, AdoptError::File(FileFault::Changing(_))), "{error:?}");
            assert!(!world.root().join(REPORT).join("item.toml").exists());
        }
    }
}

/// Puts a file where a sidecar is about to be put.
struct Rival {
    text: Vec<u8>,
}

impl Watch for Rival {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if operation == Operation::Rename && path.ends_with("item.toml") {
            std::fs::write(path, &self.text)?;
        }
        Ok(())
    }
}

#[test]
fn a_file_that_comes_first_is_not_overwritten() {
    let world = World::new();
    world.write(&format!("{REPORT}/doc/a"), "a");
    let rival = |text: Vec<u8>| Watcher::new(Arc::new(Rival { text }));
    let told = world.adopt_watched(&rival(b"mine".to_vec()));
    assert!(matches!(told.refused[REPORT], AdoptError::OtherFile { .. }), "{:?}", told.refused);
    let sidecar = world.root().join(REPORT).join("item.toml");
    assert_eq!(std::fs::read(&sidecar).unwrap(), b"mine");
    // Another run that did the same is as good.
    std::fs::remove_file(&sidecar).unwrap();
    let twin = World::new();
    twin.write(&format!("{REPORT}/doc/a"), "a");
    twin.adopt();
    let text = std::fs::read(twin.root().join(REPORT).join("item.toml")).unwrap();
    let told = world.adopt_watched(&rival(text));
    assert_eq!((told.taken.len(), told.there.len(), told.refused.len()), (0, 1, 0));
}

#[test]
fn while_another_recovers_nothing_is_written_and_it_is_told_once() {
    use urepo::disk::{Dir, Lock, LockMode};
    let world = World::urlib();
    let collection = world.collection(&Watcher::default());
    let own = Dir::open(&world.root().join(".urepo"), Watcher::default()).unwrap();
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let (agent, wait) = (agent(), std::time::Duration::ZERO);
    let holder = agent.holder(&clock);
    let lock = Lock::take(&own, "lock", LockMode::Exclusive, &holder, &waiter(&clock)).unwrap();
    let mode = Mode::Act { collection: &collection, agent: &agent, wait };
    let told = run(mode, None, 2, |_| ());
    let fatal = told.summary.fatal.unwrap().to_string();
    assert_eq!(fatal, "the collection `col` is locked");
    assert_eq!((told.taken.len(), told.there.len()), (0, 0));
    let is_quiet =
        |error: &AdoptError| matches!(error, AdoptError::GroupFailed | AdoptError::Interrupted);
    assert!(told.refused.values().all(is_quiet), "{:?}", told.refused);
    assert!(!world.root().join(REPORT).join("item.toml").exists());
    drop(lock);
    assert_eq!(world.adopt().taken.len(), 5);
}

/// Asks for a stop while a file is read.
struct Stopper(Interrupt);

impl Watch for Stopper {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        if operation == Operation::Read && path.ends_with("data.bin") {
            self.0.request();
        }
        Ok(())
    }
}

#[test]
fn a_stop_leaves_nothing_half_done_and_a_rerun_goes_on() {
    let world = World::urlib();
    let interrupt = Interrupt::default();
    let watcher = Watcher::new(Arc::new(Stopper(interrupt.clone())));
    let collection = world.collection(&watcher);
    let (agent, clock) = (agent(), TestClock::at("2026-11-21T02:13:00Z"));
    let adopter = Adopter {
        mode: Mode::Act { collection: &collection, agent: &agent, wait: PATIENCE },
        copies_of: None,
        peers: Peers::default(),
        jobs: 1,
        clock: &clock,
        progress: &NoProgress,
        interrupt: &interrupt,
    };
    let summary = adopter.run(|_| Ok(()));
    assert!(summary.taken < 5, "{summary:?}");
    let told = world.adopt();
    assert_eq!(told.taken.len() + told.there.len(), 5);
    assert_eq!(told.there.len() as u64, summary.taken);
    assert_eq!(whole_items(&world.collection(&Watcher::default())).len(), 5);
}

/// An hour goes by whenever it is asked.
#[derive(Default)]
struct Hours(AtomicUsize);

impl Clock for Hours {
    fn now(&self) -> Instant {
        let hours = self.0.fetch_add(1, Ordering::SeqCst);
        Instant::from_nanoseconds(hours as i128 * 3600 * SECOND)
    }

    fn pause(&self, _: Duration) {}
}

/// Counts the items that were found, and those that were announced.
#[derive(Default)]
struct Totals {
    found: AtomicUsize,
    announced: AtomicUsize,
}

impl Progress for Totals {
    fn expect(&self, items: u64, _: u64) {
        self.found.fetch_add(items.try_into().unwrap(), Ordering::SeqCst);
    }

    fn announce(&self, items: u64) {
        self.announced.fetch_add(items.try_into().unwrap(), Ordering::SeqCst);
    }

    fn advance(&self, _: &Path, _: u64) {}

    fn finish_item(&self, _: &str) {}
}

#[test]
fn a_scan_ends_within_an_item_on_request_or_after_its_time() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.write(&format!("{REPORT}/doc/{name}"), name);
    }
    let root = Dir::open(&world.root(), Watcher::default()).unwrap();
    let (still, hours) = (TestClock::at("2026-11-21T02:13:00Z"), Hours::default());
    let (goes_on, stopped) = (Interrupt::default(), Interrupt::default());
    stopped.request();
    for (clock, interrupt, items) in
        [(&still as &dyn Clock, &goes_on, 1), (&still, &stopped, 0), (&hours, &goes_on, 0)]
    {
        let totals = Totals::default();
        let scan = |scan: &Scan<'_>| measure(&root, scan);
        scan_first(&totals, Some(scan), (clock, interrupt), |_| ());
        let totals = [totals.found, totals.announced].map(AtomicUsize::into_inner);
        assert_eq!(totals, [items; 2]);
    }
}
