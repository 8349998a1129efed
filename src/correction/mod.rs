//! Corrections: many items get the descriptions in the rows of a document.
//!
//! A row has [`NewValues`]: keys and kinds of relation, each with all its values. Other keys stay.
//! [`Amender::compare`] finds the differences from the item, as a [`Correction`]. [`Amender::check`] and,
//! if relations change, [`RelatedCorrections::check`] check every Original that would change, without
//! changing it. [`Amender::describe`] and [`Amender::relate`] carry out corrections through
//! [`amend`](crate::amend), in groups that share their syncs. Relations change at both ends, through
//! [`relation`](crate::relation). [`Changes`] makes the correction that takes the newest change back.

mod error;
mod related;
mod undo;

use std::ops::ControlFlow;

use crate::amend::{AmendError, Amender, Amendment, Description, Edit, Plan, Report, values};
use crate::collection::lock_changes;
use crate::identity::{Identifier, RepositoryName};
use crate::relation::{Correction, plan};
use crate::sidecar::{Relation, RelationKind, Sidecar};

pub use error::CorrectionError;
pub use related::{CheckedCorrection, CheckedRelations, RelatedCorrections, in_order};
pub use undo::{Changes, UndoError};

/// The values that a row gives an item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewValues {
    /// Keys as in an [`Edit`], with all values; a key without values is removed.
    pub values: Vec<(String, Vec<String>)>,
    /// Kinds of relation, with all items.
    pub relations: Vec<(RelationKind, Vec<Identifier>)>,
}

impl NewValues {
    /// Adds an item to those of a kind of relation.
    pub fn relate(&mut self, kind: RelationKind, to: Identifier) {
        match self.relations.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, items)) if items.contains(&to) => {}
            Some((_, items)) => items.push(to),
            None => self.relations.push((kind, vec![to])),
        }
    }
}

impl Amender<'_> {
    /// The differences between `wanted` and the item of `sidecar`.
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
            let held: Vec<_> = held.into_iter().flat_map(|(_, values)| values).collect();
            let edit = edit(key, &held, texts).filter(|edit| {
                let mut changed = description.clone();
                edit.change(&mut changed).is_err() || changed != description
            });
            edits.extend(edit);
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

    /// The identifiers in one list only. Two spellings of one identifier count as one.
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
            list.iter().map(|it| self.folded_name(it)).collect::<Result<Vec<_>, _>>()
        };
        let (held, wanted) = (names(&gone)?, names(&new)?);
        let mut at = held.iter();
        gone.retain(|_| at.next().is_some_and(|name| !wanted.contains(name)));
        let mut at = wanted.iter();
        new.retain(|_| at.next().is_some_and(|name| !held.contains(name)));
        Ok((gone, new))
    }

    /// The folded name of the item that `identifier` means, or its text if the item is not here.
    fn folded_name(&self, identifier: &Identifier) -> Result<String, CorrectionError> {
        if let Identifier::Repository(name) = identifier {
            return Ok(name.folded());
        }
        let item = self.collection.items_of(identifier)?.into_iter().next();
        Ok(item.map_or_else(|| identifier.to_string(), |item| item.name().folded()))
    }

    /// The changes of a correction without relations. Nothing is written.
    pub fn check(&self, correction: &Correction) -> Result<Plan, CorrectionError> {
        let amender = Amender { writer: None, ..*self };
        Ok(amender.amend(described(correction.clone()))?)
    }

    /// Carries out corrections that change no relations.
    pub fn describe(
        &self,
        corrections: impl IntoIterator<Item = Correction>,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        self.amend_all(corrections.into_iter().map(described), report)
    }

    /// Carries out a correction that changes relations. Other ends are reported if they change.
    pub fn relate(
        &self,
        correction: &Correction,
        report: &mut Report<'_>,
    ) -> Result<ControlFlow<()>, CorrectionError> {
        let Amender { collection, writer, caller, .. } = *self;
        let lock = || lock_changes([collection], caller.agent, &caller.waiter());
        let locks = writer.map(|_| lock()).transpose()?;
        let amender = Amender { locks: locks.as_ref(), ..*self };
        let plan = plan(&[self.collection], 0, correction)?;
        // The item itself is the last.
        let mut amendments: Vec<_> = plan.amendments(0).collect();
        let own = amendments.pop();
        let mut done = Vec::new();
        let mut keep = |name: &RepositoryName, result: Result<Plan, AmendError>| {
            done.push((name.clone(), result));
            ControlFlow::Continue(())
        };
        let _ = amender.amend_all(amendments, &mut keep);
        // As long as the item itself does not change, the row is not done, and a repeated run finds it.
        let is_refused = done.iter().any(|(_, result)| result.is_err());
        let is_unchanged = |plan: &Plan| plan.changes.is_empty();
        done.retain(|(_, result)| !result.as_ref().is_ok_and(is_unchanged));
        if !is_refused && let Some(own) = own {
            let name = own.name.clone();
            done.push((name, amender.amend(own)));
        }
        // Nobody waits while the report is read.
        drop(locks);
        Ok(done.into_iter().try_for_each(|(name, result)| report(&name, result)))
    }
}

/// The change of the keys of an item.
fn described<'c>(Correction { name, edits, .. }: Correction) -> Amendment<'c> {
    let change = move |description: &mut Description| {
        edits.iter().try_for_each(|edit| edit.apply(description))
    };
    Amendment { name, change: Box::new(change) }
}

/// The change of a key that has the values `held`, unless those are `texts`.
///
/// A value of a manifest has no surrounding blanks and no defined line ends. Held values may have either, or
/// be blank. So the texts are compared unchanged first, then in the form in which they would be stored. Only
/// a value that differs is checked: values that other programs wrote stay.
fn edit(key: &str, held: &[String], texts: &[String]) -> Option<Edit> {
    let lines = |text: &str| text.replace("\r\n", "\n");
    let stored = |text: &str| lines(text.trim());
    let is_same =
        |held: &str, text: &str| held == text || lines(held) == lines(text) || held == stored(text);
    fn filled(texts: &[String]) -> impl Iterator<Item = &String> {
        texts.iter().filter(|text| !text.trim().is_empty())
    }
    if filled(held).count() == filled(texts).count()
        && filled(held).zip(filled(texts)).all(|(held, text)| is_same(held, text))
    {
        return None;
    }
    // A value that stays keeps its blanks.
    let value = |text: &String| {
        let kept = held.iter().find(|held| is_same(held, text));
        kept.cloned().unwrap_or_else(|| stored(text))
    };
    let values: Vec<_> = filled(texts).map(value).collect();
    Some(if values.is_empty() {
        Edit::Remove(key.to_owned())
    } else {
        Edit::Set(key.to_owned(), values)
    })
}
