//! Why no date was issued, and warnings where one was.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::Verdict;
use crate::disk::{Dir, LockError, PathError};
use crate::identity::{Instant, Prefix};
use crate::layout;

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
    /// The memory was last written elsewhere: a copied collection, a restored backup, a clone.
    #[error("no identifier was issued: the memory of `{prefix}` is a copy")]
    OtherMachine {
        /// The prefix.
        prefix: Prefix,
        /// The machine that wrote it.
        recorded: String,
        /// This machine.
        this: String,
    },
    /// The memory was written by a later version, which alone knows the last date.
    #[error("no identifier was issued: the memory of `{prefix}` was written by a newer urepo")]
    NewerMemory {
        /// The prefix.
        prefix: Prefix,
    },
    /// The memory belongs to another prefix.
    #[error("no identifier was issued: the memory of `{prefix}` is that of `{found}`")]
    WrongMemory {
        /// The requested prefix.
        prefix: Prefix,
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
    /// Collections that may have names of the future cannot be read.
    #[error(
        "the memory of `{prefix}` stays as it is: {} cannot be searched for identifiers dated in the future",
        listed(roots)
    )]
    Unseen {
        /// Whose memory.
        prefix: Prefix,
        /// Where they were.
        roots: Vec<PathBuf>,
    },
    /// There are more names of the future than can be reserved.
    #[error(
        "the memory of `{prefix}` stays as it is: {count} identifiers of it are dated in the future, and {most} at most \
         can be reserved"
    )]
    TooManyReserved {
        /// Whose memory.
        prefix: Prefix,
        /// How many there are.
        count: usize,
        /// How many can be reserved.
        most: usize,
    },
    /// The file of dates that are not to be given is damaged.
    #[error("no identifier of `{prefix}` was issued: its reserved dates are damaged: `{}`", path.display())]
    ReservedDamaged {
        /// Whose.
        prefix: Prefix,
        /// The file.
        path: PathBuf,
    },
    /// The memory says that dates are reserved, but their file is missing.
    #[error(
        "no identifier of `{prefix}` was issued: the file of its reserved dates is missing: `{}`",
        path.display()
    )]
    ReservedMissing {
        /// Whose.
        prefix: Prefix,
        /// The file.
        path: PathBuf,
    },
    /// Another process holds the memory.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The memory cannot be read or written.
    #[error(transparent)]
    Disk(#[from] PathError),
}

impl DistributorError {
    /// That the file of reserved dates of a memory in `dir` is missing.
    pub(super) fn reserved_missing(dir: &Dir, prefix: &Prefix) -> DistributorError {
        let path = dir.path_of(layout::reserved_file(prefix));
        DistributorError::ReservedMissing { prefix: prefix.clone(), path }
    }
}

/// A warning about a memory that did not stop the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Names exist, but the memory is missing.
    MemoryMissing {
        /// The prefix.
        prefix: Prefix,
        /// The latest name on disk, or in the inventory.
        newest: Instant,
    },
    /// The memory cannot be read.
    MemoryDamaged {
        /// The prefix.
        prefix: Prefix,
        /// The latest name on disk, or in the inventory.
        newest: Option<Instant>,
    },
    /// An older version of urepo wrote the memory, which now is one of this version.
    MemoryOutdated {
        /// The prefix.
        prefix: Prefix,
        /// The latest name on disk, or in the inventory.
        newest: Option<Instant>,
    },
    /// Names are later than the memory.
    MemoryBehind {
        /// The prefix.
        prefix: Prefix,
        /// The last date in the memory; `None` before the first one.
        remembered: Option<Instant>,
        /// The latest name on disk, or in the inventory.
        newest: Instant,
    },
    /// Nothing keeps another collection from issuing the same names.
    NotRegistered {
        /// The prefix.
        prefix: Prefix,
        /// The reason.
        cause: String,
    },
    /// The other collections that share the memory do not learn of this one.
    NotShared {
        /// The prefix.
        prefix: Prefix,
        /// The reason.
        cause: String,
    },
    /// Another collection may issue the same IBIps, so names here have none.
    NoIbips {
        /// The prefix.
        prefix: Prefix,
        /// The other collection.
        cause: String,
    },
    /// A collection that issued names of this prefix cannot be read.
    Unseen {
        /// Whose.
        prefix: Prefix,
        /// Its former path.
        root: PathBuf,
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
            Notice::MemoryOutdated { prefix, newest } => {
                write!(f, "an older urepo wrote the memory of `{prefix}`, which was converted")?;
                match newest {
                    Some(newest) => {
                        write!(f, "; going on above its newest identifier, {}", newest.suffix())
                    }
                    None => write!(f, "; no identifier of it is known"),
                }
            }
            Notice::MemoryBehind { prefix, remembered: Some(remembered), newest } => write!(
                f,
                "the memory of `{prefix}` ends at {}; going on above its newest identifier, {}",
                remembered.suffix(),
                newest.suffix()
            ),
            Notice::MemoryBehind { prefix, remembered: None, newest } => write!(
                f,
                "the memory of `{prefix}` is empty; going on above its newest identifier, {}",
                newest.suffix()
            ),
            Notice::NotRegistered { prefix, cause } => write!(
                f,
                "this machine keeps no record of who issues the identifiers of `{prefix}`: {cause}; set \
                 `UREPO_STATE` to a directory for it"
            ),
            Notice::NotShared { prefix, cause } => write!(
                f,
                "the memory of `{prefix}` does not record that this collection shares it: {cause}; if another one takes the \
                 memory back, identifiers that this one has for later dates can be issued a second time; make the directory \
                 of the memory writable"
            ),
            Notice::NoIbips { prefix, cause } => write!(
                f,
                "new identifiers of `{prefix}` have no IBIp: {cause}; set another `ip_port` in `urepo.toml`"
            ),
            Notice::Unseen { prefix, root } => write!(
                f,
                "`{}` cannot be read: if its clock was ever ahead, identifiers of `{prefix}` that it issued for \
                 later dates can be issued a second time",
                root.display()
            ),
            Notice::FutureName { prefix, date } => write!(
                f,
                "an identifier of `{prefix}` is dated in the future, {}; new identifiers do not go on above it",
                date.suffix()
            ),
        }
    }
}

fn listed(roots: &[PathBuf]) -> String {
    let roots: Vec<_> = roots.iter().map(|root| format!("`{}`", root.display())).collect();
    roots.join(", ")
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
