//! Errors of transferring as failures.

use std::path::Path;

use urepo::transfer::{Refusal, TransferError};

use super::Room;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

impl From<TransferError> for Failure {
    fn from(error: TransferError) -> Failure {
        match error {
            TransferError::Collection(error) => error.into(),
            TransferError::Disk(error) => error.into(),
            TransferError::Refused { refusal, .. } => refused(&error, refusal),
            TransferError::NoRoom { name, needed, unit, free, collection } => {
                Room { path: Path::new(name.as_str()), needed, unit, free, collection: &collection }
                    .lacking(Exit::Failure)
            }
            error => {
                let failure = Failure::of(exit_of(&error), &error);
                match hint_for(&error) {
                    Some(hint) => failure.hint(hint),
                    None => failure,
                }
            }
        }
    }
}

fn exit_of(error: &TransferError) -> Exit {
    match error {
        TransferError::Damaged { .. } | TransferError::NotProven { .. } => Exit::Damage,
        TransferError::Changed { .. }
        | TransferError::SameCollection(_)
        | TransferError::SameId { .. } => Exit::Conflict,
        TransferError::Interrupted => Exit::Interrupted,
        _ => Exit::Failure,
    }
}

fn hint_for(error: &TransferError) -> Option<String> {
    Some(match error {
        TransferError::Damaged { name, collection, .. } => {
            format!("`urepo -c {} repair {name}` mends it from a good copy", collection.display())
        }
        TransferError::NotProven { .. } => {
            "`urepo verify` the destination, and check its disk".to_owned()
        }
        TransferError::Changed { .. } => "repeat the command".to_owned(),
        TransferError::NotDurable { name, .. } => {
            format!("check the disk, then `urepo verify {name}` there")
        }
        TransferError::Unfinished { .. } | TransferError::Journal { .. } => {
            "`urepo recover` finishes hand-overs, once both collections can be reached".to_owned()
        }
        TransferError::SameCollection(_) => "name another collection with `--to`".to_owned(),
        TransferError::SameId { to, .. } => {
            format!("if `{}` is to be a collection of its own, give it another `id`", to.display())
        }
        _ => return None,
    })
}

fn refused(error: &TransferError, refusal: Refusal) -> Failure {
    let exit = match refusal {
        Refusal::SourceDeleted => Exit::Deleted,
        _ => Exit::Conflict,
    };
    let mut failure = Failure::of(exit, error);
    if let TransferError::Refused { from, to: Some(to), .. } = error {
        failure.excerpt =
            Some(format!("  source:      {}\n  destination: {}", from.display(), to.display()));
    }
    let hint = match refusal {
        Refusal::SourceDeleted => "`urepo show` tells when and why",
        Refusal::TwoOriginals => {
            "find out which one is true; `urepo delete` makes the other one a tombstone"
        }
        Refusal::Tombstone => "`--revive` brings it back there",
        Refusal::Stale => "`--refresh` brings it up to date",
        Refusal::OnlyFromOriginal => "`urepo refresh` there, from the collection of the Original",
        Refusal::OtherContent => "`urepo verify` both collections: one of them was changed by hand",
        Refusal::OtherOriginal => {
            "`urepo verify` over all collections; then `urepo delete` the Copy there, and copy"
        }
        Refusal::Unburied => "`urepo recover` there moves them to the trash",
        Refusal::HoldsOriginal => "`urepo delete` removes the Copy here",
        Refusal::NotTransferable => {
            "`transferable = true` in its sidecar allows it; copy works always"
        }
        Refusal::HandoverPending => "`urepo recover` finishes it",
    };
    failure.hint(hint)
}
