//! Exact instants.

use std::fmt::{self, Write as _};
use std::time::Duration;

use super::calendar::{self, Civil};
use super::serial::as_text;

/// An instant in UTC: a whole count of nanoseconds since 1970-01-01T00:00:00Z.
///
/// Days have 86,400 seconds, as in POSIX. `Display` and `FromStr` are RFC 3339
/// (`2026-11-21T02:13:00Z`), with the shortest fraction, and with as many digits for the year as
/// it needs. Reading takes years up to [`Instant::MAX_YEAR`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(i128);

/// Nanoseconds in a second.
pub const SECOND: i128 = 1_000_000_000;
/// A millisecond in nanoseconds.
pub const MILLISECOND: i128 = SECOND / 1000;

impl Instant {
    /// 1995-08-01T00:00:00Z: the first second that has an `IBIp` suffix.
    pub const IBIP_EPOCH: Instant = Instant(807_235_200 * SECOND);

    /// The last year that is read, in a repository name or elsewhere.
    pub const MAX_YEAR: i64 = calendar::MAX_YEAR;

    /// The instant `nanoseconds` after (or before) 1970-01-01T00:00:00Z.
    pub const fn from_nanoseconds(nanoseconds: i128) -> Instant {
        Instant(nanoseconds)
    }

    /// The instant at a whole POSIX second.
    pub const fn from_seconds(seconds: i64) -> Instant {
        Instant(seconds as i128 * SECOND)
    }

    /// The instant of a date and time of day; `None` if it does not exist in the calendar or on the clock, or
    /// if its year is beyond [`Instant::MAX_YEAR`] either way.
    pub fn from_civil(civil: Civil) -> Option<Instant> {
        let seconds = calendar::seconds(&civil)?;
        (civil.nanosecond < 1_000_000_000)
            .then(|| Instant(i128::from(seconds) * SECOND + i128::from(civil.nanosecond)))
    }

    /// Nanoseconds since 1970-01-01T00:00:00Z.
    pub const fn nanoseconds(self) -> i128 {
        self.0
    }

    /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
    pub const fn seconds(self) -> i128 {
        self.0.div_euclid(SECOND)
    }

    /// The nanoseconds after the last whole second.
    pub fn subsecond(self) -> u32 {
        u32::try_from(self.0.rem_euclid(SECOND))
            .expect("a remainder of 1,000,000,000 fits in 32 bits")
    }

    /// The date and time of day in UTC.
    pub fn civil(self) -> Civil {
        calendar::civil(self.seconds(), self.subsecond())
    }

    /// This instant rounded down to a multiple of `step` nanoseconds [section 6: t^(r)].
    ///
    /// `step` is positive.
    #[must_use]
    pub const fn floor(self, step: i128) -> Instant {
        Instant(self.0.saturating_sub(self.0.rem_euclid(step)))
    }

    /// The instant `nanoseconds` later (or earlier); `None` on overflow.
    pub const fn checked_add(self, nanoseconds: i128) -> Option<Instant> {
        match self.0.checked_add(nanoseconds) {
            Some(sum) => Some(Instant(sum)),
            None => None,
        }
    }

    /// Whether it is more than a day after `now`: clocks of two machines differ, but not by that much.
    pub fn is_ahead_of(self, now: Instant) -> bool {
        now.checked_add(86_400 * SECOND).is_some_and(|tomorrow| self > tomorrow)
    }

    /// The time from `earlier` to this instant; `None` if `earlier` is the later one.
    pub fn duration_since(self, earlier: Instant) -> Option<Duration> {
        let nanoseconds = self.0.checked_sub(earlier.0)?;
        let seconds = u64::try_from(nanoseconds.div_euclid(SECOND)).ok()?;
        let subsecond = u32::try_from(nanoseconds.rem_euclid(SECOND)).ok()?;
        Some(Duration::new(seconds, subsecond))
    }

    /// The shortest suffix of a repository name for this instant [Alg. 2].
    ///
    /// Before the year 0 and after [`Instant::MAX_YEAR`] the text is not a valid suffix.
    pub fn suffix(self) -> String {
        let Civil { year, month, day, hour, minute, second, nanosecond } = self.civil();
        let mut suffix = format!("{year:04}/{month:02}.{day:02}.{hour:02}.{minute:02}");
        if second != 0 || nanosecond != 0 {
            // Writing into a `String` has no way to fail.
            let _ = write!(suffix, ".{second:02}{}", Fraction(nanosecond));
        }
        suffix
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Civil { year, month, day, hour, minute, second, nanosecond } = self.civil();
        if let Ok(year @ 0..=9999) = u32::try_from(year) {
            let fields = [year, month, day, hour, minute, second, nanosecond];
            let (text, length) = fixed_width(fields);
            let text = std::str::from_utf8(&text[..length]);
            return f.write_str(text.expect("because digits and signs are ASCII"));
        }
        let fraction = Fraction(nanosecond);
        // The sign takes a place of the width.
        let width = if year < 0 { 5 } else { 4 };
        write!(f, "{year:0width$}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
    }
}

/// The text of an instant with a year of four digits, and its length. Most instants have one, and the
/// formatter takes ten times as long.
fn fixed_width(fields: [u32; 7]) -> ([u8; 30], usize) {
    let mut text = *b"0000-00-00T00:00:00.000000000Z";
    for (end, mut number) in [4, 7, 10, 13, 16, 19, 29].into_iter().zip(fields) {
        let mut at = end;
        while number > 0 {
            at -= 1;
            text[at] = b"0123456789"[number as usize % 10];
            number /= 10;
        }
    }
    let zeros = text[20..29].iter().rev().take_while(|digit| **digit == b'0').count();
    // Without a fraction there is no point either.
    let end = if zeros == 9 { 19 } else { 29 - zeros };
    text[end] = b'Z';
    (text, end + 1)
}

/// `.` and the digits of a number of nanoseconds without trailing zeros; nothing for zero.
struct Fraction(u32);

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fraction(mut digits) = *self;
        if digits == 0 {
            return Ok(());
        }
        let mut width = 9;
        while digits.is_multiple_of(10) {
            digits /= 10;
            width -= 1;
        }
        write!(f, ".{digits:0width$}")
    }
}

as_text!(Instant, str::parse::<Instant>);
