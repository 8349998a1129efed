//! Corrections that change relations, checked together.
//!
//! A relation has two ends, and each may have a row. A row that changes a relation is refused if the row of
//! the other end contradicts it, or if two rows claim the same end. So the order of rows has no effect, and a
//! repeated import changes nothing.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{CorrectionError, NewValues};
use crate::amend::{Amender, Plan};
use crate::digest::Digest;
use crate::identity::RepositoryName;
use crate::relation::{
    Correction, RelateError, RelationAction, RelationEnd, RelationPlan, amendment, plan,
};
use crate::sidecar::RelationKind;

/// The corrections of a document that change relations.
#[derive(Debug, Default)]
pub struct RelatedCorrections {
    corrections: Vec<Correction>,
    /// Fingerprints of the relations in rows: of an item and a kind, and of an item, a kind and the other
    /// end.
    said: HashSet<u128>,
}

/// The outcome of one correction.
pub type CheckedCorrection = Result<CheckedRelations, CorrectionError>;

/// A correction that can be carried out.
#[derive(Debug)]
pub struct CheckedRelations {
    /// The changes of items, the item itself last. An item that several rows change is in the plans of one row.
    pub plans: Vec<Plan>,
    /// The correction in steps: the first steps of all corrections make room for the last ones.
    pub steps: Vec<Correction>,
}

/// The changes of one correction, or why there are none.
type Outcome = Result<RelationPlan, CorrectionError>;

/// Items by their folded names, with the corrections that change them.
type Changed = BTreeMap<String, (RepositoryName, Vec<usize>)>;

impl RelatedCorrections {
    /// Notes all relations that the row of `name` has.
    pub fn note(
        &mut self,
        amender: &Amender<'_>,
        name: &RepositoryName,
        row: &NewValues,
    ) -> Result<(), CorrectionError> {
        for (kind, items) in &row.relations {
            self.said.insert(fingerprint(name, kind, ""));
            for item in items {
                self.said.insert(fingerprint(name, kind, &amender.folded_name(item)?));
            }
        }
        Ok(())
    }

    /// Adds a correction. [`RelatedCorrections::check`] answers in this order.
    pub fn push(&mut self, correction: Correction) {
        self.corrections.push(correction);
    }

    /// Checks all corrections against the rows, each other, and the items. Nothing is changed.
    pub fn check(&self, amender: &Amender<'_>) -> Vec<CheckedCorrection> {
        let planned = |it: &Correction| {
            let plan = plan(&[amender.collection], 0, it)?;
            self.refuse_contradiction(&it.name, &plan)?;
            Ok(plan)
        };
        let mut outcomes: Vec<Outcome> = self.corrections.iter().map(planned).collect();
        // A refused correction makes no room for others.
        let (changed, mut planned) = loop {
            let changed = self.changed(&outcomes);
            let (planned, refused) = self.planned(amender, &changed, &outcomes);
            if refused.is_empty() {
                break (changed, planned);
            }
            for (row, error) in refused {
                outcomes[row] = Err(error);
            }
        };
        let contested = contested(&outcomes);
        let rows = || outcomes.iter().zip(&self.corrections).enumerate();
        let own: HashSet<_> =
            rows().filter(|(_, (it, _))| it.is_ok()).map(|(_, (_, it))| it.name.folded()).collect();
        let mut plans: Vec<Vec<Plan>> = Vec::new();
        for (row, (_, correction)) in rows() {
            let others = changed.iter().filter(|(name, _)| !own.contains(*name));
            let others = others.filter(|(_, (_, rows))| rows.first() == Some(&row));
            let names = others.map(|(name, _)| name.clone()).chain([correction.name.folded()]);
            plans.push(names.filter_map(|name| planned.remove(&name)).collect());
        }
        let checked = outcomes.into_iter().zip(plans).zip(&self.corrections).enumerate();
        let checked = checked.map(|(row, ((outcome, plans), correction))| {
            outcome.map(|_| CheckedRelations {
                plans,
                steps: steps(correction, contested.contains(&row)),
            })
        });
        checked.collect()
    }

    /// Refuses a correction that the row of the other end contradicts.
    fn refuse_contradiction(
        &self,
        own: &RepositoryName,
        plan: &RelationPlan,
    ) -> Result<(), CorrectionError> {
        for (action, end, kind) in plan.links() {
            let is_listed = self.said.contains(&fingerprint(end, kind, &own.folded()));
            let contradicts = match action {
                RelationAction::Link => {
                    self.said.contains(&fingerprint(end, kind, "")) && !is_listed
                }
                RelationAction::Unlink => is_listed,
            };
            if *end != *own && contradicts {
                let (name, kind) = (end.clone(), kind.clone());
                return Err(CorrectionError::Contradicted { name, kind });
            }
        }
        Ok(())
    }

    /// The items that change, each with the corrections that change it.
    fn changed(&self, outcomes: &[Outcome]) -> Changed {
        let mut changed = Changed::new();
        for (row, outcome) in outcomes.iter().enumerate() {
            for RelationEnd { name, .. } in outcome.iter().flat_map(|plan| &plan.ends) {
                let entry = || (name.clone(), Vec::new());
                let (_, rows) = changed.entry(name.folded()).or_insert_with(entry);
                if rows.last() != Some(&row) {
                    rows.push(row);
                }
            }
        }
        changed
    }

    /// The planned sidecars of the items in `changed`, and the corrections that cannot be carried out
    /// together.
    fn planned(
        &self,
        amender: &Amender<'_>,
        changed: &Changed,
        outcomes: &[Outcome],
    ) -> (HashMap<String, Plan>, Vec<(usize, CorrectionError)>) {
        let amender = Amender { writer: None, ..*amender };
        let (mut planned, mut refused) = (HashMap::new(), Vec::new());
        for (folded, (name, rows)) in changed {
            let ends = rows.iter().flat_map(|row| &outcomes[*row]).flat_map(|plan| &plan.ends);
            let ends: Vec<_> = ends.filter(|end| end.name == *name).collect();
            let amend = || amender.amend(amendment(name.clone(), &ends));
            match amend() {
                Ok(plan) => drop(planned.insert(folded.clone(), plan)),
                // Each of them gets the error.
                Err(error) => {
                    let (first, others) = rows.split_first().unwrap_or((&0, &[]));
                    refused.push((*first, error.into()));
                    refused.extend(
                        others.iter().filter_map(|row| Some((*row, amend().err()?.into()))),
                    );
                }
            }
        }
        if refused.is_empty() {
            for (earlier, later) in circles(&amender, &planned) {
                for row in &changed[&earlier.folded()].1 {
                    let (earlier, later) = (earlier.clone(), later.clone());
                    refused.push((*row, RelateError::Circle { earlier, later }.into()));
                }
            }
        }
        (planned, refused)
    }
}

/// The planned items of circles of editions, each with the item that would follow it.
fn circles(
    amender: &Amender<'_>,
    planned: &HashMap<String, Plan>,
) -> Vec<(RepositoryName, RepositoryName)> {
    let next_of = |name: &str, read: &RepositoryName| {
        let relations = match planned.get(name) {
            Some(plan) => plan.sidecar.relations.clone(),
            // An item that cannot be read has no successor.
            None => amender.collection.item(read).ok()?.sidecar().ok()?.0.relations,
        };
        let next = relations.first(&RelationKind::NextEdition)?;
        Some(amender.collection.items_of(&next).ok()?.into_iter().next()?.name().clone())
    };
    let (mut ended, mut found) = (HashSet::new(), Vec::new());
    for plan in planned.values() {
        let (mut path, mut at) = (Vec::new(), plan.name.clone());
        let mut on_path = HashSet::new();
        while !ended.contains(&at.folded()) && on_path.insert(at.folded()) {
            let Some(next) = next_of(&at.folded(), &at) else { break };
            path.push((at, next.clone()));
            at = next;
        }
        let begin = path.iter().position(|(name, _)| *name == at);
        let circle =
            begin.filter(|_| !ended.contains(&at.folded())).map_or(&[][..], |it| &path[it..]);
        found.extend(
            circle.iter().filter(|(name, _)| planned.contains_key(&name.folded())).cloned(),
        );
        ended.extend(on_path);
    }
    found
}

/// The corrections that remove a relation from an item to which another correction gives a relation of that
/// kind.
fn contested(outcomes: &[Outcome]) -> HashSet<usize> {
    let mut places: HashMap<_, (Vec<usize>, Vec<usize>)> = HashMap::new();
    for (row, outcome) in outcomes.iter().enumerate() {
        for (action, end, kind) in outcome.iter().flat_map(RelationPlan::links) {
            let (unlinked, linked) = places.entry((end.folded(), kind)).or_default();
            match action {
                RelationAction::Unlink => unlinked.push(row),
                RelationAction::Link => linked.push(row),
            }
        }
    }
    let places = places.into_values();
    let others = places.flat_map(|(unlinked, linked)| {
        unlinked.into_iter().filter(move |row| linked.iter().any(|other| other != row))
    });
    others.collect()
}

/// The steps of a correction. If it makes room for others, its removals come first.
fn steps(correction: &Correction, makes_room: bool) -> Vec<Correction> {
    let Correction { name, edits, unlink, link } = correction.clone();
    if !makes_room {
        return vec![correction.clone()];
    }
    let first = Correction { name: name.clone(), edits: Vec::new(), unlink, link: Vec::new() };
    let second = Correction { name, edits, unlink: Vec::new(), link };
    vec![first, second]
}

/// The steps of all corrections in the order in which they are carried out.
pub fn in_order(related: &[Vec<Correction>]) -> impl Iterator<Item = &Correction> {
    let first = related.iter().flat_map(|steps| &steps[..steps.len().saturating_sub(1)]);
    first.chain(related.iter().filter_map(|steps| steps.last()))
}

/// Half a digest, which no two relations share.
fn fingerprint(name: &RepositoryName, kind: &RelationKind, to: &str) -> u128 {
    Digest::of(format!("{}\n{kind}\n{to}", name.folded()).as_bytes()).half()
}
