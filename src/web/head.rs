//! The head of a request: whom it is for, whose it is, and whether it is whole.

use std::net::IpAddr;

use hyper::header::{CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING};
use hyper::http::request::Parts;
use hyper::{Method, Version};

use super::listen::Limits;
use crate::identity::HostPort;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Why a head is refused, whatever it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadFault {
    /// The host is missing, given twice, not one, or differs from that of the target.
    Host,
    /// There is a body where none belongs, or its length is in doubt.
    Framing,
}

/// The host that a request is for.
pub fn host(head: &Parts) -> Result<HostPort, HeadFault> {
    let named = one(&head.headers, &HOST)?.map(|host| host.to_str().unwrap_or_default());
    let authority = head.uri.authority().map(hyper::http::uri::Authority::as_str);
    let host = match (named, authority) {
        (Some(host), None) => host,
        // HTTP/1.0 has no field for the host.
        (None, Some(authority)) if head.version == Version::HTTP_10 => authority,
        (Some(host), Some(authority)) if host.eq_ignore_ascii_case(authority) => host,
        _ => return Err(HeadFault::Host),
    };
    host.parse().map_err(|_| HeadFault::Host)
}

/// Makes sure that a request without a body has none, and that no server in front can read its length in another way.
pub fn check_framing(head: &Parts) -> Result<(), HeadFault> {
    let length = one(&head.headers, &CONTENT_LENGTH).map_err(|_| HeadFault::Framing)?;
    let has_body = length.is_some_and(|length| length != "0");
    let is_chunked = head.headers.contains_key(TRANSFER_ENCODING);
    if is_chunked || (has_body && head.method != Method::POST) {
        return Err(HeadFault::Framing);
    }
    Ok(())
}

/// The value of a field that a head has at most once.
fn one<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a HeaderValue>, HeadFault> {
    let mut values = headers.get_all(name).iter();
    let value = values.next();
    if values.next().is_some() { Err(HeadFault::Host) } else { Ok(value) }
}

/// The client: the peer, or the address that trusted proxies name.
pub fn client(headers: &HeaderMap, peer: IpAddr, limits: &Limits) -> IpAddr {
    addresses(headers, peer, limits).first().copied().unwrap_or(peer)
}

/// The client, then the trusted proxies in between, the nearest last. Addresses beyond the first one that is no proxy of ours are
/// anybody's word.
pub fn addresses(headers: &HeaderMap, peer: IpAddr, limits: &Limits) -> Vec<IpAddr> {
    let values = headers.get_all(FORWARDED_FOR).iter();
    let entries: Vec<&str> =
        values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).collect();
    let mut entries = entries.iter().rev();
    let mut addresses = vec![peer.to_canonical()];
    while limits.trusts(addresses[addresses.len() - 1])
        && let Some(Ok(address)) = entries.next().map(|entry| entry.trim().parse::<IpAddr>())
    {
        addresses.push(address.to_canonical());
    }
    addresses.reverse();
    if addresses.len() > 1 && addresses.last().is_some_and(IpAddr::is_loopback) {
        // The server in front on this machine is no proxy of the client.
        addresses.pop();
    }
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    fn head(
        build: impl FnOnce(hyper::http::request::Builder) -> hyper::http::request::Builder,
    ) -> Parts {
        build(Request::builder()).body(()).unwrap().into_parts().0
    }

    #[test]
    fn one_host_is_named_once() {
        let host = |parts: &Parts| host(parts).map(|host| host.to_string());
        assert_eq!(
            host(&head(|it| it.header("host", "A.example.org.:80"))),
            Ok("a.example.org:80".to_owned())
        );
        for refused in [
            head(|it| it),
            head(|it| it.header("host", "a").header("host", "a")),
            head(|it| it.header("host", "a b")),
            head(|it| it.header("host", "")),
            head(|it| it.uri("http://b/").header("host", "a")),
            head(|it| it.uri("http://b/")),
        ] {
            assert_eq!(host(&refused), Err(HeadFault::Host), "{refused:?}");
        }
        assert_eq!(host(&head(|it| it.uri("http://a/").header("host", "a"))), Ok("a".to_owned()));
    }

    #[test]
    fn bodies_are_refused_where_none_belongs() {
        assert_eq!(check_framing(&head(|it| it.header("content-length", "0"))), Ok(()));
        assert_eq!(
            check_framing(&head(|it| it.method("POST").header("content-length", "5"))),
            Ok(())
        );
        for refused in [
            head(|it| it.header("content-length", "5")),
            head(|it| it.header("transfer-encoding", "chunked")),
            head(|it| it.method("POST").header("transfer-encoding", "chunked")),
            head(|it| {
                it.method("POST").header("content-length", "5").header("content-length", "5")
            }),
        ] {
            assert_eq!(check_framing(&refused), Err(HeadFault::Framing), "{refused:?}");
        }
    }

    #[test]
    fn only_trusted_proxies_name_their_clients() {
        let limits = Limits {
            trusted: vec!["127.0.0.1".parse().unwrap(), "10.0.0.0/8".parse().unwrap()],
            ..Limits::default()
        };
        let addresses = |forwarded: &[&str], peer: &str| {
            let parts = head(|mut it| {
                for value in forwarded {
                    it = it.header("x-forwarded-for", *value);
                }
                it
            });
            let found = addresses(&parts.headers, peer.parse().unwrap(), &limits);
            found.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        for (forwarded, peer, expected) in [
            (vec!["198.51.100.9"], "203.0.113.1", "203.0.113.1"),
            (vec!["198.51.100.9"], "127.0.0.1", "198.51.100.9"),
            (
                vec!["192.0.2.1, 198.51.100.9, 10.1.1.1"],
                "::ffff:127.0.0.1",
                "198.51.100.9 10.1.1.1",
            ),
            (vec!["192.0.2.1", "198.51.100.9"], "127.0.0.1", "198.51.100.9"),
            (vec!["192.0.2.1, unknown"], "127.0.0.1", "127.0.0.1"),
            (vec!["10.0.0.1"], "127.0.0.1", "10.0.0.1"),
            (vec![], "127.0.0.1", "127.0.0.1"),
        ] {
            assert_eq!(addresses(&forwarded, peer), expected);
        }
    }
}
