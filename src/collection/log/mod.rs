//! The event log: the changes of items, with user and date. One JSON object on each line, in
//! `.urepo/log/YYYY-MM.jsonl`. Event names are those of PREMIS, and `purge`, which PREMIS counts as a
//! deletion, and `correction`, of the inventory.
//!
//! The log is a convenience: identifiers, states and fixity are in the sidecars alone. So a line is not
//! synced by itself, and an event that cannot be logged does not fail the change: it is counted
//! ([`Unlogged`]) and reported. Writers append under a kernel lock, so that lines of several processes do not
//! mix. A writer that finds a torn line begins a new one, and readers skip it.

pub(super) mod changed;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Error};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use self::changed::{LoggedChange, logged};
use super::{Collection, CollectionRef};
use crate::agent::Agent;
use crate::digest::Digest;
use crate::disk::{Dir, Kind, Lock, LockMode, PathError, StoredFile};
use crate::identity::{Instant, RepositoryName, SECOND};
use crate::layout;
use crate::sidecar::KeyChange;

/// Limit on a line; urepo writes no longer one.
const MAX_LINE_BYTES: u64 = 1024 * 1024;

/// A line is skipped up to this length: a hole of terabytes is not read to its end.
const MAX_SKIPPED_BYTES: u64 = 64 * MAX_LINE_BYTES;

/// The kind of an event [PREMIS: eventType].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventKind {
    /// It was deposited.
    #[serde(rename = "ingestion")]
    Ingestion,
    /// A Copy of it was made here.
    #[serde(rename = "replication")]
    Replication,
    /// The Copy was updated from its Original.
    #[serde(rename = "modification")]
    Modification,
    /// The Original, or the Copy, came from or went to another collection.
    #[serde(rename = "transfer")]
    Transfer,
    /// It was deleted.
    #[serde(rename = "deletion")]
    Deletion,
    /// Its files in the trash were removed permanently; the item itself did not change.
    #[serde(rename = "purge")]
    Purge,
    /// Its Copy became the Original, because the collection of the Original was lost.
    #[serde(rename = "promotion")]
    Promotion,
    /// It became a Copy, because another collection holds the Original too.
    #[serde(rename = "demotion")]
    Demotion,
    /// It was repaired, or restored.
    #[serde(rename = "recovery")]
    Recovery,
    /// Its description was changed.
    #[serde(rename = "metadata modification")]
    Description,
    /// The inventory was corrected to agree with it.
    #[serde(rename = "correction")]
    Correction,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub date: Instant,
    /// What.
    pub event: EventKind,
    /// The item.
    pub id: RepositoryName,
    /// `success`, or the reason of the failure.
    pub outcome: String,
    /// The digest of its manifest afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The digest before, if it differed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest_before: Option<String>,
    /// The id of the collection that it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The name that collection had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_name: Option<String>,
    /// The id of the collection that it went to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The name that collection had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_name: Option<String>,
    /// The bytes that the file system regained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freed: Option<u64>,
    /// The keys of the description that changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<LoggedChange>,
    /// A remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The command that did it.
    pub command: String,
    /// The user it ran as: a name, or `user 1000`. Absent in old lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The same as a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<u32>,
    /// The machine it ran on.
    pub machine: String,
    /// Its process there.
    pub process: u32,
}

impl Event {
    /// An event by `agent`.
    pub fn new(event: EventKind, id: &RepositoryName, date: Instant, agent: &Agent) -> Event {
        Event {
            date: date.floor(SECOND),
            event,
            id: id.clone(),
            outcome: "success".to_owned(),
            digest: None,
            digest_before: None,
            from: None,
            from_name: None,
            to: None,
            to_name: None,
            freed: None,
            changes: Vec::new(),
            note: None,
            command: agent.command.clone(),
            user: Some(agent.user.clone()),
            user_id: Some(agent.user_id),
            machine: agent.machine.clone(),
            process: agent.process,
        }
    }

    /// The same with the present digest of the manifest.
    #[must_use]
    pub fn with_digest(self, digest: Digest) -> Event {
        Event { digest: Some(format!("sha256:{digest}")), ..self }
    }

    /// The same from another collection.
    #[must_use]
    pub fn with_source(self, from: &Collection) -> Event {
        let CollectionRef { id, name } = from.reference();
        Event { from: Some(id), from_name: Some(name), ..self }
    }

    /// The same to another collection.
    #[must_use]
    pub fn with_destination(self, to: &Collection) -> Event {
        let CollectionRef { id, name } = to.reference();
        Event { to: Some(id), to_name: Some(name), ..self }
    }

    /// The same with the former digest of the manifest.
    #[must_use]
    pub fn with_digest_before(self, digest: Digest) -> Event {
        Event { digest_before: Some(format!("sha256:{digest}")), ..self }
    }

    /// The same with the keys of the description that changed.
    #[must_use]
    pub fn with_changes(self, changes: Vec<KeyChange>) -> Event {
        Event { changes: logged(changes), ..self }
    }
}

/// Events that happened and are not in the logs of some collections.
#[derive(Debug, Default)]
pub struct Unlogged(Mutex<BTreeMap<PathBuf, Gap>>);

/// Events that are not in the log of a collection.
#[derive(Debug)]
pub struct Gap {
    /// Their number.
    pub events: u64,
    /// Why the first of them is missing.
    pub cause: PathError,
}

impl Unlogged {
    fn add(&self, collection: &Path, events: u64, cause: PathError) {
        let mut gaps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let gap = gaps.entry(collection.to_path_buf()).or_insert(Gap { events: 0, cause });
        gap.events += events;
    }

    /// The gaps since the last call, by the roots of the collections.
    pub fn take(&self) -> BTreeMap<PathBuf, Gap> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Collection {
    /// Appends `events` to the log, or counts them as left out: a full disk must not turn a finished deposit
    /// into a failed one.
    pub(crate) fn note(&self, events: &[Event]) {
        if let Err(error) = self.log(events) {
            self.unlogged.add(self.path(), events.len() as u64, error);
        }
    }

    /// Counts the events that are left out of the log in `unlogged`.
    #[must_use]
    pub fn with_unlogged(self, unlogged: Arc<Unlogged>) -> Collection {
        Collection { unlogged, ..self }
    }

    /// Appends `events` to the log, all of one month in one write.
    pub fn log(&self, events: &[Event]) -> Result<(), PathError> {
        let mut rest = events;
        while let Some(first) = rest.first() {
            let month = month(first.date);
            let count = rest.iter().take_while(|event| self::month(event.date) == month).count();
            let log = self.ensure_own()?.ensure_dir(layout::LOG)?;
            self.append(&log, &format!("{month}.jsonl"), &rest[..count])?;
            rest = &rest[count..];
        }
        Ok(())
    }

    fn append(&self, log: &Dir, name: &str, events: &[Event]) -> Result<(), PathError> {
        let mut lines = Vec::new();
        for event in events {
            // Names and texts are plain strings, which JSON can represent.
            if serde_json::to_writer(&mut lines, event).is_ok() {
                lines.push(b'\n');
            }
        }
        let mut lock = self.lock_log(log.open_lock_file(name)?)?;
        let file = lock.file();
        let end = file.stat()?.bytes;
        if end > 0 && !file.ends_with(b'\n')? {
            lines.insert(0, b'\n');
        }
        file.write_all_at(&lines, end)
    }

    /// Writers hold the lock only during a write. A process that holds it for longer does not stop the
    /// others, which then stop waiting for it.
    fn lock_log(&self, file: StoredFile) -> Result<Lock, PathError> {
        let impatient = self.log_given_up.load(Ordering::Relaxed);
        let limit = if impatient { Duration::ZERO } else { self.waiter.limit };
        let lock = Lock::wait_for_file(file, LockMode::Exclusive, &self.waiter.up_to(limit));
        lock.map_err(|error| {
            self.log_given_up.store(true, Ordering::Relaxed);
            error.into_path_error()
        })
    }

    /// Calls `visit` for every event, month by month, in the order of the log. Returns the number of lines
    /// that are not events.
    pub fn visit_events<E: From<PathError>>(
        &self,
        since: Option<Instant>,
        mut visit: impl FnMut(Event) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut skipped = 0;
        let Some(log) = self.own_dir(layout::LOG)? else { return Ok(skipped) };
        let mut months = Vec::new();
        for entry in log.entries()? {
            if let Some(name) = entry?.name.to_str().and_then(|name| name.strip_suffix(".jsonl")) {
                months.push(name.to_owned());
            }
        }
        months.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        let first = since.map(month);
        for name in months {
            let is_before =
                |first: &String| (name.len(), name.as_str()) < (first.len(), first.as_str());
            if first.as_ref().is_some_and(is_before) {
                continue;
            }
            let Some(file) = log.open_file_if_there(format!("{name}.jsonl"))? else { continue };
            skipped += visit_lines(file, |event| match since {
                Some(since) if event.date < since => Ok(()),
                _ => visit(event),
            })?;
        }
        Ok(skipped)
    }
}

/// The month of an event, in UTC: the name of its file.
fn month(date: Instant) -> String {
    let civil = date.civil();
    format!("{:04}-{:02}", civil.year, civil.month)
}

/// Returns the number of lines that are not events: too long, or damaged.
fn visit_lines<E: From<PathError>>(
    file: StoredFile,
    mut visit: impl FnMut(Event) -> Result<(), E>,
) -> Result<u64, E> {
    let path = file.path().to_path_buf();
    let broken = |error| E::from(PathError::new("read", Path::new(&path), error));
    if file.stat()?.kind != Kind::File {
        return Err(broken(Error::other("it is not a file")));
    }
    let mut lines = BufReader::new(file);
    let (mut line, mut length, mut skipped) = (Vec::new(), 0, 0);
    loop {
        line.clear();
        let limited = &mut std::io::Read::take(&mut lines, MAX_LINE_BYTES);
        length += limited.read_until(b'\n', &mut line).map_err(broken)? as u64;
        if line.len() as u64 == MAX_LINE_BYTES && !line.ends_with(b"\n") {
            if length > MAX_SKIPPED_BYTES {
                return Err(broken(Error::other("it has a line without an end")));
            }
            continue;
        }
        let is_too_long = length > line.len() as u64;
        if line.is_empty() {
            return Ok(skipped + u64::from(is_too_long));
        }
        match serde_json::from_slice(&line) {
            Ok(event) if !is_too_long => visit(event)?,
            // A line without an end is being written.
            _ => skipped += u64::from(is_too_long || line.ends_with(b"\n")),
        }
        length = 0;
    }
}
