//! Changing a collection: the lock that writers share, their stages, and what killed ones left.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Collection, CollectionError};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::disk::{
    Access, Dir, HeldBy, Kind, Lock, LockError, LockMode, PathError, Stage, StageLock,
};
use crate::layout;
use crate::wait::Waiter;

/// The file in a stage that says whose it is.
const HOLDER: &str = "holder";

/// The right to change a collection, with a stage of one's own: a directory on the same file system as
/// the items, as open to others as `.urepo` is, so that everybody who shares the collection can remove it.
///
/// Dropped, it takes its stage away. A killed process leaves it: the next writer empties it, and the next
/// that finds itself alone removes it and clears up whatever else that process may have left.
#[derive(Debug)]
pub struct Writer {
    stage: Stage,
    agent: Agent,
    _lock: Lock,
}

/// What a killed run left behind: it was never part of the collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOver {
    /// Where it is, in the collection.
    pub path: PathBuf,
    /// Whose it was, where that is known.
    pub holder: Option<String>,
}

/// What [`recover`] did.
#[derive(Debug, Default)]
pub struct Recovered {
    /// What it removed.
    pub removed: Vec<LeftOver>,
    /// Why the rest stays: it may belong to another user.
    pub failed: Vec<CollectionError>,
}

impl Collection {
    /// Joins the writers of this collection, waiting while it is being recovered.
    pub fn writer(&self, agent: &Agent, waiter: &Waiter<'_>) -> Result<Writer, CollectionError> {
        match self.rebuild(waiter) {
            // Who makes room on a full disk needs no list of what is there.
            Err(error) if error.is_full() => {}
            outcome => outcome?,
        }
        let own = self.ensure_own()?;
        let staging = own.ensure_dir(layout::STAGING)?;
        let lock = self.share_lock((own, &staging), agent, waiter)?;
        let stage = Stage::make(&staging, "", agent.process, Access::Shared)?;
        let holder = agent.holder(waiter.clock).to_string();
        let noted = stage.dir().create_file(HOLDER);
        match noted.and_then(|mut file| file.write_all(holder.as_bytes())) {
            // Who makes room on a full disk needs none for a note.
            Err(error) if !error.is_full() => Err(error.into()),
            _ => Ok(Writer { stage, agent: agent.clone(), _lock: lock }),
        }
    }

    /// Keeps recovery away, as writers do, and makes nothing on the disk.
    pub(crate) fn keep_recovery_away(
        &self,
        agent: &Agent,
        waiter: &Waiter<'_>,
    ) -> Result<Lock, CollectionError> {
        let own = self.ensure_own()?;
        self.share_lock((own, &own.ensure_dir(layout::STAGING)?), agent, waiter)
    }

    /// Takes the shared lock. What killed runs left is cleared first: all of it if nobody else is writing,
    /// else the stages alone. What this user cannot remove hinders nobody: `recover` reports it.
    fn share_lock(
        &self,
        (own, staging): (&Dir, &Dir),
        agent: &Agent,
        waiter: &Waiter<'_>,
    ) -> Result<Lock, CollectionError> {
        let holder = agent.holder(waiter.clock);
        let take = |mode, waiter: &_| Lock::take(own, layout::LOCK, mode, &holder, waiter);
        let locked = |error| CollectionError::locked(&self.settings().name, error);
        if staging.entries()?.next().is_some() {
            match take(LockMode::Exclusive, &waiter.up_to(Duration::ZERO)) {
                Ok(lock) => {
                    let _ = self.remove_left_overs(staging, waiter.clock);
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

    /// Removes what can be removed, and returns why the rest stays.
    fn remove_left_overs(&self, staging: &Dir, clock: &dyn Clock) -> Vec<CollectionError> {
        let mut failed = self.restore_set_aside();
        let new_settings = format!("{}.new", layout::SETTINGS);
        let recorded = match self.record_what_is_there(clock) {
            // Who makes room on a full disk needs no list of what is there.
            Err(error) if error.is_full() => Ok(()),
            outcome => outcome,
        };
        let outcomes = [
            recorded,
            remove_each(staging, |_| true, &mut failed),
            self.root().remove_file_if_there(Path::new(&new_settings)),
            self.remove_unfinished_records(&mut failed),
            staging.sync(),
        ];
        failed.extend(outcomes.into_iter().filter_map(Result::err).map(CollectionError::from));
        failed
    }

    /// Removes records that were never put into the journal: nothing had begun then.
    fn remove_unfinished_records(
        &self,
        failed: &mut Vec<CollectionError>,
    ) -> Result<(), PathError> {
        let Some(journal) = self.own_dir(layout::JOURNAL)? else { return Ok(()) };
        let is_new = |name: &Path| name.extension().is_some_and(|extension| extension == "new");
        remove_each(&journal, is_new, failed)
    }

    /// Removes what has been copied of large items.
    fn remove_partial(&self, failed: &mut Vec<CollectionError>) -> Result<(), PathError> {
        let Some(own) = self.own()? else { return Ok(()) };
        let Some(partial) = own.open_dir_if_there(layout::PARTIAL)? else { return Ok(()) };
        remove_each(&partial, |_| true, failed)?;
        if partial.entries()?.next().is_none() {
            own.remove_dir(Path::new(layout::PARTIAL))?;
        }
        Ok(())
    }
}

/// Removes what killed runs were making, while others are at work. Their stages stay, with the notes of
/// whose they are, until somebody is alone: they say that there may be more to clear up, such as an item
/// that is not in the inventory yet.
fn empty_dead_stages(staging: &Dir) -> Result<(), PathError> {
    for entry in staging.entries()?.collect::<Result<Vec<_>, _>>()? {
        // One that can not be opened or locked is another user's, or somebody's at work.
        if entry.kind == Kind::Directory
            && let Ok(Some(dead)) = StageLock::try_take(staging, Path::new(&entry.name))
        {
            remove_each(&dead.dir, |name| name != Path::new(HOLDER), &mut Vec::new())?;
        }
    }
    Ok(())
}

/// Removes every entry of `dir` that is `wanted`, whatever happens to the others.
fn remove_each(
    dir: &Dir,
    wanted: impl Fn(&Path) -> bool,
    failed: &mut Vec<CollectionError>,
) -> Result<(), PathError> {
    for entry in dir.entries()?.collect::<Result<Vec<_>, _>>()? {
        let name = Path::new(&entry.name);
        if wanted(name)
            && let Err(error) = dir.remove_tree(name)
        {
            failed.push(error.into());
        }
    }
    Ok(())
}

impl Writer {
    /// Who writes.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// What no other writer is called.
    pub(super) fn name(&self) -> &str {
        self.stage.name()
    }

    /// The stage.
    pub fn stage(&self) -> &Dir {
        self.stage.dir()
    }

    /// Takes the stage away and lets go of the lock, saying what went wrong.
    pub fn finish(self) -> Result<(), PathError> {
        self.stage.remove()
    }
}

/// What killed runs, and runs under way, have in the staging directory, and large items of which a part
/// has been copied.
pub fn left_overs(collection: &Collection) -> Result<Vec<LeftOver>, CollectionError> {
    let mut found = Vec::new();
    let Some(own) = collection.own()? else { return Ok(found) };
    match own.open_dir_if_there(layout::PARTIAL) {
        Ok(None) => {}
        Ok(Some(partial)) => {
            for entry in partial.entries()? {
                found.push(LeftOver { path: partial.path_of(entry?.name), holder: None });
            }
        }
        // Another user's.
        Err(_) => {
            found.push(LeftOver { path: own.path_of(layout::PARTIAL), holder: None });
        }
    }
    let Some(staging) = own.open_dir_if_there(layout::STAGING)? else {
        return Ok(found);
    };
    for entry in staging.entries()? {
        let entry = entry?;
        let holder = Path::new(&entry.name).join(HOLDER);
        let holder = match entry.kind {
            // The stage of another user may be closed: then nobody knows whose it is.
            Kind::Directory => {
                staging.open_file(&holder).and_then(|mut file| file.read_all(4096)).ok()
            }
            _ => None,
        };
        found.push(LeftOver {
            path: staging.path_of(&entry.name),
            holder: holder.map(|text| String::from_utf8_lossy(&text).into_owned()),
        });
    }
    Ok(found)
}

impl Collection {
    /// Whether the writer with this stage is at work, or was killed and nobody has cleared up since.
    pub(crate) fn has_stage(&self, name: &str) -> Result<bool, PathError> {
        let plain = !name.is_empty() && !name.contains('/') && !name.starts_with('.');
        let Some(own) = self.own()?.filter(|_| plain) else { return Ok(false) };
        Ok(own.stamp(Path::new(layout::STAGING).join(name))?.is_some())
    }
}

/// Removes what killed runs left, while nobody is writing. What cannot be removed hinders nothing else.
///
/// May be killed and repeated at any point.
pub fn recover(
    collection: &Collection,
    agent: &Agent,
    waiter: &Waiter<'_>,
) -> Result<Recovered, CollectionError> {
    let holder = agent.holder(waiter.clock);
    match collection.rebuild(waiter) {
        // Who makes room on a full disk needs no list of what is there.
        Err(error) if error.is_full() => {}
        outcome => outcome?,
    }
    let own = collection.ensure_own()?;
    let lock = Lock::take(own, layout::LOCK, LockMode::Exclusive, &holder, waiter);
    let _lock = match lock {
        Ok(lock) => lock,
        Err(error) => return Err(name_the_writers(collection, error)?),
    };
    let mut removed = left_overs(collection)?;
    let staging = own.ensure_dir(layout::STAGING)?;
    let mut failed = collection.remove_left_overs(&staging, waiter.clock);
    if let Err(error) = collection.remove_partial(&mut failed) {
        failed.push(error.into());
    }
    let kept = left_overs(collection)?;
    removed.retain(|found| !kept.contains(found));
    Ok(Recovered { removed, failed })
}

/// Writers share the lock, so it does not say who they are; their stages do, unless they are of killed runs.
fn name_the_writers(
    collection: &Collection,
    error: LockError,
) -> Result<CollectionError, CollectionError> {
    let staging = collection.ensure_own()?.ensure_dir(layout::STAGING)?;
    let mut found = left_overs(collection)?;
    found.retain(|it| match it.path.file_name() {
        Some(name) => !matches!(StageLock::try_take(&staging, Path::new(name)), Ok(Some(_))),
        None => true,
    });
    let writers: Vec<_> = found.into_iter().filter_map(|it| it.holder).collect();
    Ok(match error {
        LockError::Held { .. } if !writers.is_empty() => CollectionError::Locked {
            collection: collection.settings().name.clone(),
            cause: HeldBy(writers.join(", ")),
        },
        error => CollectionError::locked(&collection.settings().name, error),
    })
}
