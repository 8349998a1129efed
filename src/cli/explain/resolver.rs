//! Errors of the resolver as failures.

use urepo::disk::LockError;
use urepo::resolver::RegistryError;

use super::Explain;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::shell;

impl Explain for RegistryError {
    fn explain(&self) -> Failure {
        match self {
            Self::Disk(error) | Self::Lock(LockError::Disk(error)) => error.explain(),
            Self::Lock(LockError::Held { .. }) => {
                Failure::of(Exit::Locked, self).hint("`--lock-wait 1m` waits longer")
            }
            Self::Lock(LockError::Interrupted { .. }) => Failure::of(Exit::Interrupted, self),
            Self::Content(..) => Failure::of(Exit::Failure, self)
                .hint("`--registry FILE` names a file that `urepo resolver register` made"),
            Self::Open(path) => Failure::of(Exit::Failure, self)
                .hint(format!("`chmod 600 {}` closes it", shell::word(path))),
            Self::Registered(_) => Failure::of(Exit::Conflict, self)
                .hint("`--replace` registers it again, with another key"),
            Self::Unknown(_) => Failure::of(Exit::NoItem, self)
                .hint("`urepo resolver list` shows the archives that are registered"),
        }
    }
}
