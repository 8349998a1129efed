//! What a run is going to delete, on the disk before anything is: `.urepo/journal/delete-….toml`.
//!
//! The file holds names and nothing else. What is to be done with them follows from their sidecars: a
//! tombstone that still has a payload is finished, anything else is left alone. A run holds a
//! kernel lock on its file, so a file that can be locked is that of a run that has ended.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::RemovalError;
use crate::agent::Agent;
use crate::clock::Clock;
use crate::collection::{Collection, InventoryChange, LockedItem, Lookup, Writer, lock_items};
use crate::disk::{Dir, IoContext, Lock, PathError, random_hex};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::layout;
use crate::wait::Waiter;

/// How the names of these files begin and end.
const BEGIN: &str = "delete-";
const END: &str = ".toml";

/// Some two million names.
const MAX_BYTES: u64 = 128 * 1024 * 1024;

/// The file of a run under way.
pub(super) struct Intent {
    journal: Dir,
    file: PathBuf,
    _lock: Lock,
}

#[derive(Deserialize)]
struct RawIntent {
    items: Vec<String>,
}

impl Intent {
    /// Writes the file, locked and synced; it appears whole.
    pub(super) fn write(
        collection: &Collection,
        writer: &Writer,
        names: &[RepositoryName],
    ) -> Result<Intent, RemovalError> {
        let journal = collection.ensure_own()?.ensure_lasting_dir(layout::JOURNAL)?;
        let random = random_hex::<8>().on("write to", journal.path())?;
        let file = PathBuf::from(format!("{BEGIN}{random}{END}"));
        // A name has no character that TOML would have escaped.
        let mut text =
            "# Items that are being deleted; see `urepo recover`.\nitems = [\n".to_owned();
        for name in names {
            text.push_str(&format!("    \"{name}\",\n"));
        }
        text.push_str("]\n");
        let mut staged = writer.stage().create_file(&file)?;
        staged.write_all(text.as_bytes())?;
        staged.sync()?;
        let path = staged.path().to_path_buf();
        let lock = Lock::of_file(staged)?
            .ok_or_else(|| PathError::new("lock", path, std::io::ErrorKind::WouldBlock.into()))?;
        writer.stage().rename_new(&file, &journal, &file)?;
        journal.sync()?;
        Ok(Intent { journal, file, _lock: lock })
    }

    /// Removes the file: nothing is left to be done.
    pub(super) fn done(self) -> Result<(), PathError> {
        remove(&self.journal, &self.file)
    }
}

fn remove(journal: &Dir, file: &Path) -> Result<(), PathError> {
    journal.remove_file_if_there(file)?;
    journal.sync()
}

/// What became of runs that were killed.
#[derive(Debug, Default)]
pub struct Finished {
    /// Tombstones whose payload is in the trash now.
    pub items: Vec<RepositoryName>,
    /// Runs that are still at work.
    pub at_work: u64,
    /// What could not be finished, and is tried again the next time.
    pub failed: Vec<RemovalError>,
}

/// Finishes the deletions that killed runs left between a tombstone and the trash.
///
/// May be killed and repeated at any point. Costs one look at a directory if there is nothing to do.
pub fn finish_pending(
    collection: &Collection,
    agent: &Agent,
    waiter: &Waiter<'_>,
) -> Result<Finished, RemovalError> {
    let mut finished = Finished::default();
    let files = intents(collection)?;
    if files.is_empty() {
        return Ok(finished);
    }
    let journal = collection.ensure_own()?.open_dir(layout::JOURNAL)?;
    // Recovery would clear the trash up meanwhile.
    let _lock = collection.keep_recovery_away(agent, waiter)?;
    for file in files {
        // Gone since, with the run that wrote it.
        let Some(opened) = journal.open_file_if_there(&file)? else { continue };
        let Some(mut lock) = Lock::of_file(opened)? else {
            finished.at_work += 1;
            continue;
        };
        let before = finished.failed.len();
        match names(&mut lock) {
            Ok(names) => {
                for name in names {
                    match finish(collection, &name, agent, waiter) {
                        Ok(true) => finished.items.push(name),
                        Ok(false) => {}
                        Err(error) => finished.failed.push(error),
                    }
                }
            }
            Err(error) => finished.failed.push(error),
        }
        if finished.failed.len() == before {
            remove(&journal, &file)?;
        }
    }
    Ok(finished)
}

/// The files of all runs, under way or not.
fn intents(collection: &Collection) -> Result<Vec<PathBuf>, PathError> {
    let Some(journal) = collection.own_dir(layout::JOURNAL)? else {
        return Ok(Vec::new());
    };
    let mut files = Vec::new();
    for entry in journal.entries()? {
        let name = entry?.name;
        if name.to_str().is_some_and(|name| name.starts_with(BEGIN) && name.ends_with(END)) {
            files.push(PathBuf::from(name));
        }
    }
    files.sort();
    Ok(files)
}

fn names(lock: &mut Lock) -> Result<Vec<RepositoryName>, RemovalError> {
    let file = lock.file();
    let bytes = file.read_all(MAX_BYTES)?;
    let malformed =
        |reason: String| RemovalError::Intent { path: file.path().to_path_buf(), reason };
    let text = std::str::from_utf8(&bytes).map_err(|error| malformed(error.to_string()))?;
    let raw: RawIntent =
        toml::from_str(text).map_err(|error| malformed(error.message().replace('\n', ", ")))?;
    raw.items
        .iter()
        .map(|name| RepositoryName::parse_as_found(name).map(|(name, _)| name))
        .collect::<Result<_, _>>()
        .map_err(|error| malformed(error.to_string()))
}

/// Finishes one item, and says whether there was something to be done.
fn finish(
    collection: &Collection,
    name: &RepositoryName,
    agent: &Agent,
    waiter: &Waiter<'_>,
) -> Result<bool, RemovalError> {
    let locks = lock_items([(collection, name)], agent, waiter)?;
    let Some(item) = locks.item(&Lookup::new(collection), name)? else { return Ok(false) };
    let (sidecar, _) = item.sidecar()?;
    if sidecar.state != State::Deleted || !item.has_payload()? {
        return Ok(false);
    }
    record_burial(collection, item.name(), waiter.clock)?;
    bury_payload(&item)?;
    Ok(true)
}

/// Records that an item is a tombstone.
pub(super) fn record_burial(
    collection: &Collection,
    name: &RepositoryName,
    clock: &dyn Clock,
) -> Result<(), RemovalError> {
    let became = InventoryChange::Became(State::Deleted);
    Ok(collection.record([(name.clone(), became)], clock)?)
}

/// Moves the payload of a tombstone into the trash.
pub(super) fn bury_payload(item: &LockedItem<'_>) -> Result<(), RemovalError> {
    item.bury().map_err(|source| RemovalError::NotMoved { name: item.name().clone(), source })
}
