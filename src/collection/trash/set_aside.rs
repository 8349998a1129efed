//! Items that are set aside in the trash for a moment, and put back unless they are replaced.
//!
//! If the writer was killed, a reader reports the item as displaced, not as missing.

use std::path::Path;

use crate::collection::names::list::listing_order;
use crate::collection::trash::ASIDE;
use crate::collection::{Collection, CollectionError, LockedItem, Names, TrashContents, Trashed};
use crate::disk::{Dir, PathError};
use crate::identity::RepositoryName;
use crate::layout;

impl LockedItem<'_> {
    /// Moves the whole item to the trash, synced, and leaves its place empty.
    pub(in crate::collection) fn take_out(&self) -> Result<(), PathError> {
        let (collection, (year, leaf)) = (self.collection(), self.place()?);
        let trash = collection.ensure_trash()?;
        let entry = collection.new_entry(&trash, self.name())?;
        year.move_tree(&leaf, &trash, entry.path())?;
        trash.sync()?;
        year.sync()
    }
}

impl Collection {
    /// Moves the whole item at `leaf` in `year` into the trash, synced; recovery puts it back unless it was
    /// replaced.
    pub(in crate::collection) fn set_aside(
        &self,
        name: &RepositoryName,
        year: &Dir,
        leaf: &Path,
    ) -> Result<Trashed, PathError> {
        let trash = self.ensure_trash()?;
        let mut aside = self.new_entry(&trash, name)?;
        aside.entry += ASIDE;
        year.move_tree(leaf, &trash, aside.path())?;
        if let Err(error) = trash.sync().and_then(|()| year.sync()) {
            // The caller stops here, and no other process knows that the item is in the trash.
            trash.move_tree(aside.path(), year, leaf)?;
            return Err(error);
        }
        Ok(aside)
    }

    /// Puts an item back that was set aside.
    pub(in crate::collection) fn put_back(
        &self,
        aside: &Trashed,
        year: &Dir,
        leaf: &Path,
    ) -> Result<(), PathError> {
        self.open_trash()?.move_tree(aside.path(), year, leaf)?;
        year.sync()
    }

    /// Puts items back that a killed process set aside and did not replace. Replaced items stay in the trash,
    /// as deleted ones do. Returns why an entry was left; a failure does not stop the others.
    pub(in crate::collection) fn restore_set_aside(&self) -> Vec<CollectionError> {
        let mut failed = Vec::new();
        let visited = self.visit_trash(|trashed| {
            if let Err(error) = trashed.and_then(|trashed| self.restore(&trashed)) {
                failed.push(error.into());
            }
            Ok::<_, CollectionError>(())
        });
        failed.extend(visited.err());
        failed
    }

    /// The items of these `names` that a killed run has displaced: they are in the trash, and were not
    /// replaced.
    pub fn displaced(&self, names: &Names) -> Result<Vec<RepositoryName>, PathError> {
        let mut found = Vec::new();
        self.visit_trash(|trashed| {
            if let Ok(trashed) = trashed
                && names.contains(&trashed.name)
                && self.is_set_aside_by_killed(&trashed)?
            {
                found.push(trashed.name);
            }
            Ok::<_, PathError>(())
        })?;
        found.sort_by(listing_order);
        Ok(found)
    }

    /// Whether the absent item `name` is displaced.
    pub(in crate::collection) fn is_displaced(
        &self,
        name: &RepositoryName,
    ) -> Result<bool, PathError> {
        for trashed in self.trashed_of(name)? {
            if self.is_set_aside_by_killed(&trashed)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_set_aside_by_killed(&self, trashed: &Trashed) -> Result<bool, PathError> {
        // Checked again: the process that had set it aside may have finished meanwhile.
        Ok(self.is_set_aside(trashed)? && self.is_at_rest()? && self.is_set_aside(trashed)?)
    }

    fn is_set_aside(&self, trashed: &Trashed) -> Result<bool, PathError> {
        Ok(trashed.is_aside()
            && self.open_trash()?.stat(trashed.path())?.is_some()
            && self.root().stat(layout::item_directory(&trashed.name))?.is_none())
    }

    fn restore(&self, trashed: &Trashed) -> Result<(), PathError> {
        if trashed.is_aside() {
            let (year, leaf) = layout::item_place(&trashed.name);
            if self.root().stat(year.join(&leaf))?.is_none() {
                return self.put_back(trashed, &self.ensure_directory(&year)?, &leaf);
            }
            // Its place was taken, by its replacement or by another run, so it is kept.
            return trashed.mark(self.open_trash()?, "").map(drop);
        }
        match self.held(trashed)? {
            TrashContents::Item => Ok(()),
            TrashContents::LeftOver | TrashContents::Remains => {
                trashed.remove(self.open_trash()?).map(drop)
            }
        }
    }
}
