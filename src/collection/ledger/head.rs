//! The head of a ledger in the host state: the end of the last line that this machine wrote.
//!
//! A ledger that does not contain it was shortened or put back from a backup, perhaps with the whole collection. The chain
//! alone cannot show that. The note belongs to the collection at its path: a copy of it elsewhere has a head of its own.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::chain::{ChainReader, Head, Position, Tail, ends_with_sum};
use super::{Collection, CollectionError};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::disk::{Dir, PathError, Watcher};
use crate::distributor::HostState;
use crate::identity::{Instant, SECOND};

/// The host state with the note about one ledger.
#[derive(Debug)]
pub(in crate::collection) struct HeadNote {
    dir: PathBuf,
    name: String,
}

/// The text of a note.
impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Head { end: Position { file, offset }, sum } = self;
        write!(f, "urepo-ledger 1 {file:010} {offset:020} {sum:032x}")
    }
}

impl Head {
    /// Reads the text of a note.
    pub(super) fn parse(text: &str) -> Option<Head> {
        let ["urepo-ledger", "1", file, offset, sum] = *text.split_whitespace().collect::<Vec<_>>()
        else {
            return None;
        };
        let end = Position { file: file.parse().ok()?, offset: offset.parse().ok()? };
        Some(Head { end, sum: u128::from_str_radix(sum, 16).ok()? })
    }
}

/// The line by which a person accepts a ledger that was put back.
#[derive(Serialize, Deserialize)]
struct RestoredLine {
    date: Instant,
    event: String,
    /// The date and the sum of the last line before: what happened between the two dates may be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<Instant>,
    after: String,
    command: String,
    user: String,
    machine: String,
}

/// Whether a line of the ledger in `dir` accepts what is left of it, after the date `noted` at which a user noted a line that is
/// not there: that one was lost before, and the user has nothing more to accept.
fn is_settled(dir: &Dir, noted: Instant) -> Result<bool, PathError> {
    let mut is_settled = false;
    ChainReader::new(dir.try_clone()?).read_on(|_, line| {
        if let Ok(RestoredLine { date, event, .. }) = serde_json::from_slice(line) {
            // The date of a line has no fraction of a second.
            is_settled |= event == "restored" && noted.floor(SECOND) <= date;
        }
    })?;
    Ok(is_settled)
}

impl HeadNote {
    /// The noted head, and when it was noted.
    fn read(&self) -> Result<Option<(Head, Instant)>, PathError> {
        let dir = Dir::open(&self.dir, Watcher::default())?;
        let Some(mut file) = dir.open_file_if_there(&self.name)? else { return Ok(None) };
        let head = Head::parse(&String::from_utf8_lossy(&file.read_all(1024)?));
        let noted = file.stat()?.modified;
        Ok(head.map(|head| (head, noted)))
    }

    fn write(&self, head: Head) -> Result<(), PathError> {
        let dir = Dir::make_with_parents(&self.dir, &Watcher::default())?;
        dir.open_lock_file(&self.name)?.write_all_at(format!("{head}\n").as_bytes(), 0)
    }

    /// Whether the ledger in `dir` contains the noted head. A note that cannot be read demands nothing.
    pub(super) fn is_in(&self, dir: &Dir) -> Result<bool, PathError> {
        let Some((head, noted)) = self.read().unwrap_or(None) else { return Ok(true) };
        Ok(ends_with_sum(dir, head.end, head.sum)? || is_settled(dir, noted)?)
    }

    /// Notes the end of `tail`. A user who may not write there goes on without.
    pub(super) fn follow(&self, tail: &Tail<'_>) {
        let _ = self.write(tail.head());
    }
}

impl Collection {
    /// Notes the head of the ledger in `host`.
    #[must_use]
    pub fn with_host_state(self, host: &HostState) -> Collection {
        let note = host.dir.as_ref().and_then(|dir| {
            let place = self.place()?;
            Some(HeadNote { dir: dir.clone(), name: format!("ledger-{}-{place:032x}", self.id()) })
        });
        Collection { head_note: note, ..self }
    }

    /// Whether the ledger of `other` goes on where this one ends: this root is a backup of the other, or both are equal.
    pub fn is_continued_in(&self, other: &Collection) -> Result<bool, PathError> {
        let Some(dir) = self.ledger()? else { return Ok(true) };
        let Head { end, sum } = super::chain::last_head(&dir)?;
        match other.ledger()? {
            _ if end == Position::default() => Ok(true),
            Some(dir) => ends_with_sum(&dir, end, sum),
            None => Ok(false),
        }
    }

    /// Whether there is a ledger. A lost one is rebuilt from the items by the next writer.
    pub fn has_ledger(&self) -> Result<bool, PathError> {
        Ok(self.ledger()?.is_some())
    }

    /// Whether the ledger was shortened or put back since this machine wrote it.
    pub fn is_ledger_put_back(&self) -> Result<bool, PathError> {
        let Some(note) = &self.head_note else { return Ok(false) };
        match self.ledger()? {
            Some(dir) => Ok(!note.is_in(&dir)?),
            None => Ok(note.read().unwrap_or(None).is_some()),
        }
    }

    /// Takes the ledger as it is, by the word of a person. A line says so to the other users of the collection.
    pub fn accept_ledger(&self, agent: &Agent, clock: &dyn Clock) -> Result<(), CollectionError> {
        let is_put_back = self.is_ledger_put_back()?;
        let (Some(note), Some(dir)) = (&self.head_note, self.ledger()?) else { return Ok(()) };
        let since = self.last_event_date()?;
        let _lock = self.lock_ledger()?;
        if is_put_back {
            let Agent { command, user, machine, .. } = agent.clone();
            let (date, event) = (clock.now().floor(SECOND), "restored".to_owned());
            let after = format!("{:032x}", Tail::find(&dir)?.head().sum);
            let line = RestoredLine { date, event, since, after, command, user, machine };
            self.append_lines(&[serde_json::to_string(&line).unwrap_or_default()])?;
        }
        Ok(note.write(Tail::find(&dir)?.head())?)
    }

    /// The date of the last event in the ledger.
    pub fn last_event_date(&self) -> Result<Option<Instant>, PathError> {
        let mut last = None;
        self.visit_events(None, |event| {
            last = last.max(Some(event.date));
            Ok::<_, PathError>(())
        })?;
        Ok(last)
    }
}
