//! Taking sources away, once the item made of them is proven to be whole on the disk.

use std::path::{Path, PathBuf};

use super::group::Staged;
use super::plan::{Planned, PlannedKind};
use super::root::{OpenRoot, Root};
use crate::collection::{Collection, CollectionError, Label};
use crate::disk::{Dir, PathError, Stamp, Watcher};
use crate::interrupt::Interrupt;
use crate::progress::NoProgress;
use crate::sidecar::Seal;
use crate::verify::{Depth, ProofError, prove as prove_item};

/// Why a source was not removed.
#[derive(Debug, thiserror::Error)]
pub(super) enum KeptError {
    #[error("the sidecar of the item does not read back as it was written")]
    NotProven,
    #[error("`{}` has changed since it was deposited", .0.display())]
    Changed(PathBuf),
    #[error("`{}` is not empty: something new is in it", .0.display())]
    NotEmpty(PathBuf),
    #[error(transparent)]
    Collection(#[from] CollectionError),
    #[error(transparent)]
    Proof(#[from] ProofError),
    #[error(transparent)]
    Disk(#[from] PathError),
}

/// Reads the item `label` back and then removes what it was made of.
///
/// Returns what was left and why. Nothing is removed of an item that does not read back.
pub(super) fn remove_source(
    staged: &Staged,
    label: &Label,
    collection: &Collection,
    interrupt: &Interrupt,
) -> Vec<KeptError> {
    if let Err(error) = prove(staged, label, collection, interrupt) {
        return vec![error];
    }
    let watcher = collection.root().watcher();
    let mut roots = Vec::new();
    for root in &staged.plan.roots {
        match root.open(watcher.clone()) {
            Ok(root) => roots.push(root),
            Err(error) => return vec![error.into()],
        }
    }
    let mut kept = Vec::new();
    // Deepest first: an entry sorts before everything below it.
    for planned in staged.plan.entries.iter().rev() {
        let root = &roots[planned.root];
        if let Err(error) = remove_entry(staged, planned, root, &watcher) {
            kept.push(error);
        }
    }
    if staged.plan.is_one_directory()
        && kept.is_empty()
        && let [root] = staged.plan.roots.as_slice()
        && let Err(error) = remove_root(root, &watcher)
    {
        kept.push(error);
    }
    kept
}

/// Reads every file of the published item from the disk and compares it with what was deposited.
fn prove(
    staged: &Staged,
    label: &Label,
    collection: &Collection,
    interrupt: &Interrupt,
) -> Result<(), KeptError> {
    let item = collection.item(&label.name)?;
    let (sidecar, seal) = item.sidecar()?;
    if seal != Seal::Intact || *sidecar.files != staged.done.entries {
        return Err(KeptError::NotProven);
    }
    Ok(prove_item(&item, Depth::FromDisk, &NoProgress, interrupt)?)
}

fn remove_entry(
    staged: &Staged,
    planned: &Planned,
    root: &OpenRoot,
    watcher: &Watcher,
) -> Result<(), KeptError> {
    let (dir, name) = match root {
        OpenRoot::File { root, .. } => (root.parent(watcher)?, root.path.clone()),
        OpenRoot::Directory(_) if planned.relative.as_os_str().is_empty() => {
            return remove_root(&staged.plan.roots[planned.root], watcher);
        }
        // Opened without passing links, so that nothing outside the source is removed.
        OpenRoot::Directory(walk) => {
            let above = planned.relative.parent().unwrap_or(Path::new(""));
            (walk.root().open_dir(above)?, planned.relative.clone())
        }
    };
    let name = Path::new(name.file_name().unwrap_or_default());
    let found = dir.stamp(name)?;
    match &planned.kind {
        PlannedKind::File { .. } => {
            if found != deposited_stamp(staged, planned) {
                return Err(KeptError::Changed(dir.path_of(name)));
            }
            dir.remove_file(name)?;
        }
        PlannedKind::Link { target } => {
            use std::os::unix::ffi::OsStrExt;
            if dir.read_link(name)?.as_bytes() != target {
                return Err(KeptError::Changed(dir.path_of(name)));
            }
            dir.remove_file(name)?;
        }
        PlannedKind::Directory { .. } => remove_empty_dir(&dir, name)?,
    }
    Ok(())
}

fn deposited_stamp(staged: &Staged, planned: &Planned) -> Option<Stamp> {
    let stamps = &staged.done.stamps;
    let at = stamps.binary_search_by(|(path, _)| path.cmp(&planned.path)).ok()?;
    Some(stamps[at].1)
}

fn remove_root(root: &Root, watcher: &Watcher) -> Result<(), KeptError> {
    let Some(name) = root.path.file_name() else { return Ok(()) };
    remove_empty_dir(&root.parent(watcher)?, Path::new(name))
}

fn remove_empty_dir(dir: &Dir, name: &Path) -> Result<(), KeptError> {
    match dir.remove_dir(name) {
        Err(error) if error.kind() == std::io::ErrorKind::DirectoryNotEmpty => {
            Err(KeptError::NotEmpty(dir.path_of(name)))
        }
        outcome => Ok(outcome?),
    }
}
