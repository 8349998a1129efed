//! Manifests: tables of paths and what is known of them, one row an item.
//!
//! `lines` reads a text in lines of bounded length, [`csv`](mod@csv), [`jsonl`] and [`table`] make
//! records of it, [`columns`] says what each column means, [`row`] makes a candidate of a record. What is
//! wrong with a row is reported with its line, and the rows after it are read all the same.

mod columns;
mod csv;
mod error;
mod jsonl;
mod lines;
mod row;
mod seen;
mod table;

use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

use super::ImportError;
use super::candidate::{FoundCandidate, Refused, RowText};
use crate::disk::{Dir, Links};

pub use columns::{Columns, MapError};
pub use error::{RowError, RowFault};

/// How a manifest is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Values between commas, with a line of column names first.
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
            "csv" => Some(Format::Csv),
            "tsv" | "tab" => Some(Format::Tsv),
            "jsonl" | "ndjson" => Some(Format::Jsonl),
            "toml" => Some(Format::Toml),
            _ => None,
        }
    }
}

/// A record: its text, and each column with its values.
pub(super) struct ManifestRecord {
    text: RowText,
    values: Vec<(String, Vec<String>)>,
    /// Whether a spreadsheet may take a value for a formula.
    is_sheet: bool,
}

/// A record, or why there is none; an error of reading ends the manifest.
pub(super) enum NextRecord {
    ManifestRecord(ManifestRecord),
    Refused(RowText, RowFault),
    Broken(std::io::Error),
}

/// How the rows of a manifest are read.
#[derive(Clone, Debug)]
pub struct ManifestReader {
    /// The directory that the paths are beneath.
    pub root: Arc<Dir>,
    /// Whether a path may also be absolute, beneath that directory.
    pub absolute: bool,
    /// What the columns mean.
    pub columns: Columns,
    /// What is done with symbolic links.
    pub links: Links,
}

/// Reads a manifest, row by row.
pub struct Manifest {
    records: Option<Box<dyn Iterator<Item = NextRecord> + Send>>,
    name: String,
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
        format: Format,
        reading: ManifestReader,
    ) -> Result<Manifest, ImportError> {
        let called = name.clone();
        let broken = move |source| ImportError::Read { name: called.clone(), source };
        let records: Box<dyn Iterator<Item = NextRecord> + Send> = match format {
            Format::Csv => Box::new(csv::Csv::new(reader, b',', &reading.columns, broken)?),
            Format::Tsv => Box::new(csv::Csv::new(reader, b'\t', &reading.columns, broken)?),
            Format::Jsonl => Box::new(jsonl::Jsonl::new(reader)),
            Format::Toml => Box::new(table::read(reader, broken)?),
        };
        Ok(Manifest { records: Some(records), name, reading, seen: seen::SeenKeys::default() })
    }

    /// What stands before the rows, to be repeated where some of them are written out again.
    pub fn header(
        mut reader: Box<dyn BufRead + Send>,
        format: Format,
    ) -> std::io::Result<Option<Vec<u8>>> {
        match format {
            Format::Csv => csv::header(&mut reader, b','),
            Format::Tsv => csv::header(&mut reader, b'\t'),
            Format::Jsonl | Format::Toml => Ok(None),
        }
    }
}

impl Iterator for Manifest {
    type Item = FoundCandidate;

    fn next(&mut self) -> Option<FoundCandidate> {
        let refused = |text: RowText, fault| {
            let error = RowError { line: text.line, fault };
            let source = format!("line {} of {}", text.line, self.name);
            Err(Box::new(Refused { source, path: None, row: Some(text), error: error.into() }))
        };
        Some(match self.records.as_mut()?.next()? {
            NextRecord::ManifestRecord(record) => {
                match row::candidate(&record, &self.reading, &mut self.seen) {
                    Ok(mut candidate) => {
                        candidate.row = Some(record.text);
                        Ok(candidate)
                    }
                    Err(fault) => refused(record.text, fault),
                }
            }
            NextRecord::Refused(text, fault) => refused(text, fault),
            NextRecord::Broken(source) => {
                self.records = None;
                let name = self.name.clone();
                let error = ImportError::Read { name: name.clone(), source };
                Err(Box::new(Refused { source: name, path: None, row: None, error }))
            }
        })
    }
}
