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
    /// The query, without `?`.
    pub query: Option<&'a str>,
}

/// Escapes that mail programs write in modifiers, and the characters.
const IN_MODIFIERS: [(&str, &str); 6] =
    [("%21", "!"), ("%28", "("), ("%29", ")"), ("%2A", "*"), ("%2B", "+"), ("%3A", ":")];

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
        Some(Target { path, segments, query })
    }

    /// The query, if this is a request to the service with these identifiers.
    pub fn service_query(&self, service: &[Identifier]) -> Option<&'a str> {
        self.query.filter(|query| {
            query.split('&').any(|pair| pair.starts_with("servicesubject="))
                && self.path.parse::<Identifier>().is_ok_and(|it| service.contains(&it))
        })
    }

    /// The persistent URL.
    pub fn persistent_url(&self) -> Result<PersistentUrl, Refusal> {
        let mut text = self.path.to_owned();
        for (escape, character) in IN_MODIFIERS {
            text = text.replace(escape, character).replace(&escape.to_ascii_lowercase(), character);
        }
        let query = self.query.map(|query| format!("?{query}")).unwrap_or_default();
        format!("http://host/{text}{query}").parse().map_err(|_| {
            if PersistentUrl::begins(&text) { Refusal::Malformed } else { Refusal::NotFound }
        })
    }
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
    use super::with_question;

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
