//! Items leave the collection: as directories, as tar, as BagIt bags, with their descriptions.
//!
//! [`Exporter::to_directory`] makes one directory, or one tar file, an item; [`Exporter::to_stream`]
//! writes one tar stream. The collection is only read. Each byte is read once, and compared with the
//! digest in the sidecar while it is written: what is not as it should be never stands under its name.
//!
//! # What an item becomes
//!
//! It is called as [`file_name`] says: `example.org+archive+2026+11.21.02.13`. In that directory lie
//!
//! | format | payload | sidecar and descriptions |
//! |---|---|---|
//! | plain, tar | the files themselves | |
//! | plain, tar, with descriptions | `doc/…` | `item.toml`, `dc.xml`, … |
//! | bag | `data/…` | `metadata/item.toml`, `metadata/dc.xml`, … |
//!
//! So nothing of ours can meet a file of the payload, and one rename puts all of it in place.
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
use crate::item::State;

pub use crate::flow::{RunMode, Tombstones};
pub use error::ExportError;
pub use metadata::MetadataFormat;
pub use name::{NamedBy, file_name};
pub use part::Lost;
pub use run::Feed;

/// What an item becomes in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A directory.
    Plain,
    /// A tar file with that directory.
    Tar,
    /// A BagIt bag [RFC 8493].
    Bag,
}

/// What becomes of symbolic links in a bag, which knows none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BagLinks {
    /// An item that has one is not exported.
    #[default]
    Refuse,
    /// The file that it leads to, in the payload, stands in its place.
    Follow,
    /// They are left out; the sidecar in the bag still says what they were.
    Skip,
}

/// Whether the payload is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Payload {
    /// It is.
    #[default]
    Whole,
    /// Only what describes it.
    None,
}

/// What is exported of each item.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether the payload is; a bag always has it.
    pub payload: Payload,
    /// Whether the sidecar is, as it is; a bag always has it.
    pub sidecar: bool,
    /// The descriptions, each format once.
    pub metadata: Vec<MetadataFormat>,
    /// What becomes of links in a bag.
    pub links: BagLinks,
    /// What the items are called.
    pub named_by: NamedBy,
    /// Only items in this state.
    pub state: Option<State>,
    /// What it means that an item is deleted.
    pub tombstones: Tombstones,
    /// How far it goes.
    pub mode: RunMode,
}

/// Exports items of one collection.
pub struct Exporter<'a> {
    /// The collection.
    pub collection: &'a Collection,
    /// What is exported.
    pub options: Options,
    /// Who calls.
    pub caller: Caller<'a>,
}

/// A directory that gets exports.
#[derive(Clone, Copy, Debug)]
pub struct Destination<'a> {
    /// Where it is; made if it is missing, but not what it is in.
    pub path: &'a Path,
    /// What each item becomes there.
    pub format: Format,
    /// Sees what is done there.
    pub watcher: &'a Watcher,
}

/// An item that was exported, or would be.
#[derive(Clone, Debug)]
pub struct Exported {
    /// Where it is; in a stream, the directory in it.
    pub place: PathBuf,
    /// Its files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What the format could not keep.
    pub lost: Lost,
}

/// What became of one item.
#[derive(Debug)]
pub struct Outcome {
    /// The item, as it was asked for.
    pub name: RepositoryName,
    /// Where it is now, or why not.
    pub result: Result<Exported, ExportError>,
}

/// How a run ended.
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
    /// A stream does not have all that it should, and ends so that its reader notices.
    pub cut_short: bool,
    /// What ended the run before its time.
    pub fatal: Option<ExportError>,
}
