//! Which addresses may be asked. The names of archives are chosen by strangers, so a name counts for nothing: each of its
//! addresses is checked, and the connection goes to a checked one.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::str::FromStr;
use std::sync::LazyLock;

use tokio::net::TcpStream;

use crate::identity::HostPort;
use crate::sidecar::Network;
use crate::web::ask::AskError;

/// The port of HTTP.
const HTTP: u16 = 80;

/// Ranges that are not those of single public servers [RFC 6890], and those that lead to other addresses.
const SPECIAL: [&str; 20] = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    // IETF protocols, Teredo among them.
    "2001::/23",
    "2001:db8::/32",
    // IPv4 inside of IPv6.
    "2002::/16",
    "3fff::/20",
    "5f00::/16",
];

static SPECIAL_NETWORKS: LazyLock<Vec<Network>> =
    LazyLock::new(|| SPECIAL.iter().filter_map(|text| text.parse().ok()).collect());

/// A name service: the addresses of a host, with the port of the question.
pub type NameService = fn(&str, u16) -> io::Result<Vec<SocketAddr>>;

/// The addresses of hosts: fixed ones, and those of a name service.
#[derive(Clone, Debug)]
pub struct Addresses {
    fixed: HashMap<String, Vec<Fixed>>,
    names: NameService,
}

impl Default for Addresses {
    /// Those of the system.
    fn default() -> Addresses {
        let names = |host: &str, port| Ok((host, port).to_socket_addrs()?.collect());
        Addresses { fixed: HashMap::new(), names }
    }
}

/// An address, with a port if the host does not listen on the one that is announced.
#[derive(Clone, Copy, Debug)]
struct Fixed {
    ip: IpAddr,
    port: Option<u16>,
}

/// A line of a file of hosts that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line}: expected an address and the names of hosts, as in `192.0.2.7 archive.example.org`"
)]
pub struct HostsError {
    /// The line, from 1.
    pub line: usize,
}

impl FromStr for Addresses {
    type Err = HostsError;

    /// Reads lines of an address, optionally with a port, and names: `192.0.2.7:8080 archive.example.org`. `#` begins a
    /// comment.
    fn from_str(text: &str) -> Result<Addresses, HostsError> {
        let mut addresses = Addresses::default();
        for (at, line) in text.lines().enumerate() {
            let fault = || HostsError { line: at + 1 };
            let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
            let Some(address) = words.next() else { continue };
            let fixed = match (address.parse::<IpAddr>(), address.parse::<SocketAddr>()) {
                (Ok(ip), _) => Fixed { ip, port: None },
                (_, Ok(socket)) => Fixed { ip: socket.ip(), port: Some(socket.port()) },
                _ => return Err(fault()),
            };
            let names: Vec<&str> = words.collect();
            if names.is_empty() {
                return Err(fault());
            }
            for name in names {
                let host: HostPort = name.parse().map_err(|_| fault())?;
                addresses.fixed.entry(host.host().to_owned()).or_default().push(fixed);
            }
        }
        Ok(addresses)
    }
}

impl Addresses {
    /// The same, with another name service.
    #[must_use]
    pub fn with_names(self, names: NameService) -> Addresses {
        Addresses { names, ..self }
    }

    /// Connects to `host` at an address that may be asked. Fixed ones are those of the administrator of the resolver, and are
    /// not checked.
    pub(super) async fn connect(
        &self,
        host: &HostPort,
        allows_private: bool,
    ) -> Result<TcpStream, AskError> {
        let port = host.port().unwrap_or(HTTP);
        let refused = |error| AskError::Connect(host.clone(), error);
        let sockets: Vec<SocketAddr> = if let Some(fixed) = self.fixed.get(host.host()) {
            fixed.iter().map(|it| SocketAddr::new(it.ip, it.port.unwrap_or(port))).collect()
        } else {
            let found = if let Some(ip) = host.ip() {
                vec![SocketAddr::new(ip, port)]
            } else {
                let (names, name) = (self.names, host.host().to_owned());
                let found = tokio::task::spawn_blocking(move || names(&name, port)).await;
                found.map_err(io::Error::other).and_then(|found| found).map_err(refused)?
            };
            let private = found.iter().find(|socket| !is_public(socket.ip()));
            if let Some(socket) = private.filter(|_| !allows_private) {
                return Err(AskError::Private(host.clone(), socket.ip()));
            }
            found
        };
        // Of several addresses, the first that takes the connection.
        TcpStream::connect(sockets.as_slice()).await.map_err(refused)
    }
}

/// Whether `address` is one of a server that anybody can reach.
pub fn is_public(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let is_global = match address {
        IpAddr::V4(_) => true,
        // Only this eighth of the space is given to single servers; NAT64 and private ranges are outside of it.
        IpAddr::V6(address) => address.segments()[0] >> 13 == 0b001,
    };
    is_global && !SPECIAL_NETWORKS.iter().any(|network| network.contains(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_public_servers_are_public() {
        assert_eq!(SPECIAL_NETWORKS.len(), SPECIAL.len());
        for text in
            ["150.163.34.243", "8.8.8.8", "2001:4860:4860::8888", "2a00:1450::1", "::ffff:8.8.8.8"]
        {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "192.0.0.8",
            "192.0.2.1",
            "198.18.0.1",
            "203.0.113.9",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "2002:7f00:1::1",
            "100::1",
            "3fff::1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn a_file_of_hosts_gives_fixed_addresses() {
        let text =
            "# ours\n192.0.2.7 a.example.org B.example.org # both\n\n[::1]:8080 c.example.org\n";
        let addresses: Addresses = text.parse().unwrap();
        let of = |name: &str| addresses.fixed[name][0];
        assert_eq!(
            (of("b.example.org").ip.to_string(), of("b.example.org").port),
            ("192.0.2.7".to_owned(), None)
        );
        assert_eq!(of("c.example.org").port, Some(8080));
        for (text, line) in [("x y", 1), ("\n192.0.2.7", 2), ("192.0.2.7 a/b", 1), ("::1:x a", 1)] {
            assert_eq!(text.parse::<Addresses>().unwrap_err(), HostsError { line }, "{text}");
        }
    }
}
