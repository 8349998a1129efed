//! Showing an untrusted text on one line, with carets under a part of it.

use std::fmt::Write as _;
use std::ops::Range;

/// Texts of up to this many characters are shown whole.
const WHOLE: usize = 120;
/// Of a longer text, the characters shown before the beginning of the span, and after it.
const BEFORE: usize = 40;
const AFTER: usize = 60;

/// The part of a text around a span, escaped and clipped, measured in terminal columns.
pub(super) struct Window {
    pub(super) shown: String,
    /// Columns before the span.
    pub(super) before: usize,
    /// Columns of the span.
    pub(super) under: usize,
}

impl Window {
    /// The window on `text` around `span`, which lies on character boundaries.
    pub(super) fn new(text: &str, span: &Range<usize>) -> Window {
        let part = visible(text, span.start);
        let mut window = Window { shown: String::new(), before: 0, under: 0 };
        if part.start > 0 {
            window.shown.push('…');
            window.before += 1;
        }
        for (index, character) in text[part.clone()].char_indices() {
            let columns = push(&mut window.shown, character);
            match part.start + index {
                at if at < span.start => window.before += columns,
                at if at < span.end => window.under += columns,
                _ => {}
            }
        }
        if part.end < text.len() {
            window.shown.push('…');
        }
        window
    }
}

/// `character` as it can be shown inside a sentence.
pub(super) fn shown(character: char) -> String {
    let mut shown = String::new();
    push(&mut shown, character);
    shown
}

/// The bytes of `text` to show when the fault begins at `start`.
fn visible(text: &str, start: usize) -> Range<usize> {
    if text.chars().nth(WHOLE).is_none() {
        return 0..text.len();
    }
    let from = text[..start].char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
    let to = text[start..].char_indices().nth(AFTER).map_or(text.len(), |(at, _)| start + at);
    from..to
}

/// Appends `character`, escaped if it does not print as itself, and gives the columns it takes.
fn push(shown: &mut String, character: char) -> usize {
    // `escape_debug` escapes control, bidirectional, combining and unassigned characters, and
    // quotes and backslashes, of which only the backslash could be mistaken for an escape.
    if character == '"' || character == '\'' {
        shown.push(character);
        return 1;
    }
    let escape = character.escape_debug();
    let escaped = escape.len();
    // Writing into a `String` has no way to fail.
    let _ = write!(shown, "{escape}");
    if escaped > 1 { escaped } else { columns(character) }
}

/// Two for the blocks that terminals show double-wide, else one.
fn columns(character: char) -> usize {
    match u32::from(character) {
        0x1100..=0x115F
        | 0x2E80..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF01..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}
