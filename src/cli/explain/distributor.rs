//! Requests for identifiers that got none.

use urepo::disk::LockError;
use urepo::distributor::{DistributorError, Verdict};

use super::{Explain, WHILE_LOCKED};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::shell;

impl Explain for DistributorError {
    fn explain(&self) -> Failure {
        match self {
            Self::ClockBehind { last, now, behind, .. } => {
                let hours = behind.as_secs() / 3600 + 1;
                let hint = if hours > 24 {
                    "correct the clock; if it is right, `urepo doctor --take-over \
                     --forget-future` takes the memory back to now"
                        .to_owned()
                } else {
                    format!(
                        "correct the clock, or wait with `--max-wait {hours}h`; `urepo doctor` \
                         shows the memory"
                    )
                };
                Failure::of(Exit::WouldWait, self).caused_by(dates(*last, *now)).hint(hint)
            }
            Self::TooLong { last, now, wait, .. } => {
                let seconds = wait.as_secs() + 1;
                Failure::of(Exit::WouldWait, self).caused_by(dates(*last, *now)).hint(format!(
                    "wait with `--max-wait {seconds}s`, or take `--granularity auto`"
                ))
            }
            Self::ClockDoubtful { verdict: Verdict::PastYear9999 { .. }, .. } => {
                Failure::of(Exit::Failure, self).hint("correct the clock")
            }
            Self::ClockDoubtful { .. } => Failure::of(Exit::Failure, self)
                .hint("correct the clock; if it is right, repeat with `--accept-clock`"),
            Self::OtherMachine { recorded, this, .. } => Failure::of(Exit::Failure, self)
                .caused_by(format!("it was written as `{recorded}`, this is `{this}`"))
                .hint(
                    "if only this collection issues identifiers of this prefix from now on, say so with \
                     `urepo doctor --take-over`; a machine without a lasting \
                     `/etc/machine-id`, such as a container, needs `UREPO_MACHINE_ID`",
                ),
            Self::NewerMemory { .. } => {
                Failure::of(Exit::Failure, self).hint("use that version, or a later one")
            }
            Self::WrongMemory { .. } => Failure::of(Exit::Failure, self)
                .hint("give each prefix a memory of its own; see `distributor` in `urepo.toml`"),
            Self::Unseen { .. } => Failure::of(Exit::Conflict, self).hint(
                "make it readable there, or give its new place with `--names-from`; `--force unseen` goes on without: \
                 identifiers that it has issued for later dates can then be issued a second time",
            ),
            Self::TooManyReserved { .. } => Failure::of(Exit::Conflict, self).hint(
                "issue identifiers of another host or port: `port` in `urepo.toml`, or `--port` with `urepo init`",
            ),
            Self::ReservedDamaged { path, .. } => Failure::of(Exit::Damage, self).hint(format!(
                "restore it from a backup; or remove it with `rm {}`, and name the other collections that have identifiers \
                 of this host: `urepo doctor --take-over --names-from COLLECTION`",
                shell::word(path)
            )),
            Self::ReservedMissing { .. } => Failure::of(Exit::Damage, self).hint(
                "name all other collections that have identifiers of this host: `urepo doctor --take-over --names-from \
                 COLLECTION`; if there is none, use `urepo doctor --take-over --force unseen`",
            ),
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
