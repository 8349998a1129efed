//! Queries.

use super::QueryError;
use super::fold::plain;
use super::keys::{DATES, column_of, is_term, relations_of};
use super::record::{digest_key, has_relation_key, identifier_key, name_key, relation_key};
use super::words::{Form, Word};
use crate::digest::Digest;
use crate::identity::{Identifier, Instant, Prefix, RepositoryName};
use crate::item::State;
use crate::sidecar::edtf;

/// A query: items that meet every condition.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub(super) conditions: Vec<Condition>,
    /// Words in keys of the description, compared with the values.
    pub(super) in_keys: Vec<Word>,
    pub(super) state: Option<State>,
    pub(super) prefix: Option<Prefix>,
    pub(super) since: Option<Instant>,
    pub(super) until: Option<Instant>,
}

/// A condition that the tables answer.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub(super) what: What,
    /// Whether it must not be met.
    pub(super) is_unwanted: bool,
}

/// What an item has.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// A match of this expression of the full-text search.
    Words(String),
    /// The same, or a file or a payload with such a beginning of its digest.
    WordsOrDigest(String, DigestRange),
    Digest(DigestRange),
    Key(i64),
    /// At least one of these keys.
    AnyKey(Vec<i64>),
    /// A file whose folded path matches, or a key of a file of exactly this name.
    Pattern(String, i64),
    /// A source that contains this folded text.
    Source(String),
    /// A size in bytes, from the first to the last.
    Bytes(i64, i64),
    /// A date of this term that may be one of these days, from the first to the last.
    Days(&'static str, i64, i64),
}

/// Keys of digests with one beginning, from the first to the last.
pub(super) type DigestRange = (i64, i64);

/// The database takes no pattern of more than 50,000 bytes, and no path is as long.
const LONGEST_PATTERN: usize = 32_768;

/// The database takes no more conditions in one statement. Words alone are one of them.
const MOST_CONDITIONS: usize = 256;

/// The least number of digits that can be the beginning of a digest: fewer are a number.
const LEAST_DIGITS: usize = 8;

/// Digits of a digest in its key.
const KEY_DIGITS: usize = 16;

impl Query {
    /// The words of a field of a form: all of them, whatever their case and accents, in any order.
    pub fn text(self, text: &str) -> Result<Query, QueryError> {
        Word::of_field(text)?.iter().try_fold(self, Query::word)
    }

    /// A word of a search. The value of a relation is an identifier.
    pub fn word(mut self, word: &Word) -> Result<Query, QueryError> {
        self.check_room()?;
        let Some(key) = &word.key else {
            let Some(words) = word.expression(None) else { return Ok(self) };
            let digits = Some(&word.text).filter(|_| word.form == Form::Words);
            let what = match digits.and_then(|it| digest_range(it)) {
                Some(range) => What::WordsOrDigest(words, range),
                None => What::Words(words),
            };
            return Ok(self.and(word.is_unwanted, what));
        };
        let refused = |expected| QueryError::Value { key: key.clone(), expected };
        let relations = relations_of(key);
        if !is_term(key) && relations.is_none() && word.pattern().trim().is_empty() {
            return Err(refused("a value"));
        }
        let what = match &**key {
            "file" => file(&word.pattern()),
            "origin" => What::Source(plain(&word.text)),
            "sha256" => {
                What::Digest(digest_range(&word.text).ok_or_else(|| {
                    refused("8 to 64 hexadecimal digits, the beginning of a digest")
                })?)
            }
            "bytes" => {
                let (first, last) = sizes(&word.text).ok_or_else(|| {
                    refused("a range of sizes, such as `1M..`, `..500k` or `1M..2M`")
                })?;
                What::Bytes(first, last)
            }
            "content" => {
                return Err(refused("a file of this machine, which only `urepo list` reads"));
            }
            "identifier" if word.form == Form::Words => What::Key(identifier_key(&word.text)),
            term if is_term(term) => {
                let dates = DATES.into_iter().find(|it| it.eq_ignore_ascii_case(term));
                let days = matches!(word.form, Form::Words).then(|| dated(&word.text)).flatten();
                match dates.zip(days) {
                    Some((term, (first, last))) => What::Days(term, first, last),
                    None if dates.is_some() && word.text.contains("..") => {
                        return Err(refused(
                            "a date, or a range such as `1905..1915`, `..1915` or `1911-03..`",
                        ));
                    }
                    None if word.form == Form::Whole && word.text.trim().is_empty() => {
                        return Err(refused("a value after `=`"));
                    }
                    None => {
                        let words = word.expression(Some(column_of(term)));
                        if words.is_none() && matches!(word.form, Form::Words | Form::Beginning) {
                            return Err(refused("a word with a letter or a digit"));
                        }
                        // The tables find more: the words may be those of another key.
                        if let Some(words) = words.filter(|_| !word.is_unwanted) {
                            self = self.and(false, What::Words(words));
                        }
                        self.in_keys.push(word.clone());
                        return Ok(self);
                    }
                }
            }
            key => {
                let unknown = || QueryError::UnknownTerm(key.to_owned());
                let relations = relations.ok_or_else(unknown)?;
                if word.form == Form::Any {
                    What::AnyKey(relations.iter().map(|it| has_relation_key(it)).collect())
                } else {
                    let to = Identifier::read(&word.text);
                    let to = to.map_err(|_| refused("the identifier of an item"))?;
                    What::AnyKey(relation_keys(&relations, &[to]))
                }
            }
        };
        Ok(self.and(word.is_unwanted, what))
    }

    /// A value of `term` has the words of `text`, whole and in this order, whatever their case.
    pub fn term(self, term: &str, text: &str) -> Result<Query, QueryError> {
        let (key, text) = (Some(term.to_owned()), text.replace('\0', " "));
        self.word(&Word { key, text, is_unwanted: false, form: Form::Words })
    }

    /// A file of this content, or a whole payload of this digest.
    #[must_use]
    pub fn digest(self, digest: &Digest) -> Query {
        self.and(false, What::Key(digest_key(digest)))
    }

    /// An `IBIp`, or an alias among the identifiers of the description, whatever its case.
    #[must_use]
    pub fn identifier(self, text: &str) -> Query {
        self.and(false, What::Key(identifier_key(text)))
    }

    /// A relation to the item that `identifiers` name, by one of the keys `relations` of `[relations]`.
    #[must_use]
    pub fn related<S: AsRef<str>>(self, relations: &[S], identifiers: &[Identifier]) -> Query {
        self.and(false, What::AnyKey(relation_keys(relations, identifiers)))
    }

    /// A file of this name or path in the payload, whatever its case; `*` and `?` stand for any characters,
    /// `[…]` for one of several. A file with exactly this name is found too.
    #[must_use]
    pub fn file(self, name: &str) -> Query {
        self.and(false, file(name))
    }

    /// Items that meet the one condition of `other` as well, or that do not meet it.
    pub fn with(mut self, other: Query, is_unwanted: bool) -> Result<Query, QueryError> {
        self.check_room()?;
        let others = other.conditions.into_iter().map(|it| Condition { is_unwanted, ..it });
        self.conditions.extend(others);
        Ok(self)
    }

    /// Makes sure that the database takes one more condition.
    fn check_room(&self) -> Result<(), QueryError> {
        let others = self.conditions.iter().filter(|it| !matches!(it.what, What::Words(_)));
        match others.count() {
            ..MOST_CONDITIONS => Ok(()),
            _ => Err(QueryError::TooManyWords(MOST_CONDITIONS)),
        }
    }

    /// Items in this state only.
    #[must_use]
    pub fn state(self, state: Option<State>) -> Query {
        Query { state, ..self }
    }

    /// Items of this prefix only.
    #[must_use]
    pub fn prefix(self, prefix: Option<Prefix>) -> Query {
        Query { prefix, ..self }
    }

    /// Items named at `since` or after it, and before `until`.
    #[must_use]
    pub fn named(self, since: Option<Instant>, until: Option<Instant>) -> Query {
        Query { since, until, ..self }
    }

    /// Whether it has no words, so that every item meets it but for its state, prefix and date.
    pub fn has_no_words(&self) -> bool {
        self.conditions.is_empty() && self.in_keys.is_empty()
    }

    /// Whether a name is within the wanted dates.
    pub(super) fn is_in_time(&self, name: &RepositoryName) -> bool {
        let date = name.instant();
        self.since.is_none_or(|since| date >= since) && self.until.is_none_or(|until| date < until)
    }

    /// Whether it finds few items of many.
    pub(super) fn is_narrow(&self) -> bool {
        let is_narrow = |it: &Condition| {
            !it.is_unwanted
                && !matches!(it.what, What::Source(_) | What::Bytes(..) | What::Days(..))
        };
        self.conditions.iter().any(is_narrow)
    }

    fn and(mut self, is_unwanted: bool, what: What) -> Query {
        self.conditions.push(Condition { what, is_unwanted });
        self
    }
}

impl Word {
    /// The text as a pattern of file names.
    fn pattern(&self) -> String {
        let star = if self.form == Form::Beginning { "*" } else { "" };
        format!("{}{star}", self.text)
    }
}

fn file(name: &str) -> What {
    if name.contains(['*', '?', '[']) && name.len() <= LONGEST_PATTERN {
        What::Pattern(plain(name), name_key(name))
    } else {
        What::Key(name_key(name))
    }
}

fn relation_keys<S: AsRef<str>>(relations: &[S], identifiers: &[Identifier]) -> Vec<i64> {
    let keys = relations.iter().flat_map(|relation| {
        identifiers.iter().map(move |identifier| relation_key(relation.as_ref(), identifier))
    });
    keys.collect()
}

/// The keys of the digests that begin with `text`, if that can be the beginning of one.
fn digest_range(text: &str) -> Option<DigestRange> {
    let are_digits = text.bytes().all(|it| it.is_ascii_hexdigit());
    if !are_digits || !(LEAST_DIGITS..=64).contains(&text.len()) {
        return None;
    }
    let known = &text[..text.len().min(KEY_DIGITS)];
    let fill = |digit: &str| {
        let digits = format!("{known}{}", digit.repeat(KEY_DIGITS - known.len()));
        u64::from_str_radix(&digits, 16).map(u64::cast_signed).ok()
    };
    // One bit at least is common to both, so they have one sign.
    Some((fill("0")?, fill("f")?))
}

/// The sizes of a range: `1M..2M`, `..500k`, `1M..`, or a single size.
fn sizes(text: &str) -> Option<(i64, i64)> {
    let size = |text: &str| -> Option<i64> {
        let text = text.trim().trim_end_matches(['B', 'b']).trim_end_matches('i');
        let (number, power) = match text.char_indices().last()? {
            (at, 'k' | 'K') => (&text[..at], 1),
            (at, 'm' | 'M') => (&text[..at], 2),
            (at, 'g' | 'G') => (&text[..at], 3),
            (at, 't' | 'T') => (&text[..at], 4),
            _ => (text, 0),
        };
        number.trim().parse::<i64>().ok()?.checked_mul(1024_i64.pow(power)).filter(|it| *it >= 0)
    };
    match text.split_once("..") {
        None => size(text).map(|it| (it, it)),
        Some(("", "")) => None,
        Some(("", last)) => Some((0, size(last)?)),
        Some((first, "")) => Some((size(first)?, i64::MAX)),
        Some((first, last)) => Some((size(first)?, size(last)?)),
    }
}

/// The days of a date or of a range of dates.
fn dated(text: &str) -> Option<(i64, i64)> {
    match text.split_once("..") {
        None => edtf::days(text),
        Some(("", "")) => None,
        Some(("", last)) => Some((i64::MIN, edtf::days(last)?.1)),
        Some((first, "")) => Some((edtf::days(first)?.0, i64::MAX)),
        Some((first, last)) => Some((edtf::days(first)?.0, edtf::days(last)?.1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_both_ends_or_one() {
        assert_eq!(sizes("1M..2M"), Some((1 << 20, 2 << 20)));
        assert_eq!(sizes("..500k"), Some((0, 500 << 10)));
        assert_eq!(sizes("10 MiB.."), Some((10 << 20, i64::MAX)));
        assert_eq!(sizes("17"), Some((17, 17)));
        for wrong in ["..", "", "M", "-1", "1..x", "9223372036854775807k"] {
            assert_eq!(sizes(wrong), None, "{wrong}");
        }
        let (first, last) = dated("1905..1915").unwrap();
        for (text, expected) in [("1905", true), ("1915-12", true), ("191X", true), ("1904", false)]
        {
            let (from, to) = edtf::days(text).unwrap();
            assert_eq!(from <= last && to >= first, expected, "{text}");
        }
        assert_eq!(dated(".."), None);
        assert_eq!(dated("1905..soon"), None);
    }

    #[test]
    fn the_beginning_of_a_digest_is_a_range_of_keys() {
        let digest = Digest::of(b"alpha");
        let (key, text) = (digest_key(&digest), digest.to_string());
        for length in [8, 9, 16, 17, 64] {
            let (first, last) = digest_range(&text[..length]).unwrap();
            assert!((first..=last).contains(&key), "{length}");
        }
        assert_eq!(digest_range(&text[..7]), None);
        assert_eq!(digest_range("12345678g"), None);
        let (first, last) = digest_range(&Digest::of(b"beta").to_string()[..8]).unwrap();
        assert!(!(first..=last).contains(&key));
    }
}
