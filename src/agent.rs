//! Who acts: the process and machine that locks, memories and records name, and what it brings along.

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
    /// The same as a number.
    pub user_id: u32,
    /// The name of the machine.
    pub machine: String,
    /// What tells this machine from every other, even one with the same name: a machine id.
    pub machine_id: String,
    /// What tells this run of the machine from the ones before: a boot id.
    pub boot_id: String,
    /// What is being done, as a person would type it: `urepo new`.
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

/// Who calls an engine, and what the engine gets from there.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// Who acts.
    pub agent: &'a Agent,
    /// The clock.
    pub clock: &'a dyn Clock,
    /// How long to wait for the locks of an item.
    pub wait: Duration,
    /// Receives the progress.
    pub progress: &'a dyn Progress,
    /// The request to stop.
    pub interrupt: &'a Interrupt,
}

impl<'a> Caller<'a> {
    /// How it waits for locks.
    pub(crate) fn waiter(&self) -> Waiter<'a> {
        Waiter::new(self.clock, self.interrupt, self.wait)
    }
}
