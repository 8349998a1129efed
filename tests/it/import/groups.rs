//! Imports of several groups, of which one is published while the next are prepared.

use rustix::io::Errno;
use urepo::disk::Operation;

use super::*;
use crate::support::{Faults, Mode, make_collection, scratch, staged};
use urepo::collection::Label;
use urepo::deposit::Deposited;

/// More than two groups, and of each content about two.
const SOURCES: usize = 4500;
const CONTENTS: usize = 2300;

/// What was told, and what ended the run before its time.
fn run(root: &Path, sources: &Path, watcher: &Watcher, time: &str) -> (Vec<Event>, Option<String>) {
    let options = Options { skips_same: true, ..import_options() };
    let clock = TestClock::at(time);
    let mut events = Vec::new();
    let collection = match Collection::open(root, watcher) {
        Ok(collection) => collection,
        Err(error) => return (events, Some(error.to_string())),
    };
    let found = tree(sources, Units::EachFile);
    let ended = import_and_tell(&collection, found, options, &clock, &mut events);
    let fatal = match ended {
        Ok(summary) => summary.fatal.map(|error| error.to_string()),
        Err(error) => Some(error.to_string()),
    };
    (events, fatal)
}

/// Imports with a fault and then without one: what was told is there, and each content is there once.
fn each_content_once(fault: Option<(Operation, usize, Mode)>) {
    let scratch = scratch();
    let (root, sources) = (scratch.path().join("archive"), scratch.path().join("sources"));
    for number in 0..SOURCES {
        write(&sources, &format!("{number:04}"), (number % CONTENTS).to_string());
    }
    make_collection(&root);
    let is_faulty = fault.is_some();
    let watcher = fault.map_or_else(Watcher::default, |(operation, at, mode)| {
        Watcher::new(Arc::new(Faults::new(&root, at, mode).of(operation)))
    });
    let (told, fatal) = run(&root, &sources, &watcher, "2026-11-21T02:13:00Z");
    assert_eq!(fatal.is_some(), is_faulty, "{fatal:?}");
    let collection = Collection::open(&root, &Watcher::default()).unwrap();
    let whole = whole_items(&collection);
    for event in &told {
        if let Became::Item(Deposited { label: Label { name, .. }, .. }) | Became::There(name) =
            &event.became
        {
            assert!(whole.contains(&name.to_string()), "{name} was told and is not there");
        }
    }
    let (told, fatal) = if is_faulty {
        run(&root, &sources, &Watcher::default(), "2026-11-21T03:13:00Z")
    } else {
        (told, None)
    };
    assert_eq!(fatal, None);
    assert_eq!(told.len(), SOURCES, "each source is told of once");
    let refused = told.iter().find(|event| matches!(event.became, Became::Failed(_)));
    assert!(refused.is_none(), "{refused:?}");
    let content = |(source, _): (String, _)| last(&source).parse::<usize>().unwrap() % CONTENTS;
    let mut contents: Vec<_> = origins(&collection).into_iter().map(content).collect();
    contents.sort_unstable();
    assert_eq!(contents, (0..CONTENTS).collect::<Vec<_>>());
    assert_eq!(staged(&root), [""; 0]);
}

#[test]
fn know_what_is_under_way() {
    each_content_once(None);
}

#[test]
fn end_with_the_group_that_can_not_be_synced() {
    each_content_once(Some((Operation::SyncFileSystem, 2, Mode::Once(Errno::IO))));
}

#[test]
fn are_taken_up_after_a_kill_between_groups() {
    each_content_once(Some((Operation::Rename, 2100, Mode::Killed)));
}
