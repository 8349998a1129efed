//! Depositing: files become items under new names.
//!
//! [`Plan::of_request`] inspects one request and refuses files that cannot be kept, before a byte is copied;
//! a dry run prints the plan. [`Depositor::run`] carries out many requests, in four steps that work on
//! different requests at the same time. `stager` and `stage` copy the files of plans into the stage, several
//! at a time, and read each byte once. `prepare` takes labels for a group of staged items and writes their
//! sidecars. One sync makes the group durable. `publish` publishes each item in one step, and only then
//! `report` reports it. `crate::flow` connects the first two steps. Creating files keeps the processor busy
//! and syncs keep the disk busy, so a group waits for the disk while the next ones are staged.
//! `source_removal` removes the sources, once the items are proven whole.
//!
//! # The order of writing, and why it is not protocol.md's
//!
//! A group is synced once, after its sidecars are written, and not also before its labels are taken. Nothing
//! is published before that sync, so the promises hold; after a failed sync, labels are skipped, which is
//! allowed.

mod duplicates;
mod error;
mod given;
mod group;
mod link;
mod pipeline;
mod place;
mod plan;
mod prepare;
mod publish;
mod report;
mod root;
mod sidecars;
mod source_place;
pub(crate) mod source_removal;
mod stage;
mod stager;

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use crate::collection::Label;
use crate::digest::Digest;
use crate::disk::Links;
use crate::item::{PayloadPath, Totals};
use crate::sidecar::Metadata;

pub use crate::flow::NoRoom;
pub(crate) use error::in_words;
pub use error::{DepositError, Existing};
pub use given::{Checks, Duplicate, DuplicateIndex, Preset};
pub(crate) use given::{check_ibip, not_yet_issued};
pub use link::{LinkFault, RefusedLink, RefusedLinks};
pub use pipeline::Depositor;
pub use place::DepositTarget;
pub use plan::{LeftOut, Plan, Planned, PlannedKind};
pub use report::Summary;
pub(crate) use sidecars::LEFT_OUT;
pub use source_place::SourcePlace;
pub(crate) use source_place::SourceResolver;

/// A request for one item.
#[derive(Debug)]
pub struct Request {
    /// Its source.
    pub source: Source,
    /// The file that the bare identifier opens; by default, the only file.
    pub target: Option<PayloadPath>,
    /// The description.
    pub metadata: Metadata,
    /// Its given properties.
    pub given: Preset,
}

/// The source of an item.
pub enum Source {
    /// A file, or the content of a directory.
    At(SourcePlace),
    /// Files and directories side by side, each under its own name.
    Together(Vec<PathBuf>),
    /// The bytes of a stream as one file. It does not become an item if a stop is requested before it is
    /// published, because the stream may be incomplete.
    Stream {
        /// The name of the file.
        name: PayloadPath,
        /// The source of the bytes.
        reader: Box<dyn Read + Send>,
    },
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.describe())
    }
}

impl Source {
    /// The source in messages.
    pub fn describe(&self) -> String {
        match self {
            Source::At(place) => place.path().display().to_string(),
            Source::Together(paths) => match paths.as_slice() {
                [] => "nothing".to_owned(),
                [path] => path.display().to_string(),
                [path, rest @ ..] => format!("{} and {} more", path.display(), rest.len()),
            },
            Source::Stream { name, .. } => format!("the stream `{name}`"),
        }
    }
}

/// Treatment of names that are the same name on some file systems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CollisionRule {
    /// The item is refused.
    #[default]
    Refuse,
    /// They are kept; the item cannot be copied to such a file system.
    Keep,
}

/// Treatment of the source of an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceRule {
    /// It stays.
    #[default]
    Keep,
    /// It is removed after the item was read back from the disk and found whole.
    Remove,
}

/// Options of a deposit.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Treatment of symbolic links.
    pub links: Links,
    /// Treatment of names that are the same name on some file systems.
    pub twins: CollisionRule,
    /// Treatment of the source.
    pub sources: SourceRule,
    /// Number of files copied at a time.
    pub jobs: usize,
}

/// A published and durable item.
#[derive(Clone, Debug)]
pub struct Deposited {
    /// Its identifier.
    pub label: Label,
    /// Its totals.
    pub payload: Totals,
    /// Its shape, which shows without reading whether the source is unchanged.
    pub shape: Digest,
    /// The digest of its content, whatever its name.
    pub content: Digest,
    /// Attributes of the source that were not kept.
    pub lost: Dropped,
    /// Entries of the source that were left out.
    pub left_out: Arc<[LeftOut]>,
    /// Why the source, or a part of it, could not be removed as requested.
    pub left: Vec<String>,
}

/// Counts of file attributes that were not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Files whose set-user-ID, set-group-ID or sticky bit was dropped.
    pub special_modes: u64,
    /// Files with extended attributes or access control lists.
    pub extended_attributes: u64,
}

/// The outcome of one request.
#[derive(Debug)]
pub struct Outcome {
    /// The number of the request, from 0.
    pub number: usize,
    /// The source in words.
    pub source: String,
    /// The item, or the reason of the failure.
    pub result: Result<Deposited, DepositError>,
}
