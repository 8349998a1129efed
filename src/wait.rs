//! Waiting for a lock or a date: by which clock, for how long, and until a stop is requested.

use std::fmt;
use std::time::Duration;

use crate::clock::{Clock, SystemClock};
use crate::interrupt::Interrupt;

/// The longest pause between two checks of the interrupt, and so the longest delay of a stop.
pub const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// The limit of waits for locks that are held for a moment only.
const DEFAULT_LIMIT: Duration = Duration::from_secs(10);

/// How to wait. Every wait of the library goes through one of these.
#[derive(Clone)]
pub struct Waiter<'a> {
    /// Lets the time pass.
    pub clock: &'a dyn Clock,
    /// Ends the wait early.
    pub interrupt: Interrupt,
    /// The longest wait.
    pub limit: Duration,
}

/// The end of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited<T> {
    /// It succeeded.
    Ready(T),
    /// The limit was reached.
    TimedOut,
    /// A stop was requested.
    Interrupted,
}

/// A stop was requested during a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

impl<'a> Waiter<'a> {
    /// Waits by `clock`, up to `limit`, unless `interrupt` is requested.
    pub fn new(clock: &'a dyn Clock, interrupt: &Interrupt, limit: Duration) -> Waiter<'a> {
        Waiter { clock, interrupt: interrupt.clone(), limit }
    }

    /// The same, with another limit.
    #[must_use]
    pub fn up_to(&self, limit: Duration) -> Waiter<'a> {
        Waiter { limit, ..self.clone() }
    }

    /// Repeats `attempt`, at growing intervals and at least once, until it has a value.
    pub fn poll<T, E>(
        &self,
        mut attempt: impl FnMut() -> Result<Option<T>, E>,
    ) -> Result<Waited<T>, E> {
        let mut waited = Duration::ZERO;
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(value) = attempt()? {
                return Ok(Waited::Ready(value));
            }
            if waited >= self.limit {
                return Ok(Waited::TimedOut);
            }
            if self.pause(pause).is_err() {
                return Ok(Waited::Interrupted);
            }
            waited += pause;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// Pauses for up to `duration`: at most [`LONGEST_PAUSE`], and not at all once a stop was requested.
    pub fn pause(&self, duration: Duration) -> Result<(), Interrupted> {
        if self.interrupt.requested() {
            return Err(Interrupted);
        }
        self.clock.pause(duration.min(LONGEST_PAUSE));
        Ok(())
    }
}

/// Waits for a brief operation of another process on this machine, which only the machine's own clock
/// measures.
impl Default for Waiter<'static> {
    fn default() -> Waiter<'static> {
        Waiter::new(&SystemClock, &Interrupt::default(), DEFAULT_LIMIT)
    }
}

impl fmt::Debug for Waiter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Waiter { clock: _, interrupt, limit } = self;
        f.debug_struct("Waiter")
            .field("interrupt", interrupt)
            .field("limit", limit)
            .finish_non_exhaustive()
    }
}
