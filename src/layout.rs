//! The paths in a collection.

use std::path::{Path, PathBuf};

use crate::identity::{IbipPrefix, Prefix, RepositoryName};

/// The settings of a collection, in its root.
pub const SETTINGS: &str = "urepo.toml";
/// The explanation of the layout without urepo, in the root.
pub const README: &str = "README";
/// urepo's own directory, in the root.
pub const OWN: &str = ".urepo";
/// The memories of the distributors, in [`OWN`].
pub const MEMORY: &str = "memory";
/// The collection lock, in [`OWN`]: writers share it, recovery holds it exclusively.
pub const LOCK: &str = "lock";
/// Items being built, in [`OWN`].
pub const STAGING: &str = "staging";
/// The holder of a stage, in the stage.
pub const HOLDER: &str = "holder";
/// The names of the items that a run is about to change, in its stage.
pub const CHANGE_NOTE: &str = "names";
/// Space reserved for deleting on a full disk and for migrating away from it, in [`OWN`].
pub const RESERVE: &str = "reserve";
/// Large items that are partly copied, in [`OWN`].
pub const PARTIAL: &str = "partial";
/// Deleted and replaced data, in [`OWN`].
pub const TRASH: &str = "trash";
/// How far the present round of verification came, in [`OWN`]: may be removed at any time.
pub const ROUND: &str = "round";
/// The ledger, in [`OWN`].
pub const LEDGER: &str = "ledger";
/// The lock of those who change items, append to the ledger, or rebuild parts of [`OWN`], in [`OWN`].
pub const CHANGE_LOCK: &str = "change.lock";
/// The sidecar, in an item's directory.
pub const SIDECAR: &str = "item.toml";
/// The payload, in an item's directory.
pub const PAYLOAD: &str = "doc";
/// The files and the directories in the directory of an item.
pub(crate) const ITEM: (&[&str], &[&str]) = (&[SIDECAR], &[PAYLOAD]);

/// The place of a payload `path` in the directory of its item.
pub fn in_payload(path: impl AsRef<Path>) -> PathBuf {
    Path::new(PAYLOAD).join(path)
}

/// The directory of an item, relative to the root: always four levels.
pub fn item_directory(name: &RepositoryName) -> PathBuf {
    name.components().join("/").into()
}

/// The year of an item, relative to the root, and the name of the item's directory in it.
pub(crate) fn item_place(name: &RepositoryName) -> (PathBuf, PathBuf) {
    let [subdomain, word, year, leaf] = name.components();
    ([subdomain, word, year].iter().collect(), PathBuf::from(leaf))
}

/// The lock file that holds the last date of `prefix`, in [`MEMORY`] or in the host state.
///
/// `+` stands for the `/`: it occurs in no prefix. The prefixes of one subsystem share a file.
pub fn memory_file(prefix: &Prefix) -> String {
    prefix.subsystem().replace('/', "+")
}

/// The same for IBIps, in the host state. Every prefix of names has a `+` in its file name, so the two never collide.
pub fn memory_file_of_ibips(prefix: &IbipPrefix) -> String {
    format!("ibip-{}", prefix.as_str().to_ascii_lowercase())
}
