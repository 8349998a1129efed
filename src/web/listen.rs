//! Accepting connections within limits, and ending them.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};

use super::answer::Body;
use super::idle::{AnsweringBody, IdleConnections, OpenConnection};
use super::stalling::Stalling;
use crate::sidecar::Network;

/// Limits on the resources of clients. The defaults suit a small machine.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections at a time. For others, the one that has been idle longest makes room; where all have answers on their way,
    /// they are closed at once.
    pub connections: usize,
    /// Connections of one address, or of one network of 64 bits, unless that is a trusted proxy.
    pub of_an_address: usize,
    /// How long a connection may take for the head of its next request, idle time included.
    pub head: Duration,
    /// Bytes of a head.
    pub head_bytes: usize,
    /// Fields of a head.
    pub fields: usize,
    /// How long a reader may take nothing.
    pub stalled: Duration,
    /// How long running answers may take after a stop is requested.
    pub stop: Duration,
    /// The proxies in front, which name their clients.
    pub trusted: Vec<Network>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 1024,
            of_an_address: 64,
            head: Duration::from_secs(10),
            head_bytes: 16 * 1024,
            fields: 64,
            stalled: Duration::from_secs(30),
            stop: Duration::from_secs(30),
            trusted: Vec::new(),
        }
    }
}

impl Limits {
    /// Whether `address` is that of a trusted proxy.
    pub fn trusts(&self, address: IpAddr) -> bool {
        self.trusted.iter().any(|network| network.contains(address))
    }
}

/// Answers requests.
pub trait Service: Send + Sync + 'static {
    /// The answer to a request from `peer`.
    fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        peer: SocketAddr,
    ) -> impl Future<Output = Response<Body>> + Send;
}

/// Answers the requests of all connections to `listener`, until `stop` is true and the running answers have ended. The `workers`
/// take turns: with a thread for each, no connection moves between threads, which would cost more than a small answer.
pub async fn listen<S: Service>(
    listener: TcpListener,
    service: Arc<S>,
    limits: Arc<Limits>,
    (mut stop, workers): (watch::Receiver<bool>, Vec<Handle>),
) {
    let mut turns = workers.iter().cycle();
    let places = Arc::new(Semaphore::new(limits.connections));
    let taken = Arc::new(OfAddresses::default());
    let idle = Arc::new(IdleConnections::default());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let Ok((stream, peer)) = accepted else {
            // The process is out of descriptors: running connections give some back.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let most = if limits.trusts(peer.ip()) { usize::MAX } else { limits.of_an_address };
        let Some(of_address) = taken.take(peer.ip(), most) else { continue };
        let place = match Arc::clone(&places).try_acquire_owned() {
            Err(_) if idle.close_one() => Arc::clone(&places).acquire_owned().await.ok(),
            place => place.ok(),
        };
        let Some(place) = place else { continue };
        let (Some(worker), Ok(stream)) = (turns.next(), stream.into_std()) else { continue };
        let (service, limits, stop) = (Arc::clone(&service), Arc::clone(&limits), stop.clone());
        let open = OpenConnection::new(&idle);
        worker.spawn(async move {
            let Ok(stream) = TcpStream::from_std(stream) else { return };
            // A client that breaks off is no event.
            let _ = serve(stream, peer, service, limits, (stop, open)).await;
            drop((place, of_address));
        });
    }
    drop(listener);
    let all = u32::try_from(limits.connections).unwrap_or(u32::MAX);
    // Each connection ends by itself within this time.
    let _ = tokio::time::timeout(limits.stop, places.acquire_many(all)).await;
}

/// Serves one connection.
async fn serve<S: Service>(
    stream: TcpStream,
    peer: SocketAddr,
    service: Arc<S>,
    limits: Arc<Limits>,
    (mut stop, open): (watch::Receiver<bool>, Arc<OpenConnection>),
) -> Result<(), hyper::Error> {
    // Answers are written whole: waiting for more bytes only delays them.
    let _ = stream.set_nodelay(true);
    let answer = service_fn(|request| {
        let answering = OpenConnection::answering(&open);
        let service = Arc::clone(&service);
        async move {
            let answer = service.answer(request, peer).await;
            Ok::<_, Infallible>(answer.map(|body| AnsweringBody { body, _answering: answering }))
        }
    });
    let stream = Stalling::new(stream, limits.stalled, Arc::clone(&open.signals));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // A client that has sent all it has to say still takes the answer.
        .half_close(true)
        .header_read_timeout(limits.head)
        .max_buf_size(limits.head_bytes)
        .max_headers(limits.fields)
        .serve_connection(TokioIo::new(stream), answer);
    let mut connection = pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => return ended,
        () = open.signals.room.notified() => return Ok(()),
        _ = stop.wait_for(|stop| *stop) => connection.as_mut().graceful_shutdown(),
    }
    tokio::time::timeout(limits.stop, connection).await.unwrap_or(Ok(()))
}

/// The numbers of connections of addresses.
#[derive(Default)]
struct OfAddresses(Mutex<HashMap<IpAddr, usize>>);

/// The address by which connections are counted. One host of IPv6 has all addresses of a network.
fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address @ IpAddr::V4(_) => address,
    }
}

/// A place of an address, given back when it is dropped.
struct OfAddress {
    all: Arc<OfAddresses>,
    address: IpAddr,
}

impl OfAddresses {
    /// A place for `address`, unless it has `most` of them.
    fn take(self: &Arc<OfAddresses>, address: IpAddr, most: usize) -> Option<OfAddress> {
        let address = counted(address);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(address).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(OfAddress { all: Arc::clone(self), address })
    }
}

impl Drop for OfAddress {
    fn drop(&mut self) {
        let mut counts = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_of_one_host_has_the_places_of_one_address() {
        let taken = Arc::new(OfAddresses::default());
        let take = |address: &str| taken.take(address.parse().unwrap(), 2);
        let first = take("2001:db8:0:1::1");
        assert!(first.is_some());
        let second = take("2001:db8:0:1:ffff::2");
        assert!(second.is_some() && take("2001:db8:0:1:0:1::").is_none());
        assert!(take("2001:db8:0:2::1").is_some());
        drop(second);
        assert!(take("2001:db8:0:1::3").is_some());
        let mapped = take("::ffff:192.0.2.1");
        let plain = take("192.0.2.1");
        assert!(mapped.is_some() && plain.is_some() && take("::ffff:192.0.2.1").is_none());
        assert!(take("192.0.2.2").is_some());
    }
}
