//! The `IBIp`: the opaque form of an identifier.

use std::str::FromStr;

use super::error::{Fault, ParseError};
use super::exact_date::{ExactDate, LAST_SECOND};
use super::grammar;
use super::ibip_prefix::{IbipPrefix, is_separator};
use super::instant::Instant;
use super::numeral::{self, DECIMAL, IBIP};
use super::serial::{as_text, caseless, displays};

const KIND: &str = "IBIp";

/// An `IBIp`, such as `8JMKD3MGP8W/34PGRBS`.
///
/// It is stored data: an item keeps the one it got, whatever address its archive has now. The
/// spelling is kept; comparing ignores case. Any two words of the alphabet are an `IBIp` in the
/// grammar, though only those made by Alg. 5 and 6 can be taken apart.
#[derive(Clone)]
pub struct Ibip {
    text: Box<str>,
    slash: usize,
}

impl Ibip {
    /// The label a generator gives under `prefix` at `date`: upper case [Alg. 6].
    ///
    /// `None` for dates before 1995-08-01 or after [`Instant::MAX_YEAR`].
    pub fn new(prefix: &IbipPrefix, date: Instant) -> Option<Ibip> {
        let suffix = ExactDate::from(date).ibip_suffix()?;
        let prefix = prefix.as_str().to_ascii_uppercase();
        Some(Ibip { slash: prefix.len(), text: (prefix + "/" + &suffix).into() })
    }

    /// The label as given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The part before the slash.
    pub fn prefix(&self) -> IbipPrefix {
        IbipPrefix::of(&self.text[..self.slash])
    }

    /// The part after the slash.
    pub fn suffix(&self) -> &str {
        &self.text[self.slash + 1..]
    }

    /// The date, if the suffix was made of one; digits of the fraction after the ninth are dropped.
    pub fn instant(&self) -> Result<Instant, ParseError> {
        Ok(self.date()?.instant())
    }

    /// The date with all digits of the fraction, if the suffix was made of one.
    pub fn date(&self) -> Result<ExactDate, ParseError> {
        date(self.suffix()).map_err(|fault| fault.shifted(self.slash + 1).within(KIND, &self.text))
    }

    /// Whether the first part has a `W` or `X` after its first character, as every prefix made of
    /// an address has. Other pairs of words are not taken for labels [resolution, E07].
    pub fn has_separator(&self) -> bool {
        self.text[..self.slash].bytes().skip(1).any(is_separator)
    }
}

/// Reads a suffix: seconds, and after `W` the fraction.
fn date(suffix: &str) -> Result<ExactDate, Fault> {
    let separator = suffix.bytes().position(is_separator).unwrap_or(suffix.len());
    let (seconds, fraction) = suffix.split_at(separator);
    let expected = "not a number of seconds since 1995-08-01";
    let posix = numeral::rewrite(seconds, &IBIP, &DECIMAL)
        .filter(|digits| digits == "0" || !digits.starts_with('0'))
        .and_then(|digits| digits.parse::<i128>().ok())
        .map(|seconds| seconds.saturating_add(Instant::IBIP_EPOCH.seconds()))
        .filter(|&posix| posix <= LAST_SECOND)
        .and_then(|posix| i64::try_from(posix).ok())
        .ok_or_else(|| Fault::new(0..separator, expected))?;
    let fraction = match fraction.as_bytes().first() {
        None => String::new(),
        Some(b'W' | b'w') => numeral::rewrite(&fraction[1..], &IBIP, &DECIMAL)
            .ok_or_else(|| Fault::new(separator..suffix.len(), "not the digits of a fraction"))?,
        Some(_) => {
            let expected = "expected `W` before the fraction";
            return Err(Fault::new(separator..separator + 1, expected));
        }
    };
    Ok(ExactDate::new(posix, &fraction))
}

impl FromStr for Ibip {
    type Err = ParseError;

    /// Reads any two words of the alphabet.
    fn from_str(text: &str) -> Result<Ibip, ParseError> {
        let slash = grammar::ibip(text).map_err(|fault| fault.within(KIND, text))?;
        Ok(Ibip { text: text.into(), slash })
    }
}

displays!(Ibip, text);
as_text!(Ibip, str::parse::<Ibip>);
caseless!(Ibip, text);
