//! Choosing a language by the preferences of a reader: lookup by RFC 4647.

use std::str::FromStr;

use super::Language;
use crate::identity::error::{Fault, ParseError};

const KIND: &str = "language preference";
/// The quality of a range without one, in thousandths.
const FULL_QUALITY: u16 = 1000;

/// The languages that a reader prefers: an `Accept-Language` header, or a locale.
///
/// ```
/// # use urepo::identity::{Language, LanguagePreferences};
/// let header: LanguagePreferences = "pt-BR,fr;q=0.8,en;q=0.5".parse()?;
/// let tags: Vec<Language> = vec!["en".parse()?, "pt".parse()?];
/// assert_eq!(header.lookup(&tags), Some(&tags[1]));
/// # Ok::<(), urepo::identity::ParseError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LanguagePreferences {
    /// Preferred first.
    ranges: Vec<Range>,
    /// Languages that the reader does not accept.
    excluded: Vec<Box<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Range {
    /// In lower case.
    text: Box<str>,
    /// In thousandths.
    quality: u16,
}

impl LanguagePreferences {
    /// The preferences in a POSIX locale, such as `pt_BR.UTF-8`, or in a list separated by colons, as in
    /// `LANGUAGE`. `C`, `POSIX` and other texts that name no language are skipped.
    pub fn from_locale(locale: &str) -> LanguagePreferences {
        let mut ranges = Vec::new();
        for name in locale.split(':') {
            let name = name.split(['.', '@']).next().unwrap_or_default();
            if let Ok(language) = Language::normalised(name) {
                ranges.push(Range::of(language.as_str(), FULL_QUALITY));
            } else if is_range(&name.replace('_', "-")) && !matches!(name, "C" | "POSIX") {
                ranges.push(Range::of(&name.replace('_', "-"), FULL_QUALITY));
            }
        }
        LanguagePreferences { ranges, excluded: Vec::new() }
    }

    /// The tag that suits best: each range, the preferred first, is tried whole and then truncated at its
    /// hyphens; it matches an equal tag, else the first tag that it begins, as `pt` does `pt-BR`.
    ///
    /// The range `*` matches nothing here: it leaves the choice to the default.
    pub fn lookup<'tags>(&self, tags: &'tags [Language]) -> Option<&'tags Language> {
        let wanted: Vec<_> = tags.iter().filter(|tag| !self.excludes(tag)).collect();
        self.ranges.iter().find_map(|range| range.lookup(&wanted))
    }

    /// Whether the most specific range that covers `tag` has the quality 0.
    fn excludes(&self, tag: &Language) -> bool {
        let longest = |ranges: &mut dyn Iterator<Item = &str>| {
            ranges.filter(|range| covers(range, tag)).map(str::len).max()
        };
        let excluded = longest(&mut self.excluded.iter().map(|range| &**range));
        excluded.is_some() && excluded > longest(&mut self.ranges.iter().map(|it| &*it.text))
    }
}

impl Range {
    fn of(text: &str, quality: u16) -> Range {
        Range { text: text.to_ascii_lowercase().into(), quality }
    }

    fn lookup<'tags>(&self, tags: &[&'tags Language]) -> Option<&'tags Language> {
        let mut range = &*self.text;
        loop {
            let is_equal = |tag: &&&Language| tag.as_str().eq_ignore_ascii_case(range);
            let found = tags.iter().find(is_equal);
            if let Some(tag) = found.or_else(|| tags.iter().find(|tag| covers(range, tag))) {
                return Some(*tag);
            }
            range = truncated(range)?;
        }
    }
}

/// Whether `tag` is the range, or begins with it.
fn covers(range: &str, tag: &Language) -> bool {
    tag.as_str().eq_ignore_ascii_case(range) || tag.language() == range
}

/// The range without its last subtag, and without the single letter that would then be last.
fn truncated(range: &str) -> Option<&str> {
    let shorter = &range[..range.rfind('-')?];
    match shorter.rfind('-') {
        Some(at) if at + 2 == shorter.len() => Some(&shorter[..at]),
        _ => Some(shorter),
    }
}

impl FromStr for LanguagePreferences {
    type Err = ParseError;

    /// Reads an `Accept-Language` header, such as `pt-BR,fr;q=0.8,*;q=0.5`.
    fn from_str(text: &str) -> Result<LanguagePreferences, ParseError> {
        let mut preferences = LanguagePreferences::default();
        let mut next = 0;
        for element in text.split(',') {
            let start = next + element.len() - element.trim_start().len();
            next += element.len() + 1;
            let element = element.trim();
            if element.is_empty() {
                continue;
            }
            let range = range(element).map_err(|fault| fault.shifted(start).within(KIND, text))?;
            match &range {
                Range { text, .. } if &**text == "*" => {}
                Range { quality: 0, .. } => preferences.excluded.push(range.text),
                _ => preferences.ranges.push(range),
            }
        }
        // A stable sort: of equal ranges the first in the header comes first.
        preferences.ranges.sort_by_key(|range| std::cmp::Reverse(range.quality));
        Ok(preferences)
    }
}

/// Reads a range and its quality.
fn range(element: &str) -> Result<Range, Fault> {
    let semicolon = element.find(';').unwrap_or(element.len());
    let text = element[..semicolon].trim_end();
    if text != "*" && !is_range(text) {
        return Err(Fault::new(0..text.len(), "expected a range such as `pt-BR`"));
    }
    let quality = match element.get(semicolon + 1..) {
        None => FULL_QUALITY,
        Some(parameter) => {
            let fault = || Fault::new(semicolon + 1..element.len(), "expected `q=` and 0 to 1");
            let value = parameter.trim_start().strip_prefix(['q', 'Q']);
            let value = value.and_then(|rest| rest.strip_prefix('='));
            value.and_then(thousandths).ok_or_else(fault)?
        }
    };
    let normalised = Language::normalised(text);
    Ok(Range::of(normalised.as_ref().map_or(text, Language::as_str), quality))
}

/// Whether `text` is a basic range of RFC 4647, other than `*`.
fn is_range(text: &str) -> bool {
    let mut subtags = text.split('-');
    let is_of = |subtag: &str, is_in: fn(&u8) -> bool| {
        (1..=8).contains(&subtag.len()) && subtag.as_bytes().iter().all(is_in)
    };
    subtags.next().is_some_and(|first| is_of(first, u8::is_ascii_alphabetic))
        && subtags.all(|subtag| is_of(subtag, u8::is_ascii_alphanumeric))
}

/// A number from 0 to 1 with at most three decimals.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let are_digits = decimals.len() <= 3 && decimals.bytes().all(|byte| byte.is_ascii_digit());
    let decimals: u16 = format!("{decimals:0<3}").parse().ok().filter(|_| are_digits)?;
    match whole {
        "0" => Some(decimals),
        "1" if decimals == 0 => Some(FULL_QUALITY),
        _ => None,
    }
}
