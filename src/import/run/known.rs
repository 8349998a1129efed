//! What the collection has already, known only when a source has been read.

use super::{Shared, lock};
use crate::deposit::{DepositError, Holding, Known};
use crate::digest::Digest;
use crate::disk::PathError;
use crate::import::ledger::{Imported, Kind, Standing};
use crate::import::{Dedupe, ImportError, Ledger};

impl Known for Shared<'_, '_, '_> {
    /// A source that was touched but has the content it had is the item that it was. With
    /// [`Dedupe::Content`] the content alone decides.
    fn holding(&self, number: usize, content: &Digest) -> Result<Holding, DepositError> {
        let mut under_way = lock(&self.under_way);
        let Some(begun) = under_way.begun.get(&number) else { return Ok(Holding::None) };
        // What has a name keeps it, whatever else is the same.
        if self.dedupe == Dedupe::None || begun.kind == Kind::Kept {
            return Ok(Holding::None);
        }
        let ledger: &mut Ledger<'_> = &mut lock(&self.ledger);
        let imported = match self.dedupe {
            Dedupe::Content => ledger.of_content(content),
            Dedupe::Source | Dedupe::None => {
                ledger.of_source(&begun.key, &|entry| entry.content == *content)
            }
        };
        if let Some(Imported { entry, standing }) = imported.map_err(into_deposit)? {
            return match standing {
                Standing::Here => Ok(Holding::Item(entry.name)),
                Standing::Left(line) => Ok(Holding::Left(line)),
                Standing::Vanished(error) => Err((*error).into()),
            };
        }
        if self.dedupe == Dedupe::Content {
            let first = *under_way.contents.entry(*content).or_insert(number);
            if first != number {
                return Ok(Holding::Request(first));
            }
        }
        Ok(Holding::None)
    }
}

fn into_deposit(error: ImportError) -> DepositError {
    match error {
        ImportError::Deposit(error) => *error,
        ImportError::Collection(error) => (*error).into(),
        ImportError::Disk(error) => error.into(),
        error => {
            let cause = std::io::Error::other(error.to_string());
            PathError::new("read", Ledger::path(), cause).into()
        }
    }
}
