//! What one collection holds of an item, read from its sidecar.

use super::judge::{Seen, judge};
use super::{Holding, Holdings, Record, Standing};
use crate::collection::{Collection, CollectionError};
use crate::identity::RepositoryName;
use crate::item::manifest;
use crate::layout;
use crate::sidecar::{Seal, Sidecar};

/// What `collections` hold of the item called `name`: one path each is looked at.
pub fn holdings(name: &RepositoryName, collections: &[Collection]) -> Holdings {
    let mut all: Vec<_> = collections
        .iter()
        .enumerate()
        .filter_map(|(at, collection)| read(name, at, collection))
        .collect();
    let seen: Vec<_> = all
        .iter()
        .map(|holding| Seen {
            collection: &collections[holding.collection].settings().id,
            record: holding.record.as_ref().ok(),
        })
        .collect();
    let standings = judge(&seen);
    for (holding, standing) in all.iter_mut().zip(standings) {
        holding.standing = standing;
    }
    Holdings { name: name.clone(), all }
}

/// What `collection` holds; nothing only if it is certain that there is nothing.
fn read(name: &RepositoryName, at: usize, collection: &Collection) -> Option<Holding> {
    let mut path = collection.path().join(layout::item_directory(name));
    let record = match collection.item(name) {
        Ok(item) => {
            item.dir().path().clone_into(&mut path);
            item.sidecar().map(|(sidecar, seal)| Record::of(&sidecar, seal))
        }
        Err(CollectionError::NoSuchItem { .. }) => return None,
        Err(error) => Err(error),
    };
    Some(Holding { collection: at, path, record, standing: Standing::Unreadable })
}

impl Record {
    /// What `sidecar` says.
    pub fn of(sidecar: &Sidecar, seal: Seal) -> Record {
        Record {
            state: sidecar.state,
            ibip: sidecar.ibip.clone(),
            timestamp: sidecar.timestamp,
            payload: sidecar.payload,
            content: manifest::content_digest(&sidecar.files),
            handover: sidecar.handover.clone(),
            seal,
        }
    }
}
