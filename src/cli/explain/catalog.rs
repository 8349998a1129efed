//! Errors of finding as failures.

use urepo::catalog::CatalogError;
use urepo::disk::LockError;
use urepo::index::{IndexError, QueryError};

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

impl From<CatalogError> for Failure {
    fn from(error: CatalogError) -> Failure {
        match error {
            CatalogError::Collection(error) => error.into(),
            CatalogError::Disk(error) => error.into(),
            CatalogError::Interrupted
            | CatalogError::Index(IndexError::Locked(LockError::Interrupted { .. })) => {
                Failure::told(Exit::Interrupted)
            }
            CatalogError::BeingBuilt(_) => Failure::of(Exit::Locked, &error)
                .hint("repeat with `--lock-wait 5m`; what the other process makes is used then"),
            CatalogError::Gone => Failure::of(Exit::Failure, &error).hint("repeat the command"),
            CatalogError::Index(ref index) if index.is_busy() => Failure::of(Exit::Locked, &error)
                .hint("repeat the command when the others are done"),
            CatalogError::Index(_) => Failure::of(Exit::Failure, &error)
                .hint("`urepo index --rebuild` rebuilds it from the sidecars"),
        }
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Failure {
        Failure::of(Exit::Usage, &error).hint(match error {
            QueryError::OpenQuote(_) => "close it, or leave its mark out",
            QueryError::UnwantedTerm(_) => "name what is wanted: `TERM:word`",
            QueryError::UnknownTerm(_) => {
                return Failure::of(Exit::Usage, &error)
                    .hint(format!("the terms are {}", urepo::sidecar::TERMS.join(", ")));
            }
        })
    }
}
