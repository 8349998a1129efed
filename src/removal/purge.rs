//! Removing the contents of the trash permanently.

use std::collections::BTreeSet;

use super::{Note, RemovalError};
use crate::agent::Agent;
use crate::collection::{
    Collection, CollectionError, Event, EventKind, Names, Payloads, TrashContents, Trashed,
    items_at_a_time, lock_changes,
};
use crate::disk::{Dir, Lock, TreeSize};
use crate::identity::{Instant, RepositoryName};
use crate::interrupt::Interrupt;
use crate::wait::Waiter;

/// The selection of a purge.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Only data of these items; by default, of all.
    pub names: Option<Vec<RepositoryName>>,
    /// Only data of items of these names.
    pub among: Names,
    /// Only data that went to the trash before this instant.
    pub before: Option<Instant>,
    /// Whether the plan says how much is freed. The removal measures what it removes.
    pub is_measured: bool,
}

/// An entry of the trash that can be purged.
#[derive(Clone, Debug)]
pub struct Purgeable {
    /// The item.
    pub name: RepositoryName,
    /// Its data.
    pub held: TrashContents,
    /// Files in the trash: those that were removed, or, if the plan is measured, those that are to be.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The bytes on the disk that a purge frees: none for a file with other names, such as one in a repaired
    /// item.
    pub freed: u64,
    /// When it went to the trash.
    pub since: Instant,
    trashed: Trashed,
}

/// The plan of a purge.
#[derive(Debug, Default)]
pub struct PurgePlan {
    /// The entries to remove, in order of names.
    pub entries: Vec<Purgeable>,
    /// Entries that cannot be read: they may belong to another user.
    pub failed: Vec<RemovalError>,
}

/// The wanted entries in the trash of `collection`.
///
/// Entries that recovery would put back are left out.
pub fn purgeable(collection: &Collection, wanted: &Wanted) -> Result<PurgePlan, RemovalError> {
    let mut plan = PurgePlan::default();
    let names: Option<BTreeSet<_>> = wanted.names.as_ref().map(|names| names.iter().collect());
    let is_wanted = |name: &RepositoryName| {
        names.as_ref().is_none_or(|names| names.contains(name)) && wanted.among.contains(name)
    };
    let is_all = names.is_none() && wanted.among.is_all();
    collection.visit_in_trash(|trash, trashed| {
        let found = match trashed {
            Ok(trashed) if !is_wanted(&trashed.name) => return Ok(()),
            // Its item is not known.
            Err(_) if !is_all => return Ok(()),
            trashed => trashed
                .map_err(RemovalError::from)
                .and_then(|trashed| look_at(trash, wanted, trashed)),
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

/// An entry of `trash` to be purged, if it exists and is wanted.
fn look_at(
    trash: &Dir,
    wanted: &Wanted,
    trashed: Trashed,
) -> Result<Option<Purgeable>, RemovalError> {
    let seen = trashed.held(trash).and_then(|held| {
        let is_measured = wanted.is_measured || held == TrashContents::Remains;
        let size = is_measured.then(|| trashed.measure(trash)).transpose()?;
        Ok((held, size.unwrap_or_default()))
    });
    let (held, size) = match seen {
        // Another run has just purged or restored it.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        outcome => outcome?,
    };
    let since = trashed.since;
    // An entry that a killed run left, or one without a file: recovery puts it back or removes it.
    if held == TrashContents::LeftOver || (held == TrashContents::Remains && size.files == 0) {
        return Ok(None);
    }
    // The rest of a partly purged entry is purged as well.
    if held == TrashContents::Remains || wanted.before.is_none_or(|before| since < before) {
        let name = trashed.name.clone();
        let TreeSize { files, bytes, freed } = size;
        return Ok(Some(Purgeable { name, held, files, bytes, freed, since, trashed }));
    }
    Ok(None)
}

/// Empties the trash of one collection. It creates nothing, so it works on a full disk.
pub struct Purger<'a> {
    collection: &'a Collection,
    trash: &'a Dir,
    agent: &'a Agent,
    waiter: Waiter<'a>,
    interrupt: &'a Interrupt,
    unlogged: Option<Unlogged>,
    _lock: Lock,
}

/// Events that happened and are not in the ledger: a full disk does not make a purge fail.
#[derive(Debug)]
pub struct Unlogged {
    /// Their number.
    pub events: u64,
    /// Why the first of them is missing.
    pub cause: CollectionError,
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
        let trash = collection.open_trash()?;
        Ok(Purger { collection, trash, agent, waiter, interrupt, unlogged: None, _lock: lock })
    }

    /// Ends the purge. Part of the freed room is reserved for deleting on a full disk.
    pub fn finish(self) -> Option<Unlogged> {
        self.collection.refill_reserve();
        self.unlogged
    }

    /// Removes entries of the trash permanently, in groups that share their locks, and passes each outcome to `note`, in
    /// order, until that ends the run: the entry with what was removed of it, which is nothing if another run was faster.
    ///
    /// May be killed at any point; the remains no longer count as an item, and the next purge removes them.
    pub fn purge(&mut self, entries: &[Purgeable], note: &mut Note<'_, Purgeable, Purgeable>) {
        for group in entries.chunks(items_at_a_time()) {
            // Nobody waits while trees are removed.
            let condemned = match self.condemn_group(group) {
                Ok(condemned) => condemned,
                Err(error) => {
                    let _ = note(&group[0], Err(error));
                    return;
                }
            };
            let mut purged = Vec::with_capacity(group.len());
            let ended = group.iter().zip(condemned).try_for_each(|(entry, condemned)| {
                let removed = condemned.and_then(|it| self.remove(entry, it.as_ref(), &mut purged));
                note(entry, removed)
            });
            if let Err(cause) = self.collection.log(&purged) {
                let unlogged = self.unlogged.get_or_insert(Unlogged { events: 0, cause });
                unlogged.events += purged.len() as u64;
            }
            if ended.is_break() {
                return;
            }
        }
    }

    /// Marks the entries as being purged, under the change lock.
    fn condemn_group(
        &self,
        group: &[Purgeable],
    ) -> Result<Vec<Result<Option<Trashed>, RemovalError>>, RemovalError> {
        let _locks = lock_changes([self.collection], self.agent, &self.waiter)?;
        let mut payloads = self.collection.payloads();
        let condemned = group.iter().map(|entry| self.condemn(entry, &mut payloads)).collect();
        self.trash.sync()?;
        Ok(condemned)
    }

    /// Marks an entry as being purged; `None` if it is gone.
    fn condemn(
        &self,
        entry: &Purgeable,
        payloads: &mut Payloads<'_>,
    ) -> Result<Option<Trashed>, RemovalError> {
        if self.interrupt.requested() {
            return Err(RemovalError::Interrupted);
        }
        self.refuse_if_needed(entry, payloads)?;
        match entry.trashed.condemn(self.trash) {
            // Another run has purged or restored it.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            condemned => Ok(Some(condemned?)),
        }
    }

    /// Removes an entry that is marked.
    fn remove(
        &self,
        entry: &Purgeable,
        condemned: Option<&Trashed>,
        purged: &mut Vec<Event>,
    ) -> Result<Purgeable, RemovalError> {
        let removed = condemned.map(|it| it.remove(self.trash)).transpose()?;
        let TreeSize { files, bytes, freed } = removed.unwrap_or_default();
        let outcome = Purgeable { files, bytes, freed, ..entry.clone() };
        if removed.is_none() {
            return Ok(outcome);
        }
        let (name, now) = (&entry.name, self.waiter.clock.now());
        let event = Event::new(EventKind::Purge, name, now, self.agent);
        purged.push(Event {
            freed: Some(freed),
            note: Some("the item as it was before".to_owned()),
            ..event
        });
        Ok(outcome)
    }

    /// An Original without a payload, perhaps restored by hand: the bytes in the trash may be the only ones.
    fn refuse_if_needed(
        &self,
        entry: &Purgeable,
        payloads: &mut Payloads<'_>,
    ) -> Result<(), RemovalError> {
        if entry.held != TrashContents::Item || payloads.is_gone(&entry.name) == Some(true) {
            return Ok(());
        }
        let item = match self.collection.item(&entry.name) {
            Err(CollectionError::NoSuchItem { .. }) => return Ok(()),
            outcome => outcome?,
        };
        if item.has_payload()? {
            return Ok(());
        }
        let (sidecar, _) = item.sidecar()?;
        if sidecar.state.has_payload() {
            let (name, state) = (entry.name.clone(), sidecar.state);
            return Err(RemovalError::Needed { name, state });
        }
        Ok(())
    }
}
