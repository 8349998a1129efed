//! An identifier in any of its forms.

use std::fmt;
use std::str::FromStr;

use super::error::ParseError;
use super::ibip::Ibip;
use super::legacy::LegacyLabel;
use super::name::RepositoryName;
use super::serial::as_text;

/// The identifier of an item, in one of three forms.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Identifier {
    /// The uniform repository name.
    Repository(RepositoryName),
    /// The opaque form.
    Ibip(Ibip),
    /// The opaque form from before 2009.
    Legacy(LegacyLabel),
}

impl Identifier {
    /// The identifier as given.
    pub fn as_str(&self) -> &str {
        match self {
            Identifier::Repository(name) => name.as_str(),
            Identifier::Ibip(ibip) => ibip.as_str(),
            Identifier::Legacy(label) => label.as_str(),
        }
    }

    /// Reads a bare identifier; a repository name by `repository`.
    fn bare(
        text: &str,
        repository: impl Fn(&str) -> Result<RepositoryName, ParseError>,
    ) -> Result<Identifier, ParseError> {
        if text.bytes().filter(|&byte| byte == b'/').count() != 1 {
            return repository(text).map(Identifier::Repository);
        }
        match (text.parse(), text.parse::<LegacyLabel>()) {
            (Ok(ibip), _) => Ok(Identifier::Ibip(ibip)),
            (Err(_), Ok(label)) if label.is_likely() => Ok(Identifier::Legacy(label)),
            (Err(error), _) => Err(error),
        }
    }
}

impl FromStr for Identifier {
    type Err = ParseError;

    /// Reads an identifier that stands alone; a repository name has to keep to the grammar.
    fn from_str(text: &str) -> Result<Identifier, ParseError> {
        Identifier::bare(text, str::parse)
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl From<RepositoryName> for Identifier {
    fn from(name: RepositoryName) -> Identifier {
        Identifier::Repository(name)
    }
}

impl From<Ibip> for Identifier {
    fn from(ibip: Ibip) -> Identifier {
        Identifier::Ibip(ibip)
    }
}

impl From<LegacyLabel> for Identifier {
    fn from(label: LegacyLabel) -> Identifier {
        Identifier::Legacy(label)
    }
}

as_text!(Identifier, |text: &str| {
    Identifier::bare(text, |text| RepositoryName::parse_as_found(text).map(|(name, _)| name))
});
