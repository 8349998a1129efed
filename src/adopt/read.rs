//! Taking the digests of an item's files: each byte is read once, the files shared between threads.

use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{AdoptError, Plan, Planned};
use crate::disk::copy::{Measured, digest_up_to};
use crate::disk::{Dir, FileFault, Kind, READ_ATTEMPTS};
use crate::flow::batches;
use crate::interrupt::Interrupt;
use crate::item::{Content, Entry, PayloadPath};
use crate::layout;
use crate::progress::Progress;

/// An item that is being read.
#[derive(Debug)]
pub(super) struct Draft {
    pub plan: Plan,
    doc: Dir,
    done: Mutex<Result<Vec<Entry>, AdoptError>>,
}

impl Draft {
    pub(super) fn new(plan: Plan, root: &Dir) -> Result<Draft, AdoptError> {
        let doc = root.open_dir(Path::new(plan.directory()).join(layout::PAYLOAD))?;
        Ok(Draft { plan, doc, done: Mutex::new(Ok(Vec::new())) })
    }

    /// Ranges of entries: each is read in order, and several at once.
    pub(super) fn batches(&self) -> Vec<Range<usize>> {
        batches((0..self.plan.entries.len()).map(|at| self.plan.size(at)))
    }

    fn done(&self) -> MutexGuard<'_, Result<Vec<Entry>, AdoptError>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads one batch, unless something has failed before.
    pub(super) fn read(&self, batch: Range<usize>, progress: &dyn Progress, interrupt: &Interrupt) {
        for (path, planned) in &self.plan.entries[batch] {
            if self.done().is_err() {
                return;
            }
            let entry = self.entry(path, planned, progress, interrupt);
            let mut done = self.done();
            match (&mut *done, entry) {
                (Ok(entries), Ok(entry)) => entries.push(entry),
                (Ok(_), Err(error)) => *done = Err(error),
                (Err(_), _) => {}
            }
        }
    }

    fn entry(
        &self,
        path: &PayloadPath,
        planned: &Planned,
        progress: &dyn Progress,
        interrupt: &Interrupt,
    ) -> Result<Entry, AdoptError> {
        let content = match planned {
            Planned::File { .. } => self.file(path.as_path(), progress, interrupt)?,
            Planned::Link { target } => Content::Link { target: target.clone() },
            Planned::EmptyDirectory { modified, mode } => {
                Content::EmptyDirectory { modified: *modified, mode: *mode }
            }
        };
        Ok(Entry { path: path.clone(), content })
    }

    /// Reads a file, and reads it again if it changed meanwhile.
    fn file(
        &self,
        path: &Path,
        progress: &dyn Progress,
        interrupt: &Interrupt,
    ) -> Result<Content, AdoptError> {
        for _ in 0..READ_ATTEMPTS {
            let mut file = self.doc.open_file(path)?;
            let before = file.stat()?;
            match before.kind {
                Kind::File => {}
                Kind::Special(kind) => {
                    return Err(AdoptError::Special { kind, path: self.doc.path_of(path) });
                }
                Kind::Directory | Kind::Link => continue,
            }
            before.check_time(file.path())?;
            let Measured { bytes, digest } =
                digest_up_to(&mut file, before.bytes, progress, interrupt)?;
            // By its path, so that a file put in its place is noticed too.
            let after = self.doc.stat(path)?;
            if after.as_ref() == Some(&before) && bytes == before.bytes {
                let (modified, mode) = (before.modified, before.permission_bits());
                return Ok(Content::File { bytes, digest, modified, mode });
            }
        }
        Err(FileFault::Changing(self.doc.path_of(path)).into())
    }

    /// The entries that were read, sorted by path.
    pub(super) fn finish(&self) -> Result<Vec<Entry>, AdoptError> {
        let mut entries = std::mem::replace(&mut *self.done(), Ok(Vec::new()))?;
        entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(entries)
    }
}
