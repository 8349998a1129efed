//! Errors of transferring as failures.

use std::path::Path;

use urepo::holdings::Giver;
use urepo::transfer::{Refusal, TransferError};

use super::Room;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::shell;

/// Number of levels of a name.
const LEVELS: usize = 4;

impl From<TransferError> for Failure {
    fn from(error: TransferError) -> Failure {
        match error {
            TransferError::Collection(error) => (*error).into(),
            TransferError::Disk(error) => error.into(),
            TransferError::Original(error) => error.into(),
            TransferError::Refused { refusal, .. } => refused(&error, refusal),
            TransferError::NoRoom { name, needed, unit, free, collection } => {
                Room { path: Path::new(name.as_str()), needed, unit, free, collection: &collection }
                    .lacking(Exit::Failure)
            }
            error => {
                let mut failure = Failure::of(exit_of(&error), &error);
                if matches!(error, TransferError::GroupFailed) {
                    failure = failure.in_common(super::WITH_THE_GROUP);
                }
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
        | TransferError::Returned { .. }
        | TransferError::NotDeleted { .. }
        | TransferError::SameCollection(_)
        | TransferError::SameId { .. } => Exit::Conflict,
        TransferError::Interrupted => Exit::Interrupted,
        _ => Exit::Failure,
    }
}

pub(in crate::cli) fn hint_for(error: &TransferError) -> Option<String> {
    Some(match error {
        TransferError::Damaged { name, collection, .. } => {
            format!(
                "`urepo -c {} repair {name}` mends it from a good copy",
                shell::word(collection)
            )
        }
        TransferError::NotProven { collection, .. } => {
            format!(
                "`urepo -c {} verify` tells what else is damaged there",
                shell::word(collection)
            )
        }
        TransferError::Returned { name, path } => format!(
            "`urepo whereis {name}` shows the other Original; `urepo -c {0} demote {name} --to-copy-of \
             COLLECTION` makes this one a Copy of it; to keep this one, demote the other, then `urepo -c {0} \
             copy {name} --to PATH`, where PATH is the collection that handed it over",
            shell::word(path)
        ),
        TransferError::NotDeleted { name, path, line } => {
            let path = shell::word(path);
            let undo = match line.state() {
                None => format!("remove its directory, `{path}/{name}`"),
                Some(_) => format!("`urepo -c {path} restore {name}`"),
            };
            format!(
                "if the tombstone was put back by hand, {undo}; if the item was deleted, `urepo -c {path} \
                 recover --inventory` records that"
            )
        }
        TransferError::Changed { .. } => "repeat the command".to_owned(),
        TransferError::NotDurable { name, .. } => {
            format!("check the disk, then `urepo verify {name}` there")
        }
        TransferError::Unfinished { .. } | TransferError::OtherReceiver { .. } => {
            "`urepo recover` finishes it, once both collections can be reached".to_owned()
        }
        TransferError::Journal { .. } => {
            "mend it by hand; `urepo status` lists the items that are in a hand-over".to_owned()
        }
        TransferError::SameCollection(_) => "name another collection with `--to`".to_owned(),
        TransferError::SameId { to, .. } => {
            format!(
                "if `{}` is to be a collection of its own, give it another `id` in its `urepo.toml`",
                shell::word(to)
            )
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
    failure.hint(hint_for_refusal(error, refusal))
}

fn hint_for_refusal(error: &TransferError, refusal: Refusal) -> String {
    let TransferError::Refused { name, from, to, giver, .. } = error else { return String::new() };
    let to = to.as_deref().map_or_else(|| "PATH".to_owned(), root_of);
    let from = root_of(from);
    match refusal {
        Refusal::SourceDeleted => format!("`urepo -c {from} show {name}` tells when and why"),
        Refusal::TwoOriginals => {
            format!("`urepo verify {from} {to}` tells whether they are the same")
        }
        Refusal::Tombstone => "repeat with `--revive` to bring it back there".to_owned(),
        Refusal::DeletedElsewhere => {
            format!(
                "`urepo -c {to} show {name}` names that collection; `urepo restore {name}` there"
            )
        }
        Refusal::Stale => "repeat with `--refresh` to bring it up to date".to_owned(),
        Refusal::OnlyFromOriginal => {
            format!("`urepo -c {to} refresh {name} --from PATH`, where its Original is")
        }
        Refusal::OtherContent => {
            format!("`urepo verify {from} {to}` tells which of them is not as it was")
        }
        Refusal::OtherOriginal => {
            format!(
                "`urepo -c {to} whereis {name}` tells what there is; delete the Copy, then copy"
            )
        }
        Refusal::Unburied => format!("`urepo -c {to} delete {name}` moves them to the trash"),
        Refusal::HoldsOriginal => {
            format!("`urepo -c {from} delete {name} --with {to}` removes the Copy here")
        }
        Refusal::NotTransferable => {
            "`urepo copy` makes a Copy there; the Original stays".to_owned()
        }
        Refusal::HandoverPending => match giver.as_deref() {
            Some(giver) => finished_by(giver),
            None => format!("`urepo -c {from} recover` finishes it"),
        },
    }
}

/// Which run finishes a hand-over.
pub(super) fn finished_by(giver: &Giver) -> String {
    match giver {
        Giver::Id(id) => {
            format!("`urepo -c PATH recover` finishes it, where PATH is the collection `{id}`")
        }
        Giver::At(giver) => format!("`urepo -c {} recover` finishes it", shell::word(giver)),
    }
}

/// The root of the collection in which an item is at `path`, as it is typed.
fn root_of(path: &Path) -> String {
    shell::word(path.ancestors().nth(LEVELS).unwrap_or(path))
}
