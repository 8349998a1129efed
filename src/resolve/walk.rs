//! Applying verbs, one after the other.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashSet};

use super::record::{Destination, DestinationKind, ItemRecord, Items};
use crate::identity::{
    FormatName, Identifier, Instant, Language, LanguagePreferences, RepositoryName, Verb,
};
use crate::sidecar::RelationKind;

/// Why verbs lead nowhere.
#[derive(Debug, thiserror::Error)]
pub enum Unresolved<E> {
    /// The item does not exist.
    #[error("no item `{0}`")]
    NotFound(Identifier),
    /// An item was deleted.
    #[error("`{name}` was deleted on {date}")]
    Deleted {
        /// The item.
        name: RepositoryName,
        /// When.
        date: Instant,
    },
    /// An item names a missing one.
    #[error("the {relation} of `{name}` is `{to}`, which is not here")]
    Elsewhere {
        /// The item.
        name: RepositoryName,
        /// The relation of the other one.
        relation: &'static str,
        /// The other one.
        to: Identifier,
    },
    /// The item has no translation into a language.
    #[error("`{name}` has no translation into `{language}`")]
    NoTranslation {
        /// The item.
        name: RepositoryName,
        /// The language.
        language: Language,
        /// The existing languages.
        languages: Vec<Language>,
    },
    /// The item has no metadata in a format.
    #[error("`{name}` has no metadata in the format `{format}`")]
    NoFormat {
        /// The item.
        name: RepositoryName,
        /// The format.
        format: FormatName,
    },
    /// The editions of an item lead back to an earlier one.
    #[error("the editions of `{name}` lead in a circle")]
    Loop {
        /// The edition that comes a second time.
        name: RepositoryName,
    },
    /// The items cannot be looked up.
    #[error(transparent)]
    Items(E),
}

type Outcome<T, S> = Result<T, Unresolved<<S as Items>::Error>>;

/// Applies `verbs`, in their order, to the item that `start` names. A translation without a language is the
/// one that suits `preferences` best; if none does, the item itself.
pub fn walk<S: Items>(
    items: &S,
    start: &Identifier,
    verbs: &[Verb],
    preferences: &LanguagePreferences,
) -> Outcome<Destination<S::Item>, S> {
    let found = items.item(start).map_err(Unresolved::Items)?;
    let item = found.ok_or_else(|| Unresolved::NotFound(start.clone()))?;
    let mut at = Destination { item: undeleted::<S>(item)?, kind: DestinationKind::Data };
    for verb in verbs {
        at = match (verb, at.kind) {
            (Verb::LastEdition, kind) => Destination { item: last_edition(items, at.item)?, kind },
            (Verb::Metadata(format), _) => metadata(items, at.item, format.as_ref())?,
            (Verb::Translation(Some(language)), DestinationKind::Description { format, item }) => {
                let record = at.item.borrow();
                if !record.language.as_ref().is_some_and(|own| suits(language, own)) {
                    let languages = record.language.iter().cloned().collect();
                    let (name, language) = (record.name.clone(), language.clone());
                    return Err(Unresolved::NoTranslation { name, language, languages });
                }
                Destination { item: at.item, kind: DestinationKind::Description { format, item } }
            }
            // A description is in one language only.
            (Verb::Translation(None), kind @ DestinationKind::Description { .. }) => {
                Destination { item: at.item, kind }
            }
            (Verb::Translation(language), kind) => {
                let item = translation(items, at.item, language.as_ref(), preferences)?;
                Destination { item, kind }
            }
        };
    }
    Ok(at)
}

fn undeleted<S: Items>(item: S::Item) -> Outcome<S::Item, S> {
    let record = item.borrow();
    if !record.state.has_payload() {
        let (name, date) = (record.name.clone(), record.timestamp);
        return Err(Unresolved::Deleted { name, date });
    }
    Ok(item)
}

/// The item that `from` names as its `relation`.
fn related<S: Items>(
    items: &S,
    from: &ItemRecord,
    relation: &'static str,
    to: Identifier,
) -> Outcome<S::Item, S> {
    let found = items.item(&to).map_err(Unresolved::Items)?;
    let name = || from.name.clone();
    undeleted::<S>(found.ok_or_else(|| Unresolved::Elsewhere { name: name(), relation, to })?)
}

fn last_edition<S: Items>(items: &S, mut item: S::Item) -> Outcome<S::Item, S> {
    let mut seen = HashSet::new();
    loop {
        let record = item.borrow();
        let Some(next) = record.relations.first(&RelationKind::NextEdition) else {
            return Ok(item);
        };
        if !seen.insert(record.name.clone()) {
            return Err(Unresolved::Loop { name: record.name.clone() });
        }
        item = related(items, record, "next edition", next)?;
    }
}

/// The languages that an item is here in: `None` for the item itself.
pub(super) fn languages<S: Items>(
    items: &S,
    record: &ItemRecord,
) -> Result<BTreeMap<Language, Option<Identifier>>, S::Error> {
    let mut all = BTreeMap::new();
    all.extend(record.language.clone().map(|language| (language, None)));
    add_translations(&mut all, record);
    // Translations are listed by the item that was written first.
    if let Some(first) = record.relations.first(&RelationKind::TranslationOf)
        && let Some(first) = items.item(&first)?
    {
        let first: &ItemRecord = first.borrow();
        if let Some(language) = &first.language {
            let name = Identifier::Repository(first.name.clone());
            all.entry(language.clone()).or_insert(Some(name));
        }
        add_translations(&mut all, first);
    }
    Ok(all)
}

fn add_translations(all: &mut BTreeMap<Language, Option<Identifier>>, record: &ItemRecord) {
    for relation in record.relations.iter() {
        if let RelationKind::Translation(language) = relation.kind {
            all.entry(language).or_insert(Some(relation.to));
        }
    }
}

fn translation<S: Items>(
    items: &S,
    item: S::Item,
    wanted: Option<&Language>,
    preferences: &LanguagePreferences,
) -> Outcome<S::Item, S> {
    let record = item.borrow();
    let mut all = languages(items, record).map_err(Unresolved::Items)?;
    loop {
        let tags: Vec<Language> = all.keys().cloned().collect();
        let chosen = match wanted {
            Some(wanted) => {
                let equal = tags.iter().find(|tag| *tag == wanted);
                equal.or_else(|| tags.iter().find(|tag| suits(wanted, tag)))
            }
            None => preferences.lookup(&tags),
        };
        let Some(chosen) = chosen else {
            let Some(language) = wanted.cloned() else { return Ok(item) };
            let name = record.name.clone();
            return Err(Unresolved::NoTranslation { name, language, languages: tags });
        };
        let found = match all.remove(chosen).flatten() {
            Some(to) if to != Identifier::Repository(record.name.clone()) => {
                related(items, record, "translation", to)
            }
            _ => return Ok(item),
        };
        match found {
            // If no language is requested, the next best one is used.
            Err(Unresolved::Elsewhere { .. } | Unresolved::Deleted { .. }) if wanted.is_none() => {}
            found => return found,
        }
    }
}

/// Whether `tag` is in the language that is `wanted`, in any country if none is.
fn suits(wanted: &Language, tag: &Language) -> bool {
    wanted == tag || (wanted.country().is_none() && wanted.language() == tag.language())
}

fn metadata<S: Items>(
    items: &S,
    item: S::Item,
    format: Option<&FormatName>,
) -> Outcome<Destination<S::Item>, S> {
    let record = item.borrow();
    let named = record.relations.first(&RelationKind::Metadata);
    if let Some(metadata) = &named {
        let found = items.item(metadata).map_err(Unresolved::Items)?;
        let is_served = |metadata: &S::Item| {
            let metadata = metadata.borrow();
            metadata.state.has_payload() && items.serves(metadata, format)
        };
        if let Some(metadata) = found.filter(is_served) {
            let kind = DestinationKind::MetadataItem(format.cloned());
            return Ok(Destination { item: metadata, kind });
        }
    }
    if let Some(format) = format.filter(|format| !items.renders(format)) {
        let (name, format) = (record.name.clone(), format.clone());
        return Err(Unresolved::NoFormat { name, format });
    }
    let kind = DestinationKind::Description { format: format.cloned(), item: named };
    Ok(Destination { item, kind })
}
