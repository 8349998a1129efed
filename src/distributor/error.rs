//! Why no date was issued, and warnings where one was.

use std::fmt;
use std::time::Duration;

use super::Verdict;
use crate::disk::{LockError, PathError};
use crate::identity::{Instant, Prefix};

/// Why no date was issued. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum DistributorError {
    /// The clock is behind the last date by more than the limit of the wait.
    #[error("no identifier was issued: the clock is {} behind the last identifier of `{prefix}`", Span(*behind))]
    ClockBehind {
        /// The prefix.
        prefix: Prefix,
        /// The last date.
        last: Instant,
        /// The time of the clock.
        now: Instant,
        /// The difference.
        behind: Duration,
    },
    /// The granularity requires a longer wait than the limit.
    #[error("no identifier was issued: the next one of `{prefix}` is {} away", Span(*wait))]
    TooLong {
        /// The prefix.
        prefix: Prefix,
        /// The last date.
        last: Instant,
        /// The time of the clock.
        now: Instant,
        /// The length of the wait.
        wait: Duration,
    },
    /// The time of the clock is implausible.
    #[error("no identifier was issued: {}", doubt(verdict))]
    ClockDoubtful {
        /// The prefix.
        prefix: Prefix,
        /// The doubt.
        verdict: Verdict,
    },
    /// The memory was last written on another machine.
    #[error("no identifier was issued: the memory of `{prefix}` is that of another machine")]
    OtherMachine {
        /// The prefix.
        prefix: Prefix,
        /// The machine that wrote it.
        recorded: String,
        /// This machine.
        this: String,
    },
    /// The memory was written by a later version, which alone knows the last date.
    #[error("no identifier was issued: the memory of `{series}` was written by a newer urepo")]
    NewerMemory {
        /// The prefix of names or IBIps.
        series: String,
    },
    /// The memory belongs to another prefix.
    #[error("no identifier was issued: the memory of `{series}` is that of `{found}`")]
    WrongMemory {
        /// The requested prefix of names or IBIps.
        series: String,
        /// The prefix in the memory.
        found: String,
    },
    /// A stop was requested during the wait for a date.
    #[error(
        "no identifier was issued: interrupted while waiting for the one of {date} of `{prefix}`"
    )]
    Interrupted {
        /// The prefix.
        prefix: Prefix,
        /// The date.
        date: Instant,
    },
    /// Another process holds the memory.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The memory cannot be read or written.
    #[error(transparent)]
    Disk(#[from] PathError),
}

/// A warning about a memory that did not stop the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Names exist, but the memory is missing.
    MemoryMissing {
        /// The prefix.
        prefix: Prefix,
        /// The latest name on disk, or in the ledger.
        newest: Instant,
    },
    /// The memory cannot be read.
    MemoryDamaged {
        /// The prefix.
        prefix: Prefix,
        /// The latest name on disk, or in the ledger.
        newest: Option<Instant>,
    },
    /// Nothing keeps another collection of this machine from issuing the same names.
    NoHostState {
        /// The prefix.
        prefix: Prefix,
        /// The reason.
        cause: String,
    },
    /// This machine issued names of the prefix of a new collection before.
    KnownPrefix {
        /// The prefix.
        prefix: Prefix,
        /// The last of them.
        last: Instant,
    },
    /// A name is dated in the future.
    FutureName {
        /// The prefix.
        prefix: Prefix,
        /// Its date.
        date: Instant,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::MemoryMissing { prefix, newest } => write!(
                f,
                "the memory of `{prefix}` is missing; going on above its newest identifier, {}",
                newest.suffix()
            ),
            Notice::MemoryDamaged { prefix, newest: Some(newest) } => write!(
                f,
                "the memory of `{prefix}` is damaged; going on above its newest identifier, {}",
                newest.suffix()
            ),
            Notice::MemoryDamaged { prefix, newest: None } => {
                write!(f, "the memory of `{prefix}` is damaged; no identifier of it is known")
            }
            Notice::NoHostState { prefix, cause } => write!(
                f,
                "another collection of this machine could issue the same identifiers of `{prefix}`: {cause}; set \
                 `UREPO_STATE` to a directory that every user who issues them may write to"
            ),
            Notice::KnownPrefix { prefix, last } => write!(
                f,
                "this machine has issued identifiers of `{prefix}` before, the last {}; the new collection goes on \
                 above it",
                last.suffix()
            ),
            Notice::FutureName { prefix, date } => write!(
                f,
                "an identifier of `{prefix}` is dated in the future, {}; new identifiers do not go on above it",
                date.suffix()
            ),
        }
    }
}

fn doubt(verdict: &Verdict) -> String {
    match verdict {
        Verdict::BeforeStandard { now } => {
            format!("the clock says {now}, before the beginning of the standard's time, 1995-08-01")
        }
        Verdict::PastYear9999 { now } => format!("the clock says {now}, past the year 9999"),
        Verdict::TooFarAhead { last, ahead, .. } => format!(
            "the clock is {} ahead of the last identifier, {}; one from a wrong future would block all \
             others until then",
            Span(*ahead),
            last.suffix()
        ),
        Verdict::ClockBehind { behind, .. } => format!("the clock is {} behind", Span(*behind)),
        Verdict::Fine => "the clock is fine".to_owned(),
    }
}

/// A duration for people: `3 h 12 min`, `4.2 s`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span(pub(super) Duration);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
        if days > 0 {
            write!(f, "{days} d {hours} h")
        } else if hours > 0 {
            write!(f, "{hours} h {minutes} min")
        } else if minutes > 0 {
            write!(f, "{minutes} min {} s", seconds % 60)
        } else if self.0 >= Duration::from_secs(10) {
            write!(f, "{seconds} s")
        } else {
            write!(f, "{seconds}.{:03} s", self.0.subsec_millis())
        }
    }
}
