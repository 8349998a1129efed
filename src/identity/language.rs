//! Language tags as the resolution standard writes them.

mod codes;
mod preferences;

use std::str::FromStr;

pub use preferences::LanguagePreferences;

use super::error::{Fault, ParseError};
use super::serial::displays;

const KIND: &str = "language tag";
const EXPECTED: &str = "expected a tag such as `pt` or `pt-BR`";

/// A language of two letters and optionally a country of two letters, such as `pt` or `pt-BR`.
///
/// The language is in lower case, the country in upper case. Any letters are a tag [resolution, E06];
/// [`Language::is_listed`] says whether the standard lists them.
///
/// ```
/// # use urepo::identity::Language;
/// assert_eq!("PT-br".parse::<Language>()?.as_str(), "pt-BR");
/// assert_eq!(Language::normalised("por_BR")?.as_str(), "pt-BR");
/// assert!("por".parse::<Language>().is_err());
/// # Ok::<(), urepo::identity::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Language {
    text: Box<str>,
}

impl Language {
    /// Reads the spellings of a tag that people use: `PT`, `pt_BR`, and the codes of three letters of ISO
    /// 639-2 and 639-3 for the languages that the standard lists, such as `por` or `ger`.
    pub fn normalised(text: &str) -> Result<Language, ParseError> {
        let trimmed = text.trim();
        let offset = text.len() - text.trim_start().len();
        let end = trimmed.find(['-', '_']).unwrap_or(trimmed.len());
        let (code, rest) = trimmed.split_at(end);
        let is_word = code.bytes().all(|byte| byte.is_ascii_alphabetic());
        let code = match code.len() {
            3 if is_word => codes::two_letters(code).ok_or_else(|| {
                let expected = "not the code of a language with a code of two letters";
                Fault::new(offset..offset + 3, expected).within(KIND, text)
            })?,
            _ => code,
        };
        read(code, rest, &['-', '_'])
            .map_err(|_| ParseError::new(KIND, text, offset..offset + trimmed.len(), EXPECTED))
    }

    /// The tag as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The language, without the country.
    pub fn language(&self) -> &str {
        &self.text[..2]
    }

    /// The country, if there is one.
    pub fn country(&self) -> Option<&str> {
        self.text.get(3..)
    }

    /// Whether no text is in both: the languages differ, or the countries do.
    pub fn excludes(&self, other: &Language) -> bool {
        let countries = self.country().zip(other.country());
        self.language() != other.language() || countries.is_some_and(|(a, b)| a != b)
    }

    /// Whether Table B.1 of the standard lists the language, and its list of countries the country.
    pub fn is_listed(&self) -> bool {
        codes::is_language(self.language()) && self.country().is_none_or(codes::is_country)
    }
}

impl FromStr for Language {
    type Err = ParseError;

    /// Reads a tag in any case.
    fn from_str(text: &str) -> Result<Language, ParseError> {
        let (code, rest) = text.split_at(text.find('-').unwrap_or(text.len()));
        read(code, rest, &['-']).map_err(|fault| fault.within(KIND, text))
    }
}

/// Reads a language, and a country after one of the `separators`.
fn read(code: &str, rest: &str, separators: &[char]) -> Result<Language, Fault> {
    let whole = || Fault::new(0..code.len() + rest.len(), EXPECTED);
    let mut text = two_letters(code).ok_or_else(whole)?.to_ascii_lowercase();
    if let Some(country) = rest.strip_prefix(separators) {
        text.push('-');
        text.push_str(&two_letters(country).ok_or_else(whole)?.to_ascii_uppercase());
    }
    Ok(Language { text: text.into() })
}

fn two_letters(text: &str) -> Option<&str> {
    let are_letters = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    are_letters.then_some(text)
}

displays!(Language, text);
