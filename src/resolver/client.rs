//! The addresses of readers, as far as others learn about them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use crate::identity::ParseError;

/// The part of a reader's address that archives get [resolution, E13].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientAddress {
    /// The address.
    #[default]
    Full,
    /// Its network: the first 24 bits, or 48 of IPv6.
    Network,
    /// Nothing: `0.0.0.0`.
    None,
}

impl FromStr for ClientAddress {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<ClientAddress, ParseError> {
        match text {
            "full" => Ok(ClientAddress::Full),
            "network" => Ok(ClientAddress::Network),
            "none" => Ok(ClientAddress::None),
            _ => {
                let expected = "expected `full`, `network` or `none`";
                Err(ParseError::new("address of clients", text, 0..text.len(), expected))
            }
        }
    }
}

impl ClientAddress {
    /// The addresses that an archive gets for those of a reader and its proxies.
    pub(super) fn of(self, addresses: Vec<IpAddr>) -> Vec<IpAddr> {
        match self {
            ClientAddress::Full => addresses,
            ClientAddress::Network => addresses.into_iter().map(network).collect(),
            ClientAddress::None => vec![IpAddr::V4(Ipv4Addr::UNSPECIFIED)],
        }
    }
}

/// The first address of the network of `address`: 24 bits of IPv4, 48 of IPv6.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(address) => IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & !0xff)),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 80 << 80)),
    }
}
