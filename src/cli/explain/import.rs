//! Errors of imports as failures.

use urepo::import::{ImportError, MapError, RowFault};
use urepo::item::State;

use super::Explain;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::input::was_interrupted;
use crate::cli::shell;

impl Explain for ImportError {
    fn explain(&self) -> Failure {
        match self {
            Self::Deposit(error) => error.explain(),
            Self::Collection(error) => error.explain(),
            Self::Disk(error) => error.explain(),
            Self::Locked { .. } => Failure::of(Exit::Locked, self).hint(super::WHILE_LOCKED),
            Self::Row(row) => with_row_hint(Failure::of(Exit::Failure, self), &row.fault),
            Self::Bag { .. } => {
                Failure::of(Exit::Damage, self).hint("nothing of it was imported; fetch it again")
            }
            Self::NameExists { name } => {
                Failure::of(Exit::Conflict, self).hint(format!("`urepo show {name}` shows it"))
            }
            Self::Ledger { path, .. } => Failure::of(Exit::Failure, self).hint(format!(
                "`rm {}`: the next import makes it from the sidecars",
                shell::word(path)
            )),
            Self::NameAhead { .. } => Failure::of(Exit::Failure, self)
                .hint("leave `identifier` empty, and it gets a name of its own"),
            Self::RelationLost { .. } => Failure::of(Exit::Failure, self)
                .hint("mend that row and repeat: what is there stays, and is related"),
            Self::Relate(error) => error.explain(),
            Self::Amend(error) => error.explain(),
            Self::NotOriginal { name, state: State::Deleted } => Failure::of(Exit::Conflict, self)
                .hint(format!(
                    "leave its relations out of the manifest; `urepo show {name}` shows the removal"
                )),
            Self::NotOriginal { name, .. } => Failure::of(Exit::Conflict, self).hint(format!(
                "`urepo whereis {name}` shows where its Original is, which they belong to"
            )),
            Self::NotAList { .. } => {
                Failure::of(Exit::Failure, self).hint("`find … -print0` writes such a list")
            }
            Self::ArchiveDirectory { .. } => {
                Failure::of(Exit::Failure, self).hint("choose a directory beside it")
            }
            Self::Read { source, .. } if was_interrupted(source) => {
                Failure::of(Exit::Interrupted, self)
            }
            Self::Read { .. } | Self::NotRemoved { .. } => Failure::of(Exit::Failure, self),
        }
    }
}

fn with_row_hint(failure: Failure, fault: &RowFault) -> Failure {
    match fault {
        RowFault::UnknownColumn(name) if name.starts_with("relation") => failure.hint(format!(
            "`--map {}` keeps it as a relation of your own; the kinds are next_edition, previous_edition, \
             translation.TAG, translation_of, metadata, metadata_of and part_of",
            shell::word(format!("{name}=relation.x.KEY")),
        )),
        RowFault::UnknownColumn(name) => failure.hint(format!(
            "`--map {}` keeps it under a key of your own, `--map {}` leaves it out",
            shell::word(format!("{name}=x.KEY")),
            shell::word(format!("{name}=-"))
        )),
        RowFault::Relation(_) => failure.hint("write each relation once, in one row"),
        RowFault::NoColumn("path") => {
            failure.hint("`--map COLUMN=path` says which column holds the path")
        }
        RowFault::Outside(_) => {
            failure.hint("`--root DIR` says what paths are beneath, also those that begin with it")
        }
        RowFault::NotUtf8 => failure.hint("save it as UTF-8"),
        RowFault::TooLong
        | RowFault::OpenQuote
        | RowFault::CarriageReturn
        | RowFault::Values { .. }
        | RowFault::Syntax(_)
        | RowFault::NoColumn(_)
        | RowFault::GivenTwice(_)
        | RowFault::NoPath
        | RowFault::Twice { .. }
        | RowFault::Formula(_)
        | RowFault::Kind(_)
        | RowFault::Term(_)
        | RowFault::Condition(_)
        | RowFault::Identifier(_)
        | RowFault::Digest(_) => failure,
    }
}

impl Explain for MapError {
    fn explain(&self) -> Failure {
        Failure::of(Exit::Usage, self)
            .hint("write `--map Author=creator`, `--map Box=x.box`, or `--map Notes=-`")
    }
}
