//! Why a document, or one of its rows, is refused.

use crate::correction::CorrectionError;
use crate::identity::RepositoryName;
use crate::import::ImportError;
use crate::sidecar::MetadataError;

/// Why a document, or one of its rows, is refused.
#[derive(Debug, thiserror::Error)]
pub enum DescribedError {
    /// A row of a table cannot be used, or the table cannot.
    #[error(transparent)]
    Table(#[from] ImportError),
    /// The document is not in its format.
    #[error("line {line}: {reason}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The fault.
        reason: String,
    },
    /// The document is not UTF-8.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// The bibliography has something that is not an entry.
    #[error("it has something that is not an entry: `{0}`")]
    NotAnEntry(String),
    /// The row names no item.
    #[error("it names no item")]
    NoItem,
    /// An earlier row concerns the same item.
    #[error("`{name}` has an earlier row, {first}")]
    Twice {
        /// The item.
        name: RepositoryName,
        /// The place of that row.
        first: RowPlace,
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
    /// A field of the format stands for several terms, which cannot be distinguished.
    #[error("`{field}` holds several terms of the item, and it was changed")]
    Several {
        /// The field.
        field: String,
    },
    /// A field is exported but never read back.
    #[error("`{field}` was changed, and it is not read from this format")]
    NotRead {
        /// The field.
        field: String,
    },
    /// A value is refused.
    #[error(transparent)]
    Value(#[from] MetadataError),
    /// The item is not corrected.
    #[error(transparent)]
    Correction(Box<CorrectionError>),
}

impl From<CorrectionError> for DescribedError {
    fn from(error: CorrectionError) -> DescribedError {
        DescribedError::Correction(Box::new(error))
    }
}

/// The place of a row in its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowPlace {
    /// On this line, from 1.
    Line(u64),
    /// In the entry with this key.
    Entry(String),
}

impl std::fmt::Display for RowPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RowPlace::Line(line) => write!(f, "line {line}"),
            RowPlace::Entry(key) => write!(f, "entry `{key}`"),
        }
    }
}
