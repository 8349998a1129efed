//! Temporary files of killed runs, and their removal while no process uses them.

use std::path::{Path, PathBuf};

use super::reserve::unless_full;
use crate::agent::Agent;
use crate::clock::Clock;
use crate::collection::{Collection, CollectionError, Correction};
use crate::disk::{Dir, HeldBy, Kind, Lock, LockError, LockMode, PathError, StageLock};
use crate::layout;
use crate::wait::Waiter;

/// A temporary file or directory of a killed run, which was never part of the collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOver {
    /// Its path in the collection.
    pub path: PathBuf,
    /// Its owner, if known.
    pub holder: Option<String>,
    /// Whether that run has ended, by its lock.
    pub life: Life,
}

/// Whether a run is at work, by its lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It has ended.
    Ended,
    /// It holds its lock.
    AtWork,
    /// Unknown: the lock cannot be tried here, or locks of other machines are invisible.
    Unknown,
}

/// The result of [`recover`].
#[derive(Debug, Default)]
pub struct Recovered {
    /// The files removed.
    pub removed: Vec<LeftOver>,
    /// Why the others stay: they may belong to another user.
    pub failed: Vec<CollectionError>,
    /// The number of items whose lines were missing, and were added.
    pub recorded: usize,
    /// Items above lines that they do not follow: a person decides whether they are recorded.
    pub foreign: Vec<Correction>,
}

/// Settings that were not published.
const NEW_SETTINGS: &str = "urepo.toml.new";

/// Whether `name` in urepo's own directory is a file that is built beside writers and was not published.
fn is_unplaced(name: &Path) -> bool {
    let name = name.to_str().and_then(|name| name.strip_suffix(".new"));
    let names = ["README", layout::LEDGER, layout::ROUND];
    name.is_some_and(|name| names.iter().any(|begin| name.starts_with(begin)))
}

/// The unpublished files in `own`.
fn unplaced(own: &Dir) -> Result<Vec<PathBuf>, PathError> {
    let names = own.entries()?.collect::<Result<Vec<_>, _>>()?;
    let names = names.into_iter().map(|entry| PathBuf::from(entry.name));
    Ok(names.filter(|name| is_unplaced(name)).collect())
}

/// Whether a run is building one of them. Nothing is written.
fn life_of_builder(own: &Dir) -> Life {
    let file = own.open_to_append_if_there(Path::new(layout::CHANGE_LOCK));
    match file.and_then(|file| file.map_or(Ok(None), Lock::of_file)) {
        Ok(Some(_lock)) => Life::Ended,
        Ok(None) if matches!(own.stat(layout::CHANGE_LOCK), Ok(Some(_))) => Life::AtWork,
        Ok(None) => Life::Ended,
        Err(_) => Life::Unknown,
    }
}

/// Whether the run with the stage `name` in `above` is at work.
pub(super) fn life_of_stage(above: &Dir, name: &Path) -> Life {
    match (above.network_file_system(), StageLock::try_take(above, name)) {
        (Ok(None), Ok(Some(_lock))) => Life::Ended,
        (Ok(None), Ok(None)) => Life::AtWork,
        _ => Life::Unknown,
    }
}

impl Collection {
    /// Removes the files, and returns why others stay.
    pub(super) fn remove_left_overs(
        &self,
        staging: &Dir,
        agent: &Agent,
        clock: &dyn Clock,
    ) -> Vec<CollectionError> {
        let mut failed = self.restore_set_aside();
        failed.extend(unless_full(self.add_missing_lines(staging, agent, clock)).err());
        let outcomes = [
            remove_each(staging, |_| true, &mut failed),
            self.root().remove_file_if_there(Path::new(NEW_SETTINGS)),
            self.remove_unplaced(&mut failed),
            staging.sync(),
        ];
        failed.extend(outcomes.into_iter().filter_map(Result::err).map(CollectionError::from));
        failed
    }

    /// Removes unpublished files of killed runs, unless a run is at work on them.
    fn remove_unplaced(&self, failed: &mut Vec<CollectionError>) -> Result<(), PathError> {
        let Some(own) = self.own()? else { return Ok(()) };
        if !unplaced(own)?.is_empty()
            && let Some(_lock) = Lock::of_file(own.open_lock_file(layout::CHANGE_LOCK)?)?
        {
            remove_each(own, is_unplaced, failed)?;
        }
        Ok(())
    }

    /// Removes partial copies of large items.
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

/// Removes the drafts of killed runs while other processes are at work. The stages stay, with their owners,
/// until a process is alone: they show that recovery is needed, for example for an item that is not in the
/// ledger yet.
pub(super) fn empty_dead_stages(staging: &Dir) -> Result<(), PathError> {
    for entry in staging.entries()?.collect::<Result<Vec<_>, _>>()? {
        // A stage that cannot be opened or locked belongs to another user, or is in use.
        if entry.kind == Kind::Directory
            && let Ok(Some(dead)) = StageLock::try_take(staging, Path::new(&entry.name))
        {
            let is_note =
                |name: &Path| [layout::HOLDER, layout::CHANGE_NOTE].map(Path::new).contains(&name);
            remove_each(&dead.dir, |name| !is_note(name), &mut Vec::new())?;
        }
    }
    Ok(())
}

/// The owner in the note of a stage. The stage of another user may be closed.
fn note_of(staging: &Dir, stage: &Path) -> Option<String> {
    let note =
        staging.open_file(stage.join(layout::HOLDER)).and_then(|mut file| file.read_all(4096)).ok();
    note.map(|text| String::from_utf8_lossy(&text).into_owned())
}

/// Removes every `wanted` entry of `dir`; a failure does not stop the others.
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

/// Stages of killed and present runs, partial copies of large items, and unpublished files in urepo's own
/// directory.
pub fn left_overs(collection: &Collection) -> Result<Vec<LeftOver>, CollectionError> {
    let mut found = Vec::new();
    let Some(own) = collection.own()? else { return Ok(found) };
    for name in unplaced(own)? {
        found.push(LeftOver { path: own.path_of(name), holder: None, life: life_of_builder(own) });
    }
    if collection.root().stat(NEW_SETTINGS)?.is_some() {
        let path = collection.root().path_of(NEW_SETTINGS);
        found.push(LeftOver { path, holder: None, life: life_of_builder(own) });
    }
    match own.open_dir_if_there(layout::PARTIAL) {
        Ok(None) => {}
        Ok(Some(partial)) => {
            for entry in partial.entries()? {
                let name = entry?.name;
                let life = life_of_stage(&partial, Path::new(&name));
                found.push(LeftOver { path: partial.path_of(name), holder: None, life });
            }
        }
        // Closed by another user.
        Err(_) => {
            let path = own.path_of(layout::PARTIAL);
            found.push(LeftOver { path, holder: None, life: Life::Unknown });
        }
    }
    let Some(staging) = own.open_dir_if_there(layout::STAGING)? else {
        return Ok(found);
    };
    for entry in staging.entries()? {
        let entry = entry?;
        found.push(LeftOver {
            path: staging.path_of(&entry.name),
            holder: note_of(&staging, Path::new(&entry.name)),
            life: life_of_stage(&staging, Path::new(&entry.name)),
        });
    }
    Ok(found)
}

/// Removes the temporary files of killed runs, while no process is writing. A file that cannot be removed
/// does not stop the others.
///
/// May be killed and repeated at any point.
pub fn recover(
    collection: &Collection,
    agent: &Agent,
    waiter: &Waiter<'_>,
) -> Result<Recovered, CollectionError> {
    let holder = agent.holder(waiter.clock);
    collection.check_id()?;
    unless_full(collection.rebuild(agent, waiter))?;
    let own = collection.ensure_own()?;
    let lock = Lock::take(own, layout::LOCK, LockMode::Exclusive, &holder, waiter);
    let _lock = match lock {
        Ok(lock) => lock,
        Err(error) => return Err(name_the_writers(collection, error)?),
    };
    unless_full(collection.rebuild_ledger_alone(own, agent, waiter))?;
    let mut removed = left_overs(collection)?;
    let staging = own.ensure_dir(layout::STAGING)?;
    let mut failed = collection.remove_left_overs(&staging, agent, waiter.clock);
    let (mut recorded, mut foreign) = (0, Vec::new());
    let found = collection.record_what_is_there(agent, waiter.clock).map(|(count, found)| {
        recorded = count;
        foreign = found;
    });
    failed.extend(unless_full(found).err());
    if let Err(error) = collection.remove_partial(&mut failed) {
        failed.push(error.into());
    }
    let kept = left_overs(collection)?;
    removed.retain(|found| kept.iter().all(|kept| kept.path != found.path));
    Ok(Recovered { removed, failed, recorded, foreign })
}

/// Writers share the lock, so it does not name them; their stages do, unless their runs were killed.
fn name_the_writers(
    collection: &Collection,
    error: LockError,
) -> Result<CollectionError, CollectionError> {
    let mut found = left_overs(collection)?;
    found.retain(|it| it.life != Life::Ended);
    let writers: Vec<_> = found.into_iter().filter_map(|it| it.holder).collect();
    Ok(match error {
        LockError::Held { .. } if !writers.is_empty() => CollectionError::Locked {
            collection: collection.settings().name.clone(),
            cause: HeldBy(writers.join(", ")),
        },
        error => CollectionError::locked(&collection.settings().name, error),
    })
}
