//! Identifiers in the fields of a reference.

use super::bibtex::plain;
use crate::identity::{Ibip, Identifier, LegacyLabel, RepositoryName};

/// The opaque labels of an item: the first is its IBIp, the others are kept as aliases.
#[derive(Debug, Default)]
pub(super) struct Labels {
    pub ibip: Option<Ibip>,
    pub aliases: Vec<String>,
}

impl Labels {
    /// Takes the labels in a field, and returns the other words.
    pub(super) fn take(&mut self, value: &str, item: &RepositoryName) -> Vec<String> {
        let mut unknown = Vec::new();
        for word in words(value) {
            match label(&word) {
                Some(Identifier::Repository(name)) if name == *item => {}
                Some(Identifier::Ibip(ibip)) if self.ibip.is_none() => self.ibip = Some(ibip),
                Some(Identifier::Ibip(ibip)) if self.ibip.as_ref() == Some(&ibip) => {}
                Some(other) => {
                    let alias = other.to_string();
                    if !self.aliases.contains(&alias) {
                        self.aliases.push(alias);
                    }
                }
                None => unknown.push(word),
            }
        }
        unknown
    }
}

/// The words of a field that can be identifiers: those with a slash in them.
pub(super) fn words(value: &str) -> Vec<String> {
    let text = plain(value);
    let words = text.split(|c: char| c.is_whitespace() || c == ',' || c == ';');
    let words = words.map(|word| word.trim_matches(['<', '>', '(', ')', '.']));
    words.filter(|word| word.contains('/')).map(str::to_owned).collect()
}

/// The identifier that a word is, or leads to.
pub(super) fn label(word: &str) -> Option<Identifier> {
    // The alphabets overlap; a label from before 2009 has letters of both cases.
    match word.parse::<LegacyLabel>() {
        Ok(legacy) if legacy.is_likely() => return Some(Identifier::Legacy(legacy)),
        _ => {}
    }
    word.parse::<Ibip>().map(Identifier::Ibip).or_else(|_| Identifier::read(word)).ok()
}
