//! Requests to an Archive, and its answers [resolution, Algorithm 1].

use std::net::IpAddr;

use super::list::{Archive, filter, list_of_urls};
use super::pairs::Pairs;
use crate::identity::{Identifier, Verbs, decode_path, decode_value, encode_path, encode_value};

const SUBJECT: &str = "servicesubject";
pub(crate) const ADDRESS: &str = "clientinformation.ipaddress";
const PATH: &str = "parsedibiurl.filepath";
const IDENTIFIER: &str = "parsedibiurl.ibi";
const VERBS: &str = "parsedibiurl.verblist";

/// A request to an Archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Whether it can be reached.
    Confirmation,
    /// The place of an item.
    Url(UrlRequest),
    /// Nothing: a reader is going to fetch its item.
    Acknowledgment,
}

/// A request for the URL of an item [resolution, Table 8.9].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlRequest {
    /// The address of the reader, then those of the proxies in between.
    pub addresses: Vec<IpAddr>,
    /// The path of a file, decoded, without the first `/`; empty if there is none.
    pub path: Vec<u8>,
    /// The item.
    pub identifier: Identifier,
    /// The request about it.
    pub verbs: Verbs,
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The subject is not one of the three.
    #[error("unknown service subject")]
    UnknownSubject,
    /// A pair is missing or has a wrong value.
    #[error("`{0}` is missing or invalid")]
    Pair(&'static str),
}

impl UrlRequest {
    /// The target of the request to the Archive service, pairs in the order of their names.
    pub fn target(&self, service: &str) -> String {
        let addresses: Vec<_> = self.addresses.iter().map(ToString::to_string).collect();
        let mut pairs = vec![(ADDRESS, addresses.join(" "))];
        if !self.path.is_empty() {
            pairs.push((PATH, format!("/{}", encode_path(&self.path))));
        }
        pairs.push((IDENTIFIER, self.identifier.to_string()));
        if self.verbs != Verbs::default() {
            pairs.push((VERBS, self.verbs.to_string()));
        }
        pairs.push((SUBJECT, "urlRequest".to_owned()));
        let pair =
            |(name, value): (&str, String)| format!("{name}={}", encode_value(value.as_bytes()));
        let query = pairs.into_iter().map(pair).collect::<Vec<_>>().join("&");
        format!("/{service}?{query}")
    }
}

impl Request {
    /// Reads the query string of a request.
    pub fn of_query(query: &str) -> Result<Request, RequestError> {
        let required = |name| decoded(query, name)?.ok_or(RequestError::Pair(name));
        match decoded(query, SUBJECT)?.ok_or(RequestError::UnknownSubject)?.as_str() {
            "inclusionConfirmationRequest" => Ok(Request::Confirmation),
            "acknowledgment" => Ok(Request::Acknowledgment),
            "urlRequest" => {
                let listed = required(ADDRESS)?;
                let path = decoded(query, PATH)?.unwrap_or_default();
                let path = decode_path(path.strip_prefix('/').unwrap_or(&path));
                let identifier = required(IDENTIFIER)?.parse();
                let verbs = decoded(query, VERBS)?.unwrap_or_default().parse();
                Ok(Request::Url(UrlRequest {
                    addresses: addresses(&listed)?,
                    path: path.ok_or(RequestError::Pair(PATH))?,
                    identifier: identifier.map_err(|_| RequestError::Pair(IDENTIFIER))?,
                    verbs: verbs.map_err(|_| RequestError::Pair(VERBS))?,
                }))
            }
            _ => Err(RequestError::UnknownSubject),
        }
    }
}

/// The addresses of a reader and of its proxies [resolution, Table 8.10].
pub fn addresses(text: &str) -> Result<Vec<IpAddr>, RequestError> {
    let addresses: Result<_, _> = text.split(' ').map(str::parse).collect();
    addresses.map_err(|_| RequestError::Pair(ADDRESS))
}

/// The decoded value of a pair, `DecodQS` of the standard.
pub(crate) fn decoded(query: &str, name: &'static str) -> Result<Option<String>, RequestError> {
    let mut values = query.split('&').filter_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    let Some(value) = values.next() else { return Ok(None) };
    let text = decode_value(value).and_then(|value| String::from_utf8(value).ok());
    text.filter(|_| values.next().is_none()).map(Some).ok_or(RequestError::Pair(name))
}

/// The answer of an Archive, `MontarResposta` of the standard.
pub fn answer<A: Archive>(request: &Request, archive: &A) -> Result<Pairs, A::Error> {
    let mut pairs = Pairs::default();
    match request {
        Request::Confirmation => pairs.insert("confirmation", "yes"),
        Request::Acknowledgment => pairs.insert("notice", "acknowledgment received"),
        Request::Url(UrlRequest { path, identifier, verbs, .. }) => {
            pairs = list_of_urls(archive, identifier, path, verbs)?;
            filter(&mut pairs, verbs);
        }
    }
    Ok(pairs)
}
