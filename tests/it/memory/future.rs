//! Names and memories dated in the future.

use super::*;

#[test]
fn a_name_of_the_future_is_told_and_does_not_count() {
    let place = Place::new();
    place.names.add("2199-01-01T00:00:00Z");
    let issued = place.issue("auto").unwrap();
    let future = "2199-01-01T00:00:00Z".parse().unwrap();
    assert!(
        matches!(&issued.notices[..], [Notice::FutureName { date, .. }] if *date == future),
        "{:?}",
        issued.notices
    );
    assert!(issued.dates[0] < "2026-11-22T00:00:00Z".parse().unwrap());
}

#[test]
fn a_name_of_the_future_never_gets_into_the_memory() {
    let place = Place::new();
    place.date("auto");
    place.names.add("2199-01-01T00:00:00Z");
    let notices = place.distributor("auto").catch_up(&place.names, PATIENCE).unwrap();
    assert!(matches!(notices[..], [Notice::FutureName { .. }]), "{notices:?}");
    place.distributor("auto").adopt(&place.names, FutureDate::Keep, PATIENCE).unwrap();
    std::fs::remove_file(place.memory()).unwrap();
    place.distributor("auto").begin(&place.names, Past::Unknown, PATIENCE).unwrap();
    place.date("auto");
}

/// A name that somebody with a clock a little ahead has given is waited for, as a date of our own is.
#[test]
fn a_name_that_the_clock_reaches_soon_counts() {
    let place = Place::new();
    place.names.add("2026-11-21T02:13:24Z");
    let issued = place.issue("auto").unwrap();
    assert!(matches!(issued.notices[..], [Notice::MemoryBehind { .. }]), "{:?}", issued.notices);
    assert!(issued.dates[0] > "2026-11-21T02:13:24Z".parse().unwrap());
}

#[test]
fn a_memory_of_the_future_is_taken_back_by_a_person_only() {
    let place = Place::new();
    place.clock.set("2199-01-01T00:00:00Z");
    place.date("auto");
    place.clock.set("2026-11-21T02:15:00Z");
    for future in [FutureDate::Keep, FutureDate::Forget] {
        let error = place.issue("auto").unwrap_err();
        assert!(matches!(error, DistributorError::ClockBehind { .. }), "{error}");
        place.distributor("auto").catch_up(&place.names, PATIENCE).unwrap();
        place.distributor("auto").adopt(&place.names, future, PATIENCE).unwrap();
    }
    let date = place.date("auto");
    assert!(date > "2026-11-21T02:15:00Z".parse().unwrap(), "{date} has passed");
    assert!(date < "2026-11-22T00:00:00Z".parse().unwrap());
}
