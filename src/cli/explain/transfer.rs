//! Errors of transferring as failures.

use std::path::Path;

use urepo::collection::{CollectionError, InventoryLine};
use urepo::holdings::Giver;
use urepo::identity::RepositoryName;
use urepo::transfer::{Refusal, TransferError};

use super::Explain;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::shell;

/// Number of levels of a name.
const LEVELS: usize = 4;

impl Explain for TransferError {
    fn explain(&self) -> Failure {
        match self {
            Self::Collection(error) => in_its_collection(error),
            Self::Disk(error) => error.explain(),
            Self::Original(error) => error.explain(),
            Self::Refused { name, refusal, from, to, giver } => {
                let exit = match refusal {
                    Refusal::SourceDeleted => Exit::Deleted,
                    _ => Exit::Conflict,
                };
                let mut failure = Failure::of(exit, self);
                failure.excerpt = to.as_ref().map(|to| {
                    format!("  source:      {}\n  destination: {}", from.display(), to.display())
                });
                let to = to.as_deref().map_or_else(|| "PATH".to_owned(), root_of);
                let hint = hint_for_refusal(*refusal, name, &root_of(from), &to, giver.as_deref());
                failure.hint(hint).in_common(common(*refusal))
            }
            Self::NoRoom(error) => error.explain(),
            Self::Damaged { name, collection, .. } => {
                Failure::of(Exit::Damage, self).hint(super::mended_by(name, collection))
            }
            Self::ReceivedDamaged { name, from, to, .. } => {
                Failure::of(Exit::Damage, self).hint(format!(
                    "the files in `{0}` stay: `urepo -c {1} repair {name} --from {0}`, then `urepo -c {0} recover`",
                    shell::word(from),
                    shell::word(to)
                ))
            }
            Self::GivenDamaged { name, from, to, .. } => {
                Failure::of(Exit::Damage, self).hint(format!(
                    "`urepo -c {0} repair {name} --from {1}`, then `urepo -c {0} recover`",
                    shell::word(from),
                    shell::word(to)
                ))
            }
            Self::ReceivedVanished { name, from, to } => {
                Failure::of(Exit::Damage, self).hint(format!(
                    "`urepo -c {1} repair {name} --from {0}` brings it back there, or `urepo -c {1} recover --inventory` \
                     gives it up there; then `urepo -c {0} recover` ends the hand-over",
                    shell::word(from),
                    shell::word(to)
                ))
            }
            Self::NotProven { collection, .. } => Failure::of(Exit::Damage, self).hint(format!(
                "`urepo -c {} verify` says what else is damaged there",
                shell::word(collection)
            )),
            Self::Returned { name, path } => Failure::of(Exit::Conflict, self).hint(format!(
                "`urepo whereis {name}` shows the other Original; `urepo -c {0} demote {name} --to-copy-of \
                 COLLECTION` makes this one a Copy of it; to keep this one, demote the other, then `urepo -c {0} \
                 copy {name} --to PATH`, where PATH is the collection that handed it over",
                shell::word(path)
            )),
            Self::PassedOn { name, from, .. } => Failure::of(Exit::Conflict, self).hint(format!(
                "`urepo whereis {name}` shows the Original; `urepo -c {0} demote {name} --to-copy-of COLLECTION` makes \
                 this one a Copy of it; if it was deleted since, `urepo -c {0} delete {name}`",
                shell::word(from)
            )),
            Self::NotDeleted { name, path, line } => {
                Failure::of(Exit::Conflict, self).hint(settled_by(name, path, line))
            }
            Self::Undone { name, path, original } => {
                Failure::of(Exit::Conflict, self).hint(format!(
                    "its deletion was undone: `urepo -c {} copy {name} --revive --to {}` makes a Copy of the tombstone",
                    shell::word(original),
                    shell::word(path)
                ))
            }
            Self::Changed { .. } => Failure::of(Exit::Conflict, self).hint(super::REPEAT),
            Self::NotDurable { name, .. } => Failure::of(Exit::Failure, self)
                .hint(format!("check the disk, then `urepo -c COLLECTION verify {name}` there")),
            Self::Unfinished { .. } | Self::OtherReceiver { .. } => {
                Failure::of(Exit::Failure, self)
                    .hint("`urepo recover` finishes it, once both collections can be reached")
            }
            Self::OtherSideUnknown { name, path, party } => {
                Failure::of(Exit::Failure, self).hint(format!(
                    "`urepo -c {0} recover --inventory --with COLLECTION` names it; if it is lost permanently, `urepo -c \
                     {0} promote {name} --lost {1} --reason TEXT`",
                    shell::word(path),
                    party.id()
                ))
            }
            Self::Journal { .. } => Failure::of(Exit::Failure, self)
                .hint("repair it by hand; `urepo status` lists the items that are in a hand-over"),
            Self::SameCollection(_) => {
                Failure::of(Exit::Conflict, self).hint("name another collection with `--to`")
            }
            Self::SameId { to, .. } => Failure::of(Exit::Conflict, self).hint(format!(
                "if `{}` is to be a collection of its own, give it another `id` in its `urepo.toml`",
                shell::word(to)
            )),
            Self::GroupFailed => Failure::of(Exit::Failure, self).in_common(super::WITH_THE_GROUP),
            Self::Sidecar { .. } | Self::NoWriter(_) => Failure::of(Exit::Failure, self),
            Self::Interrupted => Failure::of(Exit::Interrupted, self),
        }
    }
}

/// The failure of an item in either collection, with a hint for that collection.
fn in_its_collection(error: &CollectionError) -> Failure {
    let failure = error.explain();
    match error {
        CollectionError::Vanished { recorded, path } => failure.hint(format!(
            "`urepo -c {} repair {} --from COLLECTION` brings it back from a collection that has it",
            shell::word(path),
            recorded.line.name
        )),
        CollectionError::Displaced { path, .. } => {
            failure.hint(format!("`urepo -c {} recover` puts it back", shell::word(path)))
        }
        _ => failure,
    }
}

/// The commands for a tombstone that the inventory line `line` contradicts.
fn settled_by(name: &RepositoryName, path: &Path, line: &InventoryLine) -> String {
    let path = shell::word(path);
    let undo = match line.state() {
        None => format!("remove its directory, `{path}/{name}`"),
        Some(_) => format!("`urepo -c {path} restore {name}`"),
    };
    format!(
        "if the tombstone was put back by hand, {undo}; if the item was deleted, `urepo -c {path} recover --inventory` \
         records that"
    )
}

/// The words for many items of one `refusal`.
fn common(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::SourceDeleted => "deleted at the source",
        Refusal::TwoOriginals => "with two Originals",
        Refusal::Tombstone | Refusal::Unburied => "deleted at the destination",
        Refusal::DeletedElsewhere => "deleted elsewhere",
        Refusal::Stale | Refusal::OnlyFromOriginal => "older at the destination",
        Refusal::OtherContent => "with other content at the destination",
        Refusal::OtherOriginal => "perhaps made of another Original",
        Refusal::HoldsOriginal => "with the Original at the destination",
        Refusal::NotTransferable => "marked as not transferable",
        Refusal::HandoverPending => "in an unfinished hand-over",
    }
}

/// What to do about `refusal` of the item `name`, between the roots `from` and `to`.
fn hint_for_refusal(
    refusal: Refusal,
    name: &RepositoryName,
    from: &str,
    to: &str,
    giver: Option<&Giver>,
) -> String {
    match refusal {
        Refusal::SourceDeleted => format!("`urepo -c {from} show {name}` says when and why"),
        Refusal::TwoOriginals => {
            format!("`urepo verify {from} {to}` says whether they are the same")
        }
        Refusal::Tombstone => "repeat with `--revive` to bring it back there".to_owned(),
        Refusal::DeletedElsewhere => {
            format!(
                "`urepo -c {to} show {name}` names that collection; `urepo -c COLLECTION restore {name}` brings it \
                 back there"
            )
        }
        Refusal::Stale => "repeat with `--refresh` to bring it up to date".to_owned(),
        Refusal::OnlyFromOriginal => {
            format!("`urepo -c {to} refresh {name} --from PATH`, where its Original is")
        }
        Refusal::OtherContent => {
            format!("`urepo verify {from} {to}` says which of them is not as it was")
        }
        Refusal::OtherOriginal => {
            format!(
                "`urepo -c {to} refresh {name} --from {from} --from PATH` asks the collection that it was \
                 copied from; or delete the Copy, then copy"
            )
        }
        Refusal::Unburied => format!("`urepo -c {to} delete {name}` moves them to the trash"),
        Refusal::HoldsOriginal => {
            format!("`urepo -c {from} delete {name} --with {to}` removes the Copy here")
        }
        Refusal::NotTransferable => {
            "`urepo copy` makes a Copy there; the Original stays".to_owned()
        }
        Refusal::HandoverPending => match giver {
            Some(giver) => finished_by(giver),
            None => finished_here(Some(from)),
        },
    }
}

/// The run that finishes a hand-over. A giver that was restored from a backup may have no record of it.
pub(super) fn finished_by(giver: &Giver) -> String {
    match giver {
        Giver::At(giver) => finished_here(Some(&shell::word(giver))),
        Giver::Of { id, root, receiver } => {
            finished_from(id, root.as_deref(), Some(&shell::word(receiver)))
        }
    }
}

/// The same for a mark in the giver that is typed so, or else in the collection in use.
pub(super) fn finished_here(giver: Option<&str>) -> String {
    let finished = match giver {
        Some(giver) => format!("`urepo -c {giver} recover` finishes it"),
        None => "`urepo recover` finishes it".to_owned(),
    };
    finished + &ended(giver)
}

/// The run that ends a hand-over without a record, in the collection of the mark.
fn ended(marked: Option<&str>) -> String {
    let ended = match marked {
        Some(path) => format!("`urepo -c {path} recover --inventory` ends it"),
        None => "`urepo recover --inventory` ends it".to_owned(),
    };
    format!("; if there is nothing to finish, {ended}")
}

/// The same for a mark from the collection `id`, in the receiver that is typed so, or else in the collection in use.
pub(super) fn finished_from(id: &str, root: Option<&Path>, receiver: Option<&str>) -> String {
    let finished = match root {
        Some(root) => format!("`urepo -c {} recover` finishes it", shell::word(root)),
        None => format!("`urepo -c PATH recover` finishes it, where PATH is the collection `{id}`"),
    };
    finished + &ended(receiver)
}

/// The root of the collection with an item at `path`, in typed form.
fn root_of(path: &Path) -> String {
    shell::word(path.ancestors().nth(LEVELS).unwrap_or(path))
}
