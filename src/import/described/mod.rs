//! Documents that describe existing items: tables, bibliographies and Dublin Core.
//!
//! `rows` reads a document as [`DescribedRow`]s, each of which names its item. A [`DescriptionImport`] finds
//! the items (`resolve`), compares them with the rows, checks all rows before anything changes, and carries
//! out the differences (`run`). A column of a table has all values of its term. `bibliography` and
//! `dublin_core` have fewer terms than a description: `foreign` finds the changes in them.

mod bibliography;
mod dublin_core;
mod fault;
mod foreign;
mod json;
mod resolve;
mod run;

use std::io::{BufRead, Read};

use super::ImportError;
use super::manifest::{RowFields, TableOptions, TableReader};
use crate::adopt::bibliography::BibliographyEntry;
use crate::correction::NewValues;
use crate::identity::{Identifier, RepositoryName};
use crate::sidecar::{RelationKind, Sidecar};

pub use fault::{DescribedError, RowPlace};
pub use resolve::ItemFinder;
pub use run::{CheckedRows, DescriptionImport, RowOutcome, RowReport};

/// Limit on a document that has to be held as a whole.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The format of a document.
#[derive(Clone, Debug)]
pub enum DocumentKind {
    /// A table of rows, or TOML or JSON Lines with the same columns.
    Table(TableOptions),
    /// A list of objects with the same columns.
    Json(TableOptions),
    /// A bibliography.
    Bibtex,
    /// Descriptions in the fifteen elements of Dublin Core, in XML.
    DublinCore,
}

/// A row: an item and its description.
pub struct DescribedRow {
    /// Where it stands.
    pub place: RowPlace,
    item: RowItem,
    content: Content,
}

/// The item of a row.
enum RowItem {
    /// A text that refers to it.
    Text(String),
    /// The path of its source.
    Path(String),
    /// The first identifier in the row: others may belong to other items.
    Identifier(Option<Identifier>),
}

/// The contents of a row.
enum Content {
    Columns {
        new: NewValues,
        /// The values to remove if empty cells mean removal.
        emptied: NewValues,
        /// Relations to items by the paths of their sources.
        references: Vec<(RelationKind, String)>,
    },
    Entry(BibliographyEntry),
    Elements(foreign::ForeignValues),
}

/// The rows of a document, read one by one. An error without a place ends the document.
pub type DescribedRows =
    Box<dyn Iterator<Item = Result<DescribedRow, (Option<RowPlace>, DescribedError)>>>;

/// Reads a document from `reader`, called `name` in messages.
pub fn rows(
    reader: Box<dyn BufRead + Send>,
    name: &str,
    kind: &DocumentKind,
) -> Result<DescribedRows, DescribedError> {
    let whole = |reader: Box<dyn BufRead + Send>| {
        let failed = |source| ImportError::Read { name: name.to_owned(), source };
        let mut bytes = Vec::new();
        reader.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > MAX_BYTES {
            let reason = "it is larger than 64 MiB; a table or JSON Lines may be of any size";
            return Err(failed(std::io::Error::other(reason)));
        }
        Ok(bytes)
    };
    Ok(match kind {
        DocumentKind::Table(options) => table(reader, name, options)?,
        DocumentKind::Json(options) => {
            let lines = json::lines(&whole(reader)?)?;
            table(Box::new(std::io::Cursor::new(lines)), name, options)?
        }
        DocumentKind::Bibtex => Box::new(bibliography::rows(&whole(reader)?)?.into_iter().map(Ok)),
        DocumentKind::DublinCore => {
            Box::new(dublin_core::rows(&whole(reader)?)?.into_iter().map(Ok))
        }
    })
}

fn table(
    reader: Box<dyn BufRead + Send>,
    name: &str,
    options: &TableOptions,
) -> Result<DescribedRows, DescribedError> {
    let rows = TableReader::describing(reader, name.to_owned(), options)?;
    Ok(Box::new(rows.map(|row| match row {
        Ok(row) => {
            let place = RowPlace::Line(row.text.line);
            let Some(item) = item(&row.fields) else {
                return Err((Some(place), DescribedError::NoItem));
            };
            Ok(DescribedRow { place, item, content: content(row.fields) })
        }
        Err((text, error)) => Err((text.map(|text| RowPlace::Line(text.line)), error.into())),
    })))
}

fn item(fields: &RowFields) -> Option<RowItem> {
    match (&fields.item, &fields.path) {
        (Some(text), _) => Some(RowItem::Text(text.clone())),
        (None, Some((path, _))) => Some(RowItem::Path(path.clone())),
        (None, None) => None,
    }
}

/// The contents of the columns of a row.
fn content(fields: RowFields) -> Content {
    let RowFields { texts, related, references, said, .. } = fields;
    let mut new = NewValues { values: texts, relations: Vec::new() };
    for (kind, to) in related {
        new.relate(kind, to);
    }
    let references: Vec<_> = references.into_iter().map(|(kind, path, _)| (kind, path)).collect();
    let mut emptied = NewValues::default();
    for key in said.emptied_keys {
        // Among columns of the same name, a filled one counts.
        if !new.values.iter().any(|(known, _)| *known == key) {
            emptied.values.push((key, Vec::new()));
        }
    }
    for kind in said.emptied_relations {
        let is_filled = new.relations.iter().any(|(known, _)| *known == kind)
            || references.iter().any(|(known, _)| *known == kind);
        if !is_filled {
            emptied.relations.push((kind, Vec::new()));
        }
    }
    Content::Columns { new, emptied, references }
}

impl DescribedRow {
    /// All relations of the row, besides those in `new`: a bibliography changes only differences.
    fn all_relations(&self, name: &RepositoryName, new: &NewValues) -> NewValues {
        let mut all = NewValues { values: Vec::new(), relations: new.relations.clone() };
        if let Content::Entry(entry) = &self.content {
            for relation in entry.values(name).relations.iter() {
                all.relate(relation.kind, relation.to);
            }
        }
        all
    }

    /// The values for its item, whose sidecar is given.
    fn new_values(
        &self,
        sidecar: &Sidecar,
        finder: &ItemFinder<'_>,
        clears: bool,
    ) -> Result<NewValues, DescribedError> {
        match &self.content {
            Content::Columns { new, emptied, references } => {
                let mut new = new.clone();
                if clears {
                    new.values.extend(emptied.values.iter().cloned());
                    new.relations.extend(emptied.relations.iter().cloned());
                }
                for (kind, path) in references {
                    let name = finder.of_source(path)?;
                    new.relate(kind.clone(), name.into());
                }
                Ok(new)
            }
            Content::Entry(entry) => bibliography::new_values(entry, sidecar, clears),
            Content::Elements(elements) => dublin_core::new_values(elements, sidecar, clears),
        }
    }
}
