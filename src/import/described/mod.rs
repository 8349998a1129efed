//! Tables that describe existing items.
//!
//! [`rows`] reads a table as [`DescribedRow`]s, each of which names its item. A [`DescriptionImport`] finds the
//! items, compares them with the rows, checks all rows before anything changes, and carries out the differences
//! (`run`). A column has all values of its term.

mod run;

use std::cell::OnceCell;
use std::io::BufRead;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::manifest::{RowFields, TableOptions, TableReader};
use super::{ImportError, KnownSources};
use crate::collection::Collection;
use crate::correction::{CorrectionError, NewValues};
use crate::disk::resolved;
use crate::identity::{Identifier, RepositoryName};
use crate::sidecar::RelationKind;

pub use run::{CheckedRows, DescriptionImport, RowOutcome, RowReport};

/// Why a table, or one of its rows, is refused.
#[derive(Debug, thiserror::Error)]
pub enum DescribedError {
    /// A row cannot be used, or the table cannot.
    #[error(transparent)]
    Table(#[from] ImportError),
    /// The row names no item.
    #[error("it names no item")]
    NoItem,
    /// An earlier row concerns the same item.
    #[error("`{name}` has an earlier row, line {first}")]
    Twice {
        /// The item.
        name: RepositoryName,
        /// The line of that row.
        first: u64,
    },
    /// No item was made of the source.
    #[error("no item here was imported from `{0}`")]
    NoSource(String),
    /// Several items were made of one source.
    #[error("{count} items were made of `{path}`")]
    SeveralItems {
        /// The path in the row.
        path: String,
        /// The number of items.
        count: usize,
    },
    /// The item is not corrected.
    #[error(transparent)]
    Correction(Box<CorrectionError>),
}

impl From<CorrectionError> for DescribedError {
    fn from(error: CorrectionError) -> DescribedError {
        DescribedError::Correction(Box::new(error))
    }
}

/// A row: an item and its description.
pub struct DescribedRow {
    /// Its line, from 1.
    pub line: u64,
    item: RowItem,
    new: NewValues,
    /// The values to remove if empty cells mean removal.
    emptied: NewValues,
    /// Relations to items by the paths of their sources.
    references: Vec<(RelationKind, String)>,
}

/// The item of a row.
enum RowItem {
    /// A text that refers to it.
    Text(String),
    /// The path of its source.
    Path(String),
}

/// A row, or why it cannot be used. An error without a line ends the table.
type ReadRow = Result<DescribedRow, (Option<u64>, DescribedError)>;

/// The rows of a table, read one by one.
pub type DescribedRows = Box<dyn Iterator<Item = ReadRow>>;

/// Reads a table from `reader`, called `name` in messages.
pub fn rows(
    reader: Box<dyn BufRead + Send>,
    name: &str,
    options: &TableOptions,
) -> Result<DescribedRows, DescribedError> {
    let rows = TableReader::describing(reader, name.to_owned(), options)?;
    Ok(Box::new(rows.map(|row| match row {
        Ok(row) => DescribedRow::new(row.text.line, row.fields),
        Err((text, error)) => Err((text.map(|text| text.line), error.into())),
    })))
}

impl DescribedRow {
    fn new(line: u64, fields: RowFields) -> ReadRow {
        let item = match (fields.item, fields.path) {
            (Some(text), _) => RowItem::Text(text),
            (None, Some((path, _))) => RowItem::Path(path),
            (None, None) => return Err((Some(line), DescribedError::NoItem)),
        };
        let mut new = NewValues { values: fields.texts, relations: Vec::new() };
        for (kind, to) in fields.related {
            new.relate(kind, to);
        }
        let references = fields.references.into_iter().map(|(kind, path, _)| (kind, path));
        let references: Vec<_> = references.collect();
        let mut emptied = NewValues::default();
        for key in fields.said.emptied_keys {
            // Among columns of the same name, a filled one counts.
            if !new.values.iter().any(|(known, _)| *known == key) {
                emptied.values.push((key, Vec::new()));
            }
        }
        for kind in fields.said.emptied_relations {
            let is_filled = new.relations.iter().any(|(known, _)| *known == kind)
                || references.iter().any(|(known, _)| *known == kind);
            if !is_filled {
                emptied.relations.push((kind, Vec::new()));
            }
        }
        Ok(DescribedRow { line, item, new, emptied, references })
    }

    /// The values for its item.
    fn new_values(
        &self,
        finder: &ItemFinder<'_>,
        clears: bool,
    ) -> Result<NewValues, DescribedError> {
        let mut new = self.new.clone();
        if clears {
            new.values.extend(self.emptied.values.iter().cloned());
            new.relations.extend(self.emptied.relations.iter().cloned());
        }
        for (kind, path) in &self.references {
            new.relate(kind.clone(), finder.of_source(path)?.into());
        }
        Ok(new)
    }
}

/// Finds the items that rows are of.
pub struct ItemFinder<'a> {
    collection: &'a Collection,
    /// The directory above the paths of sources.
    root: PathBuf,
    /// Read at the first path.
    known: OnceCell<KnownSources<'a>>,
}

impl<'a> ItemFinder<'a> {
    /// Finds items of `collection`, and sources beneath `root`.
    pub fn new(collection: &'a Collection, root: PathBuf) -> ItemFinder<'a> {
        ItemFinder { collection, root, known: OnceCell::new() }
    }

    fn collection(&self) -> &'a Collection {
        self.collection
    }

    /// The name of the item of a row. An item with a complete name need not exist.
    fn name_of(&self, item: &RowItem) -> Result<RepositoryName, DescribedError> {
        let text = match item {
            RowItem::Text(text) => text,
            RowItem::Path(path) => return self.of_source(path),
        };
        if let Ok(Identifier::Repository(name)) = Identifier::read(text) {
            return Ok(name);
        }
        Ok(self.collection.find(text).map_err(CorrectionError::from)?.name().clone())
    }

    /// The item that was imported from `path`.
    fn of_source(&self, path: &str) -> Result<RepositoryName, DescribedError> {
        let known = if let Some(known) = self.known.get() {
            known
        } else {
            let known = KnownSources::open(self.collection, None)?;
            self.known.get_or_init(|| known)
        };
        let source = self.root.join(path);
        // The source itself may be missing, and is not followed if it is a link.
        let source = match (source.parent().map(resolved), source.file_name()) {
            (Some(Ok(parent)), Some(name)) => parent.join(name),
            _ => source,
        };
        let mut names = known.items_of_source(source.as_os_str().as_bytes())?;
        match (names.pop_first(), names.len()) {
            (Some(name), 0) => Ok(name),
            (Some(_), others) => {
                Err(DescribedError::SeveralItems { path: path.to_owned(), count: others + 1 })
            }
            (None, _) => Err(DescribedError::NoSource(path.to_owned())),
        }
    }
}
