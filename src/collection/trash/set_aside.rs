//! Items that are set aside in the trash for a moment, and put back unless they are replaced.
//!
//! If the writer was killed, a reader reports the item as displaced, not as missing.

use std::io::ErrorKind::{NotFound, PermissionDenied};
use std::path::Path;

use crate::collection::names::list::listing_order;
use crate::collection::trash::{ITEM, REPLACED};
use crate::collection::{Collection, CollectionError, Names, Recall, TrashContents, Trashed};
use crate::disk::{Dir, PathError};
use crate::identity::RepositoryName;
use crate::layout;

impl Collection {
    /// Moves the whole item at `leaf` in `year` into the trash, synced; recovery puts it back unless it was
    /// replaced.
    pub(in crate::collection) fn set_aside(
        &self,
        name: &RepositoryName,
        year: &Dir,
        leaf: &Path,
    ) -> Result<(Trashed, Dir), PathError> {
        let (trashed, entry) = self.new_entry(name)?;
        self.ensure_trash()?.sync()?;
        year.move_tree(leaf, &entry, Path::new(ITEM))?;
        if let Err(error) = entry.sync().and_then(|()| year.sync()) {
            // The caller stops here, and no other process knows that the item is in the trash.
            entry.move_tree(Path::new(ITEM), year, leaf)?;
            return Err(error);
        }
        Ok((trashed, entry))
    }

    /// Puts an item back that was set aside.
    pub(in crate::collection) fn put_back(
        &self,
        entry: &Dir,
        year: &Dir,
        leaf: &Path,
    ) -> Result<(), PathError> {
        entry.rename_new(Path::new(ITEM), year, leaf)?;
        year.sync()
    }

    /// Moves a replaced item out of the trash again.
    pub(in crate::collection) fn move_out_of_trash(
        &self,
        entry: &Dir,
        to: &Dir,
        name: &Path,
    ) -> Result<(), PathError> {
        entry.rename_new(Path::new(ITEM), to, name)
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
        for trashed in self.trashed_of(name, Recall::Listed)? {
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
        let held = match self.held(trashed) {
            // Removed by now, or closed by another user.
            Err(error) if matches!(error.kind(), NotFound | PermissionDenied) => return Ok(false),
            outcome => outcome?,
        };
        Ok(held == TrashContents::SetAside
            && self.root().stat(layout::item_directory(&trashed.name))?.is_none())
    }

    fn restore(&self, trashed: &Trashed) -> Result<(), PathError> {
        let held = self.held(trashed)?;
        let (year, leaf) = layout::item_place(&trashed.name);
        let entry = self.trashed_dir(trashed)?;
        if held == TrashContents::SetAside && self.root().stat(year.join(&leaf))?.is_none() {
            self.put_back(&entry, &self.ensure_directory(&year)?, &leaf)?;
        } else if held == TrashContents::SetAside {
            // Its place was taken, by its replacement or by another run, so the entry is kept. A directory of
            // that name is empty.
            entry.rename_over(Path::new(ITEM), &entry, Path::new(REPLACED))?;
        }
        if held == TrashContents::Draft || entry.stat(REPLACED)?.is_none() {
            self.remove_trashed(trashed)?;
        }
        Ok(())
    }
}
