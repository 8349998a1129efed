//! The prefix of an `IBIp`: an address and a port.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use super::error::{Fault, ParseError};
use super::grammar;
use super::numeral::{self, DECIMAL, IBIP, IPV4, IPV6};
use super::serial::{as_text, caseless, displays};

const KIND: &str = "IBIp prefix";
/// The port that is not written.
pub(super) const UNWRITTEN_PORT: u16 = 800;

/// The prefix of an [`Ibip`](super::Ibip), such as `8JMKD3MGP8W`; compared without regard to case.
///
/// The text of the address, read as a number in base 11 (IPv4) or 17 (IPv6), is written in base
/// 27; then comes `W` or `X`, and the port in base 27 unless it is 800 [Alg. 5].
///
/// Erratum: the number loses the first digit of an address that begins with `0` (`0.0.0.0/8`, and
/// IPv6 with one lone zero group in front, `0:2:…`). Here a leading `0` is written as a leading
/// `2`, the digit zero. No other prefix begins with that digit, so nothing else changes.
///
/// Any word of the alphabet is a prefix that can be kept and compared, though only a prefix made of an
/// address can be decoded.
#[derive(Clone)]
pub struct IbipPrefix(Box<str>);

impl IbipPrefix {
    /// The prefix of the subsystem at an address and port. Port 0 is refused.
    pub fn new(address: IpAddr, port: u16) -> Result<IbipPrefix, ParseError> {
        if port == 0 {
            let text = SocketAddr::new(address, port).to_string();
            let span = text.len() - 1..text.len();
            let expected = "port 0 does not exist; ports are 1 to 65535";
            return Err(ParseError::new("address and port", &text, span, expected));
        }
        let (text, digits, separator) = match address {
            IpAddr::V4(address) => (address.to_string(), &IPV4, 'W'),
            IpAddr::V6(address) => (ipv6_text(address), &IPV6, 'X'),
        };
        let mut prefix = numeral::rewrite(&text, digits, &IBIP)
            .expect("because an address is a short numeral of its base");
        prefix.push(separator);
        if port != UNWRITTEN_PORT {
            let port = numeral::rewrite(&port.to_string(), &DECIMAL, &IBIP);
            prefix += &port.expect("because a port is a short decimal number");
        }
        Ok(IbipPrefix(prefix.into()))
    }

    /// A prefix whose characters were checked before.
    pub(super) fn of(word: &str) -> IbipPrefix {
        IbipPrefix(word.into())
    }

    /// The prefix as given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address and port this was made of, if it was.
    pub fn endpoint(&self) -> Result<SocketAddr, ParseError> {
        endpoint(&self.0).map_err(|fault| fault.within(KIND, &self.0))
    }
}

/// Decodes a prefix.
fn endpoint(prefix: &str) -> Result<SocketAddr, Fault> {
    let Some(at) = prefix.bytes().skip(1).position(is_separator).map(|at| at + 1) else {
        let expected = "expected `W` or `X` between the address and the port";
        return Err(Fault::new(prefix.len()..prefix.len(), expected));
    };
    let (number, port) = (&prefix[..at], &prefix[at + 1..]);
    let address = if prefix.as_bytes()[at].eq_ignore_ascii_case(&b'W') {
        numeral::rewrite(number, &IBIP, &IPV4)
            .and_then(|text| text.parse().ok())
            .map(IpAddr::V4)
            .ok_or("not the number of an IPv4 address")
    } else {
        // An address has one text only; others that can be read as an address are not its number.
        numeral::rewrite(number, &IBIP, &IPV6)
            .and_then(|text| Some((text.parse().ok()?, text)))
            .filter(|(address, text)| ipv6_text(*address) == *text)
            .map(|(address, _)| IpAddr::V6(address))
            .ok_or("not the number of an IPv6 address")
    };
    let address = address.map_err(|expected| Fault::new(0..at, expected))?;
    match port {
        "" => Some(UNWRITTEN_PORT),
        _ => numeral::rewrite(port, &IBIP, &DECIMAL)
            .filter(|digits| !digits.starts_with('0'))
            .and_then(|digits| digits.parse().ok()),
    }
    .map(|port| SocketAddr::new(address, port))
    .ok_or_else(|| Fault::new(at + 1..prefix.len(), "not the number of a port, 1 to 65535"))
}

/// Whether a byte separates the parts of an `IBIp`: `W` or `X`, in either case.
pub(super) fn is_separator(byte: u8) -> bool {
    matches!(byte, b'W' | b'X' | b'w' | b'x')
}

/// The text of RFC 5952, always in hexadecimal: `std` writes some addresses with a dotted quad.
fn ipv6_text(address: Ipv6Addr) -> String {
    let groups = address.segments();
    let text = |groups: &[u16]| {
        groups.iter().map(|group| format!("{group:x}")).collect::<Vec<_>>().join(":")
    };
    match longest_zeros(&groups) {
        Some((start, length)) => {
            format!("{}::{}", text(&groups[..start]), text(&groups[start + length..]))
        }
        None => text(&groups),
    }
}

/// The first of the longest runs of zero groups, if it has two groups or more: start and length.
fn longest_zeros(groups: &[u16; 8]) -> Option<(usize, usize)> {
    let run = |start: usize| groups[start..].iter().take_while(|&&group| group == 0).count();
    (0..groups.len())
        .map(|start| (start, run(start)))
        .filter(|&(_, length)| length >= 2)
        // The last of equals wins in `max_by_key`, hence from the back.
        .rev()
        .max_by_key(|&(_, length)| length)
}

impl FromStr for IbipPrefix {
    type Err = ParseError;

    /// Reads any word of the alphabet.
    fn from_str(text: &str) -> Result<IbipPrefix, ParseError> {
        grammar::ibip_word(text, 0, text.len()).map_err(|fault| fault.within(KIND, text))?;
        Ok(IbipPrefix::of(text))
    }
}

displays!(IbipPrefix, 0);
as_text!(IbipPrefix, str::parse::<IbipPrefix>);
caseless!(IbipPrefix, 0);
