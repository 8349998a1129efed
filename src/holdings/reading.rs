//! What one collection holds of an item, read from its sidecar.

use super::judge::{Seen, judge};
use super::{Holding, Holdings, Record, Standing};
use crate::collection::{Collection, CollectionError};
use crate::disk::Stamp;
use crate::identity::RepositoryName;
use crate::item::manifest;
use crate::layout;
use crate::sidecar::{Seal, Sidecar};

/// An item that changes all the time is read this often.
const ATTEMPTS: usize = 8;

/// What `collections` hold of the item called `name`: one path each is looked at.
///
/// The collections are read one after the other, perhaps while the item moves between them. What looks
/// amiss counts only if a second reading finds every sidecar unchanged: then all of them were so at one
/// time.
pub fn holdings(name: &RepositoryName, collections: &[Collection]) -> Holdings {
    let mut reading = read_all(name, collections);
    let mut repeated = 0;
    for _ in 1..ATTEMPTS {
        // Nothing about an item that is nowhere shows that it did not move, but that it is still nowhere.
        let needed = if reading.is_empty() { 2 } else { 1 };
        if repeated == needed || is_settled(&reading) {
            break;
        }
        let again = read_all(name, collections);
        repeated = if stamps(&again) == stamps(&reading) { repeated + 1 } else { 0 };
        reading = again;
    }
    let all = reading.into_iter().map(|read| read.holding).collect();
    Holdings { name: name.clone(), all }
}

/// What one collection holds, and what tells whether that was replaced since.
struct Read {
    holding: Holding,
    sidecar: Option<Stamp>,
}

fn stamps(reading: &[Read]) -> Vec<(usize, Option<Stamp>)> {
    reading.iter().map(|read| (read.holding.collection, read.sidecar)).collect()
}

/// Whether there is one Original and nothing that disagrees with it.
fn is_settled(reading: &[Read]) -> bool {
    let originals = reading.iter().filter(|it| it.holding.standing == Standing::Original).count();
    let in_accord = |read: &Read| {
        matches!(read.holding.standing, Standing::Original | Standing::Current)
            && read.holding.record.as_ref().is_ok_and(|record| record.handover.is_none())
    };
    originals == 1 && reading.iter().all(in_accord)
}

fn read_all(name: &RepositoryName, collections: &[Collection]) -> Vec<Read> {
    let mut all: Vec<_> = collections
        .iter()
        .enumerate()
        .filter_map(|(at, collection)| read(name, at, collection))
        .collect();
    let seen: Vec<_> = all
        .iter()
        .map(|read| Seen {
            collection: &collections[read.holding.collection].settings().id,
            record: read.holding.record.as_ref().ok(),
        })
        .collect();
    let standings = judge(&seen);
    for (read, standing) in all.iter_mut().zip(standings) {
        read.holding.standing = standing;
    }
    all
}

/// What `collection` holds; nothing only if it is certain that there is nothing.
fn read(name: &RepositoryName, at: usize, collection: &Collection) -> Option<Read> {
    let mut path = collection.path().join(layout::item_directory(name));
    let mut stamp = None;
    let record = match collection.item(name) {
        Ok(item) => {
            item.dir().path().clone_into(&mut path);
            item.read_sidecar().map(|read| {
                stamp = Some(read.stamp);
                Record::of(&read.sidecar, read.seal)
            })
        }
        Err(CollectionError::NoSuchItem { .. }) => return None,
        Err(error) => Err(error),
    };
    let holding = Holding { collection: at, path, record, standing: Standing::Unreadable };
    Some(Read { holding, sidecar: stamp })
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
            description: sidecar.description_digest(),
            handover: sidecar.handover.clone(),
            seal,
        }
    }
}
