//! Relations of the rows of a manifest: set at both ends when all rows have their identifiers.
//!
//! A row may refer to a later one, and two rows to each other, so the identifiers are not known when the
//! items are made. Existing relations stay, so that this can be repeated. Only Originals are changed: a Copy
//! follows its Original, and a tombstone keeps the date of the deletion.

use std::ops::ControlFlow;

use super::candidate::{Candidate, FoundCandidate, Keys};
use super::source_lookup::item_of_source;
use super::sources::ItemPresence;
use super::{Became, Event, ImportError, KnownSources, Tell, Update};
use crate::agent::{Agent, Caller};
use crate::amend::{Amender, Plan};
use crate::holdings::Sight;
use crate::identity::RepositoryName;
use crate::item::State;
use crate::progress::NoProgress;
use crate::relation::{Correction, LeftReason, plan};
use crate::sidecar::Relation;
use crate::wait::Waiter;

/// The outcomes for the relations of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Related {
    /// Rows that could not be related.
    pub failed: u64,
    /// Rows of existing items without the relation.
    pub completed: u64,
}

/// Sets the relations between rows, if `update` allows it; `rows` are those of the whole manifest. Refused
/// rows have been reported before, and are skipped. Reports each counted row.
pub fn relate(
    (known, sight): (&KnownSources<'_>, &Sight<'_>),
    rows: impl Iterator<Item = FoundCandidate>,
    update: Update,
    (agent, waiter): (&Agent, &Waiter<'_>),
    tell: &mut dyn Tell,
) -> Result<Related, ImportError> {
    let (mut keys, mut writer, mut done) = (Keys::default(), None, Related::default());
    let Waiter { clock, interrupt, limit } = waiter;
    let (clock, wait) = (*clock, *limit);
    let caller = Caller { agent, clock, wait, progress: &NoProgress, interrupt };
    let has_relations =
        |it: &Candidate| !it.references.is_empty() || it.relations.iter().next().is_some();
    for candidate in rows.flatten().filter(has_relations) {
        let collection = known.collection();
        let Some((name, is_new)) = named(known, &candidate, &mut keys)? else { continue };
        if update == Update::Act && writer.is_none() {
            writer = Some(collection.writer(agent, waiter)?);
        }
        let amender = Amender { collection, sight, writer: writer.as_ref(), locks: None, caller };
        let became = match relate_one(known, &candidate, &name, amender) {
            Err(error) => {
                done.failed += 1;
                Became::Failed(error)
            }
            Ok(Some(Plan { name, changes, .. })) if !is_new => {
                done.completed += 1;
                Became::Updated { name, changes }
            }
            Ok(_) => continue,
        };
        tell.tell(vec![Event::of(candidate, became)])?;
    }
    Ok(done)
}

/// The item of a row, and whether this run made it.
fn named(
    known: &KnownSources<'_>,
    candidate: &Candidate,
    keys: &mut Keys,
) -> Result<Option<(RepositoryName, bool)>, ImportError> {
    let Ok(key) = keys.of(&candidate.place) else { return Ok(None) };
    let imported = known.of_source(&key, &|entry| candidate.may_be(&entry.name))?;
    // An item that left keeps its relations; a vanished one has been reported.
    let imported = imported.filter(|it| matches!(it.standing, ItemPresence::Here));
    Ok(imported.map(|it| (it.entry.name, it.is_new)))
}

/// Sets the relations of a row, at both ends. Returns the last change, that of the item itself if it changes.
fn relate_one(
    known: &KnownSources<'_>,
    candidate: &Candidate,
    name: &RepositoryName,
    amender: Amender<'_>,
) -> Result<Option<Plan>, ImportError> {
    let Amender { collection, writer, caller, .. } = amender;
    let (mut unset, mut changed) = (Ok(()), None);
    let mut relations: Vec<_> = candidate.relations.iter().collect();
    for (kind, path) in &candidate.references {
        if let Some(other) = item_of_source(&|key, fits| known.of_source(key, fits), path)? {
            relations.push(Relation { kind: kind.clone(), to: other.into() });
        } else if writer.is_some() {
            // In a dry run, that row may be one that would become an item.
            let (kind, to) = (kind.to_string(), path.display().to_string());
            unset = Err(ImportError::RelationLost { kind, to });
        }
    }
    let (sidecar, _) = collection.item(name)?.sidecar()?;
    if sidecar.state != State::Original {
        let is_held = |it: &Relation| sidecar.relations.of(&it.kind).any(|held| held == it.to);
        if relations.iter().all(is_held) {
            return unset.map(|()| None);
        }
        return Err(ImportError::NotOriginal { name: name.clone(), state: sidecar.state });
    }
    let correction =
        Correction { name: name.clone(), edits: Vec::new(), unlink: Vec::new(), link: relations };
    let plan = plan(&[collection], 0, &correction).map_err(Box::new)?;
    if let Some(end) = plan.left.iter().find(|end| end.reason == LeftReason::NoLanguage) {
        return Err(ImportError::NoLanguage { name: name.clone(), to: end.item.clone() });
    }
    plan.check(&[collection], caller).map_err(Box::new)?;
    let _ = amender.amend_all(plan.amendments(0), &mut |_, result| match result {
        Ok(plan) => {
            changed = Some(plan).filter(|plan| !plan.changes.is_empty()).or(changed.take());
            ControlFlow::Continue(())
        }
        Err(error) => {
            unset = Err(Box::new(error).into());
            ControlFlow::Break(())
        }
    });
    unset.map(|()| changed)
}
