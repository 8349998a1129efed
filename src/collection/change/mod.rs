//! Changing existing items, each in one step: after a crash, as at any time, an item is either old or new.

pub(super) mod change_note;
pub(super) mod draft;
pub(super) mod group;
pub(super) mod left_overs;
pub(super) mod locked;
pub(super) mod locks;
pub(super) mod reserve;
pub(super) mod stopped;
pub(super) mod unlisted;
pub(super) mod writer;

use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Collection, LockedItem, StoredItem, Writer};
use crate::disk::{Dir, Kind, PathError, StoredFile, open_at_most};
use crate::layout;
use crate::sidecar::NewText;

/// The number of the next staged file or directory.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Limit on the items that are changed together and share their syncs. Each needs up to three directories.
pub(crate) fn items_at_a_time() -> usize {
    open_at_most(512)
}

impl Writer {
    /// A new name in the stage.
    pub(super) fn fresh_name(&self) -> PathBuf {
        PathBuf::from(format!("change-{}", NUMBER.fetch_add(1, Ordering::Relaxed)))
    }

    /// Writes the new sidecar of an item into the stage. It is not synced.
    pub(crate) fn stage_sidecar(&self, text: &NewText) -> Result<PathBuf, PathError> {
        let (staged, mut file) = self.create_staged_file()?;
        if let Err(error) = text.write(|piece| file.write_all(piece)) {
            // Removed at once because others may need its room on a full disk; else it would go with the stage.
            let _ = self.stage().remove_file(&staged);
            return Err(error);
        }
        Ok(staged)
    }

    /// Creates a file in the stage, such as the new sidecar of an item.
    pub(crate) fn create_staged_file(&self) -> Result<(PathBuf, StoredFile), PathError> {
        let staged = self.fresh_name();
        let file = self.stage().create_file(&staged)?;
        Ok((staged, file))
    }

    /// Publishes a staged and synced file under a free name, without syncing the directory.
    pub(crate) fn put_file(&self, staged: &Path, to: &Dir, name: &Path) -> Result<(), PathError> {
        self.stage().rename_new(staged, to, name)
    }

    /// Writes the new sidecars of many items into the stage, synced.
    pub(crate) fn stage_sidecars<'t>(
        &self,
        texts: impl IntoIterator<Item = &'t NewText>,
    ) -> Result<Vec<PathBuf>, PathError> {
        let staged = texts.into_iter().map(|text| self.stage_sidecar(text));
        let staged = staged.collect::<Result<Vec<_>, _>>()?;
        match staged.as_slice() {
            [only] => self.stage().open_file(only)?.sync()?,
            all => self.sync_staged_sidecars(all.iter().map(PathBuf::as_path))?,
        }
        Ok(staged)
    }

    /// Syncs staged sidecars.
    pub(crate) fn sync_staged_sidecars<'s>(
        &self,
        staged: impl IntoIterator<Item = &'s Path>,
    ) -> Result<(), PathError> {
        self.stage().sync_trees(staged)
    }

    /// Replaces the sidecar of `item` by a staged and synced one. [`Writer::sync_sidecars`] makes that durable.
    pub(crate) fn rename_sidecar(
        &self,
        staged: &Path,
        item: &LockedItem<'_>,
    ) -> Result<(), PathError> {
        self.stage().rename_over(staged, item.dir(), Path::new(layout::SIDECAR))
    }

    /// Replaces the sidecars of many items by staged and synced ones, durably.
    pub(crate) fn rename_sidecars<'s>(
        &self,
        sidecars: impl IntoIterator<Item = (&'s Path, &'s LockedItem<'s>)>,
    ) -> Result<(), PathError> {
        let mut items = Vec::new();
        for (staged, item) in sidecars {
            self.rename_sidecar(staged, item)?;
            items.push(item);
        }
        self.sync_sidecars(&items)
    }

    /// Removes a staged sidecar.
    pub(crate) fn discard_sidecar(&self, staged: &Path) {
        // One that cannot be removed now is removed with the stage.
        let _ = self.stage().remove_file(staged);
    }

    /// Replaces the sidecars of items in the trash durably.
    pub(crate) fn replace_trashed_sidecars(
        &self,
        texts: &[(StoredItem, NewText)],
    ) -> Result<(), PathError> {
        let staged = self.stage_sidecars(texts.iter().map(|(_, text)| text))?;
        for ((item, _), staged) in texts.iter().zip(&staged) {
            self.stage().rename_over(staged, item.dir(), Path::new(layout::SIDECAR))?;
        }
        match texts {
            [] => Ok(()),
            [(only, _)] => only.dir().sync(),
            all => self.stage().sync_dirs(all.iter().map(|(item, _)| item.dir())),
        }
    }

    /// Makes the new sidecars of `items` durable, with one sync.
    pub(crate) fn sync_sidecars(&self, items: &[&LockedItem<'_>]) -> Result<(), PathError> {
        match items {
            [] => Ok(()),
            [only] => only.dir().sync(),
            all => self.stage().sync_dirs(all.iter().map(|item| item.dir())),
        }
    }
}

impl Collection {
    /// Opens a directory below the root, created level by level, each synced into its parent.
    pub(crate) fn ensure_directory(&self, path: &Path) -> Result<Dir, PathError> {
        let mut dir = self.root().try_clone()?;
        for component in path {
            dir = dir.ensure_lasting_dir(&component.to_string_lossy())?;
        }
        Ok(dir)
    }

    /// Records the existing directories on the way to `path`. A sync of the whole file system then makes those
    /// of [`Collection::ensure_directory`] unnecessary.
    pub(crate) fn expect_directory(&self, path: &Path) -> Result<(), PathError> {
        let mut dir = self.root().try_clone()?;
        for component in path {
            let Some(next) = dir.expect_dir(component)? else { break };
            dir = next;
        }
        Ok(())
    }

    /// Makes sure that no other file system is visibly mounted on the way to `place`, the place of an item:
    /// staged data could not be moved there.
    pub(crate) fn check_reach(&self, place: &Path) -> Result<(), PathError> {
        let year = place.parent().unwrap_or(place);
        // A mount during the run is detected when the item is published.
        if *self.reached.lock().unwrap_or_else(PoisonError::into_inner) == year {
            return Ok(());
        }
        let device = self.root().own_stat()?.identity.0;
        let mut above = PathBuf::new();
        let mut levels = place.components();
        levels.next_back();
        for level in levels {
            above.push(level);
            match self.root().stat(&above)? {
                Some(stamp) if stamp.kind != Kind::Directory => break,
                Some(stamp) if stamp.identity.0 == device => {}
                Some(_) => {
                    let next = place.components().take(above.components().count() + 1);
                    let next = self.root().path_of(next.collect::<PathBuf>());
                    let cause = std::io::ErrorKind::CrossesDevices.into();
                    return Err(PathError::new("put in place", next, cause));
                }
                None => break,
            }
        }
        year.clone_into(&mut self.reached.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }
}
