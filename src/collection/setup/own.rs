//! urepo's own directory in a collection, which is not needed to read the items.
//!
//! A collection without it can still be read by every command. The first change rebuilds it: the ledger
//! from the existing items, and memories of the distributor that issue no date in the past.

use std::fmt;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::agent::Agent;
use crate::collection::ledger::ledger_in;
use crate::collection::{Collection, CollectionError};
use crate::disk::{Dir, Lock, LockError, LockMode, PathError};
use crate::layout;
use crate::wait::Waiter;

/// The permanent parts of urepo's own directory; other parts are created on first use.
const PARTS: [&str; 4] = [layout::MEMORY, layout::STAGING, layout::LOCK, layout::LEDGER];

/// How long to wait for other writers before the ledger is left to the next change.
const MOMENT: Duration = Duration::from_millis(100);

/// The `README` of every collection.
const README: &str = include_str!("README.txt");

/// The missing parts of urepo's own directory that have been rebuilt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    /// The paths that were missing.
    pub missing: Vec<PathBuf>,
    /// The ledger, if it was built.
    pub ledger: Option<BuiltLedger>,
    /// Whether the ledger is still missing, because another command is writing.
    pub is_deferred: bool,
    /// Whether the memories of the distributor are lost, so that the next name is later than now.
    pub memories: bool,
}

/// An ledger built from the existing items, without items that vanished earlier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuiltLedger {
    /// Number of items in it.
    pub items: u64,
    /// Directories that could not be read. A closed item is listed; items in a closed directory above items
    /// are not.
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
                "{separator}the ledger is missing, and another command is writing; it is rebuilt \
                 when that has ended"
            )?;
        }
        if let Some(BuiltLedger { items, closed }) = &self.ledger {
            let s = if *items == 1 { "" } else { "s" };
            write!(f, "; the ledger lists the {items} item{s} found, and no item lost before")?;
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

/// Receives the rebuilt parts.
#[derive(Clone, Default)]
pub(in crate::collection) struct Listener(Option<Arc<Hear>>);

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

impl Collection {
    /// Calls `listener` when a missing part of urepo's own directory was rebuilt.
    #[must_use]
    pub fn on_rebuild(self, listener: impl Fn(&Rebuilt) + Send + Sync + 'static) -> Collection {
        Collection { listener: Listener(Some(Arc::new(listener))), ..self }
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

    /// The directory `name` in urepo's own directory, if both exist.
    pub(crate) fn own_dir(&self, name: &str) -> Result<Option<Dir>, PathError> {
        self.own()?.map_or(Ok(None), |own| own.open_dir_if_there(name))
    }

    /// urepo's own directory, created if missing.
    pub(crate) fn ensure_own(&self) -> Result<&Dir, PathError> {
        if self.own()?.is_none() {
            self.root.ensure_dir(layout::OWN)?;
        }
        let gone = || Error::other("it was removed while it was made");
        self.own()?.ok_or_else(|| PathError::new("open", self.root.path_of(layout::OWN), gone()))
    }

    /// Creates the missing parts of urepo's own directory, or waits for another process that does so.
    ///
    /// The listener is called, unless the other process did it. May be killed and repeated at any point. The
    /// ledger waits for a change without other writers: an item that another writer removes meanwhile
    /// would look lost.
    pub fn rebuild(&self, agent: &Agent, waiter: &Waiter<'_>) -> Result<(), CollectionError> {
        let locked = |error| CollectionError::locked(&self.settings.name, error);
        let own = self.ensure_own()?;
        if missing_parts(own)?.is_empty() {
            return Ok(());
        }
        // A process killed just after it created the directory has not opened it to the group.
        self.root.ensure_dir(layout::OWN)?;
        // NFS locks only files.
        let _lock = Lock::take_unsigned(own, layout::CHANGE_LOCK, LockMode::Exclusive, waiter)
            .map_err(locked)?;
        let mut missing = missing_parts(own)?;
        if missing.is_empty() {
            return Ok(());
        }
        make_parts(own)?;
        ensure_readme(&self.root, own)?;
        let memories = self.has_lost_memory(own)?;
        let missed_all = missing.len() == PARTS.len();
        let (mut ledger, mut is_deferred) = (None, false);
        if missing.contains(&layout::LEDGER) {
            let alone = waiter.up_to(waiter.limit.min(MOMENT));
            let holder = agent.holder(waiter.clock);
            match Lock::take(own, layout::LOCK, LockMode::Exclusive, &holder, &alone) {
                // Last, and in one step: while it is missing, the next change comes here again.
                Ok(_alone) => ledger = Some(self.build_ledger(own, agent, waiter.clock)?),
                Err(LockError::Held { .. }) => is_deferred = true,
                Err(error) => return Err(locked(error)),
            }
        }
        missing.retain(|part| !is_deferred || *part != layout::LEDGER);
        let missing = if missed_all && !is_deferred {
            vec![own.path().to_path_buf()]
        } else {
            missing.iter().map(|part| own.path_of(part)).collect()
        };
        self.tell_rebuilt(&Rebuilt { missing, ledger, is_deferred, memories });
        Ok(())
    }

    /// Builds the ledger if it is missing. The caller holds the exclusive lock on the collection.
    pub(in crate::collection) fn rebuild_ledger_alone(
        &self,
        own: &Dir,
        agent: &Agent,
        waiter: &Waiter<'_>,
    ) -> Result<(), CollectionError> {
        if ledger_in(own)?.is_some() {
            return Ok(());
        }
        // Its holder may be waiting for the lock of the caller, and gives up after a moment.
        let brief = waiter.up_to(waiter.limit.min(MOMENT * 10));
        let _lock = Lock::take_unsigned(own, layout::CHANGE_LOCK, LockMode::Exclusive, &brief)
            .map_err(|error| CollectionError::locked(&self.settings.name, error))?;
        if ledger_in(own)?.is_none() {
            let ledger = Some(self.build_ledger(own, agent, waiter.clock)?);
            let missing = vec![own.path_of(layout::LEDGER)];
            self.tell_rebuilt(&Rebuilt { missing, ledger, is_deferred: false, memories: false });
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

    /// Whether a memory of the distributor in urepo's own directory is missing. The collection was created
    /// with it, so it is lost, even if a killed process has recreated its directory.
    fn has_lost_memory(&self, own: &Dir) -> Result<bool, PathError> {
        let memories = Path::new(layout::MEMORY);
        for subsystem in &self.settings.subsystems {
            if let Ok(prefix) = subsystem.prefix()
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
        let is_there = match part {
            layout::LEDGER => ledger_in(own)?.is_some(),
            part => own.stat(part)?.is_some(),
        };
        if !is_there {
            missing.push(part);
        }
    }
    Ok(missing)
}

/// Creates urepo's own directory in `root`, with every missing part except the ledger.
pub(super) fn make_own(root: &Dir) -> Result<Dir, PathError> {
    let own = root.ensure_dir(layout::OWN)?;
    make_parts(&own)?;
    Ok(own)
}

fn make_parts(own: &Dir) -> Result<(), PathError> {
    own.ensure_dir(layout::MEMORY)?;
    own.ensure_dir(layout::STAGING)?;
    own.open_lock_file(layout::LOCK)?;
    Lock::prepare(own, layout::CHANGE_LOCK)?;
    crate::collection::change::reserve::fill_if_plenty(own);
    own.sync()
}

/// Writes the explanation for somebody without urepo into `root`; an existing file stays.
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
        // Another process was quicker.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => own.remove_file_if_there(staged),
        outcome => outcome.and_then(|()| root.sync()),
    }
}

/// urepo's own directory, if it exists; an error if it is a link, or on another file system than the items.
pub(in crate::collection) fn open_own(root: &Dir) -> Result<Option<Dir>, PathError> {
    let Some(own) = root.open_dir_if_there(Path::new(layout::OWN))? else { return Ok(None) };
    if own.own_stat()?.identity.0 != root.own_stat()?.identity.0 {
        let error = Error::other(
            "it is on another file system than the items, so that nothing can be moved into place",
        );
        return Err(PathError::new("use", own.path(), error));
    }
    Ok(Some(own))
}
