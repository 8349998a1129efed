//! Errors of the index.

use std::path::PathBuf;

use rusqlite::ErrorCode;

use crate::disk::{LockError, PathError};

/// An error of the index.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The file is foreign, of another version or collection, or damaged.
    #[error("`{}` is not an index of this collection", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The fault.
        #[source]
        cause: Invalid,
    },
    /// `SQLite` reported an error.
    #[error("cannot use the index")]
    Database(#[from] rusqlite::Error),
    /// Another process holds it.
    #[error("the index is locked")]
    Locked(#[source] LockError),
    /// A file or directory cannot be used.
    #[error(transparent)]
    Disk(#[from] PathError),
}

impl From<LockError> for IndexError {
    fn from(error: LockError) -> IndexError {
        match error {
            LockError::Disk(error) => IndexError::Disk(error),
            held => IndexError::Locked(held),
        }
    }
}

/// The reason why a file is not usable as the index.
#[derive(Debug, thiserror::Error)]
pub enum Invalid {
    /// Another kind of file, or another version.
    #[error("it was made by another program, or another version of this one")]
    Foreign,
    /// It was copied with a collection.
    #[error("it belongs to the collection of id `{0}`")]
    OtherCollection(String),
    /// Its inode is not the recorded one: items may have changed since.
    #[error("it was copied or restored from a backup")]
    Moved,
    /// The last transactions are gone.
    #[error("its log is missing or damaged")]
    LostLog,
    /// Not a regular file.
    #[error("it is not a regular file")]
    Kind,
}

impl IndexError {
    /// The path of the index has something other than a regular file.
    pub(crate) fn not_a_file(path: &std::path::Path) -> IndexError {
        IndexError::Invalid { path: path.to_path_buf(), cause: Invalid::Kind }
    }

    /// Whether rebuilding the index solves the problem.
    pub fn needs_rebuild(&self) -> bool {
        match self {
            IndexError::Invalid { .. } => true,
            // Any error that is not about space, locking or permission means that the file is corrupt.
            IndexError::Database(error) => match error.sqlite_error_code() {
                Some(
                    ErrorCode::DatabaseCorrupt
                    | ErrorCode::NotADatabase
                    | ErrorCode::ConstraintViolation
                    | ErrorCode::TypeMismatch
                    | ErrorCode::AuthorizationForStatementDenied
                    | ErrorCode::Unknown,
                )
                | None => true,
                Some(_) => false,
            },
            IndexError::Locked(_) | IndexError::Disk(_) => false,
        }
    }

    /// Whether the database is in use by another connection.
    pub(super) fn is_lock_error(error: &rusqlite::Error) -> bool {
        matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
        )
    }

    /// Whether waiting for another process timed out.
    pub fn is_busy(&self) -> bool {
        match self {
            IndexError::Database(error) => IndexError::is_lock_error(error),
            IndexError::Locked(_) => true,
            IndexError::Invalid { .. } | IndexError::Disk(_) => false,
        }
    }

    /// Whether the index cannot be written here: the file or file system is read-only or full.
    pub fn is_unwritable(&self) -> bool {
        match self {
            IndexError::Invalid { .. } | IndexError::Locked(_) => false,
            IndexError::Database(error) => matches!(
                error.sqlite_error_code(),
                Some(
                    ErrorCode::ReadOnly
                        | ErrorCode::CannotOpen
                        | ErrorCode::PermissionDenied
                        | ErrorCode::DiskFull
                )
            ),
            IndexError::Disk(error) => has_no_place(error),
        }
    }
}

/// Whether a file of the index cannot be written, or something else has its path.
pub(crate) fn has_no_place(error: &PathError) -> bool {
    error.is_refusal()
        || error.is_full()
        || error.is_link()
        || error.kind() == std::io::ErrorKind::IsADirectory
}

/// An error in a search text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// A quotation has no end.
    #[error("the quotation `{0}` has no end")]
    OpenQuote(String),
    /// Only words can be excluded.
    #[error("`-` goes with words, not with the term `{0}`")]
    UnwantedTerm(String),
    /// The term is unknown.
    #[error("`{0}` is neither a Dublin Core term nor one of your own, such as `x.box`")]
    UnknownTerm(String),
}
