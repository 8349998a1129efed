//! Removing the contents of the trash permanently.

use std::collections::BTreeSet;

use super::RemovalError;
use super::finish::pending;
use super::grave::tombstone_with_payload;
use crate::agent::Agent;
use crate::collection::{
    Collection, CollectionError, Event, EventKind, Names, TrashContents, Trashed, lock_items,
};
use crate::disk::{Lock, TreeSize};
use crate::identity::{Instant, RepositoryName};
use crate::interrupt::Interrupt;
use crate::item::State;
use crate::wait::Waiter;

/// What is to be purged.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Only what is left of these items; of all unless given.
    pub names: Option<Vec<RepositoryName>>,
    /// Only what is left of items of these names.
    pub among: Names,
    /// Only what came into the trash before this instant.
    pub before: Option<Instant>,
}

/// An entry of the trash that can be purged.
#[derive(Clone, Debug)]
pub struct Purgeable {
    /// The item.
    pub name: RepositoryName,
    /// What is left of it.
    pub held: TrashContents,
    /// Files in the trash.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The bytes on the disk that a purge frees: none of a file that has other names, as in an item that was
    /// mended with it.
    pub freed: u64,
    /// When it came into the trash.
    pub since: Instant,
    trashed: Trashed,
}

/// The plan of a purge.
#[derive(Debug, Default)]
pub struct PurgePlan {
    /// What would go, in order of names.
    pub entries: Vec<Purgeable>,
    /// Entries that cannot be looked at: they may belong to another user.
    pub failed: Vec<RemovalError>,
}

/// What is in the trash of `collection`, as far as it is wanted.
///
/// What recovery would put back is left out: it is on its way.
pub fn purgeable(collection: &Collection, wanted: &Wanted) -> Result<PurgePlan, RemovalError> {
    let mut plan = PurgePlan::default();
    let names: Option<BTreeSet<_>> = wanted.names.as_ref().map(|names| names.iter().collect());
    let is_wanted = |name: &RepositoryName| {
        names.as_ref().is_none_or(|names| names.contains(name)) && wanted.among.contains(name)
    };
    let is_all = names.is_none() && wanted.among.is_all();
    collection.visit_trash(|trashed| {
        let found = match trashed {
            Ok(trashed) if !is_wanted(&trashed.name) => return Ok(()),
            // Whose it is, is not known.
            Err(_) if !is_all => return Ok(()),
            trashed => trashed
                .map_err(RemovalError::from)
                .and_then(|trashed| look_at(collection, wanted, trashed)),
        };
        match found {
            Ok(found) => plan.entries.extend(found),
            Err(error) => plan.failed.push(error),
        }
        Ok::<_, RemovalError>(())
    })?;
    plan.entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(plan)
}

/// An entry that is to be purged, if it is there and wanted.
fn look_at(
    collection: &Collection,
    wanted: &Wanted,
    trashed: Trashed,
) -> Result<Option<Purgeable>, RemovalError> {
    let seen = collection
        .held(&trashed)
        .and_then(|held| Ok((held, collection.measure_trashed(&trashed)?)));
    // A tombstone may have come here long after the deletion: its date is not that of the bytes.
    let (held, (size, since)) = match seen {
        // Another run has just purged it, or brought it back.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        outcome => outcome?,
    };
    // An entry without a file is that of an interrupted run, and recovery removes it.
    if held == TrashContents::SetAside || (held == TrashContents::Remains && size.files == 0) {
        return Ok(None);
    }
    // Of what has begun to go, the rest goes as well.
    if held == TrashContents::Remains || wanted.before.is_none_or(|before| since < before) {
        let name = trashed.name.clone();
        let TreeSize { files, bytes, freed } = size;
        return Ok(Some(Purgeable { name, held, files, bytes, freed, since, trashed }));
    }
    Ok(None)
}

/// Why a purge leaves bytes in place: each item, as far as it is wanted, that has a tombstone and its payload beside it,
/// because a deletion or a restoration could not be finished.
pub fn unpurgeable(
    collection: &Collection,
    wanted: &Wanted,
    agent: &Agent,
    waiter: &Waiter<'_>,
) -> Result<Vec<(RepositoryName, RemovalError)>, RemovalError> {
    let names = match &wanted.names {
        Some(names) => names.clone(),
        None => pending(collection)?.0.into_iter().map(|pending| pending.name).collect(),
    };
    let is_left = |name: &RepositoryName| -> Result<bool, RemovalError> {
        let tombstone = match tombstone_with_payload(collection, name) {
            // What is left of a living item goes without its sidecar. An age is that of a tombstone.
            Err(_) if wanted.before.is_none() => None,
            outcome => outcome?,
        };
        Ok(tombstone.is_some_and(|it| wanted.before.is_none_or(|before| it.timestamp < before)))
    };
    let check = |name: &RepositoryName| {
        if is_left(name)? {
            // Another run may be moving it.
            let _locks = lock_items([(collection, name)], agent, waiter)?;
            if is_left(name)? {
                return Err(RemovalError::Unfinished { name: name.clone() });
            }
        }
        Ok(())
    };
    let names = names.into_iter().filter(|name| wanted.among.contains(name));
    Ok(names.filter_map(|name| check(&name).err().map(|error| (name, error))).collect())
}

/// Removes what is in the trash of one collection. It makes nothing on the disk, so it works on a full one.
pub struct Purger<'a> {
    collection: &'a Collection,
    agent: &'a Agent,
    waiter: Waiter<'a>,
    interrupt: &'a Interrupt,
    _lock: Lock,
}

impl<'a> Purger<'a> {
    /// Begins to purge, waiting by `waiter` while the collection is being recovered, and for items.
    pub fn new(
        collection: &'a Collection,
        agent: &'a Agent,
        waiter: Waiter<'a>,
        interrupt: &'a Interrupt,
    ) -> Result<Purger<'a>, RemovalError> {
        let lock = collection.keep_recovery_away(agent, &waiter)?;
        Ok(Purger { collection, agent, waiter, interrupt, _lock: lock })
    }

    /// Ends the purge. Part of the room that it made is reserved for deleting on a full disk.
    pub fn finish(self) {
        self.collection.refill_reserve();
    }

    /// Removes an entry of the trash permanently, and returns how many bytes that has freed.
    ///
    /// May be killed at any point; what is left is no payload any more and goes with the next purge.
    pub fn purge(&self, entry: &Purgeable) -> Result<u64, RemovalError> {
        let Purgeable { name, held, trashed, .. } = entry;
        if self.interrupt.requested() {
            return Err(RemovalError::Interrupted);
        }
        let collection = self.collection;
        let _locks = lock_items([(collection, name)], self.agent, &self.waiter)?;
        let now = match collection.held(trashed) {
            // Another run has purged it.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
            outcome => outcome?,
        };
        if now != *held {
            let path = collection.path().to_path_buf();
            return Err(CollectionError::Changed { name: name.clone(), path }.into());
        }
        self.refuse_if_needed(entry)?;
        // Another entry that shares its files may have gone since the plan.
        let (TreeSize { freed, .. }, _) = collection.measure_trashed(trashed)?;
        collection.condemn(trashed, *held)?;
        collection.remove_trashed(trashed)?;
        let what = match held {
            TrashContents::Payload => "the files of the deleted item",
            TrashContents::Copy => "the deleted Copy",
            TrashContents::SetAside | TrashContents::Replaced => "the item as it was before",
            TrashContents::Unlisted => "files that were not in its sidecar",
            TrashContents::Remains => "what was left of an earlier purge",
        };
        let event = Event::new(EventKind::Purge, name, self.waiter.clock.now(), self.agent);
        let (freed, note) = (Some(freed), Some(what.to_owned()));
        collection.note(&[Event { freed, note, ..event }]);
        Ok(freed.unwrap_or(0))
    }

    /// A sidecar that says Original, brought back by hand perhaps, but has no payload: the bytes in
    /// the trash may be the only ones.
    fn refuse_if_needed(&self, entry: &Purgeable) -> Result<(), RemovalError> {
        if entry.held != TrashContents::Payload {
            return Ok(());
        }
        let item = match self.collection.item(&entry.name) {
            Err(CollectionError::NoSuchItem { .. }) => return Ok(()),
            outcome => outcome?,
        };
        let (sidecar, _) = item.sidecar()?;
        if sidecar.state != State::Deleted && !item.has_payload()? {
            let (name, state) = (entry.name.clone(), sidecar.state);
            return Err(RemovalError::Needed { name, state });
        }
        Ok(())
    }
}
