//! The proleptic Gregorian calendar for any year.
//!
//! `chrono` knows the calendar for some 262,000 years each way. It repeats every 400 years, so a
//! date is moved into the cycle that begins in 2000, looked up there, and moved back.

use chrono::{Datelike, NaiveDate};

/// A date and time of day in UTC. The fields are as read; such a date need not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    /// The year; the one before 1 is 0.
    pub year: i128,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
    /// 0 to 23.
    pub hour: u32,
    /// 0 to 59.
    pub minute: u32,
    /// 0 to 59.
    pub second: u32,
    /// 0 to 999,999,999.
    pub nanosecond: u32,
}

/// The last year that is read, and the first one negated: nine digits.
pub(super) const MAX_YEAR: i64 = 999_999_999;

const DAYS_IN_CYCLE: i64 = 146_097;
pub(super) const SECONDS_IN_DAY: i64 = 86_400;
/// The cycle of 2000, counted from that of the year 0.
const CYCLE_OF_2000: i64 = 5;
/// Days from 1970-01-01 to 2000-01-01.
const DAY_OF_2000: i64 = 10_957;

/// POSIX seconds, without the fraction; `None` if the date or time does not exist.
pub(super) fn seconds(civil: &Civil) -> Option<i64> {
    let &Civil { year, month, day, hour, minute, second, .. } = civil;
    let year = i64::try_from(year).ok().filter(|year| year.abs() <= MAX_YEAR)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let of_day = i64::from(hour * 3600 + minute * 60 + second);
    Some(days(year, month, day)? * SECONDS_IN_DAY + of_day)
}

/// The date and time of day of a POSIX second.
pub(super) fn civil(seconds: i128, nanosecond: u32) -> Civil {
    let days = seconds.div_euclid(i128::from(SECONDS_IN_DAY)) - i128::from(DAY_OF_2000);
    let cycle = days.div_euclid(i128::from(DAYS_IN_CYCLE));
    let day_of_cycle = small(days.rem_euclid(i128::from(DAYS_IN_CYCLE)));
    let date = first_of_2000() + chrono::Days::new(u64::from(day_of_cycle));
    let of_day = small(seconds.rem_euclid(i128::from(SECONDS_IN_DAY)));
    Civil {
        year: i128::from(date.year()) + cycle * 400,
        month: date.month(),
        day: date.day(),
        hour: of_day / 3600,
        minute: of_day / 60 % 60,
        second: of_day % 60,
        nanosecond,
    }
}

/// The English name of a month; of 1 to 12 only.
pub(super) fn month_name(month: u32) -> &'static str {
    u8::try_from(month)
        .ok()
        .and_then(|month| chrono::Month::try_from(month).ok())
        .map_or("this month", |month| month.name())
}

/// Days from 1970-01-01 to a date; `None` if the date does not exist.
pub(super) fn days(year: i64, month: u32, day: u32) -> Option<i64> {
    let year_of_cycle = i32::try_from(year.rem_euclid(400)).ok()?;
    let date = NaiveDate::from_ymd_opt(2000 + year_of_cycle, month, day)?;
    let cycle = year.div_euclid(400) - CYCLE_OF_2000;
    Some((date - first_of_2000()).num_days() + DAY_OF_2000 + cycle * DAYS_IN_CYCLE)
}

fn first_of_2000() -> NaiveDate {
    NaiveDate::from_ymd_opt(2000, 1, 1).expect("the year 2000 began with January 1")
}

/// A remainder, which its divisor keeps small.
fn small(remainder: i128) -> u32 {
    u32::try_from(remainder).expect("a remainder of days or seconds fits in 32 bits")
}
