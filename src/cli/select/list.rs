//! The lines of a list of items.

use std::io::{BufRead, Read as _};

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

/// Limit on a line; no identifier is longer.
const MAX_LINE_BYTES: u64 = 64 * 1024;

/// A line of a list.
pub(super) enum Line {
    Text(String),
    /// It cannot be an identifier.
    Unreadable(Failure),
    End,
}

/// The next line of a list. A line that is too long, or not UTF-8, is skipped as a whole.
pub(super) fn next(list: &mut dyn BufRead, end: u8) -> std::io::Result<Line> {
    let mut bytes = Vec::new();
    let length = (&mut *list).take(MAX_LINE_BYTES).read_until(end, &mut bytes)?;
    if length == 0 {
        return Ok(Line::End);
    }
    if bytes.last() == Some(&end) {
        bytes.pop();
    } else if length as u64 == MAX_LINE_BYTES {
        list.skip_until(end)?;
        return Ok(unreadable("it is longer than any identifier"));
    }
    Ok(match String::from_utf8(bytes) {
        // A tab ends the item: more columns follow in a list, and the source in the output of an import.
        Ok(text) => Line::Text(text.split('\t').next().unwrap_or_default().trim().to_owned()),
        Err(error) => unreadable(format!("`{}` is not UTF-8", error.as_bytes().escape_ascii())),
    })
}

fn unreadable(cause: impl Into<String>) -> Line {
    let failure = Failure::new(Exit::Failure, "cannot read a line of the list of items");
    Line::Unreadable(failure.caused_by(cause))
}
