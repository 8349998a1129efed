//! What killed runs left behind, and clearing it up while nobody is at work on it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{Collection, CollectionError};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::disk::{Dir, HeldBy, Kind, Lock, LockError, LockMode, PathError, StageLock};
use crate::layout;
use crate::wait::Waiter;

/// What a killed run left behind: it was never part of the collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOver {
    /// Where it is, in the collection.
    pub path: PathBuf,
    /// Whose it was, where that is known.
    pub holder: Option<String>,
    /// Whether that run has ended, as far as its lock tells.
    pub life: Life,
}

/// Whether a run is at work, as far as its lock tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It has ended.
    Ended,
    /// It holds its lock.
    AtWork,
    /// The lock cannot be tried here, or other machines may hold it unseen.
    Unknown,
}

/// What [`recover`] did.
#[derive(Debug, Default)]
pub struct Recovered {
    /// What it removed.
    pub removed: Vec<LeftOver>,
    /// Why the rest stays: it may belong to another user.
    pub failed: Vec<CollectionError>,
}

/// What is made beside writers, under a lock of its own, and then put in place.
struct Making {
    /// The directory in urepo's own, unless it is that itself.
    directory: Option<&'static str>,
    /// The lock file there, held by the run that makes it.
    lock: &'static str,
    /// How the names of what is not in place yet begin and end.
    begin: &'static str,
    end: &'static str,
}

const MAKINGS: [Making; 4] = [
    // Its log and its journal lie beside the index that is being made.
    Making { directory: None, lock: layout::INDEX_MAKING, begin: "index.sqlite.new", end: "" },
    Making { directory: None, lock: layout::REBUILDING, begin: "README", end: ".new" },
    Making { directory: None, lock: layout::REBUILDING, begin: "inventory", end: ".new" },
    Making {
        directory: Some(layout::VERIFIED),
        lock: layout::VERIFIED_LOCK,
        begin: "",
        end: ".new",
    },
];

impl Making {
    fn dir(&self, collection: &Collection) -> Result<Option<Dir>, PathError> {
        let Some(name) = self.directory else {
            return collection.own()?.map(Dir::try_clone).transpose();
        };
        match collection.own_dir(name) {
            // Another user's, who keeps it closed.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(None),
            opened => opened,
        }
    }

    fn makes(&self, name: &Path) -> bool {
        name.to_str().is_some_and(|it| it.starts_with(self.begin) && it.ends_with(self.end))
    }

    /// What is not in its place.
    fn unplaced(&self, dir: &Dir) -> Result<Vec<PathBuf>, PathError> {
        let names = dir.entries()?.collect::<Result<Vec<_>, _>>()?;
        let names = names.into_iter().map(|entry| PathBuf::from(entry.name));
        Ok(names.filter(|name| self.makes(name)).collect())
    }

    /// The lock, if no run makes anything.
    fn idle(&self, dir: &Dir) -> Result<Option<Lock>, PathError> {
        Lock::of_file(dir.open_lock_file(self.lock)?)
    }

    /// Whether a run is at work on it, without writing anything.
    fn life(&self, dir: &Dir) -> Life {
        let file = dir.open_to_append_if_there(Path::new(self.lock));
        match file.and_then(|file| file.map_or(Ok(None), Lock::of_file)) {
            Ok(Some(_lock)) => Life::Ended,
            Ok(None) if matches!(dir.stat(self.lock), Ok(Some(_))) => Life::AtWork,
            Ok(None) => Life::Ended,
            Err(_) => Life::Unknown,
        }
    }
}

/// Whether the run with the stage `name` in `above` is at work.
fn life_of_stage(above: &Dir, name: &Path) -> Life {
    match (above.network_file_system(), StageLock::try_take(above, name)) {
        (Ok(None), Ok(Some(_lock))) => Life::Ended,
        (Ok(None), Ok(None)) => Life::AtWork,
        _ => Life::Unknown,
    }
}

impl Collection {
    /// Removes what can be removed, and returns why the rest stays.
    pub(super) fn remove_left_overs(
        &self,
        staging: &Dir,
        clock: &dyn Clock,
    ) -> Vec<CollectionError> {
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
            self.remove_unplaced(&mut failed),
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

    /// Removes what killed runs were going to put in place, except where a run is at work on it.
    fn remove_unplaced(&self, failed: &mut Vec<CollectionError>) -> Result<(), PathError> {
        for making in &MAKINGS {
            let Some(dir) = making.dir(self)? else { continue };
            if making.unplaced(&dir)?.is_empty() {
                continue;
            }
            if let Some(_lock) = making.idle(&dir)? {
                remove_each(&dir, |name| making.makes(name), failed)?;
            }
        }
        Ok(())
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
pub(super) fn empty_dead_stages(staging: &Dir) -> Result<(), PathError> {
    for entry in staging.entries()?.collect::<Result<Vec<_>, _>>()? {
        // One that cannot be opened or locked is another user's, or somebody's at work.
        if entry.kind == Kind::Directory
            && let Ok(Some(dead)) = StageLock::try_take(staging, Path::new(&entry.name))
        {
            remove_each(&dead.dir, |name| name != Path::new(layout::HOLDER), &mut Vec::new())?;
        }
    }
    Ok(())
}

/// The note in a stage that says whose it is. The stage of another user may be closed.
fn note_of(staging: &Dir, stage: &Path) -> Option<String> {
    let note =
        staging.open_file(stage.join(layout::HOLDER)).and_then(|mut file| file.read_all(4096)).ok();
    note.map(|text| String::from_utf8_lossy(&text).into_owned())
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

/// What killed runs, and runs under way, have in the staging directory, large items of which a part has
/// been copied, and what has been made in urepo's own directory and is not in its place.
pub fn left_overs(collection: &Collection) -> Result<Vec<LeftOver>, CollectionError> {
    let mut found = Vec::new();
    let Some(own) = collection.own()? else { return Ok(found) };
    for making in &MAKINGS {
        let Some(dir) = making.dir(collection)? else { continue };
        for name in making.unplaced(&dir)? {
            found.push(LeftOver { path: dir.path_of(name), holder: None, life: making.life(&dir) });
        }
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
        // Another user's.
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

/// Removes what killed runs left, while nobody is writing. What cannot be removed hinders nothing else.
///
/// May be killed and repeated at any point.
pub fn recover(
    collection: &Collection,
    agent: &Agent,
    waiter: &Waiter<'_>,
) -> Result<Recovered, CollectionError> {
    let holder = agent.holder(waiter.clock);
    match collection.rebuild(agent, waiter) {
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
    match collection.rebuild_inventory_alone(own, waiter) {
        Err(error) if error.is_full() => {}
        outcome => outcome?,
    }
    let mut removed = left_overs(collection)?;
    let staging = own.ensure_dir(layout::STAGING)?;
    let mut failed = collection.remove_left_overs(&staging, waiter.clock);
    if let Err(error) = collection.remove_partial(&mut failed) {
        failed.push(error.into());
    }
    let kept = left_overs(collection)?;
    removed.retain(|found| kept.iter().all(|kept| kept.path != found.path));
    Ok(Recovered { removed, failed })
}

/// Writers share the lock, so it does not say who they are; their stages do, unless they are of killed runs.
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
