//! Differences between a sidecar that is accepted as it is and the records of its item.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::OnceLock;

use toml::Value;

use super::RepairError;
use super::facts::DonorFacts;
use crate::collection::{Collection, is_logged_as};
use crate::disk::PathError;
use crate::identity::RepositoryName;
use crate::sidecar::{KeyChange, Metadata, Relations, Sidecar, json_of};

/// An unsealed sidecar that is accepted, compared with what else is known of the item.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    /// What it was compared with.
    pub compared: Compared,
    /// The keys of the description that differ.
    pub changes: Vec<KeyChange>,
    /// Whether the sidecar contradicts itself, the other holding or the log about the payload.
    pub is_payload_in_doubt: bool,
}

/// What an accepted sidecar was compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// The sealed sidecar of the same item in this collection.
    Holding(PathBuf),
    /// The last values of those keys that the event log has. Other keys may have changed as well.
    Log,
    /// Nothing: only the present values are known, each as one that was added.
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

/// Compares what `own` became, `sidecar`, with what `donors` say, or else with the log of `collection`.
pub(super) fn compare(
    collection: &Collection,
    (own, sidecar): (&Sidecar, &Sidecar),
    donors: &[DonorFacts],
    logged: &LoggedItems,
) -> Result<Accepted, RepairError> {
    let logged = logged.get(collection, &sidecar.repository)?;
    let sealed = donors.iter().find_map(|donor| Some((donor, donor.record.as_ref()?)));
    let digest = format!("sha256:{}", sidecar.payload.digest);
    let is_payload_in_doubt = own.payload != sidecar.payload
        || logged.digest.is_some_and(|logged| logged != digest)
        || sealed.is_some_and(|(_, record)| record.sidecar.payload != sidecar.payload);
    let (compared, changes) = match sealed {
        Some((donor, record)) => {
            (Compared::Holding(donor.root.clone()), record.sidecar.differences(sidecar))
        }
        None => compare_with_log(logged.values, sidecar),
    };
    Ok(Accepted { compared, changes, is_payload_in_doubt })
}

fn compare_with_log(
    logged: BTreeMap<String, Option<serde_json::Value>>,
    sidecar: &Sidecar,
) -> (Compared, Vec<KeyChange>) {
    let nothing = Sidecar {
        metadata: Metadata::default(),
        relations: Relations::default(),
        target: None,
        ..sidecar.clone()
    };
    let present = nothing.differences(sidecar);
    if logged.is_empty() {
        // urepo chooses the target by itself.
        let present = present.into_iter().filter(|it| it.key != "target");
        return (Compared::Nothing, present.collect());
    }
    let changes = logged.into_iter().filter_map(|(key, before)| {
        let after = present.iter().find(|it| it.key == key).and_then(|it| it.after.clone());
        let is_same = match (&after, &before) {
            (Some(after), Some(before)) => is_logged_as(&json_of(after), before),
            (after, before) => after.is_none() && before.is_none(),
        };
        let before = before.and_then(|value| Value::try_from(value).ok());
        (!is_same).then_some(KeyChange { key, before, after })
    });
    (Compared::Log, changes.collect())
}
