//! Typed times. Without an offset they are in UTC, as in identifiers.

use std::time::Duration;

use urepo::identity::{Civil, Instant};

use super::human::parse_duration;

/// A typed time, which may depend on the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// A year, month, day, hour, minute or second: from the first instant to before the second one.
    Period(Instant, Instant),
    /// The day at this distance before today.
    DaysAgo(u32),
    /// The instant at this distance before now.
    Ago(Duration),
}

/// The expected form of a time.
const EXPECTED: &str = "expected a year, month, day or time, such as 2026, 2026-11, 2026-11-22 or \
                        2026-11-22T12:00Z; or `today`, `yesterday`, or an age such as 7d or 2w";

const DAY: i128 = 86_400_000_000_000;

impl When {
    /// Reads `2026`, `2026-11`, `2026-11-22`, `2026-11-22T12:00`, `today`, `yesterday` and `7d`.
    pub(crate) fn parse(text: &str) -> Result<When, String> {
        let text = text.trim();
        let text = text.strip_suffix(" ago").unwrap_or(text);
        match text.to_lowercase().as_str() {
            "today" | "hoje" => return Ok(When::DaysAgo(0)),
            "yesterday" | "ontem" => return Ok(When::DaysAgo(1)),
            _ => {}
        }
        let unit = text.trim_start_matches(|it: char| it.is_ascii_digit());
        if unit == "m" && unit != text {
            return Err(format!("`{text}` may be minutes or months; write `{text}in`, or a date"));
        }
        if !unit.is_empty() && unit.bytes().all(|it| it.is_ascii_lowercase()) {
            return parse_duration(text).map(When::Ago).map_err(|_| EXPECTED.to_owned());
        }
        period(text).map(|(first, end)| When::Period(first, end)).ok_or_else(|| EXPECTED.to_owned())
    }

    /// The first instant of it.
    pub(crate) fn first(self, now: Instant) -> Instant {
        match self {
            When::Period(first, _) => first,
            When::DaysAgo(days) => earlier(now.floor(DAY), i128::from(days) * DAY),
            When::Ago(time) => ago(now, time),
        }
    }

    /// The first instant after it.
    pub(crate) fn end(self, now: Instant) -> Instant {
        match self {
            When::Period(_, end) => end,
            When::DaysAgo(days) => earlier(now.floor(DAY), (i128::from(days) - 1) * DAY),
            When::Ago(time) => ago(now, time),
        }
    }
}

fn ago(now: Instant, time: Duration) -> Instant {
    earlier(now, i128::try_from(time.as_nanos()).unwrap_or(i128::MAX))
}

/// The time `nanoseconds` before `now`, or the beginning of time.
fn earlier(now: Instant, nanoseconds: i128) -> Instant {
    now.checked_add(nanoseconds.saturating_neg()).unwrap_or(Instant::from_nanoseconds(i128::MIN))
}

/// The first instant of a date or time, and the first one after it.
fn period(text: &str) -> Option<(Instant, Instant)> {
    let (date, time) = match text.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let year: i128 = number(parts.next()?, 4)?;
    let month = parts.next().map(|it| number(it, 2)).map_or(Some(None), |it| it.map(Some))?;
    let day = parts.next().map(|it| number(it, 2)).map_or(Some(None), |it| it.map(Some))?;
    if parts.next().is_some() {
        return None;
    }
    let at = |year, month, day| {
        Instant::from_civil(Civil {
            year,
            month,
            day,
            hour: 0,
            minute: 0,
            second: 0,
            nanosecond: 0,
        })
    };
    match (month, day, time) {
        (None, None, None) => Some((at(year, 1, 1)?, at(year + 1, 1, 1)?)),
        (Some(12), None, None) => Some((at(year, 12, 1)?, at(year + 1, 1, 1)?)),
        (Some(month), None, None) => Some((at(year, month, 1)?, at(year, month + 1, 1)?)),
        (Some(month), Some(day), None) => {
            let first = at(year, month, day)?;
            Some((first, first.checked_add(DAY)?))
        }
        (Some(_), Some(_), Some(time)) => instant(date, time),
        _ => None,
    }
}

/// A time of day with or without minutes, seconds, a fraction and an offset.
fn instant(date: &str, time: &str) -> Option<(Instant, Instant)> {
    let at = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    let (clock, offset) = time.split_at(at);
    let offset = if offset.is_empty() { "Z".to_owned() } else { offset.to_uppercase() };
    let (clock, unit) = match clock.len() {
        2 => (format!("{clock}:00:00"), 3600),
        5 => (format!("{clock}:00"), 60),
        _ => (clock.to_owned(), 1),
    };
    let first: Instant = format!("{date}T{clock}{offset}").parse().ok()?;
    Some((first, first.checked_add(unit * 1_000_000_000)?))
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
            ("2026-11-22T12", "2026-11-22T12:00:00Z", "2026-11-22T13:00:00Z"),
            ("2026-11-22 12:05", "2026-11-22T12:05:00Z", "2026-11-22T12:06:00Z"),
            ("2026-11-22T12:05Z", "2026-11-22T12:05:00Z", "2026-11-22T12:06:00Z"),
            ("2026-11-22T22:05:30-03:00", "2026-11-23T01:05:30Z", "2026-11-23T01:05:31Z"),
            ("today", "2026-11-22T00:00:00Z", "2026-11-23T00:00:00Z"),
            ("Hoje", "2026-11-22T00:00:00Z", "2026-11-23T00:00:00Z"),
            ("yesterday", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"),
            ("ontem", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"),
            ("7d", "2026-11-15T22:30:00Z", "2026-11-15T22:30:00Z"),
            ("7d ago", "2026-11-15T22:30:00Z", "2026-11-15T22:30:00Z"),
            ("2w", "2026-11-08T22:30:00Z", "2026-11-08T22:30:00Z"),
            ("90min", "2026-11-22T21:00:00Z", "2026-11-22T21:00:00Z"),
        ] {
            let when = When::parse(text).unwrap_or_else(|_| panic!("{text}"));
            let found = [when.first(now), when.end(now)].map(|it| it.to_string());
            assert_eq!(found, [first, end], "{text}");
        }
        let wrong = "|26|202|2026-13|2026-00|2026-02-30|2026-1|2026-11-22-01|22/11/2026|22.11.2026|2026-11-22T|\
                     2026-11-22T25:00|2026T12:00|-7d|7|7 days|soon|today!|2026-11-22T12:00+|6m|99999999999999999999d|ãd";
        for text in wrong.split('|') {
            assert!(When::parse(text).is_err(), "{text}");
        }
        // Before the beginning of time.
        let when = When::parse("18446744073709551615s").unwrap();
        assert!(when.first(now) < now);
    }
}
