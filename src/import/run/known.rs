//! Finding items with the same content, after a source has been read.

use super::{RunState, lock};
use crate::deposit::{DepositError, Duplicate, DuplicateIndex};
use crate::digest::Digest;
use crate::disk::PathError;
use crate::import::sources::{Imported, ItemPresence};
use crate::import::{Dedupe, ImportError, KnownSources};

impl DuplicateIndex for RunState<'_, '_, '_> {
    /// A source that was touched but has the same content is still the same item. With [`Dedupe::Content`]
    /// the content alone decides.
    fn holding(&self, number: usize, content: &Digest) -> Result<Duplicate, DepositError> {
        let mut under_way = lock(&self.under_way);
        let Some(begun) = under_way.begun.get(&number) else { return Ok(Duplicate::None) };
        // An item with a given name is never a duplicate.
        if self.dedupe == Dedupe::None || begun.is_named {
            return Ok(Duplicate::None);
        }
        let known: &mut KnownSources<'_> = &mut lock(&self.known);
        let imported = match self.dedupe {
            Dedupe::Content => known.of_content(content),
            Dedupe::Source | Dedupe::None => {
                known.of_source(&begun.key, &|entry| entry.content == *content)
            }
        };
        if let Some(Imported { entry, standing, .. }) = imported.map_err(into_deposit)? {
            return match standing {
                ItemPresence::Here => Ok(Duplicate::Item(entry.name)),
                ItemPresence::Deleted => Err(DepositError::DeletedHere { name: entry.name }),
                ItemPresence::Left(line) => Ok(Duplicate::Left(line)),
                ItemPresence::Vanished(error) => Err((*error).into()),
            };
        }
        if self.dedupe == Dedupe::Content {
            let first = *under_way.contents.entry(*content).or_insert(number);
            if first != number {
                return Ok(Duplicate::Request(first));
            }
        }
        Ok(Duplicate::None)
    }
}

fn into_deposit(error: ImportError) -> DepositError {
    match error {
        ImportError::Deposit(error) => *error,
        ImportError::Collection(error) => (*error).into(),
        ImportError::Disk(error) => error.into(),
        error => {
            let cause = std::io::Error::other(error.to_string());
            PathError::new("read", ".urepo/ledger", cause).into()
        }
    }
}
