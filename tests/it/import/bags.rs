//! Bags: taken when they are valid, to the last byte, and refused when they are not.

use super::*;
use crate::support::{make_collection, scratch};

/// A bag of two files, as `bagit.py` writes one.
fn make_bag(bag: &Path) {
    write(bag, "data/a.txt", "alpha");
    write(bag, "data/sub/b%.txt", "beta");
    write(bag, "bagit.txt", "BagIt-Version: 0.97\nTag-File-Character-Encoding: UTF-8\n");
    let manifest =
        format!("{}  data/a.txt\n{}  data/sub/b%.txt\n", Digest::of(b"alpha"), Digest::of(b"beta"));
    write(bag, "manifest-sha256.txt", &manifest);
    // Of the same two files.
    write(
        bag,
        "manifest-md5.txt",
        "2c1743a391305fbf367df8e4f069f9f9  data/a.txt\n\
        987bcab01b929eb2c07877b224215c92 *data/sub/b%.txt\n",
    );
    let info = "Payload-Oxum: 9.2\nBagging-Date: 2026-11-20\nTitle: A bag\n\
                External-Description: what is\n  in it\nSource-Organization: INPE\n";
    write(bag, "bag-info.txt", info);
    let tags = format!("{}  bag-info.txt\n", Digest::of(info.as_bytes()));
    write(bag, "tagmanifest-sha256.txt", tags);
}

fn run(change: impl FnOnce(&Path)) -> (Vec<String>, Vec<(String, Sidecar)>) {
    let scratch = scratch();
    let sources = scratch.path().join("sources");
    make_bag(&sources.join("bag"));
    change(&sources.join("bag"));
    let collection = make_collection(&scratch.path().join("archive"));
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let found = tree(&sources, Units::default());
    let (events, _) = import(&collection, found, import_options(), &clock).unwrap();
    let first = words(&events);
    // A second run finds it there, or refuses it again.
    let found = tree(&sources.join("bag"), Units::default());
    let (events, summary) = import(&collection, found, import_options(), &clock).unwrap();
    if first == ["bag imported"] {
        assert_eq!(words(&events), ["bag there"]);
    } else {
        assert_eq!(summary.imported, 0);
    }
    (first, origins(&collection))
}

#[test]
fn that_are_valid_become_items() {
    let (words, items) = run(|_| ());
    assert_eq!(words, ["bag imported"]);
    let sidecar = &items[0].1;
    let paths: Vec<_> = sidecar.files.iter().map(|entry| entry.path.to_string()).collect();
    assert_eq!(paths, ["a.txt", "sub/b%.txt"]);
    let expected = "title = 'A bag'\ndescription = 'what is in it'\n[x]\n\
                    Bagging-Date = '2026-11-20'\nSource-Organization = 'INPE'";
    assert_eq!(*sidecar.metadata.table(), expected.parse().unwrap());
}

#[test]
fn that_are_not_valid_are_refused() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 10] = [
        ("that was given", |bag| drop(write(bag, "data/a.txt", "Alpha"))),
        ("no valid bag", |bag| drop(write(bag, "data/c.txt", ""))),
        ("no list", |bag| {
            write(bag, "data/c.txt", "");
            std::fs::remove_file(bag.join("bag-info.txt")).unwrap();
            std::fs::remove_file(bag.join("tagmanifest-sha256.txt")).unwrap();
        }),
        ("no valid bag", |bag| drop(write(bag, "bag-info.txt", "Payload-Oxum: 10.2\n"))),
        ("no valid bag", |bag| std::fs::remove_file(bag.join("data/a.txt")).unwrap()),
        ("no valid bag", |bag| drop(write(bag, "bagit.txt", "BagIt-Version: 2.0\n"))),
        ("no valid bag", |bag| {
            std::fs::remove_file(bag.join("manifest-sha256.txt")).unwrap();
            std::fs::remove_file(bag.join("manifest-md5.txt")).unwrap();
        }),
        ("no valid bag", |bag| {
            let text = std::fs::read_to_string(bag.join("manifest-sha256.txt")).unwrap();
            let text = text.replace("data/a.txt", "data/../../a.txt");
            write(bag, "manifest-sha256.txt", text);
        }),
        ("MD5", |bag| {
            let text = std::fs::read_to_string(bag.join("manifest-md5.txt")).unwrap();
            write(bag, "manifest-md5.txt", text.replace("2c17", "2c18"));
        }),
        ("no valid bag", |bag| std::fs::remove_dir_all(bag.join("data")).unwrap()),
    ];
    for (at, (expected, change)) in changes.into_iter().enumerate() {
        let (words, items) = run(change);
        assert_eq!((words.len(), items.len()), (1, 0), "{at}: {words:?}");
        assert!(words[0].contains(expected), "{at}: {words:?}");
    }
}

#[test]
fn are_all_there_may_be_if_that_is_asked_for() {
    let scratch = scratch();
    let sources = scratch.path().join("sources");
    make_bag(&sources.join("bag"));
    write(&sources, "plain/a.txt", "alpha");
    write(&sources, "file.txt", "alpha");
    let collection = make_collection(&scratch.path().join("archive"));
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let options = Options { bags: Bags::Only, ..import_options() };
    let found = tree(&sources, Units::default());
    let (_, summary) = import(&collection, found, options, &clock).unwrap();
    assert_eq!((summary.imported, summary.failed), (1, 2));
}
