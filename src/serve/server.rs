//! From a request to its answer: framing, host, method, path.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyper::body::Incoming;
use hyper::header::{CONNECTION, RETRY_AFTER};
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode};

use super::archive::Archive;
use super::file::{FileOrAnswer, answer_with};
use super::item::RequestContext;
use super::route::{Refusal, Route, route};
use super::service::answer_query;
use crate::clock::Clock;
use crate::collection::CollectionError;
use crate::identity::{HostPort, PersistentUrl, RepositoryName};
use crate::web::answer::{self, Answer};
use crate::web::head::{check_framing, client, host};
use crate::web::listen::{Limits, Service};
use crate::web::page::{Reader, STYLE};

/// The methods that every path has.
const METHODS: &str = "GET, HEAD, OPTIONS";

/// Archives at their addresses.
pub struct Server {
    archives: Vec<Arc<Archive>>,
    limits: Arc<Limits>,
    clock: Arc<dyn Clock>,
    is_stopping: AtomicBool,
}

/// A request that needs the disk.
enum Job {
    Service(String),
    Item(Box<PersistentUrl>),
    Content { name: RepositoryName, path: Vec<u8> },
}

impl Server {
    /// A server of `archives`, which have different addresses.
    pub fn new(archives: Vec<Archive>, limits: Arc<Limits>, clock: Arc<dyn Clock>) -> Server {
        let archives = archives.into_iter().map(Arc::new).collect();
        Server { archives, limits, clock, is_stopping: AtomicBool::new(false) }
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

    async fn respond(&self, head: Parts, peer: SocketAddr) -> Answer {
        if check_framing(&head).is_err() {
            return closing(answer::text(StatusCode::BAD_REQUEST, "notice {invalid request}"));
        }
        if head.uri.path() == "/healthz" {
            return self.health();
        }
        let Ok(host) = host(&head) else {
            return closing(answer::text(StatusCode::BAD_REQUEST, "notice {invalid host}"));
        };
        let Some(archive) = self.archive_at(&host) else {
            return answer::text(
                StatusCode::MISDIRECTED_REQUEST,
                "notice {no archive has this address}",
            );
        };
        if head.method == Method::OPTIONS {
            return answer::options(METHODS);
        }
        if !answer::reads(&head.method) {
            return answer::refused_method(METHODS);
        }
        let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
        let reader = Reader::of(&head.headers);
        let client = client(&head.headers, peer.ip(), &self.limits);
        let context = RequestContext { client, reader: &reader, target };
        let job = match route(target, &archive.service) {
            Ok(Route::About) => return archive.about(&reader),
            Ok(Route::Style) => {
                let style = answer::whole(StatusCode::OK, "text/css; charset=utf-8", STYLE);
                return answer::stored(style, "max-age=3600");
            }
            Ok(Route::Robots) => {
                return answer::whole(StatusCode::OK, "text/plain", "User-agent: *\nAllow: /\n");
            }
            Ok(Route::Service(query)) => Job::Service(query),
            Ok(Route::Item(url)) => Job::Item(url),
            Ok(Route::Content { name, path }) => {
                let place = (&archive.collection, &archive.proofs);
                if let Some(opened) = archive.files.find(place, (&name, &path), client) {
                    return answer_with(archive, opened, &head.method, &head.headers);
                }
                Job::Content { name, path }
            }
            Err(Refusal::NotFound) => return archive.nothing(&context),
            Err(Refusal::Malformed) => return archive.malformed(&context),
        };
        let (archive, clock, target) =
            (Arc::clone(archive), Arc::clone(&self.clock), target.to_owned());
        let work = tokio::task::spawn_blocking(move || {
            let context = RequestContext { client, reader: &reader, target: &target };
            perform(&archive, job, &context, clock.as_ref(), &head).unwrap_or_else(|error| {
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::error!(error, "an answer failed");
                archive.failed(&context)
            })
        });
        work.await.unwrap_or_else(|_| answer::empty(StatusCode::INTERNAL_SERVER_ERROR))
    }

    fn health(&self) -> Answer {
        if self.is_stopping.load(Ordering::Relaxed) {
            let mut answer = answer::text(StatusCode::SERVICE_UNAVAILABLE, "stopping");
            answer::set(&mut answer, RETRY_AFTER, "10");
            return answer;
        }
        answer::text(StatusCode::OK, "ok")
    }
}

/// Reads from the disk what an answer needs.
fn perform(
    archive: &Arc<Archive>,
    job: Job,
    context: &RequestContext<'_>,
    clock: &dyn Clock,
    head: &Parts,
) -> Result<Answer, CollectionError> {
    match job {
        Job::Service(query) => answer_query(archive, &query, clock.now()),
        Job::Item(url) => archive.persistent_url(&url, context),
        Job::Content { name, path } => Ok(match archive.content(&name, &path, context)? {
            FileOrAnswer::Answer(answer) => answer,
            FileOrAnswer::File(opened) => {
                answer_with(archive, *opened, &head.method, &head.headers)
            }
        }),
    }
}

/// An answer after which the connection ends: its next bytes cannot be trusted to be a request.
fn closing(mut answer: Answer) -> Answer {
    answer::set(&mut answer, CONNECTION, "close");
    answer
}

impl Service for Server {
    async fn answer(&self, request: Request<Incoming>, peer: SocketAddr) -> Answer {
        let (head, _body) = request.into_parts();
        self.respond(head, peer).await
    }
}
