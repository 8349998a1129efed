//! Records of JSON objects, one a line.

use std::io::BufRead;

use serde_json::Value;

use super::lines::ManifestLines;
use super::{NextRecord, RecordCell, RowError, RowFault, TableRecord};
use crate::import::candidate::RowText;

/// Reads records.
pub(super) struct Jsonl(ManifestLines);

impl Jsonl {
    pub(super) fn new(reader: Box<dyn BufRead + Send>) -> Jsonl {
        Jsonl(ManifestLines::new(reader))
    }
}

impl Iterator for Jsonl {
    type Item = NextRecord;

    fn next(&mut self) -> Option<NextRecord> {
        loop {
            let line = match self.0.next() {
                Ok(line) => line?,
                Err(error) => return Some(NextRecord::Broken(error)),
            };
            let text = RowText { line: line.number, bytes: line.bytes };
            let refused = |text: RowText, fault| {
                let error = RowError::at_line(text.line, fault);
                Some(NextRecord::Refused(text, error))
            };
            if !line.is_whole {
                return refused(text, RowFault::TooLong);
            }
            if text.bytes.trim_ascii().is_empty() {
                continue;
            }
            return match cells(&text.bytes) {
                Ok(cells) => Some(NextRecord::Record(TableRecord { text, row: None, cells })),
                Err(fault) => refused(text, fault),
            };
        }
    }
}

fn cells(bytes: &[u8]) -> Result<Vec<RecordCell>, RowFault> {
    let text = std::str::from_utf8(bytes).map_err(|_| RowFault::not_utf8(bytes))?;
    let value = serde_json::from_str(text).map_err(|error| RowFault::Syntax(error.to_string()))?;
    let Value::Object(object) = value else {
        return Err(RowFault::Syntax("expected an object, `{\"path\": …}`".to_owned()));
    };
    let mut cells = Vec::new();
    flatten("", &Value::Object(object), &mut cells)?;
    Ok(cells)
}

/// Adds the texts of `value`; what is in an object gets a name with a dot.
fn flatten(name: &str, value: &Value, cells: &mut Vec<RecordCell>) -> Result<(), RowFault> {
    let texts = match value {
        Value::Null => Vec::new(),
        Value::Object(object) => {
            for (key, value) in object {
                let dot = if name.is_empty() { "" } else { "." };
                flatten(&format!("{name}{dot}{key}"), value, cells)?;
            }
            return Ok(());
        }
        Value::Array(list) => {
            list.iter().map(|value| scalar(name, value)).collect::<Result<_, _>>()?
        }
        value => vec![scalar(name, value)?],
    };
    cells.push(RecordCell::named(name, cells.len(), texts));
    Ok(())
}

fn scalar(name: &str, value: &Value) -> Result<String, RowFault> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(truth) => Ok(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(RowFault::Kind(name.to_owned())),
    }
}
