//! Comparing sources with the items made of them, and removing what was compared.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::SourceKept;
use crate::digest::Digest;
use crate::disk::copy::{CopyError, digest_up_to};
use crate::disk::{Dir, FileStat, Kind, PathError, StoredFile};
use crate::interrupt::Interrupt;
use crate::item::{Content, Entry, PayloadPath};
use crate::progress::NoProgress;

/// How closely a source is compared with its item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closeness {
    /// By sizes, and by times unless any time is allowed.
    Stamps,
    /// By every byte as well.
    Bytes,
}

/// Which times the files of a source may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Times {
    /// Those of the item, which has just been made of it: another time is a change.
    OfItem,
    /// Any: the item was there already, and the bytes alone tell that it is the same.
    Any,
}

/// The item that sources are compared with, and how.
#[derive(Clone, Copy)]
pub(super) struct SourceComparison<'a> {
    pub entries: &'a [Entry],
    /// The directory of the payload that a source directory became.
    pub within: &'a Path,
    pub times: Times,
    pub interrupt: &'a Interrupt,
}

/// A directory as it was when it was compared: its files and links, and the directories in it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ComparedSource {
    leaves: BTreeMap<PathBuf, FileStat>,
    directories: BTreeSet<PathBuf>,
}

impl SourceComparison<'_> {
    /// Makes sure that all of the directory `top` is in the item.
    pub(super) fn tree(
        &self,
        top: &Dir,
        closeness: Closeness,
    ) -> Result<ComparedSource, SourceKept> {
        let (mut compared, mut pending) = (ComparedSource::default(), vec![PathBuf::new()]);
        while let Some(relative) = pending.pop() {
            let dir = top.open_dir(&relative)?;
            let mut is_empty = true;
            for entry in dir.entries()? {
                let entry = entry?;
                is_empty = false;
                let (name, below) = (Path::new(&entry.name), relative.join(&entry.name));
                let changed = || SourceKept::Changed(dir.path_of(name));
                let held = self.within.join(&below);
                match entry.kind {
                    Kind::Directory => {
                        compared.directories.insert(below.clone());
                        pending.push(below);
                    }
                    Kind::File => {
                        let found = self.file((&dir, name), &held, closeness)?;
                        compared.leaves.insert(below, found);
                    }
                    Kind::Link => match content_of(self.entries, &held) {
                        Some(Content::Link { target })
                            if dir.read_link(name)?.as_bytes() == target =>
                        {
                            let found = dir.stat(name)?.ok_or_else(changed)?;
                            compared.leaves.insert(below, found);
                        }
                        Some(Content::File { .. }) => {
                            return Err(SourceKept::Followed(dir.path_of(name)));
                        }
                        Some(_) => return Err(changed()),
                        None => return Err(SourceKept::NotInItem(dir.path_of(name))),
                    },
                    Kind::Special(_) => return Err(changed()),
                }
            }
            let held = self.within.components().chain(relative.components()).collect::<PathBuf>();
            if is_empty && !holds_directory(self.entries, &held) {
                return Err(SourceKept::Changed(top.path_of(&relative)));
            }
        }
        Ok(compared)
    }

    /// Makes sure that the file `name` in `dir` is the one that the item holds at `held`.
    pub(super) fn file(
        &self,
        (dir, name): (&Dir, &Path),
        held: &Path,
        closeness: Closeness,
    ) -> Result<FileStat, SourceKept> {
        let changed = || SourceKept::Changed(dir.path_of(name));
        let content = content_of(self.entries, held);
        let content = content.ok_or_else(|| SourceKept::NotInItem(dir.path_of(name)))?;
        let Content::File { bytes, digest, modified, .. } = content else { return Err(changed()) };
        let found = dir.stat(name)?.ok_or_else(changed)?;
        let has_its_time = self.times == Times::Any || found.modified == *modified;
        if found.kind != Kind::File || found.bytes != *bytes || !has_its_time {
            return Err(changed());
        }
        if closeness == Closeness::Bytes
            && (!holds(&mut dir.open_file(name)?, &found, digest, self.interrupt)?
                || dir.stat(name)? != Some(found))
        {
            return Err(changed());
        }
        Ok(found)
    }
}

impl ComparedSource {
    /// Removes `name` in `parent`, which is the directory that was compared. Anything that came into it or changed
    /// since stays: that is an error, which names it as being at `path`.
    pub(super) fn remove(
        &self,
        (parent, name): (&Dir, &Path),
        path: &Path,
    ) -> Result<Result<(), SourceKept>, PathError> {
        let top = parent.open_up(name)?;
        for directory in &self.directories {
            top.open_up(directory)?;
        }
        for (below, found) in &self.leaves {
            // Removing one hard link of a file changes the ctime that the others show.
            let is_same = |now: FileStat| FileStat { changed: found.changed, ..now } == *found;
            if top.stat(below)?.is_some_and(is_same) {
                top.remove_file(below)?;
            }
        }
        for directory in self.directories.iter().rev() {
            remove_if_empty(&top, directory)?;
        }
        if remove_if_empty(parent, name)? {
            return Ok(Ok(()));
        }
        let left = first_of(&top)?;
        let at = path.join(&left);
        let is_known = self.leaves.contains_key(&left);
        Ok(Err(if is_known { SourceKept::Changed(at) } else { SourceKept::NotInItem(at) }))
    }
}

/// Removes the directory `name` in `dir` if nothing is in it, and says whether it is gone.
fn remove_if_empty(dir: &Dir, name: &Path) -> Result<bool, PathError> {
    match dir.remove_dir(name) {
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(false),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        outcome => outcome.map(|()| true),
    }
}

/// Anything in `top`, but for directories with something in them.
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

/// Whether a `file` that was `found` has the bytes of `digest`, and does not change while it is read.
pub(crate) fn holds(
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

fn content_of<'e>(entries: &'e [Entry], path: &Path) -> Option<&'e Content> {
    let path = PayloadPath::new(path).ok()?;
    let at = entries.binary_search_by(|entry| entry.path.cmp(&path)).ok()?;
    Some(&entries[at].content)
}

/// Whether the item has a directory at `path`: an empty one, or one with something in it.
fn holds_directory(entries: &[Entry], path: &Path) -> bool {
    let from = entries.partition_point(|entry| entry.path.as_path().as_os_str() < path.as_os_str());
    // Entries that sort between a directory and those in it, such as `a.txt` between `a` and `a/b`, are skipped.
    let name = path.as_os_str().as_bytes();
    let mut here =
        entries[from..].iter().take_while(|entry| entry.path.as_bytes().starts_with(name));
    here.any(|Entry { path: held, content }| {
        held.as_path().starts_with(path)
            && (held.as_path() != path || matches!(content, Content::EmptyDirectory { .. }))
    })
}

/// The first names of all entries.
pub(super) fn tops(entries: &[Entry]) -> Vec<&Path> {
    let firsts = entries.iter().filter_map(|entry| entry.path.as_path().iter().next());
    let mut tops: Vec<_> = firsts.map(Path::new).collect();
    tops.dedup();
    tops
}
