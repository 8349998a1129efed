//! Requests of archives to be included or excluded [resolution, 5].

use std::net::IpAddr;
use std::sync::Arc;

use hyper::StatusCode;

use super::registry::{Inclusion, RegistryError};
use super::server::Resolver;
use crate::identity::{Identifier, Instant, SECOND};
use crate::resolve::{Pairs, RequestError};
use crate::web::announcement::{Announcement, Subject};
use crate::web::answer::{Answer, text};
use crate::web::front::busy;

/// A status of an archive as the text of an answer.
fn status(status: &str, name: &str, value: Option<&str>) -> String {
    let mut pairs = Pairs::default();
    pairs.insert("status.archive", status);
    if let Some(value) = value {
        pairs.insert(name, value);
    }
    // The standard prints it in one line.
    pairs.lines().collect::<Vec<_>>().join(" ")
}

fn refused(code: StatusCode, reason: Option<&str>) -> Answer {
    text(code, status("refused", "status.reason", reason))
}

impl Resolver {
    /// The answer to a request to the resolver service.
    pub(super) async fn service(self: &Arc<Resolver>, query: &str, client: IpAddr) -> Answer {
        let announcement = match Announcement::of_query(query) {
            Ok(announcement) => announcement,
            Err(RequestError::UnknownSubject) => {
                return text(StatusCode::BAD_REQUEST, "notice {unknown service subject}");
            }
            Err(RequestError::Pair(name)) => return refused(StatusCode::BAD_REQUEST, Some(name)),
        };
        if self.is_at(&announcement.address) {
            // It would ask itself.
            return refused(StatusCode::BAD_REQUEST, Some("archiveaddress"));
        }
        let too_many = || busy(refused(StatusCode::TOO_MANY_REQUESTS, None));
        if self.checks.refuses(client, self.clock.now()) {
            return too_many();
        }
        let Ok(_waiting) = self.checks.waiting.try_acquire() else {
            return busy(refused(StatusCode::SERVICE_UNAVAILABLE, None));
        };
        let Ok(running) = self.checks.running.acquire().await else {
            return busy(refused(StatusCode::SERVICE_UNAVAILABLE, None));
        };
        let now = self.clock.now();
        // One key is checked at a time: those that were wrong meanwhile count, too.
        if self.checks.refuses(client, now) {
            return too_many();
        }
        let (resolver, request) = (Arc::clone(self), announcement.clone());
        let known = tokio::task::spawn_blocking(move || resolver.registered(&request)).await;
        if matches!(known, Ok(Ok(None))) {
            self.checks.count(client, now);
        }
        drop(running);
        let outcome = match known {
            Ok(Ok(Some(service))) => self.announced(announcement, service, now).await,
            Ok(Ok(None)) => {
                tracing::warn!(%client, service = announcement.service, "an archive that is not registered, or a wrong key");
                return refused(StatusCode::FORBIDDEN, None);
            }
            Ok(Err(error)) => Err(error),
            Err(_) => return refused(StatusCode::INTERNAL_SERVER_ERROR, None),
        };
        outcome.unwrap_or_else(|error| {
            let error: &(dyn std::error::Error + 'static) = &error;
            tracing::error!(error, "the registry cannot be changed");
            refused(StatusCode::INTERNAL_SERVER_ERROR, None)
        })
    }

    /// The service of a registered archive whose key this is.
    fn registered(&self, announcement: &Announcement) -> Result<Option<Identifier>, RegistryError> {
        let registry = self.registry.read()?;
        let Ok(service) = announcement.service.parse() else { return Ok(None) };
        Ok(registry.has_key(&service, &announcement.key).then_some(service))
    }

    /// Includes or excludes an archive whose key is known, and says so.
    async fn announced(
        self: &Arc<Resolver>,
        announcement: Announcement,
        service: Identifier,
        now: Instant,
    ) -> Result<Answer, RegistryError> {
        if announcement.subject == Subject::Exclusion {
            self.change(service.clone(), None).await?;
            tracing::info!(archive = %service, "excluded");
            return Ok(text(StatusCode::OK, status("excluded", "", None)));
        }
        let inclusion = Inclusion {
            address: announcement.address,
            ip: announcement.ip,
            platform: announcement.platform,
            email: announcement.email,
            since: now.floor(SECOND),
            confirmed: false,
        };
        let confirmed = self.confirms(&service, &inclusion).await?;
        let address = inclusion.address.clone();
        self.change(service.clone(), Some(Inclusion { confirmed, ..inclusion })).await?;
        tracing::info!(archive = %service, %address, confirmed, "included");
        let confirmation = if confirmed { "successful" } else { "unsuccessful" };
        Ok(text(StatusCode::OK, status("included", "status.confirmation", Some(confirmation))))
    }
}
