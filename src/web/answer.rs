//! Answers, and the fields that all of them have.

use std::io;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName,
    HeaderValue, LOCATION, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};

/// The body of an answer.
pub type Body = UnsyncBoxBody<Bytes, io::Error>;

/// An answer.
pub type Answer = Response<Body>;

/// The policy of pages: their own style, and nothing else.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'none'; \
                           base-uri 'none'; frame-ancestors 'none'";

/// An answer without a body.
pub fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(Empty::new().map_err(|never| match never {}).boxed_unsync());
    *answer.status_mut() = status;
    if status != StatusCode::NO_CONTENT && status != StatusCode::NOT_MODIFIED {
        // A HEAD has the fields of a GET.
        set(&mut answer, CONTENT_LENGTH, "0");
    }
    answer
}

/// An answer with this body.
pub fn whole(status: StatusCode, media_type: &str, body: impl Into<Bytes>) -> Answer {
    let body: Bytes = body.into();
    let length = body.len();
    let mut answer = Response::new(Full::new(body).map_err(|never| match never {}).boxed_unsync());
    *answer.status_mut() = status;
    set(&mut answer, CONTENT_LENGTH, &length.to_string());
    set(&mut answer, CONTENT_TYPE, media_type);
    set(&mut answer, X_CONTENT_TYPE_OPTIONS, "nosniff");
    answer
}

/// A list of pairs, or another text of the protocol, which is never stored [resolution, 6.2].
pub fn text(status: StatusCode, body: impl Into<Bytes>) -> Answer {
    stored(whole(status, "text/plain", body), "no-store")
}

/// A page for people.
pub fn page(status: StatusCode, html: String) -> Answer {
    let mut answer = whole(status, "text/html; charset=utf-8", html);
    set(&mut answer, CONTENT_SECURITY_POLICY, PAGE_POLICY);
    set(&mut answer, REFERRER_POLICY, "no-referrer");
    set(&mut answer, VARY, "Accept, Accept-Language");
    answer
}

/// A redirect. `location` has the characters of a URL only.
pub fn redirect(location: &str, stored_as: &str) -> Answer {
    redirected(empty(StatusCode::FOUND), location, stored_as)
}

/// A redirect with something to say besides.
pub fn redirect_with(text: String, location: &str, stored_as: &str) -> Answer {
    redirected(whole(StatusCode::FOUND, "text/plain", text), location, stored_as)
}

fn redirected(mut answer: Answer, location: &str, stored_as: &str) -> Answer {
    set(&mut answer, LOCATION, location);
    stored(answer, stored_as)
}

/// The refusal of a method.
pub fn refused_method(allowed: &'static str) -> Answer {
    let mut answer = empty(StatusCode::METHOD_NOT_ALLOWED);
    set(&mut answer, ALLOW, allowed);
    answer
}

/// The answer to a question for the methods.
pub fn options(allowed: &'static str) -> Answer {
    let mut answer = empty(StatusCode::NO_CONTENT);
    set(&mut answer, ALLOW, allowed);
    answer
}

/// Sets how caches keep `answer`.
#[must_use]
pub fn stored(mut answer: Answer, rule: &str) -> Answer {
    set(&mut answer, CACHE_CONTROL, rule);
    answer
}

/// Sets a field. A value that no field can have is left out: it comes from a name of a file at most.
pub fn set(answer: &mut Answer, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
}
