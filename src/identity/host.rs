//! The fully qualified name of a host.

use std::fmt;
use std::str::FromStr;

use super::error::ParseError;
use super::grammar;
use super::serial::as_text;

/// A fully qualified host name, such as `mtc-m18.sid.inpe.br`.
///
/// It is in lower case, has two words or more and no trailing dot, and keeps the rules of
/// Table 6.1 and the limits of RFC 1034. Only the host of a name that was read as found can have
/// that name's oddities.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Host(Box<str>);

impl Host {
    /// The host of a prefix: its word before its subdomain.
    pub(super) fn joined(word: &str, subdomain: &str) -> Host {
        Host(format!("{word}.{subdomain}").to_ascii_lowercase().into())
    }

    /// The host name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first word, and the rest: the second and the first directory of the host's names.
    pub fn split(&self) -> (&str, &str) {
        self.0.split_once('.').expect("because a host has two words or more")
    }
}

impl FromStr for Host {
    type Err = ParseError;

    /// Reads a host name in any case, with or without a trailing dot.
    fn from_str(text: &str) -> Result<Host, ParseError> {
        let undotted = text.strip_suffix('.').unwrap_or(text);
        grammar::host(undotted).map_err(|fault| fault.within("host name", text))?;
        Ok(Host(undotted.to_ascii_lowercase().into()))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

as_text!(Host, str::parse::<Host>);
