//! Removing sources once their items are proven whole on the disk.
//!
//! A source is first renamed, in one step, to a hidden name beside it that names its item. If the
//! run is killed, the whole source is under its own name or nothing is, never a part that a rerun would take for
//! another source. The next run removes the hidden remains after the same check: everything in them must be in
//! the item. Only entries that were compared there are removed, one by one: an entry that is added at
//! the last moment stays, and so does a file that replaces a source. Entries that stay get
//! the name of the source back, as a new source.
//!
//! A process that removes sources of an item holds the lock of the item. So a hidden name that another process
//! finds under that lock was left by a killed run, and the proven item is there until its sources are gone. Directories
//! of sources are not locked: they belong to others, who may lock them around a whole command.

mod compare;
mod kept;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use self::compare::tops;
pub(crate) use self::compare::{Besides, Closeness, ComparedSource, SourceComparison, Times};
pub(crate) use self::kept::{SourceKept, give_back, move_beside};
use super::group::Staged;
use super::plan::Sources;
use super::root::{RootKind, SourceRoot};
use crate::agent::Agent;
use crate::collection::{Collection, CollectionError, Durability, ItemLocks, lock_items};
use crate::disk::{Dir, Kind, REMOVING, resolved};
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::item::{State, unescape};
use crate::progress::NoProgress;
use crate::sidecar::{Files, Seal};
use crate::verify::{Depth, prove};
use crate::wait::Waiter;

/// Removes sources of items of a collection.
pub(crate) struct SourceRemover<'a> {
    collection: &'a Collection,
    agent: Agent,
    /// How long to wait for the lock of an item.
    wait: Duration,
    pub(crate) interrupt: &'a Interrupt,
    /// Locked during each removal: within the process, sources wait for each other without a limit.
    state: Mutex<RemovalState>,
}

#[derive(Default)]
struct RemovalState {
    /// The last directory from which remains of killed runs were removed: consecutive sources are often in
    /// one directory.
    cleared: PathBuf,
    /// Whether the last wait for a lock timed out: the next sources then do not wait one after the other.
    is_impatient: bool,
}

/// A proven item that nobody changes while its sources are removed.
pub(crate) struct HeldItem<'r> {
    name: &'r RepositoryName,
    entries: Files,
    locks: ItemLocks,
    state: MutexGuard<'r, RemovalState>,
}

/// Its cause alone: the remains of a killed run have no other name.
fn only_cause(kept: SourceKept) -> SourceKept {
    match kept {
        SourceKept::Part { cause, .. } => cause.into(),
        kept => kept,
    }
}

/// A name for a source if only its item is known.
fn plain_name(item: &RepositoryName) -> PathBuf {
    item.as_str().replace('/', "+").into()
}

fn aside_of(item: &RepositoryName) -> PathBuf {
    format!("{REMOVING}{}", plain_name(item).display()).into()
}

/// The item of a source with this hidden name.
fn item_of(aside: &Path) -> Option<RepositoryName> {
    let name = aside.to_str()?.strip_prefix(REMOVING)?.replace('+', "/");
    Some(RepositoryName::parse_as_found(&name).ok()?.0)
}

impl<'a> SourceRemover<'a> {
    pub(crate) fn new(
        collection: &'a Collection,
        agent: &Agent,
        (wait, interrupt): (Duration, &'a Interrupt),
    ) -> SourceRemover<'a> {
        let (agent, state) = (agent.clone(), Mutex::default());
        SourceRemover { collection, agent, wait, interrupt, state }
    }

    /// Locks the item, and reads it back from the disk.
    pub(crate) fn hold<'r>(&'r self, name: &'r RepositoryName) -> Result<HeldItem<'r>, SourceKept> {
        let (state, locks) = self.lock(name)?;
        Ok(HeldItem { name, entries: self.prove(name)?, locks, state })
    }

    /// Waits for other processes that change the item or remove its sources.
    fn lock(
        &self,
        item: &RepositoryName,
    ) -> Result<(MutexGuard<'_, RemovalState>, ItemLocks), SourceKept> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let locks =
            self.lock_for(item, if state.is_impatient { Duration::ZERO } else { self.wait });
        state.is_impatient = locks.is_err();
        Ok((state, locks?))
    }

    fn lock_for(
        &self,
        item: &RepositoryName,
        limit: Duration,
    ) -> Result<ItemLocks, CollectionError> {
        let waiter = Waiter::new(self.collection.clock(), self.interrupt, limit);
        lock_items([(self.collection, item)], &self.agent, &waiter)
    }

    /// Reads the durable item back from the disk, and returns its entries.
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
            // A collection without durability can be recreated from its sources, but this source is removed.
            let watcher = self.collection.watcher().with_sync();
            let root = Dir::open(self.collection.path(), watcher)?;
            root.sync_trees([item.name().as_str()])?;
        }
        prove(&item, Depth::FromDisk, &NoProgress, self.interrupt)?;
        Ok(sidecar.files)
    }

    /// Removes all sources of a staged item, and returns which were left and why.
    pub(super) fn remove_all(&self, staged: &Staged, item: &RepositoryName) -> Vec<SourceKept> {
        let mut held = match self.hold(item) {
            Ok(held) => held,
            Err(error) => return vec![error],
        };
        let Some(sources) = &staged.sources else { return Vec::new() };
        let remove = |root: &SourceRoot| self.remove_root(root, sources, &mut held).err();
        sources.roots.iter().filter_map(remove).collect()
    }

    fn remove_root(
        &self,
        root: &SourceRoot,
        sources: &Sources,
        held: &mut HeldItem<'_>,
    ) -> Result<(), SourceKept> {
        let path = root.place.path();
        if path.file_name().is_none() {
            return Err(SourceKept::NoName(path));
        }
        let (parent, own) = root.place.parent(&self.collection.watcher())?;
        let lies_within = root.kind == RootKind::Directory && !sources.is_one_directory;
        let within = if lies_within { &own } else { Path::new("") };
        self.remove((&parent, &own), held, within, Times::OfItem)
    }

    /// Removes the source `own` of `parent` from which the item `held` was made. The files of a directory are
    /// the entries below `within`.
    ///
    /// Nothing is removed unless all of it is in the item, byte by byte.
    pub(crate) fn remove(
        &self,
        (parent, own): (&Dir, &Path),
        held: &mut HeldItem<'_>,
        within: &Path,
        times: Times,
    ) -> Result<(), SourceKept> {
        self.clear(parent, held)?;
        let path = parent.path_of(own);
        let (entries, interrupt) = (&*held.entries, self.interrupt);
        let comparison = SourceComparison { entries, within, times, besides: None, interrupt };
        let is_directory = match parent.stat(own)?.map(|stamp| stamp.kind) {
            Some(Kind::Directory) => true,
            Some(Kind::File) => false,
            Some(Kind::Link) => return Err(SourceKept::Followed(path)),
            Some(Kind::Special(_)) | None => return Err(SourceKept::Changed(path)),
        };
        let compare = |name: &Path, closeness| {
            if is_directory {
                comparison.tree(&parent.open_dir(name)?, closeness)
            } else {
                comparison.single((parent, name), own, closeness)
            }
        };
        // A source that has changed stays in place: somebody may still be working in it.
        compare(own, Closeness::Stamps)?;
        let aside = aside_of(held.name);
        parent.rename_new(own, parent, &aside)?;
        let prove = || {
            if is_directory {
                // Durable before any entry is removed: a power cut must not undo the rename alone.
                parent.sync()?;
            }
            let read = compare(&aside, Closeness::Bytes)?;
            let now = compare(&aside, Closeness::Stamps)?;
            if now == read { Ok(read) } else { Err(SourceKept::Changed(path.clone())) }
        };
        let removed = match prove() {
            Ok(compared) if is_directory => compared.remove((parent, &aside), &path),
            Ok(_) => parent.remove_file(&aside).map_err(SourceKept::from),
            Err(SourceKept::Changed(_)) if !is_directory => Err(SourceKept::Changed(path)),
            Err(error) => Err(error),
        };
        // The name goes back to the whole source, or to entries that somebody added at the last moment, which
        // are a new source. A part of the item would become another item.
        removed.map_err(|error| match error {
            part @ SourceKept::Part { .. } => part,
            error => give_back((parent, &aside), (parent, own), error),
        })
    }

    /// Removes remains of sources that killed runs left in `parent`, once for consecutive sources in one
    /// directory.
    fn clear(&self, parent: &Dir, held: &mut HeldItem<'_>) -> Result<(), SourceKept> {
        if held.state.cleared == parent.path() {
            return Ok(());
        }
        for entry in parent.entries()?.collect::<Result<Vec<_>, _>>()? {
            let aside = Path::new(&entry.name);
            let Some(item) = item_of(aside) else { continue };
            // A process that holds its lock is alive. Waiting for it here could deadlock.
            let is_held = held.locks.cover(self.collection, &item);
            let lock = (!is_held).then(|| self.lock_for(&item, Duration::ZERO)).transpose();
            // The error is not lost: an import reaches this entry itself, and reports it.
            let _ = lock.map(|_lock| self.finish_locked(parent, aside, &item));
        }
        held.state.cleared = parent.path().to_path_buf();
        Ok(())
    }

    /// Removes the remains of a source under the hidden name `aside`, and returns its item.
    pub(crate) fn finish(&self, parent: &Dir, aside: &Path) -> Result<RepositoryName, SourceKept> {
        let item = item_of(aside).ok_or_else(|| SourceKept::Foreign(parent.path_of(aside)))?;
        let _lock = self.lock(&item)?;
        self.finish_locked(parent, aside, &item)?;
        Ok(item)
    }

    fn finish_locked(
        &self,
        parent: &Dir,
        aside: &Path,
        item: &RepositoryName,
    ) -> Result<(), SourceKept> {
        // If it is gone, the process that was removing it was alive.
        let Some(stamp) = parent.stat(aside)? else { return Ok(()) };
        let is_file = stamp.kind == Kind::File;
        let entries = match self.prove(item) {
            Err(SourceKept::Collection(CollectionError::NoSuchItem { .. })) => {
                return Err(SourceKept::Foreign(parent.path_of(aside)));
            }
            outcome => outcome?,
        };
        // A source that was dropped again has other times than its item: only the bytes are compared.
        let (times, interrupt) = (Times::Any, self.interrupt);
        let whole = SourceComparison {
            entries: &entries,
            within: Path::new(""),
            times,
            besides: None,
            interrupt,
        };
        let compare = |within: &Path| {
            if is_file {
                whole.single((parent, aside), within, Closeness::Bytes)
            } else {
                let comparison = SourceComparison { within, ..whole };
                comparison.tree(&parent.open_dir(aside)?, Closeness::Bytes)
            }
        };
        let compared = compare(Path::new("")).or_else(|error| match error {
            // If this was one of several sources of the item, its files are below its name there.
            SourceKept::Changed(_) | SourceKept::NotInItem(_) => {
                tops(&entries).into_iter().find_map(|top| compare(top).ok()).ok_or(error)
            }
            error => Err(error),
        });
        match compared {
            Ok(_) if is_file => parent.remove_file(aside)?,
            Ok(compared) => {
                compared.remove((parent, aside), &parent.path_of(aside)).map_err(only_cause)?;
            }
            // A file is never removed in part: other bytes are another source.
            Err(error) if is_file && error.is_of_content() => {
                let own = match tops(&entries)[..] {
                    [only] => only.to_path_buf(),
                    _ => plain_name(item),
                };
                let kept = SourceKept::Changed(parent.path_of(&own));
                return Err(give_back((parent, aside), (parent, &own), kept));
            }
            // Entries were added or changed after the kill.
            Err(error) if error.is_of_content() => {
                self.give_rest_back((parent, aside), item, &whole)?;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Removes the part of the directory `aside` that is in its item, and gives the remaining entries the
    /// name of the source back.
    fn give_rest_back(
        &self,
        (parent, aside): (&Dir, &Path),
        item: &RepositoryName,
        whole: &SourceComparison<'_>,
    ) -> Result<(), SourceKept> {
        let top = parent.open_dir(aside)?;
        let (mut part, mut own) = (whole.part(&top)?, self.own_name(parent, item));
        for within in tops(whole.entries) {
            if part.has_no_leaves() {
                part = SourceComparison { within, ..*whole }.part(&top)?;
                own = if part.has_no_leaves() { own } else { within.to_path_buf() };
            }
        }
        let removed = part.remove((parent, aside), &parent.path_of(&own));
        removed.map_err(|kept| match only_cause(kept) {
            kept if !kept.is_of_content() => kept,
            kept => match give_back((parent, aside), (parent, &own), kept) {
                kept if kept.is_of_content() => SourceKept::Rest(Box::new(kept)),
                kept => kept,
            },
        })
    }

    /// The name that the source of an item had in `parent`, or else one made from the identifier.
    fn own_name(&self, parent: &Dir, item: &RepositoryName) -> PathBuf {
        let recorded = || {
            let (sidecar, _) = self.collection.named_item(item).ok()?.sidecar().ok()?;
            let source = unescape(sidecar.origin.get("source")?.as_str()?)?;
            let path = PathBuf::from(OsString::from_vec(source));
            let is_here = resolved(parent.path()).is_ok_and(|it| path.parent() == Some(&*it));
            path.file_name().filter(|_| is_here).map(PathBuf::from)
        };
        recorded().unwrap_or_else(|| plain_name(item))
    }
}
