//! The repaired item, built in the stage: good files by a second link, damaged ones from donors.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::plan::{EntrySource, Plan, wanted};
use super::{RepairError, scan};
use crate::collection::{StoredItem, Writer};
use crate::disk::copy::{Measured, copy_and_digest};
use crate::disk::{Dir, FileStat, Kind, PathError, StoredFile};
use crate::interrupt::Interrupt;
use crate::item::{Content, Entry, PayloadPath, State, directories, empty_directory};
use crate::layout;
use crate::progress::Progress;

/// The inputs of a repaired item.
pub(super) struct Build<'a> {
    /// What there is of it.
    pub item: Option<&'a StoredItem>,
    pub plan: &'a Plan,
    pub donors: &'a [StoredItem],
    pub writer: &'a Writer,
    pub progress: &'a dyn Progress,
    pub interrupt: &'a Interrupt,
    /// Where the repaired item is in the stage.
    pub staged: &'a Path,
}

impl Build<'_> {
    /// Makes the item, forced to the disk.
    pub(super) fn run(&self) -> Result<(), RepairError> {
        let stage = self.stage();
        stage.make_dir(self.staged)?;
        let mut file = stage.create_file(self.staged.join(layout::SIDECAR))?;
        self.plan.text.write(|piece| file.write_all(piece))?;
        if self.plan.sidecar.state != State::Deleted {
            self.payload()?;
        }
        stage.sync_trees([self.staged])?;
        Ok(())
    }

    fn payload(&self) -> Result<(), RepairError> {
        let entries = wanted(&self.plan.sidecar);
        let directories = directories(entries);
        self.stage().make_dir(self.staged_path(Path::new("")))?;
        for path in &directories {
            self.stage().make_dir(self.staged_path(path))?;
        }
        let mut steps = self.plan.steps.iter().peekable();
        for entry in entries {
            if self.interrupt.requested() {
                return Err(RepairError::Interrupted);
            }
            let step = steps.next_if(|step| step.path == entry.path);
            self.entry(entry, step.map(|step| step.source))?;
        }
        // Deepest first, now that nothing more is put into them.
        for path in directories.iter().rev() {
            match empty_directory(entries, path) {
                Some((modified, mode)) => {
                    let dir = self.stage().open_dir(self.staged_path(path))?;
                    dir.set_attributes(&FileStat { mode, modified, ..dir.own_stat()? })?;
                }
                None => self.keep_attributes(path)?,
            }
        }
        Ok(self.keep_attributes(Path::new(""))?)
    }

    /// Makes an entry from `source`, or as it is in the item.
    fn entry(&self, entry: &Entry, source: Option<EntrySource>) -> Result<(), RepairError> {
        let staged = self.staged_path(entry.path.as_path());
        match (&entry.content, source) {
            (Content::EmptyDirectory { .. }, _) => Ok(()),
            (Content::Link { target }, source) => {
                if source.is_some() || !self.link(&entry.path, &staged)? {
                    self.stage().make_link(OsStr::from_bytes(target), &staged)?;
                }
                Ok(())
            }
            (Content::File { .. }, Some(EntrySource::Donor(donor))) => {
                self.copy(self.donors[donor].open(&entry.path)?, entry, &staged)
            }
            (Content::File { modified, mode, .. }, None | Some(EntrySource::OwnAttributes)) => {
                let Some(item) = self.item else { return Ok(()) };
                if !self.link(&entry.path, &staged)? {
                    return self.copy(item.open(&entry.path)?, entry, &staged);
                }
                if source.is_some() {
                    // Both names are of one file, so the old item has them right from now on as well.
                    let file = self.stage().open_file(&staged)?;
                    let stamp = FileStat { modified: *modified, mode: *mode, ..file.stat()? };
                    file.set_attributes(&stamp)?;
                }
                Ok(())
            }
            (Content::File { .. }, Some(EntrySource::Lost | EntrySource::Sidecar)) => {
                self.keep_damaged(&entry.path, &staged)
            }
        }
    }

    /// Copies a file whose bytes have to be those of `entry`.
    fn copy(
        &self,
        mut source: StoredFile,
        entry: &Entry,
        staged: &Path,
    ) -> Result<(), RepairError> {
        let Content::File { bytes, digest, modified, mode } = entry.content else { return Ok(()) };
        let mut copy = self.stage().create_file_with_mode(staged, mode)?;
        self.progress.expect(0, bytes);
        let measured =
            copy_and_digest(&mut source, &mut copy, bytes, self.progress, self.interrupt)?;
        if measured != (Measured { bytes, digest }) {
            let (name, path) = (self.plan.name.clone(), source.path().to_path_buf());
            return Err(RepairError::Changed { name, path });
        }
        Ok(copy.set_attributes(&FileStat { mode, modified, ..copy.stat()? })?)
    }

    /// Lets a damaged file stay, where it is a file at all.
    fn keep_damaged(&self, path: &PayloadPath, staged: &Path) -> Result<(), RepairError> {
        let Some(item) = self.item else { return Ok(()) };
        let below = layout::in_payload(path.as_path());
        // It need not be opened for a second name.
        let is_file = match item.stat(&below) {
            Err(error) if scan::is_no_directory(&error) => false,
            found => found?.is_some_and(|stamp| stamp.kind == Kind::File),
        };
        if is_file && !self.link(path, staged)? {
            let mut source = item.open(path)?;
            let stamp = source.stat()?;
            let mut copy = self.stage().create_file_with_mode(staged, stamp.permission_bits())?;
            let (progress, interrupt) = (self.progress, self.interrupt);
            copy_and_digest(&mut source, &mut copy, stamp.bytes, progress, interrupt)?;
            copy.set_attributes(&stamp)?;
        }
        Ok(())
    }

    /// Gives a file or link of the item a second name in the stage, where that can be done.
    fn link(&self, path: &PayloadPath, staged: &Path) -> Result<bool, PathError> {
        let path = layout::in_payload(path.as_path());
        let (Some(item), Some(parent), Some(name)) = (self.item, path.parent(), path.file_name())
        else {
            return Ok(false);
        };
        item.dir().open_dir(parent)?.link_file(Path::new(name), self.stage(), staged)
    }

    /// Gives a directory of the payload the mode and time that it has in the item: no sidecar has
    /// them of directories that are not empty.
    fn keep_attributes(&self, path: &Path) -> Result<(), PathError> {
        let Some(item) = self.item else { return Ok(()) };
        let old = item.dir().open_dir(layout::in_payload(path));
        // What is missing there, or cannot be opened, has nothing to pass on.
        let Ok(old) = old else { return Ok(()) };
        let stamp = self.stage().opened(&old.own_stat()?);
        self.stage().open_dir(self.staged_path(path))?.set_attributes(&stamp)
    }

    fn stage(&self) -> &Dir {
        self.writer.stage()
    }

    fn staged_path(&self, path: &Path) -> PathBuf {
        self.staged.join(layout::PAYLOAD).join(path)
    }
}
