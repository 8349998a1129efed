//! Relations between items, which are made and removed at both ends if both Originals are at hand.
//!
//! [`plan()`] decides which Originals change, and which ends have to wait; it only reads sidecars.
//! [`RelationPlan::check`] checks the change of each Original before any is changed. [`amend`](crate::amend)
//! carries out the [`RelationPlan::amendments`], one collection after the other.
//!
//! A plan depends on items that it does not change, such as later editions. So the process that carries it out holds
//! the change locks of the collections at hand, from before the plan.
//!
//! Each end is one durable replacement of a sidecar. A run that is killed between
//! two ends leaves a relation that one side has: `verify` reports it, and a repetition of the run completes
//! it.

mod error;
mod plan;

use std::borrow::Borrow;

use crate::amend::{AmendError, Amender, Amendment, Description, Edit};
use crate::collection::Collection;
use crate::holdings::Sight;
use crate::identity::{Identifier, Language, RepositoryName};
use crate::sidecar::{Relation, RelationError, RelationKind};

pub use error::RelateError;
pub use plan::{plan, plan_for_new};

/// A change of the description of one item, and of its relations to others.
#[derive(Clone, Debug, PartialEq)]
pub struct Correction {
    /// The item.
    pub name: RepositoryName,
    /// Changes of its keys. A language among them is that of a new translation.
    pub edits: Vec<Edit>,
    /// Relations that it loses.
    pub unlink: Vec<Relation>,
    /// Relations that it gets; those that exist stay.
    pub link: Vec<Relation>,
}

impl Correction {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && !self.has_relations()
    }

    /// Whether relations change, and with them other items.
    pub fn has_relations(&self) -> bool {
        !self.unlink.is_empty() || !self.link.is_empty()
    }
}

/// The action on a relation. Relations are removed before others are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RelationAction {
    /// It is removed.
    Unlink,
    /// It is made.
    Link,
}

/// The plan of changes at both ends.
#[derive(Debug, Default)]
pub struct RelationPlan {
    /// The Originals that change, the item itself last: as long as it does not change, the run is not done.
    pub ends: Vec<RelationEnd>,
    /// The ends that stay unchanged.
    pub left: Vec<LeftEnd>,
    /// Translations into another language than that of the description.
    pub misnamed: Vec<Misnamed>,
}

/// A translation whose relation and description give different languages. A resolver goes by the relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misnamed {
    /// The translation.
    pub item: RepositoryName,
    /// The language of the relation.
    pub said: Language,
    /// The language of its description.
    pub is: Language,
}

/// The changes in one Original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationEnd {
    /// The collection that holds the Original, by its place among those at hand.
    pub collection: usize,
    /// The item.
    pub name: RepositoryName,
    edits: Vec<Edit>,
    links: Vec<Link>,
}

/// A relation that an item gets or loses, with everything needed to name its other end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Link {
    action: RelationAction,
    kind: RelationKind,
    to: Identifier,
    alias: Option<Identifier>,
}

/// The other end of a relation that is not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftEnd {
    /// The related item.
    pub item: Identifier,
    /// The relation that it would have to the item; `None` if that depends on a language that is not known.
    pub kind: Option<RelationKind>,
    /// The action that it is left without.
    pub action: RelationAction,
    /// Why the end stays unchanged.
    pub reason: LeftReason,
}

/// Why an end is not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftReason {
    /// No collection at hand has the item.
    Elsewhere,
    /// The collections at hand have Copies only.
    CopyOnly,
    /// The item is deleted.
    Deleted,
    /// The language of the translation is not known.
    NoLanguage,
}

impl RelationPlan {
    /// Checks the change of each Original; nothing is changed.
    pub fn check<C: Borrow<Collection>>(
        &self,
        collections: &[C],
        caller: crate::agent::Caller<'_>,
    ) -> Result<(), AmendError> {
        for end in &self.ends {
            let collection = collections[end.collection].borrow();
            let others = collections.iter().enumerate().filter(|(at, _)| *at != end.collection);
            let sight = Sight::of_one(others.map(|(_, it)| it.borrow()));
            let amender = Amender { collection, sight: &sight, writer: None, locks: None, caller };
            amender.amend(end.amendment())?;
        }
        Ok(())
    }

    /// The collections that change, in the order in which they are to be changed.
    pub fn collections(&self) -> Vec<usize> {
        let mut collections = Vec::new();
        for end in &self.ends {
            if !collections.contains(&end.collection) {
                collections.push(end.collection);
            }
        }
        // The collection of the item itself comes last.
        if let Some(last) = self.ends.last() {
            collections.retain(|it| *it != last.collection);
            collections.push(last.collection);
        }
        collections
    }

    /// Each relation that an Original gets or loses: the item, and the kind there.
    pub(crate) fn links(
        &self,
    ) -> impl Iterator<Item = (RelationAction, &RepositoryName, &RelationKind)> {
        let links = self.ends.iter().flat_map(|end| end.links.iter().map(move |it| (end, it)));
        links.map(|(end, link)| (link.action, &end.name, &link.kind))
    }

    /// The changes in one of the collections.
    pub fn amendments(&self, collection: usize) -> impl Iterator<Item = Amendment<'_>> {
        let ends = self.ends.iter().filter(move |end| end.collection == collection);
        ends.map(RelationEnd::amendment)
    }
}

impl RelationEnd {
    fn amendment(&self) -> Amendment<'_> {
        amendment(self.name.clone(), &[self])
    }
}

/// The change of the item `name` by all of `ends`, which are its own.
pub(crate) fn amendment<'e>(name: RepositoryName, ends: &[&'e RelationEnd]) -> Amendment<'e> {
    let edits: Vec<_> = ends.iter().flat_map(|end| &end.edits).collect();
    let mut links: Vec<_> = ends.iter().flat_map(|end| &end.links).collect();
    links.sort_by_key(|link| link.action);
    let change = move |description: &mut Description| {
        edits.iter().try_for_each(|edit| edit.apply(description))?;
        links.iter().try_for_each(|link| link.apply(description)).map_err(|cause| {
            AmendError::Relation { name: description.name.clone(), cause: Box::new(cause) }
        })
    };
    Amendment { name, change: Box::new(change) }
}

impl Link {
    fn apply(&self, description: &mut Description) -> Result<(), RelationError> {
        let Link { action, kind, to, alias } = self;
        let relations = &mut description.relations;
        match action {
            RelationAction::Link => relations.add(kind, to, alias.as_ref()).map(drop),
            RelationAction::Unlink => {
                relations.remove(kind, to, alias.as_ref());
                Ok(())
            }
        }
    }
}
