//! The holding of an item in a collection, read from its sidecar.

use std::borrow::Borrow;

use super::judge::{Seen, judge};
use super::{Holding, HoldingRecord, Holdings, Standing};
use crate::collection::{Collection, CollectionError, Lookup};
use crate::disk::Version;
use crate::identity::RepositoryName;
use crate::item::{State, manifest};
use crate::layout;
use crate::sidecar::{Seal, Sidecar};

/// Number of readings of an item that keeps changing.
const ATTEMPTS: usize = 8;

/// The holdings of the item `name` in `collections`; one path is looked up in each.
///
/// The collections are read one after the other, perhaps while the item moves between them. A concern counts
/// only if a second reading finds every sidecar unchanged: then all of them existed at the same time.
pub fn holdings<C: Borrow<Collection>>(name: &RepositoryName, collections: &[C]) -> Holdings {
    let lookups: Vec<_> = collections.iter().map(|it| Lookup::new(it.borrow())).collect();
    holdings_with(name, &lookups, drop).0
}

/// The same, with the result of `keep` for each sidecar; `None` for one that cannot be read.
pub(crate) fn holdings_with<T>(
    name: &RepositoryName,
    lookups: &[Lookup<'_>],
    keep: impl Fn(Sidecar) -> T,
) -> (Holdings, Vec<Option<T>>) {
    let mut reading = Reading::of(name, lookups, &keep);
    let mut repeated = 0;
    for _ in 1..ATTEMPTS {
        // An item found nowhere may have moved meanwhile; only a second reading that finds it nowhere
        // excludes that.
        let needed = if reading.all.is_empty() { 2 } else { 1 };
        if repeated == needed || reading.is_settled() {
            break;
        }
        let again = Reading::of(name, lookups, &keep);
        repeated = if again.versions == reading.versions { repeated + 1 } else { 0 };
        reading = again;
    }
    (Holdings { name: name.clone(), all: reading.all }, reading.kept)
}

/// The holdings of all collections, read once.
struct Reading<T> {
    all: Vec<Holding>,
    /// The collection of each sidecar, and its version unless it cannot be read.
    versions: Vec<(usize, Option<Version>)>,
    /// The result of `keep` for each sidecar.
    kept: Vec<Option<T>>,
}

impl<T> Reading<T> {
    fn of(
        name: &RepositoryName,
        lookups: &[Lookup<'_>],
        keep: &impl Fn(Sidecar) -> T,
    ) -> Reading<T> {
        let mut reading = Reading { all: Vec::new(), versions: Vec::new(), kept: Vec::new() };
        for (at, lookup) in lookups.iter().enumerate() {
            if let Some((holding, read)) = read_with(name, at, lookup, keep) {
                let (version, kept) = read.unzip();
                reading.all.push(holding);
                reading.versions.push((at, version));
                reading.kept.push(kept);
            }
        }
        let collections: Vec<_> = lookups.iter().map(Lookup::collection).collect();
        judge_all(&mut reading.all, &collections);
        reading
    }

    /// Whether there is exactly one Original, and no holding disagrees with it.
    fn is_settled(&self) -> bool {
        let originals = self.all.iter().filter(|it| it.standing == Standing::Original).count();
        let in_accord = |holding: &Holding| {
            matches!(holding.standing, Standing::Original | Standing::Current)
                && holding.record.as_ref().is_ok_and(|record| record.handover.is_none())
        };
        originals == 1 && self.all.iter().all(in_accord)
    }
}

/// Sets the standing of each of the holdings of one item.
fn judge_all(all: &mut [Holding], collections: &[&Collection]) {
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

/// The holding of `collection`, not yet judged; `None` only if it certainly has none.
pub(crate) fn read(name: &RepositoryName, at: usize, collection: &Collection) -> Option<Holding> {
    read_with(name, at, &Lookup::new(collection), &drop).map(|(holding, _)| holding)
}

/// The same, with the version of the sidecar and the result of `keep`.
fn read_with<T>(
    name: &RepositoryName,
    at: usize,
    lookup: &Lookup<'_>,
    keep: &impl Fn(Sidecar) -> T,
) -> Option<(Holding, Option<(Version, T)>)> {
    let mut holding = Holding {
        collection: at,
        name: name.clone(),
        path: lookup.collection().path().join(layout::item_directory(name)),
        record: Err(CollectionError::NoSidecar { name: name.clone() }),
        standing: Standing::Unreadable,
        against: None,
    };
    let mut kept = None;
    holding.record = match lookup.item(name) {
        Ok(Some(item)) => {
            item.path().clone_into(&mut holding.path);
            item.name().clone_into(&mut holding.name);
            let read = item.read_sidecar();
            if matches!(read, Err(CollectionError::NoSidecar { .. }))
                && item.is_no_item(lookup.collection()).unwrap_or(false)
            {
                return None;
            }
            read.map(|read| {
                let record = HoldingRecord::of(&read.sidecar, read.seal);
                kept = Some((read.version, keep(read.sidecar)));
                record
            })
        }
        Ok(None) => return None,
        Err(error) => Err(error),
    };
    Some((holding, kept))
}

impl HoldingRecord {
    /// The record of `sidecar`.
    pub fn of(sidecar: &Sidecar, seal: Seal) -> HoldingRecord {
        HoldingRecord {
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
