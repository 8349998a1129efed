//! The faults of a row of a manifest.

use std::sync::Arc;

use super::encoding::{Encoding, from_windows_1252};
use crate::digest::NotADigest;
use crate::identity::ParseError;
use crate::item::escape;
use crate::sidecar::{ConditionError, MetadataError, RelationError};

/// A row that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", self.place())]
pub struct RowError {
    /// The line it begins on, from 1.
    pub line: u64,
    /// Its number in the spreadsheet, from 1, if the table is one.
    pub row: Option<u64>,
    /// The column of the value, unless the row as a whole is wrong.
    pub column: Option<ColumnPlace>,
    /// The fault.
    pub fault: RowFault,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnPlace {
    /// From 0.
    pub index: usize,
    /// The name in the table.
    pub name: Arc<str>,
}

impl RowError {
    /// The error of a whole row.
    pub(super) fn at_line(line: u64, fault: RowFault) -> RowError {
        RowError { line, row: None, column: None, fault }
    }

    /// `line 5, column `Date` (D4)`: a cell may have several lines, so that rows and lines differ.
    fn place(&self) -> String {
        let line = self.line;
        match (&self.column, self.row) {
            (Some(ColumnPlace { index, name }), Some(row)) if name.is_empty() => {
                format!("line {line}, cell {}{row}", letters(*index))
            }
            (Some(ColumnPlace { index, name }), Some(row)) => {
                format!("line {line}, column `{name}` ({}{row})", letters(*index))
            }
            (Some(ColumnPlace { name, .. }), None) => format!("line {line}, column `{name}`"),
            (None, Some(row)) if row != line => format!("line {line} (row {row})"),
            (None, _) => format!("line {line}"),
        }
    }
}

/// The letters of a column in spreadsheets: A to Z, then AA.
fn letters(index: usize) -> String {
    let (mut text, mut rest) = (Vec::new(), index + 1);
    while rest > 0 {
        rest -= 1;
        text.push(char::from(b'A' + u8::try_from(rest % 26).unwrap_or_default()));
        rest /= 26;
    }
    text.iter().rev().collect()
}

/// Bytes on each side of a wrong one that a message shows.
const SHOWN_BYTES: usize = 24;

impl RowFault {
    /// The fault of `bytes` that are not UTF-8, with the word around the first wrong one.
    pub(super) fn not_utf8(bytes: &[u8]) -> RowFault {
        let at = std::str::from_utf8(bytes).err().map_or(0, |error| error.valid_up_to());
        let ends = |byte: &u8| byte.is_ascii_whitespace() || byte.is_ascii_control();
        let before = &bytes[at.saturating_sub(SHOWN_BYTES)..at];
        let start = at - before.iter().rev().position(ends).unwrap_or(before.len());
        let after = &bytes[at..bytes.len().min(at + SHOWN_BYTES)];
        let word = &bytes[start..at + after.iter().position(ends).unwrap_or(after.len())];
        // Half a surrogate pair, of UTF-16.
        let is_half = matches!(bytes.get(at..), Some([0xed, 0xa0..=0xbf, ..]));
        RowFault::NotUtf8 {
            text: escape(word).into_owned(),
            windows_1252: (!is_half).then(|| from_windows_1252(word)),
        }
    }
}

/// A fault of a row.
#[derive(Debug, thiserror::Error)]
pub enum RowFault {
    /// Bytes that are not text.
    #[error("`{text}` is not UTF-8{}", in_windows_1252(windows_1252.as_deref()))]
    NotUtf8 {
        /// The word around them, escaped.
        text: String,
        /// The same word in code page 1252, unless it is UTF-16 that is broken.
        windows_1252: Option<String>,
    },
    /// A text with NUL bytes.
    #[error("it has NUL bytes, as UTF-16 has")]
    Nul(Encoding),
    /// Several characters may divide the rows.
    #[error("its delimiter may be any of {}", in_quotes(.0))]
    Delimiter(Vec<char>),
    /// The row is too long to be one.
    #[error("it is longer than 1 MiB; `--rejects` leaves it out")]
    TooLong,
    /// A quoted value has no end.
    #[error("a quote begins on it and does not end")]
    OpenQuote,
    /// A carriage return, the line end of old programs, is in the middle of a line.
    #[error("it has a carriage return before its end; lines end with LF or CRLF")]
    CarriageReturn,
    /// The row has more or fewer values than columns.
    #[error("it has {found} values, and there are {expected} columns")]
    Values {
        /// Number of values.
        found: usize,
        /// Number of columns.
        expected: usize,
    },
    /// The text is not in the format.
    #[error("it cannot be read: {0}")]
    Syntax(String),
    /// No column has a known meaning.
    #[error("there is no column `{0}`")]
    NoColumn(&'static str),
    /// Columns that have no meaning.
    #[error("{}", unknown_columns(.0))]
    UnknownColumns(Vec<String>),
    /// Columns that are given a meaning and are not in the table.
    #[error("{}, to which `--map` gives a meaning", absent_columns(mapped))]
    AbsentColumns {
        /// The columns as typed.
        mapped: Vec<String>,
        /// The columns of the table; empty where each record has its own.
        columns: Vec<String>,
    },
    /// A value in a column without a name.
    #[error("`{0}` stands in a column without a name")]
    Unnamed(String),
    /// A column that may occur only once occurs twice.
    #[error("the column `{0}` has more than one value")]
    GivenTwice(String),
    /// The path is missing.
    #[error("it has no path")]
    NoPath,
    /// The path leads out of the directory.
    #[error("the path `{0}` leads out of the directory of the manifest")]
    Outside(String),
    /// The path contains `..`.
    #[error("the path `{0}` has `..` in it")]
    Dots(String),
    /// The path has a NUL byte.
    #[error("the path `{0}` has a NUL byte, as no file name has")]
    NulInPath(String),
    /// Several files have names that differ from the path in Unicode form only.
    #[error("the path `{0}` may be any of several files, whose names differ in Unicode form only")]
    Ambiguous(String),
    /// An earlier row has the same path or name.
    #[error("`{what}` is on line {first} already")]
    Twice {
        /// The path or name.
        what: String,
        /// The place of the earlier row.
        first: u64,
    },
    /// A spreadsheet would compute it.
    #[error("the value of `{0}` is a formula")]
    Formula(String),
    /// A spreadsheet could not compute it.
    #[error("the value of `{column}` is `{text}`, an error of a spreadsheet")]
    SheetError {
        /// The column.
        column: String,
        /// The text of the error.
        text: String,
    },
    /// A value has a wrong type.
    #[error("the value of `{0}` is not a text")]
    Kind(String),
    /// A number whose digits would be lost.
    #[error("the value of `{0}` is a number with a fraction; it keeps its digits in quotes")]
    Fraction(String),
    /// A term is refused.
    #[error(transparent)]
    Term(#[from] MetadataError),
    /// A condition is refused.
    #[error(transparent)]
    Condition(#[from] ConditionError),
    /// A relation is refused.
    #[error(transparent)]
    Relation(#[from] RelationError),
    /// An identifier is invalid.
    #[error(transparent)]
    Identifier(#[from] ParseError),
    /// A digest is invalid.
    #[error(transparent)]
    Digest(#[from] NotADigest),
}

fn in_windows_1252(text: Option<&str>) -> String {
    text.map_or_else(String::new, |text| format!(", and reads `{text}` in Windows-1252"))
}

fn in_quotes(characters: &[char]) -> String {
    let quoted: Vec<_> = characters.iter().map(|it| format!("`{}`", it.escape_debug())).collect();
    quoted.join(", ")
}

fn absent_columns(mapped: &[String]) -> String {
    let noun = if mapped.len() == 1 { "is no column" } else { "are no columns" };
    let quoted: Vec<_> = mapped.iter().map(|name| format!("`{name}`")).collect();
    format!("there {noun} {}", quoted.join(", "))
}

fn unknown_columns(names: &[String]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [name] => format!("the column {name} means nothing"),
        names => format!("the columns {} mean nothing", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_cell_and_the_bytes() {
        let text = RowFault::not_utf8(b"uma descri\xe7\xe3o longa").to_string();
        let expected = "`descri\\xe7\\xe3o` is not UTF-8, and reads `descrição` in Windows-1252";
        assert_eq!(text, expected);
        assert_eq!([0, 25, 26, 701, 702].map(letters), ["A", "Z", "AA", "ZZ", "AAA"]);
    }
}
