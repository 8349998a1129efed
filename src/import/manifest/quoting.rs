//! The text of a record, which may have several lines, and its values.

use std::io::{Cursor, SeekFrom};

use super::RowFault;
use super::lines::{Line, MAX_ROW_BYTES, ManifestLines};
use crate::import::candidate::RowText;

/// Limit on the lines of a quoted value; a longer one has lost its end.
const MAX_LINES: usize = 1000;

/// The lines up to the first one after which no quoted value is open. Without such a line, only the first is
/// returned, as faulty, and the others are read again.
pub(super) fn next_text(
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
    /// The state after a line: a quote opens a value only at the beginning of the value.
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

/// Divides records into their values. Creating a divider costs more than dividing a row.
pub(super) struct Divider(::csv::Reader<Cursor<Vec<u8>>>);

impl Divider {
    pub(super) fn new(delimiter: u8) -> Divider {
        let mut options = ::csv::ReaderBuilder::new();
        options.has_headers(false).flexible(true).delimiter(delimiter);
        Divider(options.from_reader(Cursor::default()))
    }

    /// The values of a record.
    pub(super) fn values(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, RowFault> {
        let syntax = |error: ::csv::Error| RowFault::Syntax(error.to_string());
        let text = self.0.get_mut().get_mut();
        text.clear();
        text.extend_from_slice(bytes);
        self.0.seek_raw(SeekFrom::Start(0), ::csv::Position::new()).map_err(syntax)?;
        let mut records = self.0.byte_records();
        let first = records.next();
        // It takes a bare CR for the end of a row, and would lose the rest.
        if records.next().is_some() {
            return Err(RowFault::CarriageReturn);
        }
        match first {
            Some(record) => Ok(record.map_err(syntax)?.iter().map(<[u8]>::to_vec).collect()),
            None => Ok(Vec::new()),
        }
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

    #[test]
    fn nothing_of_a_record_is_left_for_the_next_one() {
        let mut divider = Divider::new(b';');
        let mut values = |text: &str| {
            let values = divider.values(text.as_bytes()).map_err(|fault| fault.to_string())?;
            Ok::<_, String>(values.into_iter().map(|it| String::from_utf8(it).unwrap()).collect())
        };
        let long = "x".repeat(100_000);
        for _ in 0..2 {
            assert_eq!(values("a;\"b\nc\";d"), Ok(vec!["a".into(), "b\nc".into(), "d".into()]));
            assert_eq!(values("a;\"open"), Ok(vec!["a".into(), "open".into()]));
            assert_eq!(values("\u{feff}a"), Ok(vec!["a".to_owned()]));
            assert!(values("a;b\rc").is_err());
            assert_eq!(values(""), Ok(vec![]));
            assert_eq!(values(&format!("{long};b")), Ok(vec![long.clone(), "b".into()]));
        }
    }
}
