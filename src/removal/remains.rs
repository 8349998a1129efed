//! The remains of a deleted item: found, read and compared, without changing them.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io::ErrorKind::PermissionDenied;
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::plan::BROKEN_SEAL;
use super::{DamageRule, RemovalError, Restoration, proof};
use crate::collection::{Collection, CollectionError, Names, ReadSidecar, StoredItem, Trashed};
use crate::custody::{self, Permit, Refusal};
use crate::disk::{Dir, PathError};
use crate::holdings::with_line_read;
use crate::identity::RepositoryName;
use crate::interrupt::Interrupt;
use crate::item::State;
use crate::layout;
use crate::progress::Progress;
use crate::sidecar::{Seal, Sidecar};
use crate::verify::{Depth, ProofError, prove, prove_as_read, summarize_damage, verify_payload};

/// Finds deleted data that can be restored.
pub(super) struct Search<'a> {
    pub(super) collection: &'a Collection,
    pub(super) restoration: &'a Restoration<'a>,
    pub(super) progress: &'a dyn Progress,
    pub(super) interrupt: &'a Interrupt,
}

/// An item to restore, and its entries in the trash.
pub(super) struct RestoreSource<'a> {
    /// The sidecar in the place of the item.
    pub(super) record: ReadSidecar,
    /// The entry of the trash with the deleted item; `None` if the item is not deleted, or not in the trash.
    pub(super) trashed: Option<Trashed>,
    /// The collection that has the bytes of a deleted item that is not in the trash.
    pub(super) donor: Option<&'a Collection>,
    /// The sidecar that the deletion has put into the trash, if the tombstone is not that of these contents: it was built
    /// from an older state, or has rotten.
    pub(super) deleted: Option<ReadSidecar>,
    /// The sidecar of the Copy in the trash, of an item of which a stub is in the place.
    pub(super) copy: Option<Sidecar>,
    /// Other entries, with the item as it was before.
    pub(super) kept: Vec<PathBuf>,
}

impl RestoreSource<'_> {
    /// The sidecar with the description and the files of a deleted Original.
    pub(super) fn contents(&self) -> &ReadSidecar {
        self.deleted.as_ref().unwrap_or(&self.record)
    }

    /// The keys that the tombstone has otherwise, `files` among them.
    pub(super) fn differing(&self) -> Vec<String> {
        let Some(deleted) = &self.deleted else { return Vec::new() };
        differing(&self.record.sidecar, &deleted.sidecar)
    }
}

/// The keys in which a tombstone differs from what was deleted.
fn differing(tombstone: &Sidecar, deleted: &Sidecar) -> Vec<String> {
    let mut keys: Vec<_> =
        tombstone.differences(deleted).into_iter().map(|change| change.key).collect();
    if tombstone.ibip != deleted.ibip {
        keys.push("ibip".to_owned());
    }
    if tombstone.payload != deleted.payload {
        keys.push("files".to_owned());
    }
    keys
}

/// An item in the trash that is the deleted one.
struct Candidate {
    /// Its damage.
    damage: Option<String>,
    /// The sidecar of a Copy, if it is readable.
    copy: Option<Sidecar>,
}

impl<'a> Search<'a> {
    pub(super) fn find(&self, name: &RepositoryName) -> Result<RestoreSource<'a>, RemovalError> {
        let item = match self.collection.item(name) {
            Err(CollectionError::NoSuchItem { .. }) => return Err(self.not_deleted(name)?),
            outcome => outcome?,
        };
        let name = item.name();
        let record = item.read_sidecar()?;
        match record.sidecar.state {
            State::Original | State::Copy => {
                let kept = self.collection.kept_in_trash(name)?;
                let (trashed, donor, deleted, copy) = (None, None, None, None);
                return Ok(RestoreSource { record, trashed, donor, deleted, copy, kept });
            }
            State::Deleted if item.has_payload()? => {
                return Err(RemovalError::Beside { name: name.clone() });
            }
            State::Deleted | State::Elsewhere => {}
        }
        if record.seal != Seal::Intact && self.restoration.damage == DamageRule::Refuse {
            let detail = BROKEN_SEAL.to_owned();
            return Err(RemovalError::Damaged { name: name.clone(), detail });
        }
        self.permit(&item, &record)?;
        let mut entries = self.collection.trashed_of(name)?;
        entries.sort_by_key(|trashed| Reverse(trashed.since));
        let deleted = self.deleted(&entries, &record)?;
        let chosen = self.choose(name, &entries, &record, deleted.as_ref())?;
        let is_other = |entry: &&Trashed| chosen.as_ref().is_none_or(|(it, _)| *entry != it);
        let kept = self.collection.kept_of(entries.iter().filter(is_other))?;
        if let Some((trashed, copy)) = chosen {
            let deleted = deleted.map(|(_, read)| read);
            let deleted = deleted.filter(|it| !differing(&record.sidecar, &it.sidecar).is_empty());
            let (trashed, donor) = (Some(trashed), None);
            return Ok(RestoreSource { record, trashed, donor, deleted, copy, kept });
        }
        if record.sidecar.state == State::Elsewhere {
            let holder = record.sidecar.custody.holder().to_owned();
            let refusal = Refusal::Elsewhere { holder };
            let refusal = self.restoration.sight.named(&[self.collection], refusal);
            return Err(RemovalError::refused(name, refusal));
        }
        let (own, others) = ((&item, &record.sidecar), self.restoration.sight.neighbours());
        let (progress, interrupt) = (self.progress, self.interrupt);
        match proof::find(self.collection, own, others, Depth::Full, progress, interrupt) {
            Ok(proof) => {
                let donor = Some(proof.holding.collection);
                let (trashed, deleted, copy) = (None, None, None);
                Ok(RestoreSource { record, trashed, donor, deleted, copy, kept })
            }
            Err(RemovalError::LastHolding { .. }) => {
                Err(RemovalError::NotInTrash { name: name.clone(), kept })
            }
            Err(error) => Err(error),
        }
    }

    /// The error for an absent item.
    fn not_deleted(&self, name: &RepositoryName) -> Result<RemovalError, RemovalError> {
        let absence = self.collection.absent(name);
        let kept = self.collection.kept_in_trash(name)?;
        if kept.is_empty() || !absence.is_absence() {
            return Ok(absence.into());
        }
        Ok(RemovalError::NotDeleted { absence: Box::new(absence), kept })
    }

    /// Whether the item in `trashed` would be restored now, under the change lock.
    pub(super) fn is_unchanged(
        &self,
        item: &StoredItem,
        record: &ReadSidecar,
        trashed: &Trashed,
    ) -> Result<bool, RemovalError> {
        Ok(item.has_version(record.version)?
            && self.collection.is_in_trash(trashed)?
            && !item.has_payload()?)
    }

    /// The permit of a deleted Original to come back: nothing in sight is newer than its tombstone. A Copy needs none, and may
    /// come back at any time.
    pub(super) fn permit(
        &self,
        item: &StoredItem,
        record: &ReadSidecar,
    ) -> Result<Option<Permit>, RemovalError> {
        if record.sidecar.state != State::Deleted {
            return Ok(None);
        }
        let mut own = item.holding(record, self.collection.id())?;
        own.has = custody::Has::Tombstone;
        let mut seen = with_line_read(self.collection, item.name(), &own)?;
        seen.extend(self.restoration.sight.see(item.name(), &own.at));
        let permit = Permit::restore(&own, &seen, self.collection.custody_id()?);
        permit.map(Some).map_err(|refusal| {
            let refusal = self.restoration.sight.named(&[self.collection], refusal);
            RemovalError::refused(item.name(), refusal)
        })
    }

    fn damage_of(&self, doc: Dir, sidecar: &Sidecar) -> Result<Option<String>, RemovalError> {
        let findings = verify_payload(doc, sidecar, Depth::Full, self.progress, self.interrupt);
        let findings = findings.ok_or(RemovalError::Interrupted)?;
        findings.check_shortage()?;
        Ok(summarize_damage(&findings))
    }

    /// The first of `entries` with a sealed sidecar of what this tombstone has deleted, or that a killed restoration
    /// has made of it. A tombstone may have been built from an older state; this was the state of the item itself.
    fn deleted<'t>(
        &self,
        entries: &'t [Trashed],
        record: &ReadSidecar,
    ) -> Result<Option<(&'t Trashed, ReadSidecar)>, RemovalError> {
        let tombstone = &record.sidecar;
        if tombstone.state != State::Deleted {
            return Ok(None);
        }
        for trashed in entries {
            let Some(item) = self.collection.trashed_item(trashed)? else { continue };
            let read = match item.read_sidecar() {
                Ok(read) => read,
                Err(CollectionError::Disk(error))
                    if error.kind() == PermissionDenied || error.shortage().is_some() =>
                {
                    return Err(error.into());
                }
                Err(_) => continue,
            };
            let (own, custody) = (&read.sidecar, &tombstone.custody);
            let is_it =
                custody.directly_follows(&own.custody) || own.custody.directly_follows(custody);
            if is_it && own.state.has_payload() && read.seal == Seal::Intact {
                return Ok(Some((trashed, read)));
            }
        }
        Ok(None)
    }

    /// The item in an entry, if it may be the deleted one, with these `contents`.
    fn examine(
        &self,
        trashed: &Trashed,
        record: &ReadSidecar,
        contents: &Sidecar,
    ) -> Result<Option<Candidate>, RemovalError> {
        let Some(item) = self.collection.trashed_item(trashed)? else { return Ok(None) };
        if record.sidecar.state == State::Deleted {
            let Some(doc) = item.dir().open_dir_if_there(layout::PAYLOAD)? else {
                return Ok(None);
            };
            // What was sealed with other files is another state, and not this one damaged.
            if let Ok((own, Seal::Intact)) = item.sidecar()
                && own.state.has_payload()
                && own.payload != contents.payload
            {
                return Ok(None);
            }
            return Ok(Some(Candidate { damage: self.damage_of(doc, contents)?, copy: None }));
        }
        let (progress, interrupt) = (self.progress, self.interrupt);
        let (proven, copy) = match item.read_sidecar() {
            Ok(read) if read.sidecar.custody.id() != record.sidecar.custody.id() => {
                return Ok(None);
            }
            Err(CollectionError::Disk(error)) => return Err(error.into()),
            // The proof finds an unusable sidecar damaged.
            Err(_) => (prove(&item, Depth::Full, progress, interrupt), None),
            Ok(read) => {
                (prove_as_read(&item, &read, Depth::Full, progress, interrupt), Some(read.sidecar))
            }
        };
        let damage = match proven {
            Ok(()) => None,
            Err(ProofError::Damaged { summary, .. }) => Some(summary),
            Err(ProofError::Disk(error)) => return Err(error.into()),
            Err(ProofError::Interrupted) => return Err(RemovalError::Interrupted),
        };
        Ok(Some(Candidate { damage, copy }))
    }

    /// The one of `entries` that has the deleted item whole, or a damaged one by the rule: that with the `deleted`
    /// sidecar, or else the first; with the sidecar of a Copy.
    fn choose(
        &self,
        name: &RepositoryName,
        entries: &[Trashed],
        record: &ReadSidecar,
        deleted: Option<&(&Trashed, ReadSidecar)>,
    ) -> Result<Option<(Trashed, Option<Sidecar>)>, RemovalError> {
        let contents = deleted.map_or(&record.sidecar, |(_, read)| &read.sidecar);
        let first = deleted.map(|(trashed, _)| *trashed);
        let others = entries.iter().filter(|entry| Some(*entry) != first);
        let mut damaged = None;
        for trashed in first.into_iter().chain(others) {
            let Some(found) = self.examine(trashed, record, contents)? else { continue };
            match found.damage {
                None => return Ok(Some((trashed.clone(), found.copy))),
                Some(damage) => drop(damaged.get_or_insert((trashed, found.copy, damage))),
            }
        }
        match damaged {
            None => Ok(None),
            Some((trashed, copy, _)) if self.restoration.damage == DamageRule::Accept => {
                let is_copy = record.sidecar.state == State::Elsewhere;
                let copy = match copy {
                    None if is_copy => Some(self.copy_in(trashed)?),
                    copy => copy,
                };
                Ok(Some((trashed.clone(), copy)))
            }
            Some((.., detail)) => Err(RemovalError::TrashDamaged { name: name.clone(), detail }),
        }
    }

    /// The sidecar of the Copy in an entry of the trash, or why it is unusable.
    fn copy_in(&self, trashed: &Trashed) -> Result<Sidecar, RemovalError> {
        let item = self.collection.trashed_item(trashed)?;
        Ok(item.ok_or_else(|| self.collection.absent(&trashed.name))?.sidecar()?.0)
    }
}

/// The deleted items among `names` that are in the trash, or that one of `others` has, in order, and why an entry or item
/// cannot be read.
pub fn restorable(
    collection: &Collection,
    names: &Names,
    others: &[Collection],
) -> Result<(Vec<RepositoryName>, Vec<RemovalError>), PathError> {
    let (mut found, mut failed) = (BTreeSet::new(), Vec::new());
    collection.visit_trash(|trashed| {
        let checked = trashed.map_err(RemovalError::from).and_then(|trashed| {
            let is_wanted = names.contains(&trashed.name) && !found.contains(&trashed.name);
            Ok((is_wanted && is_deleted(collection, &trashed)?).then_some(trashed.name))
        });
        match checked {
            Ok(name) => found.extend(name),
            Err(error) => failed.push(error),
        }
        Ok::<_, PathError>(())
    })?;
    for other in others {
        other.visit_names(names, |name| {
            match is_tombstone_of(collection, other, &name) {
                Ok(true) => drop(found.insert(name)),
                Ok(false) => {}
                Err(error) => failed.push(error.into()),
            }
            Ok::<_, PathError>(ControlFlow::Continue(()))
        })?;
    }
    Ok((found.into_iter().collect(), failed))
}

/// Whether `collection` has a tombstone of an item of which `other` has the files.
fn is_tombstone_of(
    collection: &Collection,
    other: &Collection,
    name: &RepositoryName,
) -> Result<bool, CollectionError> {
    let item = match collection.item(name) {
        Err(error) if error.is_absence() => return Ok(false),
        item => item?,
    };
    let sidecar = item.sidecar_if_sound()?;
    let is_deleted = sidecar.is_some_and(|sidecar| sidecar.state == State::Deleted);
    Ok(is_deleted && other.item(name)?.has_payload()?)
}

/// Whether the item of an entry is deleted, and is not only an older state of another one.
fn is_deleted(collection: &Collection, trashed: &Trashed) -> Result<bool, RemovalError> {
    let Some(item) = collection.trashed_item(trashed)? else { return Ok(false) };
    let present = match collection.item(&trashed.name) {
        Err(error) if error.is_absence() => return Ok(false),
        present => present?.sidecar()?.0,
    };
    Ok(match present.state {
        State::Original | State::Copy => false,
        State::Deleted => item.has_payload()?,
        State::Elsewhere => {
            let copy = item.sidecar_if_sound()?;
            copy.is_some_and(|copy| copy.custody.id() == present.custody.id())
        }
    })
}
