//! Stray entries, where only items or levels of the tree belong.

use std::path::{Path, PathBuf};

use super::Code;
use super::finding::{Finding, Place, describe};
use crate::disk::{Dir, Kind, PathError};
use crate::identity::RepositoryName;

/// The place of a displaced item.
pub(super) const IN_TRASH: &str = "it is whole in the trash; `urepo recover` puts it back";

/// The finding for an entry of `kind` at `path`, in the place of an item or of a level of the tree.
pub(super) fn in_the_way(path: PathBuf, kind: Kind) -> Finding {
    match kind {
        Kind::Link => Finding::of_kind(Place::Tree(path), "a directory", kind),
        kind => stray(path, kind),
    }
}

/// The finding for an entry of `kind` at `path`, beside the items.
pub(super) fn stray(path: PathBuf, kind: Kind) -> Finding {
    let detail = format!("{} that is not part of an identifier", describe(kind));
    Finding::new(Code::Stray, Place::Tree(path), detail)
}

/// The finding for a directory that has an identifier for its name, and nothing of an item.
pub(super) fn no_item(name: &RepositoryName) -> Finding {
    let detail = "a directory without an item, of which there is no record; `rmdir` removes it if it is empty";
    Finding::new(Code::Stray, Place::Tree(name.as_str().into()), detail)
}

/// The kind of `path`, without following links.
pub(super) fn kind_at(root: &Dir, path: &Path) -> Result<Option<Kind>, PathError> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
    let Some(dir) = root.open_dir_if_there(parent)? else { return Ok(None) };
    Ok(dir.stat(name)?.map(|stamp| stamp.kind))
}
