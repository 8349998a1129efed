//! The requests with which an archive is included by a resolver, or excluded [resolution, Table 7.2].

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use crate::disk::random_bytes;
use crate::identity::{HostPort, Identifier, ParseError, encode_value};
use crate::resolve::{RequestError, UrlKey, decoded};

const SUBJECT: &str = "servicesubject";
const ADDRESS: &str = "archiveaddress";
const SERVICE: &str = "archiveserviceibi";
const IP: &str = "archiveip";
const PROTOCOL: &str = "archiveprotocol";
const PLATFORM: &str = "archiveplatformversion";
const EMAIL: &str = "archiveadmemailaddress";
const KEY: &str = "registrationkey";

/// The only protocol of archives.
const HTTP: &str = "HTTP";
/// Most bytes of a version or a mail address.
const LONGEST: usize = 254;

/// The subject of a request to a resolver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// To ask the archive from now on.
    Inclusion,
    /// Not to ask it any more.
    Exclusion,
}

/// A registration key [resolution, Table 7.1]. It is in no log.
#[derive(Clone, PartialEq, Eq)]
pub struct RegistrationKey(UrlKey);

/// A request of an archive to a resolver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// The subject.
    pub subject: Subject,
    /// The address of the archive.
    pub address: HostPort,
    /// The identifier of its service, as it is registered.
    pub service: String,
    /// Its IP address.
    pub ip: IpAddr,
    /// The version of its software.
    pub platform: String,
    /// The mail address of its administrator.
    pub email: String,
    /// The key that it is registered with.
    pub key: RegistrationKey,
}

impl Subject {
    fn as_str(self) -> &'static str {
        match self {
            Subject::Inclusion => "inclusionRequest",
            Subject::Exclusion => "exclusionRequest",
        }
    }
}

impl fmt::Debug for RegistrationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RegistrationKey")
    }
}

impl FromStr for RegistrationKey {
    type Err = ParseError;

    /// Reads a key; an error does not quote it.
    fn from_str(text: &str) -> Result<RegistrationKey, ParseError> {
        let key = text.trim().parse::<UrlKey>().map(RegistrationKey);
        key.map_err(|error| {
            ParseError::new("registration key", "", 0..0, error.expected().to_owned())
        })
    }
}

impl RegistrationKey {
    /// A new key of two numbers of twenty digits.
    pub fn draw() -> std::io::Result<RegistrationKey> {
        let number = || random_bytes().map(|bytes| u128::from_be_bytes(bytes) % 10_u128.pow(20));
        let text = format!("{:020}-{:020}", number()?, number()?);
        text.parse().map_err(|_: ParseError| std::io::ErrorKind::InvalidData.into())
    }

    /// The digits, for the file of the key and for the registration.
    pub fn reveal(&self) -> String {
        self.0.to_string()
    }
}

impl Announcement {
    /// The query string, with the pairs in the order of Table 7.2.
    pub fn query(&self) -> String {
        let pairs = [
            (SUBJECT, self.subject.as_str().to_owned()),
            (ADDRESS, self.address.to_string()),
            (SERVICE, self.service.clone()),
            (IP, self.ip.to_string()),
            (PROTOCOL, HTTP.to_owned()),
            (PLATFORM, self.platform.clone()),
            (EMAIL, self.email.clone()),
            (KEY, self.key.reveal()),
        ];
        let pair =
            |(name, value): (&str, String)| format!("{name}={}", encode_value(value.as_bytes()));
        pairs.map(pair).join("&")
    }

    /// Reads a query string with the pairs in any order.
    pub fn of_query(query: &str) -> Result<Announcement, RequestError> {
        let subject = decoded(query, SUBJECT).ok().flatten();
        let subject = [Subject::Inclusion, Subject::Exclusion]
            .into_iter()
            .find(|it| subject.as_deref() == Some(it.as_str()))
            .ok_or(RequestError::UnknownSubject)?;
        if value(query, PROTOCOL)? != HTTP {
            return Err(RequestError::Pair(PROTOCOL));
        }
        let service: Identifier = read(query, SERVICE)?;
        let (platform, email) = (value(query, PLATFORM)?, value(query, EMAIL)?);
        if !is_short_text(&platform) {
            return Err(RequestError::Pair(PLATFORM));
        }
        // An address that can stand in a link of a page.
        let is_address = email.split_once('@').is_some_and(|(user, host)| {
            !user.is_empty()
                && !user.contains([' ', '?', '&', '%'])
                && host.parse::<HostPort>().is_ok()
        });
        if !is_short_text(&email) || !is_address {
            return Err(RequestError::Pair(EMAIL));
        }
        Ok(Announcement {
            subject,
            address: read(query, ADDRESS)?,
            service: service.to_string(),
            ip: read(query, IP)?,
            platform,
            email,
            key: read(query, KEY)?,
        })
    }
}

/// The value of a pair.
fn value(query: &str, name: &'static str) -> Result<String, RequestError> {
    decoded(query, name)?.ok_or(RequestError::Pair(name))
}

/// The same as a value of another type.
fn read<T: FromStr>(query: &str, name: &'static str) -> Result<T, RequestError> {
    value(query, name)?.parse().map_err(|_| RequestError::Pair(name))
}

fn is_short_text(text: &str) -> bool {
    (1..=LONGEST).contains(&text.len()) && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Example 7.2.
    const EXAMPLE: &str = "servicesubject=inclusionRequest&archiveaddress=mtc-m21.sid.inpe.br\
        &archiveserviceibi=sid.inpe.br/mtc-m21/2012/06.05.15.34.39&archiveip=150.163.34.239&archiveprotocol=HTTP\
        &archiveplatformversion=2014:11.09.02.16.15&archiveadmemailaddress=banon@dpi.inpe.br&registrationkey=1234567890";

    #[test]
    fn the_examples_of_the_standard_are_read_and_written() {
        let announcement = Announcement::of_query(EXAMPLE).unwrap();
        assert_eq!(announcement.query(), EXAMPLE);
        let exclusion = EXAMPLE.replace("inclusionRequest", "exclusionRequest");
        let read = Announcement::of_query(&exclusion).unwrap();
        assert_eq!(read.query(), exclusion);
        assert_eq!(read, Announcement { subject: Subject::Exclusion, ..announcement.clone() });
        let reversed: Vec<&str> = EXAMPLE.split('&').rev().collect();
        assert_eq!(Announcement::of_query(&reversed.join("&")), Ok(announcement));
    }

    #[test]
    fn each_of_the_eight_pairs_is_needed_once_with_a_value_of_its_kind() {
        for (name, wrong) in [
            (ADDRESS, "a b"),
            (SERVICE, "x"),
            (IP, "mtc-m21"),
            (PROTOCOL, "USP"),
            (PLATFORM, ""),
            (PLATFORM, "a%0D%0Ab"),
            (EMAIL, "banon"),
            (EMAIL, "a%3Fcc=b@dpi.inpe.br"),
            (KEY, "123456789"),
            (KEY, "1234567890-1"),
        ] {
            let others: Vec<&str> =
                EXAMPLE.split('&').filter(|pair| !pair.starts_with(&format!("{name}="))).collect();
            let others = others.join("&");
            let given = EXAMPLE.split('&').find(|pair| pair.starts_with(&format!("{name}=")));
            let expected = Err(RequestError::Pair(name));
            for query in [
                others.clone(),
                format!("{others}&{name}={wrong}"),
                format!("{EXAMPLE}&{}", given.unwrap()),
            ] {
                assert_eq!(Announcement::of_query(&query), expected, "{query}");
            }
        }
        for query in ["", "servicesubject=urlRequest", "servicesubject=inclusionrequest"] {
            assert_eq!(Announcement::of_query(query), Err(RequestError::UnknownSubject));
        }
    }

    #[test]
    fn a_key_is_long_and_is_not_shown() {
        let key = RegistrationKey::draw().unwrap();
        assert_eq!(key.reveal().len(), 41);
        assert_ne!(key, RegistrationKey::draw().unwrap());
        assert_eq!(format!("{key:?}"), "RegistrationKey");
        let error = "secret-of-mine".parse::<RegistrationKey>().unwrap_err();
        assert!(!format!("{error} {error:?}").contains("mine"));
        assert!(" 1234567890-1234567890\n".parse::<RegistrationKey>().is_ok());
    }
}
