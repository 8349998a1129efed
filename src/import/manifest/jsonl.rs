//! Records of JSON objects, one a line.

use std::collections::HashSet;
use std::fmt;
use std::io::BufRead;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::lines::ManifestLines;
use super::{NextRecord, RecordCell, RowError, RowFault, TableRecord};
use crate::import::candidate::RowText;

/// Limit on the depth of objects.
const MAX_DEPTH: usize = 128;

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
    let value: &RawValue = parsed(text)?;
    if !value.get().starts_with('{') {
        return Err(RowFault::Syntax("expected an object, `{\"path\": …}`".to_owned()));
    }
    let mut cells = Vec::new();
    flatten("", value, 0, &mut cells)?;
    Ok(cells)
}

/// Adds the texts of `value`; values in an object get names with dots.
fn flatten(
    name: &str,
    value: &RawValue,
    depth: usize,
    cells: &mut Vec<RecordCell>,
) -> Result<(), RowFault> {
    let text = value.get();
    let texts = match text.as_bytes().first() {
        Some(b'{') if depth == MAX_DEPTH => return Err(RowFault::Kind(name.to_owned())),
        Some(b'{') => {
            for (key, value) in parsed::<Members<'_>>(text)?.0 {
                let dot = if name.is_empty() { "" } else { "." };
                flatten(&format!("{name}{dot}{key}"), value, depth + 1, cells)?;
            }
            return Ok(());
        }
        Some(b'[') => {
            let list: Vec<&RawValue> = parsed(text)?;
            list.into_iter().map(|value| scalar(name, value)).collect::<Result<_, _>>()?
        }
        _ if text == "null" => Vec::new(),
        _ => vec![scalar(name, value)?],
    };
    cells.push(RecordCell::named(name, cells.len(), texts));
    Ok(())
}

/// The text of a value. A number keeps its digits.
fn scalar(name: &str, value: &RawValue) -> Result<String, RowFault> {
    match value.get().as_bytes() {
        [b'"', ..] => parsed(value.get()),
        [b'{' | b'[', ..] | b"null" => Err(RowFault::Kind(name.to_owned())),
        _ => Ok(value.get().to_owned()),
    }
}

fn parsed<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, RowFault> {
    serde_json::from_str(text).map_err(|error| RowFault::Syntax(error.to_string()))
}

/// The members of an object, with unique names.
struct Members<'t>(Vec<(String, &'t RawValue)>);

impl<'t> Deserialize<'t> for Members<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Members<'t>, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'t> Visitor<'t> for MembersVisitor {
    type Value = Members<'t>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Members<'t>, A::Error> {
        let (mut members, mut names) = (Vec::new(), HashSet::new());
        while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
            if !names.insert(name.clone()) {
                return Err(A::Error::custom(format!("`{name}` is given twice")));
            }
            members.push((name, value));
        }
        Ok(Members(members))
    }
}
