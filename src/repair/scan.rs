//! Scanning the files below `doc/`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::disk::copy::{CopyError, Measured, digest_up_to};
use crate::disk::{Dir, DirEntry, Fidelity, FileStat, Kind, Met, PathError, ShownModes};
use crate::interrupt::Interrupt;
use crate::item::{Content, Entry, PayloadPath};
use crate::progress::Progress;

/// The comparison of a file with an entry of a sidecar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryStatus {
    /// The file is good.
    Good,
    /// Only its mode or time differs.
    Attributes,
    /// It is a file with other bytes, or unreadable.
    Damaged,
    /// It is missing, or of another kind.
    Missing,
}

/// The entries below `doc/`: those that any sidecar lists, and others.
///
/// Unlisted entries are neither read nor entered, so memory is bounded by the sidecars.
#[derive(Debug, Default)]
pub(super) struct PayloadScan {
    /// Whether the directory exists.
    pub exists: bool,
    /// The entries at listed paths; directories as if they were empty.
    found: BTreeMap<PayloadPath, FoundEntry>,
    /// Unlisted entries, relative to `doc/`.
    pub unknown: Vec<PathBuf>,
    /// The modes of the item's files and directories.
    shown: ShownModes,
    /// The precision of times and modes on the file system.
    fidelity: Option<Fidelity>,
    /// The first error of a file or directory that counts as damaged.
    pub error: Option<PathError>,
}

#[derive(Debug)]
enum FoundEntry {
    /// An entry that agrees with every sidecar that lists the path.
    AsKnown,
    Content(Box<FoundContent>),
    /// A file that cannot be read, or is too long.
    Unread,
    /// A kind of file that no payload has.
    Special,
}

/// A file, link or directory.
#[derive(Debug)]
struct FoundContent {
    content: Content,
    /// The metadata of a file or directory.
    stamp: Option<FileStat>,
}

impl FoundEntry {
    fn content(content: Content, stamp: Option<FileStat>) -> FoundEntry {
        FoundEntry::Content(Box::new(FoundContent { content, stamp }))
    }
}

/// The paths that are read.
#[derive(Debug, Default)]
pub(super) struct KnownPaths<'a> {
    /// Those that sidecars list.
    listed: BTreeMap<&'a [u8], KnownEntry<'a>>,
    /// Whether all others are read as well, because no sidecar is left.
    has_others: bool,
}

/// The entries of sidecars at a path.
#[derive(Clone, Copy, Debug)]
enum KnownEntry<'a> {
    Same(&'a Content),
    /// Different entries, with the largest size.
    Various(u64),
}

impl KnownEntry<'_> {
    fn bytes(self) -> u64 {
        match self {
            KnownEntry::Same(Content::File { bytes, .. }) => *bytes,
            KnownEntry::Various(bytes) => bytes,
            KnownEntry::Same(Content::Link { .. } | Content::EmptyDirectory { .. }) => 0,
        }
    }
}

impl<'a> KnownPaths<'a> {
    /// Every path of the payload.
    pub(super) fn all() -> KnownPaths<'a> {
        KnownPaths { has_others: true, ..KnownPaths::default() }
    }

    /// Adds the paths of `entries`.
    pub(super) fn add(&mut self, entries: &'a [Entry]) {
        for entry in entries {
            let content = KnownEntry::Same(&entry.content);
            let known = self.listed.entry(entry.path.as_bytes()).or_insert(content);
            if !matches!(known, KnownEntry::Same(known) if **known == entry.content) {
                *known = KnownEntry::Various(known.bytes().max(content.bytes()));
            }
        }
    }

    fn is_implied(&self, path: &[u8]) -> bool {
        let below = [path, b"/"].concat();
        let range = (Bound::Included(&below[..]), Bound::Unbounded);
        self.listed.range::<[u8], _>(range).next().is_some_and(|first| first.0.starts_with(&below))
    }
}

impl PayloadScan {
    /// The scan of a payload that cannot be entered.
    pub(super) fn unreadable(error: PathError) -> PayloadScan {
        PayloadScan { exists: true, error: Some(error), ..PayloadScan::default() }
    }

    /// Scans `doc` and reads the `known` paths. `sidecar` is the metadata of the item's sidecar.
    ///
    /// A file that cannot be listed or read counts as damaged, never as good.
    pub(super) fn take(
        doc: &Dir,
        known: &KnownPaths<'_>,
        sidecar: Option<FileStat>,
        progress: &dyn Progress,
        interrupt: &Interrupt,
    ) -> Result<PayloadScan, CopyError> {
        let mut scan = PayloadScan { exists: true, ..PayloadScan::default() };
        scan.shown.extend(sidecar.into_iter().chain([doc.own_stat()?]));
        doc.walk(|met| {
            let (dir, entry, path) = match met {
                Met::Entry(dir, entry, path) => (dir, entry, path),
                Met::Unlisted(_, error) if is_of_the_item(&error) => {
                    scan.error.get_or_insert(error);
                    return Ok(true);
                }
                // A file closed to this user is not damaged.
                Met::Unlisted(_, error) => return Err(CopyError::Disk(error)),
            };
            let bytes = path.as_os_str().as_bytes();
            let content = known.listed.get(bytes).copied();
            if content.is_none() && !known.has_others && !known.is_implied(bytes) {
                scan.unknown.push(path.to_path_buf());
                return Ok(false);
            }
            let size =
                if known.has_others { u64::MAX } else { content.map_or(0, KnownEntry::bytes) };
            scan.look_at((dir, entry), (path, content), size, (progress, interrupt))?;
            Ok(entry.kind == Kind::Directory)
        })?;
        scan.unknown.sort();
        scan.fidelity = Some(doc.fidelity(scan.shown)?);
        Ok(scan)
    }

    fn look_at(
        &mut self,
        (dir, entry): (&Dir, &DirEntry),
        (path, known): (&Path, Option<KnownEntry<'_>>),
        size: u64,
        (progress, interrupt): (&dyn Progress, &Interrupt),
    ) -> Result<(), CopyError> {
        let Ok(path) = PayloadPath::new(path) else { return Ok(()) };
        let found = match measure(dir, entry, size, progress, interrupt) {
            Ok(FoundEntry::Content(found)) => {
                self.shown.extend(found.stamp);
                match known {
                    Some(KnownEntry::Same(known)) if *known == found.content => FoundEntry::AsKnown,
                    _ => FoundEntry::Content(found),
                }
            }
            Ok(found) => found,
            Err(CopyError::Disk(error)) if is_of_the_item(&error) => {
                self.error.get_or_insert(error);
                FoundEntry::Unread
            }
            Err(error) => return Err(error),
        };
        self.found.insert(path, found);
        Ok(())
    }

    /// The comparison of the file with `entry` of a known sidecar.
    pub(super) fn status(&self, entry: &Entry) -> EntryStatus {
        let FoundContent { content, stamp } = match self.found.get(&entry.path) {
            None | Some(FoundEntry::Special) => return EntryStatus::Missing,
            Some(FoundEntry::Unread) => return EntryStatus::Damaged,
            Some(FoundEntry::AsKnown) => return EntryStatus::Good,
            Some(FoundEntry::Content(found)) => &**found,
        };
        match (content, &entry.content) {
            (found, wanted) if found == wanted => EntryStatus::Good,
            (
                Content::File { bytes, digest, .. },
                Content::File { bytes: wanted_bytes, digest: wanted, .. },
            ) if (bytes, digest) != (wanted_bytes, wanted) => EntryStatus::Damaged,
            (Content::File { .. }, Content::File { .. })
            | (Content::EmptyDirectory { .. }, Content::EmptyDirectory { .. }) => {
                if self.has_attributes(stamp.as_ref(), &entry.content) {
                    EntryStatus::Good
                } else {
                    EntryStatus::Attributes
                }
            }
            _ => EntryStatus::Missing,
        }
    }

    /// Whether a file with `stamp` has the time and mode of `wanted`, as far as the file system keeps them.
    fn has_attributes(&self, stamp: Option<&FileStat>, wanted: &Content) -> bool {
        match (&self.fidelity, stamp, wanted.attributes()) {
            (Some(fidelity), Some(stamp), Some((modified, mode))) => {
                fidelity.has_time(stamp, modified) && fidelity.has_mode(stamp, mode)
            }
            _ => false,
        }
    }

    /// The files, links and empty directories that were read, as entries of a sidecar.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let above: BTreeSet<&Path> = self.found.keys().flat_map(PayloadPath::parents).collect();
        let mut entries = Vec::new();
        for (path, found) in &self.found {
            let FoundEntry::Content(found) = found else { continue };
            // Sidecars list empty directories only.
            if !above.contains(path.as_path()) {
                entries.push(Entry { path: path.clone(), content: found.content.clone() });
            }
        }
        entries
    }

    /// Whether all `entries` exist with the right bytes.
    pub(super) fn matches_all(&self, entries: &[Entry]) -> bool {
        let is_there =
            |entry| matches!(self.status(entry), EntryStatus::Good | EntryStatus::Attributes);
        entries.iter().all(is_there)
    }

    /// Files that are not among the sorted `entries`; relative to `doc/`.
    pub(super) fn added(&self, entries: &[Entry]) -> Vec<PathBuf> {
        let mut known = KnownPaths::default();
        known.add(entries);
        let is_placed = |path: &PayloadPath| {
            known.listed.contains_key(path.as_bytes()) || known.is_implied(path.as_bytes())
        };
        let others = self.found.keys().filter(|path| !is_placed(path)).cloned().map(PathBuf::from);
        let mut added: Vec<_> = self.unknown.iter().cloned().chain(others).collect();
        added.sort();
        // An unlisted directory is moved with its contents.
        let mut last: Option<PathBuf> = None;
        added.retain(|path| {
            let is_below = last.as_ref().is_some_and(|last| path.starts_with(last));
            if !is_below {
                last = Some(path.clone());
            }
            !is_below
        });
        added
    }
}

/// Reads an entry; a file of more than `size` bytes is damaged, and is not read to its end.
fn measure(
    dir: &Dir,
    entry: &DirEntry,
    size: u64,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Result<FoundEntry, CopyError> {
    let name = Path::new(&entry.name);
    Ok(match entry.kind {
        Kind::Special(_) => FoundEntry::Special,
        Kind::Link => {
            FoundEntry::content(Content::Link { target: dir.read_link(name)?.into_vec() }, None)
        }
        Kind::Directory => match dir.stat(name)? {
            None => FoundEntry::Special,
            Some(stamp) => {
                let (modified, mode) = (stamp.modified, stamp.mode);
                FoundEntry::content(Content::EmptyDirectory { modified, mode }, Some(stamp))
            }
        },
        Kind::File => {
            let mut file = dir.open_file(name)?;
            let stamp = file.stat()?;
            if stamp.kind != Kind::File {
                return Ok(FoundEntry::Special);
            }
            if stamp.bytes > size {
                return Ok(FoundEntry::Unread);
            }
            let Measured { bytes, digest } = digest_up_to(&mut file, size, progress, interrupt)?;
            let (modified, mode) = (stamp.modified, stamp.mode);
            FoundEntry::content(Content::File { bytes, digest, modified, mode }, Some(stamp))
        }
    })
}

/// The payload of an item; `None` if it is not a directory.
pub(super) fn open_payload(item: &Dir) -> Result<Option<Dir>, PathError> {
    match item.open_dir_if_there(crate::layout::PAYLOAD) {
        Err(error) if is_no_directory(&error) => Ok(None),
        outcome => outcome,
    }
}

/// Whether an error means that a link or a file is in the place of a directory.
pub(super) fn is_no_directory(error: &PathError) -> bool {
    error.is_link() || error.kind() == std::io::ErrorKind::NotADirectory
}

/// Whether an error concerns the file and not its reader.
pub(super) fn is_of_the_item(error: &PathError) -> bool {
    error.kind() != std::io::ErrorKind::PermissionDenied && error.shortage().is_none()
}
