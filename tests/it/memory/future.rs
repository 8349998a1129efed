//! Names and memories dated in the future.

use super::*;

#[test]
fn a_name_of_the_future_is_reported_and_does_not_count() {
    let place = Place::new();
    place.date("auto");
    place.names.add("2199-01-01T00:00:00Z");
    let future = "2199-01-01T00:00:00Z".parse().unwrap();
    let is_reported = |notices: &[Notice]| {
        notices.iter().any(|it| matches!(it, Notice::FutureName { date, .. } if *date == future))
    };
    assert!(is_reported(&place.distributor("auto").catch_up(&place.names, PATIENCE).unwrap()));
    std::fs::remove_file(place.memory()).unwrap();
    let issued = place.issue("auto").unwrap();
    assert!(is_reported(&issued.notices), "{:?}", issued.notices);
    assert!(issued.dates[0] < "2026-11-22T00:00:00Z".parse().unwrap());
    assert!(is_reported(&place.distributor("auto").restored(&place.names, PATIENCE).unwrap()));
    std::fs::remove_file(place.memory()).unwrap();
    place.distributor("auto").begin(&place.names, Past::Unknown, PATIENCE).unwrap();
    place.date("auto");
}

/// A name that somebody with a clock a little ahead has given is waited for, as a date of our own is.
#[test]
fn a_name_that_the_clock_reaches_soon_counts() {
    let place = Place::new();
    place.names.add("2026-11-21T02:13:24Z");
    place.distributor("auto").catch_up(&place.names, PATIENCE).unwrap();
    assert!(place.date("auto") > "2026-11-21T02:13:24Z".parse().unwrap());
}

/// No name up to then may be given a second time.
#[test]
fn a_memory_of_the_future_issues_nothing_until_then() {
    let place = Place::new();
    place.clock.set("2026-12-01T00:00:00Z");
    let ahead = place.date("auto");
    place.clock.set("2026-11-21T02:15:00Z");
    place.distributor("auto").catch_up(&place.names, PATIENCE).unwrap();
    place.distributor("auto").restored(&place.names, PATIENCE).unwrap();
    let error = place.issue("auto").unwrap_err();
    assert!(matches!(error, DistributorError::ClockBehind { .. }), "{error}");
    place.clock.set("2026-12-01T00:00:01Z");
    assert!(place.date("auto") > ahead);
}
