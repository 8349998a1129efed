//! The ledger: which source became which item, so that nothing is imported twice.
//!
//! One text file in the collection, `.urepo/import/ledger`, to which lines are added: each once its item is
//! durable and before it is reported. A torn last line is skipped. The sidecars have the same data
//! (`[origin]`), so a lost ledger is rebuilt from them, and [`catch_up`] adds items that were published just
//! before a crash. Names are issued in the order of their dates, so only names after the last one of the
//! ledger need to be checked.
//!
//! One import at a time holds the ledger of a collection, by a kernel lock.

pub(crate) mod catch_up;
mod line;
mod presence;
mod table;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use super::ImportError;
use crate::agent::Agent;
use crate::collection::{Collection, CollectionError};
use crate::digest::Digest;
use crate::disk::{self, Lock, LockError, LockMode, PathError, StoredFile};
use crate::identity::{Instant, RepositoryName};
use crate::layout;
use crate::wait::Waiter;
use table::LedgerTable;

pub(crate) use line::{Entry, LineKind};
pub(crate) use presence::ItemPresence;

const FILE: &str = "ledger";
const LOCK: &str = "lock";

/// Bytes of the ledger that are read at a time.
const PIECE_BYTES: usize = 256 * 1024;

/// Limit on a line: no path is longer.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// The open ledger of a collection.
#[derive(Debug)]
pub struct Ledger<'a> {
    collection: &'a Collection,
    file: Option<StoredFile>,
    end: u64,
    /// The beginning of the lines of this run.
    begun: u64,
    /// The last line has no end.
    torn: bool,
    sources: LedgerTable,
    contents: LedgerTable,
    absent: HashMap<Digest, Absent>,
    /// The latest date of each prefix up to which all names are known.
    newest: BTreeMap<String, Instant>,
    /// Names are issued in the order of their dates, except after a name dated in the future.
    now: Instant,
    /// Lines that a dry run would write.
    unwritten: Vec<Entry>,
    lock: Option<Lock>,
}

/// A line about a source, and the place of its item.
#[derive(Debug)]
pub(crate) struct Imported {
    pub entry: Entry,
    pub standing: ItemPresence,
    /// Whether its item was made by this run.
    pub is_new: bool,
}

/// A content without an item here: among its lines up to `newest`, only the `best` one has to be checked
/// again.
#[derive(Debug)]
struct Absent {
    newest: u64,
    best: Option<u64>,
}

/// Offsets from here on refer to lines that are not in the file.
const UNWRITTEN: u64 = 1 << 63;

impl<'a> Ledger<'a> {
    /// Opens the ledger for an import, exclusively.
    pub fn open(
        collection: &'a Collection,
        agent: &Agent,
        waiter: &Waiter<'_>,
    ) -> Result<Ledger<'a>, ImportError> {
        let dir = collection.ensure_own()?.ensure_lasting_dir(layout::IMPORT)?;
        let holder = agent.holder(waiter.clock);
        let lock = Lock::take(&dir, LOCK, LockMode::Exclusive, &holder, waiter);
        let lock = lock.map_err(|error| match error {
            LockError::Held { holder, .. } => {
                ImportError::Locked { collection: collection.settings().name.clone(), holder }
            }
            error => CollectionError::locked(&collection.settings().name, error).into(),
        })?;
        let file = dir.open_lock_file(FILE)?;
        // A synced line is of no use in a file whose name is not synced.
        dir.sync()?;
        let mut ledger = Ledger::new(collection, Some(file), Some(lock));
        ledger.read()?;
        ledger.catch_up()?;
        ledger.begun = ledger.end;
        Ok(ledger)
    }

    /// Reads the ledger for a dry run, without writing or locking.
    pub fn look(collection: &'a Collection) -> Result<Ledger<'a>, ImportError> {
        let dir = collection.own_dir(layout::IMPORT)?;
        let file = dir.map(|dir| dir.open_file_if_there(FILE)).transpose()?.flatten();
        let mut ledger = Ledger::new(collection, file, None);
        ledger.read()?;
        ledger.catch_up()?;
        Ok(ledger)
    }

    fn new(collection: &'a Collection, file: Option<StoredFile>, lock: Option<Lock>) -> Ledger<'a> {
        Ledger {
            collection,
            file,
            end: 0,
            begun: u64::MAX,
            torn: false,
            sources: LedgerTable::default(),
            contents: LedgerTable::default(),
            absent: HashMap::new(),
            newest: BTreeMap::new(),
            now: collection.now(),
            unwritten: Vec::new(),
            lock,
        }
    }

    /// The collection it belongs to.
    pub(crate) fn collection(&self) -> &'a Collection {
        self.collection
    }

    /// The latest line about a source that `fits`, if it still counts.
    pub(crate) fn of_source(
        &self,
        source: &[u8],
        fits: &dyn Fn(&Entry) -> bool,
    ) -> Result<Option<Imported>, ImportError> {
        let lines = self.sources.find(source);
        let found = self.find(lines, |entry| entry.source == source && fits(entry))?;
        Ok(found.map(|(_, imported)| imported))
    }

    /// The existing items made of `source`, and tombstones.
    pub(crate) fn items_of_source(
        &self,
        source: &[u8],
    ) -> Result<BTreeSet<RepositoryName>, ImportError> {
        let mut names = BTreeSet::new();
        for offset in self.sources.find(source) {
            let entry = self.line_at(offset)?.filter(|entry| entry.source == source);
            let Some(Entry { name, .. }) = entry else { continue };
            if matches!(self.standing(&name)?, Some(ItemPresence::Here | ItemPresence::Deleted)) {
                names.insert(name);
            }
        }
        Ok(names)
    }

    /// The latest line about a source with this content, if it still counts.
    pub(crate) fn of_content(&mut self, content: &Digest) -> Result<Option<Imported>, ImportError> {
        let text = content.to_string();
        let before = self.absent.get(content);
        let newest = self.contents.find(text.as_bytes()).next();
        let lines = self.contents.find(text.as_bytes());
        let lines = lines.take_while(|offset| before.is_none_or(|it| *offset > it.newest));
        let lines = lines.chain(before.and_then(|it| it.best));
        let found = self.find(lines, |entry| entry.content == *content)?;
        if let Some(newest) = newest
            && !matches!(&found, Some((_, Imported { standing: ItemPresence::Here, .. })))
        {
            let best = found.as_ref().map(|(offset, _)| *offset);
            self.absent.insert(*content, Absent { newest, best });
        }
        Ok(found.map(|(_, imported)| imported))
    }

    /// Among several lines, one with an existing item counts most, then one with a missing item: the source
    /// may be its last copy.
    fn find(
        &self,
        lines: impl Iterator<Item = u64>,
        fits: impl Fn(&Entry) -> bool,
    ) -> Result<Option<(u64, Imported)>, ImportError> {
        let mut best: Option<(u64, Imported)> = None;
        for offset in lines {
            let Some(entry) = self.line_at(offset)?.filter(&fits) else { continue };
            let Some(standing) = self.standing(&entry.name)? else { continue };
            if best.as_ref().is_none_or(|(_, it)| standing.rank() > it.standing.rank()) {
                let is_here = matches!(standing, ItemPresence::Here);
                let is_new = offset >= self.begun && entry.kind != LineKind::Existing;
                best = Some((offset, Imported { entry, standing, is_new }));
                if is_here {
                    break;
                }
            }
        }
        Ok(best)
    }

    fn line_at(&self, offset: u64) -> Result<Option<Entry>, ImportError> {
        if let Some(at) = offset.checked_sub(UNWRITTEN) {
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            return Ok(self.unwritten.get(at).cloned());
        }
        let Some(file) = &self.file else { return Ok(None) };
        // Most lines are short.
        for length in [512, MAX_LINE_BYTES] {
            let mut buffer = vec![0; length];
            let filled = file.read_at(&mut buffer, offset)?;
            if let Some(end) = buffer[..filled].iter().position(|byte| *byte == b'\n') {
                return Ok(Entry::read(&buffer[..end]));
            }
        }
        Ok(None)
    }

    /// Adds lines, durably.
    pub(crate) fn add(&mut self, entries: &[Entry]) -> Result<(), ImportError> {
        if entries.is_empty() {
            return Ok(());
        }
        let Some(file) = self.file.as_ref().filter(|_| self.lock.is_some()) else {
            for entry in entries {
                let offset = UNWRITTEN + self.unwritten.len() as u64;
                self.remember(entry, offset);
                self.unwritten.push(entry.clone());
            }
            return Ok(());
        };
        let lines: Vec<String> = entries.iter().map(Entry::to_line).collect();
        let offsets = append(file, (&mut self.end, &mut self.torn), &lines)?;
        for (entry, offset) in entries.iter().zip(offsets) {
            self.remember(entry, offset);
        }
        Ok(())
    }

    fn remember(&mut self, entry: &Entry, offset: u64) {
        let date = entry.name.instant();
        if matches!(entry.kind, LineKind::Item | LineKind::Seen) && date <= self.now {
            let newest = self.newest.entry(entry.name.prefix().folded()).or_insert(date);
            *newest = date.max(*newest);
        }
        if entry.kind != LineKind::Seen {
            self.sources.add(&entry.source, offset);
            self.contents.add(entry.content.to_string().as_bytes(), offset);
        }
    }

    /// Reads all lines, and keeps their offsets.
    fn read(&mut self) -> Result<(), ImportError> {
        let Some(mut file) = self.file.take() else { return Ok(()) };
        let damaged = |reason| {
            let path = self.collection.path().join(Ledger::path());
            Err(ImportError::Ledger { path, reason })
        };
        if file.stat()?.kind != disk::Kind::File {
            return damaged("it is not a regular file");
        }
        let mut pending: Vec<u8> = Vec::new();
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let length = file.read_some(&mut piece)?;
            if length == 0 {
                break;
            }
            pending.extend_from_slice(&piece[..length]);
            let mut start = 0;
            while let Some(end) = pending[start..].iter().position(|byte| *byte == b'\n') {
                let line = &pending[start..start + end];
                if let Some(entry) = Entry::read(line) {
                    self.remember(&entry, self.end + start as u64);
                }
                start += end + 1;
            }
            // A sparse file of any size has no lines: it is not read to its end.
            if start == 0 && pending.len() > MAX_LINE_BYTES + PIECE_BYTES {
                return damaged("it has something else than lines");
            }
            pending.drain(..start);
            self.end += start as u64;
        }
        self.end += pending.len() as u64;
        self.torn = !pending.is_empty();
        self.file = Some(file);
        Ok(())
    }

    /// Its path in the collection.
    pub fn path() -> std::path::PathBuf {
        Path::new(layout::OWN).join(layout::IMPORT).join(FILE)
    }
}

/// Appends lines at the `end` of the ledger, durably, and returns their beginning. The last line counts as
/// `torn` until the write has succeeded.
fn append(
    file: &StoredFile,
    (end, torn): (&mut u64, &mut bool),
    lines: &[String],
) -> Result<Vec<u64>, PathError> {
    // The remains of a line after a crash are ended, so that the next one is separate.
    let mut text = if *torn { "\n".to_owned() } else { String::new() };
    let mut offsets = Vec::with_capacity(lines.len());
    for line in lines {
        offsets.push(*end + text.len() as u64);
        text.push_str(line);
    }
    *torn = true;
    let written = file.write_all_at(text.as_bytes(), *end).and_then(|()| file.sync_data());
    if let Err(error) = written {
        *end = file.stat().map_or(*end, |stamp| stamp.bytes.max(*end));
        return Err(error);
    }
    *torn = false;
    *end += text.len() as u64;
    Ok(offsets)
}
