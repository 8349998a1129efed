//! Making an index anew, beside the one that is there, and putting it in its place.

use std::path::Path;

use super::refresh::Refresh;
use super::{Catalog, CatalogError, Look, Means};
use crate::disk::{Lock, LockError, LockMode};
use crate::index::{Index, IndexError};
use crate::layout;

/// What the database makes beside its file.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

impl Catalog<'_> {
    /// Makes the index anew from the sidecars.
    ///
    /// It is not seen before it is whole. What is changed meanwhile is told to the old index, or to
    /// none: so at the end every sidecar is looked at again.
    ///
    /// With [`Look::Anew`] in any case; or else only if nobody else has made it while this waited.
    pub(super) fn make(&mut self, look: Look, means: &Means<'_>) -> Result<(), CatalogError> {
        let own = self.collection.ensure_own()?;
        let new = format!("{}.new", layout::INDEX);
        let holder = means.agent.holder(means.clock);
        let mode = LockMode::Exclusive;
        let making = Lock::take(own, layout::INDEX_MAKING, mode, &holder, &means.waiter());
        let _making = making.map_err(|error| match error {
            LockError::Disk(error) => CatalogError::Disk(error),
            LockError::Interrupted { .. } => CatalogError::Interrupted,
            held @ LockError::Held { .. } => CatalogError::BeingMade(held),
        })?;
        if look != Look::Anew && matches!(self.refresh(look, means), Ok(Some(()))) {
            return Ok(());
        }
        for ending in [&[""], &BESIDE[..]].concat() {
            own.remove_file_if_there(Path::new(&format!("{new}{ending}")))?;
        }
        let path = self.collection.index_path()?.with_file_name(&new);
        // As open to others as what is beside it: the database itself would make it for its owner only.
        drop(own.create_file(&new)?);
        let mut index = Index::create(Some(&path), self.collection.id())?;
        if let Some(stamp) = own.stamp(&new)? {
            index.is_made_as(self.collection.index_inode(&stamp)?)?;
        }
        self.fill(&mut index, means)?;
        drop(index);
        own.open_file(&new)?.sync()?;
        self.put_in_place(&path, &new, means)?;
        self.news.made = true;
        let read = self.news.read;
        self.refresh(Look::Full, means)?.ok_or(CatalogError::Gone)?;
        // What was read twice is no more for that.
        self.news.read = read;
        Ok(())
    }

    /// Makes an index for one use.
    pub(super) fn make_temporary(&mut self, means: &Means<'_>) -> Result<(), CatalogError> {
        let mut index = Index::create(None, self.collection.id())?;
        self.fill(&mut index, means)?;
        self.temporary = Some(index);
        self.news.temporary = true;
        Ok(())
    }

    fn fill(&mut self, index: &mut Index, means: &Means<'_>) -> Result<(), CatalogError> {
        let (collection, news) = (self.collection, &mut self.news);
        Refresh::new(collection, means, news).bring_up(index, Look::Quick)
    }

    /// Puts the new index in place of the old one, which nobody uses meanwhile.
    fn put_in_place(&self, path: &Path, new: &str, means: &Means<'_>) -> Result<(), CatalogError> {
        let own = self.collection.ensure_own()?;
        let (mode, holder) = (LockMode::Exclusive, means.agent.holder(means.clock));
        let _lock = Lock::take(own, layout::INDEX_LOCK, mode, &holder, &means.waiter())
            .map_err(IndexError::from)?;
        let announced = self.collection.announced_in_index();
        if !announced.is_empty() {
            let mut index = Index::reopen(path)?;
            index.write::<_, IndexError>(|tables| {
                announced.iter().try_for_each(|(name, writer)| tables.announce(name, writer))
            })?;
        }
        // A log of the old one must never be taken for one of the new, nor the old one be left
        // without it: whoever is killed here leaves none.
        for ending in [&[""], &BESIDE[..]].concat() {
            own.remove_file_if_there(Path::new(&format!("{}{ending}", layout::INDEX)))?;
        }
        own.replace_with(new, layout::INDEX)?;
        // Only one can begin the log, and this is the only one yet.
        Ok(self.collection.begin_index()?)
    }
}
