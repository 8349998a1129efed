//! From a request to its answer: framing, host, method, path.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, CONTENT_RANGE, USER_AGENT};
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode};

use super::access::Fetch;
use super::archive::Archive;
use super::file::{FileOrAnswer, answer_with};
use super::item::RequestContext;
use super::labels::LabelServer;
use super::route::{Route, route};
use super::service::answer_query;
use super::sidecars::Sidecars;
use crate::clock::Clock;
use crate::collection::{ClientAddress, CollectionError};
use crate::identity::{HostPort, Identifier, Instant, RepositoryName};
use crate::layout;
use crate::web::answer::{self, Answer};
use crate::web::front::{ASKING, FORM, READING, front};
use crate::web::head::{Client, client, host};
use crate::web::listen::{Limits, Service};
use crate::web::page::Reader;
use crate::web::target::Refusal;

/// Archives at their addresses.
pub struct Server {
    archives: Vec<Arc<Archive>>,
    /// The sidecars of all of them.
    sidecars: Arc<Sidecars>,
    limits: Arc<Limits>,
    clock: Arc<dyn Clock>,
    labels: Option<LabelServer>,
    is_stopping: AtomicBool,
}

/// The path that issues labels.
const ISSUE: &str = "/issue";

/// The access log among the events.
const ACCESS: &str = "urepo::access";

impl Server {
    /// A server of `archives`, which have different addresses.
    pub fn new(archives: Vec<Archive>, limits: Arc<Limits>, clock: Arc<dyn Clock>) -> Server {
        let sidecars = Arc::new(Sidecars::default());
        let archives = archives.into_iter().map(|it| Arc::new(it.with_sidecars(&sidecars)));
        let (archives, is_stopping) = (archives.collect(), AtomicBool::new(false));
        Server { archives, sidecars, limits, clock, labels: None, is_stopping }
    }

    /// The same server, which issues labels, too.
    #[must_use]
    pub fn with_labels(self, labels: Option<LabelServer>) -> Server {
        Server { labels, ..self }
    }

    /// The archives.
    pub fn archives(&self) -> &[Arc<Archive>] {
        &self.archives
    }

    /// From now on `/healthz` says that the service stops.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    fn archive_at(&self, host: &HostPort) -> Option<&Arc<Archive>> {
        self.archives.iter().find(|archive| archive.is_at(host))
    }

    /// The beginning of the line about a request in the access log. Queries are left out: they have the keys.
    fn log_line(&self, head: &Parts, peer: SocketAddr) -> Option<String> {
        let part = |archive: &Archive| archive.collection.settings().archive.access_log;
        let is_logged = |archive: &Arc<Archive>| part(archive) != ClientAddress::None;
        let host = self.archives.iter().any(is_logged).then(|| host(head).ok())??;
        let part = part(self.archive_at(&host)?);
        let client = match client(&head.headers, peer.ip(), &self.limits) {
            _ if part == ClientAddress::None => return None,
            Client::At(address) => part.of(address)?.to_string(),
            Client::Unknown => "-".to_owned(),
        };
        let path = head.uri.path().escape_debug();
        Some(format!("{host} {client} {} {path}", head.method))
    }

    async fn respond(&self, head: Parts, body: Incoming, peer: SocketAddr) -> Answer {
        let is_stopping = self.is_stopping.load(Ordering::Relaxed);
        let labels = self.labels.as_ref().filter(|_| head.uri.path() == ISSUE);
        let methods = if labels.is_some() { FORM } else { READING };
        let archive = match front(&head, (is_stopping, methods), |host| self.archive_at(host)) {
            ControlFlow::Continue(archive) => archive,
            ControlFlow::Break(answer) => return answer,
        };
        if let Some(labels) = labels {
            return labels.answer(&head.headers, body, self.clock.as_ref()).await;
        }
        let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
        let reader = Reader::of(&head.headers);
        let client = client(&head.headers, peer.ip(), &self.limits);
        let now = self.clock.now();
        let context = RequestContext { client, reader: &reader, now, target };
        let route = match route(target, &archive.service) {
            Ok(Route::Content { name, path }) => {
                let place = (&archive.collection, &archive.proofs);
                if let Some(opened) = archive.files.find(place, (&name, &path), client) {
                    let answer = answer_with(archive, opened, &head.method, &head.headers);
                    archive.count(&name, client, &head, &answer, now);
                    return answer;
                }
                Route::Content { name, path }
            }
            Ok(Route::Service(_)) if head.method == Method::HEAD => {
                return answer::refused_method(ASKING);
            }
            Ok(route) => route,
            Err(Refusal::NotFound) => return archive.nothing(&context),
            Err(Refusal::Malformed) => return archive.malformed(&context),
        };
        if let Some(item) = item_of(&route) {
            let path = archive.collection.path().join(layout::item_directory(item));
            self.sidecars.until_read(&path).await;
        }
        let (archive, target) = (Arc::clone(archive), target.to_owned());
        let work = tokio::task::spawn_blocking(move || {
            let context = RequestContext { client, reader: &reader, now, target: &target };
            perform(&archive, route, &context, &head).unwrap_or_else(|error| {
                archive.faults.note_error(&error, "an answer failed", now);
                archive.failed(&context)
            })
        });
        work.await.unwrap_or_else(|_| answer::empty(StatusCode::INTERNAL_SERVER_ERROR))
    }
}

/// The answer to a request that may need the disk.
fn perform(
    archive: &Arc<Archive>,
    route: Route,
    context: &RequestContext<'_>,
    head: &Parts,
) -> Result<Answer, CollectionError> {
    match route {
        Route::About => Ok(archive.about(context.reader)),
        Route::Service(query) => answer_query(archive, &query, (context.client, context.now)),
        Route::Item(url) => archive.persistent_url(&url, context),
        Route::Content { name, path } => Ok(match archive.content(&name, &path, context)? {
            FileOrAnswer::Answer(answer) => answer,
            FileOrAnswer::File(opened) => {
                let answer = answer_with(archive, *opened, &head.method, &head.headers);
                archive.count(&name, context.client, head, &answer, context.now);
                answer
            }
        }),
    }
}

/// The item that a request names, if it names one by its repository name.
fn item_of(route: &Route) -> Option<&RepositoryName> {
    match route {
        Route::Content { name, .. } => Some(name),
        Route::Item(url) => match &url.identifier {
            Identifier::Repository(name) => Some(name),
            Identifier::Ibip(_) | Identifier::Legacy(_) => None,
        },
        Route::About | Route::Service(_) => None,
    }
}

impl Archive {
    /// Counts the answer to a request for a file.
    fn count(
        &self,
        item: &RepositoryName,
        client: Client,
        head: &Parts,
        answer: &Answer,
        now: Instant,
    ) {
        let field = |name| answer.headers().get(name).and_then(|value| value.to_str().ok());
        let is_file = matches!(answer.status(), StatusCode::OK | StatusCode::PARTIAL_CONTENT);
        if head.method == Method::GET && is_file {
            let range = field(CONTENT_RANGE);
            let fetch = Fetch {
                bytes: field(CONTENT_LENGTH).and_then(|it| it.parse().ok()).unwrap_or(0),
                is_begin: range.is_none_or(|range| range.starts_with("bytes 0-")),
                program: head.headers.get(USER_AGENT).map_or(b"", |name| name.as_bytes()),
            };
            self.accesses.fetched(item, client, fetch, now);
        }
    }
}

impl Service for Server {
    async fn answer(self: Arc<Server>, request: Request<Incoming>, peer: SocketAddr) -> Answer {
        let (head, body) = request.into_parts();
        let line = self.log_line(&head, peer);
        let answer = self.respond(head, body, peer).await;
        if let Some(line) = line {
            tracing::info!(target: ACCESS, "{line} {}", answer.status().as_u16());
        }
        answer
    }
}
