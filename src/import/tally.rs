//! How an import ended.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::candidate::FoundCandidate;
use super::failure::is_contradiction;
use super::{Became, Event, ImportError, Related, Updated};
use crate::distributor::Notice;

/// How an import ended.
#[derive(Debug, Default)]
pub struct Summary {
    /// Sources that became items, or would.
    pub imported: u64,
    /// Their files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sources that were items already, wherever those are now, or are named twice.
    pub there: u64,
    /// Sources that changed a moment ago.
    pub unsettled: u64,
    /// Sources that became no items.
    pub failed: u64,
    /// Sources that are still where they were, though that was not asked for.
    pub left: u64,
    /// Of the failed ones, those that an earlier run reported.
    pub known_failed: u64,
    /// Of those that are still where they were, those that an earlier run reported.
    pub known_left: u64,
    /// Whether there was no time for all of them.
    pub out_of_time: bool,
    /// What was odd about the memories.
    pub notices: Vec<Notice>,
    /// What became of rows whose items were there already and differ.
    pub rows: Updated,
    /// Of the failed ones, rows whose items are there: their relations were not set.
    pub unrelated: u64,
    /// The paths of rows of which nothing more is taken: their sources do not have the bytes that were given, or their
    /// items could not be updated.
    pub refused: BTreeSet<PathBuf>,
    /// What ended the run before its time.
    pub fatal: Option<ImportError>,
}

impl Summary {
    /// `rows` without those that are refused.
    pub fn without_refused<I: Iterator<Item = FoundCandidate>>(
        &self,
        rows: I,
    ) -> impl Iterator<Item = FoundCandidate> + use<I> {
        let paths = self.refused.clone();
        rows.filter(move |found| match found {
            Ok(candidate) if !paths.is_empty() => !paths.contains(&candidate.place.path()),
            _ => true,
        })
    }

    /// Adds what became of the relations of rows.
    pub fn add(&mut self, related: Related) {
        self.unrelated += related.failed;
        self.failed += related.failed;
        self.rows.updated += related.completed;
    }

    pub(super) fn count(&mut self, event: &Event) {
        match &event.became {
            Became::Planned { files, bytes, .. } => {
                self.imported += 1;
                self.files += files;
                self.bytes += bytes;
            }
            Became::Item(deposited) => {
                self.imported += 1;
                self.files += deposited.payload.files;
                self.bytes += deposited.payload.bytes;
            }
            Became::There(_) | Became::OtherRules(_) | Became::Left(_) | Became::Twice => {
                self.there += 1;
            }
            // Those who tell count what is left out, in items and beside them, and what is done with.
            Became::LeftOut(_)
            | Became::Done
            | Became::Updated { .. }
            | Became::NotUpdated { .. } => {}
            Became::Unsettled => self.unsettled += 1,
            Became::Failed(error) => {
                self.failed += 1;
                if event.row.is_some() && is_contradiction(error) {
                    self.refused.extend(event.path.clone());
                }
            }
        }
        let known = match event.became {
            Became::Failed(_) => &mut self.known_failed,
            _ => &mut self.known_left,
        };
        *known += u64::from(event.is_known);
        self.left += u64::from(!event.left.is_empty());
    }
}
