//! Many small jobs in two stages: threads work on them in any order, one side takes what they made in
//! the order of the jobs, in groups. What lies between the two is bounded.
//!
//! [`Flow`] passes results on, [`Gathered`] puts them in order and cuts them into groups, [`batches`]
//! cuts one large job into shares.

mod batch;
mod gather;

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

pub(crate) use batch::batches;
pub(crate) use gather::{GROUP_ITEMS, Gathered, Size};

/// The number of a job, from 0, and what became of it.
type Message<R> = (usize, R);

/// The publishing side is woken for so many messages, or bytes, or when nothing else is under way:
/// waking it for each of many small items would cost more than staging them.
const NEWS: usize = 256;
const NEWS_BYTES: u64 = 64 * 1024 * 1024;

/// How many jobs are under way, so that neither memory nor the stage grow without bound.
pub(crate) struct Flow<R> {
    state: Mutex<State<R>>,
    limit: usize,
    /// Fewer are under way, or no more are wanted.
    room: Condvar,
    /// There is something to take.
    news: Condvar,
}

struct State<R> {
    /// Begun and not yet reported.
    under_way: usize,
    /// Of these, taken by the publishing side.
    held: usize,
    arrived: Vec<Message<R>>,
    arrived_bytes: u64,
    stopped: bool,
    ended: bool,
}

impl<R> State<R> {
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
struct Taken<R> {
    messages: Vec<Message<R>>,
    /// Nothing else is under way: what was taken need not wait for more.
    idle: bool,
}

impl<R> Flow<R> {
    /// A flow of at most `limit` jobs at a time.
    pub(crate) fn new(limit: usize) -> Flow<R> {
        let state = Mutex::new(State {
            under_way: 0,
            held: 0,
            arrived: Vec::new(),
            arrived_bytes: 0,
            stopped: false,
            ended: false,
        });
        Flow { state, limit, room: Condvar::new(), news: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for room for one more; `false` when nothing more is wanted.
    pub(crate) fn enter(&self) -> bool {
        let mut state = self.state();
        while state.under_way >= self.limit && !state.stopped {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.under_way += usize::from(!state.stopped);
        !state.stopped
    }

    /// Hands over what became of a job, of so many bytes.
    pub(crate) fn deliver(&self, message: Message<R>, bytes: u64) {
        let mut state = self.state();
        state.arrived_bytes = state.arrived_bytes.saturating_add(bytes);
        state.arrived.push(message);
        if state.is_news() {
            self.news.notify_one();
        }
    }

    /// Waits for messages; nothing when the staging side has ended and all were taken.
    fn take(&self) -> Option<Taken<R>> {
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

    /// `count` jobs that were taken have been reported.
    pub(crate) fn leave(&self, count: usize) {
        let mut state = self.state();
        state.under_way -= count;
        state.held -= count;
        self.room.notify_one();
    }

    /// Nothing more is wanted.
    pub(crate) fn stop(&self) {
        self.state().stopped = true;
        self.room.notify_one();
    }

    pub(crate) fn stopped(&self) -> bool {
        self.state().stopped
    }

    fn end(&self) {
        self.state().ended = true;
        self.news.notify_one();
    }
}

/// Lets the staging side end when nobody takes what it stages, even after a panic.
pub(crate) struct StopOnDrop<'a, R>(pub &'a Flow<R>);

impl<R> Drop for StopOnDrop<'_, R> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Lets the publishing side end when nothing more will be staged, even after a panic.
pub(crate) struct EndOnDrop<'a, R>(pub &'a Flow<R>);

impl<R> Drop for EndOnDrop<'_, R> {
    fn drop(&mut self) {
        self.0.end();
    }
}
