//! Tables with one row for each item, and manifests: tables that name the sources of an import.
//!
//! [`encoding`] converts any text to UTF-8, [`delimiter`] finds the delimiter, `lines` reads lines of bounded
//! length. [`csv`](mod@csv), [`jsonl`] and [`table`] make records of them. [`columns`] and [`synonyms`] give
//! the columns a meaning, [`row`] reads the cells of a record by it, and [`paths`] finds the source. An error
//! in a row is reported with its line, and later rows are read nevertheless.

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

use std::collections::{BTreeSet, HashMap};
use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

use super::ImportError;
use super::candidate::{FoundCandidate, Refused, RowText};
use super::forms::Forms;
use crate::disk::{Dir, Links};

use columns::ColumnMeaning;
pub use columns::{Columns, MapError};
pub use encoding::Encoding;
pub use error::{ColumnPlace, RowError, RowFault};
pub(crate) use row::RowFields;
pub use synonyms::{COLUMN_SYNONYMS, column_of};

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Values between detected delimiters, after a line of column names.
    Csv,
    /// The same, with tabs.
    Tsv,
    /// One JSON object on each line.
    Jsonl,
    /// One `[[item]]` for each row.
    Toml,
}

impl Format {
    /// The format for the extension of `path`.
    pub fn of(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Some(Format::Csv),
            "tsv" | "tab" => Some(Format::Tsv),
            "jsonl" | "ndjson" => Some(Format::Jsonl),
            "toml" => Some(Format::Toml),
            _ => None,
        }
    }
}

/// Options of reading a table.
#[derive(Clone, Debug)]
pub struct TableOptions {
    /// Its format.
    pub format: Format,
    /// The delimiter; detected by default.
    pub delimiter: Option<u8>,
    /// The encoding of a text without a byte order mark; UTF-8 by default.
    pub encoding: Option<Encoding>,
    /// The meanings of the columns.
    pub columns: Columns,
}

impl TableOptions {
    /// A table in this format, with defaults.
    pub fn new(format: Format) -> TableOptions {
        let columns = Columns::default();
        TableOptions { format, delimiter: None, encoding: None, columns }
    }

    fn delimiter(&self) -> Option<u8> {
        self.delimiter.or((self.format == Format::Tsv).then_some(b'\t'))
    }
}

/// Whether a byte can delimit the values of a table.
pub fn is_delimiter(byte: u8) -> bool {
    delimiter::is_possible(byte)
}

/// A record: its text, and its non-empty cells.
struct TableRecord {
    text: RowText,
    /// Its number, if it comes from a spreadsheet, which could take a value for a formula.
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

/// A record, or its error. An error of reading ends the table.
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

/// A row, or its error; an error without a row ends the table.
pub(crate) type NextRow = Result<TableRow, (Option<RowText>, ImportError)>;

/// Reads the rows of a table.
pub(crate) struct TableReader {
    records: Option<Box<dyn Iterator<Item = NextRecord> + Send>>,
    name: String,
    columns: Columns,
    /// Whether the rows describe existing items.
    describes: bool,
    /// The meanings of the columns so far.
    meanings: HashMap<Arc<str>, ColumnMeaning>,
    /// Mapped columns that no record had so far, in folded form; of a spreadsheet, its header has them all.
    unseen: BTreeSet<String>,
}

/// Limit on cached meanings of columns: every JSON object may have other columns.
const MOST_MEANINGS: usize = 10_000;

impl TableReader {
    /// The table from `reader`, called `name` in messages. A spreadsheet whose columns are not understood, or
    /// without the column `required`, is refused as a whole.
    pub(crate) fn new(
        reader: Box<dyn BufRead + Send>,
        name: String,
        options: &TableOptions,
        required: &'static str,
    ) -> Result<TableReader, ImportError> {
        TableReader::with_one_of(reader, name, options, &[required])
    }

    /// A table whose rows describe existing items, each named by one of three columns. Empty cells are noted,
    /// and an identifier may have any spelling.
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
        let unseen = match options.format {
            Format::Csv | Format::Tsv => BTreeSet::new(),
            Format::Jsonl | Format::Toml => columns.mapped(),
        };
        let (records, columns) = (Some(records), columns.clone());
        let (describes, meanings) = (false, HashMap::new());
        Ok(TableReader { records, name, columns, describes, meanings, unseen })
    }

    /// The meaning of a column, which is looked up once.
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
        if !self.unseen.is_empty() {
            for cell in cells {
                self.unseen.remove(&synonyms::folded(&cell.place.name));
            }
        }
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
        let is_sheet = row.is_some();
        for cell in cells {
            let Some(meaning) = self.meaning(&cell.place.name) else { continue };
            let taken = fields.take(cell, meaning, is_sheet);
            taken.map_err(|fault| error(Some(cell.place.clone()), fault))?;
        }
        fields.finish().map_err(|fault| error(None, fault))
    }
}

impl Iterator for TableReader {
    type Item = NextRow;

    fn next(&mut self) -> Option<NextRow> {
        let Some(next) = self.records.as_mut()?.next() else {
            self.records = None;
            let unseen = std::mem::take(&mut self.unseen);
            let fault = (!unseen.is_empty()).then(|| self.columns.absent(&unseen, &[]))?;
            return Some(Err((None, RowError::at_line(1, fault).into())));
        };
        Some(match next {
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

/// The header of a table, which is repeated when some of its rows are written to a file.
///
/// Rows are written as UTF-8. If the table had another encoding, a byte order mark overrides a later
/// `--encoding`.
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

/// Options of a manifest.
#[derive(Clone, Debug)]
pub struct ManifestReader {
    /// Options of reading the table.
    pub table: TableOptions,
    /// The directory above all paths, also absolute ones.
    pub root: Arc<Dir>,
    /// Treatment of symbolic links.
    pub links: Links,
}

/// Reads a manifest, row by row.
pub struct Manifest {
    rows: TableReader,
    reading: ManifestReader,
    seen: seen::SeenKeys,
    forms: Forms,
}

impl Manifest {
    /// The manifest from `reader`, called `name` in messages.
    ///
    /// A manifest whose columns are not understood is refused as a whole.
    pub fn new(
        reader: Box<dyn BufRead + Send>,
        name: String,
        reading: ManifestReader,
    ) -> Result<Manifest, ImportError> {
        let rows = TableReader::new(reader, name, &reading.table, "path")?;
        Ok(Manifest { rows, reading, seen: seen::SeenKeys::default(), forms: Forms::default() })
    }
}

impl Iterator for Manifest {
    type Item = FoundCandidate;

    fn next(&mut self) -> Option<FoundCandidate> {
        let (row, error) = match self.rows.next()? {
            Ok(row) => {
                match paths::candidate(row, &self.reading, &mut self.seen, &mut self.forms) {
                    Ok(candidate) => return Some(Ok(candidate)),
                    Err((text, error)) => (Some(text), error),
                }
            }
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
