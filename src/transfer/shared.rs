//! The shared state of the threads of a run.

use std::sync::Arc;

use super::payload::Links;
use super::staged::Staged;
use super::{Options, Step, TransferError};
use crate::agent::Caller;
use crate::collection::{
    ChangeLocks, Collection, CollectionError, LockedItem, Lookup, ReadSidecar, StoredItem, Writer,
    lock_changes,
};
use crate::flow::{Flow, Reservation, Reservations, Size};
use crate::holdings::Sight;
use crate::identity::RepositoryName;
use crate::progress::Progress;
use crate::verify::{self, ProofError};

/// The state of an item before its group is published.
#[derive(Debug)]
pub(super) enum Prepared {
    /// It is not selected.
    Passed,
    /// Nothing is to be done, except perhaps a report.
    Planned(Staged),
    /// It is staged; room is kept for its publishing.
    Staged(Staged, Option<Reservation>),
    /// The destination has the same Copy: it is to be replaced by a stub at the source, once that Copy is proven.
    Drop(Staged),
    /// The sidecar at the destination alone is to be replaced.
    Describe(Staged),
    /// Nothing is to be published.
    Failed(RepositoryName, TransferError),
}

/// The shared state of the threads.
pub(super) struct Shared<'a> {
    pub from: &'a Collection,
    pub to: &'a Collection,
    pub source_items: Lookup<'a>,
    pub destination_items: Lookup<'a>,
    pub(super) writer: Option<&'a Writer>,
    pub source_writer: Option<&'a Writer>,
    pub options: Options,
    pub sight: &'a Sight<'a>,
    /// Who calls.
    pub caller: Caller<'a>,
    pub flow: Flow<Prepared>,
    /// Room that items in flight still need at the destination.
    pub pending: Arc<Reservations>,
    /// Whether files can be shared by hard links, as far as it is known.
    pub one_file_system: bool,
}

impl<'a> Shared<'a> {
    /// The right to write at the destination. It is never missing here: a plan ends before.
    pub(super) fn writer(&self) -> &'a Writer {
        self.writer.expect("because `run` refuses to act without a writer")
    }

    /// Reads the ledgers of both sides and of the neighbours on to their ends, and looks for new prefixes at the destination.
    /// An error is met again with an item.
    pub(super) fn follow_ledgers(&self) {
        self.destination_items.forget_new();
        let _ = self.from.follow_ledger();
        self.sight.follow_with(self.to);
    }

    pub(super) fn deliver(&self, number: usize, ready: Prepared) {
        if let Prepared::Planned(staged) | Prepared::Drop(staged) | Prepared::Describe(staged) =
            &ready
        {
            self.caller.progress.skip(staged.bytes);
        }
        let bytes = size(&ready).bytes;
        self.flow.deliver((number, ready), bytes);
    }

    /// How `step` gets the files of the source.
    pub(super) fn links(&self, step: Step) -> Links {
        match step {
            _ if !self.one_file_system || !self.removes_source(step) => Links::No,
            Step::HandOver => Links::Unread,
            _ => Links::Read,
        }
    }

    /// Reads an item back that was written, and whose sidecar was `read` back.
    pub(super) fn prove(
        &self,
        item: &StoredItem,
        read: &ReadSidecar,
        progress: &dyn Progress,
    ) -> Result<(), TransferError> {
        let (depth, interrupt) = (verify::Depth::FromDisk, self.caller.interrupt);
        let proof = verify::prove_as_read(item, read, depth, progress, interrupt);
        proof.map_err(|error| match error {
            ProofError::Damaged { path, .. } => {
                TransferError::NotProven { path, collection: self.to.path().to_path_buf() }
            }
            ProofError::Disk(error) => error.into(),
            ProofError::Interrupted => TransferError::Interrupted,
        })
    }

    /// The locked item to replace, if it has not changed since the decision.
    pub(super) fn at_destination<'l>(
        &'l self,
        locks: &'l ChangeLocks,
        staged: &Staged,
    ) -> Result<LockedItem<'l>, TransferError> {
        let item =
            locks.item(&self.destination_items, &staged.name)?.ok_or_else(|| staged.changed())?;
        match &staged.replaced {
            Some((_, version)) if !item.has_version(*version)? => Err(staged.changed()),
            _ => Ok(item),
        }
    }

    /// The item at the source, if it has not changed since the decision.
    pub(super) fn at_source(&self, staged: &Staged) -> Result<StoredItem, TransferError> {
        let item = self.source_items.item(&staged.name)?.ok_or_else(|| staged.changed())?;
        if item.has_version(staged.source)? { Ok(item) } else { Err(staged.changed()) }
    }

    /// The same, locked.
    pub(super) fn locked_at_source<'l>(
        &'l self,
        locks: &'l ChangeLocks,
        staged: &Staged,
    ) -> Result<LockedItem<'l>, TransferError> {
        let item = locks.item(&self.source_items, &staged.name)?.ok_or_else(|| staged.changed())?;
        if item.has_version(staged.source)? { Ok(item) } else { Err(staged.changed()) }
    }

    pub(super) fn lock<'c>(
        &self,
        collections: impl IntoIterator<Item = &'c Collection>,
    ) -> Result<ChangeLocks, CollectionError> {
        lock_changes(collections, self.caller.agent, &self.caller.waiter())
    }
}

pub(super) fn size(ready: &Prepared) -> Size {
    match ready {
        Prepared::Staged(staged, _) => {
            Size { files: usize::try_from(staged.files).unwrap_or(usize::MAX), bytes: staged.bytes }
        }
        _ => Size::default(),
    }
}
