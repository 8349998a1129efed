//! The head of a request: whom it is for, whose it is, and whether it is whole.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Once;

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

/// The client of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// Its address is known.
    At(IpAddr),
    /// A trusted proxy did not name it: no address that has a right may stand for it, least of all that of the proxy.
    Unknown,
}

impl Client {
    /// Its address, if that is known.
    pub fn address(self) -> Option<IpAddr> {
        match self {
            Client::At(address) => Some(address),
            Client::Unknown => None,
        }
    }
}

/// The client: the peer, or the address that trusted proxies name.
pub fn client(headers: &HeaderMap, peer: IpAddr, limits: &Limits) -> Client {
    way(headers, peer, limits).0
}

/// The client, then the trusted proxies in between, the nearest last; `0.0.0.0` for a client that is unknown
/// [resolution, E13].
pub fn addresses(headers: &HeaderMap, peer: IpAddr, limits: &Limits) -> Vec<IpAddr> {
    let (client, mut proxies) = way(headers, peer, limits);
    proxies.push(client.address().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)));
    proxies.reverse();
    if proxies.len() > 1 && proxies.last().is_some_and(IpAddr::is_loopback) {
        // The server in front on this machine is no proxy of the client.
        proxies.pop();
    }
    proxies
}

/// The client, and the trusted proxies in between, the nearest first. Entries beyond the first one that is no proxy of ours are
/// anybody's word. They are read as bytes: a byte that somebody put into the field does not hide what our proxy appended.
fn way(headers: &HeaderMap, peer: IpAddr, limits: &Limits) -> (Client, Vec<IpAddr>) {
    let values = headers.get_all(FORWARDED_FOR).iter().rev();
    let mut entries = values.flat_map(|value| value.as_bytes().rsplit(|byte| *byte == b','));
    let (mut client, mut proxies) = (peer.to_canonical(), Vec::new());
    while limits.trusts(client) {
        match entries.next().map(|entry| (entry, forwarded(entry))) {
            Some((_, Some(address))) => {
                proxies.push(client);
                client = address;
            }
            // The list ends with a proxy that is a client itself.
            None if !proxies.is_empty() => break,
            unread => {
                proxies.push(client);
                warn_once(client, unread.map(|(entry, _)| entry));
                return (Client::Unknown, proxies);
            }
        }
    }
    (Client::At(client), proxies)
}

/// The address in an entry of the field: alone, or with a port, as IIS and the gateways of Azure write it; that of IPv6 also in
/// brackets.
fn forwarded(entry: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(entry).ok()?.trim();
    let with_port = || text.parse().ok().map(|address: SocketAddr| address.ip());
    let bracketed = || {
        let address: Ipv6Addr = text.strip_prefix('[')?.strip_suffix(']')?.parse().ok()?;
        Some(address.into())
    };
    let address: Option<IpAddr> = text.parse().ok().or_else(with_port).or_else(bracketed);
    address.map(|address| address.to_canonical())
}

/// Says once that a trusted proxy hides its clients: they lose rights, and the administrator should learn why.
fn warn_once(proxy: IpAddr, entry: Option<&[u8]>) {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| {
        let entry = entry.map(|entry| entry.escape_ascii().to_string());
        tracing::warn!(%proxy, ?entry, "a trusted proxy does not name its client in X-Forwarded-For: such a client has no rights by its address");
    });
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

    fn found(forwarded: &[&[u8]], peer: &str) -> (Client, String) {
        let limits = Limits {
            trusted: vec!["127.0.0.1".parse().unwrap(), "10.0.0.0/8".parse().unwrap()],
            ..Limits::default()
        };
        let parts = head(|mut it| {
            for value in forwarded {
                it = it.header("x-forwarded-for", HeaderValue::from_bytes(value).unwrap());
            }
            it
        });
        let peer = peer.parse().unwrap();
        let all = addresses(&parts.headers, peer, &limits);
        let all: Vec<_> = all.iter().map(ToString::to_string).collect();
        (client(&parts.headers, peer, &limits), all.join(" "))
    }

    #[test]
    fn only_trusted_proxies_name_their_clients() {
        for (forwarded, peer, expected) in [
            (vec!["198.51.100.9"], "203.0.113.1", "203.0.113.1"),
            (vec![], "203.0.113.1", "203.0.113.1"),
            (vec!["198.51.100.9"], "127.0.0.1", "198.51.100.9"),
            (
                vec!["192.0.2.1, 198.51.100.9, 10.1.1.1"],
                "::ffff:127.0.0.1",
                "198.51.100.9 10.1.1.1",
            ),
            (vec!["192.0.2.1", "198.51.100.9"], "127.0.0.1", "198.51.100.9"),
            (vec!["unknown, 198.51.100.9"], "127.0.0.1", "198.51.100.9"),
            // With a port, as IIS writes it, and with brackets.
            (vec!["198.51.100.9:4711"], "127.0.0.1", "198.51.100.9"),
            (vec!["[2001:db8::9]:4711"], "127.0.0.1", "2001:db8::9"),
            (vec!["[2001:db8::9]"], "127.0.0.1", "2001:db8::9"),
            (vec!["::ffff:198.51.100.9"], "127.0.0.1", "198.51.100.9"),
            // A proxy that asks for itself.
            (vec!["10.0.0.1"], "127.0.0.1", "10.0.0.1"),
        ] {
            let forwarded: Vec<_> = forwarded.iter().map(|it| it.as_bytes()).collect();
            let (client, all) = found(&forwarded, peer);
            assert_eq!(all, expected, "{forwarded:?}");
            let first = expected.split(' ').next().unwrap().parse().unwrap();
            assert_eq!(client, Client::At(first), "{forwarded:?}");
        }
        let (client, _) = found(&[b"\xff, 198.51.100.9"], "127.0.0.1");
        assert_eq!(client, Client::At("198.51.100.9".parse().unwrap()), "what it appended counts");
    }

    /// Else its own address, the most privileged one at hand, would stand for anybody.
    #[test]
    fn a_client_that_a_trusted_proxy_does_not_name_is_unknown() {
        assert_eq!(found(&[], "127.0.0.1"), (Client::Unknown, "0.0.0.0".to_owned()));
        for fields in [
            b"".as_slice(),
            b"198.51.100.9,",
            b"unknown",
            b"unix:",
            b"_hidden",
            b"\xff",
            b"198.51.100.9|\xff",
            b"192.0.2.1, unknown",
            b"192.0.2.1, unknown, 10.1.1.1",
            b"198.51.100.999",
            b"198.51.100.9:port",
            b"[198.51.100.9]",
            b"for=198.51.100.9",
        ] {
            let forwarded: Vec<_> = fields.split(|byte| *byte == b'|').collect();
            let (client, all) = found(&forwarded, "127.0.0.1");
            assert_eq!(client, Client::Unknown, "{forwarded:?}");
            assert!(all == "0.0.0.0" || all == "0.0.0.0 10.1.1.1", "{forwarded:?}: {all}");
        }
    }
}
