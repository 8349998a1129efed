//! Walking a source of a deposit.

use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::space::listed;
use super::{
    Dir, Exclusion, ExclusionRule, FileStat, IoContext, Kind, PathError, StoredFile, Watcher,
};
use crate::identity::{Instant, SECOND};
use crate::progress::Scan;

/// Treatment of the symbolic links of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// Kept as links while they stay inside the payload, refused when they leave it.
    #[default]
    Keep,
    /// Their targets are deposited in their place.
    Follow,
    /// Kept as links, wherever they lead.
    AsIs,
    /// Left out.
    Skip,
    /// Any link is refused.
    Refuse,
}

impl Links {
    fn are_followed(self) -> bool {
        self == Links::Follow
    }
}

/// One entry below a source directory.
#[derive(Clone, Debug)]
pub struct SourceEntry {
    /// Its path below the source.
    pub relative: PathBuf,
    /// Its kind, after following links if links are followed.
    pub kind: Kind,
    /// Size in bytes, of a file.
    pub bytes: u64,
    /// When the content of a file was last changed.
    pub modified: Option<Instant>,
    /// When content or attributes of a file were last changed.
    pub changed: Option<Instant>,
    /// Why it is left out, with everything below it.
    pub left_out: Option<ExclusionRule>,
    /// Why a link cannot be followed, if links are followed.
    pub broken: Option<BrokenLink>,
}

/// Why a link cannot be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokenLink {
    /// It is dangling.
    Dangling,
    /// It leads back to a directory above it, or to itself.
    Loop,
}

/// A source directory and how it is walked: parents before their entries, in the order of the disk.
#[derive(Debug)]
pub struct SourceWalk {
    root: Dir,
    links: Links,
    watcher: Watcher,
}

impl SourceWalk {
    /// The walk of an open directory.
    pub(crate) fn at(root: Dir, links: Links) -> SourceWalk {
        let watcher = root.watcher();
        SourceWalk { root, links, watcher }
    }

    /// The source directory itself.
    pub fn root(&self) -> &Dir {
        &self.root
    }

    /// Everything below the directory, except entries below a directory that is left out.
    pub fn entries(
        &self,
        exclusion: &Exclusion,
    ) -> impl Iterator<Item = Result<SourceEntry, PathError>> + '_ {
        let mut entries = walkdir::WalkDir::new(self.root.path())
            .min_depth(1)
            .follow_links(self.links.are_followed())
            .into_iter();
        // The exclusions of the source and of each directory on the way.
        let mut exclusions = vec![exclusion.clone()];
        let mut is_begun = false;
        let mut is_over = false;
        std::iter::from_fn(move || {
            if is_over {
                return None;
            }
            let entered =
                if is_begun { Ok(()) } else { self.enter(Path::new(""), &mut exclusions) };
            is_begun = true;
            let next = entered.and_then(|()| listed(self.root.path(), || entries.next()));
            let next = next.and_then(|entry| {
                let Some(entry) = entry else { return Ok(None) };
                let depth =
                    entry.as_ref().map_or_else(walkdir::Error::depth, walkdir::DirEntry::depth);
                exclusions.truncate(depth + 1);
                self.entry(entry, &mut exclusions).map(Some)
            });
            match next {
                Ok(entry) => {
                    let entry = entry?;
                    if entry.kind == Kind::Directory && entry.left_out.is_some() {
                        entries.skip_current_dir();
                    }
                    Some(Ok(entry))
                }
                Err(error) => {
                    is_over = true;
                    Some(Err(error))
                }
            }
        })
    }

    /// The bytes of all files below the directory, unless `scan` ends before; 0 if it cannot be read.
    pub(crate) fn measure(&self, exclusion: &Exclusion, scan: &Scan<'_>) -> Option<u64> {
        let mut bytes = 0_u64;
        for entry in self.entries(exclusion) {
            scan.goes_on()?;
            let Ok(entry) = entry else { return Some(0) };
            bytes = bytes.saturating_add(entry.bytes);
        }
        Some(bytes)
    }

    /// The link that could not be followed, if `error` is about one, with its path below the root.
    fn broken(&self, error: &walkdir::Error) -> Option<(PathBuf, BrokenLink)> {
        let relative = error.path()?.strip_prefix(self.root.path()).ok()?;
        let cause = error.io_error().and_then(Errno::from_io_error);
        let broken = match cause {
            None if error.loop_ancestor().is_some() => BrokenLink::Loop,
            Some(Errno::LOOP) => BrokenLink::Loop,
            Some(Errno::NOENT | Errno::NOTDIR) => BrokenLink::Dangling,
            _ => return None,
        };
        let stamp = self.stat(relative).ok()??;
        (stamp.kind == Kind::Link).then(|| (relative.to_path_buf(), broken))
    }

    /// Adds to the `exclusions` those of the directory at `relative`.
    fn enter(&self, relative: &Path, exclusions: &mut Vec<Exclusion>) -> Result<(), PathError> {
        let Some(above) = exclusions.last() else { return Ok(()) };
        let entered = above.entered(&self.root, relative, self.links.are_followed())?;
        exclusions.push(entered);
        Ok(())
    }

    fn entry(
        &self,
        entry: Result<walkdir::DirEntry, walkdir::Error>,
        exclusions: &mut Vec<Exclusion>,
    ) -> Result<SourceEntry, PathError> {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let (relative, broken) = self.broken(&error).ok_or_else(|| self.error(error))?;
                let left_out = exclusions.last().and_then(|it| it.rule(&relative, Kind::Link));
                return Ok(SourceEntry {
                    relative,
                    kind: Kind::Link,
                    bytes: 0,
                    modified: None,
                    changed: None,
                    left_out,
                    broken: Some(broken),
                });
            }
        };
        let relative = entry
            .path()
            .strip_prefix(self.root.path())
            .expect("because walkdir prefixes every path with the root it was given")
            .to_path_buf();
        let kind = self.kind(&relative, entry.file_type())?;
        let left_out = exclusions.last().and_then(|exclusion| exclusion.rule(&relative, kind));
        let is_skipped = kind == Kind::Link && self.links == Links::Skip;
        let left_out = left_out.or(is_skipped.then_some(ExclusionRule::Link));
        let (bytes, modified, changed) = match kind {
            Kind::File if left_out.is_none() => {
                let metadata = entry.metadata().map_err(|error| self.error(error))?;
                let (modified, changed) = times(&metadata);
                (metadata.len(), Some(modified), Some(changed))
            }
            _ => (0, None, None),
        };
        if kind == Kind::Directory && left_out.is_none() {
            self.enter(&relative, exclusions)?;
        }
        Ok(SourceEntry { relative, kind, bytes, modified, changed, left_out, broken: None })
    }

    fn kind(&self, relative: &Path, file_type: std::fs::FileType) -> Result<Kind, PathError> {
        if file_type.is_file() {
            return Ok(Kind::File);
        }
        if file_type.is_dir() {
            return Ok(Kind::Directory);
        }
        if file_type.is_symlink() {
            return Ok(Kind::Link);
        }
        let stamp = self.root.stat(relative)?;
        Ok(stamp.map_or(Kind::Special("file that has just gone"), |stamp| stamp.kind))
    }

    fn error(&self, error: walkdir::Error) -> PathError {
        let path = error.path().unwrap_or(self.root.path()).to_path_buf();
        // A loop has no cause of its own; walkdir names both ends of it.
        let text = error.to_string();
        let cause = error.into_io_error().unwrap_or_else(|| std::io::Error::other(text));
        PathError::new("walk", path, cause)
    }

    /// Opens the file of an entry. Unless links are followed, the path may not contain one.
    pub fn open_file(&self, relative: &Path) -> Result<StoredFile, PathError> {
        if self.links.are_followed() {
            return StoredFile::open(&self.root.path_of(relative), self.watcher.clone());
        }
        self.root.open_file(relative)
    }

    /// The target of an entry's link, whose path may not contain another link.
    pub fn read_link(&self, relative: &Path) -> Result<std::ffi::OsString, PathError> {
        let (above, name) = split(relative);
        if self.links.are_followed() {
            return self.open_dir(above)?.read_link(name);
        }
        self.root.read_link(relative)
    }

    /// The metadata of an entry in the file system, a link itself not followed.
    pub fn stat(&self, relative: &Path) -> Result<Option<FileStat>, PathError> {
        let (above, name) = split(relative);
        if self.links.are_followed() {
            return self.open_dir(above)?.stat(name);
        }
        self.root.stat(relative)
    }

    /// Opens the directory of an entry.
    pub fn open_dir(&self, relative: &Path) -> Result<Dir, PathError> {
        if self.links.are_followed() {
            return Dir::open(&self.root.path_of(relative), self.watcher.clone());
        }
        self.root.open_dir(relative)
    }
}

/// When the content was changed, and when content or attributes were.
fn times(metadata: &std::fs::Metadata) -> (Instant, Instant) {
    use std::os::unix::fs::MetadataExt;
    let instant = |seconds: i64, nanoseconds: i64| {
        Instant::from_nanoseconds(i128::from(seconds) * SECOND + i128::from(nanoseconds))
    };
    (
        instant(metadata.mtime(), metadata.mtime_nsec()),
        instant(metadata.ctime(), metadata.ctime_nsec()),
    )
}

/// The directory of a path, and its last name.
pub(crate) fn split(path: &Path) -> (&Path, &Path) {
    let name = path.file_name().map_or(path, Path::new);
    (path.parent().unwrap_or(Path::new("")), name)
}

/// The metadata of a path named by a person; a final link is followed only if links are.
pub fn stat_of(path: &Path, links: Links) -> Result<FileStat, PathError> {
    let stat = if links.are_followed() { rustix::fs::stat(path) } else { rustix::fs::lstat(path) };
    Ok(FileStat::of(&stat.on("inspect", path)?))
}

/// `path` with every link on the way resolved.
pub fn resolved(path: &Path) -> Result<PathBuf, PathError> {
    std::fs::canonicalize(path).on("find", path)
}
