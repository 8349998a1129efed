//! Records other than those about one item of a run.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use urepo::catalog::Hit;
use urepo::collection::{Collection, Event};
use urepo::holdings::JudgedHolding;
use urepo::identity::RepositoryName;
use urepo::index::Count;
use urepo::item::Content;
use urepo::sidecar::{KeyChange, Seal};

use super::path::{PathAt, path};
use super::{Custody, ErrorText, InCollection, is_false};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::remedy::{Advice, steps};

/// A collection, and its counts.
#[derive(Default, Serialize)]
#[serde(tag = "type", rename = "collection")]
pub(crate) struct OneCollection {
    pub(crate) collection: Option<String>,
    pub(crate) collection_id: Option<String>,
    #[serde(flatten)]
    pub(crate) path: Option<PathAt>,
    pub(crate) prefix: Option<String>,
    pub(crate) copies_wanted: Option<u64>,
    pub(crate) counts: Option<BTreeMap<&'static str, u64>>,
    pub(crate) complete: Option<bool>,
    pub(crate) round: Option<&'static str>,
    #[serde(flatten)]
    pub(crate) contents: Option<Contents>,
    pub(crate) machine: Option<Machine>,
    pub(crate) error: Option<ErrorText>,
    pub(crate) exit_code: Option<u8>,
}

/// An item that has a relation to another one.
#[derive(Serialize)]
pub(crate) struct Referrer {
    id: String,
    relation: &'static str,
    title: Option<String>,
}

impl Referrer {
    pub(crate) fn new(relation: &'static str, hit: &Hit) -> Referrer {
        Referrer { id: hit.name.to_string(), relation, title: hit.title.clone() }
    }
}

/// A finding of `verify` or `status`.
#[derive(Default, Serialize)]
#[serde(tag = "type", rename = "finding")]
pub(crate) struct Finding {
    pub(crate) id: Option<String>,
    pub(crate) code: Option<String>,
    pub(crate) kind: Option<&'static str>,
    pub(crate) severity: String,
    pub(crate) message: String,
    pub(crate) detail: Option<String>,
    #[serde(rename = "in")]
    pub(crate) part: Option<&'static str>,
    #[serde(flatten)]
    pub(crate) path: Option<PathAt>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) collections: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) collection_ids: Vec<String>,
    pub(crate) copies: Option<u64>,
    pub(crate) copies_wanted: Option<u64>,
    pub(crate) hint: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) remedies: Vec<Advice>,
    #[serde(flatten)]
    pub(crate) place: Option<InCollection>,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) dry_run: bool,
}

/// The finding that the table of remedies has rows for the item `name`.
pub(crate) fn remedy(name: &RepositoryName, remedies: Vec<Advice>) -> Option<Finding> {
    let first = remedies.first()?;
    Some(Finding {
        id: Some(name.to_string()),
        kind: Some("remedy"),
        severity: if first.is_damage { "damage" } else { "warning" }.to_owned(),
        message: first.row.sentence().to_owned(),
        hint: Some(steps(&remedies).join("; ")),
        remedies,
        ..Finding::default()
    })
}

/// An item in one of several collections.
#[derive(Serialize)]
pub(crate) struct Holding {
    #[serde(flatten)]
    pub(crate) path: PathAt,
    pub(crate) state: Option<String>,
    pub(crate) error: Option<ErrorText>,
    pub(crate) standing: String,
    pub(crate) collection: String,
    pub(crate) collection_id: String,
    pub(crate) timestamp: Option<String>,
    pub(crate) files: Option<u64>,
    pub(crate) bytes: Option<u64>,
    pub(crate) digest: Option<String>,
    pub(crate) sealed: Option<bool>,
    pub(crate) custody: Option<Custody>,
}

impl Holding {
    /// The holding of an item in `collection`.
    pub(crate) fn of(collection: &Collection, holding: &JudgedHolding) -> Holding {
        let read = holding.record.as_ref().ok();
        Holding {
            path: path(&holding.path),
            state: read.map(|it| it.state.to_string()),
            error: holding.record.as_ref().err().map(|it| (&Failure::of(Exit::Damage, it)).into()),
            standing: holding.standing.to_string(),
            collection: collection.settings().name.clone(),
            collection_id: collection.id().to_owned(),
            timestamp: read.map(|it| it.timestamp.to_string()),
            files: read.map(|it| it.payload.files),
            bytes: read.map(|it| it.payload.bytes),
            digest: read.map(|it| format!("sha256:{}", it.payload.digest)),
            sealed: read.map(|it| it.seal == Seal::Intact),
            custody: read.map(|it| (&it.rule.custody).into()),
        }
    }
}

/// The destination of a persistent URL.
#[derive(Serialize)]
#[serde(tag = "type", rename = "resolved")]
pub(crate) struct Resolved<'a> {
    pub(crate) text: &'a str,
    pub(crate) persistent: String,
    pub(crate) id: String,
    pub(crate) ibip: Option<String>,
    #[serde(flatten)]
    pub(crate) path: PathAt,
    pub(crate) state: String,
    pub(crate) standing: String,
    pub(crate) collection: String,
    pub(crate) collection_id: String,
    pub(crate) content: &'static str,
    pub(crate) target: &'static str,
    pub(crate) format: Option<&'static str>,
    pub(crate) rendered: Option<String>,
    pub(crate) files: Option<Vec<PathAt>>,
    pub(crate) timestamp: String,
}

/// The answer of a collection as an Archive.
#[derive(Serialize)]
#[serde(tag = "type", rename = "resolved")]
pub(crate) struct ArchiveAnswer<'a> {
    pub(crate) text: &'a str,
    pub(crate) collection: String,
    pub(crate) collection_id: String,
    pub(crate) pairs: BTreeMap<String, String>,
}

/// A file, link or empty directory of a payload.
#[derive(Serialize)]
#[serde(tag = "type", rename = "entry")]
pub(crate) struct Entry<'a> {
    id: Option<&'a str>,
    kind: &'static str,
    #[serde(flatten)]
    path: PathAt,
    bytes: Option<u64>,
    digest: Option<String>,
    modified: Option<String>,
    mode: Option<String>,
    #[serde(flatten)]
    target: Option<PathAt>,
}

/// The parts of an identifier.
#[derive(Serialize)]
#[serde(tag = "type", rename = "resolved")]
pub(crate) struct Spelled {
    pub(crate) text: String,
    /// Whether the whole text is an identifier or an IBIp, and nothing else.
    pub(crate) exact: bool,
    pub(crate) parts: BTreeMap<&'static str, String>,
}

/// An event of the log, with its keys.
#[derive(Serialize)]
#[serde(tag = "type", rename = "event")]
pub(crate) struct LogEvent<'a> {
    #[serde(flatten)]
    pub(crate) event: &'a Event,
    pub(crate) detail: String,
}

/// A key of a description whose value changes.
#[derive(Serialize)]
pub(crate) struct Changed {
    key: String,
    before: Option<Value>,
    after: Option<Value>,
}

impl Changed {
    pub(crate) fn of(change: &KeyChange) -> Changed {
        let value = |value: &Option<toml::Value>| value.as_ref().map(urepo::sidecar::json_of);
        Changed {
            key: change.key.clone(),
            before: value(&change.before),
            after: value(&change.after),
        }
    }
}

/// The contents of a collection, by several measures.
#[derive(Serialize)]
pub(crate) struct Contents {
    pub(crate) total: Count,
    pub(crate) by_state: BTreeMap<String, Count>,
    pub(crate) by_prefix: BTreeMap<String, Count>,
    pub(crate) by_year: BTreeMap<String, Count>,
    pub(crate) by_ending: BTreeMap<String, u64>,
    pub(crate) repeated: u64,
}

/// What identifiers depend on, and what killed runs left.
#[derive(Serialize)]
pub(crate) struct Machine {
    pub(crate) clock: String,
    pub(crate) id: String,
    pub(crate) temporary_files: u64,
    pub(crate) distributors: Vec<Distributor>,
}

#[derive(Serialize)]
pub(crate) struct Distributor {
    pub(crate) prefix: String,
    pub(crate) granularity: String,
    pub(crate) last: Option<String>,
    pub(crate) machine: Option<String>,
}

/// A setting, and where it comes from.
#[derive(Serialize)]
#[serde(tag = "type", rename = "setting")]
pub(crate) struct Setting<'a> {
    pub(crate) key: &'a str,
    pub(crate) value: &'a str,
    pub(crate) from: &'a str,
}

/// A failure, on stderr.
#[derive(Serialize)]
#[serde(tag = "type", rename = "error")]
pub(crate) struct Error<'a> {
    pub(crate) error: FullError<'a>,
    pub(crate) exit_code: u8,
}

#[derive(Serialize)]
pub(crate) struct FullError<'a> {
    pub(crate) code: u8,
    pub(crate) message: &'a str,
    pub(crate) causes: &'a [String],
    pub(crate) hint: Option<&'a str>,
}

impl From<&Collection> for OneCollection {
    fn from(collection: &Collection) -> OneCollection {
        OneCollection {
            collection: Some(collection.settings().name.clone()),
            collection_id: Some(collection.id().to_owned()),
            path: Some(path(collection.path())),
            ..OneCollection::default()
        }
    }
}

impl<'a> Entry<'a> {
    /// An entry, with the `id` of its item unless it is part of the record of the item.
    pub(crate) fn new(id: Option<&'a str>, entry: &urepo::item::Entry) -> Entry<'a> {
        use std::os::unix::ffi::OsStrExt;
        let path = path(entry.path.as_path());
        let mut record = Entry {
            id,
            kind: "file",
            path,
            bytes: None,
            digest: None,
            modified: None,
            mode: None,
            target: None,
        };
        match &entry.content {
            Content::File { bytes, digest, modified, mode } => {
                record.bytes = Some(*bytes);
                record.digest = Some(format!("sha256:{digest}"));
                record.modified = Some(modified.to_string());
                record.mode = Some(format!("{mode:04o}"));
            }
            Content::Link { target } => {
                let target = Path::new(std::ffi::OsStr::from_bytes(target));
                record.kind = "link";
                record.target = Some(PathAt::new("target", target));
            }
            Content::EmptyDirectory { modified, mode } => {
                record.kind = "directory";
                record.modified = Some(modified.to_string());
                record.mode = Some(format!("{mode:04o}"));
            }
        }
        record
    }
}
