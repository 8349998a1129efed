//! Who may read an item through a service: `[access]`.
//!
//! On the disk the permission bits decide. A service decides by this table, which travels with Copies.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::Deserialize;
use toml::{Table, Value};

/// Who may read an item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// What everybody may read.
    pub level: AccessLevel,
    /// The addresses that may read everything.
    pub allow: Vec<Network>,
}

/// The part of an item that may be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessLevel {
    /// Nothing.
    Closed,
    /// The description, and not the files.
    Metadata,
    /// Everything.
    #[default]
    Open,
}

/// A range of IP addresses: those with the same first bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    /// The number of these bits.
    length: u8,
}

/// The conditions of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// Whether the Original may migrate.
    pub transferable: bool,
    /// Who may read it.
    pub access: Access,
}

/// Why a value is not a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// It is not a level.
    #[error("`{0}` is not a level of access; expected `open`, `metadata` or `closed`")]
    Level(String),
    /// It is not a range of addresses.
    #[error(
        "`{0}` is not a range of IP addresses; expected one such as `192.0.2.0/24` or `2001:db8::/32`"
    )]
    Network(String),
    /// Bits of the address are set that the length leaves out.
    #[error("`{text}` has bits beyond its length; the range is `{network}`")]
    HostBits {
        /// The given text.
        text: String,
        /// The range that holds the address.
        network: Network,
    },
    /// It is neither `true` nor `false`.
    #[error("`{0}` is not a value of `transferable`; expected `true` or `false`")]
    Transferable(String),
}

#[derive(Deserialize)]
pub(super) struct RawAccess {
    level: Option<String>,
    #[serde(default)]
    allow: Vec<String>,
}

impl RawAccess {
    pub(super) fn check(self) -> Result<Access, ConditionError> {
        let level = self.level.map(|text| text.parse()).transpose()?.unwrap_or_default();
        let allow = self.allow.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
        Ok(Access { level, allow })
    }
}

impl Access {
    /// The part that a reader at `address` may read. One whose address is unknown has what everybody has.
    pub fn level_at(&self, address: Option<IpAddr>) -> AccessLevel {
        let is_in = |network: &Network| address.is_some_and(|address| network.contains(address));
        if self.allow.iter().any(is_in) { AccessLevel::Open } else { self.level }
    }

    /// The table for printing; empty if everything is open.
    pub(super) fn table(&self) -> Table {
        let mut table = Table::new();
        if *self != Access::default() {
            table.insert("level".to_owned(), self.level.to_string().into());
        }
        if !self.allow.is_empty() {
            let allow = self.allow.iter().map(|network| network.to_string().into()).collect();
            table.insert("allow".to_owned(), Value::Array(allow));
        }
        table
    }
}

/// The bits before an IPv4 address in the form of IPv6.
const MAPPED_BITS: u8 = 96;

impl Network {
    /// Whether `address` is in the range. IPv4 in the form of IPv6 counts as IPv4, in both.
    pub fn contains(&self, address: IpAddr) -> bool {
        let (address, own) = (address.to_canonical(), self.canonical());
        address.is_ipv4() == own.address.is_ipv4() && own.masked(address) == own.masked(own.address)
    }

    fn canonical(&self) -> Network {
        match (self.address, self.address.to_canonical(), self.length.checked_sub(MAPPED_BITS)) {
            (IpAddr::V6(_), address @ IpAddr::V4(_), Some(length)) => Network { address, length },
            (address, ..) => Network { address, length: self.length },
        }
    }

    /// The bits of `address` that the range has in common.
    fn masked(&self, address: IpAddr) -> u128 {
        let (bits, size) = match address {
            IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
            IpAddr::V6(address) => (address.to_bits(), 128),
        };
        let rest = size - u32::from(self.length);
        bits.checked_shr(rest).unwrap_or(0).checked_shl(rest).unwrap_or(0)
    }
}

impl FromStr for Network {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Network, ConditionError> {
        let wrong = || ConditionError::Network(text.to_owned());
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let size = if address.is_ipv4() { 32 } else { 128 };
        let is_number = |text: &&str| text.bytes().all(|byte| byte.is_ascii_digit());
        let length = match length {
            None => size,
            Some(text) => Some(text)
                .filter(is_number)
                .and_then(|text| text.parse().ok())
                .filter(|length| *length <= size)
                .ok_or_else(wrong)?,
        };
        let network = Network { address, length };
        let bits = network.masked(address);
        let first = match address {
            IpAddr::V4(_) => u32::try_from(bits).map(|bits| IpAddr::V4(bits.into())),
            IpAddr::V6(_) => Ok(IpAddr::V6(bits.into())),
        };
        let first = first.map_err(|_| wrong())?;
        if first != address {
            let network = Network { address: first, length };
            return Err(ConditionError::HostBits { text: text.to_owned(), network });
        }
        Ok(network)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

impl FromStr for AccessLevel {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<AccessLevel, ConditionError> {
        Ok(match text {
            "open" => AccessLevel::Open,
            "metadata" => AccessLevel::Metadata,
            "closed" => AccessLevel::Closed,
            _ => return Err(ConditionError::Level(text.to_owned())),
        })
    }
}

impl fmt::Display for AccessLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AccessLevel::Open => "open",
            AccessLevel::Metadata => "metadata",
            AccessLevel::Closed => "closed",
        })
    }
}

impl Default for Conditions {
    fn default() -> Conditions {
        Conditions { transferable: true, access: Access::default() }
    }
}

impl Conditions {
    /// The keys that [`Conditions::set`] takes.
    pub const KEYS: [&'static str; 3] = ["transferable", "access", "access.allow"];

    /// Sets a key to these values; without values, to its default.
    pub fn set<T: AsRef<str>>(&mut self, key: &str, values: &[T]) -> Result<(), ConditionError> {
        let last = values.last().map(AsRef::as_ref);
        match key {
            "transferable" => {
                let read = |text: &str| {
                    text.parse().map_err(|_| ConditionError::Transferable(text.to_owned()))
                };
                self.transferable = last.map(read).transpose()?.unwrap_or(true);
            }
            "access" => self.access.level = last.map(str::parse).transpose()?.unwrap_or_default(),
            _ => {
                let networks = values.iter().map(|text| text.as_ref().parse());
                self.access.allow = networks.collect::<Result<_, _>>()?;
            }
        }
        Ok(())
    }

    /// Takes the values of `keys` from `other`.
    pub(crate) fn override_with(&mut self, other: &Conditions, keys: &[&str]) {
        for key in keys {
            match *key {
                "transferable" => self.transferable = other.transferable,
                "access" => self.access.level = other.access.level,
                _ => other.access.allow.clone_into(&mut self.access.allow),
            }
        }
    }

    /// The values of a key.
    pub fn values(&self, key: &str) -> Vec<String> {
        match key {
            "transferable" => vec![self.transferable.to_string()],
            "access" => vec![self.access.level.to_string()],
            _ => self.access.allow.iter().map(ToString::to_string).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_their_addresses() {
        let holds = |network: &str, address: &str| {
            let network: Network = network.parse().unwrap();
            network.contains(address.parse().unwrap())
        };
        for (network, address, expected) in [
            ("192.0.2.0/24", "192.0.2.255", true),
            ("192.0.2.0/24", "192.0.3.0", false),
            ("192.0.2.7", "192.0.2.7", true),
            ("192.0.2.7/32", "192.0.2.6", false),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("::/0", "2001:db8::1", true),
            ("::ffff:127.0.0.0/104", "127.0.0.1", true),
            ("::ffff:127.0.0.0/104", "::ffff:127.0.0.1", true),
            ("::ffff:192.0.2.0/120", "192.0.3.9", false),
            ("::ffff:0:0/96", "2001:db8::1", false),
            ("2001:db8::/32", "2001:db8:ffff::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("192.0.2.0/24", "::ffff:192.0.2.9", true),
        ] {
            assert_eq!(holds(network, address), expected, "{network} {address}");
        }
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in [
            "",
            "192.0.2",
            "192.0.2.0/33",
            "192.0.2.0/+8",
            "192.0.2.0/",
            "::/129",
            "a/8",
            "192.0.2.0/ 8",
        ] {
            let error = text.parse::<Network>().unwrap_err();
            assert_eq!(error, ConditionError::Network(text.to_owned()));
        }
        let error = "192.0.2.7/24".parse::<Network>().unwrap_err();
        assert!(error.to_string().ends_with("the range is `192.0.2.0/24`"), "{error}");
        let error = "2001:db8::1/64".parse::<Network>().unwrap_err();
        assert!(error.to_string().ends_with("the range is `2001:db8::/64`"), "{error}");
    }

    #[test]
    fn an_address_that_is_allowed_reads_everything() {
        let mut conditions = Conditions::default();
        conditions.set("access", &["closed"]).unwrap();
        conditions.set("access.allow", &["192.0.2.0/24", "2001:db8::/32"]).unwrap();
        let level = |address: &str| conditions.access.level_at(address.parse().ok());
        assert_eq!(
            (level("192.0.2.1"), level("192.0.3.1")),
            (AccessLevel::Open, AccessLevel::Closed)
        );
        assert_eq!(level("unknown"), AccessLevel::Closed);
        assert_eq!(conditions.values("access.allow"), ["192.0.2.0/24", "2001:db8::/32"]);
        assert!(conditions.clone().set("access", &["secret"]).is_err());
        assert!(conditions.clone().set("transferable", &["yes"]).is_err());
        conditions.set::<&str>("access", &[]).unwrap();
        conditions.set::<&str>("access.allow", &[]).unwrap();
        assert_eq!(conditions, Conditions::default());
    }
}
