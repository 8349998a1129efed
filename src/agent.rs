//! The agent: the process and machine that locks, memories and records name.

use std::time::Duration;

use crate::clock::Clock;
use crate::disk::Holder;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::wait::Waiter;

/// The process that uses the library, as its caller describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// The process number.
    pub process: u32,
    /// The user it runs as, by name: `ana`, or `user 1000` where the machine knows no name.
    pub user: String,
    /// The number of the user.
    pub user_id: u32,
    /// The name of the machine.
    pub machine: String,
    /// The machine id, which distinguishes machines of the same name.
    pub machine_id: String,
    /// The command, as a person would type it: `urepo new`.
    pub command: String,
}

impl Agent {
    /// This agent as the holder of a lock taken now.
    pub fn holder(&self, clock: &dyn Clock) -> Holder {
        Holder {
            process: self.process,
            machine: self.machine.clone(),
            command: self.command.clone(),
            since: clock.now().floor(crate::identity::SECOND),
        }
    }
}

/// The caller of an engine, and what the caller passes to it.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// Who acts.
    pub agent: &'a Agent,
    /// The clock.
    pub clock: &'a dyn Clock,
    /// How long to wait for a lock.
    pub wait: Duration,
    /// Receives the progress.
    pub progress: &'a dyn Progress,
    /// The request to stop.
    pub interrupt: &'a Interrupt,
}

impl<'a> Caller<'a> {
    /// How the engine waits for locks.
    pub(crate) fn waiter(&self) -> Waiter<'a> {
        Waiter::new(self.clock, self.interrupt, self.wait)
    }
}
