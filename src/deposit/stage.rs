//! Copying the files of a plan into the stage, reading each byte once.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::plan::{Plan, Planned, PlannedKind};
use super::root::OpenRoot;
use super::{Checks, DepositError, Dropped};
use crate::collection::{Draft, StagedItem, Writer};
use crate::digest::{Algorithm, Checker, Checksum};
use crate::disk::copy::{BUFFER_BYTES, Copying, Measured};
use crate::disk::{
    Attributes, FileFault, FileStat, HoleWriter, Kind, PathError, READ_ATTEMPTS, StoredFile,
};
use crate::flow::batches;
use crate::identity::Instant;
use crate::interrupt::Interrupt;
use crate::item::{Content, Entry, PayloadPath};
use crate::progress::Progress;

/// The context of copying.
pub(super) struct Staging<'a> {
    pub writer: &'a Writer,
    pub progress: &'a dyn Progress,
    pub interrupt: &'a Interrupt,
}

/// An item that several threads stage.
pub(super) struct StagingJob<'a> {
    pub plan: Plan,
    pub draft: Draft<'a>,
    checks: Arc<Checks>,
    /// The only source. Several sources are opened one after another, because they may exceed the limit on
    /// open files.
    only_root: Option<OpenRoot>,
    done: Mutex<StagedPayload>,
}

/// The copied part of a draft.
#[derive(Default)]
pub(super) struct StagedPayload {
    pub entries: Vec<Entry>,
    pub lost: Dropped,
    pub failure: Option<DepositError>,
}

impl<'a> StagingJob<'a> {
    /// Opens the source of `plan` and begins the item.
    pub(super) fn new(
        plan: Plan,
        checks: Arc<Checks>,
        staging: &Staging<'a>,
    ) -> Result<StagingJob<'a>, PathError> {
        let only_root = match plan.roots.as_slice() {
            [only] => Some(only.open(staging.writer.watcher())?),
            _ => None,
        };
        let draft = staging.writer.draft()?;
        Ok(StagingJob { plan, draft, checks, only_root, done: Mutex::default() })
    }

    fn roots<'s>(&'s self, staging: &'s Staging<'_>) -> OpenRoots<'s> {
        OpenRoots {
            only: self.only_root.as_ref(),
            plan: &self.plan,
            writer: staging.writer,
            last: None,
        }
    }

    fn done(&self) -> std::sync::MutexGuard<'_, StagedPayload> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Splits `plan.entries` into ranges. Threads copy different ranges in parallel, each in order.
    pub(super) fn batches(&self) -> Vec<std::ops::Range<usize>> {
        batches(self.plan.entries.iter().map(|entry| match entry.kind {
            PlannedKind::File { bytes } => Some(bytes),
            PlannedKind::Link { .. } | PlannedKind::Directory { .. } => None,
        }))
    }

    /// Makes the directories of the payload.
    pub(super) fn make_directories(&self) -> Result<(), DepositError> {
        for entry in &self.plan.entries {
            if let PlannedKind::Directory { .. } = entry.kind {
                self.draft.make_dir(entry.path.as_path())?;
            }
        }
        Ok(())
    }

    /// Copies the files and links of one batch, unless something has failed before.
    pub(super) fn copy(&self, staging: &Staging<'_>, batch: std::ops::Range<usize>) {
        let mut roots = self.roots(staging);
        for planned in &self.plan.entries[batch] {
            if self.done().failure.is_some() {
                return;
            }
            if let Err(error) = self.copy_entry(staging, &mut roots, planned) {
                self.fail(error);
                return;
            }
        }
    }

    pub(super) fn fail(&self, error: DepositError) {
        self.done().failure.get_or_insert(error);
    }

    fn copy_entry(
        &self,
        staging: &Staging<'_>,
        roots: &mut OpenRoots<'_>,
        planned: &Planned,
    ) -> Result<(), DepositError> {
        match &planned.kind {
            PlannedKind::Directory { .. } => Ok(()),
            PlannedKind::Link { target } => {
                self.draft.make_link(&planned.path, target)?;
                if let OpenRoot::Directory(walk) = roots.open(planned.root)?
                    && let Some(stamp) = walk.stat(planned.relative())?
                {
                    self.draft.set_link_time(&planned.path, stamp.modified)?;
                }
                let content = Content::Link { target: target.clone() };
                self.done().entries.push(Entry { path: planned.path.clone(), content });
                Ok(())
            }
            PlannedKind::File { .. } => self.copy_file(staging, roots.open(planned.root)?, planned),
        }
    }

    fn copy_file(
        &self,
        staging: &Staging<'_>,
        root: &OpenRoot,
        planned: &Planned,
    ) -> Result<(), DepositError> {
        let open = || root.open_file(planned.relative());
        let create = |mode| self.draft.create_file(&planned.path, mode);
        let checksums = self.checks.of(&planned.path)?;
        let copied = copy_unchanged(open, create, checksums, staging)?;
        let Copied { stamp, measured, has_extended_attributes, copy, mismatch } = copied;
        if let Some(algorithm) = mismatch {
            return Err(DepositError::Mismatch { path: planned.path.clone(), algorithm });
        }
        self.draft.finish_file(copy, measured.bytes, stamp.attributes())?;
        staging.progress.finish_file();
        let mut done = self.done();
        done.lost.special_modes += u64::from(stamp.mode != stamp.permission_bits());
        done.lost.extended_attributes += u64::from(has_extended_attributes);
        done.entries.push(file_entry(planned.path.clone(), stamp.attributes(), measured));
        Ok(())
    }

    /// Sets modes and times of directories, now that they are complete, and returns the copied entries,
    /// sorted.
    pub(super) fn finish(&self, staging: &Staging<'_>) -> StagedPayload {
        if self.done().failure.is_none()
            && let Err(error) = self.finish_directories(staging)
        {
            self.fail(error);
        }
        let mut done = std::mem::take(&mut *self.done());
        done.entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        done
    }

    fn finish_directories(&self, staging: &Staging<'_>) -> Result<(), DepositError> {
        let mut roots = self.roots(staging);
        // Deepest first: an entry sorts before everything below it.
        for planned in self.plan.entries.iter().rev() {
            let PlannedKind::Directory { empty } = planned.kind else { continue };
            let OpenRoot::Directory(walk) = roots.open(planned.root)? else { continue };
            let stamp = walk.open_dir(planned.relative())?.own_stat()?;
            if empty {
                self.draft.finish_empty_dir(planned.path.as_path(), stamp.attributes())?;
            } else {
                self.draft.finish_dir(planned.path.as_path(), stamp.attributes())?;
            }
            stamp.check_time(planned.path.as_path())?;
            let mut done = self.done();
            done.lost.special_modes += u64::from(stamp.mode != stamp.permission_bits());
            if empty {
                let content = Content::EmptyDirectory {
                    modified: stamp.modified,
                    mode: stamp.permission_bits(),
                };
                done.entries.push(Entry { path: planned.path.clone(), content });
            }
        }
        // A directory that is the whole item becomes `doc`.
        if self.plan.is_one_directory()
            && let Some(OpenRoot::Directory(walk)) = &self.only_root
        {
            self.draft.finish_dir(Path::new(""), walk.root().own_stat()?.attributes())?;
        }
        Ok(())
    }
}

/// The sources of an item, of which one is open at a time: entries are sorted, so those of a source are
/// adjacent.
struct OpenRoots<'a> {
    /// The only source.
    only: Option<&'a OpenRoot>,
    plan: &'a Plan,
    writer: &'a Writer,
    last: Option<(usize, OpenRoot)>,
}

impl OpenRoots<'_> {
    fn open(&mut self, at: usize) -> Result<&OpenRoot, PathError> {
        if let Some(only) = self.only {
            return Ok(only);
        }
        let last = match self.last.take() {
            Some(last) if last.0 == at => last,
            _ => (at, self.plan.roots[at].open(self.writer.watcher())?),
        };
        Ok(&self.last.insert(last).1)
    }
}

fn file_entry(path: PayloadPath, attributes: Attributes, measured: Measured) -> Entry {
    let content = Content::File {
        bytes: measured.bytes,
        digest: measured.digest,
        modified: attributes.modified,
        mode: attributes.mode,
    };
    Entry { path, content }
}

/// The copy of a file.
struct Copied {
    stamp: FileStat,
    measured: Measured,
    /// Whether the source has extended attributes, which are not kept.
    has_extended_attributes: bool,
    copy: StoredFile,
    /// The algorithm of the first checksum that does not match.
    mismatch: Option<Algorithm>,
}

/// Copies a file that does not change while it is read, and starts over if it does.
fn copy_unchanged(
    open: impl Fn() -> Result<StoredFile, PathError>,
    create: impl Fn(u32) -> Result<StoredFile, PathError>,
    checksums: &[Checksum],
    staging: &Staging<'_>,
) -> Result<Copied, DepositError> {
    let mut source = open()?;
    let mut before = source.stat()?;
    let mut copy = create(before.permission_bits())?;
    for _ in 0..READ_ATTEMPTS {
        if let Kind::Special(kind) = before.kind {
            return Err(DepositError::Special { kind, path: source.path().to_path_buf() });
        }
        before.check_time(source.path())?;
        let mut checker = Checker::new(checksums);
        let (progress, interrupt) = (staging.progress, staging.interrupt);
        let copying = Copying { expected: before.bytes, progress, interrupt };
        let measured = copying.copy(&mut source, &mut copy, |bytes| checker.update(bytes))?;
        let after = source.stat()?;
        if before == after && measured.bytes == before.bytes {
            let has_extended_attributes = source.has_extended_attributes()?;
            let mismatch = checker.mismatch();
            return Ok(Copied { stamp: before, measured, has_extended_attributes, copy, mismatch });
        }
        source = open()?;
        before = source.stat()?;
        copy.restart()?;
    }
    Err(FileFault::Changing(source.path().to_path_buf()).into())
}

/// Copies a stream into the stage as the only file of a new item.
pub(super) fn stage_stream(
    name: &PayloadPath,
    reader: &mut dyn std::io::Read,
    staging: &Staging<'_>,
    now: Instant,
) -> Result<(StagedItem, StagedPayload), DepositError> {
    let draft = staging.writer.draft()?;
    let parents: Vec<_> = name.parents().map(Path::to_path_buf).collect();
    for parent in parents.iter().rev() {
        draft.make_dir(parent)?;
    }
    let mut copy = draft.create_file(name, 0o666)?;
    let measured = copy_stream(name, reader, &mut copy, staging)?;
    let attributes = Attributes { modified: now, ..copy.stat()?.attributes() };
    draft.finish_file(copy, measured.bytes, attributes)?;
    let entries = vec![file_entry(name.clone(), attributes, measured)];
    Ok((draft.into_staged(), StagedPayload { entries, ..StagedPayload::default() }))
}

fn copy_stream(
    name: &PayloadPath,
    reader: &mut dyn std::io::Read,
    copy: &mut StoredFile,
    staging: &Staging<'_>,
) -> Result<Measured, DepositError> {
    let mut hasher = crate::digest::Hasher::default();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut holes = HoleWriter::default();
    let mut bytes = 0;
    loop {
        if staging.interrupt.requested() {
            return Err(DepositError::Interrupted);
        }
        let length = match reader.read(&mut buffer) {
            Ok(0) => {
                holes.end(copy)?;
                return Ok(Measured { bytes, digest: hasher.finish() });
            }
            Ok(length) => length,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(DepositError::Stream { name: name.clone(), source }),
        };
        hasher.update(&buffer[..length]);
        holes.write(copy, &buffer[..length])?;
        bytes += length as u64;
        staging.progress.advance(name.as_path(), length as u64);
    }
}
