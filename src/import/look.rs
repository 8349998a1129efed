//! A look at a source: how much it is, and what tells it from what it was before. Nothing is read.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::candidate::SourcePlace;
use crate::digest::Digest;
use crate::disk::{
    Dir, Exclusion, FileStat, Kind, Links, PathError, SourceWalk, StoredFile, Watcher,
};
use crate::identity::Instant;
use crate::item::{Entry, PayloadPath, Shape};

/// What is seen of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SourceScan {
    pub kind: Kind,
    pub files: u64,
    pub bytes: u64,
    pub shape: Digest,
    /// When anything of it was last changed.
    pub changed: Instant,
}

/// How sources are looked at.
#[derive(Clone, Debug)]
pub(super) struct Scanner {
    pub links: Links,
    pub watcher: Watcher,
}

impl Scanner {
    /// Opens the directory at `place`.
    pub(super) fn dir(&self, place: &SourcePlace) -> Result<Dir, PathError> {
        match place {
            SourcePlace::Beneath(beneath) => beneath.root.open_dir(&beneath.relative),
            SourcePlace::Path(path) if self.links == Links::Follow => {
                Dir::open(path, self.watcher.clone())
            }
            SourcePlace::Path(path) => Dir::open_no_follow(path, self.watcher.clone()),
        }
    }

    /// Opens the directory that `place` is in, and says what it is called there.
    pub(super) fn parent(&self, place: &SourcePlace) -> Result<(Dir, PathBuf), PathError> {
        let path = place.path();
        let name = PathBuf::from(path.file_name().unwrap_or_default());
        let dir = match place {
            SourcePlace::Beneath(beneath) => {
                beneath.root.open_dir(beneath.relative.parent().unwrap_or(Path::new("")))?
            }
            SourcePlace::Path(path) => {
                let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                Dir::open(parent.unwrap_or(Path::new(".")), self.watcher.clone())?
            }
        };
        Ok((dir, name))
    }

    /// What is reached beneath a directory stays beneath it.
    fn links_beneath(&self) -> Links {
        if self.links == Links::Follow { Links::Keep } else { self.links }
    }

    fn stat(&self, place: &SourcePlace) -> Result<FileStat, PathError> {
        let stamp = match place {
            SourcePlace::Beneath(beneath) => beneath.root.stat(&beneath.relative)?,
            SourcePlace::Path(path) if self.links == Links::Follow => {
                Some(StoredFile::open(path, self.watcher.clone())?.stat()?)
            }
            SourcePlace::Path(_) => {
                let (dir, name) = self.parent(place)?;
                dir.stat(&name)?
            }
        };
        stamp.ok_or_else(|| {
            PathError::new(
                "find",
                place.path(),
                std::io::Error::new(std::io::ErrorKind::NotFound, "there is nothing of this name"),
            )
        })
    }

    /// What kind of thing is at `place`.
    pub(super) fn kind(&self, place: &SourcePlace) -> Result<Kind, PathError> {
        Ok(self.stat(place)?.kind)
    }

    /// When `place` itself was last changed, whatever is in it.
    pub(super) fn age_of(&self, place: &SourcePlace) -> Result<Instant, PathError> {
        let stamp = self.stat(place)?;
        Ok(stamp.changed.max(stamp.modified))
    }

    /// Looks at everything at `place`.
    pub(super) fn look(
        &self,
        place: &SourcePlace,
        exclusion: &Exclusion,
    ) -> Result<SourceScan, PathError> {
        let stamp = self.stat(place)?;
        let mut shape = Shape::default();
        let (mut files, mut bytes, mut changed) = (0, 0, stamp.changed.max(stamp.modified));
        match stamp.kind {
            Kind::Directory => {
                let walk = match place {
                    SourcePlace::Beneath(_) => {
                        SourceWalk::at(self.dir(place)?, self.links_beneath())
                    }
                    SourcePlace::Path(path) => {
                        SourceWalk::open(path, self.links, self.watcher.clone())?
                    }
                };
                for seen in entries(&walk, exclusion, &|_| true)? {
                    seen.add_to(&mut shape);
                    if let ScannedContent::File { bytes: size, modified, changed: of_file } =
                        seen.what
                    {
                        (files, bytes) = (files + 1, bytes + size);
                        changed = changed.max(modified).max(of_file);
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
            // A deposit refuses it, and says so.
            Kind::Link | Kind::Special(_) => {}
        }
        Ok(SourceScan { kind: stamp.kind, files, bytes, shape: shape.finish(), changed })
    }

    /// Whether the directory at `place` holds what `item` was made of, by whatever rules of links and patterns:
    /// it is looked at as the item shows that it was seen then.
    pub(super) fn is_unchanged(
        &self,
        place: &SourcePlace,
        exclusion: &Exclusion,
        item: &ImportedView<'_>,
    ) -> Result<bool, PathError> {
        let walk = SourceWalk::at(self.dir(place)?, self.links_beneath());
        let mut left_out = item.left_out.clone();
        for entry in walk.entries(exclusion) {
            let entry = entry?;
            if entry.left_out.is_some() {
                left_out.insert(entry.relative);
            }
        }
        let is_taken = |path: &Path| {
            let is_there = |files: &[Entry]| {
                files
                    .binary_search_by(|entry| {
                        entry.path.as_path().as_os_str().cmp(path.as_os_str())
                    })
                    .is_ok()
            };
            item.files.is_some_and(is_there) || !path.ancestors().any(|it| left_out.contains(it))
        };
        let shape_of = |seen: Vec<ScannedEntry>| {
            let mut shape = Shape::default();
            for seen in seen {
                seen.add_to(&mut shape);
            }
            shape.finish()
        };
        let walk = SourceWalk::at(self.dir(place)?, Links::Keep);
        let seen = entries(&walk, &Exclusion::default(), &is_taken)?;
        let has_links = seen.iter().any(|seen| matches!(seen.what, ScannedContent::Link(_)));
        if item.shapes.contains(&shape_of(seen)) {
            return Ok(true);
        }
        if !has_links {
            return Ok(false);
        }
        let walk = SourceWalk::open(&place.path(), Links::Follow, self.watcher.clone())?;
        let seen = entries(&walk, &Exclusion::default(), &is_taken)?;
        Ok(item.shapes.contains(&shape_of(seen)))
    }
}

/// An item as the source of an earlier import was seen.
pub(super) struct ImportedView<'a> {
    /// What was seen of it without reading: then, and what its sidecar gives.
    pub shapes: Vec<Digest>,
    /// Its entries, sorted by path, if its sidecar is here.
    pub files: Option<&'a [Entry]>,
    /// What was left out of its source.
    pub left_out: HashSet<PathBuf>,
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

/// What an item made of the directory would have entries of, sorted by path: those that `is_taken` takes.
fn entries(
    walk: &SourceWalk,
    exclusion: &Exclusion,
    is_taken: &dyn Fn(&Path) -> bool,
) -> Result<Vec<ScannedEntry>, PathError> {
    use std::os::unix::ffi::OsStringExt;
    let (mut found, mut directories, mut filled) = (Vec::new(), Vec::new(), HashSet::new());
    for entry in walk.entries(exclusion) {
        let entry = entry?;
        if entry.left_out.is_some() || !is_taken(&entry.relative) {
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
