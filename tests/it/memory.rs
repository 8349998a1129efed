//! The distributor on disk: no date twice, whatever happens to its memory and to the clock.

mod future;
mod model;
mod restored;

use std::cell::RefCell;
use std::time::Duration;

use urepo::disk::{Dir, PathError, Watcher};
use urepo::distributor::{
    ClockTrust, Distributor, DistributorError, HostState, Issued, Names, Newest, Notice, Past,
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
    fn newest(&self, limit: Instant) -> Result<Newest, PathError> {
        *self.read.borrow_mut() += 1;
        let mut newest = Newest::default();
        self.newest.borrow().iter().for_each(|date| newest.add(*date, limit));
        Ok(newest)
    }

    fn is_taken(&self, date: Instant) -> Result<bool, PathError> {
        Ok(*self.newest.borrow() == Some(date))
    }
}

struct Place {
    scratch: tempfile::TempDir,
    clock: TestClock,
    names: Known,
    agent: urepo::agent::Agent,
    host_state: HostState,
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
            host_state: HostState::default(),
        }
    }

    fn distributor(&self, setting: &str) -> Distributor<'_> {
        let dir = Dir::open(self.scratch.path(), Watcher::default()).unwrap();
        let prefix = "example.org/archive".parse().unwrap();
        let setting: Setting = setting.parse().unwrap();
        let mut distributor = Distributor::new(prefix, setting, dir, &self.agent, &self.clock);
        distributor.host_state = self.host_state.clone();
        distributor
    }

    /// A collection of the same host on the same machine.
    fn another(&self) -> Place {
        let place = Place::empty();
        let host_state = HostState { dir: Some(self.scratch.path().join("state")) };
        let place = Place { host_state, ..place };
        place.distributor("auto").begin(&place.names, Past::Known, PATIENCE).unwrap();
        place
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
        self.scratch.path().join("example.org+archive")
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
fn a_memory_from_another_machine_issues_again_by_the_word_of_a_person_only() {
    let mut place = Place::new();
    place.suffix("auto");
    place.agent.machine_id = "clone-id".into();
    let error = place.issue("auto").unwrap_err();
    assert!(matches!(error, DistributorError::OtherMachine { .. }), "{error}");
    place.distributor("auto").restored(&place.names, PATIENCE).unwrap();
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

/// A million names cost nothing while the memory is whole.
#[test]
fn names_are_read_only_in_doubt() {
    let place = Place::new();
    place.suffix("auto");
    place.names.add("2026-11-21T02:13:15Z");
    place.suffix("auto");
    assert_eq!(*place.names.read.borrow(), 0);
}

/// A Copy brings a name that another machine issued.
#[test]
fn a_date_that_a_name_on_disk_has_is_passed_over() {
    let place = Place::new();
    place.names.add("2026-11-21T02:13:20Z");
    assert!(*place.suffix("auto") > *"2026/11.21.02.13.20");
}

#[test]
fn a_memory_of_another_prefix_or_a_newer_version_is_refused() {
    let place = Place::new();
    place.suffix("auto");
    let text = String::from_utf8(std::fs::read(place.memory()).unwrap()).unwrap();
    let other = place.scratch.path().join("example.org+other");
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

#[test]
fn collections_of_one_host_never_meet() {
    let one = Place::new();
    let one =
        Place { host_state: HostState { dir: Some(one.scratch.path().join("state")) }, ..one };
    let other = one.another();
    let mut dates = Vec::new();
    for round in 0..6 {
        let place = if round % 2 == 0 { &one } else { &other };
        dates.extend(place.distributor("auto").issue(3, &place.names, PATIENCE).unwrap().dates);
    }
    // A copy of a collection, with its memory.
    let copy = one.another();
    std::fs::copy(one.memory(), copy.memory()).unwrap();
    dates.push(copy.issue("auto").unwrap().dates[0]);
    // The first one and all that it knew are gone.
    std::fs::remove_file(one.memory()).unwrap();
    let again = one.another();
    dates.push(again.issue("auto").unwrap().dates[0]);
    assert!(dates.is_sorted_by(|a, b| a < b), "{dates:?}");
}

/// After a power cut, only the host state tells one collection what the other issued last.
#[test]
fn what_several_collections_issue_by_outlasts_a_power_cut() {
    use crate::support::{System, Trace};
    let place = Place::new();
    let state = place.scratch.path().join("state");
    let host_state = HostState { dir: Some(state.clone()) };
    let synced = |collection: &str| {
        let trace = std::sync::Arc::new(Trace::on(System::Own));
        let mut distributor = place.distributor("auto");
        distributor.dir =
            Dir::open(place.scratch.path(), Watcher::new(std::sync::Arc::clone(&trace) as _))
                .unwrap();
        distributor.host_state = host_state.clone();
        distributor.collection = Some(collection.to_owned());
        distributor.issue(3, &place.names, PATIENCE).unwrap();
        let seen = trace.0.lock().unwrap();
        let syncs = seen.iter().filter(|(operation, path)| {
            *operation == urepo::disk::Operation::SyncFile
                && *path == state.join("example.org+archive")
        });
        syncs.count()
    };
    // Alone, it has a memory of its own, which is synced.
    assert_eq!([synced("a"), synced("a")], [0, 0]);
    assert_eq!([synced("b"), synced("a"), synced("b")], [1, 1, 1]);
}

/// Two hosts with one address, whose IBIps would be the same.
#[test]
fn hosts_of_one_address_never_meet() {
    let place = Place::new();
    let host_state = HostState { dir: Some(place.scratch.path().join("state")) };
    let mut dates = Vec::new();
    for prefix in ["example.org/archive", "example.org/maps", "example.org/archive"] {
        let mut distributor = place.distributor("1");
        distributor.prefix = prefix.parse().unwrap();
        distributor.ibips = Some("8JMKD3MGP8W".parse().unwrap());
        distributor.host_state = host_state.clone();
        dates.extend(distributor.issue(1, &place.names, PATIENCE).unwrap().dates);
    }
    assert!(dates.is_sorted_by(|a, b| a < b), "{dates:?}");
}

#[test]
fn a_damaged_host_state_is_reason_for_doubt() {
    let one = Place::new();
    let state = one.scratch.path().join("state");
    let one = Place { host_state: HostState { dir: Some(state.clone()) }, ..one };
    one.issue("auto").unwrap();
    let other = one.another();
    let last = other.issue("auto").unwrap().dates[0];
    std::fs::write(state.join("example.org+archive"), vec![b'?'; slot::FILE]).unwrap();
    assert!(one.issue("auto").unwrap().dates[0] > last);
}

/// Users without the right to write the host state issue even so.
#[test]
fn without_host_state_a_person_is_warned() {
    let place = Place::new();
    let file = place.scratch.path().join("file");
    std::fs::write(&file, "").unwrap();
    let place = Place { host_state: HostState { dir: Some(file.join("state")) }, ..place };
    let error = place.issue("auto").unwrap_err();
    assert!(matches!(error, DistributorError::Disk(_)), "{error}");
}
