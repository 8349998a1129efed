//! Dates of descriptions: ISO 8601 and the Extended Date/Time Format (EDTF), levels 0 and 1.
//!
//! [`check`] accepts a date in that form. Nothing guesses at the date of another text: `12/03/1911` is a day in March in
//! one country and in December in another.

use chrono::NaiveDate;

/// A text that is not a date in EDTF.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a date such as `1911-03-12`, `1911-03`, `1911~` or `1911/1912`")]
pub struct DateError(String);

/// From this number on, a year is a day number of a spreadsheet: `4089` is 1911-03-12.
const FIRST_SERIAL: u64 = 2200;

/// Checks that `text` is a date in EDTF, level 0 or 1, and not a number of days.
pub fn check(text: &str) -> Result<(), DateError> {
    if is_edtf(text) { Ok(()) } else { Err(DateError(text.to_owned())) }
}

/// Whether `text` is a date, a time or an interval.
fn is_edtf(text: &str) -> bool {
    if text.parse::<u64>().is_ok_and(|number| number >= FIRST_SERIAL) {
        return false;
    }
    match text.split_once('/') {
        None => span(text).is_some() || is_date_time(text),
        Some((start, end)) => {
            let open = |text: &str| text.is_empty() || text == "..";
            match (open(start), open(end)) {
                (true, true) => false,
                (true, false) => span(end).is_some(),
                (false, true) => span(start).is_some(),
                (false, false) => {
                    let (start, end) = (span(start), span(end));
                    start.zip(end).is_some_and(|(start, end)| start.0 <= end.1)
                }
            }
        }
    }
}

/// The days of a year in [`days`]: twelve months of 31.
pub const DAYS_IN_YEAR: i64 = 372;

/// The first and the last day that `text` may be, as numbers that grow with the days; `None` for a text that is no date.
pub fn days(text: &str) -> Option<(i64, i64)> {
    if !is_edtf(text) {
        return None;
    }
    let number = |(year, month, day): (i64, u32, u32)| {
        year.saturating_mul(DAYS_IN_YEAR).saturating_add(i64::from((month - 1) * 31 + day - 1))
    };
    let of = |text: &str| -> Option<(i64, i64)> {
        let (first, last) = span(text.split_once('T').map_or(text, |(day, _)| day))?;
        Some((number(first), number(last)))
    };
    match text.split_once('/') {
        None => of(text),
        Some((start, end)) => {
            Some((of(start).map_or(i64::MIN, |it| it.0), of(end).map_or(i64::MAX, |it| it.1)))
        }
    }
}

/// The first and the last day that a date may be, each as year, month and day.
type Span = ((i64, u32, u32), (i64, u32, u32));

/// The days that a date without a time may be: `1911-03-12`, `1911-21` (spring), `19XX`, `-0044`, `Y170000`, each perhaps
/// uncertain (`?`), approximate (`~`) or both (`%`).
fn span(text: &str) -> Option<Span> {
    let text = text.strip_suffix(['?', '~', '%']).unwrap_or(text);
    if let Some(year) = text.strip_prefix('Y') {
        let digits = year.strip_prefix('-').unwrap_or(year);
        let is_long = (5..=15).contains(&digits.len()) && !digits.starts_with('0');
        let year = digits.bytes().all(|it| it.is_ascii_digit()).then(|| year.parse().ok())??;
        return is_long.then_some(((year, 1, 1), (year, 12, 31)));
    }
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let mut parts = rest.split('-');
    let (year, month, day) = (parts.next()?, parts.next(), parts.next());
    if parts.next().is_some() || year.len() != 4 {
        return None;
    }
    let unspecified = year.bytes().rev().take_while(|it| *it == b'X').count();
    let known = &year[..4 - unspecified];
    if unspecified > 2 || !known.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    // The year 0 has no sign.
    if sign < 0 && year == "0000" {
        return None;
    }
    let fill = |digit: &str| format!("{known}{}", digit.repeat(unspecified)).parse::<i64>().ok();
    let (low, high) = (fill("0")? * sign, fill("9")? * sign);
    let (first, last) = (low.min(high), low.max(high));
    match (month, day) {
        (None, _) | (Some("XX"), None | Some("XX")) => Some(((first, 1, 1), (last, 12, 31))),
        (Some(month), day) => {
            let month = two_digits(month)?;
            match (month, day) {
                // Seasons: spring, summer, autumn, winter.
                (21..=24, None) => Some(((first, 1, 1), (last, 12, 31))),
                (1..=12, None | Some("XX")) => Some(((first, month, 1), (last, month, 31))),
                (1..=12, Some(day)) if unspecified == 0 => {
                    let day = two_digits(day)?;
                    // Years repeat every 400; this one is within the reach of the calendar.
                    let year = i32::try_from(first.rem_euclid(400)).ok()? + 2000;
                    NaiveDate::from_ymd_opt(year, month, day)?;
                    Some(((first, month, day), (last, month, day)))
                }
                _ => None,
            }
        }
    }
}

/// Whether `text` is a day with a time: `2026-11-21T02:13:00Z`, with an offset, or in local time.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once('T') else { return false };
    let is_day = date.len() == 10 && !date.contains('X') && span(date).is_some();
    is_day && is_time(time)
}

fn is_time(text: &str) -> bool {
    let (time, offset) = match text.find(['Z', '+', '-']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let is_offset = match offset {
        "" | "Z" => true,
        offset => matches!(clock(&offset[1..]), Some((0..=14, 0..=59, None))),
    };
    let (time, fraction) = match time.split_once('.') {
        Some((time, fraction)) => (time, Some(fraction)),
        None => (time, None),
    };
    let is_fraction = fraction
        .is_none_or(|it| (1..=9).contains(&it.len()) && it.bytes().all(|it| it.is_ascii_digit()));
    let is_clock = match clock(time) {
        Some((0..=23, 0..=59, Some(0..=60))) => true,
        Some((0..=23, 0..=59, None)) => fraction.is_none(),
        _ => false,
    };
    is_clock && is_fraction && is_offset
}

/// Hours, minutes and perhaps seconds.
fn clock(text: &str) -> Option<(u32, u32, Option<u32>)> {
    let mut parts = text.split(':').map(two_digits);
    let (hours, minutes) = (parts.next()??, parts.next()??);
    let seconds = match parts.next() {
        Some(seconds) => Some(seconds?),
        None => None,
    };
    parts.next().is_none().then_some((hours, minutes, seconds))
}

fn two_digits(text: &str) -> Option<u32> {
    let are_digits = text.len() == 2 && text.bytes().all(|it| it.is_ascii_digit());
    are_digits.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dates_of_levels_0_and_1_are_accepted() {
        for text in [
            "1911",
            "1911-03",
            "1911-03-12",
            "2026-11-21T02:13:00Z",
            "2026-11-21T02:13:00-03:00",
            "2026-11-21T02:13:00",
            "2026-11-21T02:13:00.5Z",
            "1964/2008",
            "2004-06/2006-08",
            "2004-02-01/2005",
            "1911~",
            "1911?",
            "1911%",
            "1911-03?",
            "1911-03-12~",
            "19XX",
            "191X",
            "1911-XX",
            "1911-03-XX",
            "1911-XX-XX",
            "../1911",
            "1911/..",
            "1911/",
            "/1911",
            "1911~/1912?",
            "2001-21",
            "2001-24~",
            "-0044",
            "-0044/0014",
            "Y170000002",
            "Y-170000002",
            "0000",
            "2024-02-29",
            "19XX/1950",
            "1911/1911",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "45231",
            "4089",
            "45231.75",
            "31/12/2020",
            "12/31/2020",
            "12/03/1911",
            "12/12/2020",
            "31.12.2020",
            "31-12-2020",
            "1.2.2020",
            "12/1911",
            "1911/03/12",
            "19110312",
            "31 de dezembro de 2020",
            "dezembro de 2020",
            "31. Dezember 2020",
            "31 décembre 2020",
            "1º de março de 1911",
            "December 31, 2020",
            "31-dez-2020",
            "c. 1911",
            "ca. 1911",
            "cerca de 1911",
            "1911-1912",
            "31/12/20",
            "30/02/2020",
            "last spring",
            "1912/1911",
            "2023-02-29",
            "1911-13",
            "1911-00",
            "XXXX",
            "1XXX",
            "../..",
            "",
            "2026-11-21T25:00:00Z",
            "-0000",
        ] {
            assert!(check(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "[0-9XYT:Z+./~?%a-zç -]{0,24}|.*") {
            let _ = check(&text);
        }

        #[test]
        fn every_day_is_a_date(days in 0_i32..3_000_000) {
            let day = NaiveDate::from_num_days_from_ce_opt(days + 366 * 1000).unwrap();
            let iso = day.format("%Y-%m-%d").to_string();
            prop_assume!(iso.len() == 10);
            prop_assert_eq!(check(&iso), Ok(()));
        }
    }
}
