//! The record of an item: what a sidecar contributes to the index.

use std::path::Path;

use toml::Value;

use super::fold;
use super::keys::{DATES, column_of, kinds_of};
use crate::digest::{Digest, Hasher};
use crate::disk::{Dir, FileStat, PathError, Version};
use crate::identity::{Ibip, Identifier, RepositoryName};
use crate::item::twins;
use crate::item::{Content, Entry, State};
use crate::layout;
use crate::sidecar::{Sidecar, edtf};

/// The index record of an item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    /// The version of the sidecar; `None` if the sidecar is missing.
    pub version: Option<Version>,
    /// `None` if the sidecar cannot be read.
    pub state: Option<State>,
    /// The instant of the name, in whole seconds.
    pub created: i64,
    pub files: u64,
    pub bytes: u64,
    pub digest: Option<Digest>,
    pub title: Option<String>,
    /// The description, as JSON.
    pub metadata: String,
    /// Its source, folded.
    pub source: String,
    pub words: Words,
    pub keys: Vec<i64>,
    /// The paths of the payload, folded.
    pub paths: Vec<String>,
    /// The days that the dates of a term may be, from the first to the last.
    pub days: Vec<(&'static str, i64, i64)>,
}

/// The words of an item, by the column that is searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    pub title: String,
    pub creator: String,
    pub subject: String,
    pub other: String,
    /// Its identifiers, the names of its files and its source.
    pub names: String,
}

impl Record {
    /// The record of an item with the sidecar `sidecar` and the files `entries`.
    pub(crate) fn of(sidecar: &Sidecar, entries: &[Entry], version: Version) -> Record {
        let metadata = sidecar.metadata.table();
        let mut keys = vec![digest_key(&sidecar.payload.digest)];
        let mut paths = Vec::with_capacity(entries.len());
        for entry in entries {
            let path = entry.path.to_text().into_owned();
            keys.push(name_key(&path));
            if let Some((_, name)) = path.rsplit_once('/') {
                keys.push(name_key(name));
            }
            if let Content::File { digest, .. } = &entry.content {
                keys.push(digest_key(digest));
            }
            paths.push(fold::plain(&path));
        }
        let ibip = sidecar.ibip.as_ref().map(Ibip::as_str);
        keys.extend(ibip.map(identifier_key));
        each_text(metadata.get("identifier"), &mut |text| keys.push(identifier_key(text)));
        for relation in sidecar.relations.iter() {
            for kind in kinds_of(&relation.kind) {
                keys.extend([relation_key(&kind, &relation.to), has_relation_key(&kind)]);
            }
        }
        let source = sidecar.origin.get("source").and_then(Value::as_str);
        let names = [ibip, source].into_iter().flatten();
        let names: Vec<_> = names.chain(paths.iter().map(String::as_str)).collect();
        let mut days = Vec::new();
        for term in DATES {
            each_text(metadata.get(term), &mut |text| {
                days.extend(edtf::days(text).map(|(first, last)| (term, first, last)));
            });
        }
        Record {
            version: Some(version),
            state: Some(sidecar.state),
            created: seconds(sidecar.repository.instant()),
            files: sidecar.payload.files,
            bytes: sidecar.payload.bytes,
            digest: Some(sidecar.payload.digest),
            title: sidecar.metadata.title().map(str::to_owned),
            metadata: crate::sidecar::json(metadata).to_string(),
            source: source.map(fold::plain).unwrap_or_default(),
            words: Words::of(&sidecar.repository, metadata, &names),
            keys,
            paths,
            days,
        }
    }

    /// A hash of everything by which the item can be found. The payload digest would not do: it does not
    /// cover links, and an edited sidecar may keep an old one.
    pub(super) fn search_keys_hash(&self) -> i64 {
        let mut hasher = Hasher::default();
        for key in &self.keys {
            hasher.update(&key.to_be_bytes());
        }
        for text in &self.paths {
            hasher.update(text.as_bytes());
            hasher.update(b"\0");
        }
        hasher.update(self.source.as_bytes());
        hasher.finish().leading_number()
    }

    /// The record of an item whose sidecar is missing or unreadable.
    pub(crate) fn unreadable(name: &RepositoryName, version: Option<Version>) -> Record {
        Record {
            version,
            state: None,
            created: seconds(name.instant()),
            files: 0,
            bytes: 0,
            digest: None,
            title: None,
            metadata: String::new(),
            source: String::new(),
            words: Words::default(),
            keys: Vec::new(),
            paths: Vec::new(),
            days: Vec::new(),
        }
    }
}

/// A word that no folded text has: this character is no letter.
const BETWEEN_VALUES: &str = " \u{e000} ";

impl Words {
    fn of(name: &RepositoryName, metadata: &toml::Table, names: &[&str]) -> Words {
        let mut words = Words::default();
        let name = name.as_str();
        // The whole identifier, and what follows each slash.
        for (at, _) in name.match_indices('/').chain([(0, "")]) {
            words.names.push_str(&fold::end_of_name(&name[at..]));
            words.names.push(' ');
        }
        for (term, value) in metadata {
            let text = match column_of(term) {
                "title" => &mut words.title,
                "creator" => &mut words.creator,
                "subject" => &mut words.subject,
                _ => &mut words.other,
            };
            each_text(Some(value), &mut |value| {
                text.push_str(&fold::words(value));
                // A phrase does not go on in the next value.
                text.push_str(BETWEEN_VALUES);
            });
        }
        for name in names {
            words.names.push_str(&fold::words(name));
            words.names.push_str(BETWEEN_VALUES);
        }
        words
    }
}

/// Whether the sidecar of the item `leaf` in `year` still has the version `recorded`: `None` if there was no
/// sidecar, or none that may be inspected. An error says nothing about the sidecar.
pub(crate) fn is_sidecar_current(
    year: &Dir,
    leaf: &str,
    recorded: Option<Version>,
) -> Result<bool, PathError> {
    let sidecar = [leaf, layout::SIDECAR].join("/");
    let is_same = |recorded| year.glance(&sidecar).is_some_and(|stat| stat.version() == recorded);
    if recorded.is_some_and(is_same) {
        return Ok(true);
    }
    let version = match year.stat(Path::new(&sidecar)) {
        Err(error) if error.is_refusal() || error.is_link() => None,
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => None,
        outcome => outcome?.as_ref().map(FileStat::version),
    };
    Ok(version == recorded)
}

/// Calls `visit` for every text in a value.
fn each_text(value: Option<&Value>, visit: &mut dyn FnMut(&str)) {
    match value {
        Some(Value::String(text)) => visit(text),
        Some(Value::Array(values)) => {
            for value in values {
                each_text(Some(value), visit);
            }
        }
        Some(Value::Table(table)) => table.values().for_each(|value| each_text(Some(value), visit)),
        Some(value) => visit(&value.to_string()),
        None => {}
    }
}

/// A date as the index orders it.
pub(super) fn seconds(date: crate::identity::Instant) -> i64 {
    i64::try_from(date.seconds()).unwrap_or(i64::MAX)
}

/// The key of the digest of a file, or of a whole payload: its first digits, so that a beginning is a range of keys.
pub(super) fn digest_key(digest: &Digest) -> i64 {
    digest.leading_number()
}

/// The key of the name of a file, or of its whole path, whatever its case.
pub(super) fn name_key(name: &str) -> i64 {
    key("name", &fold::plain(name))
}

/// The key of an opaque name or an alias, whatever its case.
pub(super) fn identifier_key(text: &str) -> i64 {
    key("identifier", &twins::fold(text))
}

/// The key of a relation under the key `relation` of `[relations]` to the item `to`, whatever its case.
pub(super) fn relation_key(relation: &str, to: &Identifier) -> i64 {
    let to = match to {
        Identifier::Repository(name) => name.folded(),
        other => twins::fold(other.as_str()),
    };
    key(&format!("relation.{relation}"), &to)
}

/// The key of a relation under the key `relation` to any item.
pub(super) fn has_relation_key(relation: &str) -> i64 {
    key("relation", relation)
}

fn key(kind: &str, text: &str) -> i64 {
    Digest::of(format!("{kind}\0{text}").as_bytes()).leading_number()
}
