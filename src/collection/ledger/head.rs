//! The head of a ledger in the host state: the end of the last line that this machine wrote.
//!
//! A ledger that does not contain it was shortened or put back from a backup, perhaps with the whole collection. The chain
//! alone cannot show that. The note belongs to the collection at its path: a copy of it elsewhere has a head of its own.

use std::fmt;
use std::path::PathBuf;

use super::chain::{Head, Position, Tail, ends_with_sum};
use super::{Collection, CollectionError};
use crate::disk::{Dir, PathError, Watcher};
use crate::distributor::HostState;

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

impl HeadNote {
    fn read(&self) -> Result<Option<Head>, PathError> {
        let dir = Dir::open(&self.dir, Watcher::default())?;
        let Some(mut file) = dir.open_file_if_there(&self.name)? else { return Ok(None) };
        Ok(Head::parse(&String::from_utf8_lossy(&file.read_all(1024)?)))
    }

    fn write(&self, head: Head) -> Result<(), PathError> {
        let dir = Dir::make_with_parents(&self.dir, &Watcher::default())?;
        dir.open_lock_file(&self.name)?.write_all_at(format!("{head}\n").as_bytes(), 0)
    }

    /// Whether the ledger in `dir` contains the noted head. A note that cannot be read demands nothing.
    pub(super) fn is_in(&self, dir: &Dir) -> Result<bool, PathError> {
        let head = self.read().unwrap_or(None);
        head.map_or(Ok(true), |Head { end, sum }| ends_with_sum(dir, end, sum))
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

    /// Whether the ledger was shortened or put back since this machine wrote it.
    pub(super) fn is_ledger_put_back(&self) -> Result<bool, PathError> {
        let Some(note) = &self.head_note else { return Ok(false) };
        match self.ledger()? {
            Some(dir) => Ok(!note.is_in(&dir)?),
            None => Ok(note.read().unwrap_or(None).is_some()),
        }
    }

    /// Takes the ledger as it is, by the word of a person.
    pub fn accept_ledger(&self) -> Result<(), CollectionError> {
        let (Some(note), Some(dir)) = (&self.head_note, self.ledger()?) else { return Ok(()) };
        let _lock = self.lock_ledger()?;
        Ok(note.write(Tail::find(&dir)?.head())?)
    }
}
