//! A directory that others drop files into, and an import empties each night.

use std::time::Duration;

use urepo::import::RejectDirectory;

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
        Folder { scratch, collection }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.scratch.path().join(relative)
    }

    fn run(&self, rule: SourceRule) -> (Vec<Event>, Summary) {
        let options = with_sources(rule);
        let found = tree(&self.path("drop"), Units::default());
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        import(&self.collection, found, options, &clock).unwrap()
    }

    fn listed(&self) -> Vec<String> {
        crate::support::tree(&self.path("drop"))
    }
}

/// What is dropped again with the bytes it had is there already, whatever its times are.
#[test]
fn takes_what_is_dropped_again() {
    let folder = Folder::new();
    let run = |dropped: &[(&str, &str)], seconds| {
        for (name, text) in dropped {
            let file = std::fs::File::open(write(&folder.path("drop"), name, text)).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        }
        let (_, summary) = folder.run(SourceRule::Remove);
        (summary.imported, summary.there, summary.left)
    };
    let dir = [("dir/sub/b.txt", "beta"), ("dir/sub/flag", ""), ("dir/z.txt", "zeta")];
    let files = [("a.txt", "alpha"), ("flag", "")];
    let all = [dir.as_slice(), &files].concat();
    std::fs::remove_file(folder.path("drop/dir/link")).unwrap();
    assert_eq!(run(&all, 1), (3, 0, 0));
    // First it is read, then the ledger knows these times, too.
    assert_eq!(run(&all, 2), (0, 3, 0));
    assert_eq!(run(&all, 2), (0, 3, 0));
    assert_eq!(run(&[("a.txt", "ALPHA"), ("flag", "")], 3), (1, 1, 0));
    assert_eq!(folder.listed(), [""; 0]);
    assert_eq!(whole_items(&folder.collection).len(), 4);
}

/// A scanner may date all its files alike: before a source goes, its bytes decide what it is.
#[test]
fn takes_other_bytes_with_the_size_and_time_of_an_item() {
    for skips_same in [false, true] {
        let folder = Folder::new();
        std::fs::remove_dir_all(folder.path("drop/dir")).unwrap();
        let run = |texts: [&str; 2]| {
            for (name, text) in ["a.txt", "dir/b.txt"].into_iter().zip(texts) {
                let file = write(&folder.path("drop"), name, text);
                let file = std::fs::File::open(file).unwrap();
                file.set_modified(std::time::UNIX_EPOCH).unwrap();
            }
            let options = Options { skips_same, ..with_sources(SourceRule::Remove) };
            let found = tree(&folder.path("drop"), Units::default());
            let clock = TestClock::at("2026-11-21T02:13:00Z");
            let (_, summary) = import(&folder.collection, found, options, &clock).unwrap();
            assert!(!folder.path("drop/a.txt").exists() && !folder.path("drop/dir").exists());
            (summary.imported, summary.there, summary.left)
        };
        assert_eq!(run(["alpha", "beta"]), (2, 0, 0), "{skips_same}");
        assert_eq!(run(["ALPHA", "BETA"]), (2, 0, 0), "{skips_same}");
        // Each of the two is known from now on.
        assert_eq!(run(["alpha", "beta"]), (0, 2, 0), "{skips_same}");
        assert_eq!(run(["ALPHA", "BETA"]), (0, 2, 0), "{skips_same}");
        assert_eq!(whole_items(&folder.collection).len(), 4);
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
        let options = with_sources(SourceRule::Remove);
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        import(&folder.collection, rows.unwrap(), options, &clock).unwrap().1
    };
    assert_eq!(run("alpha").imported, 1);
    let summary = run("ALPHA");
    assert_eq!((summary.imported, summary.there, summary.failed), (0, 0, 1));
    assert!(folder.path("drop/a.txt").exists());
}

/// A crash between the item and the removal leaves what the next run removes.
#[test]
fn removes_what_is_there_already() {
    let folder = Folder::new();
    assert_eq!(folder.run(SourceRule::Keep).1.imported, 2);
    let (_, summary) = folder.run(SourceRule::Remove);
    assert_eq!((summary.imported, summary.there), (0, 2));
    assert_eq!(folder.listed(), [""; 0]);
}

#[test]
fn removes_what_was_imported() {
    let folder = Folder::new();
    let (events, summary) = folder.run(SourceRule::Remove);
    assert_eq!((summary.imported, summary.left), (2, 0), "{:?}", events[0].left);
    assert_eq!(folder.listed(), [""; 0]);
    assert_eq!(whole_items(&folder.collection).len(), 2);
}

/// Nothing goes of which the item is not whole on the disk.
#[test]
fn keeps_what_has_no_whole_item() {
    let folder = Folder::new();
    folder.run(SourceRule::Keep);
    for (source, sidecar) in origins(&folder.collection) {
        let name = sidecar.repository.to_string();
        let file = if last(&source) == "dir" { "sub/b.txt" } else { "a.txt" };
        std::fs::write(folder.collection.path().join(name).join("doc").join(file), "lost").unwrap();
    }
    let before = folder.listed();
    let (_, summary) = folder.run(SourceRule::Remove);
    assert_eq!((summary.there, summary.left), (2, 2));
    assert_eq!(folder.listed(), before);
}

#[test]
fn leaves_alone_what_is_still_written() {
    let folder = Folder::new();
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
        let options = Options { settle, ..with_sources(SourceRule::Remove) };
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
fn moves_aside_what_can_not_become_an_item() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("drop/rejected/empty")).unwrap();
    std::fs::create_dir(folder.path("drop/empty")).unwrap();
    let run = || {
        let path = folder.path("drop/rejected");
        let rejected = Some(RejectDirectory::open(&path, &Watcher::default()).unwrap());
        let options = Options { rejected, ..with_sources(SourceRule::Remove) };
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
        let rejected = RejectDirectory::open(&folder.path("rejected"), &Watcher::default());
        let rejected = Some(rejected.unwrap());
        let settle = Some(Duration::from_secs(60));
        let options = Options { settle, rejected, ..with_sources(SourceRule::Remove) };
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
