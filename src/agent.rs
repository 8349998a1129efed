//! Who acts: the process and machine that locks, memories and records name.

use crate::clock::Clock;
use crate::disk::Holder;

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
