//! The result of an import.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::candidate::FoundCandidate;
use super::{Became, Event, ImportError, Related, Updated};
use crate::distributor::Notice;

/// The result of an import.
#[derive(Debug, Default)]
pub struct Summary {
    /// Sources that became items, also in a dry run.
    pub imported: u64,
    /// Their files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sources that were already items, wherever those are now, or are named twice.
    pub there: u64,
    /// Sources that changed a moment ago.
    pub unsettled: u64,
    /// Sources that did not become items.
    pub failed: u64,
    /// Of the failed ones, those whose items were deleted here.
    pub deleted: u64,
    /// Sources that could not be removed as requested.
    pub left: u64,
    /// Warnings about the memories.
    pub notices: Vec<Notice>,
    /// The outcomes for rows that differ from existing items.
    pub rows: Updated,
    /// Of the failed ones, rows of existing items whose relations were not set.
    pub unrelated: u64,
    /// The paths of rows that are not processed further: their sources contradict the given digests, or their
    /// items could not be updated.
    pub refused: BTreeSet<PathBuf>,
    /// The error that ended the run early.
    pub fatal: Option<ImportError>,
}

impl Summary {
    /// `rows` without the refused ones.
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

    /// Adds the outcomes for the relations of rows.
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
            // The reporting side counts entries left out.
            Became::LeftOut(_) | Became::Updated { .. } | Became::NotUpdated { .. } => {}
            Became::Unsettled => self.unsettled += 1,
            // It is not reached, and the next run takes it.
            Became::Failed(error) if error.is_interruption() => {}
            Became::Failed(error) => {
                self.failed += 1;
                self.deleted += u64::from(error.is_deleted_here());
                if event.row.is_some() && error.is_contradiction() {
                    self.refused.extend(event.path.clone());
                }
            }
        }
        self.left += u64::from(!event.left.is_empty());
    }
}
