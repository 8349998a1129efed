//! Changing a collection: the lock that writers share, their stages, and what killed ones left.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Collection, CollectionError};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::disk::{Dir, HeldBy, IoContext, Kind, Lock, LockError, LockMode, PathError, random_hex};
use crate::layout;
use crate::wait::Waiter;

/// The file in a stage that says whose it is.
const HOLDER: &str = "holder";

/// The right to change a collection, with a stage of one's own: a directory on the same file system as
/// the items, as open to others as `.urepo` is, so that everybody who shares the collection can remove it.
///
/// Dropped, it takes its stage away. A killed process leaves it, and the next writer that finds itself
/// alone removes it.
#[derive(Debug)]
pub struct Writer {
    stage: Dir,
    staging: Dir,
    name: String,
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
        let name = stage_name(agent.process).on("make the directory", staging.path())?;
        staging.make_dir(&name)?;
        let stage = match staging.open_dir(&name) {
            Ok(stage) => stage,
            Err(error) => {
                let _ = staging.remove_dir(Path::new(&name));
                return Err(error.into());
            }
        };
        let writer = Writer { stage, staging, name, agent: agent.clone(), _lock: lock };
        let mut holder = writer.stage.create_file(HOLDER)?;
        match holder.write_all(agent.holder(waiter.clock).to_string().as_bytes()) {
            // Who makes room on a full disk needs none for a note.
            Err(error) if error.is_full() => Ok(writer),
            outcome => Ok(outcome.map(|()| writer)?),
        }
    }

    /// Takes the shared lock. If a killed run left something and nobody else is writing, it is
    /// removed first. What this user cannot remove hinders nobody: `recover` reports it.
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
                Err(LockError::Held { .. }) => {}
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
        &self.name
    }

    /// The stage.
    pub fn stage(&self) -> &Dir {
        &self.stage
    }

    /// Takes the stage away and lets go of the lock, saying what went wrong.
    pub fn finish(self) -> Result<(), PathError> {
        self.staging.remove_tree(Path::new(&self.name))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // An error leaves what a killed process would: the next writer removes it.
        let _ = self.staging.remove_tree(Path::new(&self.name));
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

/// Writers share the lock, so it does not say who they are; their stages do.
fn name_the_writers(
    collection: &Collection,
    error: LockError,
) -> Result<CollectionError, CollectionError> {
    let writers: Vec<_> = left_overs(collection)?.into_iter().filter_map(|it| it.holder).collect();
    Ok(match error {
        LockError::Held { .. } if !writers.is_empty() => CollectionError::Locked {
            collection: collection.settings().name.clone(),
            cause: HeldBy(writers.join(", ")),
        },
        error => CollectionError::locked(&collection.settings().name, error),
    })
}

/// A name for a stage that no other process takes.
pub(crate) fn stage_name(process: u32) -> std::io::Result<String> {
    Ok(format!("{process}-{}", random_hex::<8>()?))
}
