//! The head of a ledger in the host state: the end of the last line that this machine wrote.
//!
//! A ledger that does not contain it was shortened or put back from a backup, perhaps with the whole collection. The chain
//! alone cannot show that. The note belongs to the collection at its path: a copy of it elsewhere has a head of its own.

use std::error::Error as _;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

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

/// A ledger beside what this machine noted of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerStanding {
    /// It has the noted line, or none was noted.
    Known,
    /// It was shortened, or put back from a backup, since this machine wrote it.
    PutBack,
    /// Nothing shows whether the ledger was put back.
    Unknown(NoteFault),
}

/// Why a note says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteFault {
    /// The note.
    pub note: PathBuf,
    /// The error of reading it; `None` for one that is damaged.
    pub unread: Option<String>,
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

/// The contents of a note.
enum Noted {
    Nothing,
    /// The head, and when it was noted.
    Head(Head, Instant),
    /// They cannot be read: nobody knows which head was noted.
    Damaged,
}

impl HeadNote {
    fn read(&self) -> Result<Noted, PathError> {
        match self.read_head() {
            Ok(None) => Ok(Noted::Nothing),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Noted::Nothing),
            Ok(Some((Some(head), noted))) => Ok(Noted::Head(head, noted)),
            Ok(Some((None, _))) => Ok(Noted::Damaged),
            Err(error) => Err(error),
        }
    }

    fn read_head(&self) -> Result<Option<(Option<Head>, Instant)>, PathError> {
        let dir = Dir::open(&self.dir, Watcher::default())?;
        let Some(mut file) = dir.open_file_if_there(&self.name)? else { return Ok(None) };
        let head = Head::parse(&String::from_utf8_lossy(&file.read_all(1024)?));
        Ok(Some((head, file.stat()?.modified)))
    }

    fn write(&self, head: Head) -> Result<(), PathError> {
        let dir = Dir::make_with_parents(&self.dir, &Watcher::default())?;
        dir.open_lock_file(&self.name)?.write_all_at(format!("{head}\n").as_bytes(), 0)
    }

    /// The same in place of a note that cannot be read.
    fn replace(&self, head: Head) -> Result<(), PathError> {
        if matches!(self.read(), Ok(Noted::Damaged) | Err(_)) {
            let dir = Dir::open(&self.dir, Watcher::default())?;
            dir.remove_file_if_there(Path::new(&self.name))?;
        }
        self.write(head)
    }

    /// Whether the note may go on with the ledger in `dir`: that contains the noted head. A note that cannot be read stays until
    /// a person accepts the ledger.
    pub(super) fn goes_on_with(&self, dir: &Dir) -> Result<bool, PathError> {
        match self.read() {
            Ok(Noted::Nothing) => Ok(true),
            Ok(Noted::Head(head, noted)) => is_in(dir, head, noted),
            Ok(Noted::Damaged) | Err(_) => Ok(false),
        }
    }

    /// Notes the end of `tail`. A user who may not write there goes on without.
    pub(super) fn follow(&self, tail: &Tail<'_>) {
        let _ = self.write(tail.head());
    }
}

/// Whether the ledger in `dir` contains the head that was noted then, or a person has accepted that it does not.
fn is_in(dir: &Dir, head: Head, noted: Instant) -> Result<bool, PathError> {
    Ok(ends_with_sum(dir, head.end, head.sum)? || is_settled(dir, noted)?)
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

    /// The ledger beside what this machine noted of it.
    pub fn ledger_standing(&self) -> Result<LedgerStanding, PathError> {
        let Some(note) = &self.head_note else { return Ok(LedgerStanding::Known) };
        let unknown =
            |unread| LedgerStanding::Unknown(NoteFault { note: note.dir.join(&note.name), unread });
        Ok(match note.read() {
            Ok(Noted::Nothing) => LedgerStanding::Known,
            Ok(Noted::Damaged) => unknown(None),
            // An error says nothing about the note.
            Err(error) => unknown(error.source().map(ToString::to_string)),
            Ok(Noted::Head(head, noted)) => match self.ledger()? {
                Some(dir) if is_in(&dir, head, noted)? => LedgerStanding::Known,
                Some(_) | None => LedgerStanding::PutBack,
            },
        })
    }

    /// Whether the ledger was shortened or put back since this machine wrote it.
    pub fn is_ledger_put_back(&self) -> Result<bool, PathError> {
        Ok(matches!(self.ledger_standing()?, LedgerStanding::PutBack))
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
        Ok(note.replace(Tail::find(&dir)?.head())?)
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
