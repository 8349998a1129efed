//! The head of a sidecar, everything before its payload, in the form that urepo writes. It is read in one
//! pass, because thousands are read at a time. Any other spelling is left to the reader of all TOML; both
//! give the same result.

use toml::{Table, Value};

use super::custody;
use super::plain::{boolean, instant, is_bare, number, pair, string};
use super::raw::Raw;

/// Reads the head `text`, if every line has the form that urepo writes.
pub(super) fn read(text: &str) -> Option<Raw> {
    let (format, rest) = pair(text, "format")?;
    let (state, rest) = pair(rest, "state")?;
    let (repository, rest) = pair(rest, "repository")?;
    let (ibip, rest) = optional(rest, "ibip")?;
    let (created, rest) = pair(rest, "created")?;
    let (timestamp, rest) = pair(rest, "timestamp")?;
    let (described, rest) = match pair(rest, "described") {
        Some((value, rest)) => (Some(instant(value)?), rest),
        None => (None, rest),
    };
    let (target, rest) = optional(rest, "target")?;
    let (transferable, rest) = pair(rest, "transferable")?;
    let (custody, rest) = custody::read(rest.strip_prefix("\n[custody]\n")?)?;
    let mut raw = Raw {
        format: u32::try_from(number(format)?).ok()?,
        state: string(state)?.into_owned(),
        repository: string(repository)?.into_owned(),
        ibip,
        created: instant(created)?,
        timestamp: instant(timestamp)?,
        described,
        target,
        transferable: boolean(transferable)?,
        // A list is not read here.
        access: None,
        custody,
        metadata: Table::new(),
        relations: Table::new(),
        origin: Table::new(),
        removal: None,
        payload: None,
        file: None,
        seal: None,
    };
    let mut rest = rest;
    for (header, into) in [
        ("[metadata]\n", &mut raw.metadata),
        ("[relations]\n", &mut raw.relations),
        ("[origin]\n", &mut raw.origin),
    ] {
        if let Some(lines) = rest.strip_prefix(header) {
            rest = table(lines, into)?;
        }
    }
    rest.is_empty().then_some(raw)
}

/// The value of an optional line, and the text after the line.
fn optional<'a>(text: &'a str, key: &str) -> Option<(Option<String>, &'a str)> {
    match pair(text, key) {
        Some((value, rest)) => Some((Some(string(value)?.into_owned()), rest)),
        None => Some((None, text)),
    }
}

/// Reads the pairs up to an empty line, and returns the text after it.
fn table<'a>(mut text: &'a str, into: &mut Table) -> Option<&'a str> {
    loop {
        let (line, rest) = text.split_once('\n')?;
        text = rest;
        if line.is_empty() {
            return Some(text);
        }
        let (key, value) = line.split_once(" = ")?;
        if !is_bare(key) || into.insert(key.to_owned(), scalar(value)?).is_some() {
            return None;
        }
    }
}

fn scalar(text: &str) -> Option<Value> {
    match text.as_bytes().first()? {
        b'"' | b'\'' => Some(Value::String(string(text)?.into_owned())),
        b't' | b'f' => Some(Value::Boolean(boolean(text)?)),
        _ if text.ends_with('Z') => {
            instant(text)?;
            Some(Value::Datetime(text.parse().ok()?))
        }
        _ => Some(Value::Integer(i64::try_from(number(text)?).ok()?)),
    }
}
