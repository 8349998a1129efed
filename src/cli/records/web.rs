//! Records of the servers.

use serde::Serialize;

/// What `archive`, `resolver`, `token`, `registration`, `mail`, `announcement` or `access` say.
#[derive(Serialize)]
#[serde(tag = "type", rename = "service")]
pub(crate) struct Service<T> {
    kind: &'static str,
    #[serde(flatten)]
    about: T,
}

impl<T: Serialize> Service<T> {
    pub(crate) fn new(kind: &'static str, about: T) -> Service<T> {
        Service { kind, about }
    }
}

/// An archive on the web, which has begun to answer.
#[cfg(feature = "serve")]
#[derive(Serialize)]
pub(crate) struct ArchiveAddress<'a> {
    pub(crate) url: &'a str,
    pub(crate) service: &'a str,
    pub(crate) listen: String,
    pub(crate) collection: &'a str,
    pub(crate) collection_id: &'a str,
}

/// The answer of a resolver to the announcement of an archive.
#[cfg(feature = "serve")]
#[derive(Serialize)]
pub(crate) struct AnnouncementRecord<'a> {
    pub(crate) url: &'a str,
    pub(crate) service: &'a str,
    pub(crate) resolver: String,
    pub(crate) included: bool,
    pub(crate) confirmed: bool,
    pub(crate) error: Option<super::ErrorText>,
}

/// A mail to send.
#[derive(Serialize)]
pub(crate) struct Mail<'a> {
    pub(crate) subject: &'a str,
    pub(crate) text: &'a str,
}

/// The accesses of an item, in a day if they are asked for by day.
#[cfg(feature = "serve")]
#[derive(Serialize)]
pub(crate) struct AccessRecord<'a> {
    pub(crate) id: String,
    pub(crate) day: Option<&'a str>,
    #[serde(flatten)]
    pub(crate) accesses: &'a urepo::serve::Accesses,
}

/// A token of the label server.
#[cfg(feature = "serve")]
#[derive(Serialize)]
pub(crate) struct TokenRecord<'a> {
    pub(crate) name: &'a str,
    pub(crate) prefix: Option<String>,
    pub(crate) daily: Option<u64>,
    pub(crate) since: String,
    pub(crate) token: Option<&'a str>,
}

#[cfg(feature = "serve")]
impl<'a> TokenRecord<'a> {
    /// The record of `token`, with its secret while it is known.
    pub(crate) fn of(token: &'a urepo::serve::Token, secret: Option<&'a str>) -> TokenRecord<'a> {
        TokenRecord {
            name: &token.name,
            prefix: token.prefix.as_ref().map(ToString::to_string),
            daily: token.daily,
            since: token.since.to_string(),
            token: secret,
        }
    }
}

/// A resolver on the web, which has begun to answer.
#[cfg(feature = "resolver")]
#[derive(Serialize)]
pub(crate) struct ResolverAddress<'a> {
    pub(crate) url: &'a str,
    pub(crate) service: &'a str,
    pub(crate) listen: String,
}

/// An archive in the registry of a resolver.
#[cfg(feature = "resolver")]
#[derive(Serialize)]
pub(crate) struct Registration<'a> {
    pub(crate) service: &'a str,
    pub(crate) allow_private: bool,
    pub(crate) address: Option<String>,
    pub(crate) ip: Option<String>,
    pub(crate) platform: Option<&'a str>,
    pub(crate) email: Option<&'a str>,
    pub(crate) since: Option<String>,
    pub(crate) confirmed: Option<bool>,
}
