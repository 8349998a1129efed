//! Errors of imports as failures.

use urepo::import::{ImportError, MapError, RowFault};
use urepo::item::State;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::input::was_interrupted;
use crate::cli::shell;

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Failure {
        let exit = match &error {
            ImportError::Deposit(_) | ImportError::Collection(_) | ImportError::Disk(_) => {
                return match error {
                    ImportError::Deposit(error) => (*error).into(),
                    ImportError::Collection(error) => (*error).into(),
                    ImportError::Disk(error) => error.into(),
                    error => Failure::of(Exit::Failure, &error),
                };
            }
            ImportError::Locked { .. } => Exit::Locked,
            ImportError::NameExists { .. } | ImportError::NotOriginal { .. } => Exit::Conflict,
            ImportError::Bag { .. } => Exit::Damage,
            ImportError::Read { source, .. } if was_interrupted(source) => Exit::Interrupted,
            _ => Exit::Failure,
        };
        let failure = Failure::of(exit, &error);
        match hint_for(&error) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

fn hint_for(error: &ImportError) -> Option<String> {
    Some(match error {
        ImportError::Locked { .. } => {
            "repeat with `--lock-wait 5m`; the lock ends with that process".to_owned()
        }
        ImportError::Row(row) => return hint_for_row(&row.fault),
        ImportError::Bag { .. } => "nothing of it was imported; fetch it again".to_owned(),
        ImportError::NameExists { name } => {
            format!("`urepo show {name}` shows it")
        }
        ImportError::Ledger { path, .. } => {
            format!("`rm {}`: the next import makes it from the sidecars", shell::word(path))
        }
        ImportError::NameAhead { .. } => {
            "leave `identifier` empty, and it gets a name of its own".to_owned()
        }
        ImportError::RelationLost { .. } => {
            "mend that row and repeat: what is there stays, and is related".to_owned()
        }
        ImportError::NotOriginal { name, state: State::Deleted } => {
            format!(
                "leave its relations out of the manifest; `urepo show {name}` shows the removal"
            )
        }
        ImportError::NotOriginal { name, .. } => {
            format!("`urepo whereis {name}` shows where its Original is, which they belong to")
        }
        ImportError::NotAList { .. } => "`find … -print0` writes such a list".to_owned(),
        ImportError::ArchiveDirectory { .. } => "choose a directory beside it".to_owned(),
        _ => return None,
    })
}

fn hint_for_row(fault: &RowFault) -> Option<String> {
    Some(match fault {
        RowFault::UnknownColumn(name) => format!(
            "`--map {}` keeps it under a key of your own, `--map {}` leaves it out",
            shell::word(format!("{name}=x.KEY")),
            shell::word(format!("{name}=-"))
        ),
        RowFault::NoColumn("path") => {
            "`--map COLUMN=path` says which column holds the path".to_owned()
        }
        RowFault::Outside(_) => {
            "`--root DIR` says what paths are beneath, also those that begin with it".to_owned()
        }
        RowFault::NotUtf8 => "save it as UTF-8".to_owned(),
        _ => return None,
    })
}

impl From<MapError> for Failure {
    fn from(error: MapError) -> Failure {
        Failure::of(Exit::Usage, &error)
            .hint("write `--map Author=creator`, `--map Box=x.box`, or `--map Notes=-`")
    }
}
