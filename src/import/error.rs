//! Why a source was not imported.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::bag::BagError;
use super::manifest::RowError;
use crate::amend::AmendError;
use crate::collection::CollectionError;
use crate::correction::CorrectionError;
use crate::deposit::DepositError;
use crate::disk::copy::CopyError;
use crate::disk::{FileFault, PathError};
use crate::identity::{Identifier, Language, RepositoryName};
use crate::item::State;
use crate::relation::RelateError;

/// Why a source was not imported, or the whole import cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A row of a manifest cannot be used.
    #[error(transparent)]
    Row(Box<RowError>),
    /// A bag contradicts its manifests.
    #[error("`{}` {}", path.display(), cause.verdict())]
    Bag {
        /// The bag.
        path: PathBuf,
        /// The fault.
        #[source]
        cause: Box<BagError>,
    },
    /// The name in a row belongs to a foreign item.
    #[error("there is an item `{name}` already, made of something else")]
    NameExists {
        /// The name.
        name: RepositoryName,
    },
    /// The identifier in a row may still be issued for another item.
    #[error(
        "`{identifier}` may still be issued for another item: its date lies ahead, or less than a minute back"
    )]
    NotYetIssued {
        /// The identifier, in the form that may be issued.
        identifier: Identifier,
    },
    /// A relation leads to a row that did not become an item.
    #[error("the relation `{kind}` leads to `{to}`, which is not in the collection")]
    RelationLost {
        /// The kind of the relation.
        kind: String,
        /// The other row.
        to: String,
    },
    /// An item without a known language cannot become a translation: the other end needs the language.
    #[error("`{name}` cannot be a translation of `{to}` while its language is not known")]
    NoLanguage {
        /// The item.
        name: RepositoryName,
        /// The item that it would be a translation of.
        to: Identifier,
    },
    /// A row is a translation, but its language is not known.
    #[error("it is a translation of `{to}`, and its language is not known")]
    TranslationLanguage {
        /// The item or row that it is a translation of.
        to: String,
    },
    /// A row and its translation, or the item that it is a translation of, have the same language.
    #[error("`{original}` is in `{language}` itself, and has no translation into it")]
    OwnLanguage {
        /// The source, or the item that it is a translation of.
        original: String,
        /// Their language.
        language: Language,
    },
    /// The relations of a row are refused.
    #[error(transparent)]
    Relate(#[from] Box<RelateError>),
    /// An item refuses its end of a relation.
    #[error(transparent)]
    Amend(#[from] Box<AmendError>),
    /// A row contradicts that of the other end of a relation.
    #[error(transparent)]
    Correction(Box<CorrectionError>),
    /// Several items were made of the source of a row.
    #[error("{count} items were made of `{}`", path.display())]
    SeveralItems {
        /// The source.
        path: PathBuf,
        /// The number of items.
        count: usize,
    },
    /// The item that a relation belongs to is not an Original here.
    #[error("the relations of `{name}` were not set: it is {state} here")]
    NotOriginal {
        /// The item.
        name: RepositoryName,
        /// Its state in this collection.
        state: State,
    },
    /// The list of paths is invalid.
    #[error("the list `{name}` is not one of NUL-ended paths")]
    NotAList {
        /// The name of the list.
        name: String,
    },
    /// The list or manifest cannot be read.
    #[error("cannot read `{name}`")]
    Read {
        /// The list or manifest.
        name: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A source and the directory of rejected sources contain each other.
    #[error("`{}` is the directory of rejected sources: {reason}", path.display())]
    RejectDirectory {
        /// The directory.
        path: PathBuf,
        /// Why.
        reason: &'static str,
    },
    /// An item was not made.
    #[error(transparent)]
    Deposit(Box<DepositError>),
    /// The collection refuses.
    #[error(transparent)]
    Collection(Box<CollectionError>),
    /// The file system refuses.
    #[error(transparent)]
    Disk(#[from] PathError),
}

impl ImportError {
    /// Whether another import may be the reason, which makes an item of the same source, or removes it.
    pub(super) fn may_be_of_another(&self) -> bool {
        use DepositError as Deposit;
        let is_missing = |error: &PathError| error.kind() == ErrorKind::NotFound;
        match self {
            ImportError::NameExists { .. } => true,
            ImportError::Disk(error) => is_missing(error),
            ImportError::Collection(error) => matches!(**error, CollectionError::Changed { .. }),
            ImportError::Deposit(error) => match error.as_ref() {
                Deposit::NameExists { .. }
                | Deposit::IbipExists { .. }
                | Deposit::Collection(CollectionError::Changed { .. }) => true,
                Deposit::Disk(error) => is_missing(error),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether it concerns the source at `path`, and not the disk, the collection or another process.
    pub(super) fn is_of_source(&self, path: &Path) -> bool {
        use DepositError as Deposit;
        match self {
            ImportError::Bag { .. } => true,
            ImportError::Disk(error) => is_refused(error, path),
            ImportError::Deposit(error) => match error.as_ref() {
                Deposit::Special { .. }
                | Deposit::Links(_)
                | Deposit::Link { .. }
                | Deposit::Twins { .. }
                | Deposit::NoName { .. }
                | Deposit::Nothing { .. }
                | Deposit::File(FileFault::Time(_))
                | Deposit::DeletedHere { .. }
                | Deposit::TooManyFiles { .. }
                | Deposit::Mismatch { .. }
                | Deposit::PayloadMismatch { .. }
                | Deposit::NotListed { .. }
                | Deposit::ListedLink { .. }
                | Deposit::NotThere { .. } => true,
                Deposit::Disk(error) => is_refused(error, path),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether the bytes or files of a source differ from its row or bag.
    pub(super) fn is_contradiction(&self) -> bool {
        use DepositError::{ListedLink, Mismatch, NotListed, NotThere, PayloadMismatch};
        match self {
            ImportError::Bag { .. } => true,
            ImportError::Deposit(error) => matches!(
                error.as_ref(),
                Mismatch { .. }
                    | PayloadMismatch { .. }
                    | NotListed { .. }
                    | ListedLink { .. }
                    | NotThere { .. }
            ),
            _ => false,
        }
    }

    /// Whether a stop came before the source was reached, or came to its end.
    pub fn is_interruption(&self) -> bool {
        matches!(self, ImportError::Deposit(error) if matches!(**error, DepositError::Interrupted))
    }

    /// Whether the source became an item that was deleted.
    pub(super) fn is_deleted_here(&self) -> bool {
        matches!(self, ImportError::Deposit(error) if matches!(**error, DepositError::DeletedHere { .. }))
    }
}

/// Whether the system refuses access to the source. A bad sector or a shortage of memory is not a fault of
/// the source.
fn is_refused(error: &PathError, path: &Path) -> bool {
    let lasts = matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::NotFound);
    (lasts || error.is_link()) && error.path().starts_with(path)
}
impl From<CorrectionError> for ImportError {
    fn from(error: CorrectionError) -> ImportError {
        match error {
            CorrectionError::Amend(error) => Box::new(error).into(),
            CorrectionError::Relate(error) => Box::new(error).into(),
            CorrectionError::Collection(error) => error.into(),
            error @ CorrectionError::Contradicted { .. } => {
                ImportError::Correction(Box::new(error))
            }
        }
    }
}

impl From<RowError> for ImportError {
    fn from(error: RowError) -> ImportError {
        ImportError::Row(Box::new(error))
    }
}

impl From<DepositError> for ImportError {
    fn from(error: DepositError) -> ImportError {
        ImportError::Deposit(Box::new(error))
    }
}

impl From<CopyError> for ImportError {
    fn from(error: CopyError) -> ImportError {
        DepositError::from(error).into()
    }
}

impl From<CollectionError> for ImportError {
    fn from(error: CollectionError) -> ImportError {
        ImportError::Collection(Box::new(error))
    }
}
