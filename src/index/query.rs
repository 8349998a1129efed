//! Queries.

use super::QueryError;
use super::record::{digest_key, identifier_key, name_key, relation_key};
use super::words::Wanted;
use crate::digest::Digest;
use crate::identity::{Identifier, Instant, Prefix, RepositoryName};
use crate::item::State;
use crate::item::twins::fold;
use crate::sidecar::RELATION_KEYS;

/// A query: items that meet every condition.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub(super) wanted: Wanted,
    pub(super) keys: Vec<i64>,
    /// At least one key of each of these lists.
    pub(super) any_key: Vec<Vec<i64>>,
    /// Patterns of paths, folded, and the keys of files with exactly this name.
    pub(super) patterns: Vec<(String, i64)>,
    /// Texts that the source contains, folded.
    pub(super) sources: Vec<String>,
    pub(super) state: Option<State>,
    pub(super) prefix: Option<Prefix>,
    pub(super) since: Option<Instant>,
    pub(super) until: Option<Instant>,
}

/// The database takes no pattern of more than 50,000 bytes, and no path is as long.
const LONGEST_PATTERN: usize = 32_768;

impl Query {
    /// Descriptions with the words of `text`, whatever their case and accents: all of them, in any order.
    /// Also `"two words"` in this order, `begin*`, `-unwanted`, `title:word`.
    pub fn text(mut self, text: &str) -> Result<Query, QueryError> {
        let wanted = Wanted::read(text)?;
        self.wanted.all_of.extend(wanted.all_of);
        self.wanted.none_of.extend(wanted.none_of);
        self.wanted.terms.extend(wanted.terms);
        Ok(self)
    }

    /// A value of `term` has the words of `text`, whole and in this order, whatever their case.
    pub fn term(mut self, term: &str, text: &str) -> Result<Query, QueryError> {
        if !super::words::is_term(term) {
            return Err(QueryError::UnknownTerm(term.to_owned()));
        }
        self.wanted.add_term(term, text);
        Ok(self)
    }

    /// A file of this content, or a whole payload of this digest.
    #[must_use]
    pub fn digest(mut self, digest: &Digest) -> Query {
        self.keys.push(digest_key(digest));
        self
    }

    /// An `IBIp`, or an alias among the identifiers of the description, whatever its case.
    #[must_use]
    pub fn identifier(mut self, text: &str) -> Query {
        self.keys.push(identifier_key(text));
        self
    }

    /// A relation to the item that `identifiers` name: one of the key `relation` of `[relations]`, or any.
    #[must_use]
    pub fn related(mut self, relation: Option<&str>, identifiers: &[Identifier]) -> Query {
        let relations = relation.as_ref().map_or(RELATION_KEYS.as_slice(), std::slice::from_ref);
        let keys = relations.iter().flat_map(|relation| {
            identifiers.iter().map(move |identifier| relation_key(relation, identifier))
        });
        self.any_key.push(keys.collect());
        self
    }

    /// A file of this name or path in the payload, whatever its case; `*` and `?` stand for any characters,
    /// `[…]` for one of several. A file with exactly this name is found too.
    #[must_use]
    pub fn file(mut self, name: &str) -> Query {
        if name.contains(['*', '?', '[']) && name.len() <= LONGEST_PATTERN {
            self.patterns.push((fold(name), name_key(name)));
        } else {
            self.keys.push(name_key(name));
        }
        self
    }

    /// The source it was made from, a path, contains `text`, whatever its case.
    #[must_use]
    pub fn source(mut self, text: &str) -> Query {
        self.sources.push(fold(text));
        self
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

    /// Whether it has no condition, so that every item meets it.
    pub fn is_empty(&self) -> bool {
        let Query { wanted, keys, any_key, patterns, sources, state, prefix, since, until } = self;
        *wanted == Wanted::default()
            && keys.is_empty()
            && any_key.is_empty()
            && (patterns.is_empty() && sources.is_empty())
            && (state.is_none() && prefix.is_none() && since.is_none() && until.is_none())
    }

    /// Whether a name is within the wanted dates.
    pub(super) fn is_in_time(&self, name: &RepositoryName) -> bool {
        let date = name.instant();
        self.since.is_none_or(|since| date >= since) && self.until.is_none_or(|until| date < until)
    }
}
