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
            Self::NotLost { name } => Failure::of(Exit::Conflict, self).about(name),
            Self::LostElsewhere { name, root } => {
                let words = format!("recover --accept-loss {name}");
                let command = shell::command(Some(&shell::word(root)), &words);
                Failure::of(Exit::Conflict, self).hint(format!("`{command}`")).about(name)
            }
            Self::Open(error) => error.explain(),
            Self::Interrupted => Failure::of(Exit::Interrupted, self),
        }
    }
}
