//! Reading fixed-width numbers and the signs between them: dates in either notation.

use std::borrow::Cow;

use super::calendar;
use super::error::Fault;
use super::instant::{Instant, SECOND};

/// A position in a text that is being read.
pub(super) struct Cursor<'text> {
    text: &'text str,
    at: usize,
}

/// A number and the byte at which its digits begin.
#[derive(Clone, Copy)]
pub(super) struct Field {
    pub(super) value: u32,
    pub(super) at: usize,
}

/// A date and time of day as read; [`Moment::seconds`] checks that it exists.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    pub(super) year: i64,
    pub(super) month: Field,
    pub(super) day: Field,
    pub(super) hour: Field,
    pub(super) minute: Field,
    pub(super) second: Option<Field>,
}

/// The most digits a year may have, so that every date can be counted.
const YEAR_DIGITS: usize = 9;

impl<'text> Cursor<'text> {
    pub(super) fn new(text: &'text str, at: usize) -> Cursor<'text> {
        Cursor { text, at }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips the next byte, which was peeked at and is ASCII.
    pub(super) fn skip(&mut self) {
        self.at += 1;
    }

    /// A year of four digits or more.
    pub(super) fn year(&mut self) -> Result<i64, Fault> {
        let from = self.at;
        let digits = self.digits();
        match digits.len() {
            0 => Err(self.unexpected("expected a year of four digits or more")),
            1..=3 => Err(Fault::new(from..self.at, "a year has four digits or more")),
            4..=YEAR_DIGITS => {
                Ok(digits.bytes().fold(0, |year, digit| year * 10 + i64::from(digit - b'0')))
            }
            length => {
                let expected = format!("year of {length} digits; at most {YEAR_DIGITS}");
                Err(Fault::new(from..self.at, expected))
            }
        }
    }

    /// Two digits, neither fewer nor more, called `what` in messages.
    pub(super) fn two_digits(&mut self, what: &'static str) -> Result<Field, Fault> {
        let at = self.at;
        let &[tens, units] = self.digits().as_bytes() else {
            let expected = format!("expected two digits for the {what}");
            return Err(match self.at - at {
                0 => self.unexpected(expected),
                _ => Fault::new(at..self.at, expected),
            });
        };
        Ok(Field { value: u32::from(tens - b'0') * 10 + u32::from(units - b'0'), at })
    }

    /// One digit or more after a decimal point.
    pub(super) fn fraction(&mut self) -> Result<&'text str, Fault> {
        match self.digits() {
            "" => Err(self.unexpected("expected digits of the fraction")),
            digits => Ok(digits),
        }
    }

    /// The sign `byte`, and the name of the element after it.
    pub(super) fn sign(&mut self, byte: u8, what: &'static str) -> Result<(), Fault> {
        if self.peek() == Some(byte) {
            self.skip();
            return Ok(());
        }
        Err(self.unexpected(format!("expected `{}` and the {what}", char::from(byte))))
    }

    /// The end of the text.
    pub(super) fn end(&self) -> Result<(), Fault> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(Fault::new(self.at..self.text.len(), "expected nothing more")),
        }
    }

    /// The character here (or the end of the text) is not what was expected.
    pub(super) fn unexpected(&self, expected: impl Into<Cow<'static, str>>) -> Fault {
        let length = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        Fault::new(self.at..self.at + length, expected)
    }

    fn digits(&mut self) -> &'text str {
        let from = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        &self.text[from..self.at]
    }
}

impl Moment {
    /// POSIX seconds, or the first field that does not exist in the clock or the calendar.
    pub(super) fn seconds(&self) -> Result<i64, Fault> {
        let &Moment { year, month, day, hour, minute, second } = self;
        if month.value == 0 {
            return Err(month.fault("months are 01 to 12"));
        }
        month.at_most(12, "month")?;
        let days = calendar::days(year, month.value, day.value).ok_or_else(|| {
            let month = calendar::month_name(month.value);
            day.fault(format!("{month} {year:04} has no day {:02}", day.value))
        })?;
        hour.at_most(23, "hour")?;
        minute.at_most(59, "minute")?;
        let second = match second {
            Some(second) => second.at_most(59, "second")?,
            None => 0,
        };
        let of_day = hour.value * 3600 + minute.value * 60 + second;
        Ok(days * calendar::SECONDS_IN_DAY + i64::from(of_day))
    }
}

impl Field {
    pub(super) fn at_most(self, last: u32, what: &str) -> Result<u32, Fault> {
        if self.value <= last {
            return Ok(self.value);
        }
        Err(self.fault(format!("{what} {:02} is over {last}", self.value)))
    }

    fn fault(self, expected: impl Into<Cow<'static, str>>) -> Fault {
        Fault::new(self.at..self.at + 2, expected)
    }
}

/// The instant `fraction` (its digits) after a POSIX second; digits after the ninth are dropped.
pub(super) fn instant(seconds: i64, fraction: &str) -> Instant {
    Instant::from_nanoseconds(i128::from(seconds) * SECOND + nanoseconds(fraction))
}

/// The first nine digits of a fraction as nanoseconds.
pub(super) fn nanoseconds(fraction: &str) -> i128 {
    fraction
        .bytes()
        .chain(std::iter::repeat(b'0'))
        .take(9)
        .fold(0, |nanoseconds, digit| nanoseconds * 10 + i128::from(digit - b'0'))
}
