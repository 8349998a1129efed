//! Differences between an accepted sidecar and other records of its item.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::OnceLock;

use toml::{Table, Value};

use super::facts::{DonorFacts, Written};
use super::{RepairError, fixed};
use crate::collection::{Collection, is_logged_as};
use crate::disk::PathError;
use crate::identity::{Identifier, Instant, RepositoryName};
use crate::sidecar::{Access, KeyChange, Metadata, Relations, Sidecar};

/// An unsealed sidecar that is accepted, compared with other records of the item.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    /// The reference of the comparison.
    pub compared: Compared,
    /// The keys of the description, and below `x`, that differ.
    pub changes: Vec<KeyChange>,
    /// Values that nothing confirms, each as an added value.
    pub unproven: Vec<KeyChange>,
    /// The other keys that are known to be wrong, by rot or by mistake.
    pub damaged: Vec<String>,
    /// Whether the sidecar contradicts itself, the other holding or the log about the payload.
    pub is_payload_in_doubt: bool,
}

/// The reference of an accepted sidecar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// The sealed sidecar of the same item in this collection.
    Holding(PathBuf),
    /// The last values in the event log. Keys that are not in the log may have changed as well.
    Log,
    /// Nothing: only the present values are known.
    Nothing,
}

/// The event log's record of an item.
#[derive(Clone, Debug, Default)]
struct Logged {
    /// The last values of keys.
    values: BTreeMap<String, Option<serde_json::Value>>,
    /// The last digest of the manifest.
    digest: Option<String>,
}

/// The event log's record of the items of a run. The log is read once, when the first of them needs it.
#[derive(Debug, Default)]
pub struct LoggedItems {
    names: BTreeSet<String>,
    read: OnceLock<BTreeMap<String, Logged>>,
}

impl LoggedItems {
    /// For a run over these items.
    pub fn of<'n>(names: impl IntoIterator<Item = &'n RepositoryName>) -> LoggedItems {
        let names = names.into_iter().map(RepositoryName::folded).collect();
        LoggedItems { names, read: OnceLock::new() }
    }

    fn get(&self, collection: &Collection, name: &RepositoryName) -> Result<Logged, PathError> {
        let name = name.folded();
        if !self.names.contains(&name) {
            let mut only = read_log(collection, &BTreeSet::from([name]))?;
            return Ok(only.pop_first().map(|(_, logged)| logged).unwrap_or_default());
        }
        let read = if let Some(read) = self.read.get() {
            read
        } else {
            let read = read_log(collection, &self.names)?;
            self.read.get_or_init(|| read)
        };
        Ok(read.get(&name).cloned().unwrap_or_default())
    }
}

fn read_log(
    collection: &Collection,
    names: &BTreeSet<String>,
) -> Result<BTreeMap<String, Logged>, PathError> {
    let mut read = BTreeMap::<String, Logged>::new();
    collection.visit_events(None, |event| {
        let name = event.id.folded();
        if names.contains(&name) {
            let logged = read.entry(name).or_default();
            let values = event.changes.into_iter().map(|change| (change.key, change.after));
            logged.values.extend(values);
            logged.digest = event.digest.or(logged.digest.take());
        }
        Ok::<_, PathError>(())
    })?;
    Ok(read)
}

/// Makes sure that no other item of `collections` has the IBIp of an accepted `sidecar`.
pub(super) fn check_ibip<'c>(
    mut collections: impl Iterator<Item = &'c Collection>,
    sidecar: &Sidecar,
) -> Result<(), RepairError> {
    let Some(ibip) = &sidecar.ibip else { return Ok(()) };
    let name = &sidecar.repository;
    collections.try_for_each(|collection| {
        let mut items = collection.items_of(&Identifier::Ibip(ibip.clone()))?.into_iter();
        match items.find(|item| item.name().folded() != name.folded()) {
            None => Ok(()),
            Some(other) => Err(RepairError::IbipTaken {
                name: name.clone(),
                ibip: ibip.clone(),
                other: Box::new(other.name().clone()),
                root: collection.path().to_path_buf(),
            }),
        }
    })
}

/// Compares `sidecar`, made from `own`, with the sidecars of `donors`, or else with the log of `collection`.
pub(super) fn compare(
    collection: &Collection,
    (own, sidecar): (&Written, &Sidecar),
    donors: &[DonorFacts],
    logged: &LoggedItems,
    now: Instant,
) -> Result<Accepted, RepairError> {
    let logged = logged.get(collection, &sidecar.repository)?;
    let records: Vec<_> = donors.iter().filter_map(|donor| donor.record.as_ref()).collect();
    let sealed = donors.iter().find_map(|donor| Some((donor, donor.record.as_ref()?)));
    let digest = format!("sha256:{}", sidecar.payload.digest);
    let is_payload_in_doubt = own.sidecar.payload != sidecar.payload
        || logged.digest.as_ref().is_some_and(|logged| *logged != digest)
        || sealed.is_some_and(|(_, record)| record.sidecar.payload != sidecar.payload);
    let fixed::Judged { damaged, mut unproven } = fixed::judge(&own.sidecar, &records, now);
    let mut added = own.text.added().unwrap_or_default();
    let (compared, changes) = match sealed {
        Some((donor, record)) => {
            let mut changes = record.sidecar.differences(sidecar);
            if record.sidecar.changed() < own.sidecar.changed() {
                changes.retain_mut(|change| has_changed_since(&logged.values, change));
            }
            let before = record.text.added().unwrap_or_default();
            changes.extend(table_changes(&before, &added));
            added.clear();
            (Compared::Holding(donor.root.clone()), changes)
        }
        None => compare_with_log(logged.values, sidecar, &mut unproven),
    };
    unproven.extend(table_changes(&Table::new(), &added));
    Ok(Accepted { compared, changes, unproven, damaged, is_payload_in_doubt })
}

/// Whether the differences from an older holding contradict the log since then.
fn has_changed_since(
    logged: &BTreeMap<String, Option<serde_json::Value>>,
    change: &mut KeyChange,
) -> bool {
    let Some(last) = logged.get(&change.key) else { return true };
    let is_same = is_logged_as(change.after.as_ref(), last.as_ref());
    change.before = last.as_ref().and_then(|value| Value::try_from(value).ok());
    !is_same
}

/// The keys that differ in two tables.
fn table_changes(before: &Table, after: &Table) -> Vec<KeyChange> {
    let keys: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let changed = keys.into_iter().filter(|key| before.get(*key) != after.get(*key));
    let value = |table: &Table, key: &String| table.get(key).cloned();
    let change = |key: &String| KeyChange {
        key: key.clone(),
        before: value(before, key),
        after: value(after, key),
    };
    changed.map(change).collect()
}

/// The values that contradict the log. Values that the log does not have go to `unproven`.
fn compare_with_log(
    logged: BTreeMap<String, Option<serde_json::Value>>,
    sidecar: &Sidecar,
    unproven: &mut Vec<KeyChange>,
) -> (Compared, Vec<KeyChange>) {
    let nothing = Sidecar {
        metadata: Metadata::default(),
        relations: Relations::default(),
        target: None,
        transferable: true,
        access: Access::default(),
        ..sidecar.clone()
    };
    let (known, unknown): (Vec<_>, Vec<_>) =
        nothing.differences(sidecar).into_iter().partition(|it| logged.contains_key(&it.key));
    unproven.splice(0..0, unknown);
    if logged.is_empty() {
        return (Compared::Nothing, Vec::new());
    }
    let changes = logged.into_iter().filter_map(|(key, before)| {
        let after = known.iter().find(|it| it.key == key).and_then(|it| it.after.clone());
        let is_same = is_logged_as(after.as_ref(), before.as_ref());
        let before = before.and_then(|value| Value::try_from(value).ok());
        (!is_same).then_some(KeyChange { key, before, after })
    });
    (Compared::Log, changes.collect())
}
