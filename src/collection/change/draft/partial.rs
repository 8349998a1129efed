//! Large items keep their copied files when a run is interrupted.
//!
//! Such an item is staged in `.urepo/partial`, under digests of its name and of the source's sidecar, and
//! stays there until its group is synced and about to be published: an interrupted run loses no finished
//! file. The next run takes over each file whose digest is right, and trusts nothing else about it. A kernel
//! lock on the directory keeps a second run away, which then stages the item normally.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::collection::{Collection, ReadSidecar};
use crate::digest::Digest;
use crate::disk::{Dir, DirLock, PathError};
use crate::identity::RepositoryName;
use crate::layout;

/// A place where an item is staged so that a later run can resume it.
#[derive(Debug)]
pub(crate) struct Partial {
    /// `.urepo/partial`.
    pub(super) dir: Dir,
    /// The name of the item's directory in `.urepo/partial`.
    pub(super) item: PathBuf,
    /// The item's directory.
    pub(super) own: Dir,
    _lock: DirLock,
}

impl Partial {
    /// The place for the item that `source` describes. `None` if another process works there, or if it
    /// belongs to another user, because modes and times of such files cannot be set.
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
        // An identifier may be longer than a file name.
        let item = Digest::of(name.folded().as_bytes());
        let entry = format!("{item:.32}~{:.32}", source.text.digest());
        let own = dir.ensure_dir(&entry)?;
        let Some(lock) = own.try_lock()? else { return Ok(None) };
        // Another run may have completed and moved it before it was locked.
        if dir.stat(&entry)?.map(|stamp| stamp.identity) != Some(own.own_stat()?.identity) {
            return Ok(None);
        }
        own.confirm_owner()?;
        own.ensure_dir(layout::PAYLOAD)?;
        own.remove_file_if_there(Path::new(layout::SIDECAR))?;
        Ok(Some(Partial { dir, item: entry.into(), own, _lock: lock }))
    }

    /// Moves the complete item to `staged` in the stage of the run.
    pub(super) fn complete(&self, stage: &Dir, staged: &Path) -> Result<(), PathError> {
        // The placeholder that `Writer::resumable_draft` made.
        stage.remove_dir(&staged.join(layout::PAYLOAD))?;
        stage.remove_dir(staged)?;
        self.dir.rename_new(&self.item, stage, staged)?;
        self.dir.sync()
    }

    /// Discards the copied files.
    pub(super) fn remove(&self) -> Result<(), PathError> {
        self.dir.remove_tree(&self.item)
    }
}
