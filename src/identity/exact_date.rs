//! The dates of identifiers with all digits of their fractions.

use std::fmt;

use super::cursor;
use super::instant::{Instant, SECOND};
use super::numeral::{self, DECIMAL, IBIP};

/// The last second of [`Instant::MAX_YEAR`].
pub(super) const LAST_SECOND: i128 = 31_556_889_832_780_799;

/// A date with all digits of its fraction; an [`Instant`] keeps nine of them.
///
/// Generators write nine digits at most; the grammar sets no limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExactDate {
    /// Rounded down to a whole second.
    second: Instant,
    /// The digits of the fraction, without trailing zeros.
    digits: String,
}

impl ExactDate {
    pub(super) fn new(seconds: i64, fraction: &str) -> ExactDate {
        let digits = fraction.trim_end_matches('0').to_owned();
        ExactDate { second: Instant::from_seconds(seconds), digits }
    }

    /// The date; digits of the fraction after the ninth are dropped.
    pub fn instant(&self) -> Instant {
        let nanoseconds = cursor::nanoseconds(&self.digits);
        Instant::from_nanoseconds(self.second.nanoseconds() + nanoseconds)
    }

    /// The shortest suffix of a repository name for this date [Alg. 2].
    pub fn suffix(&self) -> String {
        let suffix = self.second.suffix();
        if self.digits.is_empty() {
            return suffix;
        }
        // The minute has a second only if that is not zero.
        let second = self.second.civil().second;
        let minute = suffix.strip_suffix(&format!(".{second:02}")).filter(|_| second != 0);
        format!("{}.{second:02}.{}", minute.unwrap_or(&suffix), self.digits)
    }

    /// The second word of the IBIps of this date [Alg. 6]; `None` before 1995-08-01, after
    /// [`Instant::MAX_YEAR`] and for fractions of more than 255 digits.
    pub fn ibip_suffix(&self) -> Option<String> {
        if self.second < Instant::IBIP_EPOCH || self.second.seconds() > LAST_SECOND {
            return None;
        }
        let seconds = self.second.seconds() - Instant::IBIP_EPOCH.seconds();
        let seconds = numeral::rewrite(&seconds.to_string(), &DECIMAL, &IBIP)?;
        if self.digits.is_empty() {
            return Some(seconds);
        }
        // Erratum: `.5` and `.05` are one number; `rewrite` keeps the leading zeros.
        Some(format!("{seconds}W{}", numeral::rewrite(&self.digits, &DECIMAL, &IBIP)?))
    }
}

impl From<Instant> for ExactDate {
    fn from(date: Instant) -> ExactDate {
        let digits = format!("{:09}", date.subsecond()).trim_end_matches('0').to_owned();
        ExactDate { second: date.floor(SECOND), digits }
    }
}

impl fmt::Display for ExactDate {
    /// RFC 3339, as of an [`Instant`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let second = self.second.to_string();
        match &*self.digits {
            "" => f.write_str(&second),
            digits => write!(f, "{}.{digits}Z", second.trim_end_matches('Z')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{Ibip, RepositoryName};

    #[test]
    fn all_digits_of_a_fraction_are_kept() {
        let name: RepositoryName =
            "example.org/a/2020/01.01.00.00.00.12345678901230".parse().expect("a name");
        let date = name.date();
        assert_eq!(date.to_string(), "2020-01-01T00:00:00.1234567890123Z");
        assert_eq!(date.suffix(), "2020/01.01.00.00.00.1234567890123");
        let suffix = date.ibip_suffix().expect("a date after 1995");
        let ibip: Ibip = format!("8JMKD3MGP8W/{suffix}").parse().expect("an IBIp");
        assert_eq!(ibip.date().expect("a date"), date);
        assert_ne!(ExactDate::from(name.instant()).ibip_suffix(), Some(suffix));
    }

    #[test]
    fn the_shortest_suffix_is_that_of_the_instant() {
        for seconds in [0, 1, 59, 60, 3600, 1_795_000_010] {
            for nanoseconds in [0, 5, 50, 500_000_000] {
                let date = Instant::from_nanoseconds(seconds * SECOND + nanoseconds);
                let exact = ExactDate::from(date);
                assert_eq!(exact.suffix(), date.suffix());
                assert_eq!(exact.to_string(), date.to_string());
            }
        }
    }
}
