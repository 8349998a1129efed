//! A complete item in the stage, and its destination.

use std::path::{Path, PathBuf};

use super::decide::{Replaces, Step};
use super::{TransferError, Transferred};
use crate::collection::{ReadSidecar, StagedItem, StoredItem};
use crate::digest::Digest;
use crate::disk::Version;
use crate::identity::RepositoryName;

/// A complete item in the stage, with its new sidecar.
#[derive(Clone, Debug)]
pub(super) struct Staged {
    /// The name as the source spells it.
    pub name: RepositoryName,
    pub step: Step,
    /// The item in the stage, once it is staged.
    pub item: Option<StagedItem>,
    /// The staged new sidecar of an Original that is renamed.
    pub history: Option<PathBuf>,
    /// Its place: the year, relative to the root of the destination, and the name in it.
    pub place: (PathBuf, PathBuf),
    /// The versions of the sidecars on which the decision is based: at the source, and at the destination if
    /// there is one.
    pub source: Version,
    pub replaced: Option<Version>,
    pub files: u64,
    pub bytes: u64,
    /// The digest of the manifest, if it was computed.
    pub digest: Option<Digest>,
    /// Unlisted files, which move to the trash.
    pub unlisted: Vec<PathBuf>,
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
        let (files, bytes) = match step {
            Step::Bury(Replaces::Nothing) => (0, 0),
            _ => (totals.files, totals.bytes),
        };
        Staged {
            name: from.name().clone(),
            step,
            item: None,
            history: None,
            place,
            source: source.version,
            replaced: None,
            files,
            bytes,
            digest: Some(totals.digest),
            unlisted: Vec::new(),
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

    /// The report of the published item.
    pub(super) fn transferred(&self, root: &Path) -> Transferred {
        let place = root.join(self.at());
        let Staged { step, files, bytes, .. } = *self;
        Transferred { step, place, files, bytes, unlisted: self.unlisted.clone() }
    }
}
