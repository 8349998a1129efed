//! Asking another server: one GET within limits, and no redirect is followed.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::client::conn::http1;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::identity::HostPort;

/// Most bytes of an answer.
const MOST_BYTES: usize = 256 * 1024;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// No connection can be made.
    #[error("cannot connect to {0}")]
    Connect(HostPort, #[source] io::Error),
    /// It took too long.
    #[error("{0} did not answer within {1:?}")]
    Late(HostPort, Duration),
    /// The answer is not whole, or not HTTP.
    #[error("{0} did not answer as a server of HTTP does")]
    Broken(HostPort, #[source] Box<dyn std::error::Error + Send + Sync>),
    /// It is not plain text.
    #[error("{0} answered with another type than text/plain")]
    Type(HostPort),
}

/// An answer in plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The text.
    pub text: String,
}

/// Connects to `host`, and sends a GET for the target that `target` makes of the local address.
pub async fn ask(
    host: &HostPort,
    target: impl FnOnce(SocketAddr) -> String,
    limit: Duration,
) -> Result<Reply, AskError> {
    let reply = tokio::time::timeout(limit, connect_and_ask(host, target));
    reply.await.unwrap_or_else(|_| Err(AskError::Late(host.clone(), limit)))
}

async fn connect_and_ask(
    host: &HostPort,
    target: impl FnOnce(SocketAddr) -> String,
) -> Result<Reply, AskError> {
    let refused = |error| AskError::Connect(host.clone(), error);
    let broken =
        |error: Box<dyn std::error::Error + Send + Sync>| AskError::Broken(host.clone(), error);
    let name = host.host().trim_matches(['[', ']']);
    let stream = TcpStream::connect((name, host.port().unwrap_or(80))).await.map_err(refused)?;
    let target = target(stream.local_addr().map_err(refused)?);
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| broken(error.into()))?;
    // It ends with the answer, or with this request.
    tokio::spawn(connection);
    let request = Request::get(target).header(HOST, host.to_string()).body(Empty::<Bytes>::new());
    let request = request.map_err(|error| broken(error.into()))?;
    let answer = sender.send_request(request).await.map_err(|error| broken(error.into()))?;
    let status = answer.status();
    let media = answer.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_text = media.is_some_and(|media| media.split(';').next() == Some("text/plain"));
    if !is_text || answer.headers().contains_key(CONTENT_ENCODING) {
        return Err(AskError::Type(host.clone()));
    }
    let body = Limited::new(answer.into_body(), MOST_BYTES).collect().await.map_err(broken)?;
    let text = String::from_utf8(body.to_bytes().to_vec()).map_err(|error| broken(error.into()))?;
    Ok(Reply { status, text })
}
