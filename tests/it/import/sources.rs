//! What is an item: entries of a directory, files, what lies at a depth, what a list names.

use super::*;
use crate::support::{make_collection, scratch};

fn sample(root: &Path) {
    for path in ["a", "d/b", "d/e/c", "d/e/f", "g/h/i/j"] {
        write(root, path, path);
    }
}

fn found(candidates: Candidates, root: &Path) -> Vec<String> {
    let root = resolved(root).unwrap();
    let relative = |found: FoundCandidate| {
        let path = found.unwrap().place.path();
        path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned()
    };
    candidates.map(relative).collect()
}

#[test]
fn of_directories() {
    let scratch = scratch();
    let root = scratch.path();
    sample(root);
    let units = |units| found(tree(root, units), root);
    assert_eq!(units(Units::default()), ["a", "d", "g"]);
    assert_eq!(units(Units::EachFile), ["a", "d/b", "d/e/c", "d/e/f", "g/h/i/j"]);
    assert_eq!(found(tree(&root.join("a"), Units::default()), root), ["a"]);
}

#[test]
fn of_lists() {
    let scratch = scratch();
    let root = scratch.path().join("sources");
    sample(&root);
    let collection = make_collection(&scratch.path().join("archive"));
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let run = |text: &'static [u8]| {
        let list = SourceList::new((Box::new(text), 0), "a list".to_owned(), root.clone());
        words(&import(&collection, Box::new(list), import_options(), &clock).unwrap().0)
    };
    let first = run(b"a\0d/../a\0d\0missing\0\0");
    assert_eq!(first.len(), 4);
    assert_eq!(first[..2], ["a imported", "a twice"]);
    assert!(first[2].starts_with("cannot find"), "{first:?}");
    assert_eq!(first[3], "d imported");
    assert_eq!(run(b"a\0./a\0d")[..3], ["a there", "a there", "d there"]);
    let lines = Box::leak("a\n".repeat(40_000).into_boxed_str()).as_bytes();
    assert_eq!(run(lines), ["the list `a list` is not one of NUL-ended paths"]);
    assert_eq!(whole_items(&collection).len(), 2);
}

/// A directory above a source that becomes a link leads nowhere.
#[test]
fn are_not_reached_through_links() {
    let scratch = scratch();
    let root = scratch.path().join("sources");
    write(&root, "d/b", "inside");
    write(scratch.path(), "secret/b", "outside");
    let collection = make_collection(&scratch.path().join("archive"));
    let clock = TestClock::at("2026-11-21T02:13:00Z");
    let mut candidates = tree(&root, Units::EachFile);
    let candidate: Candidate = candidates.next().unwrap().unwrap();
    std::fs::rename(root.join("d"), root.join("was")).unwrap();
    std::os::unix::fs::symlink("../secret", root.join("d")).unwrap();
    let found: Candidates = Box::new(std::iter::once(Ok(candidate)));
    let (events, summary) = import(&collection, found, import_options(), &clock).unwrap();
    assert_eq!((summary.failed, summary.imported), (1, 0), "{:?}", words(&events));
}
