//! Why an item keeps its state, and what to do about it.

use urepo::promotion::PromotionError;

use super::{Explain, custody};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::shell;

impl Explain for PromotionError {
    fn explain(&self) -> Failure {
        match self {
            Self::Refused { name, refusal, .. } => custody::refused(self, refusal, name),
            Self::Collection(error) => error.explain(),
            Self::Disk(error) => error.explain(),
            Self::Damaged { name, path, .. } => Failure::of(Exit::Damage, self)
                .hint(super::verified_by(name, path))
                .about_damage(name, path),
            Self::NotLost { name, accepted_in } => {
                let failure = Failure::of(Exit::Conflict, self).about(name);
                let Some(root) = accepted_in else { return failure };
                let words = format!("recover --accept-loss {name}");
                failure.hint(format!("`{}`", shell::command(Some(&shell::word(root)), &words)))
            }
            Self::Open(error) => error.explain(),
            Self::Interrupted => Failure::of(Exit::Interrupted, self),
        }
    }
}
