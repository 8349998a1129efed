//! Restoring deleted items: from the trash, or from another collection that has the files of one that was purged.

use std::path::PathBuf;

use super::remains::{RestoreSource, Search};
use super::{Note, RemovalError, Remover, Restoration};
use crate::agent::Caller;
use crate::collection::{
    Change, ChangeLocks, Collection, CollectionError, Event, EventKind, Line, LockedItem, Lookup,
    Outcomes, Swap, carry_out, lock_changes,
};
use crate::custody::Permit;
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::item::State;
use crate::layout;
use crate::progress::Progress;
use crate::sidecar::{NewText, Sidecar};

/// A restored item, also of a dry run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The item.
    pub name: RepositoryName,
    /// Its state in this collection.
    pub state: State,
    /// Whether it was not deleted, so that nothing is done.
    pub was_here: bool,
    /// Other entries of the trash with the item, as it was before.
    pub kept: Vec<PathBuf>,
    /// The keys that the tombstone had otherwise than the item in the trash, whose values hold; `files` among them.
    pub differing: Vec<String>,
    /// Its files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Restored {
    fn of(source: &RestoreSource<'_>) -> Restored {
        let RestoreSource { record, trashed, donor, copy, kept, .. } = source;
        let sidecar = copy.as_ref().unwrap_or(&source.contents().sidecar);
        let is_tombstone = record.sidecar.state == State::Deleted;
        Restored {
            name: sidecar.repository.clone(),
            state: if is_tombstone { State::Original } else { sidecar.state },
            was_here: trashed.is_none() && donor.is_none(),
            kept: kept.clone(),
            differing: source.differing(),
            files: sidecar.payload.files,
            bytes: sidecar.payload.bytes,
        }
    }
}

/// Plans the restoration of the item `name` of `collection`.
pub fn plan_restoration(
    collection: &Collection,
    name: &RepositoryName,
    restoration: &Restoration<'_>,
    progress: &dyn Progress,
    interrupt: &Interrupt,
) -> Result<Restored, RemovalError> {
    let source = Search { collection, restoration, progress, interrupt }.find(name)?;
    Ok(Restored::of(&source))
}

impl Remover<'_> {
    /// Restores `names`, each once, after comparing every byte in the trash with its sidecar, in groups that share their
    /// syncs, and passes each outcome to `note`, in order, until that ends the run. An item that is not deleted stays
    /// unchanged.
    ///
    /// An Original is not restored while a collection in sight has a newer state.
    ///
    /// On a full disk it uses the reserve for deleting: a restoration needs as little room.
    pub fn restore(
        &self,
        names: &[RepositoryName],
        restoration: &Restoration<'_>,
        note: &mut Note<'_, RepositoryName, Restored>,
    ) {
        let Remover { collection, caller: Caller { progress, interrupt, .. }, .. } = *self;
        let search = Search { collection, restoration, progress, interrupt };
        let _ = carry_out(&Restoring { remover: self, search }, &self.caller, names, note);
    }
}

/// A restoration of items.
struct Restoring<'r> {
    remover: &'r Remover<'r>,
    search: Search<'r>,
}

impl<'r> Change<&RepositoryName> for Restoring<'r> {
    type Planned = RestoreSource<'r>;
    type Done = Restored;
    type Error = RemovalError;

    fn name<'w>(name: &'w &RepositoryName) -> &'w RepositoryName {
        name
    }

    fn interrupted() -> RemovalError {
        RemovalError::Interrupted
    }

    fn follow(&self) {
        self.search.restoration.sight.follow_with(self.remover.collection);
    }

    // Other processes need not wait while every byte is read; their changes are taken into account afterwards.
    fn plan(&self, name: &&RepositoryName) -> Result<RestoreSource<'r>, RemovalError> {
        let mut source = self.search.find(name)?;
        if let Some(donor) = source.donor {
            self.fetch(name, &source.record.sidecar, donor)?;
            source = self.search.find(name)?;
        }
        Ok(source)
    }

    fn files(source: &RestoreSource<'r>) -> u64 {
        source.record.sidecar.payload.files
    }

    /// Swaps the tombstones and the stubs with the items in the trash.
    fn act(
        &self,
        group: &[(&&RepositoryName, &RestoreSource<'r>)],
    ) -> Outcomes<Restored, RemovalError> {
        let Remover { collection, writer, caller } = self.remover;
        let (collection, clock) = (*collection, caller.clock);
        let locks = lock_changes([collection], caller.agent, &caller.waiter())?;
        let (mut outcomes, mut texts) = (Vec::new(), Vec::new());
        let (mut at_of, mut swaps) = (Vec::new(), Vec::new());
        for (at, (name, source)) in group.iter().enumerate() {
            let checked = self.check(name, source, &locks).and_then(|found| {
                let restored = Restored::of(source);
                let (Some((item, permit)), Some(entry)) = (found, &source.trashed) else {
                    return Ok(restored);
                };
                let record = &source.record;
                let contents = source.contents();
                let (permit, after) = if let Some(permit) = permit {
                    let after = contents.sidecar.restored(&permit, clock.now());
                    let deleted = collection.trashed_item(entry)?;
                    let deleted = deleted.ok_or_else(|| collection.absent(name))?;
                    texts.push((deleted, contents.rewritten(name, &after)?));
                    (permit, after)
                } else {
                    let copy = source.copy.as_ref().unwrap_or(&contents.sidecar);
                    (Permit::keep(&copy.custody), copy.clone())
                };
                let event = Event::new(EventKind::Recovery, item.name(), clock.now(), caller.agent);
                let event = Event { note: Some("restored".to_owned()), ..event };
                let line = Line::new(&permit, &record.sidecar, &after, event);
                swaps.push(Swap { item, entry, line });
                at_of.push(at);
                Ok(restored)
            });
            outcomes.push(checked);
        }
        writer.replace_trashed_sidecars(&texts)?;
        self.remover.swap(&locks, (&at_of, &swaps), &mut outcomes)?;
        // Recovery removes the tombstones as well.
        let swapped = at_of.iter().zip(&swaps).filter(|(at, _)| outcomes[**at].is_ok());
        collection.remove_drafts(swapped.map(|(_, swap)| swap.entry));
        drop(swaps);
        drop(locks);
        for (at, (name, _)) in group.iter().enumerate() {
            if matches!(
                outcomes[at],
                Err(RemovalError::Collection(CollectionError::Changed { .. }))
            ) {
                outcomes[at] = self.again(name);
            }
        }
        Ok(outcomes)
    }

    fn act_alone(
        &self,
        one: (&&RepositoryName, &RestoreSource<'r>),
    ) -> Outcomes<Restored, RemovalError> {
        self.remover.collection.with_reserve(|| self.act(&[one]))
    }
}

impl Restoring<'_> {
    /// Copies the payload of a tombstone from `donor` into the trash, where the restoration finds it.
    fn fetch(
        &self,
        name: &RepositoryName,
        tombstone: &Sidecar,
        donor: &Collection,
    ) -> Result<(), RemovalError> {
        let (Remover { collection, writer, .. }, search) = (self.remover, &self.search);
        let (item, draft) = (donor.named_item(name)?, writer.draft()?);
        draft.make_directories(&tombstone.files)?;
        for entry in &*tombstone.files {
            let copied = draft.copy_entry(&item, entry, search.progress, search.interrupt);
            copied.map_err(|error| error.or(RemovalError::Interrupted))?.map_err(|_| {
                let path = donor.path().to_path_buf();
                CollectionError::Changed { name: name.clone(), path }
            })?;
        }
        draft.finish_directories(&tombstone.files, |directory| {
            let found = item.directory(&layout::in_payload(directory))?;
            Ok::<_, PathError>(Some(found.attributes()))
        })?;
        draft.write_sidecar(&NewText::Held(tombstone.to_text().into_bytes()))?;
        writer.stage_in_trash(collection, [(draft.staged(), item.name())])?;
        Ok(())
    }

    /// Restores an item that another run has changed since it was planned.
    fn again(&self, name: &RepositoryName) -> Result<Restored, RemovalError> {
        if self.search.interrupt.requested() {
            return Err(RemovalError::Interrupted);
        }
        self.act(&[(&name, &self.plan(&name)?)])?.remove(0)
    }

    /// The item that is to be restored, if its plan is still right, and the permit of an Original; `None` if nothing is to be
    /// done.
    fn check<'l>(
        &'l self,
        name: &RepositoryName,
        RestoreSource { record, trashed, .. }: &RestoreSource<'_>,
        locks: &'l ChangeLocks,
    ) -> Result<Option<(LockedItem<'l>, Option<Permit>)>, RemovalError> {
        let collection = self.remover.collection;
        let Some(trashed) = trashed else {
            // A killed run may have moved it there without a sync.
            collection.confirm_names([name.as_str()])?;
            return Ok(None);
        };
        let item = locks.item(&Lookup::new(collection), name)?;
        let item = item.ok_or_else(|| collection.absent(name))?;
        if !self.search.is_unchanged(&item, record, trashed)? {
            let path = collection.path().to_path_buf();
            return Err(CollectionError::Changed { name: name.clone(), path }.into());
        }
        let permit = self.search.permit(&item, record)?;
        Ok(Some((item, permit)))
    }
}
