//! What goes from the staging side to the publishing side.

use std::path::PathBuf;
use std::sync::Arc;

use super::plan::Sources;
use super::stage::StagedPayload;
use super::{DepositError, Deposited, LeftOut, Metadata, Outcome, PayloadPath, Preset};
use crate::collection::{Collection, Label, StagedItem, Writer};
use crate::disk::PathError;
use crate::distributor::Notice;
use crate::flow::{Reservation, Size};
use crate::index::Record;
use crate::item::{Shape, Totals, content};
use crate::layout;

/// An item in the stage: payload whole, no name yet.
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
    /// Where its files come from, if they are to be removed there.
    pub sources: Option<Sources>,
    pub done: StagedPayload,
    /// What of its source is not part of it.
    pub left_out: Arc<[LeftOut]>,
    pub payload: Totals,
    /// Room for what is not yet written of it.
    pub reserved: Option<Reservation>,
}

impl Staged {
    /// Ends here, without an item.
    pub(super) fn fails(self, error: impl Into<DepositError>) -> Outcome {
        Outcome { number: self.number, source: self.source, result: Err(error.into()) }
    }
}

/// Items that are the same as that of another request, which is given by its number.
pub(super) type Withheld = Vec<(Staged, usize)>;

/// What became of a request in the stage: an item, or the source in words and why there is none.
pub(super) type Prepared = Result<Staged, (String, DepositError)>;

/// How much of a group it takes.
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
}

impl LabeledItem {
    pub(super) fn deposited(&self) -> Deposited {
        Deposited {
            label: self.label.clone(),
            payload: self.staged.payload,
            shape: Shape::of(&self.staged.done.entries),
            content: content(&self.staged.done.entries, &self.staged.payload),
            lost: self.staged.done.lost,
            left_out: Arc::clone(&self.staged.left_out),
            left: Vec::new(),
        }
    }
}

/// A staged item that lacks nothing but a sync and its place.
pub(super) struct Publishable {
    pub named: LabeledItem,
    /// Its record for the index, if there is one.
    pub record: Option<Record>,
}

/// Requests that follow each other, on their way to be published together.
#[derive(Default)]
pub(super) struct Group {
    /// How many requests they are.
    pub count: usize,
    pub ready: Vec<Publishable>,
    /// Those that make no item.
    pub ended: Vec<Outcome>,
    /// Those that are the same as another request.
    pub withheld: Withheld,
    /// What was odd about the memories.
    pub notices: Vec<Notice>,
    /// Room for what is written of them until they are reported.
    pub reserved: Vec<Reservation>,
    /// What later groups would meet as well.
    pub fatal: Option<DepositError>,
    /// Why it is not on the disk.
    pub unsynced: Option<PathError>,
}

impl Group {
    /// Forces the payloads and sidecars to the disk.
    pub(super) fn sync(mut self, collection: &Collection, writer: &Writer) -> Group {
        let year = |it: &Publishable| layout::item_place(&it.named.label.name).0;
        let years: Vec<_> = self.ready.iter().map(year).collect();
        let items = self.ready.iter().map(|it| &it.named.staged.item);
        let items = years.iter().map(PathBuf::as_path).zip(items);
        self.unsynced = writer.sync_staged(collection, items).err();
        self
    }
}
