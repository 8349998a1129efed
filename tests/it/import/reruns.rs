//! A rerun adds nothing, whatever happened before it.

use super::*;
use crate::support::{
    change_item, copy_tree, ledger_file, ledger_lines, make_collection, scratch, waiter,
};

const TIME: &str = "2026-11-21T02:13:00Z";

#[test]
fn add_nothing() {
    let scratch = scratch();
    let collection = make_collection(&scratch.path().join("archive"));
    let sources = scratch.path().join("sources");
    write(&sources, "a.txt", "alpha");
    write(&sources, "dir/b.txt", "beta");
    std::fs::create_dir(sources.join("dir/empty")).unwrap();
    std::os::unix::fs::symlink("b.txt", sources.join("dir/link")).unwrap();
    let clock = TestClock::at(TIME);
    let run =
        || import(&collection, tree(&sources, Units::default()), import_options(), &clock).unwrap();
    assert_eq!(words(&run().0), ["a.txt imported", "dir imported"]);
    for _ in 0..2 {
        assert_eq!(words(&run().0), ["a.txt there", "dir there"]);
    }
    // Something changed adds that; something that was only touched adds nothing.
    write(&sources, "dir/c.txt", "gamma");
    write(&sources, "a.txt", "alpha");
    assert_eq!(words(&run().0), ["a.txt there", "dir imported"]);
    assert_eq!(words(&run().0), ["a.txt there", "dir there"]);
    assert_eq!(whole_items(&collection).len(), 3);
    // What was deleted does not come back by itself.
    let kind = |line: String| {
        let event: serde_json::Value = serde_json::from_str(&line).unwrap();
        event["event"].as_str().unwrap().to_owned()
    };
    // A touched source was read once, and has a line for its new time.
    let kinds: Vec<_> = ledger_lines(collection.path()).into_iter().map(kind).collect();
    let expected = ["ingestion", "ingestion", "duplication", "ingestion"];
    assert!(
        kinds == expected || kinds == ["ingestion", "ingestion", "ingestion", "duplication"],
        "{kinds:?}"
    );
}

#[test]
fn add_nothing_without_the_ledger() {
    let scratch = scratch();
    let collection = make_collection(&scratch.path().join("archive"));
    let sources = scratch.path().join("sources");
    for at in 0..20 {
        write(&sources, &format!("{at}.txt"), format!("{at}"));
    }
    let clock = TestClock::at(TIME);
    let run = || {
        let units = Units::EachFile;
        import(&collection, tree(&sources, units), import_options(), &clock).unwrap().1
    };
    assert_eq!(run().imported, 20);
    let path = ledger_file(collection.path());
    let lines = std::fs::read_to_string(&path).unwrap();
    // Cut anywhere in its last lines, with rubbish at its end, or lost: the sidecars know.
    let middle = lines.match_indices('\n').nth(9).unwrap().0 + 1;
    for end in (middle..middle + 900).step_by(77).chain([lines.len() - 1]) {
        std::fs::write(&path, &lines[..end]).unwrap();
        // With another writer at work, nobody records what is there.
        for is_alone in [false, true] {
            let at_work =
                (!is_alone).then(|| collection.writer(&agent(), &waiter(&clock)).unwrap());
            let summary = run();
            assert_eq!((summary.there, summary.imported), (20, 0), "cut at {end}");
            drop(at_work);
        }
    }
    std::fs::write(&path, format!("{lines}\u{0}\u{0}rubbish")).unwrap();
    assert_eq!(run().there, 20);
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    assert_eq!(run().there, 20);
    write(&sources, "new.txt", "new");
    assert_eq!(run().imported, 1);
    assert_eq!(run().there, 21);
    assert_eq!(whole_items(&collection).len(), 21);
}

/// A name whose date has not come yet, which a wrong clock has given, says nothing of the names that follow.
#[test]
fn add_nothing_beside_a_name_of_the_future() {
    let scratch = scratch();
    let collection = make_collection(&scratch.path().join("archive"));
    let sources = scratch.path().join("sources");
    let clock = TestClock::at(TIME);
    let run = || {
        let units = Units::EachFile;
        import(&collection, tree(&sources, units), import_options(), &clock).unwrap().1
    };
    let future = "example.org/archive/9998/01.01.00.00";
    for at in 0..3 {
        write(&sources, &format!("{at}.txt"), format!("{at}"));
        assert_eq!((run().imported, run().imported), (1, 0));
        if at == 0 {
            let root = collection.path();
            copy_tree(&root.join(&whole_items(&collection)[0]), &root.join(future));
            change_item(root, future, |sidecar| {
                sidecar.repository = future.parse().unwrap();
                sidecar.ibip = None;
                sidecar.origin.clear();
            });
        }
    }
    let path = ledger_file(collection.path());
    let lines = std::fs::read_to_string(&path).unwrap();
    // The crash lost the last line.
    std::fs::write(&path, &lines[..lines.len() - 10]).unwrap();
    assert_eq!((run().there, run().imported), (3, 0));
}

#[test]
fn know_content_if_they_are_asked_to() {
    let scratch = scratch();
    let collection = make_collection(&scratch.path().join("archive"));
    let sources = scratch.path().join("sources");
    for (name, bytes) in [("a", "1"), ("b", "1"), ("c", "2")] {
        write(&sources, name, bytes);
    }
    let clock = TestClock::at(TIME);
    let run = |skips_same| {
        let options = Options { skips_same, ..import_options() };
        words(&import(&collection, tree(&sources, Units::EachFile), options, &clock).unwrap().0)
    };
    // The second is the same as one of its own group.
    assert_eq!(run(true), ["a imported", "b there", "c imported"]);
    write(&sources, "d", "2");
    assert_eq!(run(true), ["a there", "b there", "c there", "d there"]);
    assert_eq!(run(false), ["a there", "b there", "c there", "d there"]);
    write(&sources, "e", "2");
    assert_eq!(run(false), ["a there", "b there", "c there", "d there", "e imported"]);
    assert_eq!(whole_items(&collection).len(), 3);
}

/// The plan says what the import then does.
#[test]
fn do_what_the_plan_says() {
    let scratch = scratch();
    let collection = make_collection(&scratch.path().join("archive"));
    let sources = scratch.path().join("sources");
    write(&sources, "a.txt", "alpha");
    write(&sources, "dir/b.txt", "beta");
    std::fs::create_dir(sources.join("empty")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", sources.join("dir2")).unwrap();
    write(&sources, "out/x", "x");
    std::os::unix::fs::symlink("../../elsewhere", sources.join("out/link")).unwrap();
    let clock = TestClock::at(TIME);
    for round in 0..2 {
        let found = || tree(&sources, Units::default());
        let before = crate::support::tree(collection.path());
        let (told, plan) = planned(&collection, found(), import_options(), &clock);
        assert_eq!(crate::support::tree(collection.path()), before, "a plan writes nothing");
        let (done, summary) = import(&collection, found(), import_options(), &clock).unwrap();
        assert_eq!(words(&told), words(&done), "round {round}");
        let numbers = |it: &Summary| (it.imported, it.there, it.failed, it.files, it.bytes);
        assert_eq!(numbers(&plan), numbers(&summary), "round {round}");
        assert_eq!(summary.failed, 3);
        assert_eq!(summary.imported, if round == 0 { 2 } else { 0 });
    }
}

#[test]
fn overlap_in_threads_and_import_each_once() {
    let scratch = scratch();
    let root = scratch.path().join("archive");
    make_collection(&root);
    let sources = scratch.path().join("sources");
    for at in 0..60 {
        write(&sources, &format!("{}/{at}.txt", at % 7), format!("{at}"));
    }
    let clock = TestClock::at(TIME);
    let imported: u64 = std::thread::scope(|threads| {
        let run = || {
            let collection = Collection::open(&root, &Watcher::default()).unwrap();
            let found = tree(&sources, Units::EachFile);
            import(&collection, found, import_options(), &clock).unwrap().1.imported
        };
        let runs: Vec<_> = (0..3).map(|_| threads.spawn(run)).collect();
        runs.into_iter().map(|run| run.join().unwrap()).sum()
    });
    assert_eq!(imported, 60);
    let collection = Collection::open(&root, &Watcher::default()).unwrap();
    let mut sources: Vec<_> = origins(&collection).into_iter().map(|it| it.0).collect();
    sources.sort();
    sources.dedup();
    assert_eq!((sources.len(), whole_items(&collection).len()), (60, 60));
}
