//! `[archive]` of `urepo.toml`: how a collection is exposed on the web.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::Deserialize;

use crate::identity::{HostPort, Identifier};

/// `[archive]`: the collection as an archive on the web.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchiveSettings {
    /// The address at which readers and resolvers reach it.
    pub address: Option<HostPort>,
    /// The scheme of the URLs that it gives out.
    #[serde(default)]
    pub scheme: Scheme,
    /// The item that its service is, as registered at the resolver.
    pub service: Option<Identifier>,
    /// The mail address of its administrator.
    pub email: Option<String>,
    /// The service of the resolver that the archive is announced to.
    pub resolver: Option<String>,
    /// The networks of resolvers whose acknowledgments are counted; all if there are none.
    #[serde(default)]
    pub resolver_from: Vec<String>,
    /// The IP address that the resolver is given, if it is not the one of the connection to it.
    pub ip: Option<IpAddr>,
    /// The part of clients' addresses in the access log; nothing is logged by default.
    #[serde(default)]
    pub access_log: ClientAddress,
    /// The beginning of persistent URLs, if a resolver answers them.
    pub url_base: Option<UrlBase>,
}

impl ArchiveSettings {
    /// The beginning of the persistent URLs that are cited.
    pub fn cited_base(&self) -> UrlBase {
        self.url_base.clone().unwrap_or_default()
    }
}

/// The beginning of persistent URLs; by default that of the standard, `http://urlib.net/`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct UrlBase(String);

impl UrlBase {
    /// The URL of `path`, which may begin with a slash.
    pub fn join(&self, path: impl fmt::Display) -> String {
        format!("{self}/{}", path.to_string().trim_start_matches('/'))
    }
}

impl Default for UrlBase {
    fn default() -> UrlBase {
        UrlBase("http://urlib.net".to_owned())
    }
}

impl TryFrom<String> for UrlBase {
    type Error = &'static str;

    /// Reads the URL of a host, perhaps with a directory.
    fn try_from(text: String) -> Result<UrlBase, &'static str> {
        let expected = "expected the beginning of a URL, such as `http://urlib.net/`";
        let text = text.trim_end_matches('/');
        let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
        let (host, directory) =
            rest.map(|rest| rest.split_once('/').unwrap_or((rest, ""))).ok_or(expected)?;
        let is_path = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
        let is_url = host.parse::<HostPort>().is_ok() && directory.bytes().all(is_path);
        is_url.then(|| UrlBase(text.to_owned())).ok_or(expected)
    }
}

impl fmt::Display for UrlBase {
    /// Without a slash at the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The part of a client's address that others learn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClientAddress {
    /// Nothing.
    #[default]
    None,
    /// Its network: the first 24 bits, or 48 of IPv6.
    Network,
    /// The address.
    Full,
}

impl ClientAddress {
    /// The part of `address`, with zeros after it.
    pub fn of(self, address: IpAddr) -> Option<IpAddr> {
        match (self, address) {
            (ClientAddress::None, _) => None,
            (ClientAddress::Network, IpAddr::V4(address)) => {
                Some(Ipv4Addr::from_bits(address.to_bits() & !0xff).into())
            }
            (ClientAddress::Network, IpAddr::V6(address)) => {
                Some(Ipv6Addr::from_bits(address.to_bits() >> 80 << 80).into())
            }
            (ClientAddress::Full, address) => Some(address),
        }
    }
}

/// The scheme of URLs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// In clear text.
    #[default]
    Http,
    /// A server in front has the certificate.
    Https,
}

impl Scheme {
    /// The port of addresses without one.
    pub fn usual_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_of_persistent_urls_is_a_url() {
        let base = |text: &str| UrlBase::try_from(text.to_owned());
        for (text, url) in [
            ("http://urlib.net/", "http://urlib.net/a"),
            ("https://id.example.org:8443/x/", "https://id.example.org:8443/x/a"),
            ("http://[2001:db8::1]", "http://[2001:db8::1]/a"),
        ] {
            assert_eq!(base(text).unwrap().join("a"), url);
            assert_eq!(base(text).unwrap().join("/a"), url);
        }
        for text in [
            "",
            "urlib.net",
            "ftp://a",
            "http://",
            "http://a b/",
            "http://u@a/",
            "http://a/?b",
            "http://a/\n",
        ] {
            assert!(base(text).is_err(), "{text}");
        }
    }
}
