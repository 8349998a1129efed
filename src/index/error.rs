//! Why an index cannot be used.

use std::path::PathBuf;

use rusqlite::ErrorCode;

use crate::disk::{LockError, PathError};

/// Why an index cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// It is not one of ours, of another version, of another collection, or damaged.
    #[error("`{}` is no index of this collection", path.display())]
    Useless {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        #[source]
        cause: Uselessness,
    },
    /// The database refused.
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

/// What is wrong with a file that should be an index.
#[derive(Debug, thiserror::Error)]
pub enum Uselessness {
    /// Another kind of file, or of another version.
    #[error("it was made by another program, or another version of this one")]
    Foreign,
    /// It was copied with a collection, or put there.
    #[error("it belongs to the collection of id `{0}`")]
    OtherCollection(String),
    /// It is not the file that it was made as: items may have changed since.
    #[error("it was copied, or comes out of a backup")]
    Moved,
    /// What was written last is gone.
    #[error("its log is missing or damaged")]
    LostLog,
    /// Not a regular file.
    #[error("it is no regular file")]
    Kind,
}

impl IndexError {
    /// That something else is where the index should be.
    pub(crate) fn not_a_file(path: &std::path::Path) -> IndexError {
        IndexError::Useless { path: path.to_path_buf(), cause: Uselessness::Kind }
    }

    /// Whether a new index would do, which is made from the sidecars.
    pub fn is_cured_by_rebuilding(&self) -> bool {
        match self {
            IndexError::Useless { .. } => true,
            // What is not for want of space, time or rights is for what the file has in it.
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

    /// Whether others had it for longer than was waited for.
    pub fn is_busy(&self) -> bool {
        match self {
            IndexError::Database(error) => matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
            ),
            IndexError::Locked(_) => true,
            IndexError::Useless { .. } | IndexError::Disk(_) => false,
        }
    }

    /// Whether it cannot be written here: the file system, or the file, may only be read, or is full.
    pub fn can_not_be_kept(&self) -> bool {
        match self {
            IndexError::Useless { .. } | IndexError::Locked(_) => false,
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

/// Whether something else is where a file of the index should be, or it cannot be written.
pub(crate) fn has_no_place(error: &PathError) -> bool {
    error.is_refusal()
        || error.is_full()
        || error.is_link()
        || error.kind() == std::io::ErrorKind::IsADirectory
}

/// Why a text cannot be looked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// A quotation has no end.
    #[error("the quotation `{0}` has no end")]
    OpenQuote(String),
    /// Only words can be unwanted.
    #[error("`-` goes with words, not with the term `{0}`")]
    UnwantedTerm(String),
    /// No such term.
    #[error("`{0}` is no term of Dublin Core, nor one of your own such as `x.box`")]
    UnknownTerm(String),
}
