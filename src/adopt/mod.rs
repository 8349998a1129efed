//! Adopting: a tree of four levels that is there already becomes a collection, in place.
//!
//! Nothing is moved, renamed or changed: each item gets its sidecar beside what is there. `look` decides
//! of one directory whether it is an item in order, with what `bibtex`, `describe` and `reference` find about
//! it, and writes nothing: a dry run ends there. `read` takes the digests, several files at a time, each byte
//! read once. `group` writes the sidecars of many items into the stage, forces them to the disk with
//! one sync, puts each in place in one step that replaces nothing, and syncs again before any is
//! reported. Items that have their sidecar are passed over, so a rerun adds what is new, and one that
//! finds nothing new writes nothing at all.
//!
//! # What is kept of the old archives
//!
//! The name as it is spelt, and its opaque twin as `@reference.bib` has it: it cannot be computed. The state
//! is that of `version` in `.reserved/@` or in `@reference.bib`. What may be a Copy is taken in as a Copy: where
//! two references contradict each other, or the record of the service cannot be read or understood. A Copy
//! too many is promoted later, while a second Original would contradict the first. What
//! lies beside `doc` (`.reserved`, `not_sent`) is left alone and is no part of the item.

pub(crate) mod bibliography;
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
mod spoken;

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

/// Takes in the items of a tree.
pub struct Adopter<'a> {
    /// What is done, and where.
    pub mode: Mode<'a>,
    /// The state of all items; without it, the state that the references of each give, and Original where none
    /// does.
    pub state: Option<State>,
    /// Asked before an item becomes an Original.
    pub peers: Peers<'a>,
    /// How many files are read at a time.
    pub jobs: usize,
    /// The clock.
    pub clock: &'a dyn Clock,
    /// Hears how far it has come.
    pub progress: &'a dyn Progress,
    /// Asks for a stop.
    pub interrupt: &'a Interrupt,
}

/// Whether anything is written.
#[derive(Clone, Copy, Debug)]
pub enum Mode<'a> {
    /// Reports only what would be done.
    Plan {
        /// The tree.
        root: &'a Dir,
        /// The collection that it is already.
        collection: Option<&'a Collection>,
    },
    /// The items get their sidecars.
    Act {
        /// The collection that the tree is.
        collection: &'a Collection,
        /// Who acts.
        agent: &'a Agent,
        /// How long a lock is waited for.
        wait: Duration,
    },
}

/// What is known of an item before its files are read.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The name that the item gets into its sidecar.
    pub name: RepositoryName,
    /// As it is spelt in the tree.
    spelt: RepositoryName,
    /// What it is held as.
    pub state: State,
    /// What its payload consists of, sorted by path.
    pub entries: Vec<(PayloadPath, Planned)>,
    /// How many files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Where its description was found, in the item.
    pub reference: Option<&'static str>,
    /// The description.
    pub metadata: Metadata,
    /// The opaque twin of the name.
    pub ibip: Option<Ibip>,
    /// What the bare identifier opens.
    pub target: Option<PayloadPath>,
    /// Identifiers of other items, by kind of relation.
    relations: crate::sidecar::Relations,
    /// The last update, where the description tells it.
    updated: Option<Instant>,
    /// What lies in the item beside its payload, and stays as it is.
    pub beside: Vec<PathBuf>,
    /// What is odd about it.
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
    /// A directory with nothing in it.
    EmptyDirectory {
        /// Modification time.
        modified: Instant,
        /// Permission bits, nine of them.
        mode: u32,
    },
}

/// What became of one thing in the tree.
#[derive(Debug)]
pub enum Outcome {
    /// An item got its sidecar, or would get it.
    Taken(Box<Plan>),
    /// It has its sidecar already.
    There(RepositoryName),
    /// It is no item, and is left alone.
    Stray {
        /// Where, relative to the root.
        path: PathBuf,
        /// Why it is none.
        why: &'static str,
    },
    /// It is not in order, and is left alone.
    Refused {
        /// Where, relative to the root.
        path: String,
        /// The reason.
        error: AdoptError,
    },
}

/// How a run ended.
#[derive(Debug, Default)]
pub struct Summary {
    /// Items that got their sidecar, or would get it.
    pub taken: u64,
    /// Items that have it already.
    pub there: u64,
    /// What is no item.
    pub strays: u64,
    /// What was refused.
    pub refused: u64,
    /// Files of the items taken in.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What ended the run before its time.
    pub fatal: Option<AdoptError>,
}
