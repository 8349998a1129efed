//! Requests for identifiers that got none.

use urepo::disk::LockError;
use urepo::distributor::{DistributorError, Verdict};

use super::{Explain, WHILE_LOCKED};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

impl Explain for DistributorError {
    fn explain(&self) -> Failure {
        match self {
            Self::ClockBehind { last, now, behind, .. } => {
                let hours = behind.as_secs() / 3600 + 1;
                let hint = if hours > 24 {
                    "correct the clock; if it is right, a clock that was ahead has issued the last identifier: go on \
                     under another `port` in `urepo.toml`"
                        .to_owned()
                } else {
                    format!("correct the clock, or wait with `UREPO_MAX_WAIT={hours}h`")
                };
                Failure::of(Exit::WouldWait, self).caused_by(dates(*last, *now)).hint(hint)
            }
            Self::TooLong { last, now, wait, .. } => {
                let seconds = wait.as_secs() + 1;
                Failure::of(Exit::WouldWait, self).caused_by(dates(*last, *now)).hint(format!(
                    "wait with `UREPO_MAX_WAIT={seconds}s`, or set `granularity = \"auto\"` in `urepo.toml`"
                ))
            }
            Self::ClockDoubtful { verdict: Verdict::PastYear9999 { .. }, .. } => {
                Failure::of(Exit::Failure, self).hint("correct the clock")
            }
            Self::ClockDoubtful { .. } => Failure::of(Exit::Failure, self)
                .hint("correct the clock; if it is right, repeat with `--force clock`"),
            Self::OtherMachine { recorded, this, .. } => Failure::of(Exit::Failure, self)
                .caused_by(format!("it was written as `{recorded}`, this is `{this}`"))
                .hint(format!(
                    "give this machine a `[[subsystem]]` of its own in `urepo.toml`, with `machine = \"{this}\"` and \
                     another `host` or `port`; a machine without a lasting `/etc/machine-id`, such as a container, needs \
                     `UREPO_MACHINE_ID`"
                )),
            Self::NewerMemory { .. } => {
                Failure::of(Exit::Failure, self).hint("use that version, or a later one")
            }
            Self::WrongMemory { .. } => Failure::of(Exit::Failure, self)
                .hint("put the file back from a backup, or remove it: the next command goes on above all items"),
            Self::Lock(LockError::Held { .. }) => {
                Failure::of(Exit::Locked, self).hint(WHILE_LOCKED)
            }
            Self::Interrupted { .. } | Self::Lock(LockError::Interrupted { .. }) => {
                Failure::of(Exit::Interrupted, self)
            }
            Self::Lock(LockError::Disk(error)) | Self::Disk(error) => error.explain(),
        }
    }
}

fn dates(last: urepo::identity::Instant, now: urepo::identity::Instant) -> String {
    format!("last identifier {}, clock {} (UTC)", last.suffix(), now.suffix())
}
