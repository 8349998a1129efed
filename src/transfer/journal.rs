//! Hand-overs in progress: a record of each, durable before the first visible change.
//!
//! A file in `.urepo/journal` of the giver. It names the collections by their ids; the path of the receiver
//! is only a hint.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{JournalError, TransferError};
use crate::collection::{Collection, InventoryLine, Lookup};
use crate::disk::{IoContext, PathError, random_hex};
use crate::identity::{Instant, RepositoryName};
use crate::layout;

/// The start of the names of these files: other records may lie beside them.
const PREFIX: &str = "handover-";

/// Limit on a record: a group has at most some thousand names.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Items that are being handed over together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JournalRecord {
    /// The token, which the marks in the sidecars have, too.
    pub token: String,
    /// The id of the receiver.
    pub to: String,
    /// The path of the receiver.
    pub to_path: PathBuf,
    /// Whether the giver keeps a Copy.
    pub leave_copy: bool,
    /// Whether the Originals are renamed unchanged, within one file system: no sidecar has a mark.
    pub renames: bool,
    /// Whether the receiver counts as lost: no run waits for it, but it may come back with its marks.
    pub is_lost: bool,
    pub items: Vec<RepositoryName>,
    /// The last lines of the receiver's inventory about the items before the hand-over.
    pub before: Vec<InventoryLine>,
}

#[derive(Deserialize)]
struct RawRecord {
    format: u32,
    token: String,
    to: String,
    to_path: String,
    leave_copy: bool,
    #[serde(default)]
    renames: bool,
    #[serde(default)]
    lost: bool,
    items: Vec<String>,
    #[serde(default)]
    before: Vec<String>,
}

/// A unique token of a run.
pub(super) fn token(place: &Path) -> Result<String, PathError> {
    random_hex::<16>().on("draw a random token for", place)
}

/// The last lines about `items` in the inventory of `receiver`.
pub(super) fn lines_before<'n>(
    receiver: &Collection,
    items: impl IntoIterator<Item = &'n RepositoryName>,
) -> Result<Vec<InventoryLine>, PathError> {
    let last = |item| Ok(receiver.last_record(item)?.map(|recorded| recorded.line));
    items.into_iter().filter_map(|item| last(item).transpose()).collect()
}

impl JournalRecord {
    /// Whether `line`, the receiver's last one about an item, is older than the departure of the item from
    /// the giver on `date`. Dates alone do not decide within one second, and clocks go back.
    pub(super) fn is_older(&self, line: &InventoryLine, date: Option<Instant>) -> bool {
        self.before.contains(line) || date.is_some_and(|date| line.date < date)
    }

    /// Writes the record to the disk of the giver and returns its name there.
    pub(super) fn begin(&self, giver: &Collection) -> Result<String, PathError> {
        let own = giver.ensure_own()?;
        let journal = own.ensure_lasting_dir(layout::JOURNAL)?;
        let name = format!("{PREFIX}{}.toml", token(journal.path())?);
        journal.replace_file(&name, self.to_text().as_bytes())?;
        Ok(name)
    }

    /// Replaces the record called `name`, unless that has been removed since.
    pub(super) fn replace(&self, giver: &Collection, name: &str) -> Result<(), PathError> {
        let journal = giver.ensure_own()?.open_dir(layout::JOURNAL)?;
        match journal.stat(name)? {
            Some(_) => journal.replace_file(name, self.to_text().as_bytes()),
            None => Ok(()),
        }
    }

    /// Keeps only the failed items of `outcomes` in the record called `name`, and removes the record if none
    /// failed.
    pub(super) fn keep_failed<T, E>(
        &self,
        giver: &Collection,
        name: &str,
        outcomes: &[(RepositoryName, Result<T, E>)],
    ) -> Result<(), PathError> {
        let failed = outcomes.iter().filter(|(_, outcome)| outcome.is_err());
        let items: Vec<_> = failed.map(|(item, _)| item.clone()).collect();
        match items.len() {
            0 => end(giver, &[name.to_owned()]),
            count if count == self.items.len() => Ok(()),
            _ => JournalRecord { items, ..self.clone() }.replace(giver, name),
        }
    }

    /// Syncs the names of the items, and those in their directories, in `collection`.
    pub(super) fn sync_names(&self, collection: &Collection) -> Result<(), PathError> {
        let lookup = Lookup::new(collection);
        let places = self.items.iter().map(|name| lookup.place_of(name));
        let places = places.collect::<Result<Vec<_>, _>>()?;
        collection.confirm_names(places.iter().map(|(year, leaf)| year.join(leaf)))
    }

    fn to_text(&self) -> String {
        use std::os::unix::ffi::OsStrExt;
        let items = self.items.iter().map(|name| name.as_str().into()).collect();
        let path = crate::item::escape(self.to_path.as_os_str().as_bytes()).into_owned();
        let mut table = toml::Table::new();
        table.insert("format".to_owned(), 1.into());
        table.insert("token".to_owned(), self.token.as_str().into());
        table.insert("to".to_owned(), self.to.as_str().into());
        table.insert("to_path".to_owned(), path.into());
        table.insert("leave_copy".to_owned(), self.leave_copy.into());
        table.insert("renames".to_owned(), self.renames.into());
        table.insert("lost".to_owned(), self.is_lost.into());
        table.insert("items".to_owned(), toml::Value::Array(items));
        let before = self.before.iter().map(|line| line.to_text().trim_end().into()).collect();
        table.insert("before".to_owned(), toml::Value::Array(before));
        table.to_string()
    }

    fn read(text: &str) -> Result<JournalRecord, String> {
        use std::os::unix::ffi::OsStringExt;
        let raw: RawRecord = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        if raw.format != 1 {
            return Err(format!("it has format {}; this urepo reads format 1", raw.format));
        }
        let path = crate::item::unescape(&raw.to_path).ok_or("`to_path` has a stray backslash")?;
        let items = raw.items.iter().map(|name| {
            let read = RepositoryName::parse_as_found(name);
            read.map(|(name, _)| name).map_err(|error| error.to_string())
        });
        Ok(JournalRecord {
            token: raw.token,
            to: raw.to,
            to_path: std::ffi::OsString::from_vec(path).into(),
            leave_copy: raw.leave_copy,
            renames: raw.renames,
            is_lost: raw.lost,
            items: items.collect::<Result<_, _>>()?,
            before: raw
                .before
                .iter()
                .filter_map(|line| InventoryLine::parse(line.as_bytes()))
                .collect(),
        })
    }
}

/// Removes records whose hand-overs are finished.
pub(super) fn end(giver: &Collection, names: &[String]) -> Result<(), PathError> {
    let journal = giver.ensure_own()?.open_dir(layout::JOURNAL)?;
    for name in names {
        journal.remove_file_if_there(Path::new(name))?;
    }
    journal.sync()
}

/// The names of the existing records.
pub(super) fn names(giver: &Collection) -> Result<Vec<String>, PathError> {
    let Some(journal) = giver.own_dir(layout::JOURNAL)? else {
        return Ok(Vec::new());
    };
    let mut names = Vec::new();
    for entry in journal.entries()? {
        if let Some(name) = entry?.name.to_str()
            && name.starts_with(PREFIX)
            && Path::new(name).extension().is_some_and(|extension| extension == "toml")
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// The record `name`, unless it has been removed since.
pub(super) fn read(giver: &Collection, name: &str) -> Result<Option<JournalRecord>, TransferError> {
    let journal = giver.ensure_own()?.open_dir(layout::JOURNAL)?;
    let Some(mut file) = journal.open_file_if_there(name)? else { return Ok(None) };
    let bytes = file.read_all(MAX_BYTES)?;
    let text = String::from_utf8(bytes).map_err(|error| error.to_string());
    text.and_then(|text| JournalRecord::read(&text)).map(Some).map_err(|cause| {
        TransferError::Journal { path: file.path().to_path_buf(), cause: JournalError(cause) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::{Departure, InventoryChange};

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let record = JournalRecord {
            token: "0123".into(),
            to: "ab".into(),
            to_path: Path::new("/mnt/with \"quotes\"").into(),
            leave_copy: true,
            renames: true,
            is_lost: true,
            items: vec!["example.org/a/2026/11.21.02.13".parse().unwrap()],
            before: vec![InventoryLine {
                date: "2026-11-21T02:13:07Z".parse().unwrap(),
                name: "example.org/a/2026/11.21.02.13".parse().unwrap(),
                change: InventoryChange::Left(Departure::Deleted),
            }],
        };
        assert_eq!(JournalRecord::read(&record.to_text()).unwrap(), record);
        assert!(JournalRecord::read("format = 2").is_err());
    }
}
