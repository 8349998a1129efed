//! Items that are at the destination already.

use std::path::PathBuf;

use super::draft::{Staged, split};
use super::reading::sealed;
use super::run::{Ready, Shared};
use super::{Depth, Over, Step, TransferError, Verb};
use crate::collection::StoredItem;
use crate::disk::Stamp;
use crate::item::State;
use crate::sidecar::Glance;

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
        }))
    }

    /// What can be decided without parsing anything: most items of a rerun are there already, and most
    /// that migrate within a file system meet nothing.
    pub(super) fn at_a_glance(
        &self,
        from: &StoredItem,
        text: &[u8],
        stamp: Stamp,
        to: Option<&StoredItem>,
    ) -> Result<Option<Ready>, TransferError> {
        match to {
            Some(to) => Ok(self.is_there(from, text, stamp, to)?.map(Ready::Planned)),
            None => self.may_move(from, text, stamp),
        }
    }

    /// Whether an item goes as it is to where nothing is.
    fn may_move(
        &self,
        from: &StoredItem,
        text: &[u8],
        stamp: Stamp,
    ) -> Result<Option<Ready>, TransferError> {
        let is_move = self.options.verb == Verb::Migrate
            && self.one_file_system
            && !self.options.rules.leave_copy;
        let Some(source) = Glance::of_sealed(text).filter(|_| is_move) else { return Ok(None) };
        let step = match source.state {
            State::Original if source.transferable => Step::HandOver(Over::Nothing),
            State::Copy => Step::MoveCopy,
            State::Original | State::Deleted => return Ok(None),
        };
        let is_wanted = self.options.state.is_none_or(|state| state == source.state);
        if !is_wanted || !source.repository.eq_ignore_ascii_case(from.name().as_str()) {
            return Ok(None);
        }
        let ready = if self.options.depth == Depth::Plan { Ready::Planned } else { Ready::Move };
        Ok(Some(ready(Staged {
            name: from.name().clone(),
            step,
            item: PathBuf::new(),
            place: self.destination_items.place_of(from.name())?,
            source: stamp,
            replaced: None,
            files: source.files,
            bytes: source.bytes,
            digest: None,
            unlisted: from.strays()?.iter().map(|path| from.dir().path_of(path)).collect(),
        })))
    }

    /// Whether the destination has the same Copy, as can be seen without parsing: then there is nothing
    /// to decide.
    fn is_there(
        &self,
        from: &StoredItem,
        text: &[u8],
        stamp: Stamp,
        to: &StoredItem,
    ) -> Result<Option<Staged>, TransferError> {
        let wants_more = self.options.rules.checksum || self.options.verb == Verb::Migrate;
        let Some(source) = Glance::of_sealed(text).filter(|_| !wants_more) else { return Ok(None) };
        let (text, replaced) = to.sidecar_text()?;
        let Some(copy) = Glance::of_sealed(&text) else { return Ok(None) };
        let same = source.repository.eq_ignore_ascii_case(from.name().as_str())
            && (copy.state, source.state)
                == (State::Copy, self.options.state.unwrap_or(source.state))
            && source.state != State::Deleted
            && Glance { state: copy.state, ..source } == copy;
        Ok(same.then(|| Staged {
            name: from.name().clone(),
            step: Step::Skip,
            item: PathBuf::new(),
            place: split(to.name()),
            source: stamp,
            replaced: Some(replaced),
            files: source.files,
            bytes: source.bytes,
            digest: None,
            unlisted: Vec::new(),
        }))
    }
}
