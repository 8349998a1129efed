//! Removing sources once their items are proven whole on the disk.
//!
//! The rule is that of `rsync --remove-source-files`, with the bytes instead of a size and a time. The item is
//! read back from the disk; then the source is read and compared with it, and nothing is removed unless all of
//! the source is in the item. Then each file is unlinked that is still the one that was read: the same inode, size,
//! mode and times, by an `lstat` relative to the directory that was opened for the comparison, just before
//! the `unlinkat`. Whatever else lies there stays: a file that changed, one that was added, and the directories
//! above them.
//!
//! Linux cannot unlink a name only if it still leads to a certain inode. So there is one window that no program of
//! this kind closes: a file that is renamed onto the name of another one in the microseconds between those two
//! calls is lost, and so is what a process writes into a file that it keeps open. A producer is safe if it gives
//! each complete file a name of its own, by a rename; `--min-age` is for producers that do not.
//!
//! A run that is killed leaves a part of a directory under its own name. The next import with `--remove-source`
//! takes it for what is left of its item, because all of it is in that item, and removes it too.
//!
//! Everything is read without a lock. While the sources go, the collection is locked and the item is the one that was
//! read, so that nobody removes it in between. Directories of sources are not locked: they belong to others, who may lock
//! them around a whole command.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::group::Staged;
use super::plan::Sources;
use super::root::{RootKind, SourceRoot};
use crate::agent::Agent;
use crate::collection::{ChangeLocks, Collection, CollectionError, StoredItem, lock_changes};
use crate::digest::Digest;
use crate::disk::copy::{CopyError, digest_up_to};
use crate::disk::{Dir, DirEntry, FileStat, Kind, Links, PathError, StoredFile, Version, stat_of};
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::item::{Content, Entry, Shape, implies, position};
use crate::progress::NoProgress;
use crate::sidecar::{Files, Seal};
use crate::verify::{Depth, ProofError, prove};
use crate::wait::Waiter;

/// Why a source was not removed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SourceKept {
    #[error("the sidecar of the item does not read back as it was written")]
    NotProven,
    #[error("the item was deleted: this may be the last copy")]
    Deleted,
    #[error("the item was changed meanwhile")]
    ItemChanged,
    #[error("`{}` has changed since it was deposited", .0.display())]
    Changed(PathBuf),
    #[error("`{}` is not in the item: it was left out, or is new", .0.display())]
    NotInItem(PathBuf),
    #[error("`{}` is a link that was followed; what it leads to is not removed", .0.display())]
    Followed(PathBuf),
    #[error("`{}` has no name of its own; name the directory by its path", .0.display())]
    NoName(PathBuf),
    #[error("a bag is more than its payload; it is not removed")]
    Bag,
    #[error(transparent)]
    Collection(#[from] CollectionError),
    #[error(transparent)]
    Proof(#[from] ProofError),
    #[error(transparent)]
    Copy(#[from] CopyError),
    #[error(transparent)]
    Disk(#[from] PathError),
}

/// Removes sources of items of a collection.
pub(crate) struct SourceRemover<'a> {
    collection: &'a Collection,
    agent: Agent,
    /// How long to wait for the change lock.
    wait: Duration,
    interrupt: &'a Interrupt,
    /// Whether the last wait for the lock timed out: the next sources then do not wait one after the other. Locked
    /// during each removal: within the process, sources wait for each other without a limit.
    is_impatient: Mutex<bool>,
}

/// An item that was read back from the disk.
pub(crate) struct ProvenItem {
    name: RepositoryName,
    version: Version,
    entries: Files,
}

impl<'a> SourceRemover<'a> {
    pub(crate) fn new(
        collection: &'a Collection,
        agent: &Agent,
        (wait, interrupt): (Duration, &'a Interrupt),
    ) -> SourceRemover<'a> {
        let (agent, is_impatient) = (agent.clone(), Mutex::default());
        SourceRemover { collection, agent, wait, interrupt, is_impatient }
    }

    /// Reads the durable item back from the disk.
    pub(crate) fn prove(&self, name: &RepositoryName) -> Result<ProvenItem, SourceKept> {
        let item = self.collection.named_item(name)?;
        let read = item.read_sidecar()?;
        if read.seal != Seal::Intact {
            return Err(SourceKept::NotProven);
        }
        if !read.sidecar.state.has_payload() {
            return Err(SourceKept::Deleted);
        }
        prove(&item, Depth::FromDisk, &NoProgress, self.interrupt)?;
        let name = item.name().clone();
        Ok(ProvenItem { name, version: read.version, entries: read.sidecar.files })
    }

    /// Locks the collection, if `proven` is still the item there.
    fn hold(&self, proven: &ProvenItem) -> Result<(MutexGuard<'_, bool>, ChangeLocks), SourceKept> {
        let mut is_impatient = self.is_impatient.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = if *is_impatient { Duration::ZERO } else { self.wait };
        let waiter = Waiter::new(self.collection.clock(), self.interrupt, limit);
        let locks = lock_changes([self.collection], &self.agent, &waiter);
        *is_impatient = locks.is_err();
        let locks = locks?;
        let item: StoredItem = self.collection.named_item(&proven.name)?;
        if item.has_version(proven.version)? {
            return Ok((is_impatient, locks));
        }
        Err(if item.has_payload()? { SourceKept::ItemChanged } else { SourceKept::Deleted })
    }

    /// Removes all sources of a staged item, and returns which were left and why.
    pub(super) fn remove_all(&self, staged: &Staged, item: &RepositoryName) -> Vec<SourceKept> {
        let proven = match self.prove(item) {
            Ok(proven) => proven,
            Err(error) => return vec![error],
        };
        let Some(sources) = &staged.sources else { return Vec::new() };
        let remove = |root: &SourceRoot| self.remove_root(root, sources, &proven).err();
        sources.roots.iter().filter_map(remove).collect()
    }

    fn remove_root(
        &self,
        root: &SourceRoot,
        sources: &Sources,
        proven: &ProvenItem,
    ) -> Result<(), SourceKept> {
        let path = root.place.path();
        if path.file_name().is_none() {
            return Err(SourceKept::NoName(path));
        }
        let (parent, name) = root.place.parent(&self.collection.watcher())?;
        let lies_within = root.kind == RootKind::Directory && !sources.is_one_directory;
        let within = if lies_within { &name } else { Path::new("") };
        self.remove((&parent, &name), proven, within, Times::OfItem)
    }

    /// Removes the source `name` in `parent` from which the item `proven` was made. The files of a directory are
    /// the entries below `within`.
    pub(crate) fn remove(
        &self,
        (parent, name): (&Dir, &Path),
        proven: &ProvenItem,
        within: &Path,
        times: Times,
    ) -> Result<(), SourceKept> {
        let (entries, interrupt) = (&*proven.entries, self.interrupt);
        let comparison = SourceComparison { entries, within, times, besides: None, interrupt };
        match parent.stat(name)?.map(|found| found.kind) {
            Some(Kind::Directory) => {
                let top = parent.open_dir(name)?;
                let compared = comparison.tree(&top, Closeness::Bytes)?;
                let _held = self.hold(proven)?;
                compared.unlink(&top)?;
                match parent.remove_dir(name) {
                    Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                    removed => Ok(removed?),
                }
            }
            Some(Kind::File) => {
                let compared = comparison.single((parent, name), name, Closeness::Bytes)?;
                let _held = self.hold(proven)?;
                compared.unlink(parent)
            }
            Some(Kind::Link) => Err(SourceKept::Followed(parent.path_of(name))),
            Some(Kind::Special(_)) | None => Err(SourceKept::Changed(parent.path_of(name))),
        }
    }
}

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
    /// For a source that stays: the other entries that it may have. If the item has a file or a directory in
    /// the place of a link, the link counts as its target, whatever the present rule of links.
    pub besides: Option<&'a Besides<'a>>,
    pub interrupt: &'a Interrupt,
}

/// A compared source: its files and links, and its directories.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ComparedSource {
    leaves: BTreeMap<PathBuf, FileStat>,
    directories: BTreeSet<PathBuf>,
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
            let is_below = !relative.as_os_str().is_empty();
            if is_below && listed.as_ref().is_err_and(|it| it.kind() == ErrorKind::NotFound) {
                continue;
            }
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
            let is_directory = self.has_directory(&held);
            if self.content(&held).is_none()
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
            if entry.kind == Kind::Directory || (is_link && is_directory && self.besides.is_some())
            {
                compared.directories.insert(below.clone());
                pending.push((below, is_followed || is_link));
            } else {
                let found = self.leaf((dir, &entry), &held, closeness)?;
                compared.leaves.extend(found.map(|found| (below, found)));
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
        let missing = || PathError::new("find", dir.path_of(name), ErrorKind::NotFound.into());
        let found = dir.stat(name)?.ok_or_else(missing)?;
        let entry = DirEntry { name: name.into(), kind: found.kind };
        let found = self.leaf((dir, &entry), held, closeness)?.ok_or_else(missing)?;
        let leaves = BTreeMap::from([(held.to_path_buf(), found)]);
        Ok(ComparedSource { leaves, ..ComparedSource::default() })
    }

    /// Makes sure that `entry` of `dir` is the file or link at `held` in the item. `None`: it is gone meanwhile, because
    /// another import removes the same source.
    fn leaf(
        &self,
        (dir, entry): (&Dir, &DirEntry),
        held: &Path,
        closeness: Closeness,
    ) -> Result<Option<FileStat>, SourceKept> {
        match self.present_leaf((dir, entry), held, closeness) {
            Err(_) if dir.is_gone(Path::new(&entry.name))? => Ok(None),
            found => found.map(Some),
        }
    }

    fn present_leaf(
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

impl ComparedSource {
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

    /// Unlinks each file and link that is still the one that was compared, and then the directories that are
    /// empty. Paths are those below `top`.
    fn unlink(&self, top: &Dir) -> Result<(), SourceKept> {
        let (mut unlinked, mut changed) = (HashSet::new(), None);
        for (below, read) in &self.leaves {
            let Some(now) = top.stat(below)? else { continue };
            // The unlinking of one hard link changes the ctime of the others.
            let is_relinked = unlinked.contains(&now.identity);
            let changed_at = if is_relinked { read.changed } else { now.changed };
            if (FileStat { changed: changed_at, ..now }) == *read {
                top.remove_file(below)?;
                unlinked.insert(now.identity);
            } else {
                changed.get_or_insert_with(|| top.path_of(below));
            }
        }
        for directory in self.directories.iter().rev() {
            match top.remove_dir(directory) {
                Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                outcome => outcome?,
            }
        }
        changed.map_or(Ok(()), |path| Err(SourceKept::Changed(path)))
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
