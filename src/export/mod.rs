//! Items leave the collection: as directories, as tar, as BagIt bags, with their descriptions.
//!
//! [`Exporter::to_directory`] writes one directory or tar file for each item; [`Exporter::to_stream`] writes
//! one tar stream. The collection is only read. Each byte is read once, and compared with the digest in the
//! sidecar while it is written: a damaged item never appears under its name.
//!
//! # What an item becomes
//!
//! An item becomes a directory named by [`file_name`], such as `example.org+archive+2026+11.21.02.13`, with
//!
//! | format | payload | sidecar and descriptions |
//! |---|---|---|
//! | plain, tar | the files themselves | |
//! | plain, tar, with descriptions | `doc/…` | `item.toml`, `dc.xml`, … |
//! | bag | `data/…` | `metadata/item.toml`, `metadata/dc.xml`, … |
//!
//! So added files never collide with files of the payload, and one rename publishes everything.
//!
//! # Files, in reading order
//!
//! | file | subject |
//! |---|---|
//! | `directory`, `stream`, `run` | item after item: in groups, or as they come |
//! | `source`, `part` | an item, read and judged; what of it is written |
//! | `outline`, `bag` | where what goes, and the tag files of bags |
//! | `sink`, `tree`, `tar` | where the bytes go |
//! | `place` | the directory of the exports, and the stage in it |
//! | `metadata/` | the description in the formats of others |

mod bag;
mod directory;
mod error;
pub mod metadata;
mod name;
mod outline;
mod part;
mod place;
mod run;
mod sink;
mod source;
mod stream;
mod tar;
mod tree;

use std::path::{Path, PathBuf};

use crate::agent::Caller;
use crate::collection::Collection;
use crate::disk::Watcher;
use crate::identity::RepositoryName;
use crate::item::States;

pub use crate::flow::{NameFeed, RunMode, Tombstones};
pub use error::ExportError;
pub use metadata::MetadataFormat;
pub use name::{NamedBy, file_name};
pub use part::Lost;

/// The form of an exported item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A directory.
    Plain,
    /// A tar file with that directory.
    Tar,
    /// A BagIt bag [RFC 8493].
    Bag,
}

/// Treatment of symbolic links in a bag, which cannot contain them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BagLinks {
    /// An item with links is not exported.
    #[default]
    Refuse,
    /// A link is replaced by its target, a file of the payload.
    Follow,
    /// Links are left out; the sidecar in the bag still lists them.
    Skip,
}

/// What is exported of each item, beside its payload.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether to export the unchanged sidecar; a bag always has it.
    pub sidecar: bool,
    /// The descriptions, each format once.
    pub metadata: Vec<MetadataFormat>,
    /// Treatment of links in a bag.
    pub links: BagLinks,
    /// The names of the exported items.
    pub named_by: NamedBy,
    /// Only items in this state.
    pub state: Option<States>,
    /// Treatment of deleted items.
    pub tombstones: Tombstones,
    /// Whether to write, or only to plan.
    pub mode: RunMode,
}

/// Exports items of one collection.
pub struct Exporter<'a> {
    /// The collection.
    pub collection: &'a Collection,
    /// The parts to export.
    pub options: Options,
    /// Who calls.
    pub caller: Caller<'a>,
}

/// The destination directory.
#[derive(Clone, Copy, Debug)]
pub struct Destination<'a> {
    /// Its path; created if missing, but without its parents.
    pub path: &'a Path,
    /// The form of each item.
    pub format: Format,
    /// The watcher of file operations.
    pub watcher: &'a Watcher,
}

/// An item that was exported, or would be.
#[derive(Clone, Debug)]
pub struct Exported {
    /// Its path; in a stream, its directory.
    pub place: PathBuf,
    /// Its files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The parts that the format could not keep.
    pub lost: Lost,
}

/// The outcome for one item.
#[derive(Debug)]
pub struct Outcome {
    /// The item, as requested.
    pub name: RepositoryName,
    /// The export, or why there is none.
    pub result: Result<Exported, ExportError>,
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct Summary {
    /// Items that were exported, or would be.
    pub exported: u64,
    /// Items that were not.
    pub failed: u64,
    /// Files of the exported items.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The stream is incomplete, and ends so that its reader notices.
    pub cut_short: bool,
    /// The error that ended the run early.
    pub fatal: Option<ExportError>,
}
