//! A source compared with the item that was made of it: looked at as the item shows that it was seen then,
//! whatever the rules of links and patterns are now.

use std::path::{Path, PathBuf};

use super::candidate::SourcePlace;
use super::look::{ScannedContent, ScannedEntry, Scanner};
use crate::deposit::removal::{Times, holds};
use crate::digest::Digest;
use crate::disk::copy::CopyError;
use crate::disk::{Dir, DirEntry, FileStat, Kind, Links, StoredFile, stat_of};
use crate::interrupt::Interrupt;
use crate::item::{Content, Entry, PayloadPath, Shape, implies, position};

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
    /// does not have, that which `passes` takes is passed over. Where it may have any `times`, a file of another
    /// time is read, and has that of the item if it has its bytes.
    ///
    /// A link is followed only where the item has a file or a directory in its place. What it leads to is listed
    /// no further than the item goes, and an error there is a change.
    pub(super) fn compare(
        &self,
        place: &SourcePlace,
        entries: &[Entry],
        passes: &dyn Fn(&Path, Kind) -> bool,
        (times, interrupt): (Times, &Interrupt),
    ) -> Result<Likeness, CopyError> {
        let is_directory = self.kind(place)? == Kind::Directory;
        let (root, name) =
            if is_directory { (self.dir(place)?, PathBuf::new()) } else { self.parent(place)? };
        let (found, mut pending) = (Vec::new(), Vec::new());
        if is_directory {
            pending.push((name.clone(), false));
        }
        let mut comparison =
            TreeComparison { root, entries, passes, times, interrupt, found, pending };
        if !is_directory {
            match comparison.file(&name)? {
                Some(file) => comparison.found.push(file),
                None => return Ok(Likeness::Changed(place.path())),
            }
        }
        while let Some((relative, is_followed)) = comparison.pending.pop() {
            let differing = match comparison.visit(&relative, is_followed) {
                Err(CopyError::Disk(_)) if is_followed => {
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
    times: Times,
    interrupt: &'a Interrupt,
    found: Vec<ScannedEntry>,
    /// Directories still to be listed, and whether a link leads to them.
    pending: Vec<(PathBuf, bool)>,
}

impl TreeComparison<'_> {
    /// Takes what is in a directory, and returns what shows that it is no longer what the item has.
    fn visit(&mut self, relative: &Path, is_followed: bool) -> Result<Option<Likeness>, CopyError> {
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
                _ => match self.content(&dir, &entry, &path)? {
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

    /// The one file that a source is.
    fn file(&self, name: &Path) -> Result<Option<ScannedEntry>, CopyError> {
        let Some(stamp) = self.root.stat(name)? else { return Ok(None) };
        let entry = DirEntry { name: name.into(), kind: stamp.kind };
        let what = self.content(&self.root, &entry, name)?;
        Ok(what.map(|what| ScannedEntry { path: payload_path(name), what }))
    }

    fn held(&self, path: &Path) -> Option<&Content> {
        position(self.entries, path).map(|at| &self.entries[at].content)
    }

    fn of_item(&self, path: &Path) -> ItemKind {
        match self.held(path) {
            Some(Content::File { .. }) => ItemKind::File,
            Some(Content::Link { .. }) => ItemKind::Link,
            Some(Content::EmptyDirectory { .. }) => ItemKind::Directory,
            None if implies(self.entries, path) => ItemKind::Directory,
            None => ItemKind::Nothing,
        }
    }

    /// The content of an entry where the item has a file or a link, if it is that still.
    fn content(
        &self,
        dir: &Dir,
        entry: &DirEntry,
        path: &Path,
    ) -> Result<Option<ScannedContent>, CopyError> {
        use std::os::unix::ffi::OsStringExt;
        let stat = || match entry.kind {
            Kind::File => dir.stat(&entry.name),
            Kind::Link => Ok(stat_of(&dir.path_of(&entry.name), Links::Follow).ok()),
            Kind::Directory | Kind::Special(_) => Ok(None),
        };
        let (size, digest, dated) = match (self.held(path), entry.kind) {
            (Some(Content::Link { .. }), Kind::Link) => {
                let target = dir.read_link(Path::new(&entry.name))?;
                return Ok(Some(ScannedContent::Link(target.into_vec())));
            }
            (Some(Content::File { bytes, digest, modified, .. }), _) => (*bytes, digest, *modified),
            _ => return Ok(None),
        };
        let Some(stamp) = stat()?.filter(|stamp| stamp.kind == Kind::File) else { return Ok(None) };
        let FileStat { bytes, mut modified, changed, .. } = stamp;
        if self.times == Times::Any && bytes == size && modified != dated {
            let mut file = match entry.kind {
                Kind::Link => StoredFile::open(&dir.path_of(&entry.name), dir.watcher())?,
                _ => dir.open_file(&entry.name)?,
            };
            if holds(&mut file, &stamp, digest, self.interrupt)? && stat()? == Some(stamp) {
                modified = dated;
            }
        }
        Ok(Some(ScannedContent::File { bytes, modified, changed }))
    }
}

fn payload_path(path: &Path) -> PayloadPath {
    PayloadPath::new(path).expect("because names of directory entries are neither empty nor dots")
}
