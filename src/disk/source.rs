//! Walking what is to be deposited.

use std::path::{Path, PathBuf};

use super::{Dir, DirEntry, IoContext, Kind, PathError, Stamp, StoredFile, Watcher};
use crate::identity::Instant;

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

/// A source directory and how it is walked: parents before what is in them, in no other order.
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
        let mut unlisted = vec![PathBuf::new()];
        let mut listed = Vec::new().into_iter();
        std::iter::from_fn(move || {
            loop {
                if let Some(entry) = listed.next() {
                    let SourceEntry { kind, relative, .. } = &entry;
                    if *kind == Kind::Directory {
                        unlisted.push(relative.clone());
                    }
                    return Some(Ok(entry));
                }
                match self.list(&unlisted.pop()?) {
                    Ok(entries) => listed = entries.into_iter(),
                    Err(error) => return Some(Err(error)),
                }
            }
        })
    }

    fn list(&self, directory: &Path) -> Result<Vec<SourceEntry>, PathError> {
        let opened;
        let dir = if directory.as_os_str().is_empty() {
            &self.root
        } else {
            opened = self.open_dir(directory)?;
            &opened
        };
        dir.entries()?.map(|found| self.entry(dir, directory, &found?)).collect()
    }

    /// What was found in `dir`, which is `above` below the source.
    fn entry(&self, dir: &Dir, above: &Path, found: &DirEntry) -> Result<SourceEntry, PathError> {
        let relative = above.join(&found.name);
        let stamp = match (found.kind, self.links) {
            (Kind::Link, Links::Follow) => Some(self.followed(&relative)?),
            (Kind::File, _) => {
                let gone = || std::io::ErrorKind::NotFound.into();
                let stamp = dir.stamp(&found.name)?;
                let path = self.root.path_of(&relative);
                Some(stamp.ok_or_else(|| PathError::new("inspect", path, gone()))?)
            }
            _ => None,
        };
        let kind = stamp.map_or(found.kind, |stamp| stamp.kind);
        let of_file = stamp.filter(|_| kind == Kind::File);
        Ok(SourceEntry {
            relative,
            kind,
            bytes: of_file.map_or(0, |stamp| stamp.bytes),
            modified: of_file.map(|stamp| stamp.modified),
            changed: of_file.map(|stamp| stamp.changed),
        })
    }

    /// What a link leads to: not to a directory that it lies in, or the walk would have no end.
    fn followed(&self, link: &Path) -> Result<Stamp, PathError> {
        let path = self.root.path_of(link);
        let stamp = stamp_of(&path, Links::Follow)?;
        let mut above = path.ancestors().skip(1).take(link.components().count());
        let is_same = |above: &Path| Ok(stamp_of(above, Links::Follow)?.identity == stamp.identity);
        while stamp.kind == Kind::Directory
            && let Some(above) = above.next()
        {
            if is_same(above)? {
                let above = above.display();
                let cause = std::io::Error::other(format!("a loop: it leads back to `{above}`"));
                return Err(PathError::new("walk", path, cause));
            }
        }
        Ok(stamp)
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
    pub fn stamp(&self, relative: &Path) -> Result<Option<Stamp>, PathError> {
        match self.links {
            Links::Follow => {
                let (above, name) = split(relative);
                self.open_dir(above)?.stamp(name)
            }
            Links::Keep | Links::Refuse => self.root.stamp(relative),
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

/// The directory of a path, and its last name.
pub(crate) fn split(path: &Path) -> (&Path, &Path) {
    let name = path.file_name().map_or(path, Path::new);
    (path.parent().unwrap_or(Path::new("")), name)
}

/// What a path named by a person is; a link at its end is followed only if links are.
pub fn stamp_of(path: &Path, links: Links) -> Result<Stamp, PathError> {
    let stat = match links {
        Links::Follow => rustix::fs::stat(path),
        Links::Keep | Links::Refuse => rustix::fs::lstat(path),
    };
    Ok(Stamp::of(&stat.on("inspect", path)?))
}

/// `path` with every link on the way resolved.
pub fn resolved(path: &Path) -> Result<PathBuf, PathError> {
    std::fs::canonicalize(path).on("find", path)
}
