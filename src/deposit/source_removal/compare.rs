//! Comparing sources with the items made of them, and removing what was compared.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::SourceKept;
use crate::digest::Digest;
use crate::disk::copy::{CopyError, digest_up_to};
use crate::disk::{Dir, DirEntry, FileStat, Kind, Links, PathError, StoredFile, stat_of};
use crate::interrupt::Interrupt;
use crate::item::{Content, Entry, Shape, implies, position};
use crate::progress::NoProgress;

/// The depth of the comparison of a source with its item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closeness {
    /// By sizes, and by times unless any time is allowed.
    Stamps,
    /// Also by every byte.
    Bytes,
}

/// The allowed times of the files of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Times {
    /// Those of the item, which has just been made from it: another time means a change.
    OfItem,
    /// Any: the item existed before, and the bytes alone decide.
    Any,
}

/// Whether an entry of a source may be missing in the item.
pub(crate) type Besides<'a> = dyn Fn(&Path, Kind) -> bool + 'a;

/// The item that sources are compared with, and how.
#[derive(Clone, Copy)]
pub(crate) struct SourceComparison<'a> {
    /// Sorted by path.
    pub entries: &'a [Entry],
    /// The directory of the payload that a source directory became.
    pub within: &'a Path,
    pub times: Times,
    /// For a source that is moved or removed as a whole: the other entries that it may have. If the item has
    /// a file or a directory in the place of a link, the link counts as its target, whatever the present rule
    /// of links.
    pub besides: Option<&'a Besides<'a>>,
    pub interrupt: &'a Interrupt,
}

/// A compared source: its files and links, and its directories.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ComparedSource {
    leaves: BTreeMap<PathBuf, FileStat>,
    directories: BTreeSet<PathBuf>,
    /// Whether a link counts as what it leads to.
    follows_links: bool,
}

impl SourceComparison<'_> {
    /// Makes sure that everything in the directory `top` is in the item.
    pub(crate) fn tree(
        &self,
        top: &Dir,
        closeness: Closeness,
    ) -> Result<ComparedSource, SourceKept> {
        let (mut compared, mut pending) =
            (ComparedSource::default(), vec![(PathBuf::new(), false)]);
        while let Some((relative, is_followed)) = pending.pop() {
            let listed = if is_followed {
                Dir::open(&top.path_of(&relative), top.watcher())
            } else {
                top.open_dir(&relative)
            };
            let visited = listed.map_err(SourceKept::from).and_then(|dir| {
                self.visit(&dir, (&relative, is_followed), closeness, &mut compared, &mut pending)
            });
            visited.map_err(|error| match error {
                SourceKept::Disk(_) | SourceKept::Copy(CopyError::Disk(_)) if is_followed => {
                    SourceKept::Changed(top.path_of(&relative))
                }
                error => error,
            })?;
        }
        Ok(compared)
    }

    /// The part of the directory `top` that is in the item, byte by byte.
    pub(super) fn part(&self, top: &Dir) -> Result<ComparedSource, SourceKept> {
        let (mut part, mut pending) = (ComparedSource::default(), vec![PathBuf::new()]);
        while let Some(relative) = pending.pop() {
            let dir = top.open_dir(&relative)?;
            for entry in dir.entries()? {
                let entry = entry?;
                let below = relative.join(&entry.name);
                let held = self.within.join(&below);
                if entry.kind != Kind::Directory {
                    match self.leaf((&dir, &entry), &held, Closeness::Bytes) {
                        Ok(found) => drop(part.leaves.insert(below, found)),
                        Err(error) if error.is_of_content() => {}
                        Err(error) => return Err(error),
                    }
                } else if self.has_directory(&held) {
                    part.directories.insert(below.clone());
                    pending.push(below);
                }
            }
        }
        Ok(part)
    }

    fn visit(
        &self,
        dir: &Dir,
        (relative, is_followed): (&Path, bool),
        closeness: Closeness,
        compared: &mut ComparedSource,
        pending: &mut Vec<(PathBuf, bool)>,
    ) -> Result<(), SourceKept> {
        let mut is_empty = true;
        for entry in dir.entries()? {
            let entry = entry?;
            let below = relative.join(&entry.name);
            let held = self.within.join(&below);
            let (content, is_directory) = (self.content(&held), self.has_directory(&held));
            if content.is_none()
                && !is_directory
                && let Some(besides) = self.besides
            {
                if besides(&below, entry.kind) {
                    continue;
                }
                return Err(SourceKept::NotInItem(dir.path_of(&entry.name)));
            }
            is_empty = false;
            let is_link = entry.kind == Kind::Link;
            compared.follows_links |= is_link && !matches!(content, Some(Content::Link { .. }));
            if entry.kind == Kind::Directory || (is_link && is_directory && self.besides.is_some())
            {
                compared.directories.insert(below.clone());
                pending.push((below, is_followed || is_link));
            } else {
                let found = self.leaf((dir, &entry), &held, closeness)?;
                compared.leaves.insert(below, found);
            }
        }
        let held = self.within.components().chain(relative.components()).collect::<PathBuf>();
        if is_empty && !self.has_directory(&held) {
            return Err(SourceKept::Changed(dir.path().to_path_buf()));
        }
        Ok(())
    }

    /// Makes sure that the source `name` in `dir`, which is not a directory, is in the item at `held`.
    pub(crate) fn single(
        &self,
        (dir, name): (&Dir, &Path),
        held: &Path,
        closeness: Closeness,
    ) -> Result<ComparedSource, SourceKept> {
        let found = dir.stat(name)?.ok_or_else(|| SourceKept::Changed(dir.path_of(name)))?;
        let entry = DirEntry { name: name.into(), kind: found.kind };
        let found = self.leaf((dir, &entry), held, closeness)?;
        let leaves = BTreeMap::from([(held.to_path_buf(), found)]);
        let follows_links = entry.kind == Kind::Link;
        Ok(ComparedSource { leaves, follows_links, ..ComparedSource::default() })
    }

    /// Whether `moved` in `dir` is the source that was `compared`, and not one that replaced it before the move.
    ///
    /// A followed link may lead elsewhere from the new place.
    pub(crate) fn is_same(
        &self,
        (dir, moved): (&Dir, &Path),
        held: &Path,
        compared: &ComparedSource,
    ) -> Result<bool, SourceKept> {
        if compared.follows_links {
            return Ok(true);
        }
        let compare = |closeness| match dir.stat(moved)?.map(|stamp| stamp.kind) {
            Some(Kind::Directory) => self.tree(&dir.open_dir(moved)?, closeness),
            _ => self.single((dir, moved), held, closeness),
        };
        let now = match compare(Closeness::Stamps) {
            // Not every file system keeps inodes when it renames.
            Ok(now) if !now.is_same(compared) => compare(Closeness::Bytes).map(|_| ()),
            now => now.map(|_| ()),
        };
        match now {
            Err(SourceKept::Changed(_) | SourceKept::NotInItem(_)) => Ok(false),
            now => now.map(|()| true),
        }
    }

    /// Makes sure that `entry` of `dir` is the file or link at `held` in the item.
    fn leaf(
        &self,
        (dir, entry): (&Dir, &DirEntry),
        held: &Path,
        closeness: Closeness,
    ) -> Result<FileStat, SourceKept> {
        let (name, is_link) = (Path::new(&entry.name), entry.kind == Kind::Link);
        let changed = || SourceKept::Changed(dir.path_of(name));
        let (bytes, digest, modified) = match (self.content(held), entry.kind) {
            (_, Kind::Special(_)) => return Err(changed()),
            (None, _) => return Err(SourceKept::NotInItem(dir.path_of(name))),
            (Some(Content::Link { target }), Kind::Link)
                if dir.read_link(name)?.as_bytes() == target =>
            {
                return dir.stat(name)?.ok_or_else(changed);
            }
            (Some(Content::File { .. }), Kind::Link) if self.besides.is_none() => {
                return Err(SourceKept::Followed(dir.path_of(name)));
            }
            (Some(Content::File { bytes, digest, modified, .. }), _) => (*bytes, digest, *modified),
            _ => return Err(changed()),
        };
        let stat = || {
            if is_link {
                Ok(stat_of(&dir.path_of(name), Links::Follow).ok())
            } else {
                dir.stat(name)
            }
        };
        let found = stat()?.ok_or_else(changed)?;
        if found.kind != Kind::File
            || found.bytes != bytes
            || (found.modified != modified && self.times == Times::OfItem)
        {
            return Err(changed());
        }
        if closeness == Closeness::Bytes {
            let mut file = if is_link {
                StoredFile::open(&dir.path_of(name), dir.watcher())?
            } else {
                dir.open_file(name)?
            };
            if !holds(&mut file, &found, digest, self.interrupt)? || stat()? != Some(found) {
                return Err(changed());
            }
        }
        Ok(found)
    }

    fn content(&self, path: &Path) -> Option<&Content> {
        position(self.entries, path).map(|at| &self.entries[at].content)
    }

    /// Whether the item has a directory at `path`, empty or not.
    fn has_directory(&self, path: &Path) -> bool {
        match self.content(path) {
            Some(content) => matches!(content, Content::EmptyDirectory { .. }),
            None if path.as_os_str().is_empty() => !self.entries.is_empty(),
            None => implies(self.entries, path),
        }
    }
}

/// Whether a file has not changed. Its rename and the removal of another hard link change the ctime alone.
fn is_same(now: &FileStat, then: &FileStat) -> bool {
    FileStat { changed: then.changed, ..*now } == *then
}

impl ComparedSource {
    fn is_same(&self, other: &ComparedSource) -> bool {
        let mut files = self.leaves.iter().zip(&other.leaves);
        self.leaves.len() == other.leaves.len()
            && files.all(|((path, now), (held, then))| path == held && is_same(now, then))
            && self.directories == other.directories
    }

    /// The shape of the compared source, if it has all `entries` of the item.
    pub(crate) fn shape(&self, entries: &[Entry]) -> Option<Digest> {
        let mut shape = Shape::default();
        for Entry { path, content } in entries {
            let leaf = self.leaves.get(path.as_path());
            match content {
                Content::File { bytes, .. } => shape.add_file(path, *bytes, leaf?.modified),
                Content::Link { target } => leaf.map(|_| shape.add_link(path, target))?,
                Content::EmptyDirectory { .. } => {
                    self.directories.get(path.as_path())?;
                    shape.add_empty_directory(path);
                }
            }
        }
        Some(shape.finish())
    }

    /// Whether it has no file and no link.
    pub(super) fn has_no_leaves(&self) -> bool {
        self.leaves.is_empty()
    }

    /// Removes the compared directory `name` in `parent`. New or changed entries stay: that is an error,
    /// which names them below `path`.
    pub(super) fn remove(
        &self,
        (parent, name): (&Dir, &Path),
        path: &Path,
    ) -> Result<(), SourceKept> {
        let top = parent.open_up(name)?;
        for directory in &self.directories {
            top.open_up(directory)?;
        }
        // Before anything is removed: of a source that resists, no part is to go.
        let entries = self.leaves.keys().chain(&self.directories);
        let filled: BTreeSet<_> = entries.filter_map(|below| below.parent()).collect();
        for directory in filled {
            top.check_writable(directory)?;
        }
        let mut is_begun = false;
        match self.remove_from(&top, (parent, name), &mut is_begun) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(cause) if is_begun => {
                return Err(SourceKept::Part { at: parent.path_of(name), cause });
            }
            Err(cause) => return Err(cause.into()),
        }
        let left = first_of(&top)?;
        let at = path.join(&left);
        let is_known = self.leaves.contains_key(&left);
        Err(if is_known { SourceKept::Changed(at) } else { SourceKept::NotInItem(at) })
    }

    /// Removes the compared entries of `top`, and then the directory itself unless it has others.
    fn remove_from(
        &self,
        top: &Dir,
        (parent, name): (&Dir, &Path),
        is_begun: &mut bool,
    ) -> Result<bool, PathError> {
        for (below, found) in &self.leaves {
            if top.stat(below)?.is_some_and(|now| is_same(&now, found)) {
                top.remove_file(below)?;
                *is_begun = true;
            }
        }
        for directory in self.directories.iter().rev() {
            *is_begun |= remove_if_empty(top, directory)?;
        }
        remove_if_empty(parent, name)
    }
}

/// Removes the directory `name` in `dir` if it is empty, and returns whether it is gone.
fn remove_if_empty(dir: &Dir, name: &Path) -> Result<bool, PathError> {
    match dir.remove_dir(name) {
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(false),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        outcome => outcome.map(|()| true),
    }
}

/// Any entry in `top`, except directories that are not empty.
fn first_of(top: &Dir) -> Result<PathBuf, PathError> {
    let mut path = PathBuf::new();
    loop {
        let dir = if path.as_os_str().is_empty() { top.try_clone()? } else { top.open_dir(&path)? };
        let Some(entry) = dir.entries()?.next() else { return Ok(path) };
        let entry = entry?;
        path.push(&entry.name);
        if entry.kind != Kind::Directory {
            return Ok(path);
        }
    }
}

/// Whether the `file` with the metadata `found` has the `digest`, and does not change while it is read.
fn holds(
    file: &mut StoredFile,
    found: &FileStat,
    digest: &Digest,
    interrupt: &Interrupt,
) -> Result<bool, CopyError> {
    if file.stat()? != *found {
        return Ok(false);
    }
    let read = digest_up_to(file, found.bytes, &NoProgress, interrupt)?;
    Ok(read.bytes == found.bytes && read.digest == *digest && file.stat()? == *found)
}

/// The first names of all entries.
pub(super) fn tops(entries: &[Entry]) -> Vec<&Path> {
    let firsts = entries.iter().filter_map(|entry| entry.path.as_path().iter().next());
    let mut tops: Vec<_> = firsts.map(Path::new).collect();
    tops.dedup();
    tops
}
