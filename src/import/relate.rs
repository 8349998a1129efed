//! Relations of the rows of a manifest: set at both ends when all rows have their identifiers.
//!
//! A row may lead to one after it, and two rows to each other, so the identifiers are not known when the items
//! are made. A relation that exists is left alone, so that this can be repeated. Only Originals are
//! changed: a Copy follows its Original, wherever that is, and a tombstone keeps the date of the removal.

use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::candidate::{Candidate, FoundCandidate, Keys};
use super::ledger::{Entry, ItemPresence};
use super::{Became, Event, ImportError, Ledger, Tell};
use crate::agent::{Agent, Caller};
use crate::amend::Amender;
use crate::collection::Writer;
use crate::identity::RepositoryName;
use crate::item::State;
use crate::progress::NoProgress;
use crate::relation::{RelationAction, RelationRequest, plan};
use crate::sidecar::Relation;
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
    let Waiter { clock, interrupt, limit } = waiter;
    let (clock, wait) = (*clock, *limit);
    let caller = Caller { agent, clock, wait, progress: &NoProgress, interrupt };
    let has_relations =
        |it: &Candidate| !it.references.is_empty() || it.relations.iter().next().is_some();
    for candidate in rows.flatten().filter(has_relations) {
        let collection = ledger.collection();
        let Some(name) = named(ledger, &candidate, &mut keys)? else { continue };
        let writer = match &writer {
            Some(writer) => writer,
            None => writer.insert(collection.writer(agent, waiter)?),
        };
        if let Err(error) = relate_one(ledger, &candidate, &name, writer, caller) {
            failed += 1;
            let path = candidate.place.path();
            let (source, row) = (path.display().to_string(), candidate.row);
            let became = Became::Failed(error);
            let event = Event::new(source, Some(path), row, became);
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
    caller: Caller<'_>,
) -> Result<(), ImportError> {
    let collection = ledger.collection();
    let mut unset = Ok(());
    let mut relations: Vec<_> = candidate.relations.iter().collect();
    for (kind, path) in &candidate.references {
        if let Some(other) = target(ledger, path)? {
            relations.push(Relation { kind: kind.clone(), to: other.into() });
        } else {
            let (kind, to) = (kind.to_string(), path.display().to_string());
            unset = Err(ImportError::RelationLost { kind, to });
        }
    }
    let (sidecar, _) = collection.item(name)?.sidecar()?;
    if sidecar.state != State::Original {
        let is_held = |it: &Relation| sidecar.relations.of(&it.kind).any(|held| held == it.to);
        if relations.iter().all(is_held) {
            return unset;
        }
        return Err(ImportError::NotOriginal { name: name.clone(), state: sidecar.state });
    }
    let request = RelationRequest { action: RelationAction::Link, relations, language: None };
    let plan = plan(&[collection], 0, name, &request).map_err(Box::new)?;
    plan.check(&[collection], caller).map_err(Box::new)?;
    let amender = Amender { collection, writer: Some(writer), caller };
    let _ = amender.amend_all(plan.amendments(0), &mut |_, result| match result {
        Ok(_) => ControlFlow::Continue(()),
        Err(error) => {
            unset = Err(Box::new(error).into());
            ControlFlow::Break(())
        }
    });
    unset
}

/// The item that the source at `path` became.
pub(super) fn target(
    ledger: &Ledger<'_>,
    path: &Path,
) -> Result<Option<RepositoryName>, ImportError> {
    // A name stays what it is, wherever its item is.
    let imported = ledger.of_source(path.as_os_str().as_bytes(), &|_| true)?;
    Ok(imported.map(|it| it.entry.name))
}
