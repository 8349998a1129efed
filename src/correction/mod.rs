//! Corrections: the descriptions of many items become what the rows of a document say.
//!
//! A row has [`NewValues`]: keys and kinds of relation, each with all its values. What it says nothing of stays.
//! [`Corrector::compare`] finds what differs from the item, which is a [`Correction`]; [`Corrector::check`] asks every
//! Original that it changes, and changes nothing. [`Corrector::describe`] and [`Corrector::relate`] carry out
//! corrections through [`amend`](crate::amend), in groups that share their syncs. Relations change at both ends, as
//! [`relation`](crate::relation) says.

mod error;

use std::collections::HashSet;
use std::ops::ControlFlow;

use crate::amend::{AmendError, Amender, Amendment, Description, Edit, Plan, Report, values};
use crate::identity::{Identifier, RepositoryName};
use crate::relation::{RelationAction, RelationPlan, RelationRequest, plan};
use crate::sidecar::{Relation, RelationKind, Sidecar};

pub use error::CorrectionError;

/// What a row says of an item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewValues {
    /// Keys as an [`Edit`] has them, with all values; a key without values is removed.
    pub values: Vec<(String, Vec<String>)>,
    /// Kinds of relation, with all items.
    pub relations: Vec<(RelationKind, Vec<Identifier>)>,
}

impl NewValues {
    /// Adds an item to those of a kind of relation.
    pub fn relate(&mut self, kind: RelationKind, to: Identifier) {
        match self.relations.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, items)) => items.push(to),
            None => self.relations.push((kind, vec![to])),
        }
    }
}

/// What differs between a row and its item.
#[derive(Clone, Debug, PartialEq)]
pub struct Correction {
    /// The item.
    pub name: RepositoryName,
    /// Changes of its keys.
    pub edits: Vec<Edit>,
    /// Relations that it loses.
    pub unlink: Vec<Relation>,
    /// Relations that it gets.
    pub link: Vec<Relation>,
}

impl Correction {
    /// Whether the item is as its row says.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && !self.has_relations()
    }

    /// Whether relations change, and with them other items.
    pub fn has_relations(&self) -> bool {
        !self.unlink.is_empty() || !self.link.is_empty()
    }
}

/// Corrects descriptions of items of one collection.
pub struct Corrector<'a> {
    /// Changes single items; without the right to write nothing is changed.
    pub amender: Amender<'a>,
}

impl Corrector<'_> {
    /// What differs between `wanted` and the item of `sidecar`.
    pub fn compare(
        &self,
        sidecar: &Sidecar,
        wanted: &NewValues,
    ) -> Result<Correction, CorrectionError> {
        let name = sidecar.repository.clone();
        let description = Description::of(sidecar);
        let mut edits = Vec::new();
        for (key, texts) in &wanted.values {
            let refused = |cause| AmendError::Edit { name: name.clone(), cause };
            let held = values(&description, std::slice::from_ref(key)).map_err(refused)?;
            let held = held.into_iter().flat_map(|(_, values)| values);
            // A manifest does not say blanks around a value, or how its lines end.
            let plain = |text: &str| text.trim().replace("\r\n", "\n");
            if held.map(|text| plain(&text)).eq(texts.iter().map(|text| plain(text))) {
                continue;
            }
            edits.push(match texts.as_slice() {
                [] => Edit::Remove(key.clone()),
                texts => Edit::Set(key.clone(), texts.to_vec()),
            });
        }
        let (mut unlink, mut link) = (Vec::new(), Vec::new());
        for (kind, wanted) in &wanted.relations {
            let held: Vec<_> = sidecar.relations.of(kind).collect();
            let (gone, new) = self.differing(&held, wanted)?;
            let relation = |to| Relation { kind: kind.clone(), to };
            unlink.extend(gone.into_iter().map(relation));
            link.extend(new.into_iter().map(relation));
        }
        Ok(Correction { name, edits, unlink, link })
    }

    /// The identifiers that are in one list only. Two spellings of the identifier of an item are one.
    fn differing(
        &self,
        held: &[Identifier],
        wanted: &[Identifier],
    ) -> Result<(Vec<Identifier>, Vec<Identifier>), CorrectionError> {
        let without = |list: &[Identifier], other: &[Identifier]| -> Vec<Identifier> {
            list.iter().filter(|it| !other.contains(it)).cloned().collect()
        };
        let (mut gone, mut new) = (without(held, wanted), without(wanted, held));
        if gone.is_empty() || new.is_empty() {
            return Ok((gone, new));
        }
        let names = |list: &[Identifier]| {
            let name = |it: &Identifier| -> Result<_, CorrectionError> {
                let item = self.amender.collection.items_of(it)?.into_iter().next();
                Ok(item.map_or_else(|| it.to_string(), |item| item.name().folded()))
            };
            list.iter().map(name).collect::<Result<Vec<_>, _>>()
        };
        let (held, wanted) = (names(&gone)?, names(&new)?);
        let mut at = held.iter();
        gone.retain(|_| at.next().is_some_and(|name| !wanted.contains(name)));
        let mut at = wanted.iter();
        new.retain(|_| at.next().is_some_and(|name| !held.contains(name)));
        Ok((gone, new))
    }

    /// What `correction` changes, in each item: the item itself comes last. Nothing is changed.
    pub fn check(&self, correction: &Correction) -> Result<Vec<Plan>, CorrectionError> {
        let Amender { collection, caller, .. } = self.amender;
        let amender = Amender { collection, writer: None, caller };
        let plans = self.relation_plans(correction)?;
        let amendments = amendments(correction, &plans).into_iter();
        Ok(amendments.map(|it| amender.amend(it)).collect::<Result<_, _>>()?)
    }

    /// Carries out corrections that change no relations.
    pub fn describe(
        &self,
        corrections: impl IntoIterator<Item = Correction>,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        let amendments = corrections.into_iter().map(|Correction { name, edits, .. }| Amendment {
            name,
            change: Box::new(move |description: &mut Description| {
                edits.iter().try_for_each(|edit| edit.apply(description))
            }),
        });
        self.amender.amend_all(amendments, report)
    }

    /// Carries out a correction that changes relations. Of the other ends, those are reported that change.
    pub fn relate(
        &self,
        correction: &Correction,
        report: &mut Report<'_>,
    ) -> Result<ControlFlow<()>, CorrectionError> {
        let plans = self.relation_plans(correction)?;
        let mut amendments = amendments(correction, &plans);
        let own = amendments.pop();
        let mut is_refused = false;
        let flow = self.amender.amend_all(amendments, &mut |name, result| {
            is_refused |= result.is_err();
            match result {
                Ok(plan) if plan.changes.is_empty() => ControlFlow::Continue(()),
                result => report(name, result),
            }
        });
        // As long as the item itself does not change, the row is not done, and a repeated run finds it.
        if is_refused || flow.is_break() {
            return Ok(flow);
        }
        Ok(self.amender.amend_all(own, report))
    }

    /// What happens to relations: those that go, then those that come.
    fn relation_plans(
        &self,
        correction: &Correction,
    ) -> Result<Vec<RelationPlan>, CorrectionError> {
        let Correction { name, unlink, link, .. } = correction;
        let steps = [(RelationAction::Unlink, unlink), (RelationAction::Link, link)];
        let steps = steps.into_iter().filter(|(_, relations)| !relations.is_empty());
        let plan = |(action, relations): (_, &Vec<Relation>)| {
            let request = RelationRequest { action, relations: relations.clone(), language: None };
            Ok(plan(&[self.amender.collection], 0, name, &request)?)
        };
        steps.map(plan).collect()
    }
}

/// The changes of a correction: one for each item, the item itself last.
fn amendments<'c>(correction: &'c Correction, plans: &'c [RelationPlan]) -> Vec<Amendment<'c>> {
    let mut seen = HashSet::from([correction.name.folded()]);
    let ends = plans.iter().flat_map(|plan| &plan.ends).map(|end| end.name.clone());
    let mut names: Vec<_> = ends.filter(|name| seen.insert(name.folded())).collect();
    names.push(correction.name.clone());
    let amendment = |name: RepositoryName| {
        let parts = plans.iter().flat_map(|plan| plan.amendments(0));
        let parts: Vec<_> = parts.filter(|part| part.name == name).collect();
        let edits = if name == correction.name { &correction.edits[..] } else { &[] };
        let change = Box::new(move |description: &mut Description| {
            edits.iter().try_for_each(|edit| edit.apply(description))?;
            parts.iter().try_for_each(|part| (part.change)(description))
        });
        Amendment { name, change }
    };
    names.into_iter().map(amendment).collect()
}
