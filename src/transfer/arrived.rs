//! Items that are at the destination already.

use std::path::PathBuf;

use super::look::split;
use super::reading::sealed;
use super::shared::Shared;
use super::staged::Staged;
use super::{Step, TransferError};
use crate::collection::StoredItem;
use crate::item::State;

impl Shared<'_> {
    /// An item that is at the destination, and no more at the source: an earlier run may have taken it
    /// there. A tombstone is no item.
    pub(super) fn arrived(&self, item: &StoredItem) -> Result<Option<Staged>, TransferError> {
        let read = sealed(item, item.read_sidecar(), self.to.path())?;
        if read.sidecar.state == State::Deleted || read.sidecar.handover.is_some() {
            return Ok(None);
        }
        Ok(Some(Staged {
            name: item.name().clone(),
            step: Step::Skip,
            item: PathBuf::new(),
            place: split(item.name()),
            source: read.stamp,
            replaced: None,
            files: read.sidecar.payload.files,
            bytes: read.sidecar.payload.bytes,
            digest: None,
            unlisted: Vec::new(),
            partial: None,
        }))
    }
}
