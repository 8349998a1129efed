//! Reading the files of one item for their digests, on all free threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::finding::{Finding, Findings, Place};
use super::payload::Present;
use super::{Code, Context, Depth};
use crate::disk::copy::{CopyError, Measured, digest};
use crate::disk::{Dir, Kind};
use crate::item::{Content, Entry};
use crate::sidecar::Files;

/// Minimum bytes of an item that is worth handing to another thread.
const SHARED_BYTES: u64 = 1024 * 1024;

/// The files of an item to be read; a free thread takes the next one.
#[derive(Debug)]
pub(super) struct DigestRun {
    doc: Dir,
    entries: Files,
    present: Present,
    next: AtomicUsize,
    findings: Mutex<Findings>,
}

impl DigestRun {
    /// The reading of the files of `entries` that are `present` below `doc`.
    pub(super) fn new(doc: Dir, entries: Files, present: Present) -> DigestRun {
        let (next, findings) = (AtomicUsize::new(0), Mutex::default());
        DigestRun { doc, entries, present, next, findings }
    }

    /// Whether it is not worth handing to another thread.
    pub(super) fn is_small(&self) -> bool {
        self.present.bytes < SHARED_BYTES
    }

    /// The number of `threads` that can read at the same time.
    pub(super) fn useful_threads(&self, threads: usize) -> usize {
        self.present.files.len().clamp(1, threads.max(1))
    }

    /// The number of bytes to read.
    pub(super) fn bytes(&self) -> u64 {
        self.present.bytes
    }

    /// Reads files until all are taken, or until it is stopped.
    pub(super) fn read_share(&self, context: &Context<'_>) {
        while !context.is_stopped() {
            let next = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(at) = self.present.files.get(next) else { return };
            if let Some(finding) = self.read(&self.entries[*at], context) {
                self.findings().push(finding);
            }
        }
    }

    fn read(&self, entry: &Entry, context: &Context<'_>) -> Option<Finding> {
        let Content::File { bytes, digest: expected, .. } = entry.content else { return None };
        let place = || Place::Payload(entry.path.clone());
        match self.measure(entry, context) {
            Ok(Ok(found)) if found.bytes != bytes => {
                let detail = format!("{} B, in the sidecar {bytes} B", found.bytes);
                Some(Finding::new(Code::SizeDiffers, place(), detail))
            }
            Ok(Ok(found)) if found.digest != expected => {
                let detail = format!("sha256 {}, in the sidecar {expected}", found.digest);
                Some(Finding::new(Code::DigestDiffers, place(), detail))
            }
            Ok(Ok(_)) | Err(CopyError::Interrupted) => None,
            Ok(Err(kind)) => Some(Finding::of_kind(place(), "a file", kind)),
            Err(CopyError::Disk(error)) => Some(Finding::of_error(place(), &error)),
        }
    }

    /// Reads a file to its end, or reports that it has changed since it was found.
    fn measure(
        &self,
        entry: &Entry,
        context: &Context<'_>,
    ) -> Result<Result<Measured, Kind>, CopyError> {
        let mut file = self.doc.open_file(entry.path.as_path())?;
        match file.stat()?.kind {
            Kind::File => {}
            kind => return Ok(Err(kind)),
        }
        if context.depth == Depth::FromDisk {
            file.let_go(0, 0);
        }
        Ok(Ok(digest(&mut file, context.progress, context.interrupt)?))
    }

    /// The findings so far.
    pub(super) fn findings(&self) -> MutexGuard<'_, Findings> {
        self.findings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The findings.
    pub(super) fn take_findings(&self) -> Findings {
        std::mem::take(&mut *self.findings())
    }
}
