//! Tables of items, one row an item, and manifests: tables that name the sources of an import.
//!
//! [`encoding`] reads any text as UTF-8, [`delimiter`] finds what divides its rows, `lines` reads lines of bounded length.
//! [`csv`](mod@csv), [`jsonl`] and [`table`] make records of them. [`columns`] and [`synonyms`] give the columns a meaning,
//! [`row`] reads the cells of a record by it, and [`paths`] finds the source. An error in a row is reported with its line,
//! and the rows after it are read all the same.

mod columns;
mod csv;
mod delimiter;
mod encoding;
mod error;
mod jsonl;
mod lines;
mod paths;
mod quoting;
mod row;
mod seen;
mod synonyms;
mod table;

use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

use super::ImportError;
use super::candidate::{FoundCandidate, Refused, RowText};
use crate::disk::{Dir, Links};

use crate::sidecar::edtf::DateOrder;
use columns::ColumnMeaning;
pub use columns::{Columns, MapError};
pub use encoding::Encoding;
pub use error::{ColumnPlace, RowError, RowFault};
pub(crate) use row::RowFields;
pub use synonyms::COLUMN_SYNONYMS;

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Values between delimiters that are found, with a line of column names first.
    Csv,
    /// The same between tabs.
    Tsv,
    /// One JSON object a line.
    Jsonl,
    /// One `[[item]]` a row.
    Toml,
}

impl Format {
    /// The format that the extension of `path` means.
    pub fn of(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            // Spreadsheets write their "Unicode text" so.
            "csv" | "txt" => Some(Format::Csv),
            "tsv" | "tab" => Some(Format::Tsv),
            "jsonl" | "ndjson" => Some(Format::Jsonl),
            "toml" => Some(Format::Toml),
            _ => None,
        }
    }
}

/// How a table is read.
#[derive(Clone, Debug)]
pub struct TableOptions {
    /// How it is written.
    pub format: Format,
    /// What stands between values, unless that is to be found.
    pub delimiter: Option<u8>,
    /// The encoding of a text without a byte order mark; UTF-8 unless given.
    pub encoding: Option<Encoding>,
    /// The order of day and month in dates of numbers, which are refused unless it is given.
    pub date_order: Option<DateOrder>,
    /// The meanings of the columns.
    pub columns: Columns,
}

impl TableOptions {
    /// A table in this format, of which nothing else is known.
    pub fn new(format: Format) -> TableOptions {
        let columns = Columns::default();
        TableOptions { format, delimiter: None, encoding: None, date_order: None, columns }
    }

    fn delimiter(&self) -> Option<u8> {
        self.delimiter.or((self.format == Format::Tsv).then_some(b'\t'))
    }
}

/// Whether a byte can divide the values of a table.
pub fn is_delimiter(byte: u8) -> bool {
    delimiter::is_possible(byte)
}

/// A record: its text, and its cells that have values.
struct TableRecord {
    text: RowText,
    /// Its number in a spreadsheet, which may also take a value for a formula.
    row: Option<u64>,
    cells: Vec<RecordCell>,
}

struct RecordCell {
    place: ColumnPlace,
    values: Vec<String>,
}

impl RecordCell {
    fn named(name: &str, index: usize, values: Vec<String>) -> RecordCell {
        RecordCell { place: ColumnPlace { index, name: name.into() }, values }
    }
}

/// A record, or why there is none. An error of reading ends the table.
enum NextRecord {
    Record(TableRecord),
    Refused(RowText, RowError),
    Broken(std::io::Error),
}

/// A row of a table.
pub(crate) struct TableRow {
    pub text: RowText,
    /// Its number in a spreadsheet.
    pub row: Option<u64>,
    pub fields: RowFields,
}

/// A row, or why there is none: an error without a row ends the table.
pub(crate) type NextRow = Result<TableRow, (Option<RowText>, ImportError)>;

/// Reads the rows of a table.
pub(crate) struct TableReader {
    records: Option<Box<dyn Iterator<Item = NextRecord> + Send>>,
    name: String,
    columns: Columns,
    date_order: Option<DateOrder>,
    /// Whether the rows are of items that are there already.
    describes: bool,
    /// The meanings of columns that occurred.
    meanings: HashMap<Arc<str>, ColumnMeaning>,
}

/// Meanings of columns that are kept: every object of JSON may have other ones.
const MOST_MEANINGS: usize = 10_000;

impl TableReader {
    /// The table that `reader` gives, called `name` in messages. A spreadsheet whose columns are not understood, or
    /// without the column `required`, is refused as a whole.
    pub(crate) fn new(
        reader: Box<dyn BufRead + Send>,
        name: String,
        options: &TableOptions,
        required: &'static str,
    ) -> Result<TableReader, ImportError> {
        TableReader::with_one_of(reader, name, options, &[required])
    }

    /// A table whose rows describe items that are there already, each named by one of three columns. An empty cell
    /// is noted, and an identifier may be spelt in any way.
    pub(crate) fn describing(
        reader: Box<dyn BufRead + Send>,
        name: String,
        options: &TableOptions,
    ) -> Result<TableReader, ImportError> {
        let table =
            TableReader::with_one_of(reader, name, options, &["identifier", "ibip", "path"])?;
        Ok(TableReader { describes: true, ..table })
    }

    fn with_one_of(
        reader: Box<dyn BufRead + Send>,
        name: String,
        options: &TableOptions,
        required: &[&'static str],
    ) -> Result<TableReader, ImportError> {
        let called = name.clone();
        let broken = move |source| ImportError::Read { name: called.clone(), source };
        let nul = |encoding| RowError::at_line(1, RowFault::Nul(encoding));
        let text = encoding::decoded(reader, options.encoding).map_err(&broken)?.map_err(nul)?;
        let (reader, columns) = (text.reader, &options.columns);
        let records: Box<dyn Iterator<Item = NextRecord> + Send> = match options.format {
            Format::Csv | Format::Tsv => {
                let delimiter = options.delimiter();
                Box::new(csv::Csv::new(reader, delimiter, (columns, required), broken)?)
            }
            Format::Jsonl => Box::new(jsonl::Jsonl::new(reader)),
            Format::Toml => Box::new(table::read(reader, broken)?),
        };
        let (records, columns) = (Some(records), columns.clone());
        let (date_order, meanings) = (options.date_order, HashMap::new());
        Ok(TableReader { records, name, columns, date_order, describes: false, meanings })
    }

    /// The meaning of a column, which is looked for once.
    fn meaning(&mut self, name: &Arc<str>) -> Option<&ColumnMeaning> {
        if !self.meanings.contains_key(name) {
            if self.meanings.len() >= MOST_MEANINGS {
                self.meanings.clear();
            }
            let meaning = self.columns.meaning(name)?;
            self.meanings.insert(Arc::clone(name), meaning);
        }
        self.meanings.get(name)
    }

    fn fields(&mut self, record: &TableRecord) -> Result<RowFields, ImportError> {
        let TableRecord { text, row, cells } = record;
        let unknown: Vec<String> = cells
            .iter()
            .filter(|cell| self.meaning(&cell.place.name).is_none())
            .map(|cell| cell.place.name.to_string())
            .collect();
        let (line, row) = (text.line, *row);
        let error = |column, fault| ImportError::from(RowError { line, row, column, fault });
        if !unknown.is_empty() {
            return Err(error(None, RowFault::UnknownColumns(unknown)));
        }
        let mut fields = RowFields::new(self.describes);
        let rules = (row.is_some(), self.date_order);
        for cell in cells {
            let Some(meaning) = self.meaning(&cell.place.name) else { continue };
            let taken = fields.take(cell, meaning, rules);
            taken.map_err(|fault| error(Some(cell.place.clone()), fault))?;
        }
        fields.finish().map_err(|fault| error(None, fault))
    }
}

impl Iterator for TableReader {
    type Item = NextRow;

    fn next(&mut self) -> Option<NextRow> {
        Some(match self.records.as_mut()?.next()? {
            NextRecord::Record(record) => match self.fields(&record) {
                Ok(fields) => Ok(TableRow { text: record.text, row: record.row, fields }),
                Err(error) => Err((Some(record.text), error)),
            },
            NextRecord::Refused(text, error) => Err((Some(text), error.into())),
            NextRecord::Broken(source) => {
                self.records = None;
                Err((None, ImportError::Read { name: self.name.clone(), source }))
            }
        })
    }
}

/// What stands before the rows of a table, to be repeated where some of them are written out again.
///
/// They are written as UTF-8. Where the table was not, a byte order mark says so whatever encoding is asked for.
pub fn header(
    reader: Box<dyn BufRead + Send>,
    options: &TableOptions,
) -> std::io::Result<Option<Vec<u8>>> {
    // Without an encoding it is refused.
    let Ok(text) = encoding::decoded(reader, options.encoding)? else { return Ok(None) };
    let mark = if text.is_converted { encoding::UTF8_MARK } else { &[] };
    match options.format {
        Format::Csv | Format::Tsv => {
            let header = csv::header(text.reader, options.delimiter(), &options.columns)?;
            Ok(Some([mark, &header].concat()))
        }
        Format::Jsonl | Format::Toml => Ok((!mark.is_empty()).then(|| mark.to_vec())),
    }
}

/// How the rows of a manifest become sources.
#[derive(Clone, Debug)]
pub struct ManifestReader {
    /// How the table is read.
    pub table: TableOptions,
    /// The directory that the paths are beneath, also absolute ones.
    pub root: Arc<Dir>,
    /// What is done with symbolic links.
    pub links: Links,
}

/// Reads a manifest, row by row.
pub struct Manifest {
    rows: TableReader,
    reading: ManifestReader,
    seen: seen::SeenKeys,
}

impl Manifest {
    /// The manifest that `reader` gives, called `name` in messages.
    ///
    /// A manifest whose columns are not understood is refused as a whole.
    pub fn new(
        reader: Box<dyn BufRead + Send>,
        name: String,
        reading: ManifestReader,
    ) -> Result<Manifest, ImportError> {
        let rows = TableReader::new(reader, name, &reading.table, "path")?;
        Ok(Manifest { rows, reading, seen: seen::SeenKeys::default() })
    }
}

impl Iterator for Manifest {
    type Item = FoundCandidate;

    fn next(&mut self) -> Option<FoundCandidate> {
        let (row, error) = match self.rows.next()? {
            Ok(row) => match paths::candidate(row, &self.reading, &mut self.seen) {
                Ok(candidate) => return Some(Ok(candidate)),
                Err((text, error)) => (Some(text), error),
            },
            Err(refused) => refused,
        };
        let name = &self.rows.name;
        let source = match &row {
            Some(row) => format!("line {} of {name}", row.line),
            None => name.clone(),
        };
        Some(Err(Box::new(Refused { source, path: None, row, error })))
    }
}
