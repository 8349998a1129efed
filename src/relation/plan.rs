//! The plan of changes at both ends.

use std::borrow::Borrow;
use std::collections::HashSet;

use super::{
    Correction, LeftEnd, LeftReason, Link, Misnamed, RelateError, RelationAction, RelationEnd,
    RelationPlan,
};
use crate::amend::Description;
use crate::collection::{Collection, CollectionError};
use crate::holdings::holdings;
use crate::identity::{Identifier, Language, RepositoryName};
use crate::item::State;
use crate::sidecar::{Relation, RelationKind, Sidecar};

/// Placeholder for an item that has no identifier yet: no host has this name.
const NOBODY: &str = "invalid/new/1995/08.01.00.00";

/// The other end of a relation, as far as it is known.
enum Other {
    /// The Original, in this collection.
    Original(usize, Box<Sidecar>),
    /// The item, but no Original that can be changed.
    Held(Box<Sidecar>, LeftReason),
    /// Nothing.
    Unknown,
}

/// Plans the changes of `correction` to its item, which is in the collection `home`, and the changes of the other ends of its
/// relations.
///
/// Whether the item itself is an Original or a Copy is checked when it changes.
pub fn plan<C: Borrow<Collection>>(
    collections: &[C],
    home: usize,
    correction: &Correction,
) -> Result<RelationPlan, RelateError> {
    let collections: &[_] = &borrowed(collections);
    let Correction { name: from, edits, .. } = correction;
    let (mut own, _) = collections[home].named_item(from)?.sidecar()?;
    let mut edited = Description::of(&own);
    // A refused edit is an error of the change.
    if edits.iter().try_for_each(|edit| edit.change(&mut edited)).is_ok() {
        own.metadata = edited.metadata;
    }
    let language = own.metadata.language();
    let mut own_end = RelationEnd {
        collection: home,
        name: from.clone(),
        edits: edits.clone(),
        links: Vec::new(),
    };
    let mut plan = RelationPlan::default();
    for relation in &correction.unlink {
        let other = look_up(collections, &relation.to)?;
        own_end.links.push(Link::of(RelationAction::Unlink, relation, other.sidecar()));
        if !other.sidecar().is_some_and(|other| keeps_another(&own, relation, correction, other)) {
            for back in backs_to_remove(relation, &own, &other) {
                plan.add_other(&other, relation, (RelationAction::Unlink, back), &own);
            }
        }
    }
    refuse_contradiction(collections, &own, correction)?;
    for relation in &correction.link {
        let Relation { kind, .. } = relation;
        let other = look_up(collections, &relation.to)?;
        let sidecar = other.sidecar();
        if !is_translated(&own, relation, sidecar) {
            refuse_own_language(from, language.as_ref(), kind, sidecar)?;
        }
        if let Some(sidecar) = sidecar {
            if sidecar.repository == *from {
                return Err(RelateError::Itself(from.clone()));
            }
            refuse_circle(collections, &own, kind, sidecar)?;
        }
        plan.misnamed.extend(misnamed(&own, language.as_ref(), kind, sidecar));
        if let (RelationKind::TranslationOf, Some(language)) = (kind, &language) {
            // The text was a translation into another language before that was corrected.
            let is_other = |it: &RelationKind| matches!(it, RelationKind::Translation(into) if into.excludes(language));
            for into in translations_to(&own, sidecar).into_iter().filter(is_other) {
                let back = (RelationAction::Unlink, Back::Kind(into));
                plan.add_other(&other, relation, back, &own);
            }
        }
        own_end.links.push(Link::of(RelationAction::Link, relation, sidecar));
        let back = (RelationAction::Link, back(kind, language.as_ref()));
        plan.add_other(&other, relation, back, &own);
    }
    plan.ends.push(own_end);
    Ok(plan)
}

/// The changes of other items for an item in `language` with `relations` that does not exist yet, so that they can be checked
/// beforehand.
pub fn plan_for_new(
    collections: &[Collection],
    relations: &[Relation],
    language: Option<&Language>,
) -> Result<RelationPlan, RelateError> {
    let collections: &[_] = &borrowed(collections);
    let mut plan = RelationPlan::default();
    let Ok(nobody) = NOBODY.parse::<RepositoryName>() else { return Ok(plan) };
    for Relation { kind, to } in relations {
        let other = look_up(collections, to)?;
        refuse_own_language(&nobody, language, kind, other.sidecar())?;
        let (Other::Original(collection, sidecar), Some(kind)) = (other, kind.inverse(language))
        else {
            continue;
        };
        let relation = Relation { kind, to: nobody.clone().into() };
        let links = vec![Link::of(RelationAction::Link, &relation, None)];
        let name = sidecar.repository;
        plan.ends.push(RelationEnd { collection, name, edits: Vec::new(), links });
    }
    Ok(plan)
}

impl Other {
    fn sidecar(&self) -> Option<&Sidecar> {
        match self {
            Other::Original(_, sidecar) | Other::Held(sidecar, _) => Some(sidecar),
            Other::Unknown => None,
        }
    }
}

/// The translation of the relation, if its description gives another language.
fn misnamed(
    own: &Sidecar,
    language: Option<&Language>,
    kind: &RelationKind,
    other: Option<&Sidecar>,
) -> Option<Misnamed> {
    let (translation, said) = match kind {
        RelationKind::Translation(into) => (other?, into),
        RelationKind::TranslationOf => (own, language?),
        _ => return None,
    };
    let is = translation.metadata.language().filter(|is| is.excludes(said))?;
    Some(Misnamed { item: translation.repository.clone(), said: said.clone(), is })
}

impl RelationPlan {
    /// Adds the other end of `relation`, an item of the sidecar `own`.
    fn add_other(
        &mut self,
        other: &Other,
        relation: &Relation,
        (action, back): (RelationAction, Back),
        own: &Sidecar,
    ) {
        let (kind, reason) = match (back, other) {
            (Back::Nothing, _) => return,
            (Back::Kind(kind), Other::Original(collection, sidecar)) => {
                let (collection, name) = (*collection, &sidecar.repository);
                let back = Relation { kind, to: own.repository.clone().into() };
                let link = Link::of(action, &back, Some(own));
                if let Some(end) = self.ends.iter_mut().find(|end| end.name == *name) {
                    end.links.push(link);
                } else {
                    let (name, links) = (name.clone(), vec![link]);
                    self.ends.push(RelationEnd { collection, name, edits: Vec::new(), links });
                }
                return;
            }
            (Back::NoLanguage, Other::Original(..)) => (None, LeftReason::NoLanguage),
            (back, Other::Held(_, reason)) => (back.kind(), *reason),
            (back, Other::Unknown) => (back.kind(), LeftReason::Elsewhere),
        };
        self.left.push(LeftEnd { item: relation.to.clone(), kind, action, reason });
    }
}

/// Whether a correction that removes a translation leaves another one to the same item, which still has to lead back:
/// one text may be the translation into `pt` and into `pt-BR`.
fn keeps_another(
    own: &Sidecar,
    relation: &Relation,
    correction: &Correction,
    other: &Sidecar,
) -> bool {
    let names = other.identifiers();
    let is_translation = |it: &Relation| matches!(it.kind, RelationKind::Translation(_));
    let is_removed = |it: &Relation| correction.unlink.iter().any(|gone| gone.kind == it.kind);
    let mut to_other = own.relations.iter().filter(|it| names.contains(&it.to));
    is_translation(relation) && to_other.any(|it| is_translation(&it) && !is_removed(&it))
}

/// The state of the other end of a relation.
enum Back {
    Kind(RelationKind),
    /// Nothing is stored there.
    Nothing,
    /// A translation into a language that is not known.
    NoLanguage,
}

impl Back {
    fn kind(self) -> Option<RelationKind> {
        match self {
            Back::Kind(kind) => Some(kind),
            Back::Nothing | Back::NoLanguage => None,
        }
    }
}

/// The relation that leads back to an item in `language`.
fn back(kind: &RelationKind, language: Option<&Language>) -> Back {
    match kind.inverse(language) {
        Some(kind) => Back::Kind(kind),
        None if *kind == RelationKind::TranslationOf => Back::NoLanguage,
        None => Back::Nothing,
    }
}

/// The same for a relation that is removed: a translation keeps the languages under which it is stored.
fn backs_to_remove(relation: &Relation, own: &Sidecar, other: &Other) -> Vec<Back> {
    match (&relation.kind, other.sidecar()) {
        (RelationKind::TranslationOf, Some(other)) => {
            translations_to(own, Some(other)).into_iter().map(Back::Kind).collect()
        }
        (kind, _) => vec![back(kind, None)],
    }
}

/// The translations of `other` that lead to the item of `own`.
fn translations_to(own: &Sidecar, other: Option<&Sidecar>) -> Vec<RelationKind> {
    let names = own.identifiers();
    let relations = other.into_iter().flat_map(|other| other.relations.iter());
    let leads_here =
        |it: &Relation| matches!(it.kind, RelationKind::Translation(_)) && names.contains(&it.to);
    relations.filter(leads_here).map(|it| it.kind).collect()
}

/// Refuses two relations of one correction that contradict each other, such as an item that both follows another and is followed
/// by it.
fn refuse_contradiction(
    collections: &[&Collection],
    own: &Sidecar,
    correction: &Correction,
) -> Result<(), RelateError> {
    let key = |kind: &RelationKind| match kind {
        RelationKind::PreviousEdition => RelationKind::NextEdition.key(),
        RelationKind::TranslationOf => "translation",
        RelationKind::MetadataOf => RelationKind::Metadata.key(),
        kind => kind.key(),
    };
    for (at, relation) in correction.link.iter().enumerate() {
        let is_inverse = |it: &&Relation| {
            key(&it.kind) == key(&relation.kind) && it.kind.key() != relation.kind.key()
        };
        for other in correction.link[..at].iter().filter(is_inverse) {
            let names = [&relation.to, &other.to].map(|it| name_of(collections, it));
            let [a, b] = names;
            if relation.to == other.to || a?.is_some_and(|a| b.is_ok_and(|b| b == Some(a))) {
                return Err(RelateError::Both {
                    name: own.repository.clone(),
                    other: relation.to.clone(),
                    kinds: Box::new([other.kind.clone(), relation.kind.clone()]),
                });
            }
        }
    }
    Ok(())
}

impl Link {
    /// The relation to the item of `sidecar`, or to one that is not at hand.
    fn of(action: RelationAction, relation: &Relation, sidecar: Option<&Sidecar>) -> Link {
        let Relation { kind, to } = relation.clone();
        match sidecar {
            Some(sidecar) => {
                let alias = sidecar.ibip.clone().map(Identifier::Ibip);
                Link { action, kind, to: sidecar.repository.clone().into(), alias }
            }
            None => Link { action, kind, to, alias: None },
        }
    }
}

fn borrowed<C: Borrow<Collection>>(collections: &[C]) -> Vec<&Collection> {
    collections.iter().map(Borrow::borrow).collect()
}

fn look_up(collections: &[&Collection], identifier: &Identifier) -> Result<Other, RelateError> {
    let Some(name) = name_of(collections, identifier)? else { return Ok(Other::Unknown) };
    let held = holdings(&name, collections);
    let originals: Vec<_> = held.originals().into_iter().collect();
    match originals[..] {
        [] => {}
        [at] => {
            let (sidecar, _) = collections[at].item(&name)?.sidecar()?;
            return Ok(Other::Original(at, Box::new(sidecar)));
        }
        _ => return Err(RelateError::TwoOriginals(identifier.clone())),
    }
    let mut read = Vec::new();
    for holding in &held.all {
        let item = collections[holding.collection].item(&name)?;
        // One that cannot be read may be the Original.
        read.extend(item.sidecar_if_sound().map_err(CollectionError::from)?);
    }
    Ok(read.into_iter().next().map_or(Other::Unknown, |sidecar| {
        let is_deleted = sidecar.state == State::Deleted;
        let reason = if is_deleted { LeftReason::Deleted } else { LeftReason::CopyOnly };
        Other::Held(Box::new(sidecar), reason)
    }))
}

/// The name of an item that one of the collections has.
fn name_of(
    collections: &[&Collection],
    identifier: &Identifier,
) -> Result<Option<RepositoryName>, CollectionError> {
    for collection in collections {
        if let Some(item) = collection.items_of(identifier)?.into_iter().next() {
            return Ok(Some(item.name().clone()));
        }
    }
    Ok(None)
}

/// Refuses a relation that the other item has to this one, such as each being the translation of the other.
fn refuse_mutual(own: &Sidecar, kind: &RelationKind, other: &Sidecar) -> Result<(), RelateError> {
    let names = own.identifiers();
    let is_mutual = |back: Relation| kind.contradicts(&back.kind) && names.contains(&back.to);
    if !other.relations.iter().any(is_mutual) {
        return Ok(());
    }
    let (name, other) = (own.repository.clone(), other.repository.clone());
    Err(RelateError::Mutual { name, other, kind: kind.clone() })
}

/// Whether a translation already exists, by its other end, if that is at hand.
fn is_translated(own: &Sidecar, Relation { kind, to }: &Relation, other: Option<&Sidecar>) -> bool {
    let Some(other) = other else { return own.relations.of(kind).any(|held| held == *to) };
    let names = own.identifiers();
    let is_translation = |it: &RelationKind| {
        matches!(it, RelationKind::Translation(_) | RelationKind::TranslationOf)
    };
    other.relations.iter().any(|back| is_translation(&back.kind) && names.contains(&back.to))
}

/// Refuses a translation of an item into its own language.
fn refuse_own_language(
    own: &RepositoryName,
    language: Option<&Language>,
    kind: &RelationKind,
    other: Option<&Sidecar>,
) -> Result<(), RelateError> {
    let (original, into) = match (kind, other) {
        (RelationKind::Translation(into), _) => (own, Some(into.clone())),
        (RelationKind::TranslationOf, Some(other)) => {
            (&other.repository, other.metadata.language())
        }
        _ => return Ok(()),
    };
    match into.filter(|into| language == Some(into)) {
        Some(language) => Err(RelateError::OwnLanguage { original: original.clone(), language }),
        None => Ok(()),
    }
}

/// Refuses a next edition that leads back to the item, along the editions that are at hand.
fn refuse_circle(
    collections: &[&Collection],
    own: &Sidecar,
    kind: &RelationKind,
    other: &Sidecar,
) -> Result<(), RelateError> {
    let (earlier, later) = match kind {
        RelationKind::NextEdition => (own, other),
        RelationKind::PreviousEdition => (other, own),
        kind => return refuse_mutual(own, kind, other),
    };
    let mut seen = HashSet::new();
    let mut at = later.relations.first(&RelationKind::NextEdition);
    while let Some(next) = at {
        let Some(name) = name_of(collections, &next)? else { return Ok(()) };
        if name == earlier.repository {
            let (earlier, later) = (earlier.repository.clone(), later.repository.clone());
            return Err(RelateError::Circle { earlier, later });
        }
        if !seen.insert(name.folded()) {
            return Ok(());
        }
        at = match look_up(collections, &Identifier::Repository(name))? {
            Other::Original(_, sidecar) | Other::Held(sidecar, _) => {
                sidecar.relations.first(&RelationKind::NextEdition)
            }
            Other::Unknown => None,
        };
    }
    Ok(())
}
