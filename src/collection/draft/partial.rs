//! Large items keep what has been copied of them when a run is cut short.
//!
//! Such an item is staged in `.urepo/partial`, under digests of its name and of the source's sidecar, and
//! stays there until its group is synced and about to be published: an interrupted run loses nothing
//! that it has finished. The next run takes over the files that are there, each once its bytes are proven by their digest: nothing else about them is trusted. A
//! kernel lock on the directory keeps a second run away, which then stages the item as any other.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::super::{Collection, ReadSidecar};
use crate::digest::Digest;
use crate::disk::{Dir, DirLock, PathError};
use crate::identity::RepositoryName;
use crate::layout;

/// A place where an item is staged so that it can be taken up again.
#[derive(Debug)]
pub(crate) struct Partial {
    /// `.urepo/partial`.
    pub(super) dir: Dir,
    /// The name of the item's directory in it.
    pub(super) item: PathBuf,
    /// The item's directory.
    pub(super) own: Dir,
    _lock: DirLock,
}

impl Partial {
    /// The place for the item that `source` describes, unless another process works there, or it
    /// belongs to another user, whose files keep the modes and times they have.
    pub(crate) fn open(
        to: &Collection,
        name: &RepositoryName,
        source: &ReadSidecar,
    ) -> Result<Option<Partial>, PathError> {
        match Partial::open_own(to, name, source) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(None),
            outcome => outcome,
        }
    }

    fn open_own(
        to: &Collection,
        name: &RepositoryName,
        source: &ReadSidecar,
    ) -> Result<Option<Partial>, PathError> {
        let dir = to.ensure_own()?.ensure_dir(layout::PARTIAL)?;
        // Names may be longer than the name of a file.
        let item = Digest::of(name.folded().as_bytes());
        let entry = format!("{item:.32}~{:.32}", source.text.digest());
        let own = dir.ensure_dir(&entry)?;
        let Some(lock) = own.try_lock()? else { return Ok(None) };
        // It may have been moved away, whole, before it was locked.
        if dir.stat(&entry)?.map(|stamp| stamp.identity) != Some(own.own_stat()?.identity) {
            return Ok(None);
        }
        own.confirm_owner()?;
        own.ensure_dir(layout::PAYLOAD)?;
        own.remove_file_if_there(Path::new(layout::SIDECAR))?;
        Ok(Some(Partial { dir, item: entry.into(), own, _lock: lock }))
    }

    /// Moves the item, whole now, to `staged` in the stage of the run.
    pub(super) fn complete(&self, stage: &Dir, staged: &Path) -> Result<(), PathError> {
        // The placeholder that `Writer::resumable_draft` made.
        stage.remove_dir(&staged.join(layout::PAYLOAD))?;
        stage.remove_dir(staged)?;
        self.dir.rename_new(&self.item, stage, staged)?;
        self.dir.sync()
    }

    /// Gives up what has been copied.
    pub(super) fn remove(&self) -> Result<(), PathError> {
        self.dir.remove_tree(&self.item)
    }
}
