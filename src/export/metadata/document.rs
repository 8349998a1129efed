//! The descriptions of one or many items as one document.

use super::row::{Row, RowColumns};
use super::{MetadataFormat, dublin_core};
use crate::collection::UrlBase;
use crate::identity::Instant;
use crate::sidecar::Sidecar;

/// The format of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentFormat {
    /// `[[item]]` tables.
    Toml,
    /// A list of objects.
    Json,
    /// One object a line.
    Jsonl,
    /// Values between commas, below column names.
    Csv,
    /// The same, with tabs.
    Tsv,
    /// A foreign format, which has fewer terms than a description.
    Foreign(MetadataFormat),
}

/// Limits on a row in bytes, and on a value in lines; more could not be read back from a table.
const MAX_ROW_BYTES: usize = 1024 * 1024;
const MAX_LINES: usize = 1000;

/// Why a table refuses a row: it could not be read back, or columns are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowTooLong {
    /// The row is too long.
    #[error("its row is longer than 1 MiB, or a value has more than 1000 lines")]
    Long,
    /// It has more values than when the columns were counted.
    #[error("its description was changed while the table was written")]
    Changed,
}

/// Writes descriptions into one document, piece by piece.
#[derive(Debug)]
pub struct Document {
    format: DocumentFormat,
    columns: RowColumns,
    /// Whether there may be several items: a single one needs no list.
    is_list: bool,
    base: UrlBase,
    now: Instant,
    items: u64,
}

impl DocumentFormat {
    /// Whether all rows have to be seen before the first one is written.
    pub fn is_table(self) -> bool {
        matches!(self, DocumentFormat::Csv | DocumentFormat::Tsv)
    }
}

impl Document {
    /// A document of one item, or of any number if it `is_list`, written at `now`. A table needs its `columns`. Persistent
    /// URLs begin with `base`.
    pub fn new(
        format: DocumentFormat,
        columns: RowColumns,
        is_list: bool,
        base: UrlBase,
        now: Instant,
    ) -> Document {
        Document { format, columns, is_list, base, now, items: 0 }
    }

    /// The text before the items.
    pub fn head(&self) -> Vec<u8> {
        match self.format {
            DocumentFormat::Csv | DocumentFormat::Tsv => {
                let names: Vec<_> = self.columns.names().collect();
                if names.is_empty() { b"identifier\n".to_vec() } else { self.line(&names) }
            }
            DocumentFormat::Json => b"[".to_vec(),
            DocumentFormat::Foreign(format) if self.is_list && format.is_json() => b"[\n".to_vec(),
            DocumentFormat::Foreign(MetadataFormat::DublinCore) if self.is_list => {
                dublin_core::LIST_HEAD.into()
            }
            _ => Vec::new(),
        }
    }

    /// The next item.
    pub fn item(&mut self, sidecar: &Sidecar) -> Result<Vec<u8>, RowTooLong> {
        let between = |text: &'static str| if self.items > 0 { text } else { "" };
        let bytes = match self.format {
            DocumentFormat::Toml => format!("{}{}", between("\n"), toml(&Row::of(sidecar))).into(),
            DocumentFormat::Json => {
                format!("{}{}", if self.items > 0 { ",\n" } else { "\n" }, json(&Row::of(sidecar)))
                    .into()
            }
            DocumentFormat::Jsonl => (json(&Row::of(sidecar)) + "\n").into(),
            DocumentFormat::Csv | DocumentFormat::Tsv => {
                let row = Row::of(sidecar);
                let cells = self.columns.cells(&row).ok_or(RowTooLong::Changed)?;
                let is_long = |cell: &&str| cell.matches('\n').count() >= MAX_LINES;
                let guarded: Vec<_> = cells.iter().map(|cell| guarded(cell)).collect();
                let line = self.line(&guarded);
                if line.len() >= MAX_ROW_BYTES || cells.iter().any(is_long) {
                    return Err(RowTooLong::Long);
                }
                line
            }
            DocumentFormat::Foreign(format) => {
                let mut bytes = match format {
                    format if format.is_json() && self.is_list => between(",\n").into(),
                    MetadataFormat::Bibtex | MetadataFormat::Ris => between("\n").into(),
                    _ => Vec::new(),
                };
                let rendered = format.render(sidecar, &self.base, self.now);
                let rendered = match format {
                    MetadataFormat::DublinCore if self.is_list => dublin_core::bare(&rendered),
                    format if format.is_json() && self.is_list => rendered.trim_ascii_end(),
                    _ => &rendered,
                };
                bytes.extend_from_slice(rendered);
                bytes
            }
        };
        self.items += 1;
        Ok(bytes)
    }

    /// The text after the items.
    pub fn tail(&self) -> Vec<u8> {
        match self.format {
            DocumentFormat::Json => b"\n]\n".to_vec(),
            DocumentFormat::Foreign(format) if self.is_list && format.is_json() => {
                b"\n]\n".to_vec()
            }
            DocumentFormat::Foreign(MetadataFormat::DublinCore) if self.is_list => {
                dublin_core::LIST_TAIL.into()
            }
            _ => Vec::new(),
        }
    }

    /// A line of a table.
    fn line<T: AsRef<[u8]>>(&self, cells: &[T]) -> Vec<u8> {
        let delimiter = if self.format == DocumentFormat::Tsv { b'\t' } else { b',' };
        let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
        writer.write_record(cells).expect("because memory takes everything that is written to it");
        writer.into_inner().expect("because memory takes everything that is written to it")
    }
}

/// A cell that no spreadsheet takes for a formula: an apostrophe before it makes it text.
fn guarded(cell: &str) -> String {
    if is_guarded(cell) { format!("'{cell}") } else { cell.to_owned() }
}

/// Whether a cell gets an apostrophe. So does a cell whose own apostrophe would be lost when it is read.
fn is_guarded(cell: &str) -> bool {
    let rest = cell.trim_start_matches('\'');
    let apostrophes = cell.len() - rest.len();
    let computes =
        |text: &str| text.trim_start().starts_with(['=', '@', '+', '-']) || is_sheet_error(text);
    computes(cell) || (apostrophes > 0 && computes(rest))
}

/// Whether `text` is the error of a computation, in any language: `#REF!`, `#NAME?`, `#¡DIV/0!`, `#N/D`.
pub(crate) fn is_sheet_error(text: &str) -> bool {
    let Some(error) = text.trim().strip_prefix('#') else { return false };
    let is_upper = |c: char| c.is_uppercase() || "/0¡¿!?".contains(c);
    error.chars().all(is_upper)
        && (error.ends_with(['!', '?']) && error.len() > 2
            || ["N/A", "N/D", "N/V", "NV"].contains(&error))
}

/// The text of a cell that [`Document`] may have made safe from spreadsheets.
pub(crate) fn unguarded(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|text| is_guarded(text)).unwrap_or(cell)
}

fn json(row: &Row) -> String {
    let pairs = row.0.iter().map(|(name, values)| {
        let value = match values.as_slice() {
            [value] => serde_json::Value::from(value.as_str()),
            values => values.into(),
        };
        format!("{}: {value}", serde_json::Value::from(name.as_str()))
    });
    format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
}

fn toml(row: &Row) -> String {
    let mut text = "[[item]]\n".to_owned();
    for (name, values) in &row.0 {
        // A name with a dot is quoted, because `access` has a value as well as `access.allow`.
        let key = if name.contains('.') { format!("\"{name}\"") } else { name.clone() };
        let value = match values.as_slice() {
            [value] => toml::Value::from(value.as_str()),
            values => toml::Value::Array(values.iter().map(|it| it.as_str().into()).collect()),
        };
        text += &format!("{key} = {value}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula() {
        for (cell, expected) in [
            ("=1+1", "'=1+1"),
            (" @x", "' @x"),
            ("-5", "'-5"),
            ("#REF!", "'#REF!"),
            ("#1 of 3!", "#1 of 3!"),
            ("'=x", "''=x"),
            ("'tis", "'tis"),
            ("''", "''"),
            ("'\n=", "''\n="),
            ("a=b", "a=b"),
            ("", ""),
        ] {
            assert_eq!(guarded(cell), expected);
            assert_eq!(unguarded(expected), cell);
        }
        assert_eq!(unguarded("=1+1"), "=1+1");
    }
}
