//! Reading RFC 3339 [`Instant`]s.

use std::str::FromStr;

use super::cursor::{self, Cursor, Moment};
use super::error::{Fault, ParseError};
use super::instant::{Instant, SECOND};

impl FromStr for Instant {
    type Err = ParseError;

    /// Reads RFC 3339, `Z` or a numeric offset at the end.
    ///
    /// Beyond it: a year may have up to nine digits and a minus sign (what `Display` writes),
    /// and the seconds may be missing. Digits of the fraction after the ninth are dropped.
    fn from_str(text: &str) -> Result<Instant, ParseError> {
        read(text).map_err(|fault| fault.within("instant", text))
    }
}

pub(super) fn read(text: &str) -> Result<Instant, Fault> {
    let before_zero = text.starts_with('-');
    let mut cursor = Cursor::new(text, usize::from(before_zero));
    let year = cursor.year()?;
    cursor.sign(b'-', "month")?;
    let month = cursor.two_digits("month")?;
    cursor.sign(b'-', "day")?;
    let day = cursor.two_digits("day")?;
    match cursor.peek() {
        Some(b'T' | b't' | b' ') => cursor.skip(),
        _ => return Err(cursor.unexpected("expected `T` and the time of day")),
    }
    let hour = cursor.two_digits("hour")?;
    cursor.sign(b':', "minute")?;
    let minute = cursor.two_digits("minute")?;
    let (second, fraction) = second(&mut cursor)?;
    let offset = offset(&mut cursor)?;
    cursor.end()?;
    let year = if before_zero { -year } else { year };
    let seconds = Moment { year, month, day, hour, minute, second }.seconds()?;
    let local = cursor::instant(seconds, fraction);
    Ok(Instant::from_nanoseconds(local.nanoseconds() - i128::from(offset) * SECOND))
}

fn second<'text>(cursor: &mut Cursor<'text>) -> Result<(Option<cursor::Field>, &'text str), Fault> {
    if cursor.peek() != Some(b':') {
        return Ok((None, ""));
    }
    cursor.skip();
    let second = cursor.two_digits("second")?;
    if cursor.peek() != Some(b'.') {
        return Ok((Some(second), ""));
    }
    cursor.skip();
    Ok((Some(second), cursor.fraction()?))
}

/// Seconds that the local time is ahead of UTC.
fn offset(cursor: &mut Cursor<'_>) -> Result<i64, Fault> {
    let direction = match cursor.peek() {
        Some(b'Z' | b'z') => 0,
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return Err(cursor.unexpected("expected `Z` or an offset such as `-03:00`")),
    };
    cursor.skip();
    if direction == 0 {
        return Ok(0);
    }
    let hour = cursor.two_digits("hour of the offset")?.at_most(23, "hour")?;
    cursor.sign(b':', "minute of the offset")?;
    let minute = cursor.two_digits("minute of the offset")?.at_most(59, "minute")?;
    Ok(direction * i64::from(hour * 3600 + minute * 60))
}
