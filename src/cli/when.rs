//! Typed times: RFC 3339, its beginning as far as the day, or an age. They are in UTC, as in identifiers.

use std::time::Duration;

use urepo::identity::{Civil, Instant};

use super::human::parse_duration;

/// A typed time, which may depend on the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// A year, month, day or second: from the first instant to before the second one.
    Period(Instant, Instant),
    /// The instant at this distance before now.
    Ago(Duration),
}

/// The expected form of a time.
const EXPECTED: &str = "expected a time as in RFC 3339, such as 2026-11-22T12:00:00Z, a day, month or year of it, \
                        or an age such as 12h, 7d or 2w";

const SECOND: i128 = 1_000_000_000;
const DAY: i128 = 86_400 * SECOND;

impl When {
    /// Reads `2026`, `2026-11`, `2026-11-22`, `2026-11-22T12:00:00Z` and `7d`.
    pub(crate) fn parse(text: &str) -> Result<When, String> {
        let period = period(text).map(|(first, end)| When::Period(first, end));
        // Minutes may be meant as months, and `--until` is an option of `delete`.
        let is_age = text.ends_with(['h', 'd', 'w']);
        let age = || parse_duration(text).ok().filter(|_| is_age).map(When::Ago);
        period.or_else(age).ok_or_else(|| EXPECTED.to_owned())
    }

    /// The first instant of it.
    pub(crate) fn first(self, now: Instant) -> Instant {
        match self {
            When::Period(first, _) => first,
            When::Ago(time) => ago(now, time),
        }
    }

    /// The first instant after it.
    pub(crate) fn end(self, now: Instant) -> Instant {
        match self {
            When::Period(_, end) => end,
            When::Ago(time) => ago(now, time),
        }
    }
}

/// The time before `now`, or the beginning of time.
fn ago(now: Instant, time: Duration) -> Instant {
    let nanoseconds = i128::try_from(time.as_nanos()).unwrap_or(i128::MAX);
    now.checked_add(nanoseconds.saturating_neg()).unwrap_or(Instant::from_nanoseconds(i128::MIN))
}

/// The first instant of a date or time, and the first one after it.
fn period(text: &str) -> Option<(Instant, Instant)> {
    if text.contains('T') {
        let first: Instant = text.parse().ok()?;
        return Some((first, first.checked_add(SECOND)?));
    }
    let at = |year, month, day| {
        let (hour, minute, second, nanosecond) = (0, 0, 0, 0);
        Instant::from_civil(Civil { year, month, day, hour, minute, second, nanosecond })
    };
    let parts: Vec<_> = text.split('-').collect();
    match parts[..] {
        [year] => {
            let year = number(year, 4)?;
            Some((at(year, 1, 1)?, at(year + 1, 1, 1)?))
        }
        [year, month] => {
            let (year, month) = (number(year, 4)?, number(month, 2)?);
            let end = if month == 12 { at(year + 1, 1, 1)? } else { at(year, month + 1, 1)? };
            Some((at(year, month, 1)?, end))
        }
        [year, month, day] => {
            let first = at(number(year, 4)?, number(month, 2)?, number(day, 2)?)?;
            Some((first, first.checked_add(DAY)?))
        }
        _ => None,
    }
}

/// A number with exactly that number of digits.
fn number<T: std::str::FromStr>(text: &str, digits: usize) -> Option<T> {
    let is_number = text.len() == digits && text.bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_a_period_or_an_instant() {
        let now: Instant = "2026-11-22T22:30:00Z".parse().unwrap();
        for (text, first, end) in [
            ("2026", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
            ("2026-11", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"),
            ("2026-12", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"),
            ("2024-02", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"),
            ("2026-11-22", "2026-11-22T00:00:00Z", "2026-11-23T00:00:00Z"),
            ("2026-11-22T12:05:00Z", "2026-11-22T12:05:00Z", "2026-11-22T12:05:01Z"),
            ("2026-11-22T22:05:30-03:00", "2026-11-23T01:05:30Z", "2026-11-23T01:05:31Z"),
            ("7d", "2026-11-15T22:30:00Z", "2026-11-15T22:30:00Z"),
            ("2w", "2026-11-08T22:30:00Z", "2026-11-08T22:30:00Z"),
            ("12h", "2026-11-22T10:30:00Z", "2026-11-22T10:30:00Z"),
        ] {
            let when = When::parse(text).unwrap_or_else(|_| panic!("{text}"));
            let found = [when.first(now), when.end(now)].map(|it| it.to_string());
            assert_eq!(found, [first, end], "{text}");
        }
        let wrong = "|26|202|2026-13|2026-00|2026-02-30|2026-1|2026-11-22-01|22/11/2026|22.11.2026|2026-11-22T|\
                     2026-11-22T25:00:00Z|2026-11-22T12:00|2026T12:00|-7d|7|0|6m|90min|7 days|today|soon|99999999999999999999d|ãd";
        for text in wrong.split('|') {
            assert!(When::parse(text).is_err(), "{text}");
        }
        // Before the beginning of time.
        let when = When::parse("213503982334000d").unwrap();
        assert!(when.first(now) < now);
    }
}
