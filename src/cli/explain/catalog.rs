//! Errors of finding as failures.

use urepo::catalog::CatalogError;
use urepo::disk::LockError;
use urepo::index::{IndexError, QueryError};

use super::Explain;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

impl Explain for CatalogError {
    fn explain(&self) -> Failure {
        match self {
            Self::Collection(error) => error.explain(),
            Self::Disk(error) => error.explain(),
            Self::Interrupted | Self::Index(IndexError::Locked(LockError::Interrupted { .. })) => {
                Failure::told(Exit::Interrupted)
            }
            Self::BeingBuilt(_) => Failure::of(Exit::Locked, self)
                .hint("repeat with `--lock-wait 5m`; what the other process makes is used then"),
            Self::Gone => Failure::of(Exit::Failure, self).hint(super::REPEAT),
            Self::Index(index) if index.is_busy() => {
                Failure::of(Exit::Locked, self).hint("repeat the command when the others are done")
            }
            Self::Index(_) => Failure::of(Exit::Failure, self)
                .hint("`urepo index --rebuild` rebuilds it from the sidecars"),
        }
    }
}

impl Explain for QueryError {
    fn explain(&self) -> Failure {
        let failure = Failure::of(Exit::Usage, self);
        match self {
            Self::OpenQuote(_) => failure.hint("close it, or leave its mark out"),
            Self::UnwantedTerm(_) => failure.hint("name the wanted value: `TERM:word`"),
            Self::UnknownTerm(term) => failure.hint(format!(
                "{}the terms are {}",
                super::meant_term(term),
                urepo::sidecar::TERMS.join(", ")
            )),
        }
    }
}
