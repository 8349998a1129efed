//! Names of the future, on disk and not.

use std::path::{Path, PathBuf};

use urepo::collection::{Collection, Issuer, Label};
use urepo::disk::Watcher;
use urepo::distributor::slot;
use urepo::identity::RepositoryName;

use crate::support::{
    TestClock, agent, deposit, issue_options, make_collection, options, request, scratch,
};

struct Archive {
    _scratch: tempfile::TempDir,
    root: PathBuf,
}

impl Archive {
    fn new() -> Archive {
        let scratch = scratch();
        let root = scratch.path().join("archive");
        make_collection(&root);
        std::fs::write(root.with_file_name("a.txt"), "a").unwrap();
        Archive { _scratch: scratch, root }
    }

    /// An item that a process of its own makes, or why it does not.
    fn try_deposit(&self, time: &str) -> Result<RepositoryName, String> {
        let collection = Collection::open(&self.root, &Watcher::default()).unwrap();
        let requests = vec![request(self.root.with_file_name("a.txt"))];
        let clock = TestClock::at(time);
        let (mut outcomes, summary) =
            deposit(&collection, requests, options(), &clock, |_| ()).unwrap();
        let result = outcomes.remove(0).result;
        result.map(|deposited| deposited.label.name).map_err(|_| format!("{:?}", summary.fatal))
    }

    #[track_caller]
    fn deposit(&self, time: &str) -> RepositoryName {
        self.try_deposit(time).unwrap()
    }

    /// Takes all items away, as migration does: the ledger has recorded them.
    fn lose_items(&self) {
        std::fs::remove_dir_all(self.root.join("example.org")).unwrap();
    }

    fn memories(&self) -> PathBuf {
        self.root.join(".urepo/memory")
    }

    fn memory(&self) -> PathBuf {
        self.memories().join("example.org+archive")
    }
}

/// The newest slot of the memory goes bad.
fn spoil_newest_slot(memory: &Path) {
    let mut bytes = std::fs::read(memory).unwrap();
    let half = slot::FILE / 2;
    let first = slot::decode(&bytes[..slot::SLOT]).unwrap().sequence;
    let second = slot::decode(&bytes[half..half + slot::SLOT]).unwrap().sequence;
    bytes[if first > second { 100 } else { half + 100 }] ^= 1;
    std::fs::write(memory, bytes).unwrap();
}

/// The clock was an hour ahead when the name was given, and has been set back since.
#[test]
fn a_name_given_ahead_of_the_clock_is_not_given_again() {
    let archive = Archive::new();
    let given = archive.deposit("2026-11-21T03:13:20Z");
    archive.lose_items();
    std::fs::remove_dir_all(archive.memories()).unwrap();
    let error = archive.try_deposit("2026-11-21T02:13:20Z").unwrap_err();
    assert!(error.contains("ClockBehind"), "{error}");
    let new = archive.deposit("2026-11-21T03:13:40Z");
    assert!(new.instant() > given.instant(), "{new} after {given}");
}

/// It does not end naming either, until its date has come.
#[test]
fn a_name_of_the_future_on_disk_is_passed_over() {
    let archive = Archive::new();
    let given = archive.deposit("2026-11-21T03:13:20Z");
    std::fs::remove_dir_all(archive.memories()).unwrap();
    let first = archive.deposit("2026-11-21T02:13:24Z");
    assert!(first.instant() < given.instant(), "{first}");
    // A process that is at work when the clock reaches that date.
    let collection = Collection::open(&archive.root, &Watcher::default()).unwrap();
    let (agent, clock) = (agent(), TestClock::at("2026-11-21T02:13:26Z"));
    let mut issuer = Issuer::new(&collection, &agent, &clock, &issue_options()).unwrap();
    issuer.mint(1).unwrap();
    clock.set("2026-11-21T03:13:20Z");
    let (labels, _) = issuer.mint(1).unwrap();
    assert_ne!(labels[0].name, given);
    // One that begins then.
    let new = archive.deposit("2026-11-21T03:13:40Z");
    assert!(new.instant() > given.instant(), "{new} after {given}");
}

/// A memory whose last record is lost goes on above the names that left.
#[test]
fn a_damaged_memory_goes_on_above_names_that_left() {
    let archive = Archive::new();
    archive.deposit("2026-11-21T02:12:20Z");
    archive.deposit("2026-11-21T02:13:20Z");
    let given = archive.deposit("2026-11-21T02:13:20Z");
    archive.lose_items();
    spoil_newest_slot(&archive.memory());
    let new = archive.deposit("2026-11-21T02:13:18Z");
    assert!(new.instant() > given.instant(), "{new} after {given}");
}

impl Archive {
    /// A name without an item, which a process of its own issues.
    fn mint(&self, time: &str) -> RepositoryName {
        let collection = Collection::open(&self.root, &Watcher::default()).unwrap();
        let (agent, clock) = (agent(), TestClock::at(time));
        let mut issuer = Issuer::new(&collection, &agent, &clock, &issue_options()).unwrap();
        issuer.mint(1).unwrap().0.remove(0).name
    }
}

/// As where a backup of `.urepo` alone was restored. Nothing is published under a minted name, so nothing else
/// protects the item.
#[test]
fn a_name_of_the_future_on_disk_that_is_not_recorded_is_not_minted() {
    let archive = Archive::new();
    archive.deposit("2026-11-21T02:13:20Z");
    let given = "example.org/archive/2026/11.21.03.13";
    std::fs::create_dir(archive.root.join(given)).unwrap();
    assert!(archive.mint("2026-11-21T02:14:20Z").as_str() < given);
    assert!(archive.mint("2026-11-21T02:15:20Z").as_str() < given);
    assert_ne!(archive.mint("2026-11-21T03:13:40Z").as_str(), given);
}

/// The run that brings it in issues names too, and knows all that it has put in place.
#[test]
fn a_name_that_an_item_brings_with_it_is_not_minted() {
    for (given, time) in
        [("2026/11.21.03.13", "2026-11-21T03:13:40Z"), ("2026/11.21.02.14", "2026-11-21T02:14:40Z")]
    {
        let archive = Archive::new();
        archive.deposit("2026-11-21T02:12:20Z");
        let collection = Collection::open(&archive.root, &Watcher::default()).unwrap();
        let name: RepositoryName = format!("example.org/archive/{given}").parse().unwrap();
        let mut brought = request(archive.root.with_file_name("a.txt"));
        brought.given.label = Some(Label { date: name.instant(), name: name.clone(), ibip: None });
        let requests = vec![request(archive.root.with_file_name("a.txt")), brought];
        let clock = TestClock::at("2026-11-21T02:13:20Z");
        let (_, summary) = deposit(&collection, requests, options(), &clock, |_| ()).unwrap();
        assert_eq!(summary.deposited, 2);
        assert_ne!(archive.mint(time), name);
    }
}
