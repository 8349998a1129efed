//! An included archive: connections to it within limits, and pauses after failures.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use hyper::StatusCode;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

use super::address::Addresses;
use super::redirect::leads_to;
use super::registry::{Inclusion, RegisteredArchive};
use crate::identity::{HostPort, Identifier, ParseError};
use crate::resolve::{Forms, Pairs};
use crate::web::ask::{AskError, Connection, Reply};

/// Limits on asking archives.
#[derive(Clone, Debug)]
pub struct AskLimits {
    /// How long a connection may take.
    pub connect: Duration,
    /// How long an answer may take, with its connection.
    pub answer: Duration,
    /// How long all answers to one question may take.
    pub round: Duration,
    /// How long a resolution may take.
    pub whole: Duration,
    /// How long better answers are waited for after the first.
    pub moment: Duration,
    /// How long an acknowledgment may take.
    pub acknowledgment: Duration,
    /// Questions of a resolution.
    pub rounds: usize,
    /// Connections to an archive at a time.
    pub connections: usize,
    /// Requests of a resolution at a time.
    pub of_a_resolution: usize,
    /// Requests in all at a time, and acknowledgments.
    pub in_all: usize,
    /// Failures in a row after which an archive is left out: connections that fail, and answers that do not come in time.
    pub failures: u32,
    /// How long it is left out first, and at most.
    pub pause: Duration,
    /// The longest pause.
    pub longest_pause: Duration,
}

impl Default for AskLimits {
    fn default() -> AskLimits {
        AskLimits {
            connect: Duration::from_secs(2),
            answer: Duration::from_secs(5),
            round: Duration::from_secs(8),
            whole: Duration::from_secs(30),
            moment: Duration::from_millis(300),
            acknowledgment: Duration::from_secs(2),
            rounds: 64,
            connections: 8,
            of_a_resolution: 32,
            in_all: 256,
            failures: 5,
            pause: Duration::from_secs(30),
            longest_pause: Duration::from_secs(600),
        }
    }
}

/// An archive that is asked.
#[derive(Debug)]
pub(super) struct IncludedArchive {
    pub(super) service: Identifier,
    pub(super) inclusion: Inclusion,
    allows_private: bool,
    addresses: Arc<Addresses>,
    limits: Arc<AskLimits>,
    /// Connections without a request.
    idle: Mutex<Vec<Connection>>,
    /// The requests that it may have at a time.
    pub(super) places: Semaphore,
    /// Failures since the last answer.
    failures: AtomicU32,
    left_out: watch::Sender<bool>,
}

/// Why an answer of an archive is dropped.
#[derive(Debug, thiserror::Error)]
enum Dropped {
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error("the status is {0}")]
    Status(StatusCode),
    #[error(transparent)]
    List(#[from] ParseError),
    #[error("the answer is in the name of another archive")]
    Name,
    #[error("the URL leads to another server")]
    Url,
}

impl fmt::Display for IncludedArchive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.service, self.inclusion.address)
    }
}

impl IncludedArchive {
    /// An archive at the place that `inclusion` names.
    pub(super) fn new(
        archive: &RegisteredArchive,
        inclusion: &Inclusion,
        addresses: &Arc<Addresses>,
        limits: &Arc<AskLimits>,
    ) -> IncludedArchive {
        IncludedArchive {
            service: archive.service.clone(),
            inclusion: inclusion.clone(),
            allows_private: archive.allow_private,
            addresses: Arc::clone(addresses),
            limits: Arc::clone(limits),
            idle: Mutex::default(),
            places: Semaphore::new(limits.connections),
            failures: AtomicU32::default(),
            left_out: watch::Sender::default(),
        }
    }

    /// Whether it is the archive that the registry has.
    pub(super) fn is_of(&self, archive: &RegisteredArchive) -> bool {
        self.service == archive.service
            && self.allows_private == archive.allow_private
            && Some(&self.inclusion) == archive.included.as_ref()
    }

    /// The address that it was announced with.
    pub(super) fn address(&self) -> &HostPort {
        &self.inclusion.address
    }

    /// Ends once it is not asked for a while, since it failed too often.
    pub(super) async fn leaves(&self) {
        // The sender is its own, and stays.
        let _ = self.left_out.subscribe().wait_for(|is_left_out| *is_left_out).await;
    }

    /// Its answer to a request for a URL; `None` if there is none that counts.
    pub(super) async fn ask(self: &Arc<Self>, target: &str) -> Option<Pairs> {
        let reply = self.get(target, self.limits.answer).await;
        // Readers choose the item: an answer about it, even that it cannot be read, says nothing against the archive.
        self.count(reply.as_ref().err().is_none_or(|error| !error.is_silence()));
        let reply = reply.map_err(Dropped::from).and_then(|reply| match reply.status {
            StatusCode::OK => Ok(reply),
            status => Err(Dropped::Status(status)),
        });
        match reply.and_then(|reply| self.checked(&reply)) {
            Ok(pairs) => Some(pairs),
            Err(error) => {
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::warn!(archive = %self, error, "an answer was dropped");
                None
            }
        }
    }

    /// Whether it confirms that it is the archive service [resolution, 7.1].
    pub(super) async fn confirms(&self) -> bool {
        let target = format!("/{}?servicesubject=inclusionConfirmationRequest", self.service);
        let reply = self.get(&target, self.limits.answer).await;
        let confirmation = reply.as_ref().ok().and_then(|reply| reply.text.parse::<Pairs>().ok());
        let is_confirmed = confirmation.is_some_and(|it| it.get("confirmation") == Some("yes"));
        tracing::info!(archive = %self, is_confirmed, error = reply.err().map(|it| it.to_string()), "asked for a confirmation");
        is_confirmed
    }

    /// Sends a GET over a connection that is open, or over a new one.
    pub(super) async fn get(&self, target: &str, limit: Duration) -> Result<Reply, AskError> {
        let reply = async {
            while let Some(mut connection) = self.idle_connection() {
                match connection.get(target).await {
                    // The archive may have closed it a moment ago; a GET can be repeated.
                    Err(AskError::Broken(..)) => {}
                    Err(error) => return Err(error),
                    Ok(reply) => {
                        self.keep(connection);
                        return Ok(reply);
                    }
                }
            }
            let late = |_| AskError::Late(self.address().clone(), self.limits.connect);
            let stream = self.addresses.connect(self.address(), self.allows_private);
            let stream = timeout(self.limits.connect, stream).await.map_err(late)??;
            let mut connection = Connection::over(stream, self.address()).await?;
            let reply = connection.get(target).await?;
            self.keep(connection);
            Ok(reply)
        };
        let reply = timeout(limit, reply).await;
        reply.unwrap_or_else(|_| Err(AskError::Late(self.address().clone(), limit)))
    }

    fn idle_connection(&self) -> Option<Connection> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn keep(&self, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if connection.is_open() && idle.len() < self.limits.connections {
            idle.push(connection);
        }
    }

    /// The pairs of an answer that is in the archive's own name, and whose URLs lead to it.
    fn checked(&self, reply: &Reply) -> Result<Pairs, Dropped> {
        let pairs: Pairs = reply.text.parse()?;
        if pairs.is_empty() {
            return Ok(pairs);
        }
        let own = Forms::from(self.service.clone()).to_string();
        let named = pairs.get("ibi.archiveservice").unwrap_or_default();
        let mut names = own.split(' ').skip(1).map(str::to_ascii_lowercase);
        let mut words = named.split(' ').map(str::to_ascii_lowercase);
        if !names.all(|own| words.any(|word| word == own)) {
            return Err(Dropped::Name);
        }
        let is_url = |name: &str| name == "url" || name.starts_with("url.");
        if pairs.iter().any(|(name, url)| is_url(name) && !leads_to(url, self.address())) {
            return Err(Dropped::Url);
        }
        Ok(pairs)
    }

    /// Counts an answer or a failure.
    fn count(self: &Arc<Self>, is_answer: bool) {
        if is_answer {
            self.failures.store(0, Ordering::Relaxed);
            return;
        }
        let failures = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
        if failures >= self.limits.failures && !self.left_out.send_replace(true) {
            tracing::warn!(archive = %self, failures, "is left out for a while");
            tokio::spawn(IncludedArchive::return_later(
                Arc::downgrade(self),
                Arc::clone(&self.limits),
            ));
        }
    }

    /// Asks it again after growing pauses, until it answers or is no longer included.
    async fn return_later(archive: Weak<IncludedArchive>, limits: Arc<AskLimits>) {
        let mut pause = limits.pause;
        loop {
            sleep(pause).await;
            let Some(archive) = archive.upgrade() else { return };
            if archive.confirms().await {
                archive.failures.store(0, Ordering::Relaxed);
                archive.left_out.send_replace(false);
                tracing::warn!(archive = %archive, "is asked again");
                return;
            }
            pause = (pause * 2).min(limits.longest_pause);
        }
    }
}
