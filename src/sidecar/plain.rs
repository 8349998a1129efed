//! Keys and values in the form that urepo writes, each on one line; any other spelling is `None`.

use std::borrow::Cow;
use std::io::BufRead as _;

use super::datetime;
use crate::identity::Instant;

/// The value of the line `key = value`, and the text after the line.
pub(super) fn pair<'a>(text: &'a str, key: &str) -> Option<(&'a str, &'a str)> {
    let text = text.strip_prefix(key)?.strip_prefix(" = ")?;
    let end = line_length(text.as_bytes())?;
    Some((&text[..end], &text[end + 1..]))
}

/// The length of the first line of `text`, without its end; `None` if the line has no end.
pub(super) fn line_length(text: &[u8]) -> Option<usize> {
    // `skip_until` is several times as fast as a loop over bytes.
    let mut rest = text;
    let length = rest.skip_until(b'\n').ok()?;
    text[..length].strip_suffix(b"\n").map(<[u8]>::len)
}

pub(super) fn is_bare(key: &str) -> bool {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !key.is_empty() && key.bytes().all(is_bare)
}

pub(super) fn number(text: &str) -> Option<u64> {
    let is_plain =
        text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    // The largest number in TOML.
    u64::try_from(text.parse::<i64>().ok().filter(|_| is_plain)?).ok()
}

pub(super) fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// A date-time in the printed form, which is valid TOML.
pub(super) fn instant(text: &str) -> Option<Instant> {
    let instant: Instant = text.parse().ok()?;
    (datetime::to_value(instant) == text).then_some(instant)
}

/// Whether a byte of `text` is odd. All bytes are checked: that takes less time than stopping at the first.
fn has(text: &str, is_odd: impl Fn(u8) -> bool) -> bool {
    text.bytes().fold(false, |found, byte| found | is_odd(byte))
}

/// The text of a one-line string.
pub(super) fn string(quoted: &str) -> Option<Cow<'_, str>> {
    let is_plain = |text: &str| !has(text, |byte| byte.is_ascii_control() && byte != b'\t');
    if let Some(text) = quoted.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return (is_plain(text) && !text.contains('\'')).then_some(Cow::Borrowed(text));
    }
    let text = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))?;
    if !is_plain(text) {
        return None;
    }
    if !has(text, |byte| byte == b'"' || byte == b'\\') {
        return Some(Cow::Borrowed(text));
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        plain.push(match character {
            '"' => return None,
            '\\' => match rest.next()? {
                '"' => '"',
                '\\' => '\\',
                'b' => '\u{8}',
                't' => '\t',
                'n' => '\n',
                'f' => '\u{c}',
                'r' => '\r',
                'u' => escaped(&mut rest, 4)?,
                'U' => escaped(&mut rest, 8)?,
                _ => return None,
            },
            other => other,
        });
    }
    Some(Cow::Owned(plain))
}

/// The character with the code in this number of hexadecimal digits.
fn escaped(rest: &mut std::str::Chars<'_>, digits: usize) -> Option<char> {
    let mut code = 0;
    for _ in 0..digits {
        code = code << 4 | rest.next()?.to_digit(16)?;
    }
    char::from_u32(code)
}
