//! From the target of a request to a part of the archive: the only place that reads a path.
//!
//! A path is split at `/` first, and each segment is decoded once. `+` is a plus sign.

use crate::identity::{Identifier, PersistentUrl, RepositoryName, decode_path};
use crate::layout;

/// A part of an archive.
#[derive(Clone, Debug, PartialEq)]
pub enum Route {
    /// The page about it.
    About,
    /// The style of its pages.
    Style,
    /// The rules for robots.
    Robots,
    /// The archive service, with the query [resolution, Algorithm 1].
    Service(String),
    /// A persistent URL.
    Item(Box<PersistentUrl>),
    /// A file of the payload, or the list of a directory in it; the whole payload if the path is empty.
    Content {
        /// The item.
        name: RepositoryName,
        /// The path below `doc/`: exact bytes.
        path: Vec<u8>,
    },
}

/// Why a target leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Nothing has this path.
    NotFound,
    /// It names an item, but does not go on as a persistent URL does.
    Malformed,
}

/// Escapes that mail programs write in modifiers, and the characters.
const IN_MODIFIERS: [(&str, &str); 6] =
    [("%21", "!"), ("%28", "("), ("%29", ")"), ("%2A", "*"), ("%2B", "+"), ("%3A", ":")];

/// The part of an archive that `target`, the path and query of a request, leads to. `service` is the identifier of
/// the archive's service in all its forms.
pub fn route(target: &str, service: &[Identifier]) -> Result<Route, Refusal> {
    let (path, query) =
        target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let path = path.strip_prefix('/').ok_or(Refusal::NotFound)?;
    match path {
        "" => return Ok(Route::About),
        "style.css" => return Ok(Route::Style),
        "robots.txt" => return Ok(Route::Robots),
        _ => {}
    }
    let segments = path.split('/').map(decode_path).collect::<Option<Vec<_>>>();
    let segments = segments.ok_or(Refusal::NotFound)?;
    let (last, others) = segments.split_last().ok_or(Refusal::NotFound)?;
    let is_refused = |segment: &[u8]| {
        [b".".as_slice(), b".."].contains(&segment)
            || segment.iter().any(|byte| b"/\0".contains(byte))
    };
    if others.iter().any(|segment| segment.is_empty() || is_refused(segment)) || is_refused(last) {
        return Err(Refusal::NotFound);
    }
    if let Some(query) = query
        && query.split('&').any(|pair| pair.starts_with("servicesubject="))
        && path.parse::<Identifier>().is_ok_and(|identifier| service.contains(&identifier))
    {
        return Ok(Route::Service(query.to_owned()));
    }
    if segments[0] == b"col" {
        return content(&segments[1..]).ok_or(Refusal::NotFound);
    }
    item(path, query)
}

/// `<rep>`, `<rep>/`, `<rep>/doc/…`.
fn content(segments: &[Vec<u8>]) -> Option<Route> {
    let (name, rest) = segments.split_at_checked(4)?;
    let name = String::from_utf8(name.join(&b'/')).ok()?.parse().ok()?;
    let path = match rest {
        [] => Vec::new(),
        [end] if end.is_empty() => Vec::new(),
        [payload, path @ ..] if payload == layout::PAYLOAD.as_bytes() => path.join(&b'/'),
        _ => return None,
    };
    Some(Route::Content { name, path })
}

fn item(path: &str, query: Option<&str>) -> Result<Route, Refusal> {
    let mut text = path.to_owned();
    for (escape, character) in IN_MODIFIERS {
        text = text.replace(escape, character).replace(&escape.to_ascii_lowercase(), character);
    }
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    match format!("http://archive/{text}{query}").parse::<PersistentUrl>() {
        Ok(url) => Ok(Route::Item(Box::new(url))),
        Err(_) if PersistentUrl::begins(&text) => Err(Refusal::Malformed),
        Err(_) => Err(Refusal::NotFound),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "example.org/archive/2026/11.21.02.13";

    fn routed(target: &str) -> String {
        let service = ["example.org/archive/2026/11.21.00.00".parse().unwrap()];
        match route(target, &service) {
            Ok(Route::Item(url)) => format!("item {url}"),
            Ok(Route::Content { name, path }) => format!("{name} {}", path.escape_ascii()),
            Ok(route) => format!("{route:?}"),
            Err(refusal) => format!("{refusal:?}"),
        }
    }

    #[test]
    fn targets_lead_to_the_parts_of_an_archive() {
        let url = |rest: &str| format!("item http://urlib.net/{NAME}{rest}");
        let service = "/example.org/Archive/2026/11.21.00.00?servicesubject=urlRequest&a=b";
        for (target, expected) in [
            ("/", "About".to_owned()),
            ("/?a", "About".to_owned()),
            ("/style.css", "Style".to_owned()),
            (service, "Service(\"servicesubject=urlRequest&a=b\")".to_owned()),
            (&format!("/{NAME}?servicesubject=urlRequest"), url("?servicesubject=urlRequest")),
            (&format!("/{NAME}"), url("")),
            (&format!("/rep/{NAME}"), url("")),
            (&format!("/{NAME}%21%2b%28pt%29%3A"), url("!+(pt):")),
            (&format!("/{NAME}/a%2Bb/c.txt?x=1"), url("/a+b/c.txt?x=1")),
            (&format!("/{NAME}?ibiurl.verblist=GetFileList"), url("?ibiurl.verblist=GetFileList")),
            (&format!("/col/{NAME}/doc/a%20b/%f3+.pdf"), format!("{NAME} a b/\\xf3+.pdf")),
            (&format!("/col/{NAME}/doc/a/?x"), format!("{NAME} a/")),
            (&format!("/col/{NAME}/doc/"), format!("{NAME} ")),
            (&format!("/col/{NAME}/"), format!("{NAME} ")),
            (&format!("/col/{NAME}"), format!("{NAME} ")),
        ] {
            assert_eq!(routed(target), expected, "{target}");
        }
    }

    #[test]
    fn what_leads_out_or_nowhere_is_refused() {
        for rest in [
            "doc/../item.toml",
            "doc/%2e%2e/item.toml",
            "doc/.%2E/x",
            "doc/./a",
            "doc//a",
            "item.toml",
            "doc%2Fa",
            "doc/a%2fb",
            "doc/a%00",
            "doc/%zz",
            "doc/%",
            "docs/a",
            "/doc/a",
        ] {
            assert_eq!(routed(&format!("/col/{NAME}/{rest}")), "NotFound", "{rest}");
        }
        for target in [
            "",
            "*",
            "x",
            "//",
            "/col",
            "/col/",
            "/col/a/b/c/d/doc/e",
            "/favicon.ico",
            "/.git/config",
            "/col/../x",
        ] {
            assert_eq!(routed(target), "NotFound", "{target}");
        }
        // Decoded once: this is the name of a file.
        assert_eq!(routed(&format!("/col/{NAME}/doc/%252e%252e")), format!("{NAME} %2e%2e"));
        for rest in ["!!", "::", "+(portuguese)", "?a", "x"] {
            assert_eq!(
                routed(&format!("/{NAME}{rest}")),
                if rest == "x" { "NotFound" } else { "Malformed" },
                "{rest}"
            );
        }
    }
}
