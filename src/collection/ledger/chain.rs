//! The files of the ledger: JSON lines, each with the sum of the line before and its own text.
//!
//! The last key of a line is `sum`: the first 32 hexadecimal digits of the SHA-256 of the sum before, a line feed, and the
//! line without `,"sum":"…"`. So a line that is changed, missing or inserted has the wrong sum, or the next one has. The
//! first line of each file is its header: the id of the collection, and in `follows` the last sum of the file before. The
//! collection has the id of the last header, which names the one before it in `was`, if that was another.
//!
//! A file ends at the line whose sum the next header repeats. What stands behind that line was being written when the sync
//! of a file failed, and nobody relied on it. The end of a line that was being written at a crash is no line.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::digest::Hasher;
use crate::disk::{Dir, Kind, PathError, StoredFile};

/// A file that is longer gets a successor.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;
/// Limit on a line; urepo writes no longer one.
pub(super) const MAX_LINE_BYTES: usize = 1024 * 1024;
/// Limit on bytes without the end of a line: a hole of terabytes is not read to its end.
const MAX_GAP_BYTES: u64 = 256 * 1024 * 1024;
/// The key before a sum, and what follows it.
const KEY: &[u8] = b",\"sum\":\"";
const CLOSING: &[u8] = b"\"}";
const DIGITS: usize = 32;

/// Of a line: the number of its file, and where it begins there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub file: u32,
    pub offset: u64,
}

/// The end of a line, and its sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub end: Position,
    pub sum: u128,
}

/// The name of the file with a number.
pub(super) fn file_name(number: u32) -> String {
    format!("{number:06}.jsonl")
}

/// The numbers of the files in `dir`, in order.
pub(super) fn numbers(dir: &Dir) -> Result<Vec<u32>, PathError> {
    let names = dir.names_of(Kind::File, |_| true)?;
    let number = |name: &String| {
        let number = name.strip_suffix(".jsonl")?.parse().ok()?;
        // Six digits: 64 TB.
        (file_name(number) == *name && number < 1_000_000).then_some(number)
    };
    let mut numbers: Vec<u32> = names.iter().filter_map(number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// The first line of a file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    /// The id of the collection.
    pub collection: String,
    event: String,
    /// The last sum of the file before.
    #[serde(default)]
    follows: String,
    /// The id that the collection had before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    was: Option<String>,
}

impl Header {
    /// The header for the collection with this id.
    pub(super) fn of(id: &str) -> Header {
        let (collection, event) = (id.to_owned(), "header".to_owned());
        Header { collection, event, follows: String::new(), was: None }
    }

    /// The same for a collection that had another id before.
    pub(super) fn after(self, was: &str) -> Header {
        Header { was: Some(was.to_owned()), ..self }
    }

    /// Reads a whole header.
    fn read(line: &[u8]) -> Option<Header> {
        let header: Header = serde_json::from_slice(line).ok()?;
        let ((text, sum), before) = (parts(line)?, read_sum(header.follows.as_bytes())?);
        let is_id = header.collection.len() == DIGITS
            && header.collection.bytes().all(|byte| byte.is_ascii_hexdigit());
        (header.event == "header" && is_id && sum_of(before, text) == sum).then_some(header)
    }
}

/// The header of the last file in `dir`; `None` if it is damaged, or there is none. A file without a line does not count: its
/// writer was killed.
pub(super) fn last_header(dir: &Dir) -> Result<Option<Header>, PathError> {
    for number in numbers(dir)?.into_iter().rev() {
        if let Some(line) = line_at(&dir.open_file(file_name(number))?, 0)? {
            return Ok(Header::read(&line));
        }
    }
    Ok(None)
}

/// The sum of a line whose JSON without a sum is `text` without its last brace.
fn sum_of(before: u128, text: &[u8]) -> u128 {
    let mut hasher = Hasher::default();
    hasher.update(format!("{before:0DIGITS$x}\n").as_bytes());
    hasher.update(text);
    hasher.finish().half()
}

/// A line without its end, taken apart: what its sum is about, and the sum.
fn parts(line: &[u8]) -> Option<(&[u8], u128)> {
    let (rest, digits) = line.strip_suffix(CLOSING)?.split_last_chunk::<DIGITS>()?;
    Some((rest.strip_suffix(KEY)?, read_sum(digits)?))
}

/// The sum with these digits, which have one spelling.
fn read_sum(digits: &[u8]) -> Option<u128> {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let digits = Some(digits).filter(|it| it.len() == DIGITS && it.iter().all(is_digit))?;
    u128::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Whether the lines of the ledger follow each other.
#[derive(Clone, Debug, Default)]
struct Links {
    /// The sum that the last line should have, and the one that it has.
    computed: u128,
    stated: u128,
}

impl Links {
    /// Whether `line` follows the lines so far. A line that follows a damaged one is whole itself.
    fn follow(&mut self, line: &[u8]) -> bool {
        let Some((text, sum)) = parts(line) else {
            *self = Links::default();
            return false;
        };
        let computed = sum_of(self.stated, text);
        let is_whole = computed == sum || sum_of(self.computed, text) == sum;
        *self = Links { computed: if is_whole { sum } else { computed }, stated: sum };
        is_whole
    }

    /// Goes on after `line` without computing its sum.
    fn pass(&mut self, line: &[u8]) {
        let sum = parts(line).map_or(0, |(_, sum)| sum);
        *self = Links { computed: sum, stated: sum };
    }
}

/// Reads the ledger from its first line on, and further when it has grown.
#[derive(Debug)]
pub(super) struct ChainReader {
    dir: Dir,
    files: Vec<(u32, Arc<StoredFile>)>,
    /// The file being read, as an index, and how far.
    current: usize,
    offset: u64,
    links: Links,
    /// Number of damaged lines.
    pub damaged: u64,
}

impl ChainReader {
    pub(super) fn new(dir: Dir) -> ChainReader {
        let files = Vec::new();
        ChainReader { dir, files, current: 0, offset: 0, links: Links::default(), damaged: 0 }
    }

    /// Calls `visit` for each whole line that was added since the last call, with its position. Headers are lines as well.
    pub(super) fn read_on(&mut self, visit: impl FnMut(Position, &[u8])) -> Result<(), PathError> {
        self.read_some(|_| true, visit)
    }

    /// The same with the lines that are `wanted`. Of the others, the sum is taken as it is stated.
    pub(super) fn read_some(
        &mut self,
        wanted: impl Fn(&[u8]) -> bool,
        mut visit: impl FnMut(Position, &[u8]),
    ) -> Result<(), PathError> {
        for number in numbers(&self.dir)? {
            if self.files.last().is_none_or(|(last, _)| *last < number) {
                let file = self.dir.open_file(file_name(number))?;
                self.files.push((number, Arc::new(file)));
            }
        }
        while let Some((number, file)) = self.files.get(self.current).cloned() {
            let next = self.files.get(self.current + 1);
            let end = next.map_or(Ok(None), |(_, next)| followed_by(next))?;
            let (links, damaged) = (&mut self.links, &mut self.damaged);
            let mut is_over = end.is_some_and(|end| links.stated == end && self.offset > 0);
            self.offset = visit_lines(&file, self.offset, |offset, line| {
                if is_over {
                    return;
                }
                if !wanted(line) {
                    links.pass(line);
                } else if links.follow(line) {
                    visit(Position { file: number, offset }, line);
                } else {
                    *damaged += 1;
                }
                is_over = end == Some(links.stated);
            })?;
            if self.current + 1 == self.files.len() {
                break;
            }
            (self.current, self.offset) = (self.current + 1, 0);
        }
        Ok(())
    }

    /// Whether nothing was added since the last call of [`ChainReader::read_on`]; `None` if the lines read are no longer
    /// there.
    pub(super) fn is_up_to_date(&self) -> Result<Option<bool>, PathError> {
        let Some((number, file)) = self.files.get(self.current) else { return Ok(Some(false)) };
        let bytes = file.stat()?.bytes;
        let is_whole = bytes >= self.offset;
        let has_next = || Ok(self.dir.stat(file_name(number + 1))?.is_some());
        Ok(if is_whole { Some(bytes == self.offset && !has_next()?) } else { None })
    }

    /// The file of the line at `position`.
    pub(super) fn file_of(&self, position: Position) -> Option<Arc<StoredFile>> {
        let at = self.files.binary_search_by_key(&position.file, |(number, _)| *number).ok()?;
        Some(Arc::clone(&self.files[at].1))
    }

    /// The directory of the ledger.
    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }
}

/// Calls `visit` for each line in `dir` from `from` on, whole or damaged.
pub(super) fn visit_from(
    dir: &Dir,
    from: Position,
    mut visit: impl FnMut(&[u8]),
) -> Result<(), PathError> {
    for number in numbers(dir)?.into_iter().filter(|number| *number >= from.file) {
        let file = dir.open_file(file_name(number))?;
        let begin = if number == from.file { from.offset } else { 0 };
        visit_lines(&file, begin, |_, line| visit(line))?;
    }
    Ok(())
}

/// The line that begins at `offset`, without its end.
pub(super) fn line_at(file: &StoredFile, offset: u64) -> Result<Option<Vec<u8>>, PathError> {
    // Most lines are short.
    for length in [1024, MAX_LINE_BYTES] {
        let mut bytes = vec![0; length];
        let filled = file.read_at(&mut bytes, offset)?;
        if let Some(end) = bytes[..filled].iter().position(|byte| *byte == b'\n') {
            bytes.truncate(end);
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

/// Calls `visit` for each line from `offset` on, with its beginning. Returns where to continue when the file has grown.
fn visit_lines(
    file: &StoredFile,
    mut offset: u64,
    mut visit: impl FnMut(u64, &[u8]),
) -> Result<u64, PathError> {
    let mut buffer = vec![0; MAX_LINE_BYTES];
    let mut last_line = offset;
    loop {
        if offset - last_line > MAX_GAP_BYTES {
            return Err(without_lines(file));
        }
        let filled = file.read_at(&mut buffer, offset)?;
        let mut rest = &buffer[..filled];
        let begin = offset;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            visit(offset, &rest[..end]);
            offset += end as u64 + 1;
            last_line = offset;
            rest = &rest[end + 1..];
        }
        if filled < buffer.len() {
            return Ok(offset);
        }
        if offset == begin {
            // Too long for one of ours.
            visit(offset, rest);
            offset += filled as u64;
        }
    }
}

fn without_lines(file: &StoredFile) -> PathError {
    PathError::new("read", file.path(), std::io::Error::other("it has something else than lines"))
}

/// The sum that the header of `file` repeats; `None` if it cannot be read.
fn followed_by(file: &StoredFile) -> Result<Option<u128>, PathError> {
    #[derive(Deserialize)]
    struct Link {
        follows: String,
    }
    let line = line_at(file, 0)?.unwrap_or_default();
    let link = serde_json::from_slice(&line).ok();
    Ok(link.and_then(|Link { follows }| read_sum(follows.as_bytes())))
}

/// The sum of the line that ends at `end`.
fn sum_before(file: &StoredFile, end: u64) -> Result<Option<u128>, PathError> {
    let mut last = [0; DIGITS + CLOSING.len() + 1];
    let Some(begin) = end.checked_sub(last.len() as u64) else { return Ok(None) };
    let filled = file.read_at(&mut last, begin)?;
    let is_line = filled == last.len() && last.ends_with(b"\"}\n");
    Ok(if is_line { read_sum(&last[..DIGITS]) } else { None })
}

/// The end of the last line, which is at the very end of the file unless a writer was killed.
fn end_of_lines(file: &StoredFile) -> Result<u64, PathError> {
    let mut buffer = vec![0; 64 * 1024];
    let mut end = file.stat()?.bytes;
    let first = end.saturating_sub(MAX_GAP_BYTES);
    while end > 0 {
        if end < first {
            return Err(without_lines(file));
        }
        let begin = end.saturating_sub(buffer.len() as u64);
        let wanted = usize::try_from(end - begin).unwrap_or(buffer.len());
        let filled = file.read_at(&mut buffer[..wanted], begin)?;
        if let Some(at) = memchr::memrchr(b'\n', &buffer[..filled]) {
            return Ok(begin + at as u64 + 1);
        }
        end = begin;
    }
    Ok(0)
}

/// The end of the last line in `dir`, and its sum.
pub(super) fn last_head(dir: &Dir) -> Result<Head, PathError> {
    for number in numbers(dir)?.into_iter().rev() {
        let file = dir.open_file(file_name(number))?;
        let offset = end_of_lines(&file)?;
        // A writer was killed before it had written the header: the line before is in an earlier file.
        if offset > 0 {
            let sum = sum_before(&file, offset)?.unwrap_or_default();
            return Ok(Head { end: Position { file: number, offset }, sum });
        }
    }
    Ok(Head { end: Position::default(), sum: 0 })
}

/// Whether a line with this sum ends at `end` of the ledger in `dir`.
pub(super) fn ends_with_sum(dir: &Dir, end: Position, sum: u128) -> Result<bool, PathError> {
    let file = dir.open_file_if_there(file_name(end.file))?;
    let found = file.map_or(Ok(None), |file| sum_before(&file, end.offset))?;
    Ok(found == Some(sum))
}

/// The end of the ledger in a directory. Its holder has the lock of those who append.
#[derive(Debug)]
pub(super) struct Tail<'d> {
    dir: &'d Dir,
    number: u32,
    file: Option<StoredFile>,
    /// The end of the last line, and its sum.
    end: u64,
    sum: u128,
}

impl<'d> Tail<'d> {
    /// Finds the end of the last line. Nothing is changed.
    pub(super) fn find(dir: &'d Dir) -> Result<Tail<'d>, PathError> {
        let Head { end, sum } = last_head(dir)?;
        let number = numbers(dir)?.pop().unwrap_or_default();
        let file = if number > 0 { Some(dir.open_growing_file(file_name(number))?) } else { None };
        let end = if end.file == number { end.offset } else { 0 };
        Ok(Tail { dir, number, file, end, sum })
    }

    /// The position of the end.
    pub(super) fn position(&self) -> Position {
        Position { file: self.number, offset: self.end }
    }

    /// The end, and the sum of the last line.
    pub(super) fn head(&self) -> Head {
        Head { end: self.position(), sum: self.sum }
    }

    /// Appends `lines`, JSON objects, durably. They begin a new file with `header` if the last one is long, or by request.
    pub(super) fn append(
        &mut self,
        lines: &[String],
        header: Header,
        in_new_file: bool,
    ) -> Result<(), PathError> {
        let is_new =
            in_new_file || self.file.is_none() || self.end >= MAX_FILE_BYTES || self.end == 0;
        let mut text = String::new();
        let mut sum = self.sum;
        let mut add = |json: &str| {
            let open = json.strip_suffix('}').unwrap_or(json);
            sum = sum_of(sum, open.as_bytes());
            text.push_str(&format!("{open},\"sum\":\"{sum:0DIGITS$x}\"}}\n"));
        };
        if is_new {
            let follows = format!("{:0DIGITS$x}", self.sum);
            add(&serde_json::to_string(&Header { follows, ..header }).unwrap_or_default());
            if self.end > 0 || self.number == 0 {
                self.number += 1;
            }
            self.end = 0;
            self.file = Some(self.dir.open_growing_file(file_name(self.number))?);
        }
        for line in lines {
            add(line);
        }
        let Some(file) = &self.file else { return Ok(()) };
        if file.stat()?.bytes > self.end {
            file.truncate(self.end)?;
        }
        let written = file.write_all_at(text.as_bytes(), self.end).and_then(|()| file.sync_data());
        if let Err(error) = written {
            // A part that stays is a torn line, or stands behind the line that the next header repeats.
            let _ = file.truncate(self.end);
            return Err(error);
        }
        if is_new {
            self.dir.sync()?;
        }
        (self.end, self.sum) = (self.end + text.len() as u64, sum);
        Ok(())
    }
}
