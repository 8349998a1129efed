//! Targets of requests: the path, split at `/` and decoded once, and the query. `+` is a plus sign.

use crate::identity::{Identifier, PersistentUrl, decode_path};

/// Why a target leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Nothing has this path.
    NotFound,
    /// It names an item, but does not go on as a persistent URL does.
    Malformed,
}

/// The path and the query of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// The path without the first `/`, as it was sent.
    pub path: &'a str,
    /// Its segments: exact bytes, of which only the last may be empty.
    pub segments: Vec<Vec<u8>>,
    /// The path as identifiers and modifiers are written: without escapes of characters that stand for themselves in it.
    plain: String,
    /// The query, without `?`.
    pub query: Option<&'a str>,
}

/// Characters that programs escape in identifiers and modifiers, besides those that mean the same with and without an escape in
/// every URL [RFC 3986, 6.2.2.2]. A quarter of all names has `@`.
const ESCAPED: &[u8] = b"@!()*+:";

/// Punctuation of a text around a URL, which got into the link.
const AFTER_LINKS: [char; 7] = ['.', ',', ';', ')', ']', '}', '\''];
/// The most of it.
const MOST_AFTER_LINKS: usize = 4;

impl<'a> Target<'a> {
    /// Reads a target. `None` if its path leads out of any tree, or is none.
    pub fn of(text: &'a str) -> Option<Target<'a>> {
        let (path, query) =
            text.split_once('?').map_or((text, None), |(path, query)| (path, Some(query)));
        let path = path.strip_prefix('/')?;
        let segments = path.split('/').map(decode_path).collect::<Option<Vec<_>>>()?;
        let (last, others) = segments.split_last()?;
        let is_refused = |segment: &[u8]| {
            [b".".as_slice(), b".."].contains(&segment)
                || segment.iter().any(|byte| b"/\0".contains(byte))
        };
        if others.iter().any(|segment| segment.is_empty() || is_refused(segment))
            || is_refused(last)
        {
            return None;
        }
        Some(Target { path, segments, plain: plain(path), query })
    }

    /// The query, if this is a request to the service with these identifiers.
    pub fn service_query(&self, service: &[Identifier]) -> Option<&'a str> {
        self.query.filter(|query| {
            query.split('&').any(|pair| pair.starts_with("servicesubject="))
                && self.plain.parse::<Identifier>().is_ok_and(|it| service.contains(&it))
        })
    }

    /// The persistent URL. Punctuation of the text that the link stood in is left out where no persistent URL ends in it.
    pub fn persistent_url(&self) -> Result<PersistentUrl, Refusal> {
        let query = self.query.map(|query| format!("?{query}")).unwrap_or_default();
        let text = format!("http://host/{}{query}", self.plain);
        let mut shorter = Some(&*text);
        for _ in 0..=MOST_AFTER_LINKS {
            let Some(text) = shorter else { break };
            if let Ok(url) = text.parse() {
                return Ok(url);
            }
            shorter = text.strip_suffix(AFTER_LINKS);
        }
        Err(if PersistentUrl::begins(&self.plain) { Refusal::Malformed } else { Refusal::NotFound })
    }
}

/// `path`, whose escapes are well formed, without those of characters that stand for themselves.
fn plain(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        let escape = &rest[at..(at + 3).min(rest.len())];
        text.push_str(&rest[..at]);
        match decode_path(escape).as_deref() {
            Some([byte])
                if byte.is_ascii_alphanumeric()
                    || b"-._~".contains(byte)
                    || ESCAPED.contains(byte) =>
            {
                text.push(char::from(*byte));
            }
            _ => text.push_str(escape),
        }
        rest = &rest[at + escape.len()..];
    }
    text + rest
}

/// `location` with the pairs of the question that are left to the item [resolution, E22].
pub fn with_question(location: &str, url: &PersistentUrl) -> String {
    let pairs: Vec<&str> = url.selection.question.iter().map(AsRef::as_ref).collect();
    if pairs.is_empty() {
        return location.to_owned();
    }
    let (place, fragment) = location.split_at(location.find('#').unwrap_or(location.len()));
    let separator = if place.contains('?') { '&' } else { '?' };
    format!("{place}{separator}{}{fragment}", pairs.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_read_however_programs_escape_them() {
        let read =
            |target: &str| Target::of(target).unwrap().persistent_url().map(|url| url.to_string());
        let url = "http://urlib.net/sid.inpe.br/mtc-m18@80/2009/07.21.14.43";
        for (target, rest) in [
            ("sid.inpe.br/mtc-m18@80/2009/07.21.14.43", ""),
            ("sid.inpe.br/mtc-m18%4080/2009/07.21.14.43", ""),
            ("sid.inpe.br/mtc%2dm18%4080/2009/07%2E21.14%2e43", ""),
            ("rep/sid%2Einpe.br/mtc-m18@80/%32009/07.21.14.43%21%3a%28oai%5Fdc%29", "!:(oai_dc)"),
            // A file keeps its escapes, which are decoded once.
            ("sid.inpe.br/mtc-m18%4080/2009/07.21.14.43/a%40b%2541%20c", "/a@b%2541%20c"),
            // As they get out of texts.
            ("sid.inpe.br/mtc-m18%4080/2009/07.21.14.43).", ""),
            ("sid.inpe.br/mtc-m18@80/2009/07.21.14.43,", ""),
            ("sid.inpe.br/mtc-m18@80/2009/07.21.14.43.", ""),
            ("sid.inpe.br/mtc-m18@80/2009/07.21.14.43+(pt)).", "+(pt)"),
            ("sid.inpe.br/mtc-m18@80/2009/07.21.14.43:%29", ":"),
        ] {
            assert_eq!(read(&format!("/{target}")), Ok(format!("{url}{rest}")), "{target}");
        }
        assert_eq!(
            read("/8JMKD3MGP8W/35MMLL8)"),
            Ok("http://urlib.net/8JMKD3MGP8W/35MMLL8".into())
        );
        for (target, refusal) in [
            ("/sid.inpe.br/mtc-m18@80/2009/07.21.14.43!!", Refusal::Malformed),
            ("/sid.inpe.br/mtc-m18@80/2009/07.21.14.43:(oai_dc", Refusal::Malformed),
            ("/sid.inpe.br/mtc-m18@80/2009/07.21.14.43.....", Refusal::Malformed),
            ("/sid.inpe.br/mtc-m18%2540/2009/07.21.14.43", Refusal::NotFound),
            ("/a.", Refusal::NotFound),
        ] {
            assert_eq!(read(target), Err(refusal), "{target}");
        }
    }

    #[test]
    fn pairs_that_are_left_to_the_item_go_before_a_fragment() {
        let url = "a.org/b/2026/01.02.03.04?ibiurl.requireditemstatus=Original&a=1&b=%20";
        for (location, expected) in [
            ("http://a.org/b", "http://a.org/b?a=1&b=%20"),
            ("http://a.org/b?c=d", "http://a.org/b?c=d&a=1&b=%20"),
            ("http://a.org/b#c?d", "http://a.org/b?a=1&b=%20#c?d"),
        ] {
            assert_eq!(with_question(location, &url.parse().unwrap()), expected);
        }
        assert_eq!(with_question("x", &"a.org/b/2026/01.02.03.04".parse().unwrap()), "x");
    }
}
