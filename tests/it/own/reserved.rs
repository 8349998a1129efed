//! The file of dates that are not given, lost or half written.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::io::Errno;
use urepo::collection::{CollectionError, Takeover};
use urepo::disk::{Operation, Watch, Watcher};
use urepo::distributor::{DistributorError, FutureDate, Unseen, slot};
use urepo::identity::RepositoryName;

use super::elsewhere::{files, restore};
use super::sites::{AHEAD, EARLY, LATER, Sites};

/// The clock of `two` was ahead, and now `one` is about to take the memory over. Only `two` has these names.
fn sites_ahead(is_shared: bool) -> (Sites, Vec<RepositoryName>) {
    let mut sites = Sites::new(is_shared);
    sites.register.known.clear();
    sites.init("one", Takeover::Refuse, &[]);
    sites.deposit("one", "2026-11-21T02:13:20Z");
    sites.init("two", if is_shared { Takeover::Refuse } else { Takeover::Accept }, &[]);
    let given = [AHEAD, "2026-11-21T03:15:20Z"].map(|time| sites.deposit("two", time));
    sites.clock.set(EARLY);
    (sites, given.to_vec())
}

impl Sites {
    fn take_back(&self) -> Result<(), CollectionError> {
        self.take_over("one", FutureDate::Forget, Unseen::Refuse).map(drop)
    }

    /// What a person does about the error.
    fn name_two(&self) -> Result<(), CollectionError> {
        let (mirrors, unseen) = ([self.open("two")], Unseen::Refuse);
        self.take_over_from(&mirrors, "one", FutureDate::Forget, unseen).map(drop)
    }

    fn record(&self) -> slot::MemoryRecord {
        let bytes = std::fs::read(self.memory("one").join("example.org+archive.lock")).unwrap();
        match slot::read(&bytes[..slot::FILE]) {
            slot::Contents::Valid { record, .. } => record,
            other => panic!("{other:?}"),
        }
    }

    /// Neither is given again when the clock reaches it, whatever else happens. Returns how many others are given.
    #[track_caller]
    fn gives_none_of(&self, given: &[RepositoryName]) -> usize {
        let mut deposited = 0;
        for time in ["2026-11-21T02:16:20Z", LATER, "2026-11-21T03:15:30Z"] {
            self.clock.set(time);
            if let Ok(new) = self.try_deposit("one") {
                assert!(!given.contains(&new), "{new} is given twice");
                deposited += 1;
            }
        }
        deposited
    }
}

fn is_missing(error: &CollectionError) -> bool {
    matches!(error, CollectionError::Distributor(DistributorError::ReservedMissing { .. }))
}

#[test]
fn without_it_nothing_is_issued_until_a_person_names_the_other_collections() {
    for is_shared in [false, true] {
        let (sites, given) = sites_ahead(is_shared);
        sites.take_back().unwrap();
        sites.deposit("one", EARLY);
        assert!(sites.record().has_reserved());
        std::fs::remove_file(sites.reserved("one")).unwrap();
        let names = if is_shared { &["one", "two"][..] } else { &["one"] };
        for name in names {
            let error = sites.try_deposit(name).unwrap_err();
            let is_told = ["ReservedMissing", "reserved dates is missing"];
            assert!(is_told.iter().any(|it| error.contains(it)), "{error}");
        }
        // Repeating the command that has lost it is no answer.
        let error = sites.take_back().unwrap_err();
        assert!(is_missing(&error), "{error}");
        assert!(!sites.reserved("one").exists(), "made again, without the names of the other");
        sites.name_two().unwrap();
        sites.deposit("one", "2026-11-21T02:15:20Z");
        assert_eq!(sites.gives_none_of(&given), 3);
    }
}

/// The memory is lost with it, or is that of a backup from before: the register of the machine has recorded it.
#[test]
fn it_is_missed_without_the_memory_too() {
    for is_shared in [false, true] {
        for is_restored in [false, true] {
            let (sites, given) = sites_ahead(is_shared);
            let backup = files(&sites.memory("one"));
            sites.take_back().unwrap();
            sites.deposit("one", EARLY);
            std::fs::remove_dir_all(sites.memory("one")).unwrap();
            if is_shared {
                std::fs::create_dir(sites.memory("one")).unwrap();
            } else {
                std::fs::remove_dir_all(sites.path("one/.urepo")).unwrap();
            }
            if is_restored {
                restore(&sites.memory("one"), &backup);
                drop(std::fs::remove_file(sites.reserved("one")));
            }
            for _ in 0..2 {
                sites.try_deposit("one").unwrap_err();
                assert!(sites.take_back().is_err_and(|error| is_missing(&error)));
                assert!(sites.catch_up("one").is_err_and(|error| is_missing(&error)));
            }
            assert!(!sites.reserved("one").exists());
            sites.clock.set("2026-11-21T02:15:20Z");
            sites.name_two().unwrap();
            sites.deposit("one", "2026-11-21T02:15:30Z");
            assert_eq!(sites.gives_none_of(&given), 3);
        }
    }
}

#[test]
fn a_person_who_knows_of_no_other_collection_goes_on_without_it() {
    let (sites, _) = sites_ahead(true);
    sites.take_back().unwrap();
    std::fs::remove_file(sites.reserved("one")).unwrap();
    sites.take_over("one", FutureDate::Keep, Unseen::Accept).unwrap();
    sites.deposit("one", EARLY);
    // With nothing left to reserve.
    let (sites, _) = sites_ahead(false);
    sites.take_back().unwrap();
    sites.deposit("one", EARLY);
    std::fs::remove_dir_all(sites.path("one/.urepo")).unwrap();
    std::fs::remove_dir_all(sites.path("two")).unwrap();
    sites.take_over("one", FutureDate::Keep, Unseen::Accept).unwrap();
    sites.deposit("one", "2026-11-21T02:15:20Z");
}

#[test]
fn it_is_not_needed_when_its_dates_have_passed() {
    let (sites, given) = sites_ahead(false);
    sites.take_back().unwrap();
    assert_eq!(sites.gives_none_of(&given), 3);
    assert!(!sites.record().has_reserved());
    std::fs::remove_file(sites.reserved("one")).unwrap();
    sites.deposit("one", "2026-11-21T03:16:20Z");
}

#[test]
fn a_collection_that_is_made_from_a_mirror_makes_it_again() {
    let (mut sites, given) = sites_ahead(true);
    sites.take_back().unwrap();
    sites.deposit("one", EARLY);
    std::fs::remove_file(sites.reserved("one")).unwrap();
    std::fs::remove_dir_all(sites.path("one")).unwrap();
    sites.clock.set("2026-11-21T02:15:20Z");
    sites.register.known.push(sites.path("two"));
    sites.init("one", Takeover::Refuse, &[sites.open("two")]);
    assert!(sites.reserved("one").exists());
    sites.deposit("one", "2026-11-21T02:15:30Z");
    assert_eq!(sites.gives_none_of(&given), 3);
}

/// The names of a collection that has lost its own file are known only in part.
#[test]
fn a_collection_without_it_counts_as_unseen() {
    let (sites, given) = sites_ahead(false);
    sites.take_back().unwrap();
    sites.deposit("one", EARLY);
    std::fs::remove_file(sites.reserved("one")).unwrap();
    let error = sites.take_over("two", FutureDate::Keep, Unseen::Refuse).unwrap_err();
    let DistributorError::Unseen { roots, .. } = (match error {
        CollectionError::Distributor(error) => error,
        error => panic!("{error}"),
    }) else {
        panic!("another error")
    };
    assert_eq!(roots, [std::fs::canonicalize(sites.path("one")).unwrap()]);
    sites.name_two().unwrap();
    assert_eq!(sites.gives_none_of(&given), 3);
}

/// An older urepo does not know the mark; the next record has it.
#[test]
fn an_older_memory_is_marked_with_the_next_record() {
    for is_shared in [false, true] {
        let (sites, given) = sites_ahead(is_shared);
        sites.take_back().unwrap();
        let memory = sites.memory("one").join("example.org+archive.lock");
        let mut bytes = std::fs::read(&memory).unwrap();
        for offset in [0, slot::FILE / 2] {
            let mut record = slot::decode(&bytes[offset..offset + slot::SLOT]).unwrap();
            record.tree = slot::MemoryRecord::tree_of(record.state(), false);
            bytes[offset..offset + slot::SLOT].copy_from_slice(&slot::encode(&record));
        }
        std::fs::write(&memory, bytes).unwrap();
        assert!(!sites.record().has_reserved());
        sites.deposit("one", EARLY);
        assert!(sites.record().has_reserved());
        assert_eq!(sites.gives_none_of(&given), 3);
    }
}

/// Fails the n-th operation below a place: only that one, or as if the process were killed.
struct Strike {
    place: PathBuf,
    at: usize,
    errno: Option<Errno>,
    seen: AtomicUsize,
}

impl Watch for Strike {
    fn before(&self, _: Operation, path: &Path) -> io::Result<()> {
        let step = usize::from(path.starts_with(&self.place));
        let number = self.seen.fetch_add(step, Ordering::SeqCst) + step;
        match self.errno {
            Some(errno) if step == 1 && number == self.at => Err(errno.into()),
            None if number >= self.at => Err(Errno::IO.into()),
            _ => Ok(()),
        }
    }
}

/// Does `act` with each operation below `place` failing, by `errno` or a kill.
fn at_every_operation(
    place: &str,
    errno: Option<Errno>,
    before: impl Fn() -> (Sites, Vec<RepositoryName>),
    act: fn(&Sites) -> Result<(), CollectionError>,
) {
    let mut failed = 0;
    for at in 1.. {
        let (mut sites, given) = before();
        let place = std::fs::canonicalize(sites.path(place)).unwrap();
        let strike = Arc::new(Strike { place, at, errno, seen: AtomicUsize::new(0) });
        sites.watcher = Watcher::new(Arc::clone(&strike) as _);
        let outcome = act(&sites);
        sites.watcher = Watcher::default();
        failed += usize::from(outcome.is_err());
        let mut is_done = outcome.is_ok();
        if at % 2 == 0 && outcome.is_err() {
            // A person reads the error and repeats the command.
            act(&sites).unwrap();
            is_done = true;
            if sites.record().has_reserved() && at % 4 == 0 {
                std::fs::remove_file(sites.reserved("one")).unwrap();
                assert!(sites.try_deposit("one").is_err(), "lost after operation {at}");
                sites.name_two().unwrap();
            }
        }
        let deposited = sites.gives_none_of(&given);
        assert!(!is_done || deposited == 3, "{deposited} after operation {at}");
        if strike.seen.load(Ordering::SeqCst) < at {
            assert!(outcome.is_ok(), "{:?}", outcome.err());
            break;
        }
    }
    assert!(failed > 5, "{failed} failed");
}

fn lost() -> (Sites, Vec<RepositoryName>) {
    let (sites, given) = sites_ahead(true);
    sites.take_back().unwrap();
    std::fs::remove_file(sites.reserved("one")).unwrap();
    (sites, given)
}

#[test]
fn killed_while_it_is_written() {
    at_every_operation("memory", None, || sites_ahead(true), Sites::take_back);
    at_every_operation("one/.urepo/distributor", None, || sites_ahead(false), Sites::take_back);
    at_every_operation("memory", None, lost, Sites::name_two);
}

#[test]
fn a_full_disk_while_it_is_written() {
    for errno in [Errno::NOSPC, Errno::IO] {
        at_every_operation("memory", Some(errno), || sites_ahead(true), Sites::take_back);
        at_every_operation("memory", Some(errno), lost, Sites::name_two);
    }
}

/// Names that cannot be read are not taken for absent ones.
#[test]
fn an_io_error_while_the_names_of_others_are_read() {
    let errno = Some(Errno::IO);
    at_every_operation("two", errno, || sites_ahead(true), Sites::take_back);
    at_every_operation("two", errno, || sites_ahead(false), Sites::take_back);
}
