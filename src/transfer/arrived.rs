//! Items that already arrived at the destination.

use super::reading::sealed;
use super::shared::Shared;
use super::staged::Staged;
use super::{Step, TransferError};
use crate::collection::{CollectionError, Departure, InventoryChange, StoredItem};
use crate::item::State;
use crate::layout;

impl Shared<'_> {
    /// An item that is at the destination, and not at the source, because an earlier run moved it. An item
    /// that vanished from the source, or went to another collection, did not arrive: the item at the
    /// destination is a Copy. Nor did a tombstone arrive.
    pub(super) fn arrived(&self, item: &StoredItem) -> Result<Option<Staged>, TransferError> {
        let was_taken = match self.from.absent(item.name()) {
            CollectionError::Left { line, .. } => is_to(&line.change, self.to.id()),
            CollectionError::NoSuchItem { .. } => true,
            _ => false,
        };
        if !was_taken {
            return Ok(None);
        }
        let read = sealed(item, item.read_sidecar(), self.to.path())?;
        if read.sidecar.state == State::Deleted || read.sidecar.handover.is_some() {
            return Ok(None);
        }
        Ok(Some(Staged {
            name: item.name().clone(),
            step: Step::Skip,
            item: None,
            history: None,
            place: layout::item_place(item.name()),
            source: read.version,
            replaced: None,
            files: read.sidecar.payload.files,
            bytes: read.sidecar.payload.bytes,
            digest: None,
            unlisted: Vec::new(),
        }))
    }
}

/// Whether an item left for the collection with this id.
pub(super) fn is_to(change: &InventoryChange, id: &str) -> bool {
    let InventoryChange::Left(Departure::Migrated(to) | Departure::Dropped(to)) = change else {
        return false;
    };
    to.id == id
}
