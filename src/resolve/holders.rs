//! The items of several collections, by the reader rule.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::path::PathBuf;

use super::record::{ItemRecord, Items};
use crate::collection::{Collection, CollectionError, Lookup};
use crate::export::MetadataFormat;
use crate::holdings::{JudgedHolding, Ledgers, Standing, holdings_with};
use crate::identity::{FormatName, Identifier, Instant, RepositoryName, RequiredStatus};
use crate::item::State;
use crate::sidecar::{Seal, Sidecar};

/// The items of several collections.
///
/// The holding nearest to the Original answers for an item; among equal ones, that of the first collection.
#[derive(Debug)]
pub struct Holders<'a> {
    collections: &'a [Collection],
    lookups: Vec<Lookup<'a>>,
    alerts: RefCell<Vec<Alert>>,
}

/// A problem with an item on the way to an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alert {
    /// Several collections say that they hold the Original.
    TwoOriginals {
        /// The item.
        name: RepositoryName,
        /// The collections, counted from 0.
        collections: Vec<usize>,
    },
    /// A collection has the item, but its sidecar cannot be read.
    Unreadable {
        /// The item.
        name: RepositoryName,
        /// The collection, counted from 0.
        collection: usize,
        /// Why.
        reason: String,
    },
    /// The Original was deleted; a Copy answers.
    Deleted {
        /// The item.
        name: RepositoryName,
        /// When.
        date: Instant,
    },
    /// The sidecar that answers does not match its seal.
    Unsealed {
        /// The item.
        name: RepositoryName,
        /// The collection, counted from 0.
        collection: usize,
    },
}

/// An item, and the holding that answers for it.
#[derive(Clone, Debug)]
pub struct HeldItem {
    /// The part of the sidecar that resolving needs.
    pub record: ItemRecord,
    /// The sidecar.
    pub sidecar: Sidecar,
    /// The collection, counted from 0.
    pub collection: usize,
    /// The item's directory.
    pub path: PathBuf,
    /// The standing of the holding.
    pub standing: Standing,
    /// The collections that hold the Original, counted from 0: one if all is well.
    pub originals: Vec<usize>,
    /// When another collection deleted it, if one did.
    pub removed: Option<Instant>,
}

impl Borrow<ItemRecord> for HeldItem {
    fn borrow(&self) -> &ItemRecord {
        &self.record
    }
}

impl<'a> Holders<'a> {
    /// The items of `collections`.
    pub fn new(collections: &'a [Collection]) -> Holders<'a> {
        let lookups = collections.iter().map(Lookup::new).collect();
        Holders { collections, lookups, alerts: RefCell::default() }
    }

    /// Problems of the items that were looked up.
    pub fn alerts(&self) -> Vec<Alert> {
        self.alerts.borrow().clone()
    }

    fn alert(&self, alert: Alert) {
        let mut alerts = self.alerts.borrow_mut();
        if !alerts.contains(&alert) {
            alerts.push(alert);
        }
    }

    /// The item called `name`, from its best holding; `None` if there is none. If the Original is required
    /// and exists, it answers.
    pub(super) fn held(
        &self,
        name: &RepositoryName,
        required: RequiredStatus,
    ) -> Result<Option<HeldItem>, CollectionError> {
        let (mut found, mut sidecars) =
            holdings_with(name, &self.lookups, Ledgers::Follow, |sidecar| sidecar);
        let originals = found.originals();
        let best = (0..found.all.len()).min_by_key(|at| rank(&found.all[*at], required));
        let Some(best) = best else { return Ok(None) };
        let holding = found.all.swap_remove(best);
        // A stub is no holding that could answer.
        if holding.standing == Standing::Elsewhere {
            return Ok(None);
        }
        let seal = holding.record?.seal;
        let Some(sidecar) = sidecars.swap_remove(best) else {
            return Err(CollectionError::NoSidecar { name: name.clone() });
        };
        let mut item = HeldItem {
            record: ItemRecord::of(&sidecar),
            sidecar,
            collection: holding.collection,
            path: holding.path,
            standing: holding.standing,
            originals,
            removed: found.all.iter().find_map(removed),
        };
        if item.standing == Standing::Original {
            item.record.state = State::Original;
        }
        self.alert_of(&item, &found.all, seal);
        Ok(Some(item))
    }

    /// Notes problems of the holdings of an item.
    fn alert_of(&self, item: &HeldItem, others: &[JudgedHolding], seal: Seal) {
        let name = || item.record.name.clone();
        for other in others {
            if let Err(error) = &other.record {
                let (collection, reason) = (other.collection, error.to_string());
                self.alert(Alert::Unreadable { name: name(), collection, reason });
            }
        }
        if item.originals.len() > 1 {
            let collections = item.originals.clone();
            self.alert(Alert::TwoOriginals { name: name(), collections });
        }
        if let (Some(date), [], true) =
            (item.removed, item.originals.as_slice(), item.record.state.has_payload())
        {
            self.alert(Alert::Deleted { name: name(), date });
        }
        if seal != Seal::Intact {
            self.alert(Alert::Unsealed { name: name(), collection: item.collection });
        }
    }
}

/// When a holding was removed, if it is a tombstone.
fn removed(holding: &JudgedHolding) -> Option<Instant> {
    let record = holding.record.as_ref().ok();
    record.filter(|record| record.state == State::Deleted).map(|record| record.timestamp)
}

type Rank = (u8, u8, Reverse<Option<(u64, Instant)>>);

/// The lower, the nearer a holding is to the Original. The Original and its current Copies are equal, unless
/// the Original is required; of outdated ones, the newest. A tombstone answers where nothing has the files, or the
/// Original is required [resolution, E15]. A sidecar that does not match its seal comes last.
fn rank(holding: &JudgedHolding, required: RequiredStatus) -> Rank {
    let standing = match holding.standing {
        Standing::Original => 0,
        Standing::Current if required == RequiredStatus::Any => 0,
        Standing::Current => 1,
        Standing::Deleted if required == RequiredStatus::Original => 2,
        Standing::Behind | Standing::Fork | Standing::Orphan => 2,
        Standing::Deleted => 3,
        // A stub has no contents; another holding answers, if there is one.
        Standing::Elsewhere => 4,
        Standing::Damaged => 5,
    };
    let record = holding.record.as_ref().ok();
    let is_unsealed = record.is_some_and(|record| record.seal != Seal::Intact);
    let outdated =
        record.filter(|_| standing > 1).map(|it| (it.rule.custody.epoch(), it.rule.changed));
    let trust = match record {
        None => 2,
        Some(_) if is_unsealed && required == RequiredStatus::Any => 1,
        Some(_) => 0,
    };
    (trust, standing, Reverse(outdated))
}

impl Items for Holders<'_> {
    type Item = HeldItem;
    type Error = CollectionError;

    fn item(&self, identifier: &Identifier) -> Result<Option<HeldItem>, CollectionError> {
        match identifier {
            Identifier::Repository(name) => self.held(name, RequiredStatus::Any),
            label => match Collection::find_in(self.collections, label.as_str())? {
                Some(name) => self.held(&name, RequiredStatus::Any),
                None => Ok(None),
            },
        }
    }

    fn renders(&self, format: &FormatName) -> bool {
        MetadataFormat::named(format.as_str()).is_some()
    }
}
