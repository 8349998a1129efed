//! Connections without an answer on its way: they make room for others.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::sync::Notify;

use super::answer::Body;

/// The idle connections: those that have sent no request first, and of each kind the one that has been idle longest.
#[derive(Default)]
pub(super) struct IdleConnections(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    next: u64,
    all: BTreeMap<Turn, Arc<Signals>>,
}

/// Whether a connection has sent a request, and when it became idle.
type Turn = (bool, u64);

/// Signals between the one who accepts connections and a connection.
#[derive(Default)]
pub(super) struct Signals {
    /// It has to make room.
    pub(super) room: Notify,
    /// A write waits for the reader: the end of an answer may still be on its way.
    pub(super) waits: AtomicBool,
}

/// A connection.
pub(super) struct OpenConnection {
    idle: Arc<IdleConnections>,
    turn: Mutex<Option<Turn>>,
    pub(super) signals: Arc<Signals>,
}

/// An answer on its way.
pub(super) struct Answering(Arc<OpenConnection>);

/// The body of an answer, which is on its way until it is dropped.
pub(super) struct AnsweringBody {
    pub(super) body: Body,
    pub(super) _answering: Answering,
}

impl IdleConnections {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes one of them. `false` if there is none.
    pub(super) fn close_one(&self) -> bool {
        let mut queue = self.queue();
        let mut ready = queue.all.iter().filter(|(_, it)| !it.waits.load(Ordering::Relaxed));
        let Some(turn) = ready.next().map(|(turn, _)| *turn) else { return false };
        queue.all.remove(&turn).is_some_and(|signals| {
            signals.room.notify_one();
            true
        })
    }
}

impl OpenConnection {
    pub(super) fn new(idle: &Arc<IdleConnections>) -> Arc<OpenConnection> {
        let (turn, signals) = (Mutex::default(), Arc::default());
        let open = OpenConnection { idle: Arc::clone(idle), turn, signals };
        open.take_turn(Some(false));
        Arc::new(open)
    }

    /// It is not idle, until what is returned is dropped.
    pub(super) fn answering(open: &Arc<OpenConnection>) -> Answering {
        open.take_turn(None);
        Answering(Arc::clone(open))
    }

    /// Gives its turn back. From now on it is idle, if `has_asked` says whether it has sent a request.
    fn take_turn(&self, has_asked: Option<bool>) {
        let mut queue = self.idle.queue();
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = *turn {
            queue.all.remove(&before);
        }
        *turn = has_asked.map(|has_asked| (has_asked, queue.next));
        if let Some(turn) = *turn {
            queue.next += 1;
            queue.all.insert(turn, Arc::clone(&self.signals));
        }
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.take_turn(None);
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.take_turn(Some(true));
    }
}

impl hyper::body::Body for AnsweringBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
