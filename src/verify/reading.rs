//! Reading the files of one item for their digests, on all free threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::finding::{Finding, Findings, Place};
use super::links::may_have_links;
use super::payload::Present;
use super::{Code, Context, Depth};
use crate::disk::copy::{CopyError, Measured, read_and_digest};
use crate::disk::{Dir, Kind};
use crate::identity::RepositoryName;
use crate::item::{Content, Entry};
use crate::sidecar::Files;

/// Minimum bytes of an item that is worth handing to another thread.
const SHARED_BYTES: u64 = 1024 * 1024;

/// The files of an item to be read; a free thread takes the next one.
#[derive(Debug)]
pub(super) struct DigestRun {
    item: RepositoryName,
    doc: Dir,
    entries: Files,
    present: Present,
    next: AtomicUsize,
    findings: Mutex<Findings>,
}

impl DigestRun {
    /// The reading of the files of `entries` that are `present` below `doc`, the payload of `item`.
    pub(super) fn new(
        item: RepositoryName,
        doc: Dir,
        entries: Files,
        present: Present,
    ) -> DigestRun {
        let (next, findings) = (AtomicUsize::new(0), Mutex::default());
        DigestRun { item, doc, entries, present, next, findings }
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
            let found = self.read(&self.entries[*at], context);
            if !found.is_empty() {
                self.findings().append(found);
            }
        }
    }

    /// The findings about a file, or else about its links.
    fn read(&self, entry: &Entry, context: &Context<'_>) -> Findings {
        let mut findings = Findings::default();
        let Content::File { bytes, .. } = entry.content else { return findings };
        let links = context.links.as_ref().filter(|_| may_have_links(&entry.path, bytes));
        let mut text = Vec::new();
        let measured = self.measure(entry, context, |piece| {
            // A file that grows meanwhile must not fill the memory.
            if links.is_some() && text.len() as u64 <= bytes {
                text.extend_from_slice(piece);
            }
        });
        match (fault(entry, measured), links) {
            (Some(fault), _) => findings.push(fault),
            (None, Some(links)) => {
                links.written(&self.item, (&entry.path, &text), context, &mut findings);
            }
            (None, None) => {}
        }
        findings
    }

    /// Reads a file to its end and passes each piece to `see`, or reports that it has changed since it was found.
    fn measure(
        &self,
        entry: &Entry,
        context: &Context<'_>,
        mut see: impl FnMut(&[u8]),
    ) -> Result<Result<Measured, Kind>, CopyError> {
        let mut file = self.doc.open_file(entry.path.as_path())?;
        match file.stat()?.kind {
            Kind::File => {}
            kind => return Ok(Err(kind)),
        }
        if context.depth == Depth::FromDisk {
            file.let_go(0, 0);
        }
        let Context { progress, interrupt, .. } = context;
        let measured = read_and_digest(u64::MAX, &mut file, *progress, interrupt, |piece, _| {
            see(piece);
            Ok::<_, CopyError>(())
        });
        Ok(Ok(measured?))
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

/// The fault of a file that was `measured`, if it has one.
fn fault(entry: &Entry, measured: Result<Result<Measured, Kind>, CopyError>) -> Option<Finding> {
    let Content::File { bytes, digest: expected, .. } = entry.content else { return None };
    let place = || Place::Payload(entry.path.clone());
    match measured {
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
