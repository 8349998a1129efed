//! Errors of the archive service as failures.

use urepo::serve::{ServiceError, TokenError};

use super::Explain;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::shell;

impl Explain for ServiceError {
    fn explain(&self) -> Failure {
        match self {
            Self::Deposit(error) => error.explain(),
            Self::Catalog(error) => error.explain(),
            Self::Collection(error) => error.explain(),
            Self::NotOriginal(_) => Failure::of(Exit::Conflict, self).hint(
                "leave `service` out of `[archive]` in `urepo.toml`: a copy of a collection makes a service of its own",
            ),
            Self::Transferable(identifier) => Failure::of(Exit::Conflict, self)
                .hint(format!("`urepo meta set {identifier} transferable=false` keeps it here")),
            Self::None => Failure::of(Exit::Failure, self)
                .hint("add a `[[subsystem]]` with a `host` to `urepo.toml`, or name an item with `--service`"),
        }
    }
}

impl Explain for TokenError {
    fn explain(&self) -> Failure {
        match self {
            Self::File(error) => error.explain(),
            Self::Known(name) => Failure::of(Exit::Conflict, self)
                .hint(format!("`urepo serve token remove {}` ends it", shell::word(name))),
            Self::Unknown(_) => {
                Failure::of(Exit::NoItem, self).hint("`urepo serve token list` shows the tokens")
            }
        }
    }
}
