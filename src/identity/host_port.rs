//! The address of a service on the web: a host, and a port where it is not the usual one.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use super::error::ParseError;
use super::serial::as_text;

const KIND: &str = "address";
/// RFC 1123: the most bytes of a host name and of one of its labels.
const LONGEST_NAME: usize = 253;
const LONGEST_LABEL: usize = 63;

/// A host and optionally a port, such as `mtc-m16c.sid.inpe.br:8080`; `hostport` of the resolution standard.
///
/// The host is a name by RFC 1123 in lower case, an IPv4 address, or an IPv6 address in brackets.
///
/// ```
/// # use urepo::identity::HostPort;
/// let address: HostPort = "Archive.Example.org:8080".parse()?;
/// assert_eq!((address.host(), address.port()), ("archive.example.org", Some(8080)));
/// assert_eq!("[::FFFF:192.0.2.1]:80".parse::<HostPort>()?.to_string(), "192.0.2.1:80");
/// # Ok::<(), urepo::identity::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPort {
    host: Box<str>,
    port: Option<u16>,
}

impl HostPort {
    /// The address of a socket. An IPv4 address in the form of IPv6 is written as IPv4.
    pub fn of_socket(address: std::net::SocketAddr) -> HostPort {
        let host = match address.ip().to_canonical() {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        HostPort { host: host.into(), port: Some(address.port()) }
    }

    /// The host: a name, an IPv4 address, or an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port as written.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// The address that the host is, if it is no name.
    pub fn ip(&self) -> Option<IpAddr> {
        self.host.trim_matches(['[', ']']).parse().ok()
    }

    /// Whether both reach one service, where `usual` is the port of an address without one.
    pub fn is_same(&self, other: &HostPort, usual: u16) -> bool {
        self.host == other.host && self.port.unwrap_or(usual) == other.port.unwrap_or(usual)
    }
}

impl FromStr for HostPort {
    type Err = ParseError;

    /// Reads an address in any case. A trailing dot of the host is dropped.
    fn from_str(text: &str) -> Result<HostPort, ParseError> {
        let fault = |expected| ParseError::new(KIND, text, 0..text.len(), expected);
        let end = match text.strip_prefix('[') {
            Some(literal) => literal.find(']').map_or(text.len(), |at| at + 2),
            None => text.find(':').unwrap_or(text.len()),
        };
        let (host, port) = text.split_at(end);
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => None,
            None => return Err(fault("expected `:` and a port after the host")),
            Some(digits) => {
                let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
                let port = digits.parse().ok().filter(|port| is_number && *port > 0);
                Some(port.ok_or_else(|| fault("expected a port from 1 to 65535 after `:`"))?)
            }
        };
        let host = if let Some(literal) = host.strip_prefix('[') {
            let address = literal.strip_suffix(']').and_then(|it| it.parse::<Ipv6Addr>().ok());
            match address.map(|address| address.to_canonical()) {
                Some(IpAddr::V4(address)) => address.to_string(),
                Some(IpAddr::V6(address)) => format!("[{address}]"),
                None => return Err(fault("expected an IPv6 address between `[` and `]`")),
            }
        } else {
            let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
            if !is_name(&host) && host.parse::<std::net::Ipv4Addr>().is_err() {
                return Err(fault("expected a host and optionally a port"));
            }
            host
        };
        Ok(HostPort { host: host.into(), port })
    }
}

/// Whether `text` is a host name of RFC 1123. Digits alone in the last label are those of an IPv4 address.
fn is_name(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=LONGEST_LABEL).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let is_number = |label: &str| label.bytes().all(|byte| byte.is_ascii_digit());
    text.len() <= LONGEST_NAME
        && text.split('.').all(is_label)
        && !text.rsplit('.').next().is_some_and(is_number)
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host)?;
        self.port.iter().try_for_each(|port| write!(f, ":{port}"))
    }
}

as_text!(HostPort, str::parse::<HostPort>);

#[cfg(test)]
mod tests {
    use super::HostPort;

    #[test]
    fn hosts_and_ports_are_read_in_one_spelling() {
        for (text, printed) in [
            ("mtc-m16c.sid.inpe.br", "mtc-m16c.sid.inpe.br"),
            ("Archive.Example.ORG.:80", "archive.example.org:80"),
            ("localhost:8080", "localhost:8080"),
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]:8080", "[::1]:8080"),
            ("[2001:DB8:0:0::1]", "[2001:db8::1]"),
            ("[::ffff:192.0.2.1]", "192.0.2.1"),
        ] {
            assert_eq!(text.parse::<HostPort>().unwrap().to_string(), printed, "{text}");
        }
    }

    #[test]
    fn what_is_no_host_and_port_is_refused() {
        for text in [
            "",
            ":",
            ":::",
            "a:b:c",
            "[]",
            "[::1",
            "[::1]8080",
            "[fe80::1%eth0]",
            "a:0",
            "a:65536",
            "a:+1",
            "a:",
            "-a.org",
            "a-.org",
            "a..org",
            "a b",
            "a/b",
            "a@b",
            "1.2.3",
            "1.2.3.256",
            "ex\u{e4}mple.org",
        ] {
            assert!(text.parse::<HostPort>().is_err(), "{text}");
        }
        assert!("a".repeat(64).parse::<HostPort>().is_err());
    }
}
