//! What is wrong with a row of a manifest.

use crate::digest::NotADigest;
use crate::identity::ParseError;
use crate::sidecar::{ConditionError, MetadataError, RelationError};

/// A row that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct RowError {
    /// The line it begins on, from 1.
    pub line: u64,
    /// What is wrong.
    pub fault: RowFault,
}

/// What is wrong with a row.
#[derive(Debug, thiserror::Error)]
pub enum RowFault {
    /// The bytes are no text.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// The row is too long to be one.
    #[error("it is longer than 1 MiB")]
    TooLong,
    /// A quoted value has no end.
    #[error("a quote begins on it and does not end")]
    OpenQuote,
    /// What ends lines of old programs is in the middle of one.
    #[error("it has a carriage return before its end; lines end with LF or CRLF")]
    CarriageReturn,
    /// There are more or fewer values than columns.
    #[error("it has {found} values, and there are {expected} columns")]
    Values {
        /// How many values.
        found: usize,
        /// How many columns.
        expected: usize,
    },
    /// The text is not in the format.
    #[error("it cannot be read: {0}")]
    Syntax(String),
    /// No column means anything.
    #[error("there is no column `{0}`")]
    NoColumn(&'static str),
    /// A column has no meaning.
    #[error("the column `{0}` means nothing")]
    UnknownColumn(String),
    /// A column occurs twice and may not.
    #[error("the column `{0}` has more than one value")]
    GivenTwice(String),
    /// There is no path.
    #[error("it has no path")]
    NoPath,
    /// The path leads elsewhere.
    #[error("the path `{0}` leads out of the directory of the manifest")]
    Outside(String),
    /// An earlier row has the same.
    #[error("`{what}` is on line {first} already")]
    Twice {
        /// The path or name.
        what: String,
        /// Where it was first.
        first: u64,
    },
    /// A spreadsheet would run it.
    #[error("the value of `{0}` is a formula")]
    Formula(String),
    /// A value is of a wrong kind.
    #[error("the value of `{0}` is no text")]
    Kind(String),
    /// A term cannot be taken.
    #[error(transparent)]
    Term(#[from] MetadataError),
    /// A condition cannot be taken.
    #[error(transparent)]
    Condition(#[from] ConditionError),
    /// A relation cannot be taken.
    #[error(transparent)]
    Relation(#[from] RelationError),
    /// An identifier is none.
    #[error(transparent)]
    Identifier(#[from] ParseError),
    /// A digest is none.
    #[error(transparent)]
    Digest(#[from] NotADigest),
}
