//! Bags: taken when they are valid, to the last byte, and refused when they are not.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use urepo::export::{self, Destination, Exporter};
use urepo::identity::RepositoryName;

use super::*;
use crate::support::{World, caller, make_collection, scratch};

/// A bag of two files, as `bagit.py` writes one.
pub(super) fn make_bag(bag: &Path) {
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
    let changes: [(&str, Change); 13] = [
        ("that was given", |bag| drop(write(bag, "data/a.txt", "Alpha"))),
        ("not a valid bag", |bag| drop(write(bag, "data/c.txt", ""))),
        ("no list", |bag| {
            write(bag, "data/c.txt", "");
            std::fs::remove_file(bag.join("bag-info.txt")).unwrap();
            std::fs::remove_file(bag.join("tagmanifest-sha256.txt")).unwrap();
        }),
        ("not a valid bag", |bag| drop(write(bag, "bag-info.txt", "Payload-Oxum: 10.2\n"))),
        ("not a valid bag", |bag| std::fs::remove_file(bag.join("data/a.txt")).unwrap()),
        ("not a valid bag", |bag| drop(write(bag, "bagit.txt", "BagIt-Version: 2.0\n"))),
        ("not a valid bag", |bag| {
            std::fs::remove_file(bag.join("manifest-sha256.txt")).unwrap();
            std::fs::remove_file(bag.join("manifest-md5.txt")).unwrap();
        }),
        ("not a valid bag", |bag| {
            let text = std::fs::read_to_string(bag.join("manifest-sha256.txt")).unwrap();
            let text = text.replace("data/a.txt", "data/../../a.txt");
            write(bag, "manifest-sha256.txt", text);
        }),
        ("MD5", |bag| {
            let text = std::fs::read_to_string(bag.join("manifest-md5.txt")).unwrap();
            write(bag, "manifest-md5.txt", text.replace("2c17", "2c18"));
        }),
        ("not a valid bag", |bag| std::fs::remove_dir_all(bag.join("data")).unwrap()),
        // A list that is passed over leaves what it lists unchecked.
        ("not a valid bag", |bag| {
            std::fs::rename(bag.join("tagmanifest-sha256.txt"), bag.join("tags")).unwrap();
            std::os::unix::fs::symlink("tags", bag.join("tagmanifest-sha256.txt")).unwrap();
        }),
        ("not a valid bag", |bag| {
            drop(write(bag, "fetch.txt", "https://example.org/a 5 ../a.txt\n"));
        }),
        ("not a valid bag", |bag| drop(write(bag, "fetch.txt", "https://example.org/a - tags\n"))),
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

/// A bag as `bagit.py` makes it, with all digests of its manifests: see `fixtures/bags/README.md`.
fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/bags/bagit-python")
}

/// Imports one bag, and gives its sidecar.
fn import_bag(collection: &Collection, bag: &Path) -> Sidecar {
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let found = tree(bag, Units::default());
    let (events, summary) = import(collection, found, import_options(), &clock).unwrap();
    assert_eq!(summary.imported, 1, "{:?}", words(&events));
    origins(collection).pop().unwrap().1
}

/// Exports an item as a bag into `to`, and gives its place.
fn export_bag(collection: &Collection, name: &RepositoryName, to: &Path) -> PathBuf {
    let (clock, agent) = (TestClock::at("2026-11-22T00:00:00Z"), agent());
    let interrupt = Interrupt::default();
    let exporter = Exporter {
        collection,
        options: export::Options::default(),
        caller: caller(&agent, &clock, &interrupt),
    };
    let watcher = Watcher::default();
    let destination = Destination { path: to, format: export::Format::Bag, watcher: &watcher };
    let feed = |take: &mut dyn FnMut(RepositoryName) -> ControlFlow<()>| {
        let _ = take(name.clone());
        Ok(())
    };
    let mut places = Vec::new();
    let summary = exporter.to_directory(&destination, Box::new(feed), &mut |outcomes| {
        places.extend(outcomes.into_iter().map(|outcome| outcome.result.unwrap().place));
        Ok(())
    });
    assert!(summary.fatal.is_none() && places.len() == 1, "{summary:?}");
    places.remove(0)
}

/// The files of the payload, and the manifests, each with its bytes.
fn payload_and_manifests(bag: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = walkdir::WalkDir::new(bag).into_iter().map(Result::unwrap);
    let files = files.filter(|entry| entry.file_type().is_file()).map(|entry| {
        let path = entry.path().strip_prefix(bag).unwrap().to_owned();
        (path, std::fs::read(entry.path()).unwrap())
    });
    let is_wanted =
        |path: &Path| path.starts_with("data") || path.to_string_lossy().starts_with("manifest-");
    files.filter(|(path, _)| is_wanted(path)).collect()
}

#[test]
fn that_others_made_keep_every_byte_and_digest() {
    let scratch = scratch();
    let mut bag = fixture();
    let original = payload_and_manifests(&bag);
    assert_eq!(original.len(), 11 + 4);
    // And what comes out goes in again.
    for round in ["first", "second"] {
        let collection = make_collection(&scratch.path().join(round));
        let sidecar = import_bag(&collection, &bag);
        assert_eq!(sidecar.files.len(), 11);
        let digests = sidecar.origin["digests"].as_table().unwrap();
        let kinds = digests.iter().map(|(key, of)| (&**key, of.as_table().unwrap().len()));
        assert_eq!(kinds.collect::<Vec<_>>(), [("md5", 11), ("sha1", 11), ("sha512", 11)]);
        let own = sidecar.metadata.table()["x"].as_table().unwrap();
        assert_eq!(own["Contact-Name"].as_str(), Some("Ana: Silva"), "{round}");
        assert_eq!(own["Source-Organization"].as_str(), Some("INPE, São José dos Campos"));
        let described = sidecar.metadata.table()["description"].as_str();
        assert_eq!(described, Some("Names and digests that are easily lost"), "{round}");
        bag = export_bag(
            &collection,
            &sidecar.repository,
            &scratch.path().join(format!("{round}-bags")),
        );
        let again = payload_and_manifests(&bag);
        assert_eq!(again.keys().collect::<Vec<_>>(), original.keys().collect::<Vec<_>>());
        for (path, bytes) in &again {
            if path.starts_with("data") {
                assert_eq!(*bytes, original[path], "{}, {round}", path.display());
            } else {
                assert_eq!(lines(bytes), lines(&original[path]), "{}, {round}", path.display());
            }
        }
    }
}

/// The order of lines in a manifest means nothing.
fn lines(manifest: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<_> = manifest.split(|byte| *byte == b'\n').collect();
    lines.sort_unstable();
    lines
}

#[test]
fn of_which_any_digest_is_wrong_are_refused() {
    for algorithm in ["md5", "sha1", "sha256", "sha512"] {
        let scratch = scratch();
        let bag = scratch.path().join("bag");
        for (path, bytes) in payload_and_manifests(&fixture()) {
            write(&bag, path.to_str().unwrap(), bytes);
        }
        std::fs::copy(fixture().join("bagit.txt"), bag.join("bagit.txt")).unwrap();
        let manifest = bag.join(format!("manifest-{algorithm}.txt"));
        let mut text = std::fs::read(&manifest).unwrap();
        text[0] = if text[0] == b'0' { b'1' } else { b'0' };
        std::fs::write(&manifest, text).unwrap();
        let collection = make_collection(&scratch.path().join("archive"));
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        let found = tree(&bag, Units::default());
        let (events, summary) = import(&collection, found, import_options(), &clock).unwrap();
        assert_eq!((summary.imported, summary.failed), (0, 1), "{algorithm}");
        let said = words(&events)[0].replace('-', "").to_lowercase();
        assert!(said.contains(&format!("{algorithm} that was given")), "{said}");
        assert!(whole_items(&collection).is_empty());
    }
}

/// A name with what looks like an escape can not be told from one by the rules of old versions; the
/// name that is there is meant.
#[test]
fn with_names_that_look_escaped_are_read_as_they_were_meant() {
    for (version, written, name) in [
        ("0.97", "x%0Ay", "x%0Ay"),
        ("0.97", "x%0Ay", "x\ny"),
        ("0.97", "50%25", "50%25"),
        ("1.0", "50%25", "50%"),
        ("1.0", "50%25", "50%25"),
        ("1.0", "%250A", "%0A"),
    ] {
        let scratch = scratch();
        let bag = scratch.path().join("bag");
        write(&bag, &format!("data/{name}"), "x");
        let tag = format!("BagIt-Version: {version}\nTag-File-Character-Encoding: UTF-8\n");
        write(&bag, "bagit.txt", tag);
        let manifest = format!("{}  data/{written}\n", Digest::of(b"x"));
        write(&bag, "manifest-sha256.txt", manifest);
        let collection = make_collection(&scratch.path().join("archive"));
        let sidecar = import_bag(&collection, &bag);
        assert_eq!(sidecar.files[0].path.as_path(), Path::new(name), "{version} {written}");
    }
}

#[test]
fn with_files_to_be_fetched_name_the_file_and_its_list() {
    let world = World::with_collection();
    make_bag(&world.path("in/bag"));
    world.write("in/bag/fetch.txt", "https://example.org/a 5 data/a.txt\n");
    std::fs::remove_file(world.path("in/bag/data/a.txt")).unwrap();
    let ran = world.run("-c archive import in");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let expected = "`data/a.txt` is not there; `fetch.txt` has its address";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
}

/// Such a manifest fills the memory before the payload is looked at.
#[test]
fn with_a_list_of_far_more_files_than_there_are_are_not_read_to_the_end() {
    let (words, _) = run(|bag| {
        let digest = Digest::of(b"");
        let lines = (0..100_002).map(|number| format!("{digest}  data/{number}\n"));
        let manifest: String = lines.chain(["no line of a manifest".to_owned()]).collect();
        write(bag, "manifest-sha256.txt", manifest);
        std::fs::remove_file(bag.join("manifest-md5.txt")).unwrap();
    });
    let expected = "`100000` is in the list of the files, and is not there";
    assert_eq!(words, [expected]);
}

/// A directory that holds bags may hold other things as well: a bag above the chosen level is one item.
#[test]
fn above_the_chosen_level_are_taken_as_a_whole() {
    for is_damaged in [false, true] {
        let scratch = scratch();
        let sources = scratch.path().join("sources");
        make_bag(&sources.join("bag"));
        write(&sources, "dir/file", "gamma");
        if is_damaged {
            write(&sources, "bag/data/a.txt", "ALPHA");
        }
        let collection = make_collection(&scratch.path().join("archive"));
        let clock = TestClock::at("2026-11-21T02:13:00Z");
        let found = tree(&sources, Units::default());
        let (events, summary) = import(&collection, found, import_options(), &clock).unwrap();
        assert_eq!((summary.imported, summary.failed), if is_damaged { (1, 1) } else { (2, 0) });
        let words = words(&events);
        assert!(words.contains(&"dir imported".to_owned()), "{words:?}");
        assert_eq!(words.contains(&"bag imported".to_owned()), !is_damaged, "{words:?}");
    }
}

/// The declaration of a bag with tag files in `encoding`.
fn declaration(encoding: &str) -> String {
    format!("BagIt-Version: 1.0\nTag-File-Character-Encoding: {encoding}\n")
}

/// A bag of one file, whose name on the disk and in the manifest may differ.
fn make_named_bag(bag: &Path, on_disk: &str, listed: &str) {
    write(bag, &format!("data/{on_disk}"), "x");
    write(bag, "bagit.txt", declaration("UTF-8"));
    write(bag, "manifest-sha256.txt", format!("{}  data/{listed}\n", Digest::of(b"x")));
}

/// The outcome of an import of the bag that `make` makes, and its items.
fn imported(make: impl FnOnce(&Path)) -> (Vec<String>, Vec<(String, Sidecar)>) {
    let scratch = scratch();
    let sources = scratch.path().join("sources");
    make(&sources.join("bag"));
    let collection = make_collection(&scratch.path().join("archive"));
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let found = tree(&sources, Units::default());
    let (events, _) = import(&collection, found, import_options(), &clock).unwrap();
    let told = |event: &Event| match &event.became {
        Became::Failed(error) => {
            let causes =
                std::iter::successors(Some(error as &dyn std::error::Error), |it| it.source());
            causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
        }
        _ => words(std::slice::from_ref(event)).concat(),
    };
    (events.iter().map(told).collect(), origins(&collection))
}

/// A manifest of one system, and file names of another.
#[test]
fn whose_names_differ_in_unicode_form_are_taken_with_those_of_the_disk() {
    for (on_disk, listed) in [
        ("cafe\u{301}/n\u{303}.txt", "café/ñ.txt"),
        ("\u{1112}\u{1161}\u{11ab}.txt", "한.txt"),
        ("が.txt", "か\u{3099}.txt"),
        ("Å/é", "A\u{30a}/e\u{301}"),
        ("Việt.md", "Vie\u{323}\u{302}t.md"),
    ] {
        let (words, items) = imported(|bag| make_named_bag(bag, on_disk, listed));
        assert_eq!(words, ["bag imported"], "{listed}");
        assert_eq!(items[0].1.files[0].path.to_string(), on_disk);
    }
    // A file is not another one, and none of two.
    let (words, _) = imported(|bag| make_named_bag(bag, "e.txt", "é.txt"));
    assert!(words[0].contains("is not there"), "{words:?}");
    let (words, _) = imported(|bag| {
        make_named_bag(bag, "ệ", "e\u{302}\u{323}");
        write(bag, "data/e\u{323}\u{302}", "x");
    });
    assert!(words[0].contains("bag"), "{words:?}");
    // Tag files and files to fetch are found likewise.
    let (words, _) = imported(|bag| {
        make_named_bag(bag, "o\u{308}", "ö");
        write(bag, "meta/u\u{308}.txt", "tag");
        write(bag, "tagmanifest-sha256.txt", format!("{}  meta/ü.txt\n", Digest::of(b"tag")));
        write(bag, "fetch.txt", "https://example.org/o - data/ö\n");
    });
    assert_eq!(words, ["bag imported"]);
}

/// RFC 8493 lets a bag choose the encoding of its tag files.
#[test]
fn whose_tag_files_are_in_another_encoding_are_read() {
    let utf_16: Vec<u8> =
        "\u{feff}Title: Карта\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    let encodings: [(&str, &[u8], &str); 5] = [
        ("iso-8859-1", b"Title: \xc9va\n", "Éva"),
        ("KOI8-R", b"Title: \xeb\xc1\xd2\xd4\xc1\n", "Карта"),
        ("Shift_JIS", b"Title: \x92n\x90}\n", "地図"),
        ("UTF-16", &utf_16, "Карта"),
        ("US-ASCII", b"Title: Map\n", "Map"),
    ];
    for (encoding, info, title) in encodings {
        let (words, items) = imported(|bag| {
            make_named_bag(bag, "a", "a");
            write(bag, "bagit.txt", declaration(encoding));
            if encoding == "UTF-16" {
                let manifest = std::fs::read_to_string(bag.join("manifest-sha256.txt")).unwrap();
                let manifest: Vec<u8> =
                    manifest.encode_utf16().flat_map(u16::to_le_bytes).collect();
                write(bag, "manifest-sha256.txt", manifest);
            }
            write(bag, "bag-info.txt", info);
        });
        assert_eq!(words, ["bag imported"], "{encoding}");
        assert_eq!(items[0].1.metadata.values("title").unwrap(), [title], "{encoding}");
    }
}

#[test]
fn that_are_refused_say_what_is_wrong() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 9] = [
        ("is a bag that urepo cannot read", |bag| {
            drop(write(bag, "bagit.txt", declaration("UTF-32")));
        }),
        ("is not a valid bag", |bag| {
            drop(write(bag, "bagit.txt", format!("\u{feff}{}", declaration("UTF-8"))));
        }),
        ("is not a valid bag", |bag| {
            drop(write(bag, "bagit.txt", declaration("UTF-8").replace("ing:", "ing :")));
        }),
        ("line 2 of `bag-info.txt` is not UTF-8", |bag| {
            drop(write(bag, "bag-info.txt", b"Title: x\nContact-Name: Jos\xe9\n"));
        }),
        ("line 1 of `bag-info.txt` is not EUC-JP", |bag| {
            write(bag, "bagit.txt", declaration("EUC-JP"));
            drop(write(bag, "bag-info.txt", b"Title: \xff\n"));
        }),
        ("separates names by", |bag| {
            let line = format!("{}  data\\d\\a\n", Digest::of(b"x"));
            drop(write(bag, "manifest-sha256.txt", line));
        }),
        ("separates names by", |bag| {
            drop(write(bag, "fetch.txt", "https://example.org/a - data\\a\n"));
        }),
        ("leads out of the bag", |bag| {
            let line = format!("{}  ../a\n", Digest::of(b"x"));
            drop(write(bag, "manifest-sha256.txt", line));
        }),
        ("is a symbolic link", |bag| {
            std::fs::rename(bag.join("data/a"), bag.join("data/b")).unwrap();
            std::os::unix::fs::symlink("b", bag.join("data/a")).unwrap();
            let list = |name: &str| format!("{}  data/{name}\n", Digest::of(b"x"));
            drop(write(bag, "manifest-sha256.txt", list("a") + &list("b")));
        }),
    ];
    for (at, (expected, change)) in changes.into_iter().enumerate() {
        let (words, items) = imported(|bag| {
            make_named_bag(bag, "a", "a");
            change(bag);
        });
        assert_eq!((words.len(), items.len()), (1, 0), "{at}: {words:?}");
        assert!(words[0].contains(expected), "{at}: {words:?}");
    }
    // Before 1.0, a blank before the colon was not forbidden, and a file may be called so.
    let (words, _) = imported(|bag| {
        make_named_bag(bag, "a\\b", "a\\b");
        write(bag, "bagit.txt", "BagIt-Version : 0.96\nTag-File-Character-Encoding : UTF-8\n");
    });
    assert_eq!(words, ["bag imported"]);
}
