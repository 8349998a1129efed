//! Memories that are not the last one: restored, copied, lost in part.

use super::*;

/// Puts a file as it was in place of what there is, as `cp -a` does: the inode stays, and only the
/// time of the change tells.
pub(crate) fn restore_in_place(path: &std::path::Path, bytes: &[u8]) {
    use std::os::unix::fs::MetadataExt;
    let changed = || {
        let stat = std::fs::metadata(path).unwrap();
        i128::from(stat.ctime()) * 1_000_000_000 + i128::from(stat.ctime_nsec())
    };
    // The clock of the file system goes in steps.
    let before = changed();
    while changed() - before < 20_000_000 {
        std::fs::write(path, bytes).unwrap();
    }
}

impl Place {
    /// A date by a process of its own.
    #[track_caller]
    pub(super) fn date(&self, setting: &str) -> Instant {
        self.issue(setting).unwrap().dates[0]
    }
}

#[test]
fn a_backup_restored_in_place_gives_no_date_again() {
    for setting in ["auto", "60", "1"] {
        let place = Place::new();
        // Of names that stand on no item, only the memory knows.
        place.date(setting);
        let backup = std::fs::read(place.memory()).unwrap();
        place.clock.set("2026-11-21T02:14:02Z");
        let forgotten = place.date(setting);
        restore_in_place(&place.memory(), &backup);
        let next = place.date(setting);
        assert!(next > forgotten, "{setting}: {next} after {forgotten}");
    }
}

#[test]
fn a_memory_from_before_the_first_name_gives_no_date_again() {
    let place = Place::new();
    let backup = std::fs::read(place.memory()).unwrap();
    let forgotten = place.date("auto");
    restore_in_place(&place.memory(), &backup);
    assert!(place.date("auto") > forgotten);
}

#[test]
fn a_lost_memory_without_names_on_disk_gives_no_date_again() {
    let place = Place::new();
    let forgotten = place.date("1");
    std::fs::remove_file(place.memory()).unwrap();
    assert!(place.date("1") > forgotten);
}

/// What the hint asks for after a restore elsewhere is safe as well.
#[test]
fn an_accepted_memory_gives_no_date_that_has_passed() {
    let place = Place::new();
    place.date("auto");
    let copy = Place::new();
    let backup = std::fs::read(place.memory()).unwrap();
    std::fs::write(copy.memory(), backup).unwrap();
    place.clock.set("2026-11-21T02:14:02Z");
    let forgotten = place.date("auto");
    copy.clock.set("2026-11-21T02:14:03Z");
    copy.distributor("auto").adopt(&copy.names, FutureDate::Keep, PATIENCE).unwrap();
    let next = copy.date("auto");
    assert!(next > forgotten, "{next} after {forgotten}");
    assert!(next > "2026-11-21T02:14:03Z".parse().unwrap(), "{next} has passed");
}

#[test]
fn an_accepted_memory_goes_on_above_the_newest_name() {
    let place = Place::new();
    place.date("auto");
    place.names.add("2026-11-21T02:13:23.5Z");
    place.distributor("auto").adopt(&place.names, FutureDate::Keep, PATIENCE).unwrap();
    let next = place.date("auto");
    assert!(next > "2026-11-21T02:13:23.5Z".parse().unwrap(), "{next}");
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

/// When the power went, more than the last sync may be lost.
#[test]
fn names_that_changed_over_a_boot_are_reason_for_doubt() {
    let mut place = Place::new();
    place.date("auto");
    place.agent.boot_id = "boot-2".into();
    place.clock.set("2026-11-21T02:15:07Z");
    assert_eq!(place.suffix("auto"), "2026/11.21.02.15", "nothing but the boot has changed");
    place.agent.boot_id = "boot-3".into();
    place.names.add("2026-11-21T02:13:15Z");
    place.clock.set("2026-11-21T02:16:07Z");
    let date = place.date("auto");
    assert!(date > "2026-11-21T02:16:07Z".parse().unwrap(), "{date} has passed");
}

/// The file system, or the machine, is as it was before names that nobody knows any more. The memory below is
/// the one from before: no names, no inode and no ctime tell.
#[test]
fn a_rollback_before_the_machine_started_gives_no_date_again() {
    for setting in ["auto", "60", "1", "0.001"] {
        for has_date in [true, false] {
            let mut place = Place::new();
            if has_date {
                place.date(setting);
            }
            place.clock.set("2026-11-21T02:14:02Z");
            let forgotten = Place::new();
            forgotten.clock.set("2026-11-21T02:14:02Z");
            let forgotten = forgotten.date(setting);
            place.clock.boot("2026-11-21T02:14:03Z");
            place.agent.boot_id = "boot-2".into();
            let next = place.date(setting);
            assert!(next > forgotten, "{setting}: {next} after {forgotten}");
        }
    }
}

/// Names are as short, and as soon there, as without the boot.
#[test]
fn a_boot_between_two_names_does_not_lengthen_the_second() {
    let mut place = Place::new();
    place.date("auto");
    place.clock.boot("2026-11-21T02:14:50Z");
    place.agent.boot_id = "boot-2".into();
    place.clock.set("2026-11-21T02:14:53Z");
    assert_eq!(place.suffix("1"), "2026/11.21.02.14.53", "within the minute of the boot");
    for setting in ["auto", "60"] {
        let mut place = Place::new();
        place.date(setting);
        place.clock.boot("2026-11-21T02:14:50Z");
        place.agent.boot_id = "boot-2".into();
        place.clock.set("2026-11-21T02:15:07Z");
        assert_eq!(place.suffix(setting), "2026/11.21.02.15");
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

/// A process that was killed with the lock may have given dates.
#[test]
fn a_killed_holder_is_reason_for_doubt() {
    use std::os::unix::fs::FileExt;
    let place = Place::new();
    place.date("auto");
    let size = std::fs::metadata(place.memory()).unwrap().len();
    let file = std::fs::File::options().write(true).open(place.memory()).unwrap();
    let bytes = std::fs::read(place.memory()).unwrap();
    restore_in_place(&place.memory(), &bytes);
    file.write_all_at(b"`urepo new`", slot::FILE as u64).unwrap();
    assert_eq!(std::fs::metadata(place.memory()).unwrap().len(), size);
    place.clock.set("2026-11-21T02:15:07Z");
    let date = place.date("auto");
    assert!(date > "2026-11-21T02:15:07Z".parse().unwrap(), "{date} has passed");
}

/// Now is no evidence that the clock is right.
#[test]
fn a_clock_far_ahead_is_refused_beside_a_restored_memory_too() {
    let place = Place::new();
    place.date("auto");
    let backup = std::fs::read(place.memory()).unwrap();
    place.date("auto");
    restore_in_place(&place.memory(), &backup);
    place.clock.set("2199-01-01T00:00:00Z");
    place.distributor("auto").catch_up(&place.names, PATIENCE).unwrap();
    let error = place.issue("auto").unwrap_err();
    assert!(matches!(error, DistributorError::ClockDoubtful { .. }), "{error}");
    place.clock.set("2026-11-21T02:15:00Z");
    place.date("auto");
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
