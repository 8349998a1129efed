//! Reading the ledger for an import: the recorded items, and the sources of those that imports made.

use super::chain::{self, ChainReader, Position};
use super::imported::ImportedSource;
use super::replay::LineHead;
use super::{Collection, Event};
use crate::disk::PathError;

/// Reads the lines about items, and further when the ledger has grown. The place of a line is a number that rises.
#[derive(Debug)]
pub(crate) struct ImportReader(ChainReader);

impl Collection {
    /// A reader from the first line on; `None` while the ledger is lost.
    pub(crate) fn import_reader(&self) -> Result<Option<ImportReader>, PathError> {
        Ok(self.ledger()?.map(|dir| ImportReader(ChainReader::new(dir))))
    }
}

impl ImportReader {
    /// Calls `visit` for each new line about an item: with its folded name, whether the line is about its holding, and
    /// the source with the place of the line, if it has one.
    pub(crate) fn read_on(
        &mut self,
        mut visit: impl FnMut(&str, bool, Option<(ImportedSource, u64)>),
    ) -> Result<(), PathError> {
        self.0.read_on(|Position { file, offset }, line| {
            let Some(head) = LineHead::of(line) else { return };
            let source = head.import.and_then(|text| serde_json::from_str(text.get()).ok());
            let source = source.map(|source| (source, u64::from(file) << 32 | offset));
            visit(&head.folded(), head.is_of_holding(), source);
        })
    }

    /// The event of the line at `place`.
    pub(crate) fn event_at(&self, place: u64) -> Result<Option<Event>, PathError> {
        let file = u32::try_from(place >> 32).unwrap_or_default();
        let position = Position { file, offset: place & u64::from(u32::MAX) };
        let Some(file) = self.0.file_of(position) else { return Ok(None) };
        let line = chain::line_at(&file, position.offset)?;
        Ok(line.and_then(|line| serde_json::from_slice(&line).ok()))
    }
}
