//! Where things are in a collection [design: on disk]. Pure: names and paths only.

use std::path::{Path, PathBuf};

use crate::identity::{Prefix, RepositoryName};

/// The settings of a collection, in its root.
pub const SETTINGS: &str = "urepo.toml";
/// What the collection is, for somebody without urepo, in the root.
pub const README: &str = "README";
/// urepo's own directory, in the root.
pub const OWN: &str = ".urepo";
/// The memories of the distributors, in [`OWN`].
pub const DISTRIBUTOR: &str = "distributor";
/// The collection lock, in [`OWN`]: writers share it, recovery has it alone.
pub const LOCK: &str = "lock";
/// Items in the making, in [`OWN`].
pub const STAGING: &str = "staging";
/// The holder of a stage, in the stage.
pub const HOLDER: &str = "holder";
/// Room for deleting on a full disk, in [`OWN`].
pub const RESERVE: &str = "reserve";
/// Large items of which a part has been copied, in [`OWN`].
pub const PARTIAL: &str = "partial";
/// The locks on items, one a stripe, in [`OWN`].
pub const ITEM_LOCKS: &str = "locks";
/// Hand-overs under way, in [`OWN`].
pub const JOURNAL: &str = "journal";
/// The event log, in [`OWN`].
pub const LOG: &str = "log";
/// What was deleted or replaced, in [`OWN`].
pub const TRASH: &str = "trash";
/// When items were last verified, in [`OWN`]: may be removed at any time.
pub const VERIFIED: &str = "verified";
/// What the collection should hold, and where what left has gone, in [`OWN`].
pub const INVENTORY: &str = "inventory";
/// What was imported from where, in [`OWN`].
pub const IMPORT: &str = "import";
/// The index, in [`OWN`]: may be removed at any time.
pub const INDEX: &str = "index.sqlite";
/// Shared by who uses the index, held alone by who puts another in its place; in [`OWN`].
pub const INDEX_LOCK: &str = "index.lock";
/// Held by who makes a new index, in [`OWN`].
pub const INDEX_MAKING: &str = "index.making";
/// Says that the index has missed something, in [`OWN`].
pub const INDEX_STALE: &str = "index.stale";
/// Held by who rebuilds what is missing of [`OWN`], in [`OWN`].
pub const REBUILDING: &str = "rebuild.lock";
/// Held by who writes into [`VERIFIED`], in it.
pub const VERIFIED_LOCK: &str = "lock";
/// The sidecar, in an item's directory.
pub const SIDECAR: &str = "item.toml";
/// The payload, in an item's directory.
pub const PAYLOAD: &str = "doc";

/// The directory of an item, relative to the root: four levels, always.
pub fn item_directory(name: &RepositoryName) -> PathBuf {
    name.components().iter().collect()
}

/// The directory that holds the years of a prefix, relative to the root.
pub fn prefix_directory(prefix: &Prefix) -> PathBuf {
    let (subdomain, word) = prefix.path_components();
    Path::new(&subdomain).join(word)
}

/// The lock file that holds the last date of `prefix`, in [`DISTRIBUTOR`].
///
/// `+` stands for the `/`: it occurs in no prefix. The prefixes of one subsystem share a file.
pub fn memory_file(prefix: &Prefix) -> String {
    format!("{}.lock", prefix.subsystem().replace('/', "+"))
}

/// The file that says who issues `prefix`, in the register of a machine.
pub fn register_file(prefix: &Prefix) -> String {
    format!("{}.toml", prefix.subsystem().replace('/', "+"))
}
