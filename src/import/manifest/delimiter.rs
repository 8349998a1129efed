//! Finding the delimiter of a table.
//!
//! 1. A first line `sep=;`, as Excel writes and reads it, says the delimiter.
//! 2. Candidates are semicolon, tab, comma and `|`, outside quotes in the line of column names. Without a
//!    candidate, the table has one column.
//! 3. Of several, the one that gives the most columns a known name.
//! 4. If that is a tie, the one that divides each of the next records into as many values as there are names.
//! 5. If that leaves none or several, the table is refused.

use super::RowFault;
use super::columns::Columns;
use super::lines::{Line, ManifestLines};
use super::quoting::{Divider, next_text};

/// The candidates.
const DELIMITERS: [u8; 4] = [b';', b'\t', b',', b'|'];

/// Number of records checked after the column names.
const RECORDS: usize = 20;

/// The delimiter in a first line such as `sep=;`.
pub(super) fn named(line: &[u8]) -> Option<u8> {
    let line = line.trim_ascii_end();
    let line = line.strip_prefix(b"\"").and_then(|it| it.strip_suffix(b"\"")).unwrap_or(line);
    let (name, value) = line.split_at_checked(4)?;
    match (name.eq_ignore_ascii_case(b"sep="), value) {
        (true, [delimiter]) if is_possible(*delimiter) => Some(*delimiter),
        // The tab was at the end of the line.
        (true, []) => Some(b'\t'),
        _ => None,
    }
}

/// Whether a byte can separate values.
pub(super) fn is_possible(delimiter: u8) -> bool {
    delimiter.is_ascii() && !matches!(delimiter, b'"' | b'\n' | b'\r' | 0)
}

/// The delimiter of the table that begins with `sample`.
pub(super) fn found(sample: &[Line], columns: &Columns) -> Result<u8, RowFault> {
    let text: Vec<u8> =
        sample.iter().flat_map(|line| [line.bytes.as_slice(), b"\n"].concat()).collect();
    let mut candidates: Vec<(u8, Vec<usize>, usize)> = Vec::new();
    for delimiter in DELIMITERS {
        let records = records(&text, delimiter);
        let Some(header) = records.first().filter(|header| header.len() > 1) else { continue };
        let understood = header.iter().filter(|name| columns.is_known(name)).count();
        let lengths = records.iter().map(Vec::len).collect();
        candidates.push((delimiter, lengths, understood));
    }
    let most = candidates.iter().map(|it| it.2).max().unwrap_or_default();
    candidates.retain(|it| it.2 == most);
    let all: Vec<u8> = candidates.iter().map(|it| it.0).collect();
    if candidates.len() > 1 {
        candidates.retain(|(_, lengths, _)| lengths.iter().all(|length| *length == lengths[0]));
    }
    match (candidates.as_slice(), all.as_slice()) {
        ([(delimiter, ..)], _) => Ok(*delimiter),
        (_, []) => Ok(b','),
        _ => Err(RowFault::Delimiter(all.into_iter().map(char::from).collect())),
    }
}

/// The first records, divided by `delimiter`. The last one may be truncated by the end of the sample, unless
/// it is the only one.
fn records(text: &[u8], delimiter: u8) -> Vec<Vec<String>> {
    let mut lines = ManifestLines::new(Box::new(std::io::Cursor::new(text.to_vec())));
    let (mut divider, mut records) = (Divider::new(delimiter), Vec::new());
    while records.len() <= RECORDS
        && let Ok(Some((text, Ok(())))) = next_text(&mut lines, delimiter)
    {
        let Ok(values) = divider.values(&text.bytes) else { break };
        let values: Vec<String> =
            values.iter().map(|value| String::from_utf8_lossy(value).into_owned()).collect();
        if values.iter().any(|value| !value.trim().is_empty()) {
            records.push(values);
        }
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(text: &str) -> Result<char, String> {
        let mut lines = ManifestLines::new(Box::new(std::io::Cursor::new(text.to_owned())));
        let sample = lines.sample().unwrap();
        let delimiter = found(&sample, &Columns::default()).map(char::from);
        delimiter.map_err(|fault| fault.to_string())
    }

    #[test]
    fn names_and_rows_say_the_delimiter() {
        for (text, expected) in [
            ("path\na,b\n", ','),
            ("path,title\n", ','),
            ("path;title\na;b, c\n", ';'),
            ("path\ttitle\na;b\tc\n", '\t'),
            ("path|title\n", '|'),
            ("path;\"title, or;name\"\n", ';'),
            // The bar belongs to the name: the values of that column are lists.
            ("path,subject|\na,b|c\n", ','),
            ("\n;;\npath;title\n", ';'),
            ("Ficheiro;Título, como na capa;Autor\n", ';'),
            ("box;shelf, row\n1;a, b\n2;c\n", ';'),
        ] {
            assert_eq!(found_in(text), Ok(expected), "{text}");
        }
        for text in ["box;shelf,row\n1;2,3\n", "box;shelf,row\n1;2\n3,4\n"] {
            assert!(found_in(text).is_err(), "{text}");
        }
        assert_eq!(named(b"sep=;"), Some(b';'));
        assert_eq!(named(b"\"SEP=,\""), Some(b','));
        assert_eq!((named(b"sep="), named(b"sep=\t")), (Some(b'\t'), Some(b'\t')));
        assert_eq!((named(b"sep=ab"), named(b"path"), named(b"sep=\"")), (None, None, None));
    }
}
