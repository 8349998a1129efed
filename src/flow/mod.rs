//! Many small jobs in two stages: threads process them in any order, and one side takes the results in the
//! order of the jobs, in groups. The results in flight are bounded in jobs, files and bytes.
//!
//! [`Flow`] passes results on, [`ReorderBuffer`] puts them in order and cuts them into groups, [`batches`]
//! cuts one large job into shares; [`Reservations`] counts the space that jobs in flight still need on the
//! disk.

mod batch;
mod drive;
mod gather;
mod room;

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::disk::PathError;
use crate::identity::RepositoryName;

pub(crate) use batch::batches;
pub(crate) use drive::{MOST_REQUESTS, drive, request_threads, spread};
pub(crate) use gather::{GROUP_ITEMS, ReorderBuffer, Size};
pub use room::NoRoom;
pub(crate) use room::{Footprint, Lacking, Reservation, Reservations};

/// The number of a job, from 0, and its result.
type Message<R> = (usize, R);

/// Number of messages, and of their bytes, that wakes the publishing side; it also wakes when nothing else is
/// in flight. Waking it for each small item would cost more than staging that item.
const NEWS: usize = 256;
const NEWS_BYTES: u64 = 64 * 1024 * 1024;

/// Groups that are staged, synced or published at a time.
const GROUPS: usize = 3;

/// Limits on jobs in flight: files limit the memory, bytes limit the work that a crash undoes.
#[derive(Clone, Copy, Debug)]
struct Limit {
    jobs: usize,
    files: usize,
    bytes: u64,
}

/// The jobs in flight, bounded so that neither memory nor the stage grow without limit.
pub(crate) struct Flow<R> {
    state: Mutex<FlowState<R>>,
    limit: Limit,
    /// Fewer jobs are in flight, or no more are wanted.
    room: Condvar,
    /// A result has arrived.
    news: Condvar,
}

struct FlowState<R> {
    /// Begun and not yet reported.
    under_way: usize,
    /// Their weights, from the oldest; `None` before a job was admitted.
    weights: VecDeque<Size>,
    /// The sum of the weights.
    total: Size,
    /// The number of the oldest.
    oldest: usize,
    /// Jobs that wait for room.
    waiting: usize,
    /// A job has begun to wait since the publishing side looked.
    pressed: bool,
    /// Jobs in flight that the publishing side has taken.
    held: usize,
    arrived: Vec<Message<R>>,
    arrived_bytes: u64,
    stopped: bool,
    ended: bool,
}

impl<R> FlowState<R> {
    /// Whether a new job has to wait until earlier ones have left.
    fn is_idle(&self) -> bool {
        self.waiting > 0 || self.held + self.arrived.len() == self.under_way
    }

    /// Adds to the weight of a job.
    fn weigh(&mut self, number: usize, Size { files, bytes }: Size) {
        let at = number.checked_sub(self.oldest);
        if let Some(weight) = at.and_then(|at| self.weights.get_mut(at)) {
            // Hostile sidecars may say anything.
            let bytes = bytes.min(u64::MAX - self.total.bytes);
            let files = files.min(usize::MAX - self.total.files);
            weight.files += files;
            weight.bytes += bytes;
            self.total.files += files;
            self.total.bytes += bytes;
        }
    }

    fn is_news(&self) -> bool {
        self.ended
            || self.pressed
            || self.arrived.len() >= NEWS
            || self.arrived_bytes >= NEWS_BYTES
            || (!self.arrived.is_empty() && self.is_idle())
    }
}

/// The results that the publishing side takes at a time.
struct Taken<R> {
    messages: Vec<Message<R>>,
    /// Nothing else is in flight: the results taken need not wait for more.
    idle: bool,
}

impl<R> Flow<R> {
    /// A flow of at most `jobs` jobs in flight, and of a few groups of files and bytes.
    pub(crate) fn new(jobs: usize) -> Flow<R> {
        let (files, bytes) = (GROUPS * gather::GROUP_FILES, GROUPS as u64 * gather::GROUP_BYTES);
        Flow::with_limit(Limit { jobs, files, bytes })
    }

    fn with_limit(limit: Limit) -> Flow<R> {
        let state = Mutex::new(FlowState {
            under_way: 0,
            weights: VecDeque::new(),
            total: Size::default(),
            oldest: 0,
            waiting: 0,
            pressed: false,
            held: 0,
            arrived: Vec::new(),
            arrived_bytes: 0,
            stopped: false,
            ended: false,
        });
        Flow { state, limit, room: Condvar::new(), news: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, FlowState<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until one more job may begin; `false` if no more are wanted.
    pub(crate) fn enter(&self) -> bool {
        let mut state = self.state();
        while state.under_way >= self.limit.jobs && !state.stopped {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if !state.stopped {
            state.under_way += 1;
            state.weights.push_back(Size::default());
        }
        !state.stopped
    }

    /// Waits for room for the files of a job that has entered, now that they are known; `false` if no more
    /// are wanted. Jobs ask in the order of their numbers, except those that ask at the same time.
    ///
    /// The oldest job never waits: nothing leaves before it.
    pub(crate) fn admit(&self, number: usize, files: usize) -> bool {
        let mut state = self.state();
        while !state.stopped
            && number != state.oldest
            && (state.total.files >= self.limit.files || state.total.bytes >= self.limit.bytes)
        {
            // The publishing side has to take the results so far, however few.
            state.waiting += 1;
            state.pressed = true;
            self.news.notify_one();
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        state.weigh(number, Size { files, bytes: 0 });
        !state.stopped
    }

    /// Hands over the result of a job of `bytes`.
    pub(crate) fn deliver(&self, message: Message<R>, bytes: u64) {
        let mut state = self.state();
        state.weigh(message.0, Size { files: 0, bytes });
        state.arrived_bytes = state.arrived_bytes.saturating_add(bytes);
        state.arrived.push(message);
        if state.is_news() {
            self.news.notify_one();
        }
    }

    /// Waits for messages, or for a job that waits for room. `None` if the staging side has ended and all
    /// results were taken.
    fn take(&self) -> Option<Taken<R>> {
        let mut state = self.state();
        while !state.is_news() {
            state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.arrived_bytes = 0;
        let messages = std::mem::take(&mut state.arrived);
        state.held += messages.len();
        let idle = state.is_idle();
        let pressed = std::mem::take(&mut state.pressed);
        (pressed || !messages.is_empty()).then_some(Taken { messages, idle })
    }

    /// The `count` oldest jobs have been reported.
    pub(crate) fn leave(&self, count: usize) {
        let mut state = self.state();
        state.under_way -= count;
        state.held -= count;
        state.oldest += count;
        for weight in state.weights.drain(..count).collect::<Vec<_>>() {
            state.total.files -= weight.files;
            state.total.bytes -= weight.bytes;
        }
        self.room.notify_all();
    }

    /// No more jobs are wanted.
    pub(crate) fn stop(&self) {
        self.state().stopped = true;
        self.room.notify_all();
    }

    pub(crate) fn stopped(&self) -> bool {
        self.state().stopped
    }

    fn end(&self) {
        self.state().ended = true;
        self.news.notify_one();
    }
}

/// Passes the names of items to the given function, until it breaks.
pub type NameFeed<'a> = dyn FnOnce(&mut dyn FnMut(RepositoryName) -> ControlFlow<()>) -> Result<(), PathError>
    + Send
    + 'a;

/// Whether a run only plans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunMode {
    /// Only plans.
    Plan,
    /// Carries the plan out.
    #[default]
    Act,
}

/// Treatment of items that are deleted at the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tombstones {
    /// Each is an error, because it was requested by its identifier.
    #[default]
    Refuse,
    /// They are skipped: all items were requested, and these no longer exist.
    Pass,
    /// The destination of a copy learns of them; an export skips them.
    Bring,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Limit = Limit { jobs: 100, files: 10, bytes: 1000 };

    fn size(_: &usize) -> Size {
        Size::default()
    }

    /// A flow that a number of jobs have entered.
    fn entered(jobs: usize) -> Flow<usize> {
        let flow = Flow::with_limit(LIMIT);
        assert!((0..jobs).all(|_| flow.enter()));
        flow
    }

    #[test]
    fn files_under_way_are_bounded_by_their_number() {
        let flow = entered(4);
        for number in [0, 1] {
            assert!(flow.admit(number, 6));
            flow.deliver((number, number), 0);
        }
        std::thread::scope(|threads| {
            let waiting = [2, 3].map(|number| {
                let flow = &flow;
                threads.spawn(move || {
                    let admitted = flow.admit(number, 6);
                    let held = flow.state().total.files;
                    flow.deliver((number, number), 0);
                    (admitted, held)
                })
            });
            let mut groups = flow.groups(size);
            // Although more jobs are in flight: they wait until this one has left.
            let mut seen = groups.next().unwrap();
            assert!(flow.state().total.files <= 12);
            flow.leave(seen.len());
            while seen.len() < 4 {
                let group = groups.next().unwrap();
                flow.leave(group.len());
                seen.extend(group);
            }
            assert_eq!(seen, [0, 1, 2, 3]);
            for thread in waiting {
                let (admitted, held) = thread.join().unwrap();
                assert!(admitted && held < LIMIT.files + 6, "{held} files at a time");
            }
        });
        let state = flow.state();
        assert_eq!((state.total.files, state.weights.len()), (0, 0));
    }

    /// The staged results are bounded in bytes, too.
    #[test]
    fn bytes_under_way_are_bounded() {
        let flow = entered(2);
        assert!(flow.admit(0, 1));
        flow.deliver((0, 0), LIMIT.bytes);
        std::thread::scope(|threads| {
            let waiting = threads.spawn(|| flow.admit(1, 1));
            assert_eq!(flow.groups(size).next(), Some(vec![0]));
            assert!(!waiting.is_finished());
            flow.leave(1);
            assert!(waiting.join().unwrap());
        });
    }

    /// Nothing leaves before the oldest job, so it would wait for itself.
    #[test]
    fn the_oldest_never_waits() {
        let flow = entered(2);
        assert!(flow.admit(1, 50) && flow.admit(0, 50));
    }

    #[test]
    fn a_stop_ends_the_wait_for_room() {
        let flow = entered(2);
        assert!(flow.admit(0, 50));
        std::thread::scope(|threads| {
            let waiting = threads.spawn(|| flow.admit(1, 1));
            flow.stop();
            assert!(!waiting.join().unwrap());
        });
    }
}
