//! Errors of the index.

use rusqlite::ErrorCode;

/// `SQLite` reported an error.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the index")]
pub struct IndexError(#[from] rusqlite::Error);

impl IndexError {
    /// Whether rebuilding the index solves the problem: any error that is not about space, locking or permission means
    /// that the file is damaged.
    pub(crate) fn needs_rebuild(&self) -> bool {
        match self.0.sqlite_error_code() {
            Some(
                ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::ConstraintViolation
                | ErrorCode::TypeMismatch
                | ErrorCode::Unknown,
            )
            | None => true,
            Some(_) => false,
        }
    }

    /// Whether another process has the index.
    pub fn is_busy(&self) -> bool {
        let code = self.0.sqlite_error_code();
        matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }

    /// Whether the index cannot be kept here: the place is read-only or full, or has something else.
    pub fn is_unwritable(&self) -> bool {
        matches!(
            self.0.sqlite_error_code(),
            Some(
                ErrorCode::ReadOnly
                    | ErrorCode::CannotOpen
                    | ErrorCode::PermissionDenied
                    | ErrorCode::SystemIoFailure
                    | ErrorCode::DiskFull
            )
        )
    }
}

/// An error in a search text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// A quotation has no end.
    #[error("the quotation `{0}` has no end")]
    OpenQuote(String),
    /// The value of a key is not understood.
    #[error("`{key}:` takes {expected}")]
    Value {
        /// The key.
        key: String,
        /// The form of its values.
        expected: &'static str,
    },
    /// The database takes no more.
    #[error("a search has no more than {0} words with keys")]
    TooManyWords(usize),
    /// The term is unknown.
    #[error("`{0}` is neither a Dublin Core term nor one of your own, such as `x.box`")]
    UnknownTerm(String),
}
