//! The uniform repository name.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use super::cursor;
use super::error::{Fault, ParseError};
use super::exact_date::ExactDate;
use super::folding;
use super::grammar::{self, NameShape, Rules};
use super::instant::Instant;
use super::oddity::Oddity;
use super::prefix::Prefix;
use super::serial::{as_text, displays};

const KIND: &str = "repository name";

/// A uniform repository name, such as `sid.inpe.br/mtc-m18@80/2009/02.16.17.46`.
///
/// - The spelling is kept: a name is printed as it was read.
/// - Names that differ only in case, or in a trailing dot of the subdomain, are equal. Names that
///   differ in how they write one port or one date (`@80`, `.80` or none; `17.46` or `17.46.00`)
///   are different names.
/// - The order is by prefix, then by date with all digits of the fraction, then by suffix.
/// - It takes one allocation.
#[derive(Clone)]
pub struct RepositoryName {
    text: Box<str>,
    shape: NameShape,
}

impl RepositoryName {
    /// The name a generator gives under `prefix` at `date`: lower case, the shortest suffix
    /// [Alg. 2].
    ///
    /// A separator and port that `prefix` writes stay unchanged, since another spelling would be another
    /// subsystem. Years before 0 and after [`Instant::MAX_YEAR`] are refused, as is a prefix that is odd.
    pub fn new(prefix: &Prefix, date: Instant) -> Result<RepositoryName, ParseError> {
        format!("{}/{}", prefix.folded(), date.suffix()).parse()
    }

    /// Reads a name as it is found in the world, with its oddities, if any.
    pub fn parse_as_found(text: &str) -> Result<(RepositoryName, Vec<Oddity>), ParseError> {
        RepositoryName::read(text, Rules::AsFound).map_err(|fault| fault.within(KIND, text))
    }

    pub(super) fn read(text: &str, rules: Rules) -> Result<(RepositoryName, Vec<Oddity>), Fault> {
        let (shape, oddities) = grammar::repository(text, rules)?;
        Ok((RepositoryName { text: text.into(), shape }, oddities))
    }

    /// The name as given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The prefix, as spelled.
    pub fn prefix(&self) -> Prefix {
        Prefix::of(&self.text[..usize::from(self.shape.prefix_end)], self.shape.prefix)
    }

    /// The text after the prefix, such as `2009/02.16.17.46`.
    pub fn suffix(&self) -> &str {
        &self.text[usize::from(self.shape.prefix_end) + 1..]
    }

    /// The date with all digits of the fraction.
    pub fn date(&self) -> ExactDate {
        ExactDate::new(self.shape.seconds, self.fraction())
    }

    /// The date; digits of the fraction after the ninth are dropped.
    pub fn instant(&self) -> Instant {
        cursor::instant(self.shape.seconds, self.fraction())
    }

    /// The names of the four directories, without the trailing dot of the subdomain.
    pub fn components(&self) -> [&str; 4] {
        let [subdomain, _] = self.shape.prefix.pieces(&self.text);
        let word_start = usize::from(self.shape.prefix.slash) + 1;
        let year_start = usize::from(self.shape.prefix_end) + 1;
        [
            subdomain,
            &self.text[word_start..year_start - 1],
            &self.text[year_start..usize::from(self.shape.year_end)],
            self.leaf(),
        ]
    }

    /// The one spelling that all equal names share: lower case, no trailing dot.
    pub fn folded(&self) -> String {
        self.shape.prefix.pieces(&self.text).concat().to_ascii_lowercase()
    }

    /// Whether the suffix is the shortest for its date, as generators write it.
    pub fn is_shortest(&self) -> bool {
        let [_, _, year, leaf] = self.components();
        let padded = year.len() > 4 && year.starts_with('0');
        let zero_second = leaf.len() == "MM.DD.hh.mm.ss".len() && leaf.ends_with("00");
        !padded && !zero_second && !self.fraction().ends_with('0')
    }

    fn leaf(&self) -> &str {
        &self.text[usize::from(self.shape.year_end) + 1..]
    }

    fn fraction(&self) -> &str {
        grammar::fraction(self.leaf())
    }
}

/// Reads the suffix of a repository name alone, such as `2009/02.16.17.46`.
pub fn parse_suffix(text: &str) -> Result<Instant, ParseError> {
    let (seconds, fraction) = grammar::bare_suffix(text)
        .map_err(|fault| fault.within("suffix of a repository name", text))?;
    Ok(cursor::instant(seconds, fraction))
}

/// Whether directories called `year` and, within it, `leaf` are those of a suffix.
///
/// The quick check for listings of directories.
pub fn is_suffix_leaf(year: &str, leaf: &str) -> bool {
    grammar::are_suffix(year, leaf)
}

impl FromStr for RepositoryName {
    type Err = ParseError;

    /// Reads a name that keeps to the grammar, the calendar and the limits.
    fn from_str(text: &str) -> Result<RepositoryName, ParseError> {
        let read = RepositoryName::read(text, Rules::Strict);
        read.map(|(name, _)| name).map_err(|fault| fault.within(KIND, text))
    }
}

impl PartialEq for RepositoryName {
    fn eq(&self, other: &RepositoryName) -> bool {
        let pieces = self.shape.prefix.pieces(&self.text);
        let others = other.shape.prefix.pieces(&other.text);
        pieces.iter().zip(others).all(|(piece, other)| piece.eq_ignore_ascii_case(other))
    }
}

impl Eq for RepositoryName {}

impl PartialOrd for RepositoryName {
    fn partial_cmp(&self, other: &RepositoryName) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RepositoryName {
    fn cmp(&self, other: &RepositoryName) -> Ordering {
        let ([subdomain, word, ..], [other_subdomain, other_word, ..]) =
            (self.components(), other.components());
        folding::compare(subdomain, other_subdomain)
            .then_with(|| folding::compare(word, other_word))
            .then_with(|| self.shape.seconds.cmp(&other.shape.seconds))
            // Without trailing zeros, fractions compare as texts do.
            .then_with(|| {
                let digits = self.fraction().trim_end_matches('0');
                digits.cmp(other.fraction().trim_end_matches('0'))
            })
            .then_with(|| self.suffix().cmp(other.suffix()))
    }
}

impl Hash for RepositoryName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        folding::hash(&self.shape.prefix.pieces(&self.text), state);
    }
}

displays!(RepositoryName, text);
// Odd names are read back too: the name of an existing item must survive storage.
as_text!(RepositoryName, |text: &str| RepositoryName::parse_as_found(text).map(|(name, _)| name));
