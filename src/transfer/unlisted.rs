//! Unlisted files in an item's directory: they do not travel, and they are not destroyed.
//!
//! Before the directory of an item is removed, because the item migrates or is replaced, everything that the
//! sidecar does not list moves to the trash of the same collection. The plan names it first. An item that
//! migrates by renaming keeps its `doc/` unchanged; entries beside `doc/`, such as the `service/`,
//! `.reserved/` or `not_sent/` of an adopted item, stay behind in either case.

use std::path::PathBuf;

use super::shared::Shared;
use super::{Replaces, Step, TransferError};
use crate::collection::{LockedItem, ReadSidecar, StoredItem};
use crate::interrupt::Interrupt;

impl Shared<'_> {
    /// The paths that `step` moves to the trash: of the item at the source, and of the replaced item.
    pub(super) fn unlisted(
        &self,
        step: Step,
        (from, source): (&StoredItem, &ReadSidecar),
        to: Option<&(StoredItem, ReadSidecar)>,
    ) -> Result<Vec<PathBuf>, TransferError> {
        let leaves = matches!(step, Step::HandOver(_) | Step::MoveCopy | Step::DropCopy);
        let mut paths = Vec::new();
        if leaves && self.renames(step) {
            paths.extend(from.strays()?.iter().map(|path| from.path_of(path)));
        } else if leaves && !self.options.rules.leave_copy {
            let found = from.unlisted(&source.sidecar.files, self.caller.interrupt)?;
            paths.extend(found.iter().map(|path| from.path_of(path)));
        }
        if let (true, Some((item, read))) = (step.over() != Replaces::Nothing, to) {
            let found = item.unlisted(read.listed(), self.caller.interrupt)?;
            paths.extend(found.iter().map(|path| item.path_of(path)));
        }
        Ok(paths)
    }

    /// Whether `step` renames the unchanged item.
    pub(super) fn renames(&self, step: Step) -> bool {
        self.one_file_system
            && !self.options.rules.leave_copy
            && matches!(step, Step::HandOver(Replaces::Nothing) | Step::MoveCopy)
    }
}

/// Moves everything in the directory of `item` that its sidecar does not list to the trash.
pub(super) fn keep_unlisted(item: &LockedItem<'_>) -> Result<(), TransferError> {
    // It has to be finished: keeping half of it is no better than none.
    let interrupt = Interrupt::default();
    let unlisted = item.unlisted(item.read_sidecar()?.listed(), &interrupt)?;
    Ok(item.throw_away_unlisted(&unlisted)?)
}
