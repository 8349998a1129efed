//! Building an index beside the existing one, then replacing the old one.

use std::path::Path;

use super::refresh::Refresh;
use super::{Catalog, CatalogError, RefreshContext, RefreshDepth};
use crate::disk::{Lock, LockError, LockMode};
use crate::index::{Index, IndexError};
use crate::layout;

/// The endings of the files that `SQLite` keeps beside the database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

impl Catalog<'_> {
    /// Builds the index from the sidecars.
    ///
    /// The new index is published when it is complete. Changes made meanwhile are logged in the old index,
    /// or nowhere: so at the end every sidecar is compared.
    ///
    /// Unless `depth` is [`RefreshDepth::Rebuild`], nothing is built if another process did so meanwhile.
    pub(super) fn build(
        &mut self,
        depth: RefreshDepth,
        context: &RefreshContext<'_>,
    ) -> Result<(), CatalogError> {
        let own = self.collection.ensure_own()?;
        let new = format!("{}.new", layout::INDEX);
        let holder = context.caller.agent.holder(context.caller.clock);
        let mode = LockMode::Exclusive;
        let lock = Lock::take(own, layout::INDEX_MAKING, mode, &holder, &context.caller.waiter());
        let _lock = lock.map_err(|error| match error {
            LockError::Disk(error) => CatalogError::Disk(error),
            LockError::Interrupted { .. } => CatalogError::Interrupted,
            held @ LockError::Held { .. } => CatalogError::BeingBuilt(held),
        })?;
        if depth != RefreshDepth::Rebuild && matches!(self.refresh(depth, context), Ok(Some(()))) {
            return Ok(());
        }
        for ending in [&[""], &BESIDE[..]].concat() {
            own.remove_file_if_there(Path::new(&format!("{new}{ending}")))?;
        }
        let path = self.collection.index_path()?.with_file_name(&new);
        // `SQLite` would create it for its owner only; this way the group of a shared collection has access.
        drop(own.create_file(&new)?);
        let mut index = Index::create(Some(&path), self.collection.id())?;
        if let Some(stamp) = own.stat(&new)? {
            index.set_inode(self.collection.index_inode(&stamp)?)?;
        }
        self.fill(&mut index, context)?;
        drop(index);
        own.open_file(&new)?.sync()?;
        self.put_in_place(&path, &new, context)?;
        self.report.built = true;
        let read = self.report.read;
        self.refresh(RefreshDepth::Sidecars, context)?.ok_or(CatalogError::Gone)?;
        // Items that were read twice count once.
        self.report.read = read;
        Ok(())
    }

    /// Builds an index that is gone after use.
    pub(super) fn build_temporary(
        &mut self,
        context: &RefreshContext<'_>,
    ) -> Result<(), CatalogError> {
        let mut index = Index::create(None, self.collection.id())?;
        self.fill(&mut index, context)?;
        self.temporary = Some(index);
        self.report.temporary = true;
        Ok(())
    }

    fn fill(
        &mut self,
        index: &mut Index,
        context: &RefreshContext<'_>,
    ) -> Result<(), CatalogError> {
        let (collection, report) = (self.collection, &mut self.report);
        Refresh::new(collection, context, report).run(index, RefreshDepth::Directories)
    }

    /// Replaces the index, under its exclusive lock.
    fn put_in_place(
        &self,
        path: &Path,
        new: &str,
        context: &RefreshContext<'_>,
    ) -> Result<(), CatalogError> {
        let own = self.collection.ensure_own()?;
        let (mode, holder) =
            (LockMode::Exclusive, context.caller.agent.holder(context.caller.clock));
        let _lock = Lock::take(own, layout::INDEX_LOCK, mode, &holder, &context.caller.waiter())
            .map_err(IndexError::from)?;
        let intents = self.collection.logged_intents();
        if !intents.is_empty() {
            let mut index = Index::reopen(path)?;
            index.write::<_, IndexError>(|tables| {
                intents.iter().try_for_each(|(name, writer)| tables.log_intent(name, writer))
            })?;
        }
        // Database and log are removed together: a log must never meet another database. A crash here
        // leaves no index.
        for ending in [&[""], &BESIDE[..]].concat() {
            own.remove_file_if_there(Path::new(&format!("{}{ending}", layout::INDEX)))?;
        }
        own.replace_with(new, layout::INDEX)?;
        // Beginning the log takes a database that nobody else has open.
        Ok(self.collection.begin_index()?)
    }
}
