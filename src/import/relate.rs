//! Relations between the rows of a manifest: set when all of them have their names.
//!
//! A row may lead to one after it, and two rows to each other, so the names are not known when the items
//! are made. A relation that is there already is left alone, so that this can be repeated. Only Originals
//! are changed: a Copy follows its Original, wherever that is, and a tombstone keeps the date of the
//! removal.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::candidate::{Candidate, FoundCandidate, Keys};
use super::ledger::{Entry, ItemPresence};
use super::{Became, Event, ImportError, Ledger, Tell};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::collection::{CollectionError, Writer, lock_items};
use crate::identity::{RepositoryName, SECOND};
use crate::item::State;
use crate::wait::Waiter;

/// Sets the relations between rows; `rows` are those of the whole manifest. Rows that are refused have
/// been reported before, and are passed over. Returns how many could not be related, each of which is reported.
pub fn relate(
    ledger: &Ledger<'_>,
    rows: impl Iterator<Item = FoundCandidate>,
    (agent, waiter): (&Agent, &Waiter<'_>),
    tell: &mut dyn Tell,
) -> Result<u64, ImportError> {
    let (mut keys, mut writer, mut failed) = (Keys::default(), None, 0);
    for candidate in rows.flatten().filter(|candidate| !candidate.references.is_empty()) {
        let collection = ledger.collection();
        let Some(name) = named(ledger, &candidate, &mut keys)? else { continue };
        let writer = match &writer {
            Some(writer) => writer,
            None => writer.insert(collection.writer(agent, waiter)?),
        };
        let locked = lock_items([(collection, &name)], agent, waiter)?;
        let related = relate_one(ledger, &candidate, &name, writer, waiter.clock);
        drop(locked);
        if let Err(error) = related {
            failed += 1;
            let path = candidate.place.path();
            let (source, row) = (path.display().to_string(), candidate.row);
            let became = Became::Failed(error);
            let event = Event { source, path: Some(path), row, became, left: Vec::new() };
            tell.tell(vec![event])?;
        }
    }
    Ok(failed)
}

/// The item that a row became.
fn named(
    ledger: &Ledger<'_>,
    candidate: &Candidate,
    keys: &mut Keys,
) -> Result<Option<RepositoryName>, ImportError> {
    let Ok(key) = keys.of(&candidate.place) else { return Ok(None) };
    let label = candidate.label.as_ref();
    let is_it = |entry: &Entry| label.is_none_or(|label| label.name == entry.name);
    let imported = ledger.of_source(&key, &is_it)?;
    // What left has taken its relations along; that one vanished has been told.
    let imported = imported.filter(|it| matches!(it.standing, ItemPresence::Here));
    Ok(imported.map(|it| it.entry.name))
}

fn relate_one(
    ledger: &Ledger<'_>,
    candidate: &Candidate,
    name: &RepositoryName,
    writer: &Writer,
    clock: &dyn Clock,
) -> Result<(), ImportError> {
    let item = ledger.collection().item(name)?;
    let read = item.read_sidecar()?;
    let mut sidecar = read.sidecar.clone();
    let mut unset = None;
    let mut is_new = false;
    for (kind, path) in &candidate.references {
        let Some(other) = target(ledger, path)? else {
            let (kind, to) = (kind.to_string(), path.display().to_string());
            unset = Some(ImportError::RelationLost { kind, to });
            continue;
        };
        match sidecar.relations.add(kind, &other.into(), None) {
            Ok(is_added) => is_new |= is_added,
            Err(cause) => {
                unset = Some(ImportError::RelationRefused { name: name.clone(), cause });
            }
        }
    }
    if is_new {
        if read.sidecar.state != State::Original {
            let (name, state) = (name.clone(), read.sidecar.state);
            return Err(ImportError::NotOriginal { name, state });
        }
        sidecar.timestamp = clock.now().floor(SECOND).max(read.sidecar.timestamp);
        let text = sidecar.rewritten(&read.text, &read.sidecar).map_err(|cause| {
            ImportError::from(CollectionError::Sidecar { name: name.clone(), cause })
        })?;
        let _changing = writer.changing(ledger.collection(), vec![name.clone()]);
        writer.replace_sidecar(&item, &text)?;
    }
    unset.map_or(Ok(()), Err)
}

fn target(ledger: &Ledger<'_>, path: &Path) -> Result<Option<RepositoryName>, ImportError> {
    // A name stays what it is, wherever its item is.
    let imported = ledger.of_source(path.as_os_str().as_bytes(), &|_| true)?;
    Ok(imported.map(|it| it.entry.name))
}
