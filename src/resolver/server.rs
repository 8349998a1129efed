//! From a request to its answer.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{LINK, VARY};
use hyper::http::request::Parts;
use hyper::{Method, Request};
use tokio::sync::Semaphore;

use super::address::Addresses;
use super::analysis::{Found, identifier};
use super::archive::{AskLimits, IncludedArchive};
use super::key_checks::KeyChecks;
use super::redirect::acknowledgment;
use super::registry::{Inclusion, RegistryError, RegistryFile};
use super::rounds::{Archives, Asking};
use crate::agent::{Agent, Caller};
use crate::clock::Clock;
use crate::collection::{ClientAddress, Scheme};
use crate::disk::{PathError, Version};
use crate::identity::{HostPort, Identifier, PersistentUrl, RequiredStatus, Verb};
use crate::interrupt::Interrupt;
use crate::progress::NoProgress;
use crate::web::answer::{self, Answer};
use crate::web::ask::LONGEST_TARGET;
use crate::web::front::{ASKING, READING, front};
use crate::web::head::addresses;
use crate::web::listen::{Limits, Service};
use crate::web::page::Reader;
use crate::web::private_file::PrivateFileError;
use crate::web::target::{Refusal, Target, with_question};

/// How long a change of the registry waits for another one. Of many archives that announce themselves at a time each has to count, and a
/// busy disk takes a second for each.
const WAIT: Duration = Duration::from_secs(60);

/// How a resolver is exposed.
#[derive(Clone, Debug)]
pub struct Exposure {
    /// The addresses at which readers and archives reach it, at least one; URLs are made from the first.
    pub addresses: Vec<HostPort>,
    /// The scheme of its URLs.
    pub scheme: Scheme,
    /// The identifier of its service.
    pub service: Identifier,
    /// The mail address of its administrator.
    pub email: Option<String>,
    /// The part of readers' addresses that archives get [resolution, E13]; `0.0.0.0` for none.
    pub client: ClientAddress,
}

/// A resolver.
pub struct Resolver {
    pub(super) exposed: Exposure,
    pub(super) registry: RegistryFile,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) checks: KeyChecks,
    agent: Agent,
    limits: Arc<Limits>,
    asking: Asking,
    addresses: Arc<Addresses>,
    /// The archives, and the version of the registry that they are from.
    current: Mutex<(Option<Version>, Arc<Archives>)>,
    acknowledgments: Arc<Semaphore>,
    is_stopping: AtomicBool,
}

impl Resolver {
    /// A resolver of the archives in `registry`, which must be readable.
    pub fn new(
        exposed: Exposure,
        registry: RegistryFile,
        addresses: Addresses,
        limits: (Arc<Limits>, AskLimits),
        (agent, clock): (Agent, Arc<dyn Clock>),
    ) -> Result<Resolver, RegistryError> {
        registry.read()?;
        let (limits, ask_limits) = limits;
        let acknowledgments = Arc::new(Semaphore::new(ask_limits.in_all));
        let asking = Asking::new(Arc::new(ask_limits));
        let addresses = Arc::new(addresses);
        Ok(Resolver {
            exposed,
            registry,
            clock,
            checks: KeyChecks::default(),
            agent,
            limits,
            asking,
            addresses,
            current: Mutex::default(),
            acknowledgments,
            is_stopping: AtomicBool::default(),
        })
    }

    /// From now on `/healthz` says that the service stops.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    /// Whether it is reached at `address`.
    pub(super) fn is_at(&self, address: &HostPort) -> bool {
        let usual = self.exposed.scheme.usual_port();
        self.exposed.addresses.iter().any(|own| own.is_same(address, usual))
    }

    /// The URL of its service.
    pub fn service_url(&self) -> String {
        format!("{}/{}", self.base(), self.exposed.service)
    }

    /// The beginning of its URLs, without a slash.
    pub fn base(&self) -> String {
        format!("{}://{}", self.exposed.scheme, self.exposed.addresses[0])
    }

    /// The included archives, as the registry has them now. A look at the file is a system call.
    fn archives(&self) -> Arc<Archives> {
        let version = self.registry.version();
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.0 != version || version.is_none() {
            match self.registry.read() {
                Ok(registry) => {
                    let limits = &self.asking.limits;
                    let archives = Archives::of(&registry, &current.1, &self.addresses, limits);
                    *current = (version, Arc::new(archives));
                }
                Err(error) => {
                    let error: &(dyn std::error::Error + 'static) = &error;
                    tracing::error!(
                        error,
                        "the registry cannot be read; the archives stay as they were"
                    );
                }
            }
        }
        Arc::clone(&current.1)
    }

    /// Whether an archive confirms that it is where it says.
    pub(super) async fn confirms(
        &self,
        service: &Identifier,
        inclusion: &Inclusion,
    ) -> Result<bool, RegistryError> {
        let registry = self.registry.read()?;
        let Some(archive) = registry.archive(service) else { return Ok(false) };
        let limits = &self.asking.limits;
        let archive = IncludedArchive::new(archive, inclusion, &self.addresses, limits);
        Ok(archive.confirms().await)
    }

    /// Writes the place of an archive into the registry.
    pub(super) async fn change(
        self: &Arc<Resolver>,
        service: Identifier,
        included: Option<Inclusion>,
    ) -> Result<(), RegistryError> {
        let resolver = Arc::clone(self);
        let change = move || {
            let caller = Caller {
                agent: &resolver.agent,
                clock: resolver.clock.as_ref(),
                wait: WAIT,
                progress: &NoProgress,
                interrupt: &Interrupt::default(),
            };
            let address = included.as_ref().map(|it| it.address.clone());
            let (registry, ()) = resolver.registry.change(&caller, |registry| {
                registry.archive_mut(&service)?.included = included;
                Ok::<_, RegistryError>(())
            })?;
            let is_same = |it: &Inclusion| Some(&it.address) == address.as_ref();
            let others = registry.archives.iter().filter(|it| it.service != service);
            for other in others.filter(|it| it.included.as_ref().is_some_and(is_same)) {
                tracing::warn!(archive = %service, other = %other.service, "two archives have one address");
            }
            Ok(())
        };
        let changed = tokio::task::spawn_blocking(change).await;
        changed.unwrap_or_else(|error| {
            let error = std::io::Error::other(error.to_string());
            let error = PathError::new("write", self.registry.path(), error);
            Err(PrivateFileError::from(error).into())
        })
    }

    async fn respond(self: &Arc<Resolver>, head: Parts, peer: SocketAddr) -> Answer {
        let is_stopping = self.is_stopping.load(Ordering::Relaxed);
        let known = front(&head, (is_stopping, READING), |host| self.is_at(host).then_some(()));
        if let ControlFlow::Break(answer) = known {
            return answer;
        }
        let text = head.uri.path_and_query().map_or("/", |target| target.as_str());
        let reader = Reader::of(&head.headers);
        let Some(target) = Target::of(text) else { return self.nothing(&reader) };
        if target.path.is_empty() {
            return self.about(&reader, &self.archives());
        }
        let clients = addresses(&head.headers, peer.ip(), &self.limits);
        if let Some(query) = target.service_query(std::slice::from_ref(&self.exposed.service)) {
            if head.method == Method::HEAD {
                return answer::refused_method(ASKING);
            }
            return self.service(query, clients[0]).await;
        }
        match target.persistent_url() {
            Ok(url) => self.persistent_url(&url, text, clients, &reader).await,
            Err(Refusal::NotFound) => self.nothing(&reader),
            Err(Refusal::Malformed) => self.malformed(&reader, text),
        }
    }

    /// The answer to a persistent URL.
    async fn persistent_url(
        &self,
        url: &PersistentUrl,
        target: &str,
        clients: Vec<IpAddr>,
        reader: &Reader,
    ) -> Answer {
        let archives = self.archives();
        let mut clients: Vec<_> =
            clients.into_iter().filter_map(|it| self.exposed.client.of(it)).collect();
        if clients.is_empty() {
            clients.push(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        }
        let resolution = archives.resolve(&self.asking, url, &clients, &reader.preferences).await;
        let silent = resolution.silent;
        let (found, asked) = match &resolution.outcome {
            Ok(found) => found,
            Err(alert) => {
                tracing::info!(item = %url.identifier, ?alert, silent, "an alert");
                return self.unresolved(alert, (url, silent), &archives, reader);
            }
        };
        self.acknowledge(archives.at(found.archive), found, &clients, target);
        let location = with_question(&found.url, url);
        let mut answer = if url.selection.status == RequiredStatus::Original && silent > 0 {
            // One of them may claim the Original, too.
            tracing::info!(item = %url.identifier, silent, "the Original was found, but not all archives answered");
            answer::redirect_with(format!("unanswered {silent}"), &location, "no-cache")
        } else {
            answer::redirect(&location, "no-cache")
        };
        if url.selection.verbs.steps().contains(&Verb::Translation(None)) {
            answer::set(&mut answer, VARY, "Accept-Language");
        }
        let selected = found.ibi.as_deref().and_then(identifier);
        let persistent = format!("{}/{}", self.base(), selected.as_ref().unwrap_or(asked));
        answer::set(&mut answer, LINK, &format!("<{persistent}>; rel=\"cite-as\""));
        answer
    }

    /// Tells the archive that its item is going to be fetched, beside the answer to the reader.
    fn acknowledge(
        &self,
        archive: &Arc<IncludedArchive>,
        found: &Found,
        clients: &[IpAddr],
        target: &str,
    ) {
        let own = &self.exposed.addresses[0];
        let port = own.port().unwrap_or(self.exposed.scheme.usual_port());
        let persistent = format!("{}://{}:{port}{target}", self.exposed.scheme, own.host());
        let query = acknowledgment(found, clients, &persistent);
        let place = Arc::clone(&self.acknowledgments).try_acquire_owned();
        let (Some(query), Ok(place)) = (query, place) else { return };
        let request = format!("/{}?{query}", archive.service);
        if request.len() > LONGEST_TARGET {
            return;
        }
        let (archive, limit) = (Arc::clone(archive), self.asking.limits.acknowledgment);
        tokio::spawn(async move {
            if let Err(error) = archive.get(&request, limit).await {
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::debug!(archive = %archive, error, "an acknowledgment failed");
            }
            drop(place);
        });
    }
}

impl Service for Resolver {
    async fn answer(self: Arc<Resolver>, request: Request<Incoming>, peer: SocketAddr) -> Answer {
        let (head, _body) = request.into_parts();
        self.respond(head, peer).await
    }
}
