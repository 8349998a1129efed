//! Data passed from the staging side to the publishing side.

use std::path::PathBuf;
use std::sync::Arc;

use super::plan::Sources;
use super::stage::StagedPayload;
use super::{DepositError, Deposited, LeftOut, Metadata, Outcome, PayloadPath, Preset};
use crate::collection::{Collection, Here, Label, StagedItem, Writer};
use crate::digest::Digest;
use crate::disk::PathError;
use crate::distributor::Notice;
use crate::flow::{Reservation, Size};
use crate::item::{Shape, Totals};
use crate::layout;

/// An item in the stage, with a complete payload and no name yet.
pub(super) struct Staged {
    pub number: usize,
    pub item: StagedItem,
    pub source: String,
    /// Whether it came from a stream, whose end cannot be told from a truncation.
    pub is_stream: bool,
    pub origin: Option<PathBuf>,
    pub target: Option<PayloadPath>,
    pub metadata: Metadata,
    pub given: Preset,
    /// The sources of its files, if they are to be removed.
    pub sources: Option<Sources>,
    pub done: StagedPayload,
    /// Entries of its source that are left out.
    pub left_out: Arc<[LeftOut]>,
    pub payload: Totals,
    /// The digest of its [`content`](crate::item::content).
    pub content: Digest,
    /// Room for its unwritten parts.
    pub reserved: Option<Reservation>,
}

impl Staged {
    /// Ends here, without an item.
    pub(super) fn fails(self, error: impl Into<DepositError>) -> Outcome {
        Outcome { number: self.number, source: self.source, result: Err(error.into()) }
    }
}

/// Items with the same content as that of another request, given by its number.
pub(super) type Withheld = Vec<(Staged, usize)>;

/// The result of staging a request: an item, or the source in words with the reason of the failure.
pub(super) type Prepared = Result<Staged, (String, DepositError)>;

/// Its size in a group.
pub(super) fn size(prepared: &Prepared) -> Size {
    match prepared {
        Ok(staged) => Size { files: staged.done.entries.len(), bytes: staged.payload.bytes },
        Err(_) => Size::default(),
    }
}

/// A staged item with its name.
pub(super) struct LabeledItem {
    pub staged: Staged,
    pub label: Label,
    /// Its custody, and the date of its contents.
    pub here: Here,
}

impl LabeledItem {
    pub(super) fn deposited(&self) -> Deposited {
        Deposited {
            label: self.label.clone(),
            payload: self.staged.payload,
            shape: Shape::of(&self.staged.done.entries),
            content: self.staged.content,
            lost: self.staged.done.lost,
            left_out: Arc::clone(&self.staged.left_out),
            left: Vec::new(),
        }
    }
}

/// Consecutive requests that are published together.
#[derive(Default)]
pub(super) struct Group {
    /// The number of requests.
    pub count: usize,
    /// Items that only have to be synced and published.
    pub ready: Vec<LabeledItem>,
    /// Requests without an item.
    pub ended: Vec<Outcome>,
    /// Requests with the same content as another one.
    pub withheld: Withheld,
    /// Notices about the memories.
    pub notices: Vec<Notice>,
    /// Room for data that is written about them before they are reported.
    pub reserved: Vec<Reservation>,
    /// An error that would also stop later groups.
    pub fatal: Option<DepositError>,
    /// Why it is not durable.
    pub unsynced: Option<PathError>,
}

impl Group {
    /// Syncs the payloads and sidecars.
    pub(super) fn sync(mut self, collection: &Collection, writer: &Writer) -> Group {
        let year = |it: &LabeledItem| layout::item_place(&it.label.name).0;
        let years: Vec<_> = self.ready.iter().map(year).collect();
        let items = self.ready.iter().map(|it| &it.staged.item);
        let items = years.iter().map(PathBuf::as_path).zip(items);
        self.unsynced = writer.sync_staged(collection, items).err();
        self
    }
}
