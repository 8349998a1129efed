//! Percent coding of values [resolution, Table 6.1] and of paths [RFC 3986].

use std::fmt::Write as _;

use crate::identity::error::Fault;

/// Encodes a value of a request: the characters of Table 6.1, and those that RFC 3986 forbids in URLs.
pub fn encode_value(value: &[u8]) -> String {
    encode(value, |byte| byte.is_ascii_graphic() && !b"%&+=?#\"<>\\^`{|}".contains(&byte))
}

/// Decodes a value of a request: `+` stands for a space.
///
/// `None` if a `%` does not begin an escape.
pub fn decode_value(value: &str) -> Option<Vec<u8>> {
    decode(&value.replace('+', " ")).ok()
}

/// Encodes the path of a file.
pub fn encode_path(path: &[u8]) -> String {
    encode(path, |byte| byte != b'%' && is_in_path(byte))
}

/// Decodes the path of a file. `None` if a `%` does not begin an escape.
pub fn decode_path(path: &str) -> Option<Vec<u8>> {
    decode(path).ok()
}

/// Decodes a path, without the first `/`, whose characters must be those of a path.
pub(super) fn read_path(path: &str) -> Result<Vec<u8>, Fault> {
    if let Some((at, character)) = path.char_indices().find(|(_, c)| !is_character_in_path(*c)) {
        let mut buffer = [0; 4];
        let encoded = encode(character.encode_utf8(&mut buffer).as_bytes(), |_| false);
        let expected = format!("a path has `{encoded}` for this character");
        return Err(Fault::new(at..at + character.len_utf8(), expected));
    }
    // Neither can be in the name of a file.
    for escape in ["%2F", "%2f", "%00"] {
        if let Some(at) = path.find(escape) {
            return Err(Fault::new(
                at..at + escape.len(),
                "no file has this character in its name",
            ));
        }
    }
    decode(path)
}

fn is_character_in_path(character: char) -> bool {
    u8::try_from(character).is_ok_and(is_in_path)
}

/// `pchar` of RFC 3986, and `/`.
fn is_in_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=:@/".contains(&byte)
}

fn encode(bytes: &[u8], is_literal: impl Fn(u8) -> bool) -> String {
    let mut encoded = String::with_capacity(bytes.len());
    for &byte in bytes {
        if is_literal(byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing into a `String` has no way to fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

pub(super) fn decode(text: &str) -> Result<Vec<u8>, Fault> {
    let mut decoded = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'%' {
            let digit = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
            let value = digit(at + 1).zip(digit(at + 2)).map(|(high, low)| high * 16 + low);
            let value = value.and_then(|value| u8::try_from(value).ok());
            decoded.push(value.ok_or_else(|| {
                Fault::new(at..at + 1, "expected two hexadecimal digits after `%`")
            })?);
            at += 3;
        } else {
            decoded.push(byte);
            at += 1;
        }
    }
    Ok(decoded)
}
