//! Adopting: an existing tree of four levels becomes a collection, in place.
//!
//! Nothing is moved, renamed or changed: each item gets a sidecar beside its files. `look` inspects one
//! directory and decides whether it is an item in order; `bibtex`, `describe` and `reference` find its
//! description. That writes nothing: a dry run ends there. `read` takes the digests, several files at a time,
//! and reads each byte once. `group` writes the sidecars of many items into the stage, syncs them once,
//! publishes each in one step that replaces nothing, and syncs again before any is reported. Items with a
//! sidecar are skipped, so a rerun adds new items only, and writes nothing if there are none.
//!
//! # What is kept of the old archives
//!
//! The name keeps its spelling. The IBIp comes from `@reference.bib`, because it cannot be computed. The
//! state is that of `version` in `.reserved/@` or in `@reference.bib`. If two references contradict each
//! other, or the record of the service cannot be read, the item becomes a Copy: a Copy can be promoted later,
//! while a second Original would contradict the first. Entries beside `doc` (`.reserved`, `not_sent`) stay in
//! place and are not part of the item.

mod bibtex;
mod describe;
mod error;
mod group;
mod labels;
mod look;
mod note;
mod read;
mod reference;
mod run;
mod words;

use std::path::PathBuf;
use std::time::Duration;

use crate::agent::Agent;
use crate::clock::Clock;
use crate::collection::Collection;
use crate::disk::Dir;
use crate::holdings::Peers;
use crate::identity::{Ibip, Instant, RepositoryName};
use crate::interrupt::Interrupt;
use crate::item::{PayloadPath, State};
use crate::progress::Progress;
use crate::sidecar::Metadata;

pub use error::AdoptError;
pub use note::Note;
pub use run::{has_items, measure};

/// Adopts the items of a tree.
pub struct Adopter<'a> {
    /// The mode of the run.
    pub mode: Mode<'a>,
    /// All items are Copies of Originals in the collection with this id, which is empty if the collection is unknown. Without
    /// it, each item gets the state that its references give, or else Original.
    pub copies_of: Option<&'a str>,
    /// Asked before an item becomes an Original.
    pub peers: Peers<'a>,
    /// Number of files read at a time.
    pub jobs: usize,
    /// The clock.
    pub clock: &'a dyn Clock,
    /// Receives the progress.
    pub progress: &'a dyn Progress,
    /// The request to stop.
    pub interrupt: &'a Interrupt,
}

/// Whether anything is written.
#[derive(Clone, Copy, Debug)]
pub enum Mode<'a> {
    /// Reports only what would be done.
    Plan {
        /// The tree.
        root: &'a Dir,
        /// The collection that the tree already is.
        collection: Option<&'a Collection>,
    },
    /// The items get their sidecars.
    Act {
        /// The collection of the tree.
        collection: &'a Collection,
        /// Who acts.
        agent: &'a Agent,
        /// The limit of waits for locks.
        wait: Duration,
    },
}

/// A plan for one item, made before its files are read.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The name that the item gets into its sidecar.
    pub name: RepositoryName,
    /// As it is spelt in the tree.
    spelt: RepositoryName,
    /// Its state.
    pub state: State,
    /// The entries of its payload, sorted by path.
    pub entries: Vec<(PayloadPath, Planned)>,
    /// Number of files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The file with its description, relative to the item.
    pub reference: Option<&'static str>,
    /// The description.
    pub metadata: Metadata,
    /// The IBIp.
    pub ibip: Option<Ibip>,
    /// The file that the bare identifier opens.
    pub target: Option<PayloadPath>,
    /// Identifiers of other items, by kind of relation.
    relations: crate::sidecar::Relations,
    /// The last update: that of the description, or else of the newest file.
    updated: Instant,
    /// Entries beside the payload, which stay in place.
    pub beside: Vec<PathBuf>,
    /// Notes for a person.
    pub notes: Vec<Note>,
}

impl<'a> Mode<'a> {
    fn collection(&self) -> Option<&'a Collection> {
        match *self {
            Mode::Plan { collection, .. } => collection,
            Mode::Act { collection, .. } => Some(collection),
        }
    }
}

impl Plan {
    /// The directory of the item, relative to the root, as it is spelt in the tree.
    pub fn directory(&self) -> &str {
        self.spelt.as_str()
    }
}

/// An entry of a payload as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Planned {
    /// A file, and its size in bytes.
    File {
        /// Its size.
        bytes: u64,
    },
    /// A link that says so.
    Link {
        /// The target of the link.
        target: Vec<u8>,
    },
    /// An empty directory.
    EmptyDirectory {
        /// Modification time.
        modified: Instant,
        /// Permission bits, nine of them.
        mode: u32,
    },
}

/// The outcome for one entry of the tree.
#[derive(Debug)]
pub enum Outcome {
    /// An item got its sidecar, or would get it.
    Taken(Box<Plan>),
    /// It has its sidecar already.
    There(RepositoryName),
    /// It is not an item, and stays unchanged.
    Stray {
        /// Where, relative to the root.
        path: PathBuf,
        /// Why it is not an item.
        why: &'static str,
    },
    /// It is not in order, and stays unchanged.
    Refused {
        /// Where, relative to the root.
        path: String,
        /// The reason.
        error: AdoptError,
    },
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct Summary {
    /// Items that got their sidecar, or would get it.
    pub taken: u64,
    /// Items that already have a sidecar.
    pub there: u64,
    /// Entries that are not items.
    pub strays: u64,
    /// Items that were refused.
    pub refused: u64,
    /// Files of the adopted items.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The error that ended the run early.
    pub fatal: Option<AdoptError>,
}
