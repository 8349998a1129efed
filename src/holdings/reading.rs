//! The holding of an item in a collection, read from its sidecar.

use std::borrow::Borrow;
use std::sync::Arc;

use super::sight::line_below;
use super::{HoldingRecord, Holdings, JudgedHolding, Standing};
use crate::collection::{Collection, CollectionError, Lookup};
use crate::custody::{self, Custody, CustodyId, Has};
use crate::disk::Version;
use crate::identity::Instant;
use crate::identity::RepositoryName;
use crate::item::State;
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
    holdings_with(name, &lookups, Ledgers::Follow, drop).0
}

/// How far the ledgers of the collections are read for an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ledgers {
    /// To their present ends.
    Follow,
    /// As far as they were read, lately and without an error: for each of many items, to ask for their ends costs two stats.
    AsRead,
}

/// The same, with the result of `keep` for each sidecar; `None` for one that cannot be read. A second reading follows the
/// ledgers: what changed after they were read looks unsettled to the first.
pub(crate) fn holdings_with<T>(
    name: &RepositoryName,
    lookups: &[Lookup<'_>],
    ledgers: Ledgers,
    keep: impl Fn(Sidecar) -> T,
) -> (Holdings, Vec<Option<T>>) {
    let mut reading = Reading::of(name, lookups, ledgers, &keep);
    let mut repeated = 0;
    for _ in 1..ATTEMPTS {
        // An item found nowhere may have moved meanwhile; only a second reading that finds it nowhere
        // excludes that.
        let needed = if reading.all.is_empty() { 2 } else { 1 };
        if repeated == needed || reading.is_settled() {
            break;
        }
        let again = Reading::of(name, lookups, Ledgers::Follow, &keep);
        repeated = if again.versions == reading.versions { repeated + 1 } else { 0 };
        reading = again;
    }
    (Holdings { name: name.clone(), all: reading.all }, reading.kept)
}

/// The holdings of all collections, read once.
struct Reading<T> {
    all: Vec<JudgedHolding>,
    /// The collection of each sidecar, and its version unless it cannot be read.
    versions: Vec<(usize, Option<Version>)>,
    /// The result of `keep` for each sidecar.
    kept: Vec<Option<T>>,
}

impl<T> Reading<T> {
    fn of(
        name: &RepositoryName,
        lookups: &[Lookup<'_>],
        ledgers: Ledgers,
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
        judge_all(name, &mut reading.all, &collections, ledgers);
        reading
    }

    /// Whether there is exactly one Original, and no holding disagrees with it.
    fn is_settled(&self) -> bool {
        let originals = self.all.iter().filter(|it| it.standing == Standing::Original).count();
        let in_accord = |holding: &JudgedHolding| {
            matches!(holding.standing, Standing::Original | Standing::Current)
                && holding.record.as_ref().is_ok_and(|it| it.rule.custody.ceded().is_none())
        };
        originals == 1 && self.all.iter().all(in_accord)
    }
}

/// Sets the standing of each of the holdings of one item, by those holdings and by the latest line of each collection.
fn judge_all(
    name: &RepositoryName,
    all: &mut Vec<JudgedHolding>,
    collections: &[&Collection],
    ledgers: Ledgers,
) {
    let id = |at: usize| collections[at].id();
    let mut lines = Vec::new();
    for (at, collection) in collections.iter().enumerate() {
        let own = all.iter_mut().find(|it| it.collection == at);
        let rule = own.as_ref().map(|own| own.seen(id(at)));
        let followed = match ledgers {
            Ledgers::Follow => collection.follow_ledger(),
            Ledgers::AsRead => Ok(()),
        };
        match (followed.and_then(|()| line_below(name, collection, rule.as_ref())), own) {
            (Ok(line), _) => lines.extend(line),
            // An error is never an absence.
            (Err(error), Some(own)) => own.record = Err(error.into()),
            (Err(error), None) => all.push(JudgedHolding::new(name, at, collection, error.into())),
        }
    }
    let mut seen: Vec<_> = all.iter().map(|it| it.seen(id(it.collection))).collect();
    seen.extend(lines);
    let verdict = custody::judge(&seen);
    let in_place = |at: &usize| *at < all.len();
    let (highest, first) = (verdict.highest.filter(in_place), verdict.original.filter(in_place));
    let contents =
        |it: &JudgedHolding| it.record.as_ref().ok().map(|it| (it.content, it.description));
    let original = first.and_then(|at| contents(&all[at]));
    let newest = highest.filter(|at| seen[*at].has_payload()).and_then(|at| contents(&all[at]));
    let is_copy = |it: &JudgedHolding| it.record.as_ref().is_ok_and(|it| it.state == State::Copy);
    let at_of = |place: Option<usize>| place.map(|at| all[at].collection);
    let (against, against_original) = (at_of(highest), at_of(first));
    let is_of_original =
        |at: usize| first.is_some_and(|it| seen[it].custody.id() == seen[at].custody.id());
    let is_below_its_line = |at: usize| {
        let mut lines = seen.iter().filter(|it| it.at == seen[at].at && !it.is_in_place());
        lines.any(|line| !seen[at].covers(line))
    };
    for (at, holding) in all.iter_mut().enumerate() {
        (holding.standing, holding.against) = match verdict.standings[at] {
            // One custody has one contents: somebody has changed them, and sealed them again. An Original with another custody
            // is behind, and has other contents rightly.
            Standing::Current
                if is_of_original(at) && original.is_some() && contents(holding) != original =>
            {
                (Standing::Fork, against_original)
            }
            // It was copied before the Original moved on, and says the same. One that lacks what its own ledger says was put back.
            Standing::Behind
                if is_copy(holding)
                    && newest.is_some()
                    && contents(holding) == newest
                    && !is_below_its_line(at) =>
            {
                (Standing::Current, None)
            }
            standing @ (Standing::Behind | Standing::Fork) => {
                (standing, against.filter(|_| highest != Some(at)))
            }
            standing => (standing, None),
        };
        let named = seen[at].custody.holder();
        let holder = (0..collections.len()).find(|other| id(*other) == named);
        holding.relies_on = holder.filter(|holder| {
            let there = seen.iter().find(|it| it.is_in_place() && it.at == id(*holder));
            // A stub of an item that its holder gave up relies on nobody.
            let is_given_up = || {
                let recorded = collections[*holder].last_record(name);
                there.is_none() && recorded.is_ok_and(|line| line.is_some_and(|it| it.is_loss()))
            };
            seen[at].lacks_its_holder(there) && !is_given_up()
        });
    }
}

/// The holding of `collection`, not yet judged; `None` only if it certainly has none.
pub(crate) fn read(
    name: &RepositoryName,
    at: usize,
    collection: &Collection,
) -> Option<JudgedHolding> {
    read_with(name, at, &Lookup::new(collection), &drop).map(|(holding, _)| holding)
}

/// The same, with the version of the sidecar and the result of `keep`.
fn read_with<T>(
    name: &RepositoryName,
    at: usize,
    lookup: &Lookup<'_>,
    keep: &impl Fn(Sidecar) -> T,
) -> Option<(JudgedHolding, Option<(Version, T)>)> {
    let no_sidecar = CollectionError::NoSidecar { name: name.clone() };
    let mut holding = JudgedHolding::new(name, at, lookup.collection(), no_sidecar);
    let mut kept = None;
    holding.record = match lookup.item(name) {
        Ok(Some(item)) => {
            item.path().clone_into(&mut holding.path);
            item.name().clone_into(&mut holding.name);
            let read = item.kept_sidecar();
            if matches!(read, Err(CollectionError::NoSidecar { .. }))
                && item.is_no_item(lookup.collection()).unwrap_or(false)
            {
                return None;
            }
            read.and_then(|read| {
                let rule = item.holding_of((&read.sidecar, read.seal), lookup.collection().id())?;
                let record = HoldingRecord::of(rule, &read.sidecar, read.seal);
                kept = Some((read.version, keep(Arc::unwrap_or_clone(read).sidecar)));
                Ok(record)
            })
        }
        Ok(None) => return None,
        Err(error) => Err(error),
    };
    Some((holding, kept))
}

impl HoldingRecord {
    /// The record of `sidecar`, whose item is `rule`.
    pub(crate) fn of(rule: custody::Holding, sidecar: &Sidecar, seal: Seal) -> HoldingRecord {
        HoldingRecord {
            state: sidecar.state,
            ibip: sidecar.ibip.clone(),
            timestamp: sidecar.timestamp,
            payload: sidecar.payload,
            content: sidecar.files.content_digest(),
            description: sidecar.description_digest(),
            rule,
            seal,
        }
    }
}

impl JudgedHolding {
    /// What the collection `collection`, the one of number `at`, has of `name`, if that cannot be read.
    fn new(
        name: &RepositoryName,
        at: usize,
        collection: &Collection,
        error: CollectionError,
    ) -> JudgedHolding {
        JudgedHolding {
            collection: at,
            name: name.clone(),
            path: collection.path().join(layout::item_directory(name)),
            record: Err(error),
            standing: Standing::Damaged,
            against: None,
            relies_on: None,
        }
    }

    /// The holding of the collection with the id `at`, as the rule takes it. One that cannot be read neither speaks nor is
    /// covered.
    fn seen(&self, at: &str) -> custody::Holding {
        match &self.record {
            Ok(record) => record.rule.clone(),
            Err(_) => custody::Holding {
                at: at.to_owned(),
                has: Has::Damaged,
                custody: Custody::first(CustodyId::from([0; 8]), ""),
                changed: Instant::from_seconds(0),
            },
        }
    }
}
