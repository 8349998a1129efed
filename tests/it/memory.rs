//! The distributor on disk: no date twice, whatever happens to its memory and to the clock.

mod future;
mod model;
mod restored;

pub(crate) use restored::restore_in_place;

use std::cell::RefCell;
use std::time::Duration;

use urepo::digest::Digest;
use urepo::disk::{Dir, PathError, Watcher};
use urepo::distributor::{
    ClockTrust, Distributor, DistributorError, FutureDate, Issued, Names, Newest, Notice, Past,
    Patience, Setting, slot,
};
use urepo::identity::Instant;

use crate::support::{TestClock, agent, scratch};

const PATIENCE: Patience = Patience { lock: crate::support::PATIENCE, date: None };

/// Names of a prefix as a test wants them to be.
#[derive(Default)]
struct Known {
    newest: RefCell<Option<Instant>>,
    read: RefCell<usize>,
}

impl Known {
    fn add(&self, date: &str) {
        *self.newest.borrow_mut() = Some(date.parse().unwrap());
    }
}

impl Names for Known {
    fn state(&self, _: Instant) -> Result<String, PathError> {
        Ok(format!("{:?}", self.newest.borrow()).replace([' ', '(', ')'], ""))
    }

    fn newest(&self, limit: Instant) -> Result<Newest, PathError> {
        *self.read.borrow_mut() += 1;
        let mut newest = Newest::default();
        self.newest.borrow().iter().for_each(|date| newest.add(*date, limit));
        Ok(newest)
    }
}

struct Place {
    scratch: tempfile::TempDir,
    clock: TestClock,
    names: Known,
    agent: urepo::agent::Agent,
}

impl Place {
    /// A place where no name was given yet.
    fn new() -> Place {
        let place = Place::empty();
        place.distributor("auto").begin(&place.names, Past::Known, PATIENCE).unwrap();
        *place.names.read.borrow_mut() = 0;
        place
    }

    fn empty() -> Place {
        Place {
            scratch: scratch(),
            clock: TestClock::at("2026-11-21T02:13:20Z"),
            names: Known::default(),
            agent: agent(),
        }
    }

    fn distributor(&self, setting: &str) -> Distributor<'_> {
        let dir = Dir::open(self.scratch.path(), Watcher::default()).unwrap();
        let prefix = "example.org/archive".parse().unwrap();
        let setting: Setting = setting.parse().unwrap();
        Distributor::new(prefix, setting, dir, &self.agent, &self.clock)
    }

    /// One date by a process of its own.
    fn issue(&self, setting: &str) -> Result<Issued, DistributorError> {
        self.distributor(setting).issue(1, &self.names, PATIENCE)
    }

    fn suffix(&self, setting: &str) -> String {
        let issued = self.issue(setting).unwrap();
        assert_eq!(issued.notices, []);
        issued.dates[0].suffix()
    }

    fn memory(&self) -> std::path::PathBuf {
        self.scratch.path().join("example.org+archive.lock")
    }
}

#[test]
fn labels_are_short_and_lengthen_only_when_they_must() {
    let place = Place::new();
    assert_eq!(place.suffix("auto"), "2026/11.21.02.13.20");
    let second = place.suffix("auto");
    let milliseconds = second.strip_prefix("2026/11.21.02.13.20.0").map(str::len);
    assert_eq!(milliseconds, Some(2), "two in one second: {second}");
    place.clock.set("2026-11-21T02:14:07Z");
    assert_eq!(place.suffix("auto"), "2026/11.21.02.14");
    assert_eq!(place.suffix("auto"), "2026/11.21.02.14.07");
}

#[test]
fn changing_the_granularity_keeps_dates_increasing() {
    let place = Place::new();
    let mut last = None;
    for setting in ["1", "0.001", "auto", "60", "0.1", "1", "auto", "60", "0.000000001", "1"] {
        let date = place.issue(setting).unwrap().dates[0];
        assert!(Some(date) > last, "{setting}: {date} after {last:?}");
        assert!(date <= urepo::clock::Clock::now(&place.clock), "{setting}: in the future");
        last = Some(date);
    }
}

#[test]
fn a_batch_gives_what_need_not_wait() {
    let place = Place::new();
    let issued = place.distributor("1").issue(10, &place.names, PATIENCE).unwrap();
    assert_eq!(issued.dates.len(), 1, "the next second is not here yet");
    let issued = place.distributor("auto").issue(1000, &place.names, PATIENCE).unwrap();
    assert_eq!(issued.dates.len(), 1000);
    assert!(issued.dates.is_sorted_by(|a, b| a < b));
}

#[test]
fn a_clock_gone_back_gives_no_name_and_says_both_dates() {
    let place = Place::new();
    place.suffix("auto");
    place.clock.set("2026-11-21T02:13:17Z");
    assert_eq!(place.suffix("auto"), "2026/11.21.02.13.20.000001", "3 s are waited for");
    place.clock.set("2026-11-20T22:00:00Z");
    let error = place.issue("auto").unwrap_err();
    let DistributorError::ClockBehind { last, now, .. } = &error else { panic!("{error}") };
    assert_eq!(last.suffix(), "2026/11.21.02.13.20.000001");
    assert_eq!(now.floor(urepo::identity::SECOND).suffix(), "2026/11.20.22.00");
    let patience = Patience { date: Some(Duration::from_secs(6 * 3600)), ..PATIENCE };
    let issued = place.distributor("auto").issue(1, &place.names, patience).unwrap();
    assert!(issued.dates[0] > *last, "waited for as long as was allowed");
}

#[test]
fn a_limit_on_waiting_holds_for_a_coarse_granularity_too() {
    let place = Place::new();
    place.suffix("60");
    let patience = Patience { date: Some(Duration::from_secs(1)), ..PATIENCE };
    let error = place.distributor("60").issue(1, &place.names, patience).unwrap_err();
    assert!(matches!(error, DistributorError::TooLong { .. }), "{error}");
    assert_eq!(place.suffix("60"), "2026/11.21.02.14", "the standard waits");
}

#[test]
fn a_doubtful_clock_needs_a_person() {
    let place = Place::new();
    place.suffix("auto");
    for now in ["2028-01-01T00:00:00Z", "9999-12-31T23:59:59Z"] {
        place.clock.set(now);
        let error = place.issue("auto").unwrap_err();
        assert!(matches!(error, DistributorError::ClockDoubtful { .. }), "{error}");
    }
    place.clock.set("2028-01-01T00:00:00Z");
    let mut distributor = place.distributor("auto");
    distributor.trust = ClockTrust::Accept;
    distributor.issue(1, &place.names, PATIENCE).unwrap();

    let early = Place::new();
    early.clock.set("1995-07-31T23:59:58Z");
    let error = early.issue("auto").unwrap_err();
    assert!(matches!(error, DistributorError::ClockDoubtful { .. }), "{error}");
}

#[test]
fn a_memory_from_another_machine_is_adopted_by_a_person_only() {
    let mut place = Place::new();
    place.suffix("auto");
    place.agent.machine_id = "clone-id".into();
    let error = place.issue("auto").unwrap_err();
    assert!(matches!(error, DistributorError::OtherMachine { .. }), "{error}");
    place.distributor("auto").adopt(&place.names, FutureDate::Keep, PATIENCE).unwrap();
    place.issue("auto").unwrap();
}

#[test]
fn a_lost_memory_goes_on_above_the_newest_name() {
    let place = Place::new();
    place.suffix("auto");
    place.names.add("2026-11-21T02:13:21.5Z");
    std::fs::remove_file(place.memory()).unwrap();
    let issued = place.issue("auto").unwrap();
    assert!(matches!(issued.notices[..], [Notice::MemoryMissing { .. }]), "{:?}", issued.notices);
    assert!(issued.dates[0] > "2026-11-21T02:13:21.5Z".parse().unwrap(), "{:?}", issued.dates);
}

#[test]
fn a_damaged_memory_goes_on_above_the_newest_name() {
    let place = Place::new();
    place.suffix("auto");
    place.names.add("2026-11-21T02:13:21.5Z");
    std::fs::write(place.memory(), vec![b'?'; slot::FILE]).unwrap();
    let issued = place.issue("auto").unwrap();
    assert!(matches!(issued.notices[..], [Notice::MemoryDamaged { .. }]), "{:?}", issued.notices);
    assert!(issued.dates[0] > "2026-11-21T02:13:21.5Z".parse().unwrap(), "{:?}", issued.dates);
}

#[test]
fn a_memory_of_an_older_version_goes_on_above_the_newest_name() {
    let place = Place::new();
    place.suffix("auto");
    place.names.add("2026-11-21T02:13:21.5Z");
    let mut file = std::fs::read(place.memory()).unwrap();
    for at in [0, slot::FILE / 2] {
        let body = &mut file[at..at + slot::SLOT - "sha256 ".len() - 64 - 1];
        body["urepo-distributor ".len()] = b'1';
        let seal = format!("sha256 {}\n", Digest::of(body));
        file[at + slot::SLOT - seal.len()..at + slot::SLOT].copy_from_slice(seal.as_bytes());
    }
    std::fs::write(place.memory(), file).unwrap();
    let issued = place.issue("auto").unwrap();
    assert!(matches!(issued.notices[..], [Notice::MemoryOutdated { .. }]), "{:?}", issued.notices);
    assert!(issued.notices[0].to_string().contains("an older urepo"), "{}", issued.notices[0]);
    assert!(issued.dates[0] > "2026-11-21T02:13:21.5Z".parse().unwrap(), "{:?}", issued.dates);
    assert!(place.issue("auto").unwrap().notices.is_empty());
}

#[test]
fn an_old_backup_of_the_memory_goes_on_above_the_newest_name() {
    let place = Place::new();
    place.suffix("auto");
    let backup = std::fs::read(place.memory()).unwrap();
    place.clock.set("2026-11-21T02:20:00Z");
    place.suffix("auto");
    place.names.add("2026-11-21T02:20:00Z");
    std::fs::write(place.memory(), backup).unwrap();
    place.clock.set("2026-11-21T02:19:58Z");
    let issued = place.issue("auto").unwrap();
    assert!(matches!(issued.notices[..], [Notice::MemoryBehind { .. }]), "{:?}", issued.notices);
    assert_eq!(issued.dates[0].suffix(), "2026/11.21.02.20.00.000001");
}

/// Rot in the newer slot leaves an older date: the names on disk are read again.
#[test]
fn rot_in_one_slot_does_not_repeat_a_date() {
    let place = Place::new();
    place.suffix("auto");
    place.suffix("auto");
    place.names.add("2026-11-21T02:13:20.003Z");
    let mut bytes = std::fs::read(place.memory()).unwrap();
    let newer = slot::offset_for_next(1);
    bytes[newer + 100] ^= 1;
    std::fs::write(place.memory(), bytes).unwrap();
    let read_before = *place.names.read.borrow();
    let date = place.issue("auto").unwrap().dates[0];
    assert_eq!(*place.names.read.borrow(), read_before + 1);
    assert!(date > "2026-11-21T02:13:20.003Z".parse().unwrap(), "{date}");
}

#[test]
fn names_are_not_read_again_while_nothing_has_changed() {
    let place = Place::new();
    place.suffix("auto");
    place.suffix("auto");
    assert_eq!(*place.names.read.borrow(), 0, "the directory is as it was");
    place.names.add("2026-11-21T02:13:15Z");
    let mut distributor = place.distributor("auto");
    distributor.issue(1, &place.names, PATIENCE).unwrap();
    assert_eq!(*place.names.read.borrow(), 1);
    place.names.add("2026-11-21T02:13:16Z");
    distributor.settle(&place.names, PATIENCE).unwrap();
    place.suffix("auto");
    assert_eq!(*place.names.read.borrow(), 1, "settled");
}

#[test]
fn a_memory_of_another_prefix_or_a_newer_version_is_refused() {
    let place = Place::new();
    place.suffix("auto");
    let text = String::from_utf8(std::fs::read(place.memory()).unwrap()).unwrap();
    let other = place.scratch.path().join("example.org+other.lock");
    std::fs::write(&other, &text).unwrap();
    let dir = Dir::open(place.scratch.path(), Watcher::default()).unwrap();
    let prefix = "example.org/other".parse().unwrap();
    let mut distributor = Distributor::new(prefix, Setting::Auto, dir, &place.agent, &place.clock);
    let error = distributor.issue(1, &place.names, PATIENCE).unwrap_err();
    assert!(matches!(error, DistributorError::WrongMemory { .. }), "{error}");
}

/// A link in place of the memory is not followed.
#[test]
fn a_memory_that_is_a_link_is_refused() {
    let place = Place::empty();
    let elsewhere = place.scratch.path().join("elsewhere");
    std::fs::write(&elsewhere, "precious").unwrap();
    std::os::unix::fs::symlink(&elsewhere, place.memory()).unwrap();
    assert!(place.issue("auto").is_err());
    assert_eq!(std::fs::read(&elsewhere).unwrap(), b"precious");
}

/// The whole rest of a window is a hole when the process that took it is killed: no date twice.
#[test]
fn dates_increase_over_processes_and_batches() {
    let place = Place::new();
    let mut all = Vec::new();
    for round in 0..20 {
        let count = [1, 7, 100][round % 3];
        let setting = ["auto", "0.0001", "auto"][round % 3];
        all.extend(place.distributor(setting).issue(count, &place.names, PATIENCE).unwrap().dates);
    }
    assert!(all.is_sorted_by(|a, b| a < b));
}

/// A collection copied on one machine brings a memory along that the original still gives from.
#[test]
fn a_copy_of_a_memory_gives_no_names() {
    let place = Place::new();
    place.suffix("auto");
    let copy = Place::new();
    std::fs::copy(place.memory(), copy.memory()).unwrap();
    let error = copy.issue("auto").unwrap_err();
    assert!(matches!(error, DistributorError::OtherMachine { .. }), "{error}");
    copy.distributor("auto").adopt(&copy.names, FutureDate::Keep, PATIENCE).unwrap();
    copy.issue("auto").unwrap();
    place.issue("auto").unwrap();
}
