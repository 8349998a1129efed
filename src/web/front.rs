//! The part of every request that all services answer in one way.

use std::ops::ControlFlow::{self, Break, Continue};

use hyper::header::{CONNECTION, RETRY_AFTER};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};

use super::answer::{self, Answer};
use super::head::{check_framing, host};
use super::page::STYLE;
use crate::identity::HostPort;

/// The methods of a path that is read.
pub const READING: &str = "GET, HEAD, OPTIONS";
/// The methods of a request to a service: each is counted, or changes who is asked.
pub const ASKING: &str = "GET, OPTIONS";
/// Most bytes of a target.
pub const LONGEST_TARGET: usize = 8 * 1024;
/// The methods of a path that takes a form.
pub const FORM: &str = "POST, OPTIONS";

/// The service that a request by one of `methods` is for, which `at` finds by its address; or the answer, if that is the same for all
/// services.
pub fn front<S>(
    head: &Parts,
    (is_stopping, methods): (bool, &'static str),
    at: impl FnOnce(&HostPort) -> Option<S>,
) -> ControlFlow<Answer, S> {
    if check_framing(head).is_err() {
        return Break(closing(answer::text(StatusCode::BAD_REQUEST, "notice {invalid request}")));
    }
    if head.uri.path() == "/healthz" {
        return Break(health(is_stopping));
    }
    if head.uri.path_and_query().is_some_and(|target| target.as_str().len() > LONGEST_TARGET) {
        return Break(answer::text(StatusCode::URI_TOO_LONG, "notice {URL too long}"));
    }
    let Ok(host) = host(head) else {
        return Break(closing(answer::text(StatusCode::BAD_REQUEST, "notice {invalid host}")));
    };
    let Some(service) = at(&host) else {
        let notice = "notice {no service has this address}";
        return Break(answer::text(StatusCode::MISDIRECTED_REQUEST, notice));
    };
    if head.method == Method::OPTIONS {
        return Break(answer::options(methods));
    }
    if !methods.split(", ").any(|method| method == head.method.as_str()) {
        return Break(answer::refused_method(methods));
    }
    match head.uri.path() {
        "/style.css" => {
            let style = answer::whole(StatusCode::OK, "text/css; charset=utf-8", STYLE);
            Break(answer::stored(style, "max-age=3600"))
        }
        "/robots.txt" => {
            Break(answer::whole(StatusCode::OK, "text/plain", "User-agent: *\nAllow: /\n"))
        }
        // Every browser asks for it.
        "/favicon.ico" => {
            Break(answer::stored(answer::empty(StatusCode::NO_CONTENT), "max-age=86400"))
        }
        _ => Continue(service),
    }
}

fn health(is_stopping: bool) -> Answer {
    if is_stopping {
        return busy(answer::text(StatusCode::SERVICE_UNAVAILABLE, "stopping"));
    }
    answer::text(StatusCode::OK, "ok")
}

/// An answer to a client that should come again.
pub fn busy(mut answer: Answer) -> Answer {
    answer::set(&mut answer, RETRY_AFTER, "10");
    answer
}

/// An answer after which the connection ends: its next bytes cannot be trusted to be a request.
fn closing(mut answer: Answer) -> Answer {
    answer::set(&mut answer, CONNECTION, "close");
    answer
}
