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
    /// Internal keys that are public all the same.
    #[serde(default)]
    pub publish: Vec<InternalKey>,
}

/// A key that is internal unless it is published: one below `x`, or the reason of a deletion.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct InternalKey(String);

impl ArchiveSettings {
    /// The key of the reason of a deletion.
    pub const REMOVAL_REASON: &'static str = "removal.reason";

    /// The beginning of the persistent URLs that are cited: those of the resolver, else those of the archive, else those of the
    /// standard.
    pub fn cited_base(&self) -> UrlBase {
        let own = || Some(UrlBase::of(self.scheme, self.address.as_ref()?));
        self.url_base.clone().or_else(own).unwrap_or_default()
    }

    /// Whether an internal key is published.
    pub fn publishes(&self, key: &str) -> bool {
        self.publish.iter().any(|published| published.0 == key)
    }
}

impl TryFrom<String> for InternalKey {
    type Error = &'static str;

    fn try_from(text: String) -> Result<InternalKey, &'static str> {
        let is_own = text.strip_prefix("x.").is_some_and(|name| !name.is_empty());
        let is_internal = is_own || text == ArchiveSettings::REMOVAL_REASON;
        is_internal
            .then_some(InternalKey(text))
            .ok_or("expected keys below `x`, or `removal.reason`")
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

    /// The URLs of the host at `address`.
    pub fn of(scheme: Scheme, address: &HostPort) -> UrlBase {
        UrlBase(format!("{scheme}://{address}"))
    }

    /// Whether its URLs lead to the host at `address`, by whichever scheme.
    pub fn is_at(&self, address: &HostPort) -> bool {
        let (scheme, rest) = match self.0.strip_prefix("https://") {
            Some(rest) => (Scheme::Https, rest),
            None => (Scheme::Http, self.0.strip_prefix("http://").unwrap_or(&self.0)),
        };
        let host = rest.split('/').next().unwrap_or_default().parse::<HostPort>();
        let usual = [scheme, Scheme::Http, Scheme::Https].map(Scheme::usual_port);
        host.is_ok_and(|host| usual.iter().any(|port| address.is_same(&host, *port)))
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
        let is_at =
            |text: &str, address: &str| base(text).unwrap().is_at(&address.parse().unwrap());
        for (text, address, expected) in [
            ("http://a.example.org/", "A.example.org", true),
            ("https://a.example.org/x/", "a.example.org:443", true),
            ("http://a.example.org:80/", "a.example.org", true),
            ("https://a.example.org/", "a.example.org", true),
            ("http://a.example.org:8080/", "a.example.org", false),
            ("http://b.example.org/", "a.example.org", false),
        ] {
            assert_eq!(is_at(text, address), expected, "{text} {address}");
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

    #[test]
    fn an_archive_without_a_resolver_cites_itself() {
        let base =
            |text: &str| toml::from_str::<ArchiveSettings>(text).unwrap().cited_base().join("a");
        assert_eq!(base(""), "http://urlib.net/a");
        assert_eq!(base("address = 'a.example.org'"), "http://a.example.org/a");
        let own = "address = 'a.example.org:8443'\nscheme = 'https'\n";
        assert_eq!(base(own), "https://a.example.org:8443/a");
        assert_eq!(base(&format!("{own}url_base = 'http://urlib.net/'")), "http://urlib.net/a");
    }

    #[test]
    fn only_internal_keys_are_published() {
        let read = |text: &str| toml::from_str::<ArchiveSettings>(&format!("publish = [{text}]"));
        let settings = read("'x.caixa', 'removal.reason'").unwrap();
        assert!(settings.publishes("x.caixa") && settings.publishes("removal.reason"));
        assert!(!settings.publishes("x.valor") && !settings.publishes("x"));
        for text in ["'x'", "'x.'", "'origin'", "'removal.by'", "'title'"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
