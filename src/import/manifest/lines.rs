//! Lines of bounded length.

use std::collections::VecDeque;
use std::io::{BufRead, Read};

/// Limit on a row.
pub(super) const MAX_ROW_BYTES: usize = 1024 * 1024;

/// Number of lines inspected before the first is read.
const SAMPLE_LINES: usize = 100;

/// A line without its end.
#[derive(Clone)]
pub(super) struct Line {
    /// From 1.
    pub number: u64,
    pub bytes: Vec<u8>,
    /// Whether it is complete.
    pub is_whole: bool,
}

/// Reads lines; the rest of a line that is too long is skipped.
pub(super) struct ManifestLines {
    reader: Box<dyn BufRead + Send>,
    number: u64,
    put_back: VecDeque<Line>,
}

impl ManifestLines {
    pub(super) fn new(reader: Box<dyn BufRead + Send>) -> ManifestLines {
        ManifestLines { reader, number: 0, put_back: VecDeque::new() }
    }

    pub(super) fn next(&mut self) -> std::io::Result<Option<Line>> {
        if let Some(line) = self.put_back.pop_front() {
            return Ok(Some(line));
        }
        let mut bytes = Vec::new();
        let limit = MAX_ROW_BYTES as u64 + 1;
        if Read::by_ref(&mut self.reader).take(limit).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let has_end = bytes.last() == Some(&b'\n');
        let is_whole = has_end || bytes.len() <= MAX_ROW_BYTES;
        if has_end {
            bytes.pop();
        }
        if !is_whole {
            self.reader.skip_until(b'\n')?;
            bytes.clear();
        }
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        Ok(Some(Line { number: self.number, bytes, is_whole }))
    }

    /// The inspected lines, which are returned again.
    pub(super) fn sample(&mut self) -> std::io::Result<Vec<Line>> {
        let (mut lines, mut bytes) = (Vec::new(), 0);
        while lines.len() < SAMPLE_LINES
            && bytes < MAX_ROW_BYTES
            && let Some(line) = self.next()?
        {
            bytes += line.bytes.len();
            lines.push(line);
        }
        self.put_back(lines.clone());
        Ok(lines)
    }

    /// Returns lines again, in this order.
    pub(super) fn put_back(&mut self, lines: Vec<Line>) {
        for line in lines.into_iter().rev() {
            self.put_back.push_front(line);
        }
    }
}
