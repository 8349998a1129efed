//! Dates that cannot be read or written.

use super::*;

#[test]
fn garbage_in_place_of_dates_is_ignored_and_replaced() {
    let good = "11.21.02.00 2026-11-22T03:00:00Z\n";
    let after = "11.21.02.01 2026-11-22T03:00:00Z\n";
    for garbage in [
        String::new(),
        "\0".repeat(5000),
        "x".repeat(100_000),
        format!("{good}{good}"),
        format!("{after}{good}"),
        format!("{good}11.21.02.01 2026-11-22T03:00"),
        format!("{good}11.21.02.01 yesterday\n"),
        format!("{good}{after}\n"),
        format!("{good}\u{fffd}"),
    ] {
        let night = Night::new(2);
        night.run(None, None);
        std::fs::write(night.dates(), &garbage).unwrap();
        let (verified, summary) = night.run(Some(DAY), None);
        assert_eq!((verified, summary.skipped), (vec![0, 1], 0), "{garbage:.60}");
        assert_eq!(night.run(Some(DAY), None).1.skipped, 2, "{garbage:.60}");
    }
    let night = Night::new(2);
    night.run(None, NO_TIME);
    for garbage in ["", "soon\n", "2026-11-22T03:00:00Z", "2999-01-01T00:00:00Z\n"] {
        std::fs::write(night.roots.path("a/.urepo/verified/round"), garbage).unwrap();
        assert_eq!(night.run(None, NO_TIME).0, [0], "{garbage}: a round begins");
    }
    // What is no file is left alone, and items are verified all the same.
    std::fs::remove_file(night.dates()).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", night.dates()).unwrap();
    assert_eq!(night.run(Some(DAY), None).0, [0, 1]);
    assert!(Path::new("/etc/passwd").exists());
}

#[test]
fn dates_may_be_removed() {
    let night = Night::new(2);
    night.run(None, NO_TIME);
    std::fs::remove_dir_all(night.roots.path("a/.urepo/verified")).unwrap();
    assert_eq!(night.run(None, NO_TIME).0, [0]);
    assert_eq!(night.run(None, NO_TIME).0, [1]);
}

#[test]
fn without_a_place_for_dates_all_is_verified() {
    let night = Night::new(3);
    // Root may write wherever it likes, but not where a file is.
    std::fs::write(night.roots.path("a/.urepo/verified"), "").unwrap();
    let (verified, summary) = night.run(Some(DAY), None);
    assert_eq!((verified, summary.round), (vec![0, 1, 2], None));
    for _ in 0..2 {
        let (verified, summary) = night.run(None, NO_TIME);
        assert_eq!((verified, summary.round), (vec![0], Some(Round::Lost)));
    }
    assert_eq!(night.run(None, Some(DAY)).1.round, Some(Round::Complete));
}

/// Makes the n-th operation on the dates fail.
struct FailingDates {
    at: usize,
    seen: AtomicUsize,
}

impl Watch for FailingDates {
    fn before(&self, _: Operation, path: &Path) -> io::Result<()> {
        let is_ours = path.components().any(|part| part.as_os_str() == ".urepo");
        // That there is a displaced item in the trash is a finding, not a date.
        let is_ours = is_ours && !path.ends_with("trash");
        if is_ours && self.seen.fetch_add(1, Ordering::SeqCst) + 1 == self.at {
            return Err(rustix::io::Errno::NOSPC.into());
        }
        Ok(())
    }
}

/// Opening the directory and taking its lock.
const BEFORE_THE_FIRST_LINE: usize = 5;

/// Whatever fails, all is verified that has to be, and no date is made up.
#[test]
fn what_goes_wrong_with_dates_is_no_error() {
    for at in 1.. {
        let mut night = Night::new(3);
        night.damage(1);
        night.run(None, None);
        // Of an item that is damaged since there is a date.
        night.damage(2);
        night.clock.set("2026-12-24T03:00:00Z");
        let failing = Arc::new(FailingDates { at, seen: AtomicUsize::new(0) });
        let watcher = Watcher::new(failing.clone());
        let root = night.roots.path("a");
        let Ok(collection) = Collection::open(&root, &watcher) else { continue };
        night.collection = collection;
        let before = failing.seen.load(Ordering::SeqCst);
        let (verified, summary) = night.run(Some(7 * DAY), Some(DAY));
        assert_eq!((verified, summary.damaged_items), (vec![0, 1, 2], 2), "{at}");
        night.collection = Collection::open(&root, &Watcher::default()).unwrap();
        let dated = night.dated();
        // As they were, where nothing at all could be written.
        let is_untouched = dated == [0, 2] && at <= before + BEFORE_THE_FIRST_LINE;
        assert!(dated == [0] || dated.is_empty() || is_untouched, "{at}: {dated:?}");
        let (verified, _) = night.run(None, Some(DAY));
        assert!(verified == [0, 1, 2], "{at}: {verified:?}");
        assert_eq!(night.dated(), [0], "{at}");
        if at > failing.seen.load(Ordering::SeqCst) {
            assert!(at > before + 10, "there are more operations than that");
            return;
        }
    }
}
