//! Errors of finding as failures.

use urepo::catalog::CatalogError;
use urepo::index::QueryError;

use super::Explain;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

impl Explain for CatalogError {
    fn explain(&self) -> Failure {
        match self {
            Self::Collection(error) => error.explain(),
            Self::Disk(error) => error.explain(),
            Self::Interrupted => Failure::told(Exit::Interrupted),
            Self::Index(index) if index.is_busy() => Failure::of(Exit::Locked, self).hint(
                "another process builds or reads the index: repeat with `UREPO_LOCK_WAIT=5m`",
            ),
            Self::Index(_) => Failure::of(Exit::Failure, self)
                .hint("`urepo recover --index` rebuilds it from the sidecars"),
        }
    }
}

impl Explain for QueryError {
    fn explain(&self) -> Failure {
        let failure = Failure::of(Exit::Usage, self);
        match self {
            Self::OpenQuote(_) => failure.hint("close it, or leave its mark out"),
            Self::TooManyWords(_) => failure.hint("leave some out"),
            Self::Value { .. } => failure.hint("`urepo help list` has the keys of a search"),
            Self::UnknownTerm(term) => failure.hint(format!(
                "{}the terms are {}",
                super::meant_term(term),
                urepo::sidecar::TERMS.join(", ")
            )),
        }
    }
}
