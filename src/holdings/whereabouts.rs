//! Where the Original of an item is, or may be: asked before another one is made.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::{Holdings, Standing};
use crate::collection::{
    Certainty, Collection, CollectionError, Departure, InventoryChange, Recorded,
};
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::item::State;

/// Why an item does not become an Original: another collection holds it, or may hold it.
#[derive(Debug, thiserror::Error)]
pub enum OriginalError {
    /// Another collection holds the Original.
    #[error("`{}` holds the Original of `{name}`", path.display())]
    Elsewhere {
        /// The item.
        name: RepositoryName,
        /// That collection.
        path: PathBuf,
    },
    /// The Original was deleted by the collection that held it.
    #[error("`{name}` was deleted in `{}`", path.display())]
    Deleted {
        /// The item.
        name: RepositoryName,
        /// Where its tombstone is.
        path: PathBuf,
    },
    /// A hand-over has begun in another collection.
    #[error("a hand-over of `{name}` is under way in `{}`", path.display())]
    HandedOver {
        /// The item.
        name: RepositoryName,
        /// That collection.
        path: PathBuf,
    },
    /// Another collection has the item, and its sidecar cannot be read.
    #[error("the sidecar of `{name}` in `{}` cannot be read; it may be the Original", path.display())]
    Unreadable {
        /// The item.
        name: RepositoryName,
        /// That collection.
        path: PathBuf,
    },
    /// Another collection has recorded that it holds the item, and no longer has it.
    #[error("`{}` has lost `{name}`, which may be the Original", path.display())]
    Vanished {
        /// The item.
        name: RepositoryName,
        /// That collection.
        path: PathBuf,
    },
    /// A collection that may hold the Original cannot be asked.
    #[error("{collection} may hold the Original of `{name}`, and was not looked at")]
    Unseen {
        /// The item.
        name: RepositoryName,
        /// What is known of that collection: its name, its id, or both.
        collection: String,
    },
    /// The Original left a collection whose inventory does not say where it went.
    #[error("`{}` does not say where the Original of `{name}` went", path.display())]
    Untraced {
        /// The item.
        name: RepositoryName,
        /// That collection.
        path: PathBuf,
    },
    /// A collection cannot be read.
    #[error(transparent)]
    Collection(Box<CollectionError>),
    /// The file system refuses.
    #[error(transparent)]
    Disk(#[from] PathError),
}

/// Makes sure that none of `others` holds the Original of `name`, or may hold it by what it says itself:
/// `found` is what they hold.
pub(crate) fn refuse_second(
    name: &RepositoryName,
    others: &[&Collection],
    found: &Holdings,
) -> Result<(), OriginalError> {
    for holding in &found.all {
        let (name, path) = (name.clone(), others[holding.collection].path().to_path_buf());
        // What cannot be read may be the Original.
        let Ok(record) = &holding.record else {
            return Err(OriginalError::Unreadable { name, path });
        };
        if record.handover.is_some() {
            return Err(OriginalError::HandedOver { name, path });
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

/// Makes sure that none of `found` is a tombstone: a name that was deleted is given up by its holder only.
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

/// Whether what is recorded of an item that vanished leaves open that it was the Original, or its tombstone.
fn may_be_original(recorded: &Recorded) -> bool {
    recorded.line.state() != Some(State::Copy) || recorded.certainty == Certainty::Doubtful
}

/// The way that an Original may have gone, from collection to collection.
pub(crate) struct Trail {
    /// The ids of all collections on it, looked at or not.
    pub holders: BTreeSet<String>,
    /// Those that were looked at, counted from 0, do not have the Original, and do not say where it went.
    pub ends: Vec<usize>,
}

/// Follows the Original of `name` from the collections with the ids `start`: each of `others` says where it
/// went by the Copy that it holds, as in `found`, or by its inventory. Where it comes back to the collection
/// `own`, it is not followed.
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

/// Where the collection `at` says that the Original went; nothing if it does not say.
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
    /// What the collection `at` holds.
    fn in_collection(&self, at: usize) -> Option<&super::Holding> {
        self.all.iter().find(|holding| holding.collection == at)
    }
}

impl super::Record {
    /// The ids of the collections that may hold the Original of a Copy: where it was made, and the other end
    /// of a hand-over under way.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &str> {
        let mark = self.handover.as_ref().map(|mark| mark.party.id());
        self.made_of.as_deref().into_iter().chain(mark)
    }
}
