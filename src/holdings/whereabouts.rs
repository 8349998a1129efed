//! Where the Original of an item is, or may be: checked before another one is made.

use std::collections::BTreeSet;

use super::{Giver, Holdings, OriginalError, Standing, holdings, read};
use crate::agent::Agent;
use crate::collection::{
    Certainty, Collection, CollectionError, Departure, InventoryChange, ItemLocks, Recorded,
    lock_items_with,
};
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::item::State;
use crate::sidecar::Sidecar;
use crate::wait::Waiter;

/// The other collections that are checked before an item becomes an Original.
#[derive(Clone, Copy, Debug, Default)]
pub struct Peers<'a> {
    /// Those that may hold the item. The collection itself and its clones are skipped.
    pub collections: &'a [Collection],
    /// The names of known collections that cannot be opened.
    pub missing: &'a [String],
    /// Whether the item may become an Original though some of them cannot be checked.
    pub unseen: UnseenRule,
}

/// Whether an item may become an Original though a collection that may hold the Original was not checked, or
/// no inventory says where the Original went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnseenRule {
    /// It stays unchanged.
    #[default]
    Refuse,
    /// It may: a person says that there is no other.
    Accept,
}

/// The source of a restored Original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remains {
    /// The collection that deleted it still has its tombstone.
    Tombstone,
    /// It gave way to another Original, and left nothing in its place.
    Nothing,
}

/// How an Original gets a name that was issued before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// A person says that it has the name.
    Named,
    /// It lies in the place of its name. A Copy elsewhere may be a Copy of it, if it does not name another
    /// collection.
    InPlace,
}

impl Peers<'_> {
    /// Makes sure that no known collection, which may hold the Original of `name`, was skipped.
    pub(crate) fn check_seen(&self, name: &RepositoryName) -> Result<(), OriginalError> {
        match (self.unseen, self.missing.first()) {
            (UnseenRule::Refuse, Some(missing)) => {
                let (name, collection) = (name.clone(), format!("the collection `{missing}`"));
                Err(OriginalError::Unseen { name, collection })
            }
            _ => Ok(()),
        }
    }

    /// Makes sure that no collection but `own` has, or had, an item called `name`: a new Original of that
    /// name would be a second one, or other content under an issued name.
    pub(crate) fn check_unused(
        &self,
        name: &RepositoryName,
        own: Option<&Collection>,
        arrival: Arrival,
    ) -> Result<(), OriginalError> {
        for other in self.collections {
            if let Some(own) = own
                && own.is_same(other)?
            {
                continue;
            }
            let (name, path) = (name.clone(), other.path().to_path_buf());
            // An item that is leaving this collection is recorded as gone before it goes.
            match read(&name, 0, other).map(|holding| holding.record) {
                Some(Ok(record)) => match record.state {
                    State::Original => return Err(OriginalError::Elsewhere { name, path }),
                    State::Deleted => return Err(OriginalError::Deleted { name, path }),
                    State::Copy if arrival == Arrival::Named || record.made_of.is_some() => {
                        return Err(OriginalError::Copied { name, path });
                    }
                    State::Copy => {}
                },
                Some(Err(_)) => return Err(OriginalError::Unreadable { name, path }),
                None => match other.absent(&name) {
                    CollectionError::NoSuchItem { .. } => {}
                    // A person has given it up.
                    CollectionError::Left { line, .. }
                        if line.change == InventoryChange::Left(Departure::Lost) => {}
                    error => return Err(OriginalError::Collection(Box::new(error))),
                },
            }
        }
        match (self.unseen, self.missing.first()) {
            (UnseenRule::Refuse, Some(collection)) => {
                let (name, collection) = (name.clone(), collection.clone());
                Err(OriginalError::Unopened { name, collection })
            }
            _ => Ok(()),
        }
    }
}

/// An item that is about to become an Original of the collection `own`, with the collections to check first.
#[derive(Clone, Copy)]
pub(crate) struct Claim<'a> {
    pub own: &'a Collection,
    /// A collection that is checked besides the peers: the source of the bytes.
    pub source: Option<&'a Collection>,
    pub peers: &'a Peers<'a>,
}

impl<'a> Claim<'a> {
    fn others(&self) -> Result<Vec<&'a Collection>, PathError> {
        let mut others: Vec<&Collection> = Vec::new();
        for other in self.source.into_iter().chain(self.peers.collections) {
            let is_known = others.iter().any(|known| known.id() == other.id());
            if !is_known && !self.own.is_same(other)? {
                others.push(other);
            }
        }
        Ok(others)
    }

    /// The other collections that hold the item.
    fn holders(&self, name: &RepositoryName) -> Result<Vec<&'a Collection>, PathError> {
        let others = self.others()?;
        let found = holdings(name, &others);
        Ok(found.all.iter().map(|holding| others[holding.collection]).collect())
    }

    /// Locks the item in every collection that holds it: a Copy may be promoted meanwhile.
    pub(crate) fn lock(
        &self,
        name: &RepositoryName,
        agent: &Agent,
        waiter: &Waiter<'_>,
    ) -> Result<ItemLocks, CollectionError> {
        let ids = |holders: &[&Collection]| {
            holders.iter().map(|it| it.id().to_owned()).collect::<Vec<_>>()
        };
        loop {
            let holders = self.holders(name)?;
            let theirs = holders.iter().map(|other| (*other, name));
            let locks = lock_items_with([(self.own, name)], theirs, agent, waiter)?;
            if ids(&self.holders(name)?) == ids(&holders) {
                return Ok(locks);
            }
        }
    }

    /// Makes sure that no other collection holds the Original of `name`, or may hold it: by its sidecar, by
    /// its inventory, or because it was not checked.
    pub(crate) fn check(
        &self,
        name: &RepositoryName,
        remains: Remains,
    ) -> Result<(), OriginalError> {
        let others = self.others()?;
        let found = holdings(name, &others);
        refuse_second(name, &others, &found)?;
        if remains == Remains::Nothing {
            refuse_deleted(name, &others, &found)?;
        }
        if self.peers.unseen == UnseenRule::Accept {
            return Ok(());
        }
        let untraced = |collection: &Collection| {
            let (name, path) = (name.clone(), collection.path().to_path_buf());
            Err(OriginalError::Untraced { name, path })
        };
        let departures = self.own.departures(name)?.unwrap_or_default();
        if remains == Remains::Nothing && departures.is_empty() {
            return untraced(self.own);
        }
        let start = departures.iter().map(|to| to.id.clone());
        let trail = follow(name, start, self.own, &others, &found)?;
        let unseen = trail.holders.iter().find(|id| others.iter().all(|it| it.id() != *id));
        let unseen = unseen.map(|id| {
            let recorded = departures.iter().find(|to| to.id == *id);
            recorded.map_or_else(|| format!("the collection {id}"), ToString::to_string)
        });
        if let Some(collection) = unseen {
            return Err(OriginalError::Unseen { name: name.clone(), collection });
        }
        self.peers.check_seen(name)?;
        trail.ends.first().map_or(Ok(()), |end| untraced(others[*end]))
    }
}

/// Makes sure that the inventory of `collection`, whose sidecar says that it holds the Original of `name`,
/// does not say that the item left for another collection: then its directory was put back by hand.
pub(crate) fn refuse_departed(
    name: &RepositoryName,
    collection: &Collection,
) -> Result<(), OriginalError> {
    collection.departure(name)?.map_or(Ok(()), |line| {
        let (name, path) = (name.clone(), collection.path().to_path_buf());
        Err(OriginalError::Departed { name, path, line: Box::new(line) })
    })
}

/// Makes sure that the inventory of `collection`, where `sidecar` says that it holds the Original of `name`, says
/// neither that the item left nor that it has become a Copy: then it was put back by hand, and another collection
/// holds the Original.
pub(crate) fn refuse_put_back(
    name: &RepositoryName,
    collection: &Collection,
    sidecar: &Sidecar,
) -> Result<(), OriginalError> {
    refuse_departed(name, collection)?;
    match collection.contradicted_by(name, sidecar)? {
        Some(line) if line.state() == Some(State::Copy) => {
            let (name, path) = (name.clone(), collection.path().to_path_buf());
            Err(OriginalError::Departed { name, path, line: Box::new(line) })
        }
        _ => Ok(()),
    }
}

/// Makes sure that `copy` does not lie in the place of the Original of `name` that `collection` holds by its
/// inventory: without the Copy, nothing shows that the Original is lost.
pub(crate) fn refuse_copy_in_place(
    name: &RepositoryName,
    collection: &Collection,
    copy: &Sidecar,
) -> Result<(), OriginalError> {
    match collection.contradicted_by(name, copy)? {
        Some(line) if line.state() == Some(State::Original) => {
            let (name, path) = (name.clone(), collection.path().to_path_buf());
            Err(OriginalError::CopyInPlace { name, path, line: Box::new(line) })
        }
        _ => Ok(()),
    }
}

/// Makes sure that none of `others` holds the Original of `name`, or may hold it by its own records. `found`
/// are their holdings.
pub(crate) fn refuse_second(
    name: &RepositoryName,
    others: &[&Collection],
    found: &Holdings,
) -> Result<(), OriginalError> {
    for holding in &found.all {
        let (name, path) = (name.clone(), others[holding.collection].path().to_path_buf());
        // What cannot be read may be the Original, unless the inventory says that it is a Copy.
        let Ok(record) = &holding.record else {
            let recorded = others[holding.collection].last_record(&name)?;
            if recorded.is_none_or(|recorded| may_be_original(&recorded)) {
                return Err(OriginalError::Unreadable { name, path });
            }
            continue;
        };
        if let Some(mark) = &record.handover {
            let giver = Giver::of(mark, others[holding.collection], others).into();
            return Err(OriginalError::HandedOver { name, path, giver });
        }
        if holding.standing == Standing::Original {
            return Err(OriginalError::Elsewhere { name, path });
        }
    }
    for (at, other) in others.iter().enumerate() {
        if found.in_collection(at).is_some() {
            continue;
        }
        match other.absent(name) {
            CollectionError::Vanished { recorded, path } if may_be_original(&recorded) => {
                return Err(OriginalError::Vanished { name: name.clone(), path });
            }
            absence if absence.is_absence() => {}
            error => return Err(OriginalError::Collection(Box::new(error))),
        }
    }
    Ok(())
}

/// Makes sure that none of `found` is a tombstone: only the collection with the tombstone may restore a
/// deleted name.
pub(crate) fn refuse_deleted(
    name: &RepositoryName,
    others: &[&Collection],
    found: &Holdings,
) -> Result<(), OriginalError> {
    let tombstone = found.all.iter().find(|holding| holding.standing == Standing::Deleted);
    tombstone.map_or(Ok(()), |holding| {
        let path = others[holding.collection].path().to_path_buf();
        Err(OriginalError::Deleted { name: name.clone(), path })
    })
}

/// Whether an item that vanished may have been the Original, or its tombstone, by the inventory.
pub(crate) fn may_be_original(recorded: &Recorded) -> bool {
    recorded.line.state() != Some(State::Copy) || recorded.certainty == Certainty::Doubtful
}

/// The path of an Original, from collection to collection.
pub(crate) struct Trail {
    /// The ids of all collections on it, checked or not.
    pub holders: BTreeSet<String>,
    /// Those that were checked, counted from 0, do not have the Original, and do not say where it went.
    pub ends: Vec<usize>,
}

/// Follows the Original of `name` from the collections with the ids `start`: the Copies in `found` and the
/// inventories of `others` show where it went. A path back to the collection `own` is not followed.
pub(crate) fn follow(
    name: &RepositoryName,
    start: impl IntoIterator<Item = String>,
    own: &Collection,
    others: &[&Collection],
    found: &Holdings,
) -> Result<Trail, PathError> {
    let mut trail = Trail { holders: start.into_iter().collect(), ends: Vec::new() };
    let mut asked = BTreeSet::from([own.id().to_owned()]);
    while let Some(id) = trail.holders.difference(&asked).next().cloned() {
        if let Some(at) = others.iter().position(|it| it.id() == id) {
            match step(name, at, others[at], found)? {
                Some(next) => trail.holders.extend(next),
                None => trail.ends.push(at),
            }
        }
        asked.insert(id);
    }
    trail.holders.remove(own.id());
    Ok(trail)
}

/// Where the Original went, by the records of the collection `at`; `None` if they do not say.
fn step(
    name: &RepositoryName,
    at: usize,
    collection: &Collection,
    found: &Holdings,
) -> Result<Option<Vec<String>>, PathError> {
    if let Some(holding) = found.in_collection(at) {
        let Ok(record) = &holding.record else { return Ok(None) };
        let ids: Vec<_> = record.sources().map(str::to_owned).collect();
        return Ok((!ids.is_empty()).then_some(ids));
    }
    Ok(match collection.last_record(name)?.map(|recorded| recorded.line.change) {
        Some(InventoryChange::Left(Departure::Migrated(to) | Departure::Dropped(to))) => {
            Some(vec![to.id])
        }
        // A person has given it up.
        Some(InventoryChange::Left(Departure::Lost)) => Some(Vec::new()),
        _ => None,
    })
}

impl Holdings {
    /// The holding of the collection `at`.
    fn in_collection(&self, at: usize) -> Option<&super::Holding> {
        self.all.iter().find(|holding| holding.collection == at)
    }
}

impl super::HoldingRecord {
    /// The ids of the collections that may hold the Original of a Copy: where it was made, and the other end
    /// of a hand-over in progress.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &str> {
        let mark = self.handover.as_ref().map(|mark| mark.party.id());
        self.made_of.as_deref().into_iter().chain(mark)
    }
}
