//! Escaping untrusted names for a terminal, and reading the escapes back.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

use clap::builder::{OsStringValueParser, TypedValueParser};

/// `text` with control and bidirectional characters written as escapes; line ends stay when `lines`.
fn escape(text: &str, keep: impl Fn(char) -> bool) -> String {
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return text.to_owned();
    }
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if keep(character) || !(character.is_control() || is_invisible(character)) {
            escaped.push(character);
        } else {
            escaped.extend(character.escape_debug());
        }
    }
    escaped
}

/// `text` as one line.
pub(crate) fn one_line(text: &str) -> String {
    escape(text, |_| false)
}

/// Our own text of several lines, with untrusted names in it.
pub(crate) fn lines(text: &str) -> String {
    escape(text, |character| character == '\n')
}

/// JSON text with such characters as `\u` escapes: they occur only in strings.
pub(crate) fn json(text: &str) -> String {
    let is_plain = |c: char| !(c.is_control() || is_invisible(c));
    if text.chars().all(is_plain) {
        return text.to_owned();
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_plain(character) {
            escaped.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                escaped += &format!("\\u{unit:04x}");
            }
        }
    }
    escaped
}

/// Characters that reorder or hide the text around them. The joiners U+200C and U+200D are not among them:
/// Persian, the scripts of India and emoji need them.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
        | '\u{61c}' | '\u{180e}' | '\u{e0000}'..='\u{e007f}')
}

/// Reads an argument that may name a file: bytes that are not UTF-8 become the escapes of sidecars.
pub(crate) fn argument() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(text_form)
}

/// The argument itself, or its text form.
pub(crate) fn text_form(argument: OsString) -> String {
    let escaped = |it: OsString| urepo::item::escape(it.as_bytes()).into_owned();
    argument.into_string().unwrap_or_else(escaped)
}

/// The text form of a path, from the output of [`one_line`].
pub(crate) fn printed(text: &str) -> String {
    let (mut path, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once('\\') {
        path += before;
        let character = match after.as_bytes().first() {
            Some(b'n') => Some(('\n', 1)),
            Some(b'r') => Some(('\r', 1)),
            Some(b't') => Some(('\t', 1)),
            Some(b'u') => code_point(after),
            _ => None,
        };
        if let Some((character, length)) = character {
            path.push(character);
            rest = &after[length..];
        } else {
            // The second of two backslashes begins no escape.
            let kept = usize::from(after.starts_with('\\'));
            path.push('\\');
            path += &after[..kept];
            rest = &after[kept..];
        }
    }
    path + rest
}

/// The character of an escape such as `u{1b}`, and the length of the escape.
fn code_point(text: &str) -> Option<(char, usize)> {
    let (digits, _) = text.strip_prefix("u{")?.split_once('}')?;
    let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    Some((character, digits.len() + 3))
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_that_moves_the_cursor_or_the_reading_order_is_left() {
        assert_eq!(super::one_line("a\x1b[2Jb\nc"), "a\\u{1b}[2Jb\\nc");
        assert_eq!(super::one_line("gpj.\u{202e}exe"), "gpj.\\u{202e}exe");
        assert_eq!(super::one_line("Relatório \\ ação"), "Relatório \\ ação");
        assert_eq!(super::lines("a\nb\r"), "a\nb\\r");
        assert_eq!(super::one_line("می\u{200c}خواهم 👩\u{200d}🔬"), "می\u{200c}خواهم 👩\u{200d}🔬");
    }

    #[test]
    fn what_was_printed_is_read_again() {
        for path in [
            "a\x1b[2Jb\nc\t\r",
            "gpj.\u{202e}exe",
            "a\\\\n\\\\\n",
            r"caf\xe9",
            "\u{e0041}",
            "plain",
        ] {
            assert_eq!(super::printed(&super::one_line(path)), path);
        }
        for odd in [r"\u{zz}", r"\u{", r"\q", "\\", r"\u{d800}"] {
            assert_eq!(super::printed(odd), odd);
        }
    }

    #[test]
    fn json_stays_what_it_was() {
        let value = serde_json::json!({ "a\u{9b}": "\u{202e}\u{e0041}\u{7f}\n\"\\ ação" });
        let text = super::json(&value.to_string());
        assert_eq!(text, r#"{"a\u009b":"\u202e\udb40\udc41\u007f\n\"\\ ação"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
