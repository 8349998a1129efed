//! The entries of a bibliography, as corrections of descriptions.

use super::bibtex::{Library, Reference, decode, read};
use super::describe::Description;
use super::labels::{label, words};
use crate::identity::{Identifier, RepositoryName};
use crate::sidecar::{Metadata, Relations};

/// An entry of a bibliography.
#[derive(Debug)]
pub(crate) struct BibliographyEntry(Library);

/// The terms and relations of an entry.
#[derive(Debug)]
pub(crate) struct EntryValues {
    /// Terms, and keys below `x` for fields that are not terms.
    pub metadata: Metadata,
    /// Relations to other items.
    pub relations: Relations,
}

/// The entries of a bibliography, and the text that is not an entry.
pub(crate) fn entries(bytes: &[u8]) -> (Vec<BibliographyEntry>, Vec<String>) {
    let Library { references, unread } = read(&decode(bytes).0);
    let entry = |it: Reference| BibliographyEntry(Library { references: vec![it], unread: vec![] });
    (references.into_iter().map(entry).collect(), unread)
}

impl BibliographyEntry {
    /// The citation key.
    pub(crate) fn key(&self) -> &str {
        self.0.references.first().map_or("", |reference| &reference.key)
    }

    /// The identifiers of the item it describes, most significant first.
    pub(crate) fn identifiers(&self) -> Vec<Identifier> {
        let fields = self.0.references.iter().flat_map(|reference| &reference.fields);
        let fields: Vec<_> = fields.collect();
        let of = |names: &'static [&str]| {
            let fields = fields.iter().filter(move |field| names.contains(&field.name.as_str()));
            fields.filter_map(|field| field.value.as_deref()).flat_map(words)
        };
        let words = of(&["repository", "rep"]).chain(of(&["ibi", "ibip", "identifier"]));
        words.filter_map(|word| label(&word)).collect()
    }

    /// Its terms and relations, as those of `item`.
    pub(crate) fn values(&self, item: &RepositoryName) -> EntryValues {
        let Description { metadata, relations, .. } = Description::of_entry(&self.0, item);
        EntryValues { metadata, relations }
    }
}
