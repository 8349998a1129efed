//! Records of values between commas or tabs.

use std::io::BufRead;

use super::columns::Columns;
use super::lines::{Line, MAX_ROW_BYTES, ManifestLines};
use super::{ManifestRecord, NextRecord, RowError, RowFault};
use crate::import::ImportError;
use crate::import::candidate::RowText;

/// A quoted value over more lines than this has lost its end.
const MAX_LINES: usize = 1000;

/// Reads records. The first one names the columns.
pub(super) struct Csv {
    lines: ManifestLines,
    delimiter: u8,
    names: Vec<String>,
}

impl Csv {
    pub(super) fn new(
        reader: Box<dyn BufRead + Send>,
        delimiter: u8,
        columns: &Columns,
        broken: impl Fn(std::io::Error) -> ImportError,
    ) -> Result<Csv, ImportError> {
        let mut csv = Csv { lines: ManifestLines::new(reader), delimiter, names: Vec::new() };
        let refused = |line, fault| Err(RowError { line, fault }.into());
        let (text, fields) = match csv.fields() {
            Ok(Some((text, Ok(fields)))) => (text, fields),
            Ok(Some((text, Err(fault)))) => return refused(text.line, fault),
            Ok(None) => return refused(1, RowFault::NoColumn("path")),
            Err(error) => return Err(broken(error)),
        };
        if let Err(fault) = columns.check(&fields) {
            return refused(text.line, fault);
        }
        csv.names = fields;
        Ok(csv)
    }

    /// The text of the next record, and its values. Empty lines are passed over.
    #[expect(clippy::type_complexity, reason = "three ways to end, each told apart once")]
    fn fields(&mut self) -> std::io::Result<Option<(RowText, Result<Vec<String>, RowFault>)>> {
        loop {
            let Some((text, whole)) = next_text(&mut self.lines, self.delimiter)? else {
                return Ok(None);
            };
            if whole.is_ok() && text.bytes.trim_ascii().is_empty() {
                continue;
            }
            let fields = whole.and_then(|()| split(&text.bytes, self.delimiter));
            return Ok(Some((text, fields)));
        }
    }
}

impl Iterator for Csv {
    type Item = NextRecord;

    fn next(&mut self) -> Option<NextRecord> {
        let (text, fields) = match self.fields() {
            Ok(Some(found)) => found,
            Ok(None) => return None,
            Err(error) => return Some(NextRecord::Broken(error)),
        };
        let fields = match fields {
            Ok(fields) => fields,
            Err(fault) => return Some(NextRecord::Refused(text, fault)),
        };
        if fields.len() != self.names.len() {
            let (found, expected) = (fields.len(), self.names.len());
            return Some(NextRecord::Refused(text, RowFault::Values { found, expected }));
        }
        let values = self.names.iter().zip(fields);
        let values = values.filter(|(_, value)| !value.trim().is_empty());
        let values = values.map(|(name, value)| (name.clone(), vec![value])).collect();
        Some(NextRecord::ManifestRecord(ManifestRecord { text, values, is_sheet: true }))
    }
}

/// The line of the column names, as it stands there.
pub(super) fn header(
    reader: &mut Box<dyn BufRead + Send>,
    delimiter: u8,
) -> std::io::Result<Option<Vec<u8>>> {
    let reader = std::mem::replace(reader, Box::new(std::io::empty()));
    let mut lines = ManifestLines::new(reader);
    while let Some((text, _)) = next_text(&mut lines, delimiter)? {
        if !text.bytes.trim_ascii().is_empty() {
            return Ok(Some(text.bytes));
        }
    }
    Ok(None)
}

/// The lines up to the one on which no quoted value is open. If there is none, only the first is given,
/// as a faulty one, and the others come again.
fn next_text(
    lines: &mut ManifestLines,
    delimiter: u8,
) -> std::io::Result<Option<(RowText, Result<(), RowFault>)>> {
    let Some(first) = lines.next()? else { return Ok(None) };
    let Line { number, bytes, is_whole } = first;
    let mut text = RowText { line: number, bytes };
    if !is_whole {
        return Ok(Some((text, Err(RowFault::TooLong))));
    }
    let first_bytes = text.bytes.len();
    let mut state = Quote::Outside.after(&text.bytes, delimiter);
    let mut taken = Vec::new();
    while state == Quote::Inside {
        let next = if taken.len() < MAX_LINES { lines.next()? } else { None };
        let fits =
            |line: &Line| line.is_whole && text.bytes.len() + line.bytes.len() < MAX_ROW_BYTES;
        let is_last = next.as_ref().is_none_or(|line| !fits(line));
        let bytes = next.as_ref().map(|line| line.bytes.clone()).unwrap_or_default();
        taken.extend(next);
        if is_last {
            lines.put_back(taken);
            text.bytes.truncate(first_bytes);
            return Ok(Some((text, Err(RowFault::OpenQuote))));
        }
        text.bytes.push(b'\n');
        text.bytes.extend_from_slice(&bytes);
        state = state.after(&bytes, delimiter);
    }
    Ok(Some((text, Ok(()))))
}

/// Whether a quoted value is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    Outside,
    Inside,
}

impl Quote {
    /// How it is after a line: a quote opens a value only where the value begins.
    fn after(self, line: &[u8], delimiter: u8) -> Quote {
        let (mut state, mut begins, mut at) = (self, true, 0);
        while at < line.len() {
            match (state, line[at]) {
                (Quote::Outside, b'"') if begins => state = Quote::Inside,
                (Quote::Inside, b'"') if line.get(at + 1) == Some(&b'"') => at += 1,
                (Quote::Inside, b'"') => state = Quote::Outside,
                _ => {}
            }
            begins = state == Quote::Outside && line[at] == delimiter;
            at += 1;
        }
        state
    }
}

fn split(bytes: &[u8], delimiter: u8) -> Result<Vec<String>, RowFault> {
    let text = std::str::from_utf8(bytes).map_err(|_| RowFault::NotUtf8)?;
    let mut reader = ::csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .buffer_capacity(bytes.len().clamp(64, 64 * 1024))
        .from_reader(text.as_bytes());
    let mut records = reader.records();
    let first = records.next();
    // It takes a bare CR for the end of a row, and what follows would be lost.
    if records.next().is_some() {
        return Err(RowFault::CarriageReturn);
    }
    match first {
        Some(Ok(record)) => Ok(record.iter().map(str::to_owned).collect()),
        Some(Err(error)) => Err(RowFault::Syntax(error.to_string())),
        None => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(input: &'static str) -> Vec<(u64, String, bool)> {
        let mut lines = ManifestLines::new(Box::new(input.as_bytes()));
        let mut found = Vec::new();
        while let Some((text, whole)) = next_text(&mut lines, b',').unwrap() {
            let bytes = String::from_utf8(text.bytes).unwrap();
            found.push((text.line, bytes, whole.is_ok()));
        }
        found
    }

    #[test]
    fn a_quote_that_does_not_end_takes_no_other_row_with_it() {
        let found = texts("a,\"b\nc\",d\n12\" disc,e\n\"f,g\nh,i\n");
        let expected = [
            (1, "a,\"b\nc\",d", true),
            (3, "12\" disc,e", true),
            (4, "\"f,g", false),
            (5, "h,i", true),
        ];
        let expected = expected.map(|(line, text, whole)| (line, text.to_owned(), whole));
        assert_eq!(found, expected);
    }
}
