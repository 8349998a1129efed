//! An item that is whole in the stage, and where it goes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::decide::{Replaces, Step};
use super::resume::ResumableStage;
use super::{TransferError, Transferred};
use crate::collection::{ReadSidecar, StoredItem};
use crate::digest::Digest;
use crate::disk::{Dir, Version};
use crate::identity::RepositoryName;

/// An item that is whole in the stage, with the sidecar it will have.
#[derive(Clone, Debug)]
pub(super) struct Staged {
    /// The name as the source spells it.
    pub name: RepositoryName,
    pub step: Step,
    /// Its directory in the stage; of an Original that is renamed as it is, its new sidecar.
    pub item: PathBuf,
    /// Where it belongs: the year, relative to the root of the destination, and the name in it.
    pub place: (PathBuf, PathBuf),
    /// The versions of the sidecars it was decided by: at the source, and at the destination if there is one.
    pub source: Version,
    pub replaced: Option<Version>,
    pub files: u64,
    pub bytes: u64,
    /// Of the manifest, if it was looked at that closely.
    pub digest: Option<Digest>,
    /// What moves to the trash because no sidecar lists it.
    pub unlisted: Vec<PathBuf>,
    /// Where it is made, if it is to be taken up again when this run is cut short.
    pub partial: Option<Arc<ResumableStage>>,
}

impl Staged {
    /// What `step` is to do with the item `from`, at its `place` in the destination. It is not staged yet.
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
            item: PathBuf::new(),
            place,
            source: source.version,
            replaced: None,
            files,
            bytes,
            digest: Some(totals.digest),
            unlisted: Vec::new(),
            partial: None,
        }
    }

    /// Where it is as long as it is staged: a directory, and the item in it.
    pub(super) fn made_in<'a>(&'a self, stage: &'a Dir) -> (&'a Dir, &'a Path) {
        match &self.partial {
            Some(partial) => (&partial.dir, &partial.item),
            None => (stage, &self.item),
        }
    }

    /// The staged sidecar of an Original that is renamed as it is.
    pub(super) fn history(&self) -> Option<&Path> {
        Some(&*self.item).filter(|sidecar| !sidecar.as_os_str().is_empty())
    }

    /// Brings it into the stage, now that it is synced and about to be published.
    pub(super) fn complete(&self, stage: &Dir) -> Result<(), TransferError> {
        self.partial.as_ref().map_or(Ok(()), |partial| partial.complete(stage, &self.item))
    }

    /// That the item is not the one it was decided by.
    pub(super) fn changed(&self) -> TransferError {
        TransferError::Changed { name: self.name.clone() }
    }

    /// Where it belongs, relative to the root of the destination.
    pub(super) fn at(&self) -> PathBuf {
        self.place.0.join(&self.place.1)
    }

    /// The report of the item once it is in place.
    pub(super) fn transferred(&self, root: &Path) -> Transferred {
        let place = root.join(self.at());
        let Staged { step, files, bytes, .. } = *self;
        Transferred { step, place, files, bytes, unlisted: self.unlisted.clone() }
    }
}
