//! Importing: many sources become items, each once, however often the import is run or killed.
//!
//! [`SourceTree`], [`SourceList`] and [`Manifest`] name the sources as [`Candidate`]s. `decide` plans each,
//! by inspecting it (`look`) and the [`KnownSources`]; [`plan`] reports the plan. An [`Importer`] carries it out: a
//! [`Depositor`](crate::deposit::Depositor) makes the items in groups. When a group is durable, its lines are
//! written into the ledger, and then it is reported, and its source removed on request. `relate` links the items of rows, `update` corrects existing items, `estimate` estimates the time for
//! names.

mod bag;
mod candidate;
mod checks;
mod decide;
pub mod described;
mod error;
mod estimate;
mod forms;
mod list;
mod look;
mod manifest;
mod reject;
mod rejects;
mod relate;
mod run;
mod source_lookup;
mod sources;
mod tally;
mod tree;
mod update;

use std::path::PathBuf;
use std::time::Duration;

use crate::collection::Departed;
use crate::deposit::{self, Deposited, LeftOut};
use crate::disk::ExclusionRule;
use crate::identity::RepositoryName;
use crate::item::State;
use crate::sidecar::{Conditions, KeyChange, Metadata, Relations};

pub use bag::BagError;
pub use candidate::{Candidate, FoundCandidate, Refused, RowText};
pub use error::ImportError;
pub use estimate::waiting;
pub use list::SourceList;
pub use manifest::{
    COLUMN_SYNONYMS, ColumnPlace, Columns, Encoding, Format, Manifest, ManifestReader, MapError,
    RowError, RowFault, TableOptions, column_of, header, is_delimiter,
};
pub use reject::RejectDirectory;
pub use rejects::{RejectsFile, RejectsKind};
pub use relate::{Related, relate};
pub use run::{Importer, measure, plan};
pub use sources::KnownSources;
pub use tally::Summary;
pub use tree::{SourceTree, Units};
pub use update::{Updated, update};

/// The rule for bags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bags {
    /// Sources that declare themselves bags.
    #[default]
    Detect,
    /// Everything has to be one.
    Only,
}

/// The default title of an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefaultTitle {
    /// No title.
    #[default]
    None,
    /// The name of its source.
    SourceName,
}

/// Options of an import.
#[derive(Clone, Debug)]
pub struct Options {
    /// Options of deposits.
    pub deposit: deposit::Options,
    /// Whether a source is left out that has the content of another imported one. A source that was imported before and has not
    /// changed since always is.
    pub skips_same: bool,
    /// The rule for bags.
    pub bags: Bags,
    /// Sources that changed so recently are left alone.
    pub settle: Option<Duration>,
    /// The directory for sources that cannot become items.
    pub rejected: Option<RejectDirectory>,
    /// The description of all items.
    pub defaults: Defaults,
}

/// The description of all items of an import. A row wins over it, and it wins over a bag.
#[derive(Clone, Debug)]
pub struct Defaults {
    /// Terms.
    pub metadata: Metadata,
    /// Conditions.
    pub conditions: Conditions,
    /// The keys of the conditions that are given.
    pub condition_keys: Vec<&'static str>,
    /// Relations, of kinds that store nothing at the other end.
    pub relations: Relations,
    /// The title of items without one in the terms or in a row.
    pub title: DefaultTitle,
}

/// The outcome for one source.
#[derive(Debug)]
pub struct Event {
    /// The source in words.
    pub source: String,
    /// Its path, where it has one.
    pub path: Option<PathBuf>,
    /// Its row in the manifest.
    pub row: Option<RowText>,
    /// The outcome.
    pub became: Became,
    /// Why the source, or a part of it, could not be removed as requested.
    pub left: Vec<String>,
    /// The new path of a rejected source, or why it could not be moved.
    pub rejected: Option<Result<PathBuf, String>>,
}

impl Event {
    fn of(candidate: Candidate, became: Became) -> Event {
        let path = candidate.place.path();
        Event::new(path.display().to_string(), Some(path), candidate.row, became)
    }

    fn new(source: String, path: Option<PathBuf>, row: Option<RowText>, became: Became) -> Event {
        Event { source, path, row, became, left: Vec::new(), rejected: None }
    }
}

/// The outcome for a source.
#[derive(Debug)]
pub enum Became {
    /// It would become an item.
    Planned {
        /// Number of files.
        files: u64,
        /// Their bytes.
        bytes: u64,
        /// The entries that would be left out.
        left_out: Vec<LeftOut>,
    },
    /// An item.
    Item(Deposited),
    /// It was already this item.
    There(RepositoryName),
    /// It was already this item, made by other rules of links and patterns.
    OtherRules(RepositoryName),
    /// It became an item before, which has left since.
    Left(Box<Departed>),
    /// It is left out.
    LeftOut(ExclusionRule),
    /// It is named twice, and counted once.
    Twice,
    /// Its item was corrected by its row, also in a dry run.
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
    /// Nothing.
    Failed(ImportError),
}

/// Why an item was not corrected by its row.
#[derive(Debug)]
pub enum NotUpdated {
    /// It is a Copy or deleted here.
    State(State),
    /// It has left the collection.
    Left(Box<Departed>),
    /// It could not be corrected.
    Failed(ImportError),
}

/// Treatment of rows that differ from their items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// They are counted.
    Count,
    /// The changes are reported and not made.
    Plan,
    /// The items are corrected.
    Act,
}

/// Receives the outcome for each source; for new items, after they are durable.
pub trait Tell: Send {
    /// Returns whether to go on; it fails if its output is closed.
    fn tell(&mut self, events: Vec<Event>) -> Result<(), ImportError>;
}

impl<F: FnMut(Vec<Event>) -> Result<(), ImportError> + Send> Tell for F {
    fn tell(&mut self, events: Vec<Event>) -> Result<(), ImportError> {
        self(events)
    }
}
