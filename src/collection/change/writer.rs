//! Changing a collection: the shared lock of writers, and their stages.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use super::draft::Buckets;
use super::left_overs::empty_dead_stages;
use super::reserve::unless_full;
use crate::agent::Agent;
use crate::collection::{Collection, CollectionError};
use crate::disk::{
    Access, Dir, Lock, LockError, LockMode, PageCacheDropper, PathError, Stage, Watcher,
};
use crate::layout;
use crate::wait::Waiter;

/// The right to change a collection, with a stage of its own: a directory on the same file system as the
/// items, with the permissions of `.urepo`, so that every user of the collection can remove it.
///
/// Dropping it removes the stage. A killed process leaves its stage: the next writer empties it, and the next
/// writer that is alone removes it with all other temporary files of that process.
#[derive(Debug)]
pub struct Writer {
    // Before the stage: NFS keeps names of files that are open.
    pub(super) dropper: PageCacheDropper,
    pub(super) buckets: Buckets,
    pub(super) stage: Stage,
    agent: Agent,
    _lock: Lock,
}

impl Collection {
    /// Joins the writers of this collection, waiting while it is being recovered.
    pub fn writer(&self, agent: &Agent, waiter: &Waiter<'_>) -> Result<Writer, CollectionError> {
        unless_full(self.rebuild(agent, waiter))?;
        self.join(agent, waiter)
    }

    /// Joins the writers for a deletion, on a full disk with the reserve.
    pub fn writer_to_delete(
        &self,
        agent: &Agent,
        waiter: &Waiter<'_>,
    ) -> Result<Writer, CollectionError> {
        unless_full(self.with_reserve(|| self.rebuild(agent, waiter)))?;
        self.with_reserve(|| self.join(agent, waiter))
    }

    /// Joins the writers, even if parts of urepo's own directory are missing.
    pub(super) fn join(
        &self,
        agent: &Agent,
        waiter: &Waiter<'_>,
    ) -> Result<Writer, CollectionError> {
        let own = self.ensure_own()?;
        let staging = own.ensure_dir(layout::STAGING)?;
        let lock = self.share_lock((own, &staging), agent, waiter)?;
        let stage = Stage::make(&staging, "", agent.process, Access::Shared)?;
        let holder = agent.holder(waiter.clock).to_string();
        let noted = stage.dir().create_file(layout::HOLDER);
        match noted.and_then(|mut file| file.write_all(holder.as_bytes())) {
            // Making room on a full disk must not need room for a note.
            Err(error) if !error.is_full() => Err(error.into()),
            _ => Ok(Writer {
                stage,
                agent: agent.clone(),
                buckets: Buckets::default(),
                dropper: PageCacheDropper::new(),
                _lock: lock,
            }),
        }
    }

    /// Keeps recovery away, as writers do, without writing to the disk.
    pub(crate) fn keep_recovery_away(
        &self,
        agent: &Agent,
        waiter: &Waiter<'_>,
    ) -> Result<Lock, CollectionError> {
        let own = self.ensure_own()?;
        self.share_lock((own, &own.ensure_dir(layout::STAGING)?), agent, waiter)
    }

    /// Takes the shared lock. Temporary files of killed runs are removed first: all of them if no other
    /// process is writing, else only the contents of stages. Files that this user cannot remove do not
    /// matter: `recover` reports them.
    fn share_lock(
        &self,
        (own, staging): (&Dir, &Dir),
        agent: &Agent,
        waiter: &Waiter<'_>,
    ) -> Result<Lock, CollectionError> {
        let holder = agent.holder(waiter.clock);
        let take = |mode, waiter: &_| Lock::take(own, layout::LOCK, mode, &holder, waiter);
        self.check_id()?;
        let locked = |error| CollectionError::locked(&self.settings().name, error);
        if staging.entries()?.next().is_some() {
            match take(LockMode::Exclusive, &waiter.up_to(Duration::ZERO)) {
                Ok(lock) => {
                    let _ = self.remove_left_overs(staging, agent, waiter.clock);
                    return lock.share(waiter).map_err(locked);
                }
                Err(LockError::Held { .. }) => {
                    let lock = take(LockMode::Shared, waiter).map_err(locked)?;
                    let _ = empty_dead_stages(staging);
                    return Ok(lock);
                }
                Err(error) => return Err(locked(error)),
            }
        }
        take(LockMode::Shared, waiter).map_err(locked)
    }
}

impl Writer {
    /// The writing agent.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// The stage.
    pub(super) fn stage(&self) -> &Dir {
        self.stage.dir()
    }

    /// The path of the stage, for people.
    pub fn stage_path(&self) -> &Path {
        self.stage().path()
    }

    /// The watcher of all file operations.
    pub(crate) fn watcher(&self) -> Watcher {
        self.stage().watcher()
    }

    /// Whether staged data can be renamed into the stage of `other`. It is tried, because device numbers
    /// alone do not show it.
    pub(crate) fn can_rename_to(&self, other: &Writer) -> Result<bool, PathError> {
        let probe = Path::new("probe");
        self.stage().make_dir(probe)?;
        match self.stage().rename_new(probe, other.stage(), probe) {
            Ok(()) => other.stage().remove_dir(probe).map(|()| true),
            Err(error) if error.kind() == ErrorKind::CrossesDevices => {
                self.stage().remove_dir(probe).map(|()| false)
            }
            Err(error) => {
                let _ = self.stage().remove_dir(probe);
                Err(error)
            }
        }
    }

    /// Removes the stage and releases the lock, and returns an error.
    pub fn finish(self) -> Result<(), PathError> {
        let Writer { dropper, stage, .. } = self;
        drop(dropper);
        stage.remove()
    }
}
