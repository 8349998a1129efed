//! Finding items with the same content, after a source has been read.

use super::{Begun, InFlight, RunState, lock};
use crate::deposit::{DepositError, Duplicate, DuplicateIndex};
use crate::digest::Digest;
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::import::ImportError;
use crate::import::sources::{Imported, ItemPresence};

impl DuplicateIndex for RunState<'_, '_, '_> {
    /// A source that was touched but has the same content is still the same item. Where the same content is
    /// skipped, the content alone decides.
    fn holding(&self, number: usize, content: &Digest) -> Result<Duplicate, DepositError> {
        let mut under_way = lock(&self.under_way);
        let InFlight { begun, contents, .. } = &mut *under_way;
        let Some(begun) = begun.get(&number) else { return Ok(Duplicate::None) };
        let overtaken = || match self.made_since(begun).map_err(into_deposit)? {
            Some(_) => Err(DepositError::Overtaken),
            None => Ok(Duplicate::None),
        };
        // An item with a given name is never a duplicate.
        if begun.name.is_some() {
            return overtaken();
        }
        let imported = if self.skips_same {
            lock(&self.known).of_content(content)
        } else {
            lock(&self.known).of_source(&begun.key, &|entry| entry.content == *content)
        };
        if let Some(Imported { entry, standing, .. }) = imported.map_err(into_deposit)? {
            return match standing {
                ItemPresence::Here => Ok(Duplicate::Item(entry.name)),
                ItemPresence::Deleted => Err(DepositError::DeletedHere { name: entry.name }),
                ItemPresence::Left(line) => Ok(Duplicate::Left(line)),
                ItemPresence::Vanished(error) => Err((*error).into()),
            };
        }
        if self.skips_same {
            let first = *contents.entry(*content).or_insert(number);
            if first != number {
                return Ok(Duplicate::Request(first));
            }
        }
        overtaken()
    }

    fn follow(&self) -> Result<(), DepositError> {
        lock(&self.known).follow().map_err(into_deposit)
    }
}

impl RunState<'_, '_, '_> {
    /// The item that another import has made of a source since it was planned here.
    ///
    /// It counts whatever it contains: that import may be removing the source, of which this one then saw the rest. A source
    /// that was changed in between is another one for the next run.
    pub(super) fn made_since(&self, begun: &Begun) -> Result<Option<RepositoryName>, ImportError> {
        let Begun { key, name, since, .. } = begun;
        let fits = |it: &RepositoryName| name.as_ref().is_none_or(|name| name == it);
        lock(&self.known).made_since(*since, key, fits)
    }
}

fn into_deposit(error: ImportError) -> DepositError {
    match error {
        ImportError::Deposit(error) => *error,
        ImportError::Collection(error) => (*error).into(),
        ImportError::Disk(error) => error.into(),
        error => PathError::new("read", ".urepo/ledger", std::io::Error::other(error)).into(),
    }
}
