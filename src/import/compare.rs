//! A source compared with the item that was made of it: looked at as the item shows that it was seen then,
//! whatever the rules of links and patterns are now.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::candidate::SourcePlace;
use super::look::{ScannedContent, ScannedEntry, Scanner};
use crate::digest::Digest;
use crate::disk::{Dir, DirEntry, Exclusion, Kind, Links, PathError, stat_of};
use crate::item::{Content, Entry, PayloadPath, Shape};

/// What a comparison found.
#[derive(Debug)]
pub(super) enum Likeness {
    /// Everything there is of the kind that the item has at its path. Whether it changed is seen by this.
    Shape(Digest),
    /// Another kind of thing is here, or nothing can be seen.
    Changed(PathBuf),
    /// The item has nothing of this name.
    NotInItem(PathBuf),
}

/// What an item has at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ItemKind {
    File,
    Link,
    Directory,
    Nothing,
}

impl Scanner {
    /// Compares what is at `place` with the `entries` of an item, which are sorted by path. Of what the item
    /// does not have, that which `passes` takes is passed over.
    ///
    /// A link is followed only where the item has a file or a directory in its place. What it leads to is listed
    /// no further than the item goes, and an error there is a change.
    pub(super) fn compare(
        &self,
        place: &SourcePlace,
        entries: &[Entry],
        passes: &dyn Fn(&Path, Kind) -> bool,
    ) -> Result<Likeness, PathError> {
        if self.kind(place)? != Kind::Directory {
            return Ok(Likeness::Shape(self.look(place, &Exclusion::default(), &|_| false)?.shape));
        }
        let root = self.dir(place)?;
        let (found, pending) = (Vec::new(), vec![(PathBuf::new(), false)]);
        let mut comparison = TreeComparison { root, entries, passes, found, pending };
        while let Some((relative, is_followed)) = comparison.pending.pop() {
            let differing = match comparison.visit(&relative, is_followed) {
                Err(_) if is_followed => {
                    Some(Likeness::Changed(comparison.root.path_of(&relative)))
                }
                outcome => outcome?,
            };
            if let Some(differing) = differing {
                return Ok(differing);
            }
        }
        comparison.found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut shape = Shape::default();
        for found in &comparison.found {
            found.add_to(&mut shape);
        }
        Ok(Likeness::Shape(shape.finish()))
    }
}

struct TreeComparison<'a> {
    root: Dir,
    entries: &'a [Entry],
    passes: &'a dyn Fn(&Path, Kind) -> bool,
    found: Vec<ScannedEntry>,
    /// Directories still to be listed, and whether a link leads to them.
    pending: Vec<(PathBuf, bool)>,
}

impl TreeComparison<'_> {
    /// Takes what is in a directory, and returns what shows that it is no longer what the item has.
    fn visit(&mut self, relative: &Path, is_followed: bool) -> Result<Option<Likeness>, PathError> {
        let dir = if is_followed {
            Dir::open(&self.root.path_of(relative), self.root.watcher())?
        } else if relative.as_os_str().is_empty() {
            self.root.try_clone()?
        } else {
            self.root.open_dir(relative)?
        };
        let mut is_empty = true;
        for entry in dir.entries()? {
            let entry = entry?;
            let path = relative.join(&entry.name);
            let is_link = entry.kind == Kind::Link;
            match (self.of_item(&path), entry.kind) {
                (ItemKind::Nothing, kind) if (self.passes)(&path, kind) => continue,
                (ItemKind::Nothing, _) => {
                    return Ok(Some(Likeness::NotInItem(dir.path_of(&entry.name))));
                }
                (ItemKind::Directory, Kind::Directory | Kind::Link) => {
                    self.pending.push((path, is_followed || is_link));
                }
                (of_item, _) => match content(&dir, &entry, of_item)? {
                    Some(what) => self.found.push(ScannedEntry { path: payload_path(&path), what }),
                    None => return Ok(Some(Likeness::Changed(dir.path_of(&entry.name)))),
                },
            }
            is_empty = false;
        }
        if is_empty && !relative.as_os_str().is_empty() {
            let path = payload_path(relative);
            self.found.push(ScannedEntry { path, what: ScannedContent::Empty });
        }
        Ok(None)
    }

    fn of_item(&self, path: &Path) -> ItemKind {
        let bytes = path.as_os_str().as_bytes();
        if let Ok(at) = self.entries.binary_search_by(|entry| entry.path.as_bytes().cmp(bytes)) {
            return match self.entries[at].content {
                Content::File { .. } => ItemKind::File,
                Content::Link { .. } => ItemKind::Link,
                Content::EmptyDirectory { .. } => ItemKind::Directory,
            };
        }
        let below = [bytes, b"/"].concat();
        let from = self.entries.partition_point(|entry| entry.path.as_bytes() < below.as_slice());
        let first = self.entries.get(from);
        let is_above = first.is_some_and(|entry| entry.path.as_bytes().starts_with(&below));
        if is_above { ItemKind::Directory } else { ItemKind::Nothing }
    }
}

/// The content of an entry where the item has a file or a link, if it is that still.
fn content(
    dir: &Dir,
    entry: &DirEntry,
    of_item: ItemKind,
) -> Result<Option<ScannedContent>, PathError> {
    use std::os::unix::ffi::OsStringExt;
    let stamp = match (of_item, entry.kind) {
        (ItemKind::Link, Kind::Link) => {
            let target = dir.read_link(Path::new(&entry.name))?;
            return Ok(Some(ScannedContent::Link(target.into_vec())));
        }
        (ItemKind::File, Kind::File) => dir.stat(&entry.name)?,
        (ItemKind::File, Kind::Link) => stat_of(&dir.path_of(&entry.name), Links::Follow).ok(),
        _ => None,
    };
    let stamp = stamp.filter(|stamp| stamp.kind == Kind::File);
    Ok(stamp.map(|stamp| ScannedContent::File {
        bytes: stamp.bytes,
        modified: stamp.modified,
        changed: stamp.changed,
    }))
}

fn payload_path(path: &Path) -> PayloadPath {
    PayloadPath::new(path).expect("because names of directory entries are neither empty nor dots")
}
