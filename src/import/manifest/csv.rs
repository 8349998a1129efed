//! Records of values between delimiters.

use std::io::BufRead;
use std::sync::Arc;

use super::columns::Columns;
use super::error::ColumnPlace;
use super::lines::{Line, ManifestLines};
use super::quoting::{Divider, next_text};
use super::{NextRecord, RecordCell, RowError, RowFault, TableRecord, delimiter};
use crate::import::ImportError;
use crate::import::candidate::RowText;

/// Reads records. The first one names the columns.
pub(super) struct Csv {
    lines: ManifestLines,
    delimiter: u8,
    divider: Divider,
    names: Vec<Arc<str>>,
    /// The number of the last record in the spreadsheet: blank ones count.
    row: u64,
}

/// A divided record, with the index of a value that is not UTF-8.
type Divided = Result<Vec<String>, (Option<usize>, RowFault)>;

impl Csv {
    /// Reads the column names, one of which has to mean `required`.
    pub(super) fn new(
        reader: Box<dyn BufRead + Send>,
        delimiter: Option<u8>,
        (columns, required): (&Columns, &[&'static str]),
        broken: impl Fn(std::io::Error) -> ImportError,
    ) -> Result<Csv, ImportError> {
        let mut lines = ManifestLines::new(reader);
        let (_, delimiter) = delimited(&mut lines, delimiter, columns).map_err(&broken)?;
        let delimiter = delimiter.map_err(|fault| RowError::at_line(1, fault))?;
        let mut csv =
            Csv { lines, delimiter, divider: Divider::new(delimiter), names: Vec::new(), row: 0 };
        let (line, divided) = match csv.divided().map_err(broken)? {
            Some((text, divided)) => (text.line, divided),
            None => {
                return Err(RowError::at_line(
                    1,
                    RowFault::NoColumn(required.first().copied().unwrap_or_default()),
                )
                .into());
            }
        };
        let error = |index: Option<usize>, fault| {
            let column = index.map(|index| ColumnPlace { index, name: "".into() });
            RowError { line, row: Some(csv.row), column, fault }
        };
        let names = divided.map_err(|(index, fault)| error(index, fault))?;
        columns.meanings(&names, required).map_err(|fault| error(None, fault))?;
        csv.names = names.into_iter().map(Arc::from).collect();
        Ok(csv)
    }

    /// The text of the next record, and its values. Rows of empty cells are skipped.
    fn divided(&mut self) -> std::io::Result<Option<(RowText, Divided)>> {
        loop {
            let Some((text, whole)) = next_text(&mut self.lines, self.delimiter)? else {
                return Ok(None);
            };
            self.row += 1;
            let values = whole.and_then(|()| self.divider.values(&text.bytes));
            let values = match values {
                Ok(values) => values,
                Err(fault) => return Ok(Some((text, Err((None, fault))))),
            };
            if values.iter().all(|value| value.trim_ascii().is_empty()) {
                continue;
            }
            let texts = values.into_iter().enumerate().map(|(index, value)| {
                String::from_utf8(value)
                    .map_err(|error| (Some(index), RowFault::not_utf8(error.as_bytes())))
            });
            return Ok(Some((text, texts.collect())));
        }
    }

    /// The cells of a record. An empty one has no values.
    fn cells(&self, mut values: Vec<String>) -> Result<Vec<RecordCell>, (Option<usize>, RowFault)> {
        let expected = self.names.len();
        // Cells beyond the table that a spreadsheet has touched.
        while values.len() > expected && values.last().is_some_and(|it| it.trim().is_empty()) {
            values.pop();
        }
        if values.len() != expected {
            return Err((None, RowFault::Values { found: values.len(), expected }));
        }
        let cells = self.names.iter().zip(values).enumerate();
        Ok(cells
            .map(|(index, (name, value))| {
                let place = ColumnPlace { index, name: Arc::clone(name) };
                let values = if value.trim().is_empty() { vec![] } else { vec![value] };
                RecordCell { place, values }
            })
            .collect())
    }
}

impl Iterator for Csv {
    type Item = NextRecord;

    fn next(&mut self) -> Option<NextRecord> {
        let (text, divided) = match self.divided() {
            Ok(Some(found)) => found,
            Ok(None) => return None,
            Err(error) => return Some(NextRecord::Broken(error)),
        };
        let row = Some(self.row);
        Some(match divided.and_then(|values| self.cells(values)) {
            Ok(cells) => NextRecord::Record(TableRecord { text, row, cells }),
            Err((index, fault)) => {
                let place = |index: usize| ColumnPlace {
                    index,
                    name: self.names.get(index).cloned().unwrap_or_default(),
                };
                let column = index.map(place);
                let error = RowError { line: text.line, row, column, fault };
                NextRecord::Refused(text, error)
            }
        })
    }
}

/// The lines before the rows: one that names the delimiter, and the column names.
pub(super) fn header(
    reader: Box<dyn BufRead + Send>,
    delimiter: Option<u8>,
    columns: &Columns,
) -> std::io::Result<Vec<u8>> {
    let mut lines = ManifestLines::new(reader);
    let (named, delimiter) = delimited(&mut lines, delimiter, columns)?;
    let mut header = named.map(|line| [line.bytes, b"\n".to_vec()].concat()).unwrap_or_default();
    // If none is found, the table is refused.
    let delimiter = delimiter.unwrap_or(b',');
    let mut divider = Divider::new(delimiter);
    while let Some((text, _)) = next_text(&mut lines, delimiter)? {
        let values = divider.values(&text.bytes).unwrap_or_default();
        if values.iter().any(|value| !value.trim_ascii().is_empty()) {
            header.extend(text.bytes);
            break;
        }
    }
    Ok(header)
}

/// The delimiter of a table, after the line that names it. The `asked` one wins over that.
fn delimited(
    lines: &mut ManifestLines,
    asked: Option<u8>,
    columns: &Columns,
) -> std::io::Result<(Option<Line>, Result<u8, RowFault>)> {
    let mut sample = lines.sample()?;
    let named = sample.first().and_then(|line| delimiter::named(&line.bytes));
    let line = if named.is_some() { lines.next()? } else { None };
    if named.is_some() {
        sample.remove(0);
    }
    let delimiter = match asked.or(named) {
        Some(delimiter) => Ok(delimiter),
        None => delimiter::found(&sample, columns),
    };
    Ok((line, delimiter))
}
