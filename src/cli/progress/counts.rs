//! The progress of a run, and its totals once they are known.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use urepo::progress::Progress;

use super::overview::Overview;

/// The unit of progress of a long run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Bytes are copied or read, of many items.
    Bytes,
    /// Items are inspected without reading their payload.
    Items,
}

/// The counts expected and done so far.
#[derive(Debug)]
pub(super) struct Counts {
    pub unit: Unit,
    items: AtomicU64,
    files: AtomicU64,
    bytes: AtomicU64,
    expected_items: AtomicU64,
    expected_files: AtomicU64,
    expected_bytes: AtomicU64,
    total: Total,
    is_scanning: AtomicBool,
    /// The present file or item.
    current: Mutex<OsString>,
}

/// The number of items of a run, also of one that shows no progress.
#[derive(Clone, Debug)]
pub(crate) struct Total(Arc<AtomicU64>);

impl Total {
    pub(crate) const UNKNOWN: u64 = u64::MAX;

    pub(crate) fn get(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Acquire)).filter(|total| *total != Total::UNKNOWN)
    }
}

impl Default for Total {
    fn default() -> Total {
        Total(Arc::new(AtomicU64::new(Total::UNKNOWN)))
    }
}

impl Progress for Total {
    fn expect(&self, _items: u64, _bytes: u64) {}
    fn advance(&self, _file: &Path, _bytes: u64) {}
    fn finish_item(&self, _name: &str) {}

    fn announce(&self, items: u64) {
        self.0.store(items, Ordering::Release);
    }

    fn is_shown(&self) -> bool {
        false
    }
}

impl Counts {
    pub(super) fn new(unit: Unit, total: Total) -> Counts {
        Counts {
            unit,
            items: AtomicU64::new(0),
            files: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            expected_items: AtomicU64::new(0),
            expected_files: AtomicU64::new(0),
            expected_bytes: AtomicU64::new(0),
            total,
            is_scanning: AtomicBool::new(false),
            current: Mutex::default(),
        }
    }

    /// The present file or item.
    pub(super) fn current(&self) -> String {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.to_string_lossy().into_owned()
    }

    fn set_current(&self, name: &OsStr) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.clear();
        current.push(name);
    }

    /// The progress of the run. Totals are given once they are complete, and as long as they hold: a growing
    /// file makes them wrong, and a stream has none.
    pub(super) fn overview(&self) -> Overview {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let announced = self.total.get().unwrap_or(Total::UNKNOWN);
        let [items, files, bytes] = [&self.items, &self.files, &self.bytes].map(get);
        let [all_items, all_files, all_bytes] =
            [&self.expected_items, &self.expected_files, &self.expected_bytes].map(get);
        let is_complete = all_items >= announced && items <= all_items && bytes <= all_bytes;
        let total = |all: u64| (is_complete && all > 0).then_some(all);
        let is_single = announced == 1;
        let count = match self.unit {
            Unit::Items => Some((items, total(all_items))),
            Unit::Bytes if !is_single => Some((items, total(all_items))),
            Unit::Bytes if all_files > 1 => Some((files.min(all_files), total(all_files))),
            Unit::Bytes => None,
        };
        let scanned = if is_single && all_items == 0 && all_files > 0 {
            Some(all_files)
        } else {
            self.is_scanning.load(Ordering::Relaxed).then_some(all_items)
        };
        Overview {
            bytes: (self.unit == Unit::Bytes).then(|| (bytes, total(all_bytes))),
            count,
            noun: if is_single { "file" } else { "item" },
            scanned,
            ..Overview::default()
        }
    }
}

impl Progress for Counts {
    fn expect(&self, items: u64, bytes: u64) {
        self.expected_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.expected_items.fetch_add(items, Ordering::Relaxed);
    }

    fn expect_files(&self, files: u64) {
        self.expected_files.fetch_add(files, Ordering::Relaxed);
    }

    fn announce(&self, items: u64) {
        self.total.announce(items);
        self.is_scanning.store(false, Ordering::Relaxed);
    }

    fn start_scan(&self) {
        self.is_scanning.store(true, Ordering::Relaxed);
    }

    fn abandon_scan(&self) {
        self.is_scanning.store(false, Ordering::Relaxed);
    }

    fn advance(&self, file: &Path, bytes: u64) {
        if self.unit == Unit::Items {
            return;
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if !file.as_os_str().is_empty() {
            self.set_current(file.as_os_str());
        }
    }

    fn finish_file(&self) {
        self.files.fetch_add(1, Ordering::Relaxed);
    }

    fn finish_item(&self, name: &str) {
        self.items.fetch_add(1, Ordering::Relaxed);
        if self.unit == Unit::Items {
            self.set_current(name.as_ref());
        }
    }
}

#[cfg(test)]
mod tests {
    use urepo::clock::SystemClock;
    use urepo::interrupt::Interrupt;
    use urepo::progress::{Scan, scan_first, with_scan};

    use super::*;

    fn overview(counts: &Counts) -> String {
        counts.overview().text()
    }

    #[test]
    fn a_total_is_shown_once_all_that_was_announced_is_expected() {
        let counts = Counts::new(Unit::Bytes, Total::default());
        counts.expect(1, 10);
        counts.advance(Path::new("a"), 5);
        assert_eq!(overview(&counts), "5 B, 0 items", "more may come");
        counts.announce(2);
        assert_eq!(overview(&counts), "5 B, 0 items", "one item is still unknown");
        counts.expect(1, 30);
        assert_eq!(overview(&counts), "5 B of 40 B, 0 of 2 items");
        counts.finish_item("a");
        counts.advance(Path::new("b"), 36);
        assert_eq!(overview(&counts), "41 B, 1 item", "a file has grown");
    }

    #[test]
    fn one_item_is_counted_in_files() {
        let counts = Counts::new(Unit::Bytes, Total::default());
        counts.announce(1);
        counts.expect_files(2);
        assert_eq!(overview(&counts), "scanning… 2 files");
        counts.expect_files(1);
        counts.expect(1, 9);
        counts.advance(Path::new("a"), 3);
        counts.finish_file();
        assert_eq!(overview(&counts), "3 B of 9 B, 1 of 3 files");
        let stream = Counts::new(Unit::Bytes, Total::default());
        stream.announce(1);
        stream.expect(1, 0);
        stream.advance(Path::new("data"), 7);
        assert_eq!(overview(&stream), "7 B", "a stream has no length");
    }

    #[test]
    fn a_scan_gives_the_totals_and_the_work_adds_none() {
        let counts = Counts::new(Unit::Bytes, Total::default());
        let (found, wait) = std::sync::mpsc::channel();
        let (seen, go_on) = std::sync::mpsc::channel();
        let scan = move |scan: &Scan<'_>| {
            scan.found(10)?;
            found.send(()).unwrap();
            go_on.recv().unwrap();
            scan.found(20)
        };
        with_scan(&counts, Some(scan), |progress| {
            wait.recv().unwrap();
            progress.expect(1, 10);
            progress.skip(10);
            progress.finish_item("a");
            assert_eq!(overview(&counts), "10 B, 1 item, scanning… 1 item");
            seen.send(()).unwrap();
            while counts.is_scanning.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            assert_eq!(overview(&counts), "10 B of 30 B, 1 of 2 items");
        });
        let abandoned = Counts::new(Unit::Bytes, Total::default());
        let scan = |scan: &Scan<'_>| scan.found(1).and(None);
        scan_first(&abandoned, Some(scan), (&SystemClock, &Interrupt::default()), |progress| {
            progress.finish_item("a");
        });
        assert_eq!(overview(&abandoned), "0 B, 1 item");
    }
}
