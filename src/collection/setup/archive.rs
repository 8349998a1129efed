//! `[archive]` of `urepo.toml`: how a collection is exposed on the web.

use std::fmt;
use std::net::IpAddr;

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
    /// The beginning of persistent URLs, such as `http://urlib.net/`.
    pub url_base: Option<String>,
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
