//! A directory that others drop files into, and an import empties each night.

use std::time::Duration;

use urepo::import::ArchiveDirectory;

use super::*;
use crate::support::{make_collection, scratch};

struct Folder {
    scratch: tempfile::TempDir,
    collection: Collection,
}

impl Folder {
    fn new() -> Folder {
        let scratch = scratch();
        let collection = make_collection(&scratch.path().join("archive"));
        write(scratch.path(), "drop/a.txt", "alpha");
        write(scratch.path(), "drop/dir/sub/b.txt", "beta");
        std::os::unix::fs::symlink("sub/b.txt", scratch.path().join("drop/dir/link")).unwrap();
        std::fs::create_dir(scratch.path().join("drop/done")).unwrap();
        Folder { scratch, collection }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.scratch.path().join(relative)
    }

    fn run(&self, after: After) -> (Vec<Event>, Summary) {
        let options = Options { after, ..import_options() };
        let found = tree(&self.path("drop"), Units::default());
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        import(&self.collection, found, options, &clock).unwrap()
    }

    fn done(&self) -> After {
        let path = self.path("drop/done");
        After::Move(ArchiveDirectory::open(&path, &Watcher::default()).unwrap())
    }

    fn listed(&self) -> Vec<String> {
        crate::support::tree(&self.path("drop"))
    }
}

#[test]
fn moves_what_was_imported() {
    let folder = Folder::new();
    let (_, summary) = folder.run(folder.done());
    assert_eq!((summary.imported, summary.failed, summary.left), (2, 0, 0));
    let listed = ["done/", "done/a.txt 5", "done/dir/", "done/dir/link -> sub/b.txt"];
    assert_eq!(folder.listed()[..4], listed);
    assert_eq!(folder.run(folder.done()).1.there, 0);
    // What comes under a name again gets another one there.
    write(&folder.path("drop"), "a.txt", "more");
    assert_eq!(folder.run(folder.done()).1.imported, 1);
    let done = std::fs::read_to_string(folder.path("drop/done/a.txt.1")).unwrap();
    assert_eq!(done, "more");
    assert_eq!(whole_items(&folder.collection).len(), 3);
}

/// What is dropped again with the bytes it had is there already, whatever its times are.
#[test]
fn takes_what_is_dropped_again() {
    for moves in [false, true] {
        let folder = Folder::new();
        if !moves {
            std::fs::remove_dir(folder.path("drop/done")).unwrap();
        }
        let run = |dropped: &[(&str, &str)], seconds| {
            for (name, text) in dropped {
                let file = std::fs::File::open(write(&folder.path("drop"), name, text)).unwrap();
                file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
            }
            let (_, summary) = folder.run(if moves { folder.done() } else { After::Remove });
            (summary.imported, summary.there, summary.left)
        };
        let dir = [("dir/sub/b.txt", "beta"), ("dir/sub/flag", ""), ("dir/z.txt", "zeta")];
        let files = [("a.txt", "alpha"), ("flag", "")];
        let all = [dir.as_slice(), &files].concat();
        std::fs::remove_file(folder.path("drop/dir/link")).unwrap();
        assert_eq!(run(&all, 1), (3, 0, 0), "{moves}");
        // First it is read, then the ledger knows these times, too.
        assert_eq!(run(&all, 2), (0, 3, 0), "{moves}");
        assert_eq!(run(&all, 2), (0, 3, 0), "{moves}");
        assert_eq!(run(&[("a.txt", "ALPHA"), ("flag", "")], 3), (1, 1, 0), "{moves}");
        let expected = if moves { &["done/"][..] } else { &[] };
        let listed = folder.listed();
        let left: Vec<_> =
            listed.iter().filter(|it| !it.starts_with("done/") || *it == "done/").collect();
        assert_eq!(left, expected, "{moves}");
        assert_eq!(whole_items(&folder.collection).len(), 4);
    }
}

/// A scanner may date all its files alike: before a source goes, its bytes decide what it is.
#[test]
fn takes_other_bytes_with_the_size_and_time_of_an_item() {
    for dedupe in [Dedupe::Source, Dedupe::Content] {
        for moves in [false, true] {
            let folder = Folder::new();
            std::fs::remove_dir_all(folder.path("drop/dir")).unwrap();
            if !moves {
                std::fs::remove_dir(folder.path("drop/done")).unwrap();
            }
            let run = |texts: [&str; 2]| {
                for (name, text) in ["a.txt", "dir/b.txt"].into_iter().zip(texts) {
                    let file = write(&folder.path("drop"), name, text);
                    let file = std::fs::File::open(file).unwrap();
                    file.set_modified(std::time::UNIX_EPOCH).unwrap();
                }
                let after = if moves { folder.done() } else { After::Remove };
                let options = Options { after, dedupe, ..import_options() };
                let found = tree(&folder.path("drop"), Units::default());
                let clock = TestClock::at("2026-11-21T02:13:00Z");
                let (_, summary) = import(&folder.collection, found, options, &clock).unwrap();
                assert!(!folder.path("drop/a.txt").exists() && !folder.path("drop/dir").exists());
                (summary.imported, summary.there, summary.left)
            };
            assert_eq!(run(["alpha", "beta"]), (2, 0, 0), "{dedupe:?} {moves}");
            assert_eq!(run(["ALPHA", "BETA"]), (2, 0, 0), "{dedupe:?} {moves}");
            // Each of the two is known from now on.
            assert_eq!(run(["alpha", "beta"]), (0, 2, 0), "{dedupe:?} {moves}");
            assert_eq!(run(["ALPHA", "BETA"]), (0, 2, 0), "{dedupe:?} {moves}");
            assert_eq!(whole_items(&folder.collection).len(), 4);
        }
    }
}

/// A row says which item its source is: other bytes are not that item, and stay.
#[test]
fn keeps_other_bytes_under_the_identifier_of_an_item() {
    let folder = Folder::new();
    let run = |text: &str| {
        let file = std::fs::File::open(write(&folder.path("drop"), "a.txt", text)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
        write(
            &folder.path("drop"),
            "list",
            "path,identifier\na.txt,sid.inpe.br/mtc-m18/2009/02.16.17.46\n",
        );
        let rows =
            super::manifests::read(&folder.path("drop"), "list", Format::Csv, Columns::default());
        let options = Options { after: folder.done(), ..import_options() };
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        import(&folder.collection, rows.unwrap(), options, &clock).unwrap().1
    };
    assert_eq!(run("alpha").imported, 1);
    let summary = run("ALPHA");
    assert_eq!((summary.imported, summary.there, summary.failed), (0, 0, 1));
    assert!(folder.path("drop/a.txt").exists());
}

/// A crash between the item and the move leaves what the next run moves.
#[test]
fn moves_what_is_there_already() {
    let folder = Folder::new();
    // The done directory is an empty one for this run, and so no item.
    assert_eq!(folder.run(After::Keep).1.imported, 2);
    let (_, summary) = folder.run(folder.done());
    assert_eq!((summary.imported, summary.there), (0, 2));
    assert!(!folder.path("drop/a.txt").exists() && folder.path("drop/done/a.txt").exists());
}

#[test]
fn removes_what_was_imported() {
    let folder = Folder::new();
    std::fs::remove_dir(folder.path("drop/done")).unwrap();
    let (events, summary) = folder.run(After::Remove);
    assert_eq!((summary.imported, summary.left), (2, 0), "{:?}", events[0].left);
    assert_eq!(folder.listed(), [""; 0]);
    assert_eq!(whole_items(&folder.collection).len(), 2);
}

/// Nothing goes of which the item is not whole on the disk.
#[test]
fn keeps_what_has_no_whole_item() {
    let folder = Folder::new();
    std::fs::remove_dir(folder.path("drop/done")).unwrap();
    folder.run(After::Keep);
    for (source, sidecar) in origins(&folder.collection) {
        let name = sidecar.repository.to_string();
        let file = if last(&source) == "dir" { "sub/b.txt" } else { "a.txt" };
        std::fs::write(folder.collection.path().join(name).join("doc").join(file), "lost").unwrap();
    }
    let before = folder.listed();
    let (_, summary) = folder.run(After::Remove);
    assert_eq!((summary.there, summary.left), (2, 2));
    assert_eq!(folder.listed(), before);
}

#[test]
fn leaves_alone_what_is_still_written() {
    let folder = Folder::new();
    std::fs::remove_dir(folder.path("drop/done")).unwrap();
    let run = |now: &str| {
        let settle = Some(Duration::from_secs(60));
        let options = Options { settle, ..import_options() };
        let found = tree(&folder.path("drop"), Units::default());
        import(&folder.collection, found, options, &TestClock::at(now)).unwrap().1
    };
    let written = std::fs::metadata(folder.path("drop/a.txt")).unwrap().modified().unwrap();
    let seconds = written.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let at = |seconds: u64| {
        urepo::identity::Instant::from_seconds(i64::try_from(seconds).unwrap()).to_string()
    };
    let summary = run(&at(seconds + 10));
    assert_eq!((summary.imported, summary.unsettled, summary.failed), (0, 2, 0));
    let summary = run(&at(seconds + 100));
    assert_eq!((summary.imported, summary.unsettled), (2, 0));
}

/// A camera whose clock is wrong dates pictures in the future: that says nothing about what is beside them.
#[test]
fn leaves_alone_what_is_still_written_beside_a_file_of_the_future() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("drop/empty")).unwrap();
    let now = std::time::SystemTime::now();
    for dated in ["drop/a.txt", "drop/dir/sub/b.txt", "drop/empty"] {
        let file = std::fs::File::open(folder.path(dated)).unwrap();
        file.set_modified(now + Duration::from_secs(365 * 86_400)).unwrap();
    }
    let seconds = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let run = |after: u64| {
        let settle = Some(Duration::from_secs(60));
        let options = Options { settle, after: folder.done(), ..import_options() };
        let now = i64::try_from(seconds + after).unwrap();
        let clock = TestClock::at(&urepo::identity::Instant::from_seconds(now).to_string());
        let found = tree(&folder.path("drop"), Units::default());
        let summary = import(&folder.collection, found, options, &clock).unwrap().1;
        (summary.imported, summary.unsettled, summary.failed)
    };
    assert_eq!(run(10), (0, 3, 0));
    assert_eq!(run(100), (2, 0, 1));
}

#[test]
fn stops_when_the_time_is_up() {
    let folder = Folder::new();
    std::fs::remove_dir(folder.path("drop/done")).unwrap();
    for at in 0..50 {
        write(&folder.path("drop"), &format!("{at}"), "x");
    }
    // Each look at the clock takes a millisecond.
    let run = |limit: Option<u64>| {
        let time_limit = limit.map(Duration::from_millis);
        let options = Options { time_limit, ..import_options() };
        let found = tree(&folder.path("drop"), Units::default());
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        import(&folder.collection, found, options, &clock).unwrap().1
    };
    let first = run(Some(20));
    assert!(first.out_of_time && first.imported < 52, "{first:?}");
    let second = run(None);
    assert!(!second.out_of_time);
    assert_eq!((first.imported + second.imported, second.there), (52, first.imported));
}

/// Why a source could not be moved is said to its cause: a directory on another file system takes none.
#[test]
fn says_why_it_can_not_move() {
    use std::os::unix::fs::MetadataExt;
    let folder = Folder::new();
    std::fs::remove_dir(folder.path("drop/done")).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let device = |path: &Path| std::fs::metadata(path).unwrap().dev();
    if device(elsewhere.path()) == device(folder.scratch.path()) {
        eprintln!("SKIPPED: there is no second file system");
        return;
    }
    let done = ArchiveDirectory::open(elsewhere.path(), &Watcher::default()).unwrap();
    let (events, summary) = folder.run(After::Move(done));
    assert_eq!((summary.imported, summary.left), (2, 2));
    let reason = &events[0].left[0];
    assert!(reason.contains("cannot put in place") && reason.contains("ross-device"), "{reason}");
    assert!(folder.path("drop/a.txt").exists() && folder.path("drop/dir").exists());
}

/// A source that cannot become an item is news once, and again when it or the reason changes.
#[test]
fn reports_a_failure_once() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("drop/empty")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path("drop/dangling")).unwrap();
    let news = || {
        let (events, summary) = folder.run(folder.done());
        let failed = events.iter().filter(|it| matches!(it.became, Became::Failed(_)));
        let news = failed.clone().filter(|it| !it.is_known);
        let names = news.map(|it| last(&it.source).to_owned()).collect::<Vec<_>>();
        assert_eq!((summary.failed, summary.known_failed), (2, 2 - names.len() as u64));
        assert_eq!(failed.count(), 2);
        names
    };
    assert_eq!(news(), ["dangling", "empty"]);
    assert_eq!(news(), [""; 0]);
    write(&folder.path("drop/empty"), "begun", "");
    std::fs::remove_file(folder.path("drop/empty/begun")).unwrap();
    assert_eq!(news(), ["empty"]);
    std::fs::remove_file(folder.path("drop/dangling")).unwrap();
    std::os::unix::fs::symlink("elsewhere", folder.path("drop/dangling")).unwrap();
    assert_eq!(news(), ["dangling"]);
    // A ledger that was rebuilt does not know what was reported.
    std::fs::remove_file(folder.collection.path().join(Ledger::path())).unwrap();
    assert_eq!(news(), ["dangling", "empty"]);
}

/// Also a source that is an item and cannot be moved is news once.
#[test]
fn reports_once_what_it_can_not_move() {
    let folder = Folder::new();
    let run = || {
        // The item is not whole on the disk, so that its source has to stay.
        let (events, summary) = folder.run(folder.done());
        assert_eq!((summary.there, summary.left), (2, 2));
        events.iter().filter(|it| it.is_known).count()
    };
    folder.run(After::Keep);
    for (_, sidecar) in origins(&folder.collection) {
        let item = folder.collection.path().join(sidecar.repository.to_string());
        std::fs::remove_dir_all(item.join("doc")).unwrap();
    }
    assert_eq!([run(), run()], [0, 2]);
}

#[test]
fn moves_aside_what_can_not_become_an_item() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("drop/rejected/empty")).unwrap();
    std::fs::create_dir(folder.path("drop/empty")).unwrap();
    let run = || {
        let path = folder.path("drop/rejected");
        let rejected = Some(ArchiveDirectory::open(&path, &Watcher::default()).unwrap());
        let options = Options { after: folder.done(), rejected, ..import_options() };
        let found = tree(&folder.path("drop"), Units::default());
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        import(&folder.collection, found, options, &clock).unwrap()
    };
    let (events, summary) = run();
    assert_eq!((summary.imported, summary.failed), (2, 1));
    let moved = events.iter().find_map(|it| it.rejected.clone()).unwrap().unwrap();
    // What is there already is not replaced.
    assert_eq!(moved, resolved(&folder.path("drop/rejected")).unwrap().join("empty.1"));
    assert!(moved.is_dir() && !folder.path("drop/empty").exists());
    let (events, summary) = run();
    assert_eq!((events.len(), summary.failed), (0, 0));
}

/// What is wrong with a source that is still written may be right when it is whole.
#[test]
fn rejects_nothing_that_is_still_written() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("drop/empty")).unwrap();
    std::fs::create_dir(folder.path("rejected")).unwrap();
    let changed = std::fs::metadata(folder.path("drop/empty")).unwrap().modified().unwrap();
    let seconds = changed.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let run = |after: u64| {
        let rejected = ArchiveDirectory::open(&folder.path("rejected"), &Watcher::default());
        let rejected = Some(rejected.unwrap());
        let settle = Some(Duration::from_secs(60));
        let options = Options { settle, rejected, after: folder.done(), ..import_options() };
        let now = i64::try_from(seconds + after).unwrap();
        let clock = TestClock::at(&urepo::identity::Instant::from_seconds(now).to_string());
        let found = tree(&folder.path("drop"), Units::default());
        import(&folder.collection, found, options, &clock).unwrap().1
    };
    let summary = run(10);
    assert_eq!((summary.failed, summary.unsettled), (0, 3));
    assert!(folder.path("drop/empty").exists());
    let summary = run(100);
    assert_eq!((summary.failed, summary.unsettled), (1, 0));
    assert!(folder.path("rejected/empty").exists());
}
