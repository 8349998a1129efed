//! Asking other servers: GETs within limits, and no redirect is followed.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::front;
use crate::identity::HostPort;

/// Most bytes of an answer.
const MOST_BYTES: usize = 256 * 1024;
/// Most bytes and fields of its head.
const MOST_HEAD_BYTES: usize = 16 * 1024;
const MOST_FIELDS: usize = 64;
/// Most bytes of a target that is asked for: less than a server takes, ours as well as the usual ones in front of an archive.
pub const LONGEST_TARGET: usize = 8000;
const _: () = assert!(LONGEST_TARGET < front::LONGEST_TARGET);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// No connection can be made.
    #[error("cannot connect to {0}")]
    Connect(HostPort, #[source] io::Error),
    /// It took too long.
    #[error("{0} did not answer within {1:?}")]
    Late(HostPort, Duration),
    /// The connection breaks before the head of an answer, or there is none of HTTP.
    #[error("{0} did not answer as a server of HTTP does")]
    Broken(HostPort, #[source] Box<dyn std::error::Error + Send + Sync>),
    /// The host has an address that is not public.
    #[error("{0} is at {1}, which is not a public address")]
    Private(HostPort, IpAddr),
    /// It is not plain text.
    #[error("{0} answered with another type than text/plain")]
    Type(HostPort),
    /// The text is not whole, too long, or not UTF-8.
    #[error("the answer of {0} is not a whole text")]
    Text(HostPort, #[source] Box<dyn std::error::Error + Send + Sync>),
}

impl AskError {
    /// Whether the server did not answer at all. Any answer, with whatever status, shows that it is there.
    pub fn is_silence(&self) -> bool {
        !matches!(self, AskError::Type(_) | AskError::Text(..))
    }
}

/// An answer in plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The text.
    pub text: String,
}

/// A connection to a server, which takes one request after the other.
#[derive(Debug)]
pub struct Connection {
    host: HostPort,
    sender: SendRequest<Empty<Bytes>>,
}

impl Connection {
    /// A connection to `host` over `stream`.
    pub async fn over(stream: TcpStream, host: &HostPort) -> Result<Connection, AskError> {
        // Requests are written whole: waiting for more bytes only delays them.
        let _ = stream.set_nodelay(true);
        let mut builder = http1::Builder::new();
        builder.max_buf_size(MOST_HEAD_BYTES).max_headers(MOST_FIELDS);
        let (sender, connection) =
            builder.handshake(TokioIo::new(stream)).await.map_err(broken(host))?;
        // It ends with the server, or with the sender.
        tokio::spawn(connection);
        Ok(Connection { host: host.clone(), sender })
    }

    /// Whether it takes another request. A server may close it at any moment.
    pub fn is_open(&self) -> bool {
        !self.sender.is_closed()
    }

    /// Sends a GET for `target`, and reads the answer. After an error, the connection takes no other request.
    pub async fn get(&mut self, target: &str) -> Result<Reply, AskError> {
        let host = self.host.clone();
        let request = Request::get(target).header(HOST, host.to_string());
        let request = request.body(Empty::<Bytes>::new()).map_err(broken(&host))?;
        self.sender.ready().await.map_err(broken(&host))?;
        let answer = self.sender.send_request(request).await.map_err(broken(&host))?;
        let status = answer.status();
        let media = answer.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media = media.and_then(|it| it.split(';').next()).unwrap_or_default();
        let is_text = media.trim().eq_ignore_ascii_case("text/plain");
        if !is_text || answer.headers().contains_key(CONTENT_ENCODING) {
            return Err(AskError::Type(host));
        }
        let body = Limited::new(answer.into_body(), MOST_BYTES).collect().await;
        let body = body.map_err(|error| AskError::Text(host.clone(), error))?.to_bytes();
        let text = String::from_utf8(body.to_vec());
        let text = text.map_err(|error| AskError::Text(host, error.into()))?;
        Ok(Reply { status, text })
    }
}

/// The error of a server that does not keep to HTTP.
fn broken<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
    host: &HostPort,
) -> impl FnOnce(E) -> AskError {
    |error| AskError::Broken(host.clone(), error.into())
}

/// Connects to `host`, and sends a GET for the target that `target` makes of the local address.
pub async fn ask(
    host: &HostPort,
    target: impl FnOnce(SocketAddr) -> String,
    limit: Duration,
) -> Result<Reply, AskError> {
    let reply = async {
        let refused = |error| AskError::Connect(host.clone(), error);
        let name = host.host().trim_matches(['[', ']']);
        let stream =
            TcpStream::connect((name, host.port().unwrap_or(80))).await.map_err(refused)?;
        let target = target(stream.local_addr().map_err(refused)?);
        Connection::over(stream, host).await?.get(&target).await
    };
    let reply = tokio::time::timeout(limit, reply).await;
    reply.unwrap_or_else(|_| Err(AskError::Late(host.clone(), limit)))
}
