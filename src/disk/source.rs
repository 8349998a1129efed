//! Walking what is to be deposited.

use std::path::{Path, PathBuf};

use super::space::listed;
use super::{Dir, FileStat, IoContext, Kind, PathError, StoredFile, Watcher};
use crate::identity::{Instant, SECOND};

/// What is done with symbolic links of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// Kept as links while they stay inside the payload, refused when they leave it.
    #[default]
    Keep,
    /// What they point to is deposited in their place.
    Follow,
    /// Any link is refused.
    Refuse,
}

/// One entry below a source directory.
#[derive(Clone, Debug)]
pub struct SourceEntry {
    /// Its path below the source.
    pub relative: PathBuf,
    /// What it is, after links were followed if they are.
    pub kind: Kind,
    /// Size in bytes, of a file.
    pub bytes: u64,
    /// When the content of a file was last changed.
    pub modified: Option<Instant>,
    /// When content or attributes of a file were last changed.
    pub changed: Option<Instant>,
}

/// A source directory and how it is walked: parents before what is in them, order of the disk.
#[derive(Debug)]
pub struct SourceWalk {
    root: Dir,
    links: Links,
    watcher: Watcher,
}

impl SourceWalk {
    /// Opens the directory at `path`.
    pub fn open(path: &Path, links: Links, watcher: Watcher) -> Result<SourceWalk, PathError> {
        let root = match links {
            Links::Follow => Dir::open(path, watcher.clone())?,
            Links::Keep | Links::Refuse => Dir::open_no_follow(path, watcher.clone())?,
        };
        Ok(SourceWalk { root, links, watcher })
    }

    /// The walk of a directory that is open already.
    pub(crate) fn at(root: Dir, links: Links) -> SourceWalk {
        let watcher = root.watcher();
        SourceWalk { root, links, watcher }
    }

    /// The source directory itself.
    pub fn root(&self) -> &Dir {
        &self.root
    }

    /// Everything below the directory.
    pub fn entries(&self) -> impl Iterator<Item = Result<SourceEntry, PathError>> + '_ {
        let mut entries = walkdir::WalkDir::new(self.root.path())
            .min_depth(1)
            .follow_links(self.links == Links::Follow)
            .into_iter();
        let mut is_over = false;
        std::iter::from_fn(move || {
            if is_over {
                return None;
            }
            match listed(self.root.path(), || entries.next()) {
                Ok(entry) => Some(self.entry(entry?)),
                Err(error) => {
                    is_over = true;
                    Some(Err(error))
                }
            }
        })
    }

    fn entry(
        &self,
        entry: Result<walkdir::DirEntry, walkdir::Error>,
    ) -> Result<SourceEntry, PathError> {
        let entry = entry.map_err(|error| self.error(error))?;
        let relative = entry
            .path()
            .strip_prefix(self.root.path())
            .expect("because walkdir prefixes every path with the root it was given")
            .to_path_buf();
        let kind = self.kind(&relative, entry.file_type())?;
        let (bytes, modified, changed) = match kind {
            Kind::File => {
                let metadata = entry.metadata().map_err(|error| self.error(error))?;
                let (modified, changed) = times(&metadata);
                (metadata.len(), Some(modified), Some(changed))
            }
            _ => (0, None, None),
        };
        Ok(SourceEntry { relative, kind, bytes, modified, changed })
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

    /// Opens the file of an entry. Unless links are followed, none is passed on the way.
    pub fn open_file(&self, relative: &Path) -> Result<StoredFile, PathError> {
        match self.links {
            Links::Follow => StoredFile::open(&self.root.path_of(relative), self.watcher.clone()),
            Links::Keep | Links::Refuse => self.root.open_file(relative),
        }
    }

    /// What the link of an entry says; no link is passed on the way to it.
    pub fn read_link(&self, relative: &Path) -> Result<std::ffi::OsString, PathError> {
        match self.links {
            Links::Follow => {
                let (above, name) = split(relative);
                self.open_dir(above)?.read_link(name)
            }
            Links::Keep | Links::Refuse => self.root.read_link(relative),
        }
    }

    /// What the file system says of an entry, a link itself not followed.
    pub fn stat(&self, relative: &Path) -> Result<Option<FileStat>, PathError> {
        match self.links {
            Links::Follow => {
                let (above, name) = split(relative);
                self.open_dir(above)?.stat(name)
            }
            Links::Keep | Links::Refuse => self.root.stat(relative),
        }
    }

    /// Opens the directory of an entry.
    pub fn open_dir(&self, relative: &Path) -> Result<Dir, PathError> {
        match self.links {
            Links::Follow => Dir::open(&self.root.path_of(relative), self.watcher.clone()),
            Links::Keep | Links::Refuse => self.root.open_dir(relative),
        }
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

/// What a path named by a person is; a link at its end is followed only if links are.
pub fn stat_of(path: &Path, links: Links) -> Result<FileStat, PathError> {
    let stat = match links {
        Links::Follow => rustix::fs::stat(path),
        Links::Keep | Links::Refuse => rustix::fs::lstat(path),
    };
    Ok(FileStat::of(&stat.on("inspect", path)?))
}

/// `path` with every link on the way resolved.
pub fn resolved(path: &Path) -> Result<PathBuf, PathError> {
    std::fs::canonicalize(path).on("find", path)
}
