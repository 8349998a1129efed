//! Progress of a long run, reported to an observer.

use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::clock::Clock;
use crate::interrupt::Interrupt;

/// Receives progress as work is done. It is called from many threads, often, so it has to be quick.
pub trait Progress: Send + Sync {
    /// Adds `items` and `bytes` to the totals.
    fn expect(&self, items: u64, bytes: u64);

    /// Adds files to the total of a run over one item.
    fn expect_files(&self, _files: u64) {}

    /// Gives the number of items of the whole run: the totals are complete once as many are expected. Without
    /// this call the totals stay unknown.
    fn announce(&self, _items: u64) {}

    /// A scan has begun to find the totals; [`announce`](Progress::announce) ends it.
    fn start_scan(&self) {}

    /// The scan has ended without them.
    fn abandon_scan(&self) {}

    /// `bytes` more of `file` have been copied or read; none when it is opened.
    fn advance(&self, file: &Path, bytes: u64);

    /// `bytes` of those that a scan has found need not be read.
    fn skip(&self, _bytes: u64) {}

    /// One more file of an item is finished.
    fn finish_file(&self) {}

    /// One more item is finished, successfully or not.
    fn finish_item(&self, name: &str);

    /// Whether the progress is visible, so that a scan for the totals is worth its time.
    fn is_shown(&self) -> bool {
        true
    }
}

/// Does `work` while `scan` finds the totals on a thread of its own, if there is a scan and the progress is visible.
///
/// `scan` calls [`Scan::found`] for each item of the run. It reads no file, and returns `None` if it ends
/// before it has found all items: incomplete totals are never announced. The work does not depend on it.
pub fn with_scan<T>(
    progress: &dyn Progress,
    scan: Option<impl FnOnce(&Scan<'_>) -> Option<()> + Send>,
    work: impl FnOnce(&dyn Progress) -> T,
) -> T {
    let Some(scan) = scan.filter(|_| progress.is_shown()) else { return work(progress) };
    let is_over = AtomicBool::new(false);
    let goes_on = || !is_over.load(Ordering::Relaxed);
    std::thread::scope(|threads| {
        progress.start_scan();
        let find = || Scan::run(progress, scan, &goes_on);
        if std::thread::Builder::new().spawn_scoped(threads, find).is_err() {
            progress.abandon_scan();
        }
        let _over = SetOnDrop(&is_over);
        work(&Scanned(progress))
    })
}

/// The longest time that work waits for its totals.
const LONGEST_SCAN: Duration = Duration::from_secs(3);

/// Does `work` after `scan` has found the totals: for work that removes the files that a scan counts.
///
/// The scan ends without totals after three seconds of `clock`, or when a stop is requested.
pub fn scan_first<T>(
    progress: &dyn Progress,
    scan: Option<impl FnOnce(&Scan<'_>) -> Option<()>>,
    (clock, interrupt): (&dyn Clock, &Interrupt),
    work: impl FnOnce(&dyn Progress) -> T,
) -> T {
    let Some(scan) = scan.filter(|_| progress.is_shown()) else { return work(progress) };
    let end = clock.now().checked_add(LONGEST_SCAN.as_nanos().try_into().unwrap_or(0));
    let is_in_time = || end.is_some_and(|end| clock.now() < end);
    progress.start_scan();
    Scan::run(progress, scan, &|| !interrupt.requested() && is_in_time());
    work(&Scanned(progress))
}

/// A scan for the totals of a run.
pub struct Scan<'a> {
    progress: &'a dyn Progress,
    items: Cell<u64>,
    goes_on: &'a dyn Fn() -> bool,
}

impl Scan<'_> {
    fn run(
        progress: &dyn Progress,
        scan: impl FnOnce(&Scan<'_>) -> Option<()>,
        goes_on: &dyn Fn() -> bool,
    ) {
        let found = Scan { progress, items: Cell::new(0), goes_on };
        match scan(&found) {
            Some(()) => progress.announce(found.items.get()),
            None => progress.abandon_scan(),
        }
    }

    /// Adds an item of `bytes` to the totals; `None` if they are no longer wanted.
    pub fn found(&self, bytes: u64) -> Option<()> {
        self.progress.expect(1, bytes);
        self.items.set(self.items.get() + 1);
        self.goes_on()
    }

    /// `None` if the totals are no longer wanted.
    pub fn goes_on(&self) -> Option<()> {
        (self.goes_on)().then_some(())
    }
}

/// Ends the scan, even after a panic.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The progress of work whose totals a scan finds: the work itself adds nothing to them.
struct Scanned<'a>(&'a dyn Progress);

impl Progress for Scanned<'_> {
    fn expect(&self, _items: u64, _bytes: u64) {}

    fn advance(&self, file: &Path, bytes: u64) {
        self.0.advance(file, bytes);
    }

    fn skip(&self, bytes: u64) {
        self.0.advance(Path::new(""), bytes);
    }

    fn finish_item(&self, name: &str) {
        self.0.finish_item(name);
    }

    fn is_shown(&self) -> bool {
        self.0.is_shown()
    }
}

/// Shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn expect(&self, _items: u64, _bytes: u64) {}
    fn advance(&self, _file: &Path, _bytes: u64) {}
    fn finish_item(&self, _name: &str) {}

    fn is_shown(&self) -> bool {
        false
    }
}
