//! Why an item is not exported, and what to do about it.

use urepo::export::ExportError;

use super::Explain;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

impl Explain for ExportError {
    fn explain(&self) -> Failure {
        match self {
            Self::Collection(error) => error.explain(),
            Self::Disk(error) => error.explain(),
            Self::Stream(error) => {
                Failure::new(Exit::Failure, "cannot write to stdout").caused_by(error.to_string())
            }
            Self::NoRoom(error) => error.explain(),
            Self::Interrupted => Failure::of(Exit::Interrupted, self),
            Self::GroupFailed => Failure::of(Exit::Failure, self),
            Self::Deleted { name } => Failure::of(Exit::Deleted, self)
                .hint(format!("`urepo restore {name}` brings it back until it is purged")),
            Self::Elsewhere { name, .. } => Failure::of(Exit::NoItem, self).elsewhere(name),
            Self::Damaged { name, collection, .. } => Failure::of(Exit::Damage, self)
                .hint(super::verified_by(name, collection))
                .about_damage(name, collection),
            Self::Changed { .. } => Failure::of(Exit::Conflict, self).hint(super::REPEAT),
            Self::Exists { .. } => Failure::of(Exit::Conflict, self)
                .hint("nothing is replaced; remove it, or name another directory with `--to`"),
            Self::SameName { name, .. } => Failure::of(Exit::Conflict, self)
                .hint(format!("export {name} without `--name source`: its identifier names it")),
            Self::Link { .. } => Failure::of(Exit::Failure, self).hint(
                "`--links follow` puts the files that links lead to in their place, `--links skip` \
                 leaves links out; tar keeps them",
            ),
            Self::LinkAstray { .. } => Failure::of(Exit::Failure, self)
                .hint("`--links skip` leaves links out; tar keeps them"),
            Self::NotUtf8 { .. } => {
                Failure::of(Exit::Failure, self).hint("`--format tar` keeps any name")
            }
            Self::NotDurable { .. } => {
                Failure::unconfirmed(self).hint("check the disk, and export it again")
            }
        }
    }
}
