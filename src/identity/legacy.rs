//! Labels from before 2009.

use std::str::FromStr;

use super::error::ParseError;
use super::grammar;
use super::instant::Instant;
use super::numeral::{self, DECIMAL, LEGACY};
use super::serial::{as_text, displays};

const KIND: &str = "label from before 2009";

/// An opaque label from before 2009, such as `83LX3pFwXQZeBBx/65ij`, still cited.
///
/// Case matters: comparing is exact. It is kept as an alias and never made. The coding of the
/// prefix is unknown. The suffix counts the same seconds as that of an `IBIp`, in base 53.
///
/// An [`Ibip`](super::Ibip) has no `0`, `1`, `I`, `O`, `V`, `Y` or `Z`; a label with one of them
/// is an old one. A label without them could be either, and is read as an `IBIp`, which keeps its
/// spelling: look it up as given first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LegacyLabel {
    text: Box<str>,
    slash: usize,
}

impl LegacyLabel {
    /// The label as given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The part before the slash, whose meaning is unknown.
    pub fn prefix(&self) -> &str {
        &self.text[..self.slash]
    }

    /// The part after the slash.
    pub fn suffix(&self) -> &str {
        &self.text[self.slash + 1..]
    }

    /// The date, if the suffix is a number of seconds that can be counted.
    pub fn instant(&self) -> Result<Instant, ParseError> {
        numeral::rewrite(self.suffix(), &LEGACY, &DECIMAL)
            .and_then(|digits| digits.parse::<i64>().ok())
            .map(|seconds| i128::from(seconds) + Instant::IBIP_EPOCH.seconds())
            .and_then(|posix| i64::try_from(posix).ok())
            .map(Instant::from_seconds)
            .ok_or_else(|| {
                let span = self.slash + 1..self.text.len();
                let expected = "not a number of seconds since 1995-08-01";
                ParseError::new(KIND, &self.text, span, expected)
            })
    }

    /// Whether this looks like the labels that are cited: letters of both cases, a digit, and inside the first part
    /// an `X`, or else a `Z` and a date on which labels were given. Without these, any two words with a slash
    /// between them would be one.
    pub fn is_likely(&self) -> bool {
        let has = |is_wanted: fn(&u8) -> bool| self.text.as_bytes().iter().any(is_wanted);
        let inside = |letter| self.prefix().bytes().skip(1).any(|byte| byte == letter);
        (inside(b'X') || (inside(b'Z') && self.is_dated()))
            && has(u8::is_ascii_lowercase)
            && has(u8::is_ascii_digit)
    }

    /// Whether the date is between the first deposits and the end of such labels.
    fn is_dated(&self) -> bool {
        let year = |date: Instant| date.civil().year;
        self.suffix().len() > 3
            && self.instant().is_ok_and(|date| (1995..2010).contains(&year(date)))
    }
}

impl FromStr for LegacyLabel {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<LegacyLabel, ParseError> {
        let slash = grammar::legacy(text).map_err(|fault| fault.within(KIND, text))?;
        Ok(LegacyLabel { text: text.into(), slash })
    }
}

displays!(LegacyLabel, text);
as_text!(LegacyLabel, str::parse::<LegacyLabel>);
