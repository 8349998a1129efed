//! The remains of a deleted item: found, read and compared, without changing them.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use super::{DamageRule, RemovalError, Restoration};
use crate::collection::{Collection, CollectionError, ReadSidecar, Recall, StoredItem, Trashed};
use crate::custody::{self, Refusal};
use crate::disk::Dir;
use crate::holdings::{Sight, with_line};
use crate::identity::{Instant, RepositoryName};
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

/// Deleted data that can be restored.
pub(super) enum DeletedItem {
    /// A tombstone, and the place of its payload: in the trash, or already beside it.
    Tombstone { record: ReadSidecar, trashed: Option<Trashed> },
    /// Nothing: the item is not deleted. The trash may hold files that were replaced in it.
    Empty { item: StoredItem, sidecar: Sidecar, kept: Vec<PathBuf> },
    /// A whole Copy in the trash, which may hold others of the item.
    Copy { sidecar: Sidecar, trashed: Trashed, kept: Vec<PathBuf> },
}

impl Search<'_> {
    pub(super) fn find(&self, name: &RepositoryName) -> Result<DeletedItem, RemovalError> {
        match self.collection.item(name) {
            Ok(item) => self.below_tombstone(item),
            Err(CollectionError::NoSuchItem { .. }) => match self.copy(name)? {
                Some(deleted) => Ok(deleted),
                None => Err(self.not_deleted(name)?),
            },
            Err(error) => Err(error.into()),
        }
    }

    /// The error for an absent item without deleted data.
    fn not_deleted(&self, name: &RepositoryName) -> Result<RemovalError, RemovalError> {
        let absence = self.collection.absent(name);
        let kept = self.collection.kept_in_trash(name)?;
        if kept.is_empty() || !absence.is_absence() {
            return Ok(absence.into());
        }
        Ok(RemovalError::NotDeleted { absence: Box::new(absence), kept })
    }

    /// The same under the lock of the item, unless another run has changed it since it was found.
    pub(super) fn unchanged(
        &self,
        name: &RepositoryName,
        deleted: DeletedItem,
    ) -> Result<Option<DeletedItem>, RemovalError> {
        let now = match self.collection.item(name) {
            Err(CollectionError::NoSuchItem { .. }) => None,
            outcome => Some(outcome?),
        };
        match (deleted, now) {
            (DeletedItem::Tombstone { record, trashed }, Some(item)) => {
                let is_there = match &trashed {
                    Some(trashed) => self.collection.trashed_payload(trashed)?.is_some(),
                    None => true,
                };
                let is_same = item.sidecar_text()? == record.text
                    && is_there
                    && item.has_payload()? == trashed.is_none();
                if is_same && state_before(&record.sidecar) == State::Original {
                    self.check_custody(&item, &record)?;
                }
                Ok(is_same.then_some(DeletedItem::Tombstone { record, trashed }))
            }
            (DeletedItem::Copy { sidecar, trashed, kept }, None) => {
                let Some(item) = self.collection.trashed_copy(&trashed)? else { return Ok(None) };
                let is_same = item.sidecar()?.0 == sidecar;
                Ok(is_same.then_some(DeletedItem::Copy { sidecar, trashed, kept }))
            }
            _ => Ok(None),
        }
    }

    fn below_tombstone(&self, item: StoredItem) -> Result<DeletedItem, RemovalError> {
        let record = item.read_sidecar()?;
        let name = item.name();
        if record.sidecar.state == State::Elsewhere {
            let holder = record.sidecar.custody.holder().to_owned();
            return Err(RemovalError::refused(name, Refusal::Elsewhere { holder }));
        }
        if record.sidecar.state != State::Deleted {
            let kept = self.collection.kept_in_trash(name)?;
            return Ok(DeletedItem::Empty { item, sidecar: record.sidecar, kept });
        }
        if record.seal != Seal::Intact && self.restoration.damage == DamageRule::Refuse {
            let detail = "its tombstone does not match its seal".to_owned();
            return Err(RemovalError::Damaged { name: name.clone(), detail });
        }
        if state_before(&record.sidecar) == State::Original {
            self.check_custody(&item, &record)?;
        }
        // An earlier run was killed after it moved the payload here, or before it moved the payload away.
        let trashed = if item.has_payload()? {
            let doc = item.dir().open_dir(Path::new(layout::PAYLOAD))?;
            match self.damage_of(doc, &record.sidecar)? {
                Some(detail) if self.restoration.damage == DamageRule::Refuse => {
                    return Err(RemovalError::Damaged { name: name.clone(), detail });
                }
                _ => None,
            }
        } else {
            let chosen =
                self.choose(name, |trashed| match self.collection.trashed_payload(trashed)? {
                    Some(doc) => self.damage_of(doc, &record.sidecar).map(Some),
                    None => Ok(None),
                })?;
            if chosen.is_none() {
                let kept = self.collection.kept_in_trash(name)?;
                return Err(RemovalError::NotInTrash { name: name.clone(), kept });
            }
            chosen
        };
        Ok(DeletedItem::Tombstone { record, trashed })
    }

    /// Makes sure that nothing in sight is newer than the tombstone.
    fn check_custody(&self, item: &StoredItem, record: &ReadSidecar) -> Result<(), RemovalError> {
        let mut own = item.holding(record, self.collection.id())?;
        own.has = custody::Has::Tombstone;
        let mut seen = with_line(self.collection, item.name(), &own)?;
        for other in self.restoration.others {
            if !self.collection.is_same(other)? {
                seen.extend(Sight::of(item.name(), &[other]).whole()?);
            }
        }
        let refused = |refusal| RemovalError::refused(item.name(), refusal);
        custody::restore(&own, &seen).map_err(refused)
    }

    fn damage_of(&self, doc: Dir, sidecar: &Sidecar) -> Result<Option<String>, RemovalError> {
        let findings = verify_payload(doc, sidecar, Depth::Full, self.progress, self.interrupt);
        let findings = findings.ok_or(RemovalError::Interrupted)?;
        findings.check_shortage()?;
        Ok(summarize_damage(&findings))
    }

    fn copy(&self, name: &RepositoryName) -> Result<Option<DeletedItem>, RemovalError> {
        let chosen = self.choose(name, |trashed| {
            let Some(item) = self.collection.trashed_copy(trashed)? else { return Ok(None) };
            match item.sidecar() {
                // It gave way to another one.
                Ok((sidecar, _)) if sidecar.state != State::Copy => return Ok(None),
                Err(CollectionError::Disk(error)) => return Err(error.into()),
                // The next check finds an unusable sidecar damaged.
                Ok(_) | Err(_) => {}
            }
            let report = verify_item(&item, Depth::Full, self.progress, self.interrupt);
            let report = report.ok_or(RemovalError::Interrupted)?;
            report.findings.check_shortage()?;
            Ok(Some(summarize_damage(&report.findings)))
        })?;
        let Some(trashed) = chosen else { return Ok(None) };
        let Some(item) = self.collection.trashed_copy(&trashed)? else { return Ok(None) };
        let (sidecar, _) = item.sidecar()?;
        let mut kept = Vec::new();
        for other in self.collection.trashed_of(name, Recall::Fresh)? {
            if other != trashed && self.collection.trashed_copy(&other)?.is_some() {
                kept.push(self.collection.trashed_dir(&other)?.path().to_path_buf());
            }
        }
        kept.sort();
        Ok(Some(DeletedItem::Copy { sidecar, trashed, kept }))
    }

    /// The last update of the Copy in an entry, if readable, and when the entry went to the trash.
    fn age(&self, trashed: &Trashed) -> (Option<Instant>, Option<Instant>) {
        let copy = self.collection.trashed_copy(trashed).ok().flatten();
        let updated =
            copy.and_then(|copy| copy.sidecar().ok()).map(|(sidecar, _)| sidecar.timestamp);
        let entry = self.collection.trashed_dir(trashed).and_then(|entry| entry.own_stat());
        (updated, entry.ok().map(|entry| entry.modified))
    }

    /// The newest entry of the trash that `examine` finds to be whole, or the newest damaged one by the rule.
    fn choose(
        &self,
        name: &RepositoryName,
        examine: impl Fn(&Trashed) -> Result<Option<Option<String>>, RemovalError>,
    ) -> Result<Option<Trashed>, RemovalError> {
        let mut damaged = None;
        // Another run may have deleted the item since the trash was listed.
        let mut examined = Vec::new();
        for recall in [Recall::Listed, Recall::Fresh] {
            let mut entries = self.collection.trashed_of(name, recall)?;
            entries.sort_by_cached_key(|trashed| Reverse(self.age(trashed)));
            for trashed in entries {
                if examined.contains(&trashed) {
                    continue;
                }
                match examine(&trashed)? {
                    Some(None) => return Ok(Some(trashed)),
                    Some(Some(detail)) => {
                        damaged.get_or_insert((trashed.clone(), detail));
                    }
                    None => {}
                }
                examined.push(trashed);
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

/// The state of the item before its tombstone. A deleted Copy leaves none, so a tombstone without the state
/// was an Original.
pub(super) fn state_before(tombstone: &Sidecar) -> State {
    tombstone.removal.as_ref().map_or(State::Original, |removal| removal.was)
}

/// The tombstone of an item whose payload lies beside it.
pub(super) fn tombstone_with_payload(
    collection: &Collection,
    name: &RepositoryName,
) -> Result<Option<Sidecar>, CollectionError> {
    let item = match collection.item(name) {
        Err(CollectionError::NoSuchItem { .. }) => return Ok(None),
        outcome => outcome?,
    };
    if !item.has_payload()? {
        return Ok(None);
    }
    let (sidecar, _) = item.sidecar()?;
    Ok((sidecar.state == State::Deleted).then_some(sidecar))
}
