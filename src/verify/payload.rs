//! The payload on disk against the entries of the sidecar: presence, kinds, sizes, attributes.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::finding::{Finding, Findings, Place, describe};
use super::{Code, Context};
use crate::disk::{Dir, DirEntry, FileStat, Kind, Met, PathError, ShownModes};
use crate::identity::{Instant, SECOND};
use crate::item::{Content, Entry, PayloadPath, implies, position};
use crate::layout;

/// The existing files with the right size.
#[derive(Debug, Default)]
pub(super) struct Present {
    /// Their positions among the entries.
    pub files: Vec<usize>,
    /// Their bytes.
    pub bytes: u64,
}

/// Compares the files below `doc` with `entries`, which are sorted by path. `shown` has the modes of the
/// other parts of the item.
///
/// Memory is bounded by the sidecar: an unlisted directory is one finding, and its entries are not read. An
/// interrupted comparison has no result.
pub(super) fn compare(
    doc: &Dir,
    entries: &[Entry],
    context: &Context<'_>,
    shown: ShownModes,
    findings: &mut Findings,
) -> Option<Present> {
    let mut comparison = PayloadComparison {
        entries,
        seen: vec![false; entries.len()],
        present: Present::default(),
        shown,
        differing: Vec::new(),
        unreadable: HashSet::new(),
        findings,
    };
    let walked = doc.walk(|met| match met {
        _ if context.is_stopped() => Err(()),
        Met::Entry(dir, entry, path) => Ok(comparison.found(dir, entry, path)),
        Met::Unlisted(path, error) => {
            comparison.findings.push(Finding::of_error(place(path), &error));
            comparison.unreadable.insert(path.to_path_buf());
            Ok(false)
        }
    });
    if walked.is_err() || context.is_stopped() {
        return None;
    }
    comparison.tell_missing();
    if let Err(error) = comparison.tell_attributes(doc) {
        comparison.findings.push(Finding::of_error(place(Path::new("")), &error));
    }
    Some(comparison.present)
}

struct PayloadComparison<'a> {
    entries: &'a [Entry],
    /// Whether each entry exists on disk.
    seen: Vec<bool>,
    present: Present,
    /// The modes of the item's files and directories.
    shown: ShownModes,
    /// Entries whose time or mode differs on disk, with the metadata on disk.
    differing: Vec<(usize, FileStat)>,
    /// Directories that could not be read completely.
    unreadable: HashSet<PathBuf>,
    findings: &'a mut Findings,
}

impl PayloadComparison<'_> {
    /// Compares a file on disk with its entry, and returns whether it is a directory of the sidecar.
    fn found(&mut self, dir: &Dir, found: &DirEntry, path: &Path) -> bool {
        let entries = self.entries;
        let at = position(entries, path);
        let is_directory = found.kind == Kind::Directory;
        // Only empty directories have an entry: others are implied by their files.
        let is_implied = implies(entries, path);
        if let Some(at) = at {
            self.seen[at] = true;
            if let Err(error) = self.expected(dir, found, at) {
                self.findings.push(Finding::of_error(place(path), &error));
            }
        } else if !is_implied {
            self.findings.push(Finding::new(Code::Added, place(path), describe(found.kind)));
        } else if !is_directory {
            self.findings.push(Finding::of_kind(place(path), "a directory", found.kind));
        }
        let is_empty_one =
            at.is_some_and(|at| matches!(entries[at].content, Content::EmptyDirectory { .. }));
        is_directory && (is_implied || is_empty_one)
    }

    /// Compares a file on disk with the entry of the same path at `at`.
    fn expected(&mut self, dir: &Dir, found: &DirEntry, at: usize) -> Result<(), PathError> {
        let Entry { path, content } = &self.entries[at];
        let place = || Place::Payload(path.clone());
        match (content, found.kind) {
            (Content::File { bytes, .. }, Kind::File) => {
                let Some(stamp) = self.stat(dir, found, at)? else { return Ok(()) };
                if stamp.bytes == *bytes {
                    self.present.files.push(at);
                    self.present.bytes = self.present.bytes.saturating_add(*bytes);
                } else {
                    let detail = format!("{} B, in the sidecar {bytes} B", stamp.bytes);
                    self.findings.push(Finding::new(Code::SizeDiffers, place(), detail));
                }
                self.note_attributes(at, stamp);
            }
            (Content::EmptyDirectory { .. }, Kind::Directory) => {
                let Some(stamp) = self.stat(dir, found, at)? else { return Ok(()) };
                self.note_attributes(at, stamp);
            }
            (Content::Link { target }, Kind::Link) => {
                let said = dir.read_link(Path::new(&found.name))?;
                if said.as_bytes() != target {
                    let (said, target) =
                        (crate::item::escape(said.as_bytes()), crate::item::escape(target));
                    let detail = format!("it leads to `{said}`, in the sidecar to `{target}`");
                    self.findings.push(Finding::new(Code::LinkDiffers, place(), detail));
                }
            }
            (content, kind) => self.findings.push(Finding::of_kind(place(), name(content), kind)),
        }
        Ok(())
    }

    /// The metadata of the file for the entry at `at`, unless it has been removed since.
    fn stat(
        &mut self,
        dir: &Dir,
        found: &DirEntry,
        at: usize,
    ) -> Result<Option<FileStat>, PathError> {
        let stamp = dir.stat(&found.name)?;
        self.seen[at] = stamp.is_some();
        Ok(stamp)
    }

    /// Notes the mode of the file for the entry at `at`, and whether its attributes differ.
    fn note_attributes(&mut self, at: usize, stamp: FileStat) {
        self.shown.extend([stamp]);
        if self.entries[at].content.attributes() != Some((stamp.modified, stamp.mode)) {
            self.differing.push((at, stamp));
        }
    }

    /// Reports times and modes that differ from the sidecar, as far as the file system of `doc` keeps them.
    fn tell_attributes(&mut self, doc: &Dir) -> Result<(), PathError> {
        if self.differing.is_empty() {
            return Ok(());
        }
        self.shown.extend([doc.own_stat()?]);
        let fidelity = doc.fidelity(self.shown)?;
        let entries = self.entries;
        let attributes = |at: usize| entries[at].content.attributes();
        let mut differing = std::mem::take(&mut self.differing);
        differing.retain(|(at, stamp)| {
            attributes(*at).is_some_and(|(modified, mode)| {
                !fidelity.has_mode(stamp, mode) || !fidelity.has_time(stamp, modified)
            })
        });
        let is_rounded = |(at, stamp): &(usize, FileStat)| {
            attributes(*at).is_some_and(|(modified, mode)| {
                stamp.mode == mode && is_in_seconds(stamp.modified, modified)
            })
        };
        if differing.len() > 1 && differing.iter().all(is_rounded) {
            let detail = format!(
                "{} modification times were rounded to seconds, as tar and FAT do; `urepo repair` sets them again",
                differing.len()
            );
            self.findings.push(Finding::new(Code::AttributesDiffer, place(Path::new("")), detail));
            return Ok(());
        }
        // A directory is not listed in order, and only the first of many findings are kept.
        differing.sort_by_key(|(at, _)| *at);
        for (at, stamp) in differing {
            let Some((modified, mode)) = attributes(at) else { continue };
            let mut details = Vec::new();
            if !fidelity.has_mode(&stamp, mode) {
                details.push(format!("mode {:04o}, in the sidecar {mode:04o}", stamp.mode));
            }
            if !fidelity.has_time(&stamp, modified) {
                details.push(format!("modified {}, in the sidecar {modified}", stamp.modified));
            }
            let place = Place::Payload(entries[at].path.clone());
            self.findings.push(Finding::new(Code::AttributesDiffer, place, details.join("; ")));
        }
        Ok(())
    }

    /// Reports missing entries, unless they may lie in an unreadable directory.
    fn tell_missing(&mut self) {
        if self.unreadable.contains(Path::new("")) {
            return;
        }
        for (entry, seen) in self.entries.iter().zip(&self.seen) {
            let mut above = entry.path.parents();
            if *seen || above.any(|path| self.unreadable.contains(path)) {
                continue;
            }
            let (code, detail) = match entry.content {
                Content::File { .. } => (Code::FileMissing, ""),
                Content::Link { .. } => (Code::LinkDiffers, "it is missing"),
                Content::EmptyDirectory { .. } => (Code::EmptyDirectoryMissing, ""),
            };
            let place = Place::Payload(entry.path.clone());
            self.findings.push(Finding::new(code, place, detail));
        }
    }
}

/// Whether the time `found` is the `recorded` one rounded down to seconds, or to two as FAT does: a restore that
/// keeps no fractions does that to every file.
fn is_in_seconds(found: Instant, recorded: Instant) -> bool {
    [SECOND, 2 * SECOND].iter().any(|unit| found == recorded.floor(*unit))
}

fn name(content: &Content) -> &'static str {
    match content {
        Content::File { .. } => "a file",
        Content::Link { .. } => "a symbolic link",
        Content::EmptyDirectory { .. } => "an empty directory",
    }
}

/// The place of a path below `doc`, or of `doc` itself.
fn place(path: &Path) -> Place {
    match PayloadPath::new(path) {
        Ok(path) => Place::Payload(path),
        Err(_) => Place::Beside(PathBuf::from(layout::PAYLOAD)),
    }
}
