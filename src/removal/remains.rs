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
use crate::verify::{Depth, summarize_damage, verify_item, verify_payload};

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

/// Whether an item in the trash is the deleted one.
enum Candidate {
    /// It is the one, whole.
    Whole,
    /// It may be the one; with its damage.
    Damaged(String),
    /// It is an older one.
    Other,
}

impl Candidate {
    fn of(damage: Option<String>) -> Candidate {
        damage.map_or(Candidate::Whole, Candidate::Damaged)
    }
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
                let (trashed, donor, deleted) = (None, None, None);
                return Ok(RestoreSource { record, trashed, donor, deleted, kept });
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
        let deleted = self.deleted(name, &record)?;
        let chosen = self.choose(name, &record, deleted.as_ref())?;
        let mut kept = self.collection.kept_in_trash(name)?;
        if let Some(trashed) = &chosen {
            kept.retain(|entry| *entry != self.collection.path_of_trashed(trashed));
            let deleted = deleted.map(|(_, read)| read);
            let deleted = deleted.filter(|it| !differing(&record.sidecar, &it.sidecar).is_empty());
            return Ok(RestoreSource { record, trashed: chosen, donor: None, deleted, kept });
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
                Ok(RestoreSource { record, trashed: None, donor, deleted: None, kept })
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
        Ok(item.sidecar_text()? == record.text
            && self.collection.trashed_item(trashed)?.is_some()
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

    /// The newest entry of the trash with a sealed sidecar of what this tombstone has deleted, or that a killed restoration
    /// has made of it. A tombstone may have been built from an older state; this was the state of the item itself.
    fn deleted(
        &self,
        name: &RepositoryName,
        record: &ReadSidecar,
    ) -> Result<Option<(Trashed, ReadSidecar)>, RemovalError> {
        let tombstone = &record.sidecar;
        if tombstone.state != State::Deleted {
            return Ok(None);
        }
        let mut entries = self.collection.trashed_of(name)?;
        entries.sort_by_key(|trashed| Reverse(trashed.since));
        for trashed in entries {
            let Some(item) = self.collection.trashed_item(&trashed)? else { continue };
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

    /// Whether the item in an entry is the deleted one, with these `contents`, and whether it is whole.
    fn examine(
        &self,
        trashed: &Trashed,
        record: &ReadSidecar,
        contents: &Sidecar,
    ) -> Result<Candidate, RemovalError> {
        let Some(item) = self.collection.trashed_item(trashed)? else {
            return Ok(Candidate::Other);
        };
        if record.sidecar.state == State::Deleted {
            let Some(doc) = item.dir().open_dir_if_there(layout::PAYLOAD)? else {
                return Ok(Candidate::Other);
            };
            // What was sealed with other files is another state, and not this one damaged.
            if let Ok((own, Seal::Intact)) = item.sidecar()
                && own.state.has_payload()
                && own.payload != contents.payload
            {
                return Ok(Candidate::Other);
            }
            return self.damage_of(doc, contents).map(Candidate::of);
        }
        match item.sidecar() {
            Ok((copy, _)) if copy.custody.id() != record.sidecar.custody.id() => {
                return Ok(Candidate::Other);
            }
            Err(CollectionError::Disk(error)) => return Err(error.into()),
            // The next check finds an unusable sidecar damaged.
            Ok(_) | Err(_) => {}
        }
        let report = verify_item(&item, Depth::Full, self.progress, self.interrupt);
        let report = report.ok_or(RemovalError::Interrupted)?;
        report.findings.check_shortage()?;
        Ok(Candidate::of(summarize_damage(&report.findings)))
    }

    /// The entry of the trash that has the deleted item whole, or a damaged one by the rule: that with the `deleted`
    /// sidecar, or else the newest.
    fn choose(
        &self,
        name: &RepositoryName,
        record: &ReadSidecar,
        deleted: Option<&(Trashed, ReadSidecar)>,
    ) -> Result<Option<Trashed>, RemovalError> {
        let contents = deleted.map_or(&record.sidecar, |(_, read)| &read.sidecar);
        let is_deleted = |it: &Trashed| deleted.is_some_and(|(trashed, _)| trashed == it);
        let mut damaged = None;
        let mut entries = self.collection.trashed_of(name)?;
        entries.sort_by_key(|trashed| Reverse((is_deleted(trashed), trashed.since)));
        for trashed in entries {
            match self.examine(&trashed, record, contents)? {
                Candidate::Whole => return Ok(Some(trashed)),
                Candidate::Damaged(detail) => {
                    damaged.get_or_insert((trashed, detail));
                }
                Candidate::Other => {}
            }
        }
        match damaged {
            None => Ok(None),
            Some((trashed, _)) if self.restoration.damage == DamageRule::Accept => {
                Ok(Some(trashed))
            }
            Some((_, detail)) => Err(RemovalError::TrashDamaged { name: name.clone(), detail }),
        }
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
