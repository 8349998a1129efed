//! Inspecting a source: its size, and a shape that shows changes. Nothing is read.

use std::collections::HashSet;
use std::path::Path;

use super::bag;
use super::candidate::Candidate;
use crate::deposit::SourcePlace;
use crate::deposit::source_removal::{
    Besides, Closeness, ComparedSource, SourceComparison, SourceKept, Times,
};
use crate::digest::Digest;
use crate::disk::{Exclusion, FileStat, Kind, Links, PathError, SourceWalk, StoredFile, Watcher};
use crate::identity::Instant;
use crate::interrupt::Interrupt;
use crate::item::{Entry, PayloadPath, Shape};
use crate::progress::Scan;

/// The result of inspecting a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SourceScan {
    pub kind: Kind,
    pub files: u64,
    pub bytes: u64,
    pub shape: Digest,
    /// When content or attributes of anything in it were last changed.
    pub changed: Instant,
    /// Whether a time of anything in it is recent.
    pub is_recent: bool,
}

/// The context of inspections.
#[derive(Clone, Debug)]
pub(super) struct Scanner {
    pub links: Links,
    pub watcher: Watcher,
}

impl Scanner {
    fn stat(&self, place: &SourcePlace) -> Result<FileStat, PathError> {
        let stamp = match place {
            SourcePlace::Beneath { root, relative } => root.stat(relative)?,
            SourcePlace::Path(path) if self.links == Links::Follow => {
                Some(StoredFile::open(path, self.watcher.clone())?.stat()?)
            }
            SourcePlace::Path(_) => {
                let (dir, name) = place.parent(&self.watcher)?;
                dir.stat(&name)?
            }
        };
        stamp.ok_or_else(|| place.absent("find"))
    }

    /// The kind of `place`.
    pub(super) fn kind(&self, place: &SourcePlace) -> Result<Kind, PathError> {
        Ok(self.stat(place)?.kind)
    }

    /// When `place` itself was last modified and last changed, without its contents.
    pub(super) fn times(&self, place: &SourcePlace) -> Result<[Instant; 2], PathError> {
        let stamp = self.stat(place)?;
        Ok([stamp.modified, stamp.changed])
    }

    /// The place of the files of `place`: for a bag, its payload.
    pub(super) fn payload(&self, place: &SourcePlace) -> Result<SourcePlace, PathError> {
        let is_directory = self.kind(place)? == Kind::Directory;
        let is_bag = is_directory && bag::is_bag(&place.dir(self.links, &self.watcher)?)?;
        Ok(if is_bag { place.join(bag::PAYLOAD) } else { place.clone() })
    }

    /// The bytes of all files of a candidate, unless `scan` ends before. Unreadable files add none: the run
    /// reports them.
    pub(super) fn measure(&self, candidate: &Candidate, scan: &Scan<'_>) -> Option<u64> {
        let Candidate { place, exclusion, left_out, .. } = candidate;
        match self.payload(place) {
            Ok(payload) if left_out.is_none() => {
                payload.measure(self.links, exclusion, &self.watcher, scan)
            }
            _ => Some(0),
        }
    }

    /// Compares what is at `place` with an item that has these `entries`.
    pub(super) fn compare(
        &self,
        place: &SourcePlace,
        entries: &[Entry],
        besides: Option<&Besides<'_>>,
        (times, closeness, interrupt): (Times, Closeness, &Interrupt),
    ) -> Result<ComparedSource, SourceKept> {
        let within = Path::new("");
        let comparison = SourceComparison { entries, within, times, besides, interrupt };
        if self.kind(place)? == Kind::Directory {
            comparison.tree(&place.dir(self.links, &self.watcher)?, closeness)
        } else {
            let (parent, name) = place.parent(&self.watcher)?;
            comparison.single((&parent, &name), &name, closeness)
        }
    }

    /// Inspects everything at `place`. Each time is judged by itself: a file dated in the future says nothing
    /// about the others.
    ///
    /// Below `place`, files suffice: adding a file sets one of its times.
    pub(super) fn look(
        &self,
        place: &SourcePlace,
        exclusion: &Exclusion,
        is_recent: &dyn Fn(Instant) -> bool,
    ) -> Result<SourceScan, PathError> {
        let stamp = self.stat(place)?;
        let mut shape = Shape::default();
        let (mut files, mut bytes, mut changed) = (0, 0, stamp.changed);
        let mut recent = [stamp.modified, stamp.changed].into_iter().any(is_recent);
        match stamp.kind {
            Kind::Directory => {
                for seen in entries(&place.walk(self.links, &self.watcher)?, exclusion)? {
                    seen.add_to(&mut shape);
                    if let ScannedContent::File { bytes: size, modified, changed: of_file } =
                        seen.what
                    {
                        (files, bytes) = (files + 1, bytes + size);
                        changed = changed.max(of_file);
                        recent = recent || is_recent(modified) || is_recent(of_file);
                    }
                }
            }
            Kind::File => {
                let path = place.path();
                let name = PayloadPath::new(Path::new(path.file_name().unwrap_or_default()));
                if let Ok(name) = name {
                    shape.add_file(&name, stamp.bytes, stamp.modified);
                }
                (files, bytes) = (1, stamp.bytes);
            }
            // A deposit refuses it with an error.
            Kind::Link | Kind::Special(_) => {}
        }
        let (kind, shape) = (stamp.kind, shape.finish());
        Ok(SourceScan { kind, files, bytes, shape, changed, is_recent: recent })
    }
}

struct ScannedEntry {
    path: PayloadPath,
    what: ScannedContent,
}

enum ScannedContent {
    File { bytes: u64, modified: Instant, changed: Instant },
    Link(Vec<u8>),
    Empty,
}

impl ScannedEntry {
    fn add_to(&self, shape: &mut Shape) {
        match &self.what {
            ScannedContent::File { bytes, modified, .. } => {
                shape.add_file(&self.path, *bytes, *modified);
            }
            ScannedContent::Link(target) => shape.add_link(&self.path, target),
            ScannedContent::Empty => shape.add_empty_directory(&self.path),
        }
    }
}

/// The entries of an item made from the directory, sorted by path.
fn entries(walk: &SourceWalk, exclusion: &Exclusion) -> Result<Vec<ScannedEntry>, PathError> {
    use std::os::unix::ffi::OsStringExt;
    let (mut found, mut directories, mut filled) = (Vec::new(), Vec::new(), HashSet::new());
    for entry in walk.entries(exclusion) {
        let entry = entry?;
        if entry.left_out.is_some() {
            continue;
        }
        let path = PayloadPath::new(&entry.relative)
            .expect("because names of directory entries are neither empty nor dots");
        if let Some(above) = entry.relative.parent().filter(|above| !above.as_os_str().is_empty()) {
            filled.insert(above.to_path_buf());
        }
        let what = match (entry.kind, entry.modified, entry.changed) {
            (Kind::File, Some(modified), Some(changed)) => {
                ScannedContent::File { bytes: entry.bytes, modified, changed }
            }
            (Kind::Directory, ..) => {
                directories.push(path);
                continue;
            }
            (Kind::Link, ..) => ScannedContent::Link(walk.read_link(&entry.relative)?.into_vec()),
            _ => continue,
        };
        found.push(ScannedEntry { path, what });
    }
    let empty = directories.into_iter().filter(|path| !filled.contains(path.as_path()));
    found.extend(empty.map(|path| ScannedEntry { path, what: ScannedContent::Empty }));
    found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}
