//! A cache of the inventory: years as far as they were read, and the open file.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::line::InventoryLine;
use super::recorded::{Certainty, Recorded};
use super::year::{YearInventory, visit_lines, without_end};
use super::{MAX_LINE_BYTES, year_file};
use crate::disk::{Dir, FileStat, PathError, StoredFile};
use crate::identity::RepositoryName;
use crate::layout;

/// The part of the inventory that has been read, for lookups of many items: each line is read once, unless
/// many other years are looked up meanwhile.
#[derive(Debug, Default)]
pub(in crate::collection) struct InventoryReader {
    /// The year of the last lookup.
    year: Option<ReadYear>,
    /// Earlier years, latest first.
    earlier: VecDeque<ReadYear>,
    /// The file of the last lookup, kept open: items are looked up in the order of their names.
    pub(super) open: Option<Arc<OpenYear>>,
}

/// Earlier years are dropped once later ones have this number of lines.
const EARLIER_LINES: usize = 1 << 17;

/// The file of a year, open if it exists, and its directory.
#[derive(Debug)]
pub(super) struct OpenYear {
    dir: Dir,
    pub(super) file_name: String,
    pub(super) file: Option<StoredFile>,
    /// The identities of both: those of replacements differ.
    identities: (Identity, Option<Identity>),
}

/// Device and inode.
type Identity = (u64, u64);

/// A file as far as it has been read: a few bytes for each line.
#[derive(Debug)]
pub(super) struct ReadYear {
    file_name: String,
    identity: Identity,
    known: YearInventory,
    /// The beginnings of lines that were added since, by the last level of the name.
    later: HashMap<String, Vec<u64>>,
}

impl InventoryReader {
    /// Reads `file`, called `file_name`, up to its present end. `stat` is as recent as the lookup.
    pub(super) fn year(
        &mut self,
        file: &StoredFile,
        file_name: &str,
        stat: FileStat,
    ) -> Result<&ReadYear, PathError> {
        let FileStat { identity, mut bytes, .. } = stat;
        let read = self.take(file_name).filter(|year| year.identity == identity);
        if read.as_ref().is_some_and(|year| year.known.end > bytes) {
            // Another thread has read the new lines meanwhile, or the file was truncated.
            bytes = file.stat()?.bytes;
        }
        let mut year = match read.filter(|year| year.known.end <= bytes) {
            Some(year) => year,
            None => ReadYear::read(file, file_name, identity)?,
        };
        if year.known.end < bytes {
            year.read_on(file)?;
        }
        Ok(self.year.insert(year))
    }

    /// Takes a year out of the cache. The year of the last lookup joins the earlier ones.
    fn take(&mut self, file_name: &str) -> Option<ReadYear> {
        let last = self.year.take()?;
        if last.file_name == file_name {
            return Some(last);
        }
        self.earlier.push_front(last);
        let asked = self.earlier.iter().position(|year| year.file_name == file_name);
        let asked = asked.and_then(|at| self.earlier.remove(at));
        let mut lines = 0;
        self.earlier.retain(|year| {
            let is_kept = lines <= EARLIER_LINES;
            lines += year.lines();
            is_kept
        });
        asked
    }

    /// Whether the lines read so far have a record of the item.
    pub(super) fn has_read(&self, name: &RepositoryName) -> bool {
        let (file_name, leaf) = (year_file(name), name.components()[3]);
        let mut years = self.year.iter().chain(&self.earlier);
        years.find(|year| year.file_name == file_name).is_some_and(|year| {
            year.known.find(leaf.as_bytes()).is_some() || year.later.contains_key(leaf)
        })
    }
}

/// The file now in the place of one that was opened before.
pub(super) enum FileChange {
    /// The same file, with its present metadata, or still no file.
    Same(Option<FileStat>),
    /// A new file, or a new inventory.
    Replaced,
}

impl OpenYear {
    /// Opens the file called `file_name`, if it exists; `None` while the inventory is lost.
    pub(super) fn open(own: &Dir, file_name: &str) -> Result<Option<OpenYear>, PathError> {
        let Some(dir) = own.open_dir_if_there(layout::INVENTORY)? else { return Ok(None) };
        let file = dir.open_file_if_there(file_name)?;
        let stat = file.as_ref().map(StoredFile::stat).transpose()?;
        let identities = (dir.own_stat()?.identity, stat.map(|stat| stat.identity));
        Ok(Some(OpenYear { dir, file_name: file_name.to_owned(), file, identities }))
    }

    /// Checks whether another process has replaced it.
    pub(super) fn look(&self, own: &Dir) -> Result<FileChange, PathError> {
        let Some(dir_stat) = own.stat(layout::INVENTORY)? else { return Ok(FileChange::Replaced) };
        let stat = self.dir.stat(&self.file_name)?;
        let identities = (dir_stat.identity, stat.map(|stat| stat.identity));
        Ok(if identities == self.identities {
            FileChange::Same(stat)
        } else {
            FileChange::Replaced
        })
    }
}

impl ReadYear {
    fn read(file: &StoredFile, file_name: &str, identity: Identity) -> Result<ReadYear, PathError> {
        let (file_name, known) = (file_name.to_owned(), YearInventory::of_file(file, file_name)?);
        Ok(ReadYear { file_name, identity, known, later: HashMap::new() })
    }

    /// Reads the new lines.
    fn read_on(&mut self, file: &StoredFile) -> Result<(), PathError> {
        let ReadYear { file_name, known, later, .. } = self;
        known.end = visit_lines(file, known.end, |start, text| match InventoryLine::parse(text) {
            Some(line) if year_file(&line.name) == *file_name => {
                later.entry(line.name.components()[3].to_owned()).or_default().push(start);
            }
            _ => known.last_rotten = Some(start),
        })?;
        Ok(())
    }

    /// Number of items in it; items with new lines count twice.
    fn lines(&self) -> usize {
        self.known.len() + self.later.len()
    }

    pub(super) fn last_record(
        &self,
        file: &StoredFile,
        leaf: &str,
    ) -> Result<Option<Recorded>, PathError> {
        let found = || self.known.find(leaf.as_bytes()).and_then(|(at, _)| self.known.line(at));
        let later = self.later.get(leaf).and_then(|lines| lines.last().copied());
        let Some(start) = later.or_else(found) else { return Ok(None) };
        let certainty = Certainty::of(start, self.known.last_rotten);
        Ok(line_at(file, start)?.map(|line| Recorded { line, certainty }))
    }
}

/// The line that begins at `start`.
fn line_at(file: &StoredFile, start: u64) -> Result<Option<InventoryLine>, PathError> {
    // Most lines are short.
    for length in [512, MAX_LINE_BYTES] {
        let mut bytes = vec![0; length];
        let filled = file.read_at(&mut bytes, start)?;
        let text = &bytes[..filled];
        let end = text.iter().position(|byte| *byte == b'\n');
        if end.is_some() || filled < length {
            let text = &text[..end.unwrap_or(filled)];
            let text = text.strip_suffix(b" torn").unwrap_or(text);
            return Ok(without_end(text).and_then(InventoryLine::parse));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::super::line::{Here, InventoryChange};
    use super::super::year::Known;
    use super::*;
    use crate::custody::Custody;
    use crate::disk::Watcher;
    use crate::item::State;

    const FILE: &str = "example.org+a+2026";

    fn line(minute: u32, state: State) -> String {
        let name = format!("example.org/a/2026/11.21.02.{minute:02}").parse().unwrap();
        let date = "2026-11-21T03:00:00Z".parse().unwrap();
        let custody = Custody::first("00000000000000aa".parse().unwrap(), "60cb");
        let change = InventoryChange::Entered(Here { state, custody, changed: date });
        InventoryLine { date, name, change }.to_text()
    }

    fn state(reader: &mut InventoryReader, file: &StoredFile, stat: FileStat) -> Option<State> {
        let year = reader.year(file, FILE, stat).unwrap();
        let recorded = year.last_record(file, "11.21.02.13").unwrap();
        recorded.and_then(|recorded| recorded.line.state())
    }

    #[test]
    fn a_thread_that_looked_at_the_file_before_another_did_reads_no_line_twice() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = Dir::open(scratch.path(), Watcher::default()).unwrap();
        let file = dir.create_file(FILE).unwrap();
        let first = line(13, State::Copy);
        file.write_all_at(first.as_bytes(), 0).unwrap();
        let mut reader = InventoryReader::default();
        let earlier = file.stat().unwrap();
        assert_eq!(state(&mut reader, &file, earlier), Some(State::Copy));
        let second = line(13, State::Original);
        file.write_all_at(second.as_bytes(), first.len() as u64).unwrap();
        assert_eq!(state(&mut reader, &file, file.stat().unwrap()), Some(State::Original));
        assert_eq!(state(&mut reader, &file, earlier), Some(State::Original));
        let year = reader.year.as_ref().unwrap();
        assert_eq!((year.known.len(), year.later.len()), (1, 1), "read from the start once");
    }

    #[test]
    fn years_are_let_go_in_turn() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = Dir::open(scratch.path(), Watcher::default()).unwrap();
        let file = dir.create_file(FILE).unwrap();
        let stat = file.stat().unwrap();
        let mut reader = InventoryReader::default();
        for year in ["1999", "2000", "2001"] {
            let read = reader.year(&file, year, stat).unwrap();
            assert_eq!(read.file_name, year);
            let year = reader.year.as_mut().unwrap();
            (0..EARLIER_LINES).for_each(|line| year.known.push(b"11.21", Known::Lost, line as u64));
        }
        reader.year(&file, "2002", stat).unwrap();
        let kept: Vec<_> = reader.earlier.iter().map(|year| year.file_name.as_str()).collect();
        assert_eq!(kept, ["2001", "2000"]);
        assert_eq!(reader.year(&file, "2000", stat).unwrap().lines(), EARLIER_LINES);
    }
}
