//! Importing: many sources become items, each once, however often the import is run or killed.
//!
//! [`SourceTree`], [`SourceList`] and [`Manifest`] name the sources as [`Candidate`]s. `decide` says what is done with
//! each, by a look at it (`look`) and at the [`Ledger`]: that is the plan, which [`plan`] tells. An
//! [`Importer`] carries it out: a [`Depositor`](crate::deposit::Depositor) makes the items in groups, and
//! when a group is durable, its lines are written into the ledger, and then it is reported. `after` moves or
//! removes sources that became items, `relate` links the items of rows, `update`
//! corrects those that were there, `estimate` says how long their
//! names take.

mod after;
mod bag;
mod candidate;
mod checks;
mod decide;
pub mod described;
mod error;
mod estimate;
mod failed;
mod failure;
mod ledger;
mod list;
mod look;
mod manifest;
mod relate;
mod run;
mod source_lookup;
mod tally;
mod tree;
mod update;

use std::path::PathBuf;
use std::time::Duration;

use crate::collection::InventoryLine;
use crate::deposit::{self, Deposited, LeftOut};
use crate::disk::ExclusionRule;
use crate::identity::RepositoryName;
use crate::item::State;
use crate::sidecar::{KeyChange, Metadata};

pub use after::ArchiveDirectory;
pub use bag::BagError;
pub use candidate::{Candidate, FoundCandidate, Refused, RowText};
pub use error::ImportError;
pub use estimate::waiting;
pub use failed::{FailedFile, FailedKind};
pub use ledger::Ledger;
pub use list::SourceList;
pub use manifest::{
    COLUMN_SYNONYMS, ColumnPlace, Columns, Encoding, Format, Manifest, ManifestReader, MapError,
    RowError, RowFault, TableOptions, header, is_delimiter,
};
pub use relate::{Related, relate};
pub use run::{Importer, measure, plan};
pub use tally::Summary;
pub use tree::{SourceTree, Units};
pub use update::{Updated, update};

/// When a source is not imported again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dedupe {
    /// When it was imported before and has not changed since.
    #[default]
    Source,
    /// When anything that was imported has the same content.
    Content,
    /// Never.
    None,
}

/// What is a bag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bags {
    /// Sources that declare themselves bags.
    #[default]
    Detect,
    /// Everything has to be one.
    Only,
}

/// What becomes of sources that are items.
#[derive(Clone, Debug, Default)]
pub enum After {
    /// They stay.
    #[default]
    Keep,
    /// They are removed, once the item was read back from the disk.
    Remove,
    /// They are moved, once the item was read back from the disk.
    Move(ArchiveDirectory),
}

/// What the title of an item is that has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefaultTitle {
    /// It has none.
    #[default]
    None,
    /// The name of its source.
    SourceName,
}

/// How an import is done.
#[derive(Clone, Debug)]
pub struct Options {
    /// How items are made; what is done with sources is said by `after`.
    pub deposit: deposit::Options,
    /// When a source is not imported again.
    pub dedupe: Dedupe,
    /// What is a bag.
    pub bags: Bags,
    /// Sources that changed so recently are left alone.
    pub settle: Option<Duration>,
    /// Nothing is begun after so long.
    pub time_limit: Option<Duration>,
    /// What becomes of the sources.
    pub after: After,
    /// Where sources are moved that cannot become items.
    pub rejected: Option<ArchiveDirectory>,
    /// The description of all items; a row wins over it.
    pub metadata: Metadata,
    /// The title of items that neither it nor a row gives one.
    pub title: DefaultTitle,
}

/// What became of one source.
#[derive(Debug)]
pub struct Event {
    /// The source in words.
    pub source: String,
    /// Its path, where it has one.
    pub path: Option<PathBuf>,
    /// Its row in the manifest.
    pub row: Option<RowText>,
    /// What became of it.
    pub became: Became,
    /// Why the source, or a part of it, is still where it was though that was not asked for.
    pub left: Vec<String>,
    /// Where a source is now that was to be moved because it cannot become an item, or why it is not there.
    pub rejected: Option<Result<PathBuf, String>>,
    /// Whether an earlier run reported the same failure of the same source.
    pub is_known: bool,
}

impl Event {
    fn new(source: String, path: Option<PathBuf>, row: Option<RowText>, became: Became) -> Event {
        Event { source, path, row, became, left: Vec::new(), rejected: None, is_known: false }
    }
}

/// What became of a source.
#[derive(Debug)]
pub enum Became {
    /// It would become an item.
    Planned {
        /// How many files.
        files: u64,
        /// Their bytes.
        bytes: u64,
        /// What of the source would not be part of it.
        left_out: Vec<LeftOut>,
    },
    /// An item.
    Item(Deposited),
    /// It was this item already.
    There(RepositoryName),
    /// It was this item already, which was made by other rules of links and patterns.
    OtherRules(RepositoryName),
    /// It became an item before, which has left since.
    Left(Box<InventoryLine>),
    /// It is left out.
    LeftOut(ExclusionRule),
    /// It is named twice, and counted once.
    Twice,
    /// Its item was corrected by its row, or would be.
    Updated {
        /// The item.
        name: RepositoryName,
        /// The keys that change.
        changes: Vec<KeyChange>,
    },
    /// Its item differs from its row and was not corrected.
    NotUpdated {
        /// The item.
        name: RepositoryName,
        /// Why.
        reason: NotUpdated,
    },
    /// It changed a moment ago; the next import takes it.
    Unsettled,
    /// It is named, and lies where sources go that are done with.
    Done,
    /// Nothing.
    Failed(ImportError),
}

/// Why an item was not corrected by its row.
#[derive(Debug)]
pub enum NotUpdated {
    /// It is a Copy or deleted here.
    State(State),
    /// It has left the collection.
    Left(Box<InventoryLine>),
    /// It could not be corrected.
    Failed(ImportError),
}

/// What is done with rows that differ from their items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// They are counted.
    Count,
    /// The changes are reported and not made.
    Plan,
    /// The items are corrected.
    Act,
}

/// Hears what became of each source: of those that became items when they are durable.
pub trait Tell: Send {
    /// Says whether to go on: it fails when nobody listens.
    fn tell(&mut self, events: Vec<Event>) -> Result<(), ImportError>;
}

impl<F: FnMut(Vec<Event>) -> Result<(), ImportError> + Send> Tell for F {
    fn tell(&mut self, events: Vec<Event>) -> Result<(), ImportError> {
        self(events)
    }
}
