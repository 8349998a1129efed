//! Why a document corrects no descriptions, and what to do about it.

use urepo::correction::{CorrectionError, UndoError};
use urepo::import::described::DescribedError;

use super::Explain;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

impl Explain for DescribedError {
    fn explain(&self) -> Failure {
        match self {
            Self::Table(error) => error.explain(),
            Self::Correction(error) => error.explain(),
            Self::NoItem => Failure::of(Exit::Failure, self)
                .hint("name the item by its identifier; `urepo show --as csv` writes it"),
            Self::Twice { .. } => Failure::of(Exit::Failure, self)
                .hint("put all that changes in an item into one row"),
            Self::NoSource(_) | Self::SeveralItems { .. } => Failure::of(Exit::Conflict, self)
                .hint("name the item by its identifier, in a column `identifier`"),
        }
    }
}

impl Explain for UndoError {
    fn explain(&self) -> Failure {
        match self {
            Self::Nothing { name } | Self::ChangedSince { name, .. } => {
                Failure::of(Exit::Conflict, self)
                    .hint(format!("`urepo log {name}` shows every change, with its values"))
            }
            Self::ValueLost { name, .. } => Failure::of(Exit::Failure, self)
                .hint(format!("`urepo meta edit {name}` changes it in an editor")),
        }
    }
}

impl Explain for CorrectionError {
    fn explain(&self) -> Failure {
        match self {
            Self::Amend(error) => error.explain(),
            Self::Relate(error) => error.explain(),
            Self::Collection(error) => error.explain(),
            Self::Contradicted { .. } => Failure::of(Exit::Conflict, self)
                .hint("change both rows, or leave the column of one of them empty"),
        }
    }
}
