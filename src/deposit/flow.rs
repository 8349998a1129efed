//! What passes between the side that stages and the side that publishes, bounded.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::DepositError;
use super::group::Staged;

/// A request's number and what became of it in the stage.
pub(super) type Message = (usize, Result<Staged, (String, DepositError)>);

/// The publishing side is woken for so many messages, or bytes, or when nothing else is under way:
/// waking it for each of many small items would cost more than staging them.
const NEWS: usize = 256;
const NEWS_BYTES: u64 = 64 * 1024 * 1024;

/// How many requests are under way, so that neither memory nor the stage grow without bound.
pub(super) struct Flow {
    state: Mutex<State>,
    limit: usize,
    /// Fewer are under way, or no more are wanted.
    room: Condvar,
    /// There is something to take.
    news: Condvar,
}

#[derive(Default)]
struct State {
    /// Begun and not yet reported.
    under_way: usize,
    /// Of these, taken by the publishing side.
    held: usize,
    arrived: Vec<Message>,
    arrived_bytes: u64,
    stopped: bool,
    ended: bool,
}

impl State {
    fn is_idle(&self) -> bool {
        self.held + self.arrived.len() == self.under_way
    }

    fn is_news(&self) -> bool {
        self.ended
            || self.arrived.len() >= NEWS
            || self.arrived_bytes >= NEWS_BYTES
            || (!self.arrived.is_empty() && self.is_idle())
    }
}

/// What the publishing side takes at a time.
pub(super) struct Taken {
    pub messages: Vec<Message>,
    /// Nothing else is under way: what was taken need not wait for more.
    pub idle: bool,
}

impl Flow {
    /// A flow of at most `limit` requests at a time.
    pub(super) fn new(limit: usize) -> Flow {
        let state = Mutex::default();
        Flow { state, limit, room: Condvar::new(), news: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for room for one more; `false` when nothing more is wanted.
    pub(super) fn enter(&self) -> bool {
        let mut state = self.state();
        while state.under_way >= self.limit && !state.stopped {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.under_way += usize::from(!state.stopped);
        !state.stopped
    }

    /// Hands over what became of a request.
    pub(super) fn deliver(&self, message: Message) {
        let mut state = self.state();
        if let Ok(staged) = &message.1 {
            state.arrived_bytes += staged.plan.bytes;
        }
        state.arrived.push(message);
        if state.is_news() {
            self.news.notify_one();
        }
    }

    /// Waits for messages; nothing when the staging side has ended and all were taken.
    pub(super) fn take(&self) -> Option<Taken> {
        let mut state = self.state();
        while !state.is_news() {
            state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.arrived_bytes = 0;
        let messages = std::mem::take(&mut state.arrived);
        state.held += messages.len();
        let idle = state.is_idle();
        (!messages.is_empty()).then_some(Taken { messages, idle })
    }

    /// `count` requests that were taken have been reported.
    pub(super) fn leave(&self, count: usize) {
        let mut state = self.state();
        state.under_way -= count;
        state.held -= count;
        self.room.notify_one();
    }

    /// Nothing more is wanted.
    pub(super) fn stop(&self) {
        self.state().stopped = true;
        self.room.notify_one();
    }

    pub(super) fn stopped(&self) -> bool {
        self.state().stopped
    }

    fn end(&self) {
        self.state().ended = true;
        self.news.notify_one();
    }
}

/// Lets the staging side end when nobody takes what it stages, even after a panic.
pub(super) struct StopOnDrop<'a>(pub &'a Flow);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Lets the publishing side end when nothing more will be staged, even after a panic.
pub(super) struct EndOnDrop<'a>(pub &'a Flow);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
