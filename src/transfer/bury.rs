//! Deletions travel: the destination learns that an Original was deleted.

use std::path::Path;

use super::look::Locks;
use super::publish::{Group, Items};
use super::reading::sealed;
use super::shared::Shared;
use super::staged::Staged;
use super::{TransferError, sidecars};
use crate::collection::{InventoryChange, ReadSidecar};
use crate::item::State;
use crate::layout;

impl Shared<'_> {
    /// Stages the record of a deletion for a destination that has nothing under the name.
    pub(super) fn stage_tombstone(
        &self,
        source: &ReadSidecar,
        mut staged: Staged,
    ) -> Result<Staged, TransferError> {
        let stage = self.writer().stage();
        staged.item = self.buckets.make_item(stage)?;
        stage.remove_dir(&staged.item.join(layout::PAYLOAD))?;
        let brought = sidecars::brought(&source.sidecar, self.from);
        let text = sidecars::text(&staged.name, source, &brought)?;
        let mut file = stage.create_file(staged.item.join(layout::SIDECAR))?;
        text.write(|piece| file.write_all(piece))?;
        Ok(staged)
    }

    /// Makes tombstones of Copies, one after the other; their payloads go to the trash.
    pub(super) fn bury_all(&self, items: &Items, group: &mut Group) {
        for (at, staged) in items {
            match self.bury(staged) {
                Ok(()) => group.done(*at, staged, self.to.path()),
                Err(error) => self.missed(*at, staged, error, Locks::Free, group),
            }
        }
    }

    /// As deleting does: the tombstone first, durably, then the payload.
    fn bury(&self, staged: &Staged) -> Result<(), TransferError> {
        let _locks = self.lock([(self.to, &staged.name)])?;
        let source = self.at_source(staged)?;
        let source = sealed(&source, source.read_sidecar(), self.from.path())?.sidecar;
        let item = self.at_destination(staged)?;
        let read = sealed(&item, item.read_sidecar(), self.to.path())?;
        if read.sidecar.state != State::Deleted {
            let buried = sidecars::buried(&read.sidecar, &source);
            let text = sidecars::text(item.name(), &read, &buried)?;
            self.writer().replace_sidecar(&item, &text)?;
        }
        // A run that was cut short may not have come to that.
        let became = InventoryChange::Became(State::Deleted);
        self.to.record([(item.name().clone(), became)], self.clock)?;
        let payload = Path::new(layout::PAYLOAD);
        if item.dir().stat(payload)?.is_some() {
            self.to.throw_away(item.name(), item.dir(), payload)?;
        }
        Ok(())
    }
}
