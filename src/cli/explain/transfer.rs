//! Errors of transferring as failures.

use std::path::Path;

use urepo::collection::{CollectionError, Stopped};
use urepo::transfer::{StillOpen, TransferError};

use super::{Explain, custody};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::shell;

impl Explain for TransferError {
    fn explain(&self) -> Failure {
        match self {
            Self::Collection(error) => in_its_collection(error),
            Self::Disk(error) => error.explain(),
            Self::Refused { name, refusal, from, to } => {
                let mut failure = custody::refused(self, refusal, name);
                let excerpt =
                    format!("  source:      {}\n  destination: {}", from.display(), to.display());
                failure.excerpt = Some(excerpt.into());
                failure
            }
            Self::NotTransferable { .. } => Failure::of(Exit::Conflict, self)
                .hint("`urepo copy` makes a Copy there; the Original stays")
                .in_common("marked as not transferable"),
            Self::Open { name, giver, why } => {
                let failure = Failure::of(Exit::Conflict, self);
                failure.hint(way_out(giver, why)).about(name)
            }
            Self::NoRoom(error) => error.explain(),
            Self::Damaged { name, collection, .. } => Failure::of(Exit::Damage, self)
                .hint(super::verified_by(name, collection))
                .about_damage(name, collection),
            Self::NotProven { collection, .. } => Failure::of(Exit::Damage, self).hint(format!(
                "`urepo -c {} verify` says what else is damaged there",
                shell::word(collection)
            )),
            Self::Changed { .. } => Failure::of(Exit::Conflict, self).hint(super::REPEAT),
            Self::NotDurable { name, .. } => Failure::unconfirmed(self)
                .hint(format!("check the disk, then `urepo -c COLLECTION verify {name}` there")),
            Self::Unfinished { giver, .. } => Failure::of(Exit::Failure, self).hint(format!(
                "`urepo -c {} recover` finishes it, once both collections can be reached",
                shell::word(giver)
            )),
            Self::SameCollection(_) => {
                Failure::of(Exit::Conflict, self).hint("name another collection with `--to`")
            }
            Self::SameId { to, .. } => Failure::of(Exit::Conflict, self).hint(format!(
                "if `{0}` is to be a collection of its own, `urepo -c {0} recover --new-id`",
                shell::word(to)
            )),
            Self::GroupFailed => Failure::of(Exit::Failure, self).in_common(super::WITH_THE_GROUP),
            Self::Sidecar { .. } | Self::NoWriter(_) => Failure::of(Exit::Failure, self),
            Self::Interrupted => Failure::of(Exit::Interrupted, self),
        }
    }
}

/// The condition that an open migration waits for, where no row of the table has it.
fn way_out(giver: &Path, why: &StillOpen) -> String {
    match why {
        StillOpen::OutOfSight { .. } => "mount it, and repeat".to_owned(),
        StillOpen::Arrived { .. } | StillOpen::Lost { .. } => {
            format!("`urepo -c {} status` says what comes first", shell::word(giver))
        }
    }
}

/// The failure of an item in either collection, with a hint for that collection.
fn in_its_collection(error: &CollectionError) -> Failure {
    let failure = error.explain();
    match error {
        CollectionError::Vanished { line, path } => failure.hint(format!(
            "`urepo -c {} repair {} --from COLLECTION` brings it back from a collection that has it",
            shell::word(path),
            line.id
        )),
        CollectionError::Stopped(Stopped::Unconfirmed { name, .. }) => failure
            .hint(format!("check the disk, then `urepo -c COLLECTION verify {name}` there")),
        CollectionError::Displaced { path, .. } => {
            failure.hint(format!("`urepo -c {} recover` puts it back", shell::word(path)))
        }
        _ => failure,
    }
}
