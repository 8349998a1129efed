//! A complete item in the stage, and its destination.

use std::path::{Path, PathBuf};

use super::giver::Offer;
use super::{Step, TransferError, Transferred};
use crate::collection::{Here, ImportedSource, ReadSidecar, StagedItem, StoredItem};
use crate::custody::Permit;
use crate::digest::Digest;
use crate::disk::Version;
use crate::identity::RepositoryName;
use crate::item::State;

/// An item on its way.
#[derive(Clone, Debug)]
pub(super) struct Staged {
    /// The name as the source spells it.
    pub name: RepositoryName,
    pub step: Step,
    /// The item in the stage, once it is staged.
    pub item: Option<StagedItem>,
    /// The permit of the receiver of the Original.
    pub received: Option<Permit>,
    /// The offer at the giver, once it is staged.
    pub offer: Option<Offer>,
    /// The line of the ledger of the destination once the item is there.
    pub there: Here,
    /// The source of the item, for imports into the destination.
    pub import: Option<ImportedSource>,
    /// Its place: the year, relative to the root of the destination, and the name in it.
    pub place: (PathBuf, PathBuf),
    /// The versions of the sidecars on which the decision is based: at the source, and at the destination with its holding,
    /// if there is one.
    pub source: Version,
    pub replaced: Option<(Here, Version)>,
    pub files: u64,
    pub bytes: u64,
    pub digest: Digest,
    /// Unlisted files, which move to the trash.
    pub unlisted: Vec<PathBuf>,
    /// Whether the item that it replaces moves to the trash as a whole.
    pub is_kept: bool,
}

impl Staged {
    /// The item `from` with its `step`, at its `place` in the destination. It is not staged yet.
    pub(super) fn of(
        from: &StoredItem,
        source: &ReadSidecar,
        step: Step,
        place: (PathBuf, PathBuf),
    ) -> Staged {
        let totals = source.sidecar.payload;
        Staged {
            name: from.name().clone(),
            step,
            item: None,
            received: None,
            offer: None,
            there: Here::under(
                &Permit::keep(&source.sidecar.custody),
                source.sidecar.state,
                source.sidecar.changed(),
            ),
            import: None,
            place,
            source: source.version,
            replaced: None,
            files: totals.files,
            bytes: totals.bytes,
            digest: totals.digest,
            unlisted: Vec::new(),
            is_kept: false,
        }
    }

    /// The item in the stage.
    pub(super) fn in_stage(&self) -> &StagedItem {
        self.item.as_ref().expect("because only items that were staged are published")
    }

    /// The error for an item that has changed since the decision.
    pub(super) fn changed(&self) -> TransferError {
        TransferError::Changed { name: self.name.clone() }
    }

    /// Its place, relative to the root of the destination.
    pub(super) fn at(&self) -> PathBuf {
        self.place.0.join(&self.place.1)
    }

    /// The same with the state that it gets in the collection with the id `to`.
    pub(super) fn to(mut self, to: &str) -> Staged {
        self.there.state = match self.step {
            Step::Bury => State::Deleted,
            Step::HandOver => State::Original,
            _ if self.there.custody.holder() == to => State::Original,
            _ => State::Copy,
        };
        self
    }

    /// The receiver gets the Original, as `permit` says.
    pub(super) fn receives(&mut self, permit: Permit) {
        self.there = Here::under(&permit, State::Original, self.there.changed);
        self.received = Some(permit);
    }

    /// The report of the published item.
    pub(super) fn transferred(&self, root: &Path) -> Transferred {
        let place = root.join(self.at());
        let replaced = self.replaced.as_ref().map(|(here, _)| here.state);
        let Staged { step, files, bytes, .. } = *self;
        Transferred {
            step,
            state: self.there.state,
            replaced,
            place,
            files,
            bytes,
            changed: self.there.changed,
            unlisted: self.unlisted.clone(),
        }
    }
}
