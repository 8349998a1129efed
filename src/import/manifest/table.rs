//! Records of a TOML file: `[[item]]` tables.

use std::io::{BufRead, Read};

use serde::{Deserialize, Serialize};
use toml::{Spanned, Table, Value};

use super::{NextRecord, RecordCell, RowError, RowFault, TableRecord};
use crate::import::ImportError;
use crate::import::candidate::RowText;

/// Limit on a file, which has to be held as a whole; JSON Lines has no limit.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableFile {
    #[serde(default)]
    item: Vec<Spanned<Table>>,
}

#[derive(Serialize)]
struct ItemTable<'a> {
    item: [&'a Table; 1],
}

/// Reads all records: a file that is not TOML has none.
pub(super) fn read(
    reader: Box<dyn BufRead + Send>,
    broken: impl Fn(std::io::Error) -> ImportError,
) -> Result<impl Iterator<Item = NextRecord> + Send, ImportError> {
    let mut bytes = Vec::new();
    reader.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(&broken)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(broken(std::io::Error::other("it is larger than 64 MiB; write JSON Lines")));
    }
    let line_of = |at: usize| {
        let before = &bytes[..at.min(bytes.len())];
        before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1
    };
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let line = line_of(error.valid_up_to());
        ImportError::from(RowError::at_line(line, RowFault::not_utf8(&bytes)))
    })?;
    let file: TableFile = toml::from_str(text).map_err(|error| {
        let line = line_of(error.span().map_or(0, |span| span.start));
        let fault = RowFault::Syntax(error.message().trim().replace('\n', ", "));
        ImportError::from(RowError::at_line(line, fault))
    })?;
    let starts: Vec<_> = file.item.iter().map(|item| item.span().start).collect();
    let mut lines = Vec::with_capacity(starts.len());
    let (mut line, mut from) = (1, 0);
    for start in starts {
        // Tables come in the order of the file.
        line += bytes[from..start.max(from)].iter().filter(|byte| **byte == b'\n').count() as u64;
        from = start.max(from);
        lines.push(line);
    }
    Ok(file.item.into_iter().zip(lines).map(|(item, line)| record(line, item.get_ref())))
}

fn record(line: u64, table: &Table) -> NextRecord {
    let bytes = toml::to_string(&ItemTable { item: [table] }).unwrap_or_default().into_bytes();
    let text = RowText { line, bytes };
    let mut cells = Vec::new();
    match flatten("", table, &mut cells) {
        Ok(()) => NextRecord::Record(TableRecord { text, row: None, cells }),
        Err(fault) => NextRecord::Refused(text, RowError::at_line(line, fault)),
    }
}

fn flatten(above: &str, table: &Table, cells: &mut Vec<RecordCell>) -> Result<(), RowFault> {
    for (key, value) in table {
        let dot = if above.is_empty() { "" } else { "." };
        let name = format!("{above}{dot}{key}");
        let texts = match value {
            Value::Table(table) => {
                flatten(&name, table, cells)?;
                continue;
            }
            Value::Array(list) => {
                list.iter().map(|value| scalar(&name, value)).collect::<Result<_, _>>()?
            }
            value => vec![scalar(&name, value)?],
        };
        cells.push(RecordCell::named(&name, cells.len(), texts));
    }
    Ok(())
}

fn scalar(name: &str, value: &Value) -> Result<String, RowFault> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(_) | Value::Boolean(_) | Value::Datetime(_) => Ok(value.to_string()),
        // A TOML reader does not return the original digits.
        Value::Float(_) => Err(RowFault::Fraction(name.to_owned())),
        Value::Array(_) | Value::Table(_) => Err(RowFault::Kind(name.to_owned())),
    }
}
