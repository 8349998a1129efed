//! Finding the item of a row.

use std::cell::OnceCell;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::{DescribedError, RowItem};
use crate::collection::{Collection, CollectionError};
use crate::correction::CorrectionError;
use crate::disk::resolved;
use crate::identity::{Identifier, RepositoryName};
use crate::import::Ledger;

/// Finds the items that rows are of.
pub struct ItemFinder<'a> {
    collection: &'a Collection,
    /// The directory above the paths of sources.
    root: PathBuf,
    /// Read at the first path.
    ledger: OnceCell<Ledger<'a>>,
}

impl<'a> ItemFinder<'a> {
    /// Finds items of `collection`, and sources beneath `root`.
    pub fn new(collection: &'a Collection, root: PathBuf) -> ItemFinder<'a> {
        ItemFinder { collection, root, ledger: OnceCell::new() }
    }

    pub(super) fn collection(&self) -> &'a Collection {
        self.collection
    }

    /// The name of the item of a row. An item with a complete name need not exist.
    pub(super) fn name_of(&self, item: &RowItem) -> Result<RepositoryName, DescribedError> {
        match item {
            RowItem::Text(text) => self.meant_by(text),
            RowItem::Path(path) => self.of_source(path),
            RowItem::Identifier(Some(identifier)) => self.meant_by(identifier.as_str()),
            RowItem::Identifier(None) => Err(DescribedError::NoItem),
        }
    }

    fn meant_by(&self, text: &str) -> Result<RepositoryName, DescribedError> {
        if let Ok(Identifier::Repository(name)) = Identifier::read(text) {
            return Ok(name);
        }
        Ok(self.collection.find(text).map_err(absent)?.name().clone())
    }

    /// The item that was imported from `path`.
    pub(super) fn of_source(&self, path: &str) -> Result<RepositoryName, DescribedError> {
        let ledger = if let Some(ledger) = self.ledger.get() {
            ledger
        } else {
            let ledger = Ledger::look(self.collection)?;
            self.ledger.get_or_init(|| ledger)
        };
        let source = self.root.join(path);
        // The source itself may be missing, and is not followed if it is a link.
        let source = match (source.parent().map(resolved), source.file_name()) {
            (Some(Ok(parent)), Some(name)) => parent.join(name),
            _ => source,
        };
        let mut names = ledger.items_of_source(source.as_os_str().as_bytes())?;
        match (names.pop_first(), names.len()) {
            (Some(name), 0) => Ok(name),
            (Some(_), others) => {
                Err(DescribedError::SeveralItems { path: path.to_owned(), count: others + 1 })
            }
            (None, _) => Err(DescribedError::NoSource(path.to_owned())),
        }
    }
}

fn absent(error: CollectionError) -> DescribedError {
    CorrectionError::from(error).into()
}
