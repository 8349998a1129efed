//! The field `Accept`: the media types that a client accepts, and how much it wants each [RFC 9110, 12.5.1].

use hyper::header::{ACCEPT, HeaderMap};

/// The media ranges of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accept(Vec<Range>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Range {
    /// In lower case: `text/html`, `text/*`, `*/*`.
    name: String,
    /// In thousandths: 0 refuses it.
    quality: u16,
}

impl Accept {
    /// Reads the fields of a request. A range that is none is left out.
    pub fn of(headers: &HeaderMap) -> Accept {
        let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        Accept(values.flat_map(|value| split(value, ',')).filter_map(range).collect())
    }

    /// Whether a client that names `wanted` itself wants it at least as much as `other`. Programs that take everything, or all
    /// texts, name nothing.
    pub fn prefers(&self, wanted: &str, other: &str) -> bool {
        let named = self.0.iter().find(|range| range.name == wanted).map_or(0, |it| it.quality);
        named > 0 && named >= self.quality(other)
    }

    /// How much a media type is wanted: the most specific range counts.
    fn quality(&self, media: &str) -> u16 {
        let group = media.split('/').next().unwrap_or_default();
        let names = [media, &format!("{group}/*"), "*/*"];
        let mut found = names.iter().filter_map(|name| self.0.iter().find(|it| it.name == **name));
        found.next().map_or(0, |range| range.quality)
    }
}

/// The parts of `text` between `separator`s that are not in quotes, trimmed.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if character == separator && !is_quoted => {
                parts.push(text[start..at].trim());
                start = at + character.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

/// A media range with its weight. Other parameters are left out: no type here has one.
fn range(text: &str) -> Option<Range> {
    let mut parts = split(text, ';').into_iter();
    let name = parts.next()?.to_ascii_lowercase();
    let (group, kind) = name.split_once('/')?;
    if group.is_empty() || kind.is_empty() || name.contains(char::is_whitespace) {
        return None;
    }
    let weight = parts.find_map(|part| {
        let (key, value) = part.split_once('=')?;
        key.trim().eq_ignore_ascii_case("q").then(|| value.trim())
    });
    Some(Range { quality: weight.map_or(Some(1000), quality)?, name })
}

/// A weight in thousandths: `0`, `1`, and at most three digits after a point.
fn quality(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = fraction.len() <= 3 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let thousandths: u16 = format!("{fraction:0<3}").parse().ok().filter(|_| is_digits)?;
    match whole {
        "0" => Some(thousandths),
        "1" if thousandths == 0 => Some(1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_for_those_who_name_it_and_want_it() {
        for (field, expected) in [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true),
            ("TEXT/HTML", true),
            ("text/html ; q=0.5", true),
            ("text/html;level=1;q=0.4", true),
            ("text/html, */*", true),
            ("*/*, text/html", true),
            ("text/plain;q=0.5, text/html;q=0.5", true),
            ("text/html;q=0", false),
            ("text/html;Q=0.000, text/plain", false),
            ("text/html;q=0.5, text/plain", false),
            ("text/html;q=0.5, */*", false),
            ("text/*", false),
            ("*/*", false),
            ("", false),
            ("text/htmlx", false),
            ("application/x;a=\"text/html\"", false),
            ("application/x;a=\", text/html,\\\"\", text/plain", false),
            ("application/x;a=\", \", text/html", true),
            // No weight: the range is left out.
            ("text/html;q=2", false),
            ("text/html;q=0.1234", false),
            ("text/html;q=", false),
            ("text/html;q=-1", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.append(ACCEPT, field.parse().unwrap());
            let accept = Accept::of(&headers);
            assert_eq!(accept.prefers("text/html", "text/plain"), expected, "{field}");
        }
        let mut headers = HeaderMap::new();
        assert!(!Accept::of(&headers).prefers("text/html", "text/plain"));
        headers.append(ACCEPT, "text/plain;q=0.1".parse().unwrap());
        headers.append(ACCEPT, "text/html".parse().unwrap());
        assert!(Accept::of(&headers).prefers("text/html", "text/plain"), "all fields count");
    }
}
