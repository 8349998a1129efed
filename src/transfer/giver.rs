//! The giver's side of a migration: the offer of an item, and what the item leaves here.
//!
//! Both are staged before the locks are taken, so that a few renames and syncs remain under them.

use std::path::{Path, PathBuf};

use super::{Leaves, TransferError};
use crate::collection::{
    ChangeLocks, Collection, Event, Here, LockedItem, ReadSidecar, StagedItem, Writer, Years,
};
use crate::custody::Permit;
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::item::State;
use crate::sidecar::{Files, NewText, Sidecar};

/// The note of a migration that was withdrawn.
pub(super) const WITHDRAWN: &str = "withdrew the migration";

/// The offer of an item to the receiver, staged at the giver.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    /// The sidecar that says `ceded`.
    pub ceded: Option<PathBuf>,
    pub left: Left,
}

/// The stub or the Copy of an item that stays at the giver, staged there.
#[derive(Clone, Debug)]
pub(super) struct Left {
    staged: StagedLeft,
    /// The line of the ledger.
    here: Here,
}

#[derive(Clone, Debug)]
enum StagedLeft {
    /// A stub or a tombstone, with the entries of the item: a file beside them goes to the trash.
    Stub(StagedItem, Files),
    /// The sidecar of the Copy.
    Copy(PathBuf),
}

impl Left {
    /// Stages what the item with the sidecar `read` leaves, as `permit` says.
    pub(super) fn stage(
        writer: &Writer,
        name: &RepositoryName,
        read: &ReadSidecar,
        permit: &Permit,
        leaves: Leaves,
    ) -> Result<Left, TransferError> {
        let (state, custody) = (State::from(leaves), permit.custody().clone());
        let here = Here::under(permit, state, read.sidecar.changed());
        let staged = match leaves {
            Leaves::Stub => {
                let stub = read.sidecar.stub(custody).to_text().into_bytes();
                let stub = writer.stage_tombstone(&NewText::Held(stub))?;
                StagedLeft::Stub(stub, read.sidecar.files.clone())
            }
            Leaves::Copy => {
                let copy = Sidecar { state, custody, ..read.sidecar.clone() };
                StagedLeft::Copy(writer.stage_sidecar(&read.rewritten(name, &copy)?)?)
            }
        };
        Ok(Left { staged, here })
    }

    /// Stages `tombstone`, which the item with the sidecar `read` becomes, as `permit` says.
    pub(super) fn bury(
        writer: &Writer,
        read: &ReadSidecar,
        tombstone: Sidecar,
        permit: &Permit,
    ) -> Result<Left, TransferError> {
        let tombstone = Sidecar { custody: permit.custody().clone(), ..tombstone };
        let text = NewText::Held(tombstone.to_text().into_bytes());
        let staged = writer.stage_tombstone(&text)?;
        let staged = StagedLeft::Stub(staged, read.sidecar.files.clone());
        let here = Here::under(permit, tombstone.state, tombstone.changed());
        Ok(Left { staged, here })
    }

    /// Its place in the stage.
    pub(super) fn path(&self) -> &Path {
        match &self.staged {
            StagedLeft::Stub(stub, _) => stub.path(),
            StagedLeft::Copy(sidecar) => sidecar,
        }
    }

    /// The item that a stub has replaced.
    pub(super) fn replaced(&self) -> Option<&StagedItem> {
        match &self.staged {
            StagedLeft::Stub(stub, _) => Some(stub),
            StagedLeft::Copy(_) => None,
        }
    }
}

/// The collection that gives items away.
#[derive(Clone, Copy)]
pub(super) struct Giver<'a> {
    pub collection: &'a Collection,
    pub writer: &'a Writer,
    /// The locks of the collection.
    pub locks: &'a ChangeLocks,
    /// The event of an item, for the ledger.
    pub event: &'a dyn Fn(&RepositoryName) -> Event,
    /// Whether items that leave a stub go to the trash: nothing in sight has their payload.
    pub is_last: bool,
}

impl Giver<'_> {
    /// Ends the giver's side of migrations, durably: each item becomes the synced stub or Copy. The replaced items are in
    /// the stage then. Returns the unlisted paths of each item, which went to the trash with it.
    pub(super) fn leave(
        &self,
        items: &[(&LockedItem<'_>, &Left)],
    ) -> Result<Vec<Vec<PathBuf>>, TransferError> {
        let mut unlisted = vec![Vec::new(); items.len()];
        if items.is_empty() {
            return Ok(unlisted);
        }
        let event = |(item, left): &(&LockedItem<'_>, &Left)| {
            (self.event)(item.name()).leaving(left.here.clone())
        };
        let events: Vec<_> = items.iter().map(event).collect();
        let announced = self.writer.announce(items.iter().map(|(item, _)| item.name()))?;
        let (mut stubs, mut copies) = (Vec::new(), Vec::new());
        let mut years = Years::of(self.collection);
        for ((item, left), unlisted) in items.iter().zip(&mut unlisted) {
            match &left.staged {
                StagedLeft::Stub(stub, entries) => {
                    // It has to be finished: half of it is no better than none.
                    let found = item.unlisted(entries, &Interrupt::default())?;
                    unlisted.extend(found.iter().map(|path| item.path_of(path)));
                    if self.is_last || !unlisted.is_empty() {
                        self.writer.replace_item(stub, item, &mut years)?;
                        self.collection.sync_swapped([item.name()].into_iter())?;
                    } else {
                        self.writer.swap_item(stub, item, &mut years)?;
                    }
                    stubs.push(item.name().as_str());
                }
                StagedLeft::Copy(sidecar) => copies.push((sidecar.as_path(), *item)),
            }
        }
        self.writer.rename_sidecars(copies)?;
        if !stubs.is_empty() {
            self.collection.confirm_names(stubs)?;
        }
        self.collection.record(self.locks, &events)?;
        announced.settle();
        Ok(unlisted)
    }
}

impl From<Leaves> for State {
    fn from(leaves: Leaves) -> State {
        match leaves {
            Leaves::Stub => State::Elsewhere,
            Leaves::Copy => State::Copy,
        }
    }
}
