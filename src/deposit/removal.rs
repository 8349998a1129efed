//! Taking sources away, once the items made of them are proven to be whole on the disk.
//!
//! A directory that is to go is first renamed, in one step, to a hidden name beside it that says which item
//! it became. A kill leaves the whole source under its own name or nothing there, never a part that a rerun
//! would take for another source. What is left under the hidden name is removed by the next run, after the
//! same check: everything in it must be in the item.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::group::Staged;
use super::plan::Sources;
use super::root::{RootKind, SourceRoot};
use crate::collection::{Collection, CollectionError, Durability};
use crate::digest::Digest;
use crate::disk::copy::{CopyError, digest_up_to};
use crate::disk::{Dir, FileStat, Kind, PathError, StoredFile};
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::item::{Content, Entry, PayloadPath, State};
use crate::progress::NoProgress;
use crate::sidecar::{Files, Seal};
use crate::verify::{Depth, ProofError, prove};

/// How the hidden names begin.
const ASIDE: &str = ".urepo-removing-";

/// Why a source was not removed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SourceKept {
    #[error("the sidecar of the item does not read back as it was written")]
    NotProven,
    #[error("the item was deleted: this may be the last copy")]
    Deleted,
    #[error("`{}` has changed since it was deposited", .0.display())]
    Changed(PathBuf),
    #[error("`{}` is not in the item: it was left out, or is new", .0.display())]
    NotInItem(PathBuf),
    #[error("`{}` is a link that was followed; what it leads to is not removed", .0.display())]
    Followed(PathBuf),
    #[error("`{}` has no name of its own; name the directory by its path", .0.display())]
    NoName(PathBuf),
    #[error("a bag is more than its payload; it can be moved, and not removed")]
    Bag,
    #[error("`{}` is left of a source of an item of another collection", .0.display())]
    Foreign(PathBuf),
    #[error(transparent)]
    Collection(#[from] CollectionError),
    #[error(transparent)]
    Proof(#[from] ProofError),
    #[error(transparent)]
    Copy(#[from] CopyError),
    #[error(transparent)]
    Disk(#[from] PathError),
}

impl SourceKept {
    /// The error with all of its causes.
    pub(crate) fn in_words(&self) -> String {
        let causes = std::iter::successors(Some(self as &dyn std::error::Error), |it| it.source());
        causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
    }
}

/// How closely a source is compared with its item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closeness {
    /// By sizes and times.
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

/// Removes sources of items of a collection.
pub(crate) struct SourceRemover<'a> {
    collection: &'a Collection,
    pub(crate) interrupt: &'a Interrupt,
    /// The last directory that was cleared of what killed runs left: sources come side by side.
    cleared: Mutex<PathBuf>,
}

/// Whether `name` is one that sources get while they are removed.
pub(crate) fn is_aside(name: &Path) -> bool {
    name.as_os_str().as_bytes().starts_with(ASIDE.as_bytes())
}

fn aside_of(item: &RepositoryName) -> PathBuf {
    format!("{ASIDE}{}", item.as_str().replace('/', "+")).into()
}

/// The item that a source with this hidden name became.
fn item_of(aside: &Path) -> Option<RepositoryName> {
    aside.to_str()?.strip_prefix(ASIDE)?.replace('+', "/").parse().ok()
}

impl<'a> SourceRemover<'a> {
    pub(crate) fn new(collection: &'a Collection, interrupt: &'a Interrupt) -> SourceRemover<'a> {
        SourceRemover { collection, interrupt, cleared: Mutex::default() }
    }

    /// Reads the item back from the disk, on which it is durable by then, and returns its entries.
    pub(crate) fn prove(&self, item: &RepositoryName) -> Result<Files, SourceKept> {
        let item = self.collection.named_item(item)?;
        let (sidecar, seal) = item.sidecar()?;
        if seal != Seal::Intact {
            return Err(SourceKept::NotProven);
        }
        if sidecar.state == State::Deleted {
            return Err(SourceKept::Deleted);
        }
        if self.collection.settings().durability == Durability::None {
            // A collection that is made again from its sources needs no syncs, but its source goes.
            let watcher = self.collection.watcher().with_sync();
            let root = Dir::open(self.collection.path(), watcher)?;
            root.sync_trees([item.name().as_str()])?;
        }
        prove(&item, Depth::FromDisk, &NoProgress, self.interrupt)?;
        Ok(sidecar.files)
    }

    /// Removes all that a staged item was made of, and says what was left and why.
    pub(super) fn remove_all(&self, staged: &Staged, item: &RepositoryName) -> Vec<SourceKept> {
        let entries = match self.prove(item) {
            Ok(entries) => entries,
            Err(error) => return vec![error],
        };
        let Some(sources) = &staged.sources else { return Vec::new() };
        let remove = |root: &SourceRoot| self.remove_root(root, sources, item, &entries);
        sources.roots.iter().filter_map(|root| remove(root).err()).collect()
    }

    fn remove_root(
        &self,
        root: &SourceRoot,
        sources: &Sources,
        item: &RepositoryName,
        entries: &[Entry],
    ) -> Result<(), SourceKept> {
        let Some(own) = root.path.file_name().map(Path::new) else {
            return Err(SourceKept::NoName(root.path.clone()));
        };
        let parent = root.parent(&self.collection.watcher())?;
        let lies_within = root.kind == RootKind::Directory && !sources.is_one_directory;
        let within = if lies_within { own } else { Path::new("") };
        self.remove((&parent, own), item, (entries, within), Times::OfItem)
    }

    /// Removes the source called `own` in `parent`, which became `item` with these entries: a directory
    /// those below `within`.
    ///
    /// Nothing is removed unless all of it is in the item, byte by byte.
    pub(crate) fn remove(
        &self,
        (parent, own): (&Dir, &Path),
        item: &RepositoryName,
        (entries, within): (&[Entry], &Path),
        times: Times,
    ) -> Result<(), SourceKept> {
        self.clear(parent)?;
        let path = parent.path_of(own);
        match parent.stat(own)?.map(|stamp| stamp.kind) {
            Some(Kind::Directory) => {}
            Some(Kind::File) => {
                self.compare_file((parent, own), (entries, own), Closeness::Bytes, times)?;
                return Ok(parent.remove_file(own)?);
            }
            Some(Kind::Link) => return Err(SourceKept::Followed(path)),
            Some(Kind::Special(_)) | None => return Err(SourceKept::Changed(path)),
        }
        let within = (entries, within);
        // Somebody may still be working in it: then it stays where it is.
        self.compare_tree(&parent.open_dir(own)?, within, Closeness::Stamps, times)?;
        let aside = aside_of(item);
        parent.rename_new(own, parent, &aside)?;
        // Before anything in it goes: after a power cut the rename must not be undone alone.
        let proven = parent.sync().map_err(SourceKept::from).and_then(|()| {
            let dir = parent.open_dir(&aside)?;
            let read = self.compare_tree(&dir, within, Closeness::Bytes, times)?;
            let now = self.compare_tree(&dir, within, Closeness::Stamps, times)?;
            if now == read { Ok(()) } else { Err(SourceKept::Changed(path)) }
        });
        if let Err(error) = proven {
            parent.rename_new(&aside, parent, own)?;
            return Err(error);
        }
        Ok(parent.remove_tree(&aside)?)
    }

    /// Removes what killed runs left of sources in `parent`, once for sources that lie side by side.
    fn clear(&self, parent: &Dir) -> Result<(), SourceKept> {
        let mut cleared = self.cleared.lock().unwrap_or_else(PoisonError::into_inner);
        if *cleared == parent.path() {
            return Ok(());
        }
        for entry in parent.entries()?.collect::<Result<Vec<_>, _>>()? {
            if is_aside(Path::new(&entry.name)) {
                // It hides nothing: an import meets it by itself, and reports it.
                let _ = self.finish(parent, Path::new(&entry.name));
            }
        }
        *cleared = parent.path().to_path_buf();
        Ok(())
    }

    /// Removes what a killed run left under the hidden name `aside`, and returns which item it became.
    pub(crate) fn finish(&self, parent: &Dir, aside: &Path) -> Result<RepositoryName, SourceKept> {
        let foreign = || SourceKept::Foreign(parent.path_of(aside));
        let item = item_of(aside).ok_or_else(foreign)?;
        let entries = match self.prove(&item) {
            Err(SourceKept::Collection(CollectionError::NoSuchItem { .. })) => {
                return Err(foreign());
            }
            outcome => outcome?,
        };
        let dir = parent.open_dir(aside)?;
        // A source that was dropped again has other times than its item: only the bytes tell.
        let is_held = |within: &Path| {
            self.compare_tree(&dir, (&entries, within), Closeness::Bytes, Times::Any)
        };
        let compared = is_held(Path::new(""));
        // Of one of several sources of the item only its name in the item is different.
        let is_one_of_several = || tops(&entries).into_iter().any(|top| is_held(top).is_ok());
        if !matches!(compared, Err(SourceKept::Changed(_) | SourceKept::NotInItem(_)))
            || !is_one_of_several()
        {
            compared?;
        }
        parent.remove_tree(aside)?;
        Ok(item)
    }

    /// Makes sure that all of the directory `top` is in the item, below `within`, and returns what the file system
    /// says of its files.
    fn compare_tree(
        &self,
        top: &Dir,
        (entries, within): (&[Entry], &Path),
        closeness: Closeness,
        times: Times,
    ) -> Result<BTreeMap<PathBuf, FileStat>, SourceKept> {
        let (mut files, mut pending) = (BTreeMap::new(), vec![PathBuf::new()]);
        while let Some(relative) = pending.pop() {
            let dir = top.open_dir(&relative)?;
            let mut is_empty = true;
            for entry in dir.entries()? {
                let entry = entry?;
                is_empty = false;
                let (name, below) = (Path::new(&entry.name), relative.join(&entry.name));
                let changed = || SourceKept::Changed(dir.path_of(name));
                let held = within.join(&below);
                match entry.kind {
                    Kind::Directory => pending.push(below),
                    Kind::File => {
                        let held = (entries, held.as_path());
                        let found = self.compare_file((&dir, name), held, closeness, times)?;
                        files.insert(below, found);
                    }
                    Kind::Link => match content_of(entries, &held) {
                        Some(Content::Link { target })
                            if dir.read_link(name)?.as_bytes() == target => {}
                        Some(Content::File { .. }) => {
                            return Err(SourceKept::Followed(dir.path_of(name)));
                        }
                        Some(_) => return Err(changed()),
                        None => return Err(SourceKept::NotInItem(dir.path_of(name))),
                    },
                    Kind::Special(_) => return Err(changed()),
                }
            }
            let held = within.components().chain(relative.components()).collect::<PathBuf>();
            if is_empty && !holds_directory(entries, &held) {
                return Err(SourceKept::Changed(top.path_of(&relative)));
            }
        }
        Ok(files)
    }

    /// Makes sure that the file `name` in `dir` is the one that the item holds at `held`.
    fn compare_file(
        &self,
        (dir, name): (&Dir, &Path),
        (entries, held): (&[Entry], &Path),
        closeness: Closeness,
        times: Times,
    ) -> Result<FileStat, SourceKept> {
        let changed = || SourceKept::Changed(dir.path_of(name));
        let content = content_of(entries, held);
        let content = content.ok_or_else(|| SourceKept::NotInItem(dir.path_of(name)))?;
        let Content::File { bytes, digest, modified, .. } = content else { return Err(changed()) };
        let found = dir.stat(name)?.ok_or_else(changed)?;
        let is_dated = times == Times::Any || found.modified == *modified;
        if found.kind != Kind::File || found.bytes != *bytes || !is_dated {
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
    // What sorts between a directory and its entries, such as `a.txt` between `a` and `a/b`, is passed over.
    let name = path.as_os_str().as_bytes();
    let mut here =
        entries[from..].iter().take_while(|entry| entry.path.as_bytes().starts_with(name));
    here.any(|Entry { path: held, content }| {
        held.as_path().starts_with(path)
            && (held.as_path() != path || matches!(content, Content::EmptyDirectory { .. }))
    })
}

/// The first names of all entries.
fn tops(entries: &[Entry]) -> Vec<&Path> {
    let firsts = entries.iter().filter_map(|entry| entry.path.as_path().iter().next());
    let mut tops: Vec<_> = firsts.map(Path::new).collect();
    tops.dedup();
    tops
}
