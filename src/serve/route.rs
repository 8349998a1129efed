//! From the target of a request to a part of the archive: nothing else here looks at a path.

use crate::identity::{Identifier, PersistentUrl, RepositoryName};
use crate::layout;
use crate::web::target::{Refusal, Target};

/// A part of an archive.
#[derive(Clone, Debug, PartialEq)]
pub enum Route {
    /// The page about it.
    About,
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

/// The part of an archive that `target`, the path and query of a request, leads to. `service` is the identifier of
/// the archive's service in all its forms.
pub fn route(target: &str, service: &[Identifier]) -> Result<Route, Refusal> {
    let target = Target::of(target).ok_or(Refusal::NotFound)?;
    if target.path.is_empty() {
        return Ok(Route::About);
    }
    if let Some(query) = target.service_query(service) {
        return Ok(Route::Service(query.to_owned()));
    }
    if target.segments[0] == b"col" {
        return content(&target.segments[1..]).ok_or(Refusal::NotFound);
    }
    target.persistent_url().map(|url| Route::Item(Box::new(url)))
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
