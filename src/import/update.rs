//! Rows of a manifest with existing items, whose descriptions are compared, and corrected on request.
//!
//! A column replaces all values of its term, as in `described`. An empty cell leaves them.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::candidate::{Candidate, FoundCandidate, Keys};
use super::source_lookup::item_of_source;
use super::sources::{Entry, Imported, ItemPresence};
use super::{Became, Event, ImportError, KnownSources, NotUpdated, Tell, Update};
use crate::agent::{Agent, Caller};
use crate::amend::{AmendError, Amender, Plan};
use crate::correction::{
    CheckedRelations, CorrectionError, NewValues, RelatedCorrections, in_order,
};
use crate::holdings::Sight;
use crate::identity::RepositoryName;
use crate::item::State;
use crate::progress::NoProgress;
use crate::relation::Correction;
use crate::wait::Waiter;

/// The number of rows that differ from their items, by outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Updated {
    /// Rows that differ and were only counted.
    pub differing: u64,
    /// Rows whose items were corrected or got relations, also in a dry run.
    pub updated: u64,
    /// Rows of items that are not Originals here.
    pub not_updated: u64,
    /// The paths of rows whose items could not be corrected.
    pub failed: BTreeSet<PathBuf>,
}

/// Rows that are carried out together.
const ROWS: usize = 256;

/// Compares the rows of a manifest with their items, and corrects these as `update` allows.
pub fn update(
    (known, sight): (&KnownSources<'_>, &Sight<'_>),
    rows: impl Iterator<Item = FoundCandidate>,
    update: Update,
    (agent, waiter): (&Agent, &Waiter<'_>),
    tell: &mut dyn Tell,
) -> Result<Updated, ImportError> {
    let collection = known.collection();
    let Waiter { clock, interrupt, limit } = waiter;
    let caller = Caller { agent, clock: *clock, wait: *limit, progress: &NoProgress, interrupt };
    let writer = match update {
        Update::Act => Some(collection.writer(agent, waiter)?),
        Update::Count | Update::Plan => None,
    };
    let amender = Amender { collection, sight, writer: writer.as_ref(), locks: None, caller };
    let related = RelatedCorrections::default();
    let mut run = UpdateRun { known, amender, update, related, done: Updated::default(), tell };
    let (mut keys, mut group, mut relating) = (Keys::default(), Vec::new(), Vec::new());
    for candidate in rows.flatten() {
        if interrupt.requested() {
            break;
        }
        let Some((candidate, correction)) = run.differing(candidate, &mut keys)? else { continue };
        match update {
            // Missing relations are set without `--update`.
            Update::Count if correction.edits.is_empty() && correction.unlink.is_empty() => {}
            Update::Count => run.done.differing += 1,
            _ if correction.has_relations() => {
                relating.push((candidate, correction.name.clone()));
                run.related.push(correction);
            }
            Update::Plan => run.plan(candidate, &correction)?,
            Update::Act => {
                group.push((candidate, correction));
                if group.len() == ROWS {
                    run.describe(std::mem::take(&mut group))?;
                }
            }
        }
    }
    run.describe(group)?;
    if !interrupt.requested() {
        run.relate(relating)?;
    }
    let done = run.done;
    if let Some(writer) = writer {
        writer.finish()?;
    }
    Ok(done)
}

struct UpdateRun<'a, 'l, 't> {
    known: &'a KnownSources<'l>,
    amender: Amender<'a>,
    update: Update,
    /// The rows that change relations. They are checked together, after the last row.
    related: RelatedCorrections,
    done: Updated,
    tell: &'t mut dyn Tell,
}

impl UpdateRun<'_, '_, '_> {
    /// The row with its changes; `None` if it changes nothing, or the item is not an Original here.
    fn differing(
        &mut self,
        candidate: Candidate,
        keys: &mut Keys,
    ) -> Result<Option<(Candidate, Correction)>, ImportError> {
        let Ok(key) = keys.of(&candidate.place) else { return Ok(None) };
        let is_it = |entry: &Entry| candidate.may_be(&entry.name);
        let Some(Imported { entry, standing, .. }) = self.known.of_source(&key, &is_it)? else {
            return Ok(None);
        };
        let count = match &candidate.label {
            None => self.known.items_of_source(&key)?.len(),
            Some(_) => 1,
        };
        let reason = match standing {
            ItemPresence::Here => match self.compare(&candidate, &entry.name) {
                Ok((_, correction)) if correction.is_empty() => return Ok(None),
                // The source was changed and imported again, so the item of the row is ambiguous.
                Ok(_) if count > 1 => {
                    let path = candidate.place.path();
                    NotUpdated::Failed(ImportError::SeveralItems { path, count })
                }
                Ok((State::Original, correction)) => return Ok(Some((candidate, correction))),
                Ok((state, _)) => NotUpdated::State(state),
                Err(error) => NotUpdated::Failed(error),
            },
            // There is no description here to compare with the row.
            ItemPresence::Left(line) => NotUpdated::Left(line),
            // The import has reported it.
            ItemPresence::Vanished(_) | ItemPresence::Deleted => return Ok(None),
        };
        if self.update != Update::Count {
            self.report(candidate, Became::NotUpdated { name: entry.name, reason })?;
        }
        Ok(None)
    }

    fn compare(
        &mut self,
        candidate: &Candidate,
        name: &RepositoryName,
    ) -> Result<(State, Correction), ImportError> {
        let (sidecar, _) = self.known.collection().named_item(name)?.sidecar()?;
        let wanted = self.new_values(candidate)?;
        self.related.note(&self.amender, name, &wanted)?;
        // A giver whose migration is under way is the holder, though nothing says Original: the change is refused by name.
        let is_ceded = sidecar.custody.ceded().is_some();
        let state = if is_ceded { State::Original } else { sidecar.state };
        Ok((state, self.amender.compare(&sidecar, &wanted)?))
    }

    /// The contents of the columns of a row.
    fn new_values(&self, candidate: &Candidate) -> Result<NewValues, ImportError> {
        let Candidate { metadata, conditions, condition_keys, relations, references, .. } =
            candidate;
        let mut new = NewValues::default();
        for key in metadata.keys() {
            // Keys of a description have values.
            let values = metadata.values(&key).unwrap_or_default();
            new.values.push((key, values));
        }
        for key in condition_keys {
            new.values.push(((*key).to_owned(), conditions.values(key)));
        }
        for relation in relations.iter() {
            new.relate(relation.kind, relation.to);
        }
        for (kind, path) in references {
            // A row without an item has been reported.
            if let Some(name) = item_of_source(&|key, fits| self.known.of_source(key, fits), path)?
            {
                new.relate(kind.clone(), name.into());
            }
        }
        Ok(new)
    }

    fn plan(&mut self, candidate: Candidate, correction: &Correction) -> Result<(), ImportError> {
        let plan = self.amender.check(correction).map(Some);
        self.told(candidate, &correction.name, plan)
    }

    /// Checks and carries out the rows that change relations.
    fn relate(&mut self, rows: Vec<(Candidate, RepositoryName)>) -> Result<(), ImportError> {
        let checked = self.related.check(&self.amender);
        let mut steps = Vec::new();
        let mut outcomes: Vec<Result<Option<Plan>, CorrectionError>> = Vec::new();
        for found in checked {
            let found = found.map(|CheckedRelations { mut plans, steps: own }| {
                steps.push(own);
                plans.pop()
            });
            outcomes.push(found);
        }
        if self.update == Update::Act {
            let of_row: HashMap<_, _> =
                rows.iter().enumerate().map(|(row, (_, name))| (name.folded(), row)).collect();
            for correction in in_order(&steps) {
                let mut outcome = Ok(());
                let done = self.amender.relate(correction, &mut |_, result| {
                    if let Err(error) = result {
                        outcome = Err(CorrectionError::from(error));
                    }
                    ControlFlow::Continue(())
                });
                let failed = done.map_or_else(Some, |_| outcome.err());
                if let Some(error) = failed
                    && let Some(row) = of_row.get(&correction.name.folded())
                {
                    outcomes[*row] = Err(error);
                }
            }
        }
        for ((candidate, name), outcome) in rows.into_iter().zip(outcomes) {
            self.told(candidate, &name, outcome)?;
        }
        Ok(())
    }

    fn describe(&mut self, group: Vec<(Candidate, Correction)>) -> Result<(), ImportError> {
        let (candidates, corrections): (Vec<_>, Vec<_>) = group.into_iter().unzip();
        let mut outcomes: Vec<(RepositoryName, Result<Plan, AmendError>)> = Vec::new();
        let _ = self.amender.describe(corrections, &mut |name, result| {
            outcomes.push((name.clone(), result));
            ControlFlow::Continue(())
        });
        for (candidate, (name, result)) in candidates.into_iter().zip(outcomes) {
            self.told(candidate, &name, result.map(Some).map_err(CorrectionError::from))?;
        }
        Ok(())
    }

    fn told(
        &mut self,
        candidate: Candidate,
        name: &RepositoryName,
        outcome: Result<Option<Plan>, CorrectionError>,
    ) -> Result<(), ImportError> {
        let name = name.clone();
        let became = match outcome {
            Ok(plan) => {
                let changes = plan.map(|plan| plan.changes).unwrap_or_default();
                Became::Updated { name, changes }
            }
            Err(error) => Became::NotUpdated { name, reason: NotUpdated::Failed(error.into()) },
        };
        self.report(candidate, became)
    }

    fn report(&mut self, candidate: Candidate, became: Became) -> Result<(), ImportError> {
        match &became {
            Became::NotUpdated { reason: NotUpdated::Failed(_), .. } => {
                self.done.failed.insert(candidate.place.path());
            }
            Became::NotUpdated { .. } => self.done.not_updated += 1,
            _ => self.done.updated += 1,
        }
        self.tell.tell(vec![Event::of(candidate, became)])
    }
}
