//! Memories that are not the last one: restored, copied, lost in part.

use super::*;

impl Place {
    /// A date by a process of its own.
    #[track_caller]
    pub(super) fn date(&self, setting: &str) -> Instant {
        self.issue(setting).unwrap().dates[0]
    }
}

#[test]
fn a_restored_memory_gives_no_date_that_has_passed() {
    for setting in ["auto", "60", "1"] {
        let place = Place::new();
        place.date(setting);
        let backup = std::fs::read(place.memory()).unwrap();
        place.clock.set("2026-11-21T02:14:02Z");
        let forgotten = place.date(setting);
        std::fs::write(place.memory(), backup).unwrap();
        place.names.add("2026-11-21T02:14:03.5Z");
        place.distributor(setting).restored(&place.names, PATIENCE).unwrap();
        let next = place.date(setting);
        assert!(next > forgotten, "{setting}: {next} after {forgotten}");
        assert!(next > "2026-11-21T02:14:03.5Z".parse().unwrap(), "{setting}: {next}");
    }
}

/// Nobody tells, but the machine remembers.
#[test]
fn a_memory_restored_in_silence_gives_no_date_of_this_machine_again() {
    let place = Place::new();
    let host_state = HostState { dir: Some(place.scratch.path().join("state")) };
    let place = Place { host_state, ..place };
    let backup = std::fs::read(place.memory()).unwrap();
    let forgotten = place.date("auto");
    std::fs::write(place.memory(), backup).unwrap();
    assert!(place.date("auto") > forgotten);
}

#[test]
fn a_lost_memory_without_names_on_disk_gives_no_date_again() {
    let place = Place::new();
    let forgotten = place.date("1");
    std::fs::remove_file(place.memory()).unwrap();
    assert!(place.date("1") > forgotten);
}

#[test]
fn an_empty_or_missing_second_slot_is_a_lost_one() {
    let halves = [&[0; slot::FILE / 2][..], &slot::blank()[slot::FILE / 2..], &[]];
    for (number, half) in halves.into_iter().enumerate() {
        // One of two successive names stands in the second slot.
        for before in [1, 2] {
            let place = Place::new();
            let last = (0..before).map(|_| place.date("1")).last().unwrap();
            let mut bytes = std::fs::read(place.memory()).unwrap();
            bytes.splice(slot::FILE / 2..slot::FILE, half.iter().copied());
            std::fs::write(place.memory(), bytes).unwrap();
            let next = place.date("1");
            assert!(next > last, "half {number} after {before}: {next} after {last}");
        }
    }
}

/// A migration takes a name away: no reason for a longer name, nor for a wait.
#[test]
fn names_that_come_and_go_do_not_lengthen_the_next_one() {
    let place = Place::new();
    place.names.add("2026-11-21T02:13:10Z");
    place.date("60");
    *place.names.newest.borrow_mut() = None;
    place.clock.set("2026-11-21T02:15:07Z");
    assert_eq!(place.suffix("60"), "2026/11.21.02.15");
    assert_eq!(urepo::clock::Clock::now(&place.clock).suffix()[..19], *"2026/11.21.02.15.07");
}

/// A request that is refused leaves the memory as good as it was.
#[test]
fn a_refused_request_does_not_lengthen_the_next_name() {
    let place = Place::new();
    place.date("auto");
    place.clock.set("2026-11-20T22:00:00Z");
    place.issue("auto").unwrap_err();
    place.clock.set("2026-11-21T02:15:07Z");
    assert_eq!(place.suffix("auto"), "2026/11.21.02.15");
}

/// To be later than now takes no more than a microsecond, which is no wait.
#[test]
fn no_wait_is_needed_after_a_restore() {
    let place = Place::new();
    place.date("auto");
    std::fs::remove_file(place.memory()).unwrap();
    let patience = Patience { date: Some(Duration::ZERO), ..PATIENCE };
    place.distributor("auto").issue(1, &place.names, patience).unwrap();
}

/// One host and port is one subsystem, however its prefix is spelt.
#[test]
fn prefixes_of_one_subsystem_share_a_memory() {
    let place = Place::new();
    let mut dates = Vec::new();
    for prefix in ["example.org/archive", "Example.org/archive@80", "example.org/ARCHIVE.80"] {
        let mut distributor = place.distributor("auto");
        distributor.prefix = prefix.parse().unwrap();
        dates.extend(distributor.issue(1, &place.names, PATIENCE).unwrap().dates);
    }
    assert!(dates.is_sorted_by(|a, b| a < b), "{dates:?}");
}
