//! What one collection holds of an item, read from its sidecar.

use std::borrow::Borrow;

use super::judge::{Seen, judge};
use super::{Holding, Holdings, Record, Standing};
use crate::collection::{Collection, CollectionError};
use crate::disk::FileStat;
use crate::identity::RepositoryName;
use crate::item::{State, manifest};
use crate::layout;
use crate::sidecar::{Seal, Sidecar};

/// An item that changes all the time is read this often.
const ATTEMPTS: usize = 8;

/// What `collections` hold of the item called `name`: one path each is looked at.
///
/// The collections are read one after the other, perhaps while the item moves between them. What looks
/// amiss counts only if a second reading finds every sidecar unchanged: then all of them were so at one
/// time.
pub fn holdings<C: Borrow<Collection>>(name: &RepositoryName, collections: &[C]) -> Holdings {
    let collections: Vec<&Collection> = collections.iter().map(Borrow::borrow).collect();
    let mut reading = Reading::of(name, &collections);
    let mut repeated = 0;
    for _ in 1..ATTEMPTS {
        // Nothing about an item that is nowhere shows that it did not move, but that it is still nowhere.
        let needed = if reading.all.is_empty() { 2 } else { 1 };
        if repeated == needed || reading.is_settled() {
            break;
        }
        let again = Reading::of(name, &collections);
        repeated = if again.stamps == reading.stamps { repeated + 1 } else { 0 };
        reading = again;
    }
    Holdings { name: name.clone(), all: reading.all }
}

/// What all collections hold, read once.
struct Reading {
    all: Vec<Holding>,
    /// Of which collection each sidecar is, and what tells whether it was replaced since.
    stamps: Vec<(usize, Option<FileStat>)>,
}

impl Reading {
    fn of(name: &RepositoryName, collections: &[&Collection]) -> Reading {
        let found = collections.iter().enumerate().filter_map(|(at, it)| read(name, at, it));
        let (mut all, stamps): (Vec<_>, Vec<_>) = found.unzip();
        judge_all(&mut all, collections);
        let stamps = all.iter().map(|holding| holding.collection).zip(stamps).collect();
        Reading { all, stamps }
    }

    /// Whether there is one Original and nothing that disagrees with it.
    fn is_settled(&self) -> bool {
        let originals = self.all.iter().filter(|it| it.standing == Standing::Original).count();
        let in_accord = |holding: &Holding| {
            matches!(holding.standing, Standing::Original | Standing::Current)
                && holding.record.as_ref().is_ok_and(|record| record.handover.is_none())
        };
        originals == 1 && self.all.iter().all(in_accord)
    }
}

/// Says of each of the holdings of one item how it stands to the others.
pub(crate) fn judge_all(all: &mut [Holding], collections: &[&Collection]) {
    let seen: Vec<_> = all
        .iter()
        .map(|holding| Seen {
            collection: collections[holding.collection].id(),
            record: holding.record.as_ref().ok(),
        })
        .collect();
    let verdicts = judge(&seen);
    let at: Vec<_> = all.iter().map(|holding| holding.collection).collect();
    for (holding, verdict) in all.iter_mut().zip(verdicts) {
        holding.standing = verdict.standing;
        holding.against = verdict.against.map(|other| at[other]);
    }
}

/// What `collection` holds, not yet judged, and what tells whether its sidecar was replaced since;
/// nothing only if it is certain that there is nothing.
pub(crate) fn read(
    name: &RepositoryName,
    at: usize,
    collection: &Collection,
) -> Option<(Holding, Option<FileStat>)> {
    let mut holding = Holding {
        collection: at,
        name: name.clone(),
        path: collection.path().join(layout::item_directory(name)),
        record: Err(CollectionError::NoSidecar { name: name.clone() }),
        standing: Standing::Unreadable,
        against: None,
    };
    let mut stamp = None;
    holding.record = match collection.item(name) {
        Ok(item) => {
            item.dir().path().clone_into(&mut holding.path);
            item.name().clone_into(&mut holding.name);
            item.read_sidecar().map(|read| {
                stamp = Some(read.stamp);
                Record::of(&read.sidecar, read.seal)
            })
        }
        Err(CollectionError::NoSuchItem { .. }) => return None,
        Err(error) => Err(error),
    };
    Some((holding, stamp))
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
            made_of: sidecar.made_of().map(str::to_owned),
            handover: sidecar.handover.clone(),
            seal,
        }
    }
    pub(super) fn is_copy(&self) -> bool {
        self.state == State::Copy
    }
}
