//! Deletions travel: recording at the destination that an Original was deleted.

use super::look::Locks;
use super::publish::{Group, Items};
use super::reading::sealed;
use super::shared::Shared;
use super::staged::Staged;
use super::{TransferError, sidecars};
use crate::collection::{Departure, InventoryChange, ReadSidecar};
use crate::holdings::{OriginalError, holdings, refuse_second};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::sidecar::Sidecar;

impl Shared<'_> {
    /// Whether the inventory of the source agrees with its tombstone of `name`, or has no record of the item.
    ///
    /// The tombstone of an item that left, or was restored, was put back by hand: it would delete a living
    /// item in another collection.
    pub(super) fn is_deletion_recorded(
        &self,
        name: &RepositoryName,
    ) -> Result<bool, TransferError> {
        // A run records a deletion after it published the tombstone: that deletion travels with a later copy.
        let may_follow = self.from.has_writers()?;
        let Some(recorded) = self.from.last_record(name)? else { return Ok(true) };
        let line = recorded.line;
        let is_contradicted = match &line.change {
            InventoryChange::Left(Departure::Migrated(_) | Departure::Dropped(_)) => true,
            _ => matches!(line.state(), Some(State::Original | State::Copy)),
        };
        if is_contradicted && !may_follow {
            let (name, path) = (name.clone(), self.from.path().to_path_buf());
            return Err(TransferError::NotDeleted { name, path, line: Box::new(line) });
        }
        Ok(!is_contradicted)
    }

    /// If `tombstone` was brought to the source, makes sure that no peer has the Original, or may have it:
    /// the deletion may have been undone since.
    pub(super) fn check_not_undone(&self, tombstone: &Sidecar) -> Result<(), TransferError> {
        if tombstone.made_of().is_none() {
            return Ok(());
        }
        let name = tombstone.repository.clone();
        let others: Vec<_> = self.witnesses.collections.iter().collect();
        match refuse_second(&name, &others, &holdings(&name, &others)) {
            Ok(()) => {}
            Err(
                OriginalError::Elsewhere { path: original, .. }
                | OriginalError::HandedOver { path: original, .. },
            ) => {
                let path = self.from.path().to_path_buf();
                return Err(TransferError::Undone { name, path, original });
            }
            Err(error) => return Err(error.into()),
        }
        match self.witnesses.missing.first() {
            Some(missing) => {
                let collection = format!("the collection `{missing}`");
                Err(OriginalError::Unseen { name, collection }.into())
            }
            None => Ok(()),
        }
    }

    /// Stages the record of a deletion for a destination that does not have the name.
    pub(super) fn stage_tombstone(
        &self,
        source: &ReadSidecar,
        mut staged: Staged,
    ) -> Result<Staged, TransferError> {
        let brought = sidecars::brought(&source.sidecar, self.from);
        let text = sidecars::text(&staged.name, source, &brought)?;
        staged.item = Some(self.writer().stage_tombstone(&text)?);
        Ok(staged)
    }

    /// Makes tombstones of Copies, one after the other; their payloads go to the trash.
    pub(super) fn bury_all(&self, items: &Items, group: &mut Group) {
        for (at, staged) in items {
            match self.bury(staged) {
                Ok(()) => group.done(*at, staged.clone(), self.to.path()),
                Err(error) => self.missed(*at, staged, error, Locks::Free, group),
            }
        }
    }

    /// As deleting does: the tombstone first, durably, then the payload.
    fn bury(&self, staged: &Staged) -> Result<(), TransferError> {
        let locks = self.lock([(self.to, &staged.name)])?;
        let source = self.at_source(staged)?;
        let source = sealed(&source, source.read_sidecar(), self.from.path())?.sidecar;
        let item = self.at_destination(&locks, staged)?;
        let read = sealed(&item, item.read_sidecar(), self.to.path())?;
        if read.sidecar.state != State::Deleted {
            self.check_not_undone(&source)?;
            let buried = sidecars::buried(&read.sidecar, &source);
            let text = sidecars::text(item.name(), &read, &buried)?;
            self.writer().replace_sidecar(&item, &text)?;
        }
        // An interrupted run may not have done that.
        let became = InventoryChange::Became(State::Deleted);
        self.to.record([(item.name().clone(), became)], self.caller.clock)?;
        Ok(item.bury()?)
    }
}
