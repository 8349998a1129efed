//! urepo's own directory in a collection: conveniences of which none is needed to read the items.
//!
//! A collection that was copied without it, or has lost it, answers every question. The first change
//! rebuilds it: the inventory from the items that are there, and memories of the distributor that give
//! no date which has passed.

use std::fmt;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::Collection;
use crate::agent::Agent;
use crate::disk::{Dir, Lock, LockError, LockMode, PathError};
use crate::layout;
use crate::wait::Waiter;

/// What every collection has in urepo's own directory; the rest appears when it is needed.
const PARTS: [&str; 4] = [layout::DISTRIBUTOR, layout::STAGING, layout::LOCK, layout::INVENTORY];

/// How long to wait for other writers before the inventory is left to the next change.
const MOMENT: Duration = Duration::from_millis(100);

/// The `README` of every collection.
const README: &str = include_str!("README.txt");

/// What was missing of urepo's own directory, and has been rebuilt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    /// The paths that were missing.
    pub missing: Vec<PathBuf>,
    /// The inventory that was built, if it was.
    pub inventory: Option<BuiltInventory>,
    /// Whether the inventory is still missing, because another command is writing.
    pub is_deferred: bool,
    /// Whether the memories of the distributor are lost, so that the next name is later than now.
    pub memories: bool,
}

/// An inventory built from the items that are here: nothing is known of items that vanished before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuiltInventory {
    /// How many items it lists.
    pub items: u64,
    /// Directories that could not be read. A closed item is listed; what lies in a closed directory above
    /// items is not.
    pub closed: Vec<PathBuf>,
}

impl fmt::Display for Rebuilt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, path) in self.missing.iter().enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            write!(f, "{separator}`{}`", path.display())?;
        }
        match self.missing.len() {
            0 => {}
            1 => write!(f, " was missing and has been rebuilt")?,
            _ => write!(f, " were missing and have been rebuilt")?,
        }
        if self.is_deferred {
            let separator = if self.missing.is_empty() { "" } else { "; " };
            write!(
                f,
                "{separator}the inventory is missing, and another command is writing; it is rebuilt \
                 when that has ended"
            )?;
        }
        if let Some(BuiltInventory { items, closed }) = &self.inventory {
            let s = if *items == 1 { "" } else { "s" };
            write!(f, "; the inventory lists the {items} item{s} found, and no item lost before")?;
            for path in closed {
                write!(f, "; `{}` could not be read", path.display())?;
            }
        }
        if self.memories {
            write!(f, "; new identifiers will be later than now")?;
        }
        Ok(())
    }
}

type Hear = dyn Fn(&Rebuilt) + Send + Sync;

/// Hears of what was rebuilt.
#[derive(Clone, Default)]
pub(super) struct Listener(Option<Arc<Hear>>);

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

impl Collection {
    /// Calls `listener` when something missing of urepo's own directory was rebuilt.
    #[must_use]
    pub fn on_rebuild(self, listener: impl Fn(&Rebuilt) + Send + Sync + 'static) -> Collection {
        Collection { listener: Listener(Some(Arc::new(listener))), ..self }
    }

    /// The same listener as that of `other`, and the same count of events that are not in a log.
    pub(crate) fn with_listener_of(self, other: &Collection) -> Collection {
        let unlogged = Arc::clone(&other.unlogged);
        Collection { listener: other.listener.clone(), unlogged, ..self }
    }

    /// urepo's own directory; `None` while it is lost.
    pub(crate) fn own(&self) -> Result<Option<&Dir>, PathError> {
        if self.own.get().is_none()
            && let Some(own) = open_own(&self.root)?
        {
            // Another thread may have opened it meanwhile.
            let _ = self.own.set(own);
        }
        Ok(self.own.get())
    }

    /// The directory `name` in urepo's own, if both are there.
    pub(crate) fn own_dir(&self, name: &str) -> Result<Option<Dir>, PathError> {
        self.own()?.map_or(Ok(None), |own| own.open_dir_if_there(name))
    }

    /// urepo's own directory, made if it is missing.
    pub(crate) fn ensure_own(&self) -> Result<&Dir, PathError> {
        if self.own()?.is_none() {
            self.root.ensure_dir(layout::OWN)?;
        }
        let gone = || Error::other("it was removed while it was made");
        self.own()?.ok_or_else(|| PathError::new("open", self.root.path_of(layout::OWN), gone()))
    }

    /// Makes what is missing of urepo's own directory, waiting for another process that does so.
    ///
    /// The listener hears of it, unless the other process did it. May be killed and repeated at any
    /// point. The inventory waits for a change that finds nobody else at work: an item that another writer
    /// takes away meanwhile would look lost.
    pub fn rebuild(&self, agent: &Agent, waiter: &Waiter<'_>) -> Result<(), PathError> {
        let own = self.ensure_own()?;
        if missing_parts(own)?.is_empty() {
            return Ok(());
        }
        // A process killed just after it made the directory has not opened it to those who share it.
        self.root.ensure_dir(layout::OWN)?;
        // NFS locks files only.
        let _lock = Lock::take_unsigned(own, layout::REBUILDING, LockMode::Exclusive, waiter)
            .map_err(LockError::into_path_error)?;
        let mut missing = missing_parts(own)?;
        if missing.is_empty() {
            return Ok(());
        }
        make_parts(own)?;
        ensure_readme(&self.root, own)?;
        let memories = self.has_lost_memory(own)?;
        let missed_all = missing.len() == PARTS.len();
        let (mut inventory, mut is_deferred) = (None, false);
        if missing.contains(&layout::INVENTORY) {
            let alone = waiter.up_to(waiter.limit.min(MOMENT));
            let holder = agent.holder(waiter.clock);
            match Lock::take(own, layout::LOCK, LockMode::Exclusive, &holder, &alone) {
                // Last, and in one step: while it is missing, the next change comes here again.
                Ok(_alone) => inventory = Some(self.build_inventory(own, waiter.clock)?),
                Err(LockError::Held { .. }) => is_deferred = true,
                Err(error) => return Err(error.into_path_error()),
            }
        }
        missing.retain(|part| !is_deferred || *part != layout::INVENTORY);
        let missing = if missed_all && !is_deferred {
            vec![own.path().to_path_buf()]
        } else {
            missing.iter().map(|part| own.path_of(part)).collect()
        };
        self.tell_rebuilt(&Rebuilt { missing, inventory, is_deferred, memories });
        Ok(())
    }

    /// Builds the inventory if it is missing. The caller has the lock on the collection alone.
    pub(super) fn rebuild_inventory_alone(
        &self,
        own: &Dir,
        waiter: &Waiter<'_>,
    ) -> Result<(), PathError> {
        if own.stat(layout::INVENTORY)?.is_some() {
            return Ok(());
        }
        // Its holder may be waiting for the lock of the caller, and gives up after a moment.
        let brief = waiter.up_to(waiter.limit.min(MOMENT * 10));
        let _lock = Lock::take_unsigned(own, layout::REBUILDING, LockMode::Exclusive, &brief)
            .map_err(LockError::into_path_error)?;
        if own.stat(layout::INVENTORY)?.is_none() {
            let inventory = Some(self.build_inventory(own, waiter.clock)?);
            let missing = vec![own.path_of(layout::INVENTORY)];
            self.tell_rebuilt(&Rebuilt { missing, inventory, is_deferred: false, memories: false });
        }
        Ok(())
    }

    fn tell_rebuilt(&self, rebuilt: &Rebuilt) {
        if let Listener(Some(listener)) = &self.listener
            && (!rebuilt.missing.is_empty() || rebuilt.is_deferred)
        {
            listener(rebuilt);
        }
    }

    /// Whether a memory of the distributor is missing that lies in urepo's own directory. One is begun with
    /// the collection, so it is lost, be it that a killed process has made its directory again.
    fn has_lost_memory(&self, own: &Dir) -> Result<bool, PathError> {
        let memories = Path::new(layout::DISTRIBUTOR);
        for subsystem in &self.settings.subsystems {
            if subsystem.distributor.is_none()
                && let Ok(prefix) = subsystem.prefix()
                && own.stat(memories.join(layout::memory_file(&prefix)))?.is_none()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn missing_parts(own: &Dir) -> Result<Vec<&'static str>, PathError> {
    let mut missing = Vec::new();
    for part in PARTS {
        if own.stat(part)?.is_none() {
            missing.push(part);
        }
    }
    Ok(missing)
}

/// Makes urepo's own directory in `root` with all its parts but the inventory, each if it is missing.
pub(super) fn make_own(root: &Dir) -> Result<Dir, PathError> {
    let own = root.ensure_dir(layout::OWN)?;
    make_parts(&own)?;
    Ok(own)
}

fn make_parts(own: &Dir) -> Result<(), PathError> {
    own.ensure_dir(layout::DISTRIBUTOR)?;
    own.ensure_dir(layout::STAGING)?;
    own.open_lock_file(layout::LOCK)?;
    super::reserve::fill_if_plenty(own);
    own.sync()
}

/// Writes what a collection is, for somebody without urepo, into `root`; what has that name already
/// stays as it is.
pub(super) fn ensure_readme(root: &Dir, own: &Dir) -> Result<(), PathError> {
    if root.stat(layout::README)?.is_some() {
        return Ok(());
    }
    let staged = Path::new("README.new");
    own.remove_file_if_there(staged)?;
    let mut file = own.create_file(staged)?;
    file.write_all(README.as_bytes())?;
    file.sync()?;
    match own.rename_new(staged, root, Path::new(layout::README)) {
        // Somebody was quicker.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => own.remove_file_if_there(staged),
        outcome => outcome.and_then(|()| root.sync()),
    }
}

/// urepo's own directory, if it is there; an error where it is a link, or cannot serve these items.
pub(super) fn open_own(root: &Dir) -> Result<Option<Dir>, PathError> {
    let Some(own) = root.open_dir_if_there(Path::new(layout::OWN))? else { return Ok(None) };
    if own.own_stat()?.identity.0 != root.own_stat()?.identity.0 {
        let error = Error::other(
            "it is on another file system than the items, so that nothing can be moved into place",
        );
        return Err(PathError::new("use", own.path(), error));
    }
    Ok(Some(own))
}
