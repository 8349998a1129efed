//! Building the inventory from the existing items, if it is lost or never existed.

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::Path;

use super::line::Here;
use super::{Collection, InventoryChange, InventoryLine, Writers, year_file};
use crate::clock::Clock;
use crate::collection::names::list::{Listed, Names};
use crate::collection::{BuiltInventory, CollectionError};
use crate::disk::{Dir, PathError};
use crate::identity::RepositoryName;
use crate::layout;
use crate::sidecar::Seal;

/// The inventory being built.
const STAGED: &str = "inventory.new";

impl Collection {
    /// Builds the missing inventory in `own`.
    ///
    /// It appears in one step. The caller holds [`layout::REBUILDING`], and no process writes.
    pub(in crate::collection) fn build_inventory(
        &self,
        own: &Dir,
        clock: &dyn Clock,
    ) -> Result<BuiltInventory, PathError> {
        own.remove_tree(Path::new(STAGED))?;
        let built = self.build_in(own, clock);
        if built.is_err() {
            // On a full disk, a deletion needs the little room that is left.
            let _ = own.remove_tree(Path::new(STAGED));
        }
        built
    }

    fn build_in(&self, own: &Dir, clock: &dyn Clock) -> Result<BuiltInventory, PathError> {
        let staged = own.ensure_dir(STAGED)?;
        let mut building = Building { dir: &staged, file: String::new(), text: String::new() };
        let mut built = BuiltInventory::default();
        let _whole = self.visit_all(&Names::default(), |listed| {
            match listed {
                Listed::Item(name) => {
                    let change = match self.found(&name) {
                        // The item is here, and its loss would be damage.
                        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                            built.closed.push(error.path().to_path_buf());
                            Some(InventoryChange::Found(None))
                        }
                        found => found?,
                    };
                    if let Some(change) = change {
                        building.add(&InventoryLine { date: clock.now(), name, change })?;
                        built.items += 1;
                    }
                }
                // An item closed by another user is recorded when it is found later.
                Listed::Unreadable(error) if error.kind() == ErrorKind::PermissionDenied => {
                    built.closed.push(error.path().to_path_buf());
                }
                Listed::Link(_, error) | Listed::Unreadable(error) => return Err(error),
                Listed::Stray(_) => {}
            }
            Ok::<_, PathError>(ControlFlow::Continue(()))
        })?;
        building.flush()?;
        staged.sync()?;
        own.rename_new(Path::new(STAGED), own, Path::new(layout::INVENTORY))?;
        own.sync()?;
        Ok(built)
    }

    /// Records items without a record, in their present state, and returns them. None are recorded while
    /// other processes may be removing them.
    pub(crate) fn record_found(
        &self,
        names: &[RepositoryName],
        writers: Writers,
        clock: &dyn Clock,
    ) -> Result<Vec<RepositoryName>, PathError> {
        // No item is locked: any change recorded from here on is more recent than the state found.
        let before = self.inventory_end(names)?;
        if writers == Writers::Perhaps && self.has_writers()? {
            return Ok(Vec::new());
        }
        let mut changes = Vec::new();
        for name in names {
            if let Some(found) = self.found(name)?
                && self.seems_returned(name)?.is_none()
            {
                changes.push((name.clone(), found));
            }
        }
        self.record_arrivals(&before, changes.iter().cloned(), clock)?;
        Ok(changes.into_iter().map(|(name, _)| name).collect())
    }

    /// The record for an item without one, with its state if its sidecar is sealed; `None` without a sidecar.
    pub(in crate::collection) fn found(
        &self,
        name: &RepositoryName,
    ) -> Result<Option<InventoryChange>, PathError> {
        let item = match self.item(name) {
            Ok(item) => item,
            Err(CollectionError::Disk(error)) if error.is_link() => return Ok(None),
            Err(CollectionError::Disk(error)) => return Err(error),
            Err(_) => return Ok(None),
        };
        match item.read_sidecar() {
            Ok(read) if read.seal == Seal::Intact => {
                Ok(Some(InventoryChange::Found(Some(Here::of(&read.sidecar)))))
            }
            Err(CollectionError::Disk(error)) => Err(error),
            // It is not an item for `verify` either.
            Err(CollectionError::NoSidecar { .. }) => Ok(None),
            // An item whose sidecar cannot be read exists nevertheless.
            Ok(_) | Err(_) => Ok(Some(InventoryChange::Found(None))),
        }
    }
}

/// A file being built: names come in the order of the listing, year by year.
struct Building<'a> {
    dir: &'a Dir,
    file: String,
    text: String,
}

impl Building<'_> {
    fn add(&mut self, line: &InventoryLine) -> Result<(), PathError> {
        let file = year_file(&line.name);
        if file != self.file || self.text.len() > 1 << 20 {
            self.flush()?;
            self.file = file;
        }
        self.text.push_str(&line.to_text());
        Ok(())
    }

    fn flush(&mut self) -> Result<(), PathError> {
        if self.text.is_empty() {
            return Ok(());
        }
        let file = self.dir.open_lock_file(&self.file)?;
        let end = file.stat()?.bytes;
        file.write_all_at(self.text.as_bytes(), end)?;
        file.sync_data()?;
        self.text.clear();
        Ok(())
    }
}
