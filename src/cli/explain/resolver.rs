//! Errors of the registry of a resolver as failures.

use urepo::resolver::RegistryError;

use super::Explain;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

impl Explain for RegistryError {
    fn explain(&self) -> Failure {
        match self {
            Self::File(error) => error.explain(),
            Self::Registered(_) => Failure::of(Exit::Conflict, self)
                .hint("`--replace` registers it again, with another key"),
            Self::Unknown(_) => Failure::of(Exit::NoItem, self)
                .hint("`urepo resolver list` shows the archives that are registered"),
        }
    }
}
