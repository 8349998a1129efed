//! The temporal distributor [Alg. 4] as arithmetic: no clock, no memory, no waiting.
//!
//! # Dates strictly increase, whatever the granularity does
//!
//! The standard compares with last^(r), the date before *rounded down to the present r*, and lets r
//! change between calls. After r has grown, last^(r) may lie before the date that was really given
//! (60 for 60.5 when r goes from 1/10 to 1), so "later than last^(r)" seems too weak. It is not:
//!
//! - Each granularity divides the coarser ones, so for s ≥ r a multiple of s is a multiple of r.
//!   The date, creation^(s), is one.
//! - For a multiple m of r, m > last^(r) means m ≥ last^(r) + r, and last < last^(r) + r always.
//!   Hence m > last^(r) exactly if m > last.
//!
//! So every date accepted by the standard's condition is later than the date really given, and no
//! further guard is needed. Some s always is accepted: creation is itself a multiple of r later
//! than last^(r), so s = r will do. The same equivalence makes the date the *shortest*: its s is
//! the coarsest that has a multiple in the open-closed interval (last, creation].

use std::iter::successors;
use std::time::Duration;

use super::granularity::{Granularity, Setting};
use crate::identity::Instant;

/// The decision of [Alg. 4] about one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextDate {
    /// The instant from which the date may be used; a multiple of the granularity.
    pub creation: Instant,
    /// The previous date, rounded down to the granularity; for a first label, one step before the rounded
    /// request.
    pub last: Instant,
    /// The granularity of the rounded creation: the standard's s.
    pub chosen: Granularity,
    /// The date of the label: later than every date before and not after `creation`.
    pub date: Instant,
    /// How long after the request the creation is; zero when the date may be used at once.
    pub wait: Duration,
}

/// Decides the date of a label requested at `now`, by exactly the standard's rule [Alg. 4].
///
/// `last` is the previous date, under any granularity. Both instants are within the range of
/// [`Instant::from_seconds`].
pub fn step(last: Option<Instant>, now: Instant, granularity: Granularity) -> NextDate {
    let r = granularity.nanoseconds();
    let rounded = now.floor(r);
    let last = match last {
        Some(last) => last.floor(r),
        None => later(rounded, -r),
    };
    let creation = rounded.max(later(last, r));
    let (chosen, date) = shortest(last, creation, granularity);
    NextDate { creation, last, chosen, date, wait: duration(now, creation) }
}

/// Decides the date of a label requested at `now` under a setting.
///
/// `auto` takes a second, or else the coarsest of 1/10, 1/100 … 1 µs with which the request need
/// not wait. If it has to wait under each of them, it waits for the next microsecond.
pub fn issue(last: Option<Instant>, now: Instant, setting: Setting) -> NextDate {
    match setting {
        Setting::Fixed(granularity) => step(last, now, granularity),
        Setting::Auto => successors(Some(Granularity::ONE), |granularity| granularity.finer())
            .take_while(|granularity| *granularity > Granularity::MICROSECOND)
            .map(|granularity| step(last, now, granularity))
            .find(|step| step.wait.is_zero())
            .unwrap_or_else(|| step(last, now, Granularity::MICROSECOND)),
    }
}

/// Rounds `creation` down as coarsely as leaves it later than `last`, but not finer than `finest`.
///
/// Both are multiples of `finest`, and `creation` is the later one.
fn shortest(last: Instant, creation: Instant, finest: Granularity) -> (Granularity, Instant) {
    // A coarser rounding never gives a later instant: after the first refusal come only refusals.
    successors(Some(finest), |granularity| granularity.coarser())
        .map(|granularity| (granularity, creation.floor(granularity.nanoseconds())))
        .take_while(|(_, date)| *date > last)
        .last()
        .unwrap_or((finest, creation))
}

/// The verdict on a clock reading, compared with the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A label may be issued.
    Fine,
    /// The clock is behind the last date by more than the limit: it has gone back, or the last
    /// date was made under a clock that was ahead.
    ClockBehind {
        /// The date of the previous label.
        last: Instant,
        /// The time of the clock.
        now: Instant,
        /// The difference.
        behind: Duration,
    },
    /// The clock is before 1995-08-01, the beginning of the standard's time.
    BeforeStandard {
        /// The time of the clock.
        now: Instant,
    },
    /// The clock is past the year 9999.
    PastYear9999 {
        /// The time of the clock.
        now: Instant,
    },
    /// The clock is more than 400 days ahead of the last date: a label of a far future would block
    /// all issuing until then.
    TooFarAhead {
        /// The date of the previous label.
        last: Instant,
        /// The time of the clock.
        now: Instant,
        /// The difference.
        ahead: Duration,
    },
}

/// The first instant past the year 9999.
const YEAR_10000: Instant = Instant::from_seconds(253_402_300_800);

/// Limit on the lead of the clock over the last date.
const FARTHEST_AHEAD: Duration = Duration::from_secs(400 * 24 * 60 * 60);

/// Judges whether the clock can be trusted with a label.
///
/// `limit` is how far it may be behind the last date, in which case the request merely waits. A clock behind
/// by more is reported first: issuing nevertheless would mean waiting that long, so it is the one finding
/// that nobody can simply accept.
pub fn judge(last: Option<Instant>, now: Instant, limit: Duration) -> Verdict {
    if let Some(last) = last {
        let behind = duration(now, last);
        if behind > limit {
            return Verdict::ClockBehind { last, now, behind };
        }
    }
    if now < Instant::IBIP_EPOCH {
        return Verdict::BeforeStandard { now };
    }
    if now >= YEAR_10000 {
        return Verdict::PastYear9999 { now };
    }
    match last {
        Some(last) if duration(last, now) > FARTHEST_AHEAD => {
            Verdict::TooFarAhead { last, now, ahead: duration(last, now) }
        }
        _ => Verdict::Fine,
    }
}

/// The instant `nanoseconds` after `instant`.
fn later(instant: Instant, nanoseconds: i128) -> Instant {
    Instant::from_nanoseconds(instant.nanoseconds().saturating_add(nanoseconds))
}

/// The time from one instant to another; zero when that is not later.
fn duration(from: Instant, to: Instant) -> Duration {
    to.duration_since(from).unwrap_or_default()
}
