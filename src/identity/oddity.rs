//! Departures of existing names from the grammar, with which they can still be read.

use std::fmt;

/// A departure from Table 6.1 or RFC 1034 in the host part of a name.
///
/// Generators never make such a name; a reader that meets one can keep it, with a warning. A fault that makes
/// a name useless as a path of four directories or as a date is an error, not an oddity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Oddity {
    /// An underscore, as in words made from a login name.
    Underscore,
    /// A word that begins or ends with a hyphen.
    HyphenAtEdge,
    /// A last word of the subdomain that does not begin with a letter.
    LastWordBegin,
    /// A word of this many characters, over the 63 of RFC 1034.
    LongLabel(usize),
    /// A host name of this many characters, over the 253 of RFC 1034.
    LongHost(usize),
}

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Oddity::Underscore => {
                f.write_str("underscore; words are of letters, digits and hyphens")
            }
            Oddity::HyphenAtEdge => f.write_str("a word begins and ends with a letter or digit"),
            Oddity::LastWordBegin => f.write_str("the last word of a host begins with a letter"),
            Oddity::LongLabel(length) => write!(f, "label of {length} characters; at most 63"),
            Oddity::LongHost(length) => {
                write!(f, "host name of {length} characters; at most 253")
            }
        }
    }
}
