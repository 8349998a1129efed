//! Completing interrupted runs, which leave items between two states: a tombstone with its payload beside it.
//!
//! An interrupted deletion is completed, and an interrupted restoration too. If intents of both kinds name an
//! item between two states, nothing shows which run left it: its files stay in place, protected from purges,
//! until a person restores or deletes it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::delete::{bury_payload, record_burial};
use super::intent::{Intent, IntentFile, IntentKind, intent_files, may_be_listed, read_names};
use super::remains::tombstone_with_payload;
use super::restore::Restorer;
use super::{RemovalError, Remover, Restoration};
use crate::agent::Caller;
use crate::collection::{Collection, Lookup, lock_items};
use crate::disk::{Dir, Lock, PathError};
use crate::identity::RepositoryName;
use crate::item::State;
use crate::layout;

/// An item between two states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The item.
    pub name: RepositoryName,
    /// The work of its run.
    pub kind: IntentKind,
    /// Whether that run is at work.
    pub is_at_work: bool,
}

/// The results for interrupted runs.
#[derive(Debug, Default)]
pub struct Finished {
    /// Items that are deleted or restored now.
    pub items: Vec<Pending>,
    /// Runs that are still at work.
    pub at_work: u64,
    /// Items that could not be finished, and are tried again the next time.
    pub failed: Vec<RemovalError>,
}

/// Whether there are intents, of interrupted or present runs.
pub fn has_pending(collection: &Collection) -> Result<bool, PathError> {
    let journal = collection.own_dir(layout::JOURNAL)?;
    journal.map_or(Ok(false), |journal| Ok(!intent_files(&journal)?.is_empty()))
}

/// The items between two states, in order of names, and why an intent or an item cannot be read.
pub fn pending(collection: &Collection) -> Result<(Vec<Pending>, Vec<RemovalError>), PathError> {
    let (mut items, mut failed) = (BTreeMap::new(), Vec::new());
    let Some(journal) = collection.own_dir(layout::JOURNAL)? else {
        return Ok((Vec::new(), failed));
    };
    for (kind, file) in intent_files(&journal)? {
        // Removed since by the run that wrote it.
        let Some(mut opened) = journal.open_file_if_there(&file)? else { continue };
        let names = read_names(&mut opened);
        let is_at_work = Lock::is_held(opened)?;
        match names {
            Ok(names) => {
                for name in names {
                    match tombstone_with_payload(collection, &name) {
                        Ok(None) => {}
                        Ok(Some(_)) => {
                            let item = Pending { name: name.clone(), kind, is_at_work };
                            items.entry(name).or_insert(item);
                        }
                        Err(error) => failed.push(error.into()),
                    }
                }
            }
            Err(error) => failed.push(error),
        }
    }
    Ok((items.into_values().collect(), failed))
}

/// Finishes the deletions and restorations that interrupted runs left between two states. A restoration
/// follows the rules of `restoration`. An item that intents of both kinds name stays unchanged, and so do all
/// deletions while the intent of a restoration cannot be read, and the other way round.
///
/// May be killed and repeated at any point. Without intents it only lists a directory.
pub fn finish_pending(
    collection: &Collection,
    restoration: &Restoration<'_>,
    caller: &Caller<'_>,
) -> Result<Finished, RemovalError> {
    let mut finished = Finished::default();
    let Some(journal) = collection.own_dir(layout::JOURNAL)? else { return Ok(finished) };
    let files = intent_files(&journal)?;
    if files.is_empty() {
        return Ok(finished);
    }
    // A writer rebuilds a missing inventory, for which it waits for all other processes, so nothing is locked
    // before.
    let remover = if files.iter().any(|(kind, _)| *kind == IntentKind::Restoration) {
        let writer = collection.writer_to_delete(caller.agent, &caller.waiter());
        let noted = writer.map_err(|error| finished.failed.push(error.into()));
        noted.ok().map(|writer| Remover { collection, writer, caller: *caller })
    } else {
        None
    };
    // Recovery would clean the trash meanwhile. On a full disk, nothing is written for it.
    let _lock = match &remover {
        Some(_) => None,
        None => Some(collection.keep_recovery_away(caller.agent, &caller.waiter())?),
    };
    let remover_of = remover.as_ref();
    let mut finishing =
        Finishing { collection, journal, restoration, remover: remover_of, caller, finished };
    for (kind, file) in files {
        finishing.finish_run(kind, file)?;
    }
    let finished = finishing.finished;
    if let Some(remover) = remover {
        remover.writer.finish()?;
    }
    collection.refill_reserve();
    Ok(finished)
}

struct Finishing<'a> {
    collection: &'a Collection,
    journal: Dir,
    restoration: &'a Restoration<'a>,
    /// The restorer; without it, the reason is among the failures.
    remover: Option<&'a Remover<'a>>,
    caller: &'a Caller<'a>,
    finished: Finished,
}

impl Finishing<'_> {
    fn finish_run(&mut self, kind: IntentKind, file: PathBuf) -> Result<(), RemovalError> {
        let Some(opened) = self.journal.open_file_if_there(&file)? else { return Ok(()) };
        let Some(lock) = Lock::of_file(opened)? else {
            self.finished.at_work += 1;
            return Ok(());
        };
        let mut file = IntentFile { journal: self.journal.try_clone()?, file, lock };
        let outcome = read_names(file.lock.file()).and_then(|names| match kind {
            IntentKind::Deletion => self.delete(&names, file),
            IntentKind::Restoration => self.restore(&names, file),
        });
        match outcome {
            Err(RemovalError::Interrupted) => Err(RemovalError::Interrupted),
            Err(error) => {
                self.finished.failed.push(error);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    fn delete(&mut self, names: &[RepositoryName], file: IntentFile) -> Result<(), RemovalError> {
        let collection = self.collection;
        let delete = |name: &RepositoryName| {
            let journal = &self.journal;
            collection.with_reserve(|| finish_deletion(collection, journal, name, self.caller))
        };
        let outcomes: Vec<_> = names.iter().map(|name| (name, delete(name))).collect();
        if self.note(IntentKind::Deletion, outcomes)? {
            file.remove()?;
        }
        Ok(())
    }

    fn restore(&mut self, names: &[RepositoryName], file: IntentFile) -> Result<(), RemovalError> {
        let Some(remover) = self.remover else { return Ok(()) };
        let intent = Intent::inherited(remover, IntentKind::Restoration, file);
        let mut restorer = Restorer::new(self.restoration, intent);
        let complete = |name| (name, restorer.complete(&self.journal, name));
        let outcomes: Vec<_> = names.iter().map(complete).collect();
        if self.note(IntentKind::Restoration, outcomes)? {
            restorer.finish()?;
        }
        Ok(())
    }

    /// Notes the outcomes of a run, and returns whether nothing is left of it.
    fn note(
        &mut self,
        kind: IntentKind,
        outcomes: Vec<(&RepositoryName, Result<bool, RemovalError>)>,
    ) -> Result<bool, RemovalError> {
        let before = self.finished.failed.len();
        for (name, outcome) in outcomes {
            match outcome {
                Ok(true) => {
                    let name = name.clone();
                    self.finished.items.push(Pending { name, kind, is_at_work: false });
                }
                Ok(false) => {}
                Err(RemovalError::Interrupted) => return Err(RemovalError::Interrupted),
                Err(error) => self.finished.failed.push(error),
            }
        }
        Ok(self.finished.failed.len() == before)
    }
}

/// Finishes the deletion of one item, and returns whether there was something to do.
fn finish_deletion(
    collection: &Collection,
    journal: &Dir,
    name: &RepositoryName,
    caller: &Caller<'_>,
) -> Result<bool, RemovalError> {
    let locks = lock_items([(collection, name)], caller.agent, &caller.waiter())?;
    let Some(item) = locks.item(&Lookup::new(collection), name)? else { return Ok(false) };
    let (sidecar, _) = item.sidecar()?;
    if sidecar.state != State::Deleted || !item.has_payload()? {
        return Ok(false);
    }
    if may_be_listed(journal, IntentKind::Restoration, name)? {
        return Err(RemovalError::Unfinished { name: name.clone() });
    }
    record_burial(collection, &sidecar, caller.clock)?;
    bury_payload(&item)?;
    Ok(true)
}
