//! Granularities: how fine the dates of labels may be.

use std::fmt;
use std::iter::successors;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::identity::SECOND;

/// An element of G = {60, 1, 1/10, 1/100, … 1/10⁹} seconds [section 6].
///
/// Every element divides each coarser one, so a multiple of a granularity is a multiple of all
/// finer ones as well; [`step`](super::step) rests on it. The coarser one compares as greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Granularity {
    nanoseconds: i128,
}

impl Granularity {
    /// A minute, the coarsest: a suffix always has its minutes.
    pub const SIXTY: Granularity = Granularity { nanoseconds: 60 * SECOND };

    /// A second, the one of the standard's examples.
    pub const ONE: Granularity = Granularity { nanoseconds: SECOND };

    /// A microsecond, the finest that [`Setting::Auto`] goes to.
    pub const MICROSECOND: Granularity = Granularity { nanoseconds: 1_000 };

    /// A nanosecond, the finest: an [`Instant`](crate::identity::Instant) counts them.
    pub const NANOSECOND: Granularity = Granularity { nanoseconds: 1 };

    /// All granularities, from the coarsest to the finest.
    pub fn all() -> impl Iterator<Item = Granularity> {
        successors(Some(Granularity::SIXTY), |granularity| granularity.finer())
    }

    /// Its length in nanoseconds, at least 1.
    pub const fn nanoseconds(self) -> i128 {
        self.nanoseconds
    }

    /// The next coarser granularity, if this is not the coarsest.
    pub fn coarser(self) -> Option<Granularity> {
        match self {
            Granularity::SIXTY => None,
            Granularity::ONE => Some(Granularity::SIXTY),
            Granularity { nanoseconds } => Some(Granularity { nanoseconds: nanoseconds * 10 }),
        }
    }

    /// The next finer granularity, if this is not the finest.
    pub fn finer(self) -> Option<Granularity> {
        match self {
            Granularity::NANOSECOND => None,
            Granularity::SIXTY => Some(Granularity::ONE),
            Granularity { nanoseconds } => Some(Granularity { nanoseconds: nanoseconds / 10 }),
        }
    }

    /// Reads `60`, `1`, a decimal such as `0.01` or a fraction such as `1/100`.
    fn parse(text: &str) -> Option<Granularity> {
        Granularity::all().find(|granularity| match text.strip_prefix("1/") {
            Some(parts) => *granularity < Granularity::ONE && parts == granularity.parts(),
            None => text == granularity.to_string(),
        })
    }

    /// The number of steps in a second: a power of ten, as text.
    fn parts(self) -> String {
        (SECOND / self.nanoseconds).to_string()
    }
}

/// Writes the seconds as a decimal: `60`, `1`, `0.1`, `0.01` …
impl fmt::Display for Granularity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Granularity::SIXTY => formatter.write_str("60"),
            Granularity::ONE => formatter.write_str("1"),
            fraction => {
                // As many digits as the power of ten has zeros: 1/100 is `0.01`.
                let digits = fraction.parts().len() - 1;
                write!(formatter, "0.{:0>digits$}", 1)
            }
        }
    }
}

/// The setting of a subsystem's granularity.
///
/// As text: `auto`, or the seconds as in `60`, `1`, `0.1`, `1/10`. It is written without the fraction bar. In
/// TOML the text stands in quotes; `60` and `1` may also be integers, but `0.1` without quotes is refused,
/// because a floating-point number is never exactly that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Setting {
    /// A second, refined by tens when a request would have to wait.
    #[default]
    Auto,
    /// This one and no other, waiting included: the standard to the letter.
    Fixed(Granularity),
}

impl fmt::Display for Setting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Auto => formatter.write_str("auto"),
            Setting::Fixed(granularity) => granularity.fmt(formatter),
        }
    }
}

impl FromStr for Setting {
    type Err = GranularityError;

    fn from_str(text: &str) -> Result<Setting, GranularityError> {
        if text == "auto" {
            return Ok(Setting::Auto);
        }
        match Granularity::parse(text) {
            Some(granularity) => Ok(Setting::Fixed(granularity)),
            None => Err(GranularityError { given: text.to_owned() }),
        }
    }
}

/// A text that is not a granularity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid granularity `{}`: expected `auto`, or the seconds as `60`, `1`, `0.1`, `0.01` … \
     down to `{}`",
    given.escape_debug(),
    Granularity::NANOSECOND
)]
pub struct GranularityError {
    /// The text as it was given, unescaped.
    pub given: String,
}

impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Setting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Setting, D::Error> {
        deserializer.deserialize_any(SettingVisitor)
    }
}

/// Takes text and integers; every other type is refused by the defaults of [`Visitor`].
struct SettingVisitor;

impl Visitor<'_> for SettingVisitor {
    type Value = Setting;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("\"auto\", 60, 1 or a fraction in quotes such as \"0.1\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Setting, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<Setting, E> {
        self.visit_str(&seconds.to_string())
    }

    fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Setting, E> {
        self.visit_str(&seconds.to_string())
    }
}
