//! JSON records, as docs/json.md describes them. A key without a value is left out when a record is
//! written ([`Output::record`]), and each record gets its `version` there.
//!
//! [`Output::record`]: super::printer::Output::record

mod others;
mod path;
#[cfg(feature = "web")]
pub(crate) mod web;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use urepo::collection::{Collection, Label, StoredItem};
use urepo::custody;
use urepo::deposit::{Deposited, LeftOut};
use urepo::identity::RepositoryName;
use urepo::item::State;
use urepo::sidecar::{self, Access, Sidecar};

use super::did::Did;
use super::failure::Failure;
use super::remedy::Advice;
pub(crate) use others::*;
pub(crate) use path::{PathAt, path};

/// An item, or a source for a new one.
#[derive(Default, Serialize)]
#[serde(tag = "type", rename = "item")]
pub(crate) struct Item<'a> {
    pub(crate) id: Option<String>,
    pub(crate) ibip: Option<String>,
    #[serde(flatten)]
    pub(crate) path: Option<PathAt>,
    pub(crate) state: Option<String>,
    pub(crate) did: Option<Did>,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) dry_run: bool,
    pub(crate) error: Option<ErrorText>,
    pub(crate) files: Option<u64>,
    pub(crate) bytes: Option<u64>,
    pub(crate) digest: Option<String>,
    #[serde(flatten)]
    pub(crate) source: Option<PathAt>,
    pub(crate) line: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) kept_sources: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<LeftOutPath>,
    pub(crate) rule: Option<String>,
    #[serde(flatten)]
    pub(crate) moved_to: Option<PathAt>,
    pub(crate) departure: Option<String>,
    #[serde(flatten)]
    pub(crate) description: Option<Description>,
    pub(crate) referenced_by: Option<Vec<Referrer>>,
    pub(crate) held_by: Option<Vec<Holding>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) remedies: Vec<Advice>,
    pub(crate) sealed: Option<bool>,
    pub(crate) entries: Option<Vec<Entry<'a>>>,
    #[serde(flatten)]
    pub(crate) findings: Option<Findings>,
    #[serde(flatten)]
    pub(crate) place: Option<InCollection>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unlisted: Vec<PathAt>,
    #[serde(flatten)]
    pub(crate) repair: Option<Repair>,
    #[serde(flatten)]
    pub(crate) adoption: Option<Adoption>,
    #[serde(flatten)]
    pub(crate) export: Option<Export>,
    #[serde(flatten)]
    pub(crate) trash: Option<Trash>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) kept: Vec<PathAt>,
    #[serde(flatten)]
    pub(crate) proven_by: Option<PathAt>,
    pub(crate) was: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) changes: Vec<Changed>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unproven: Vec<Changed>,
}

/// The contents of a sidecar besides identifier, state and payload.
#[derive(Serialize)]
pub(crate) struct Description {
    created: String,
    timestamp: String,
    described: Option<String>,
    #[serde(flatten)]
    target: Option<PathAt>,
    transferable: bool,
    access: Option<AccessRecord>,
    metadata: Value,
    relations: Value,
    origin: Value,
    custody: Custody,
    removal: Option<Removal>,
}

#[derive(Serialize)]
struct AccessRecord {
    level: String,
    allow: Vec<String>,
}

#[derive(Serialize)]
struct Removal {
    by: String,
    reason: Option<String>,
    was: String,
    date: String,
}

/// The result of verifying an item.
#[derive(Serialize)]
pub(crate) struct Findings {
    pub(crate) findings: Vec<Finding>,
    pub(crate) findings_omitted: Option<u64>,
}

/// The repair of an item, also in a dry run.
#[derive(Serialize)]
pub(crate) struct Repair {
    pub(crate) sidecar: RepairStep,
    pub(crate) steps: Vec<RepairStep>,
    pub(crate) removed: Vec<PathAt>,
}

/// The repair of the sidecar or of a file.
#[derive(Default, Serialize)]
pub(crate) struct RepairStep {
    pub(crate) action: &'static str,
    #[serde(flatten)]
    pub(crate) path: Option<PathAt>,
    #[serde(flatten)]
    pub(crate) from: Option<PathAt>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) differs: Vec<String>,
    pub(crate) state: Option<String>,
}

/// An entry of a source that was left out.
#[derive(Serialize)]
pub(crate) struct LeftOutPath {
    #[serde(flatten)]
    pub(crate) path: PathAt,
    pub(crate) rule: String,
}

/// The source of the description of an adopted item.
#[derive(Serialize)]
pub(crate) struct Adoption {
    #[serde(flatten)]
    pub(crate) target: Option<PathAt>,
    pub(crate) described_in: Option<String>,
    pub(crate) metadata: Value,
    pub(crate) notes: Vec<String>,
    pub(crate) beside: Vec<PathAt>,
}

/// The parts that an export could not keep.
#[derive(Serialize)]
pub(crate) struct Export {
    pub(crate) links_skipped: u64,
    pub(crate) links_followed: u64,
    pub(crate) empty_directories: u64,
}

/// An entry of the trash.
#[derive(Serialize)]
pub(crate) struct Trash {
    pub(crate) since: String,
    pub(crate) freed: u64,
}

/// The last record of a run over items.
#[derive(Default, Serialize)]
#[serde(tag = "type", rename = "summary")]
pub(crate) struct Summary {
    pub(crate) counts: Counts,
    pub(crate) exit_code: u8,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) dry_run: bool,
    pub(crate) complete: Option<bool>,
    pub(crate) round: Option<&'static str>,
    pub(crate) wait_seconds: Option<u64>,
    pub(crate) missing: Option<Vec<String>>,
    pub(crate) messages: Option<Vec<String>>,
    #[serde(flatten)]
    pub(crate) place: Option<InCollection>,
}

/// The counts of a run. `items` are those with which the command succeeded.
#[derive(Default, Serialize)]
pub(crate) struct Counts {
    pub(crate) items: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: Option<u64>,
    /// Of the items, those that the disk did not confirm.
    pub(crate) unconfirmed: Option<u64>,
    pub(crate) files: Option<u64>,
    pub(crate) bytes: Option<u64>,
    #[serde(flatten)]
    pub(crate) others: BTreeMap<String, u64>,
}

/// Who has the Original, as far as a holding knows.
#[derive(Serialize)]
pub(crate) struct Custody {
    epoch: u64,
    id: String,
    holder: String,
    ceded: Option<String>,
}

/// Why an item failed, in one line.
#[derive(Serialize)]
pub(crate) struct ErrorText {
    pub(crate) code: u8,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) remedies: Vec<Advice>,
}

/// A collection, in other records.
#[derive(Serialize)]
pub(crate) struct InCollection {
    collection: String,
    collection_id: String,
    #[serde(flatten)]
    path: PathAt,
}

impl From<&Failure> for ErrorText {
    fn from(failure: &Failure) -> ErrorText {
        let hints = failure.hints().join("; ");
        ErrorText {
            code: failure.exit.code(),
            message: failure.in_one_line(),
            hint: (!hints.is_empty()).then_some(hints),
            remedies: failure.remedies().to_vec(),
        }
    }
}

impl From<&Collection> for InCollection {
    fn from(collection: &Collection) -> InCollection {
        InCollection {
            collection: collection.settings().name.clone(),
            collection_id: collection.id().to_owned(),
            path: PathAt::new("collection_path", collection.path()),
        }
    }
}

impl From<&custody::Custody> for Custody {
    fn from(custody: &custody::Custody) -> Custody {
        Custody {
            epoch: custody.epoch(),
            id: custody.id().to_string(),
            holder: custody.holder().to_owned(),
            ceded: custody.ceded().map(|ceded| ceded.to.clone()),
        }
    }
}

impl<'a> Item<'a> {
    /// An item that is known by its identifier alone.
    pub(crate) fn of(name: &(impl ToString + ?Sized)) -> Item<'a> {
        Item { id: Some(name.to_string()), ..Item::default() }
    }

    /// The same with what became of it.
    pub(crate) fn became(name: &(impl ToString + ?Sized), did: Did) -> Item<'a> {
        Item { did: Some(did), ..Item::of(name) }
    }

    /// An item of `collection`, if only its identifier is known.
    pub(crate) fn named(collection: &Collection, name: &RepositoryName) -> Item<'a> {
        let place = collection.path().join(urepo::layout::item_directory(name));
        Item { path: Some(path(&place)), ..Item::of(name) }
    }

    /// An item with a new identifier.
    pub(crate) fn labelled(collection: &Collection, label: &Label) -> Item<'a> {
        let ibip = label.ibip.as_ref().map(ToString::to_string);
        Item { ibip, ..Item::named(collection, &label.name) }
    }

    /// An item that was just deposited.
    pub(crate) fn deposited(collection: &Collection, deposited: &Deposited) -> Item<'a> {
        let payload = &deposited.payload;
        Item {
            state: Some(State::Original.to_string()),
            files: Some(payload.files),
            bytes: Some(payload.bytes),
            digest: Some(format!("sha256:{}", payload.digest)),
            kept_sources: deposited.left.clone(),
            left_out: LeftOutPath::all(&deposited.left_out),
            ..Item::labelled(collection, &deposited.label)
        }
    }

    /// An item with everything in its sidecar.
    pub(crate) fn described(item: &StoredItem, sidecar: &Sidecar) -> Item<'a> {
        Item {
            ibip: sidecar.ibip.as_ref().map(ToString::to_string),
            path: Some(path(item.path())),
            state: Some(sidecar.state.to_string()),
            files: Some(sidecar.payload.files),
            bytes: Some(sidecar.payload.bytes),
            digest: Some(format!("sha256:{}", sidecar.payload.digest)),
            description: Some(Description::of(sidecar)),
            ..Item::of(item.name())
        }
    }
}

impl LeftOutPath {
    pub(crate) fn all(left_out: &[LeftOut]) -> Vec<LeftOutPath> {
        let record = |LeftOut { path, rule }: &LeftOut| LeftOutPath {
            path: PathAt::new("path", path.as_path()),
            rule: rule.to_string(),
        };
        left_out.iter().map(record).collect()
    }
}

impl Description {
    fn of(sidecar: &Sidecar) -> Description {
        Description {
            created: sidecar.created.to_string(),
            timestamp: sidecar.timestamp.to_string(),
            described: sidecar.described.as_ref().map(ToString::to_string),
            target: sidecar.target.as_ref().map(|it| PathAt::new("target", it.as_path())),
            transferable: sidecar.transferable,
            access: (sidecar.access != Access::default()).then(|| AccessRecord {
                level: sidecar.access.level.to_string(),
                allow: sidecar.access.allow.iter().map(ToString::to_string).collect(),
            }),
            metadata: sidecar::json(sidecar.metadata.table()),
            relations: sidecar::json(sidecar.relations.table()),
            origin: sidecar::json(&sidecar.origin),
            custody: (&sidecar.custody).into(),
            removal: sidecar.removal.as_ref().map(|removal| Removal {
                by: removal.by.clone(),
                reason: removal.reason.clone(),
                was: removal.was.to_string(),
                date: sidecar.timestamp.to_string(),
            }),
        }
    }
}

/// The record of `fields` in the written form: with the version, and without keys that have no value.
pub(crate) fn to_json(fields: &impl Serialize) -> Value {
    let mut value = serde_json::to_value(fields).unwrap_or_else(|error| error.to_string().into());
    if let Value::Object(record) = &mut value {
        record.insert("version".to_owned(), 1.into());
    }
    drop_nulls(&mut value);
    value
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(values) => values.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}
