//! Building the repaired item in the stage: good files by hard links, damaged ones from donors.

use std::path::Path;

use super::plan::{EntrySource, Plan, wanted};
use super::{RepairError, scan};
use crate::collection::{Draft, StoredItem};
use crate::disk::copy::copy_and_digest;
use crate::disk::{Attributes, Kind, PathError};
use crate::interrupt::Interrupt;
use crate::item::{Content, Entry, PayloadPath};
use crate::layout;
use crate::progress::Progress;

/// The inputs of a repaired item.
pub(super) struct Build<'a> {
    /// The present item, unless it vanished.
    pub item: Option<&'a StoredItem>,
    pub plan: &'a Plan,
    pub donors: &'a [StoredItem],
    pub draft: &'a Draft<'a>,
    pub progress: &'a dyn Progress,
    pub interrupt: &'a Interrupt,
}

impl Build<'_> {
    /// Builds the payload of the item, without syncing it.
    pub(super) fn run(&self) -> Result<(), RepairError> {
        let entries = wanted(&self.plan.sidecar);
        self.draft.make_directories(entries)?;
        let mut steps = self.plan.steps.iter().peekable();
        for entry in entries {
            if self.interrupt.requested() {
                return Err(RepairError::Interrupted);
            }
            let step = steps.next_if(|step| step.path == entry.path);
            self.entry(entry, step.map(|step| step.source))?;
        }
        // Sidecars record the modes and times of empty directories only. A directory that is missing or cannot be
        // opened has none.
        let found = |directory: &Path| {
            let old = self.item.map(|item| item.directory(&layout::in_payload(directory)));
            Ok(old.and_then(Result::ok).map(|old| old.attributes()))
        };
        self.draft.finish_directories(entries, found)
    }

    /// Builds an entry from `source`, or from the present item.
    fn entry(&self, entry: &Entry, source: Option<EntrySource>) -> Result<(), RepairError> {
        match (&entry.content, source) {
            (Content::EmptyDirectory { .. }, _) => Ok(()),
            (Content::Link { target }, source) => {
                if source.is_some() || !self.reuse(&entry.path)? {
                    self.draft.make_link(&entry.path, target)?;
                }
                Ok(())
            }
            (Content::File { .. }, Some(EntrySource::Donor(donor))) => {
                self.copy(&self.donors[donor], entry)
            }
            (Content::File { modified, mode, .. }, None | Some(EntrySource::OwnAttributes)) => {
                let Some(item) = self.item else { return Ok(()) };
                if !self.reuse(&entry.path)? {
                    return self.copy(item, entry);
                }
                if source.is_some() {
                    // Both names belong to one file, so the old item gets the right attributes as well.
                    let attributes = Attributes { modified: *modified, mode: *mode };
                    self.draft.open_file(&entry.path)?.set_attributes(attributes)?;
                }
                Ok(())
            }
            (Content::File { .. }, Some(EntrySource::Lost | EntrySource::Sidecar)) => {
                self.keep_damaged(&entry.path)
            }
        }
    }

    /// Copies a file of `item`, whose bytes must have the digest of `entry`.
    fn copy(&self, item: &StoredItem, entry: &Entry) -> Result<(), RepairError> {
        if let Content::File { bytes, .. } = entry.content {
            self.progress.expect(0, bytes);
        }
        let copied = self.draft.copy_entry(item, entry, self.progress, self.interrupt)?;
        copied.map_err(|_| {
            let (name, path) =
                (self.plan.name.clone(), item.path_of(layout::in_payload(entry.path.as_path())));
            RepairError::Changed { name, path }
        })
    }

    /// Keeps a damaged file unchanged, if it is a file.
    fn keep_damaged(&self, path: &PayloadPath) -> Result<(), RepairError> {
        let Some(item) = self.item else { return Ok(()) };
        let below = layout::in_payload(path.as_path());
        // A hard link needs no right to read the file.
        let is_file = match item.stat(&below) {
            Err(error) if scan::is_no_directory(&error) => false,
            found => found?.is_some_and(|stamp| stamp.kind == Kind::File),
        };
        if is_file && !self.reuse(path)? {
            let mut source = item.open(path)?;
            let stamp = source.stat()?;
            let mut copy = self.draft.create_file(path, stamp.permission_bits())?;
            let (progress, interrupt) = (self.progress, self.interrupt);
            copy_and_digest(&mut source, &mut copy, stamp.bytes, progress, interrupt)?;
            self.draft.finish_file(copy, stamp.bytes, stamp.attributes())?;
        }
        Ok(())
    }

    /// Hard-links a file or link of the item into the draft, if possible.
    fn reuse(&self, path: &PayloadPath) -> Result<bool, PathError> {
        self.item.map_or(Ok(false), |item| self.draft.reuse(item, path, None))
    }
}
