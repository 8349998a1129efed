//! The dates of the last verification of each item: one text file for each year of a prefix, in the order of
//! the listing.
//!
//! A line is `leaf date`. Files are read and written from start to end beside the listing, so that no
//! collection is too large. They are urepo's own notes: if they are missing or garbled, items are merely
//! verified again, and a failure to read or write them is not an error of the run.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::digest::Digest;
use crate::disk::{Dir, Kind, PathError, StoredFile};
use crate::identity::{Instant, RepositoryName};

/// A longer name of a file is replaced by its digest.
const LONGEST_NAME: usize = 230;

/// The name of the file about the year of `name`, in each directory that has one for each year.
pub(super) fn year_file(name: &RepositoryName) -> String {
    let [subdomain, word, year, _] = name.components();
    // `+` occurs in no name.
    let text = format!("{subdomain}+{word}+{year}").to_ascii_lowercase();
    if text.len() > LONGEST_NAME { Digest::of(text.as_bytes()).to_string() } else { text }
}

/// Limit on a line: a leaf has at most 255 bytes.
const LINE: u64 = 512;
/// Bytes that are written at a time.
const BLOCK: usize = 1 << 16;

pub(super) fn leaf_of(name: &RepositoryName) -> &str {
    name.components()[3]
}

/// The existing dates, looked up in the order of the listing.
#[derive(Debug)]
pub(super) struct Dates {
    dir: Option<Dir>,
    file: String,
    lines: Option<DateLines>,
    /// The next line.
    ahead: Option<(String, Instant)>,
}

impl Dates {
    /// The dates in `dir`, or no dates without `dir`.
    pub(super) fn new(dir: Option<Dir>) -> Dates {
        Dates { dir, file: String::new(), lines: None, ahead: None }
    }

    /// When `name` was last verified.
    pub(super) fn of(&mut self, name: &RepositoryName) -> Option<Instant> {
        let dir = self.dir.as_ref()?;
        let file = year_file(name);
        if file != self.file {
            self.lines = DateLines::open(dir, &file);
            self.ahead = self.lines.as_mut().and_then(DateLines::next);
            self.file = file;
        }
        let leaf = leaf_of(name);
        while self.ahead.as_ref().is_some_and(|(ahead, _)| ahead.as_str() < leaf) {
            self.ahead = self.lines.as_mut().and_then(DateLines::next);
        }
        self.ahead.as_ref().filter(|(ahead, _)| ahead == leaf).map(|(_, date)| *date)
    }
}

/// A line that is not valid.
struct Garbage;

/// The lines of a file that is valid to its end.
#[derive(Debug)]
struct DateLines(BufReader<StoredFile>);

impl DateLines {
    fn open(dir: &Dir, name: &str) -> Option<DateLines> {
        let file = dir.open_file_if_there(name).ok()??;
        if file.stat().ok()?.kind != Kind::File {
            return None;
        }
        // One invalid line discredits the whole file.
        let mut lines = DateLines(BufReader::new(file));
        let mut last = String::new();
        while let Some((leaf, _)) = lines.read().ok()? {
            if leaf <= last {
                return None;
            }
            last = leaf;
        }
        let mut file = lines.0.into_inner();
        file.rewind().ok()?;
        Some(DateLines(BufReader::new(file)))
    }

    fn next(&mut self) -> Option<(String, Instant)> {
        self.read().ok().flatten()
    }

    /// The next line, if any.
    fn read(&mut self) -> Result<Option<(String, Instant)>, Garbage> {
        let mut bytes = Vec::new();
        let read = self.0.by_ref().take(LINE).read_until(b'\n', &mut bytes);
        match read {
            Ok(0) => Ok(None),
            Ok(_) => parse(&bytes).map(Some).ok_or(Garbage),
            Err(_) => Err(Garbage),
        }
    }
}

fn parse(line: &[u8]) -> Option<(String, Instant)> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (leaf, date) = line.split_once(' ')?;
    Some((leaf.to_owned(), date.parse().ok()?))
}

/// Removes the dates of `leaves` from `file` in `dir`. The caller holds the lock of the dates.
pub(super) fn forget(dir: &Dir, file: &str, leaves: &BTreeSet<String>) -> Result<(), PathError> {
    let Some(mut before) = DateLines::open(dir, file) else { return Ok(()) };
    let mut year = YearDates::new(file.to_owned());
    let mut is_changed = false;
    while let Some((leaf, date)) = before.next() {
        let is_kept = !leaves.contains(&leaf);
        is_changed |= !is_kept;
        year.note(dir, &leaf, is_kept.then_some(date))?;
    }
    if is_changed {
        year.finish(dir)
    } else {
        dir.remove_file_if_there(Path::new(&year.staged_name()))
    }
}

/// Rewrites the dates, in the order of the listing.
#[derive(Debug)]
pub(super) struct Recorder {
    dir: Dir,
    year: Option<YearDates>,
    /// An error has occurred: nothing more is written.
    failed: bool,
}

/// The file being written.
#[derive(Debug)]
struct YearDates {
    file: String,
    /// The last leaf noted, with or without a date.
    last: String,
    /// Created with the first line.
    staged: Option<StoredFile>,
    block: Vec<u8>,
}

impl Recorder {
    /// Writes into `dir`. The caller holds the lock of the dates.
    pub(super) fn new(dir: Dir) -> Recorder {
        Recorder { dir, year: None, failed: false }
    }

    /// Notes when `name` was last verified, or that it has no date any more.
    pub(super) fn note(&mut self, name: &RepositoryName, date: Option<Instant>) {
        if !self.failed {
            let before = self.year.as_ref().map(|year| year.file.clone());
            self.failed = self.try_note(name, date).is_err();
            if self.failed {
                for file in before.into_iter().chain([year_file(name)]) {
                    self.forget(&file);
                }
            }
        } else if date.is_none() {
            self.forget(&year_file(name));
        }
    }

    /// Removes a file that cannot be corrected: a damaged item must not keep an old date.
    fn forget(&self, file: &str) {
        let _ = self.dir.remove_file_if_there(Path::new(file));
    }

    /// Completes the dates: if the listing was `cut_short`, items after the last name keep their dates.
    /// Returns whether everything could be written.
    pub(super) fn finish(mut self, cut_short: bool) -> bool {
        if let Some(mut year) = self.year.take()
            && !self.failed
        {
            let file = year.file.clone();
            let kept = if cut_short { year.keep_rest(&self.dir) } else { Ok(()) };
            self.failed = kept.and_then(|()| year.finish(&self.dir)).is_err();
            if self.failed {
                self.forget(&file);
            }
        }
        !self.failed
    }

    fn try_note(&mut self, name: &RepositoryName, date: Option<Instant>) -> Result<(), PathError> {
        let file = year_file(name);
        if self.year.as_ref().is_none_or(|year| year.file != file) {
            if let Some(year) = self.year.take() {
                year.finish(&self.dir)?;
            }
            self.year = Some(YearDates::new(file));
        }
        match &mut self.year {
            Some(year) => year.note(&self.dir, leaf_of(name), date),
            None => Ok(()),
        }
    }
}

impl YearDates {
    fn new(file: String) -> YearDates {
        YearDates { file, last: String::new(), staged: None, block: Vec::new() }
    }

    fn staged_name(&self) -> String {
        format!("{}.new", self.file)
    }

    fn note(&mut self, dir: &Dir, leaf: &str, date: Option<Instant>) -> Result<(), PathError> {
        // A name in two spellings, or a tree that changes while it is listed.
        if leaf <= self.last.as_str() {
            return Ok(());
        }
        leaf.clone_into(&mut self.last);
        if let Some(date) = date {
            self.block.extend_from_slice(format!("{leaf} {date}\n").as_bytes());
            if self.block.len() >= BLOCK {
                self.write(dir)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, dir: &Dir) -> Result<(), PathError> {
        let mut file = if let Some(file) = self.staged.take() {
            file
        } else {
            let staged = self.staged_name();
            // Left by a killed run.
            dir.remove_file_if_there(Path::new(&staged))?;
            dir.create_file(&staged)?
        };
        file.write_all(&self.block)?;
        self.block.clear();
        self.staged = Some(file);
        Ok(())
    }

    fn keep_rest(&mut self, dir: &Dir) -> Result<(), PathError> {
        let Some(mut before) = DateLines::open(dir, &self.file) else { return Ok(()) };
        while let Some((leaf, date)) = before.next() {
            self.note(dir, &leaf, Some(date))?;
        }
        Ok(())
    }

    fn finish(mut self, dir: &Dir) -> Result<(), PathError> {
        if !self.block.is_empty() {
            self.write(dir)?;
        }
        match &self.staged {
            None => dir.remove_file_if_there(Path::new(&self.file)),
            Some(file) => {
                file.sync()?;
                dir.replace_with(&self.staged_name(), &self.file)
            }
        }
    }
}
