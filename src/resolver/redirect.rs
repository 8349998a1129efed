//! The URL that a reader is sent to, and the acknowledgment that the archive gets [resolution, 8.4 and 8.5].

use std::net::IpAddr;

use super::analysis::Found;
use crate::identity::{HostPort, encode_value};
use crate::resolve::ADDRESS;

/// Whether `url` is one of the server at `address`: of the schemes of the web, without a user, at the announced port or the
/// usual one.
pub(super) fn leads_to(url: &str, address: &HostPort) -> bool {
    let (rest, usual) = match (url.strip_prefix("http://"), url.strip_prefix("https://")) {
        (Some(rest), _) => (rest, 80),
        (_, Some(rest)) => (rest, 443),
        _ => return false,
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let Ok(host) = rest[..end].parse::<HostPort>() else { return false };
    let port = host.port().unwrap_or(usual);
    host.host() == address.host() && (port == usual || port == address.port().unwrap_or(80))
}

/// The query string of the acknowledgment of `found` [resolution, Table 8.11], whose pairs are in the order of their names;
/// `None` if the answer had not all that it needs.
pub(super) fn acknowledgment(
    found: &Found,
    addresses: &[IpAddr],
    persistent: &str,
) -> Option<String> {
    let addresses: Vec<_> = addresses.iter().map(ToString::to_string).collect();
    let pairs = [
        (ADDRESS, Some(encode_value(addresses.join(" ").as_bytes()))),
        ("contenttype", Some(encode_value(found.content.as_ref()?.as_bytes()))),
        ("ibi", found.ibi.as_ref().map(|ibi| encode_value(ibi.as_bytes()))),
        ("servicesubject", Some("acknowledgment".to_owned())),
        ("state", Some(encode_value(found.state.as_ref()?.as_bytes()))),
        ("url", Some(encode_url(&found.url))),
        ("url.persistent", Some(encode_url(persistent))),
        ("urlkey", Some(encode_value(found.key.as_ref()?.as_bytes()))),
    ];
    let pairs = pairs.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?)));
    Some(pairs.collect::<Vec<_>>().join("&"))
}

/// A URL as a value. Its own escapes stay as they are [resolution, E02].
fn encode_url(url: &str) -> String {
    let mut parts = url.split('%');
    let mut encoded = encode_value(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        let is_escape = part.len() >= 2 && part.bytes().take(2).all(|it| it.is_ascii_hexdigit());
        encoded += if is_escape { "%" } else { "%25" };
        encoded += &encode_value(part.as_bytes());
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_is_sent_to_the_announced_host_only() {
        let address: HostPort = "a.example.org:8080".parse().unwrap();
        for url in [
            "http://a.example.org:8080/col/x",
            "http://a.example.org/",
            "https://a.example.org",
            "https://A.example.org:443?x",
            "http://a.example.org#x@evil.org",
        ] {
            assert!(leads_to(url, &address), "{url}");
        }
        for url in [
            "",
            "//a.example.org/",
            "/col/x",
            "ftp://a.example.org/",
            "javascript:alert(1)",
            "http://evil.org/",
            "http://a.example.org:81/",
            "https://a.example.org:80/",
            "http://a.example.org@evil.org/",
            "http://user@a.example.org/",
            "http://a.example.org\\@evil.org/",
            "http://a.example.org:8080.evil.org/",
            "http://a.example.org.evil.org/",
            "http:///a.example.org/",
            "HTTP://evil.org/",
        ] {
            assert!(!leads_to(url, &address), "{url}");
        }
    }

    #[test]
    fn the_escapes_of_a_url_are_not_encoded_again() {
        for (url, expected) in [
            ("http://a/CCSDS%20650.0-B-1.pdf", "http://a/CCSDS%20650.0-B-1.pdf"),
            ("http://a/m.cgi?choice=oai_dc", "http://a/m.cgi%3Fchoice%3Doai_dc"),
            ("http://a/%f3%", "http://a/%f3%25"),
            ("http://a/100%x&b+c", "http://a/100%25x%26b%2Bc"),
        ] {
            assert_eq!(encode_url(url), expected);
        }
    }
}
