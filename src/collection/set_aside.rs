//! Items that are set aside in the trash for a moment, and put back if nothing takes their place.

use std::path::Path;

use super::trash::{ITEM, REPLACED};
use super::{Collection, CollectionError, Held, Trashed};
use crate::disk::{Dir, PathError};
use crate::identity::RepositoryName;
use crate::layout;

impl Collection {
    /// Moves the whole item at `leaf` in `year` into the trash, synced; undone by recovery unless
    /// something takes its place.
    pub(super) fn set_aside(
        &self,
        name: &RepositoryName,
        year: &Dir,
        leaf: &Path,
    ) -> Result<(Trashed, Dir), PathError> {
        self.move_in(name, year, leaf, Held::SetAside)
    }

    /// Puts an item back that was set aside.
    pub(super) fn put_back(&self, entry: &Dir, year: &Dir, leaf: &Path) -> Result<(), PathError> {
        entry.rename_new(Path::new(ITEM), year, leaf)?;
        year.sync()
    }

    /// Takes an item that was replaced out of the trash again.
    pub(super) fn move_out_of_trash(
        &self,
        entry: &Dir,
        to: &Dir,
        name: &Path,
    ) -> Result<(), PathError> {
        entry.rename_new(Path::new(ITEM), to, name)
    }

    /// Puts items back that were set aside by a process that was killed before something took their
    /// place; those whose place was taken stay in the trash, as what was deleted or mended does.
    /// Returns why an entry was left as it is; none of them hinders the others.
    pub(super) fn restore_set_aside(&self) -> Vec<CollectionError> {
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

    fn restore(&self, trashed: &Trashed) -> Result<(), PathError> {
        let held = self.held(trashed)?;
        let directory = layout::item_directory(&trashed.name);
        let entry = self.trashed_dir(trashed)?;
        if held == Held::SetAside && self.root().stamp(&directory)?.is_none() {
            let year = directory.parent().unwrap_or(Path::new(""));
            let leaf = directory.file_name().unwrap_or_default();
            self.put_back(&entry, &self.ensure_directory(year)?, Path::new(leaf))?;
        } else if held == Held::SetAside {
            // Its place was taken, by what was to replace it or by another run: it is kept. Where
            // there is a directory of that name, it is empty.
            entry.rename_over(Path::new(ITEM), &entry, Path::new(REPLACED))?;
        }
        let keeps = entry.stamp(REPLACED)?.is_some();
        if matches!(held, Held::SetAside | Held::Remains) && !keeps {
            self.remove_trashed(trashed)?;
        }
        Ok(())
    }
}
