//! Paths as the manifests of BagIt bags write them [RFC 8493, 2.1.3]: a line has one path, so a line
//! end in it is written `%0A` or `%0D`, and so that these can be told from names, `%` as `%25`.

use std::borrow::Cow;

/// The path as a manifest has it.
pub fn escape(path: &str) -> Cow<'_, str> {
    if !path.contains(['%', '\n', '\r']) {
        return Cow::Borrowed(path);
    }
    Cow::Owned(path.replace('%', "%25").replace('\n', "%0A").replace('\r', "%0D"))
}

/// The path that a manifest means by `text`.
///
/// Only the three escapes of the RFC are read, in either case. Any other `%` stands for itself: there
/// are programs that write it bare. Such a one also writes a file called `50%25` as it is, so whoever
/// reads a bag looks for the name as it stands where there is none of this one.
pub fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut path = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, escaped)) = rest.split_once('%') {
        path.push_str(plain);
        let meant = match escaped.get(..2).map(str::to_ascii_uppercase).as_deref() {
            Some("25") => Some('%'),
            Some("0A") => Some('\n'),
            Some("0D") => Some('\r'),
            _ => None,
        };
        path.push(meant.unwrap_or('%'));
        rest = if meant.is_some() { &escaped[2..] } else { escaped };
    }
    path.push_str(rest);
    Cow::Owned(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_comes_back() {
        for (path, text) in [
            ("data/a b.txt", "data/a b.txt"),
            ("data/100%", "data/100%25"),
            ("data/a\nb\r\nc", "data/a%0Ab%0D%0Ac"),
            ("data/%0A", "data/%250A"),
            ("data/ação%", "data/ação%25"),
        ] {
            assert_eq!(escape(path), text);
            assert_eq!(unescape(text), path);
        }
    }

    #[test]
    fn what_others_write_is_read() {
        for (text, path) in
            [("a%0ab%0d", "a\nb\r"), ("100%", "100%"), ("5%é", "5%é"), ("a%20b", "a%20b")]
        {
            assert_eq!(unescape(text), path);
        }
    }
}
