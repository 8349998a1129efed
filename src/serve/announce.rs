//! Announcing an archive to a resolver: inclusion, exclusion, registration [resolution, 5].

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use tokio::sync::watch;

use super::archive::Archive;
use crate::identity::{HostPort, ParseError};
use crate::resolve::Pairs;
use crate::web::announcement::{Announcement, RegistrationKey, Subject};
use crate::web::ask::{AskError, ask};

/// How long a resolver may take: it calls back before it answers.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long a withdrawal may take.
const FAREWELL: Duration = Duration::from_secs(3);
/// The first and the longest pause after a failure, and the pause after success.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(600);
const AGAIN: Duration = Duration::from_secs(3600);

/// The service of a resolver: `http://urlib.net/J8LNKB5R7W/3FUQHC5`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolverService {
    address: HostPort,
    path: String,
}

/// The outcome of an announcement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Included, and the resolver reached the archive.
    Included,
    /// Included, but the resolver could not reach the archive at its address.
    Unreachable,
    /// Excluded.
    Excluded,
    /// Refused, with the name of a wrong pair if it says one.
    Refused(Option<String>),
    /// An answer that the standard does not know.
    Unknown(String),
}

impl FromStr for ResolverService {
    type Err = ParseError;

    /// Reads a URL of the scheme `http`: keys are checked by the resolver, and no redirect is followed.
    fn from_str(text: &str) -> Result<ResolverService, ParseError> {
        let fault = || {
            let expected = "expected a URL such as `http://urlib.net/J8LNKB5R7W/3FUQHC5`";
            ParseError::new("resolver", text, 0..text.len(), expected)
        };
        let rest = text.strip_prefix("http://").ok_or_else(fault)?;
        let (address, path) = rest.split_once('/').ok_or_else(fault)?;
        let is_path = |byte: u8| byte.is_ascii_graphic() && !b"?#\"<>\\^`{|}".contains(&byte);
        if path.is_empty() || !path.bytes().all(is_path) {
            return Err(fault());
        }
        let address = address.parse().map_err(|_| fault())?;
        Ok(ResolverService { address, path: format!("/{path}") })
    }
}

impl fmt::Display for ResolverService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.address, self.path)
    }
}

impl Archive {
    /// The mail with which the administrator registers the archive at a resolver: subject and text, as in Example 7.1.
    pub fn registration(&self, key: &RegistrationKey) -> (&'static str, String) {
        let service = self.service_name();
        let text = format!(
            "IBI do serviço de Arquivo:\narchiveserviceibi = {service}\n\nChave de cadastro:\nregistrationkey = {}\n",
            key.reveal()
        );
        ("Solicitação de cadastro de um novo Arquivo", text)
    }

    /// Asks `resolver` once to include or to exclude the archive.
    pub async fn announce(
        &self,
        subject: Subject,
        resolver: &ResolverService,
        key: &RegistrationKey,
    ) -> Result<Status, AskError> {
        let own = self.exposed.ip;
        let target = |local: SocketAddr| {
            let announcement = Announcement {
                subject,
                address: self.exposed.address.clone(),
                service: self.service_name(),
                ip: own.unwrap_or(local.ip().to_canonical()),
                platform: format!("urepo-{}", env!("CARGO_PKG_VERSION")),
                email: self.exposed.email.clone().unwrap_or_default(),
                key: key.clone(),
            };
            format!("{}?{}", resolver.path, announcement.query())
        };
        let limit = if subject == Subject::Inclusion { PATIENCE } else { FAREWELL };
        let reply = ask(&resolver.address, target, limit).await?;
        Ok(Status::of(reply.status, &reply.text))
    }

    /// Keeps the archive included until `stop` is true, then withdraws it. `report` gets each outcome that differs from the
    /// one before.
    pub async fn keep_announced(
        self: Arc<Archive>,
        (resolver, key): (ResolverService, RegistrationKey),
        mut stop: watch::Receiver<bool>,
        report: impl Fn(&Archive, Result<Status, AskError>) + Send,
    ) {
        let (mut pause, mut last) = (FIRST_PAUSE, None);
        while !*stop.borrow() {
            let outcome = self.announce(Subject::Inclusion, &resolver, &key).await;
            let is_included = matches!(outcome, Ok(Status::Included));
            let wait = if is_included { AGAIN } else { pause };
            pause = if is_included { FIRST_PAUSE } else { (pause * 2).min(LONGEST_PAUSE) };
            let text =
                outcome.as_ref().map_or_else(ToString::to_string, |status| format!("{status:?}"));
            if last.replace(text.clone()) != Some(text) {
                report(&self, outcome);
            }
            let _ = tokio::time::timeout(wait, stop.wait_for(|stop| *stop)).await;
        }
        let outcome = self.announce(Subject::Exclusion, &resolver, &key).await;
        report(&self, outcome);
    }
}

impl Status {
    /// The status in an answer of a resolver [resolution, 5].
    fn of(status: StatusCode, text: &str) -> Status {
        let pairs: Pairs = text.parse().unwrap_or_default();
        match (pairs.get("status.archive"), pairs.get("status.confirmation")) {
            (Some("included"), Some("successful")) => Status::Included,
            (Some("included"), Some("unsuccessful")) => Status::Unreachable,
            (Some("excluded"), None) => Status::Excluded,
            (Some("refused"), None) => {
                Status::Refused(pairs.get("status.reason").map(str::to_owned))
            }
            _ => Status::Unknown(status.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_those_of_the_standard() {
        for (text, expected) in [
            ("status.archive included status.confirmation successful", Status::Included),
            ("status.archive included\r\nstatus.confirmation unsuccessful", Status::Unreachable),
            ("status.archive excluded", Status::Excluded),
            ("status.archive refused", Status::Refused(None)),
            (
                "status.archive refused status.reason archiveaddress",
                Status::Refused(Some("archiveaddress".to_owned())),
            ),
            ("status.archive included", Status::Unknown("200 OK".to_owned())),
            ("{{", Status::Unknown("200 OK".to_owned())),
            ("", Status::Unknown("200 OK".to_owned())),
        ] {
            assert_eq!(Status::of(StatusCode::OK, text), expected, "{text}");
        }
    }

    #[test]
    fn services_of_resolvers_are_urls_without_tls() {
        let service = "http://www.urlib.net/J8LNKB5R7W/3FUQHC5";
        assert_eq!(service.parse::<ResolverService>().unwrap().to_string(), service);
        for text in [
            "",
            "urlib.net/a",
            "https://urlib.net/a",
            "http://urlib.net",
            "http://urlib.net/",
            "http://a/b?c",
            "http://a/b c",
        ] {
            assert!(text.parse::<ResolverService>().is_err(), "{text}");
        }
    }
}
