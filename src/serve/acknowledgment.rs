//! The acknowledgment of a resolver: a reader is going to fetch an item [resolution, Table 8.11].

use std::net::IpAddr;

use crate::identity::decode_value;
use crate::resolve::{ADDRESS, RequestError, addresses, decoded};

/// The pairs that a count depends on; the others are checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Acknowledgment {
    /// The address of the reader, then those of the proxies in between.
    pub(super) addresses: Vec<IpAddr>,
    /// The URL of the item.
    pub(super) url: String,
    /// The key of the answer that had the URL.
    pub(super) key: String,
}

impl Acknowledgment {
    /// Reads the query string. `ibi` and `state` may be missing [resolution, E21].
    pub(super) fn of_query(query: &str) -> Result<Acknowledgment, RequestError> {
        let required = |name| decoded(query, name)?.ok_or(RequestError::Pair(name));
        let is_one_of = |name, values: &[&str]| match decoded(query, name)? {
            Some(value) if !values.contains(&value.as_str()) => Err(RequestError::Pair(name)),
            found => Ok(found.is_some()),
        };
        let addresses = addresses(&required(ADDRESS)?)?;
        if !is_one_of("contenttype", &["Data", "Metadata"])? {
            return Err(RequestError::Pair("contenttype"));
        }
        is_one_of("state", &["Original", "Copy"])?;
        decoded(query, "ibi")?;
        url(query, "url.persistent")?;
        Ok(Acknowledgment { addresses, url: url(query, "url")?, key: required("urlkey")? })
    }
}

/// The decoded value of a pair with a URL. Where that is no text, the URL had escapes of its own, which stay
/// [resolution, E02].
fn url(query: &str, name: &'static str) -> Result<String, RequestError> {
    let mut values = query.split('&').filter_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    let value =
        values.next().filter(|_| values.next().is_none()).ok_or(RequestError::Pair(name))?;
    let text = decode_value(value).ok_or(RequestError::Pair(name))?;
    Ok(String::from_utf8(text).unwrap_or_else(|_| value.to_owned()))
}
