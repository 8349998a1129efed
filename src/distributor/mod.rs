//! The temporal distributor: dates that are never issued twice [generation standard, section 6].
//!
//! [`algorithm`] is the standard's rule as arithmetic, [`granularity`] the rounding, [`slot`] the format of
//! the memory, and `memory` its locked file. [`Distributor`] combines them with a clock: lock, read, decide, sync,
//! unlock.
//!
//! # What protects a date
//!
//! 1. The memory of the collection is written and synced before a date leaves this module.
//! 2. Kernel locks put processes in order: first on the memory of the host, which all collections of the machine
//!    raise, then on that of the collection.
//! 3. A memory that was lost or damaged is not believed: forgotten dates lie in the past, so the next one is later
//!    than *now* and than all names on disk.
//! 4. A memory of another machine issues nothing, until a person says that it was moved or restored
//!    ([`Distributor::restored`]).
//! 5. A date that a name on disk has already is passed over: a Copy may bring one. Publishing never replaces.
//! 6. Every date lies in the past of a clock that has not gone back behind the last date.
//!
//! A name on disk with a future date was not issued here by a correct clock. It is reported and does not
//! count: one wrong name must not stop all issuing until its date has come.
//!
//! # Limits
//!
//! A name dated in the future that leaves the collection before its date can be issued again then, because the names
//! on disk are not read while the memory is whole.
//!
//! Nothing shows that a whole machine was rolled back while it ran, or that a backup was put back in silence where the
//! host state went back with it or was lost. Two users who issue one prefix from two collections never give one name
//! twice only where both may write the host state. Where that is lost, and the clock is behind, a second collection of the
//! same host can repeat a name of the first; so can its very first one, if a power cut took the host state of the last seconds.

pub mod algorithm;
mod error;
pub mod granularity;
mod host;
mod known;
mod memory;
pub mod slot;

use std::time::Duration;

use crate::agent::Agent;
use crate::clock::Clock;
use crate::disk::Dir;
use crate::identity::{IbipPrefix, Instant, Prefix};
use crate::interrupt::Interrupt;
use crate::layout;
use crate::wait::{Interrupted, Waiter};

pub use algorithm::{NextDate, Verdict, issue, judge, step};
pub use error::{DistributorError, Notice};
pub use granularity::{Granularity, GranularityError, Setting};
pub use host::HostState;
use known::Basis;
pub use known::{Names, Newest, Past};
use memory::{Durable, HeldMemory};

/// Default limit on the lag of the clock behind the last date, and so on the wait.
pub const DEFAULT_MAX_WAIT: Duration = Duration::from_secs(5);

/// How long a request may take.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For the lock of the memory.
    pub lock: Duration,
    /// For a date. By default, the wait for a clock that is behind is limited to [`DEFAULT_MAX_WAIT`], and
    /// the wait for a fixed granularity is that of the standard.
    pub date: Option<Duration>,
}

/// The rule for an implausible clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockTrust {
    /// Refuse to issue.
    #[default]
    Judge,
    /// A person has confirmed that the clock is right.
    Accept,
}

/// Issues the dates of one prefix.
pub struct Distributor<'a> {
    /// The prefix, one identification subsystem.
    pub prefix: Prefix,
    /// The granularity of dates.
    pub setting: Setting,
    /// The prefix of the IBIps of its names, if they have any.
    pub ibips: Option<IbipPrefix>,
    /// The directory of memories.
    pub dir: Dir,
    /// The memories of this machine.
    pub host_state: HostState,
    /// The id of the collection that issues; `None` before it has one.
    pub collection: Option<String>,
    /// The agent.
    pub agent: &'a Agent,
    /// The clock.
    pub clock: &'a dyn Clock,
    /// Whether a clock that looks wrong is believed.
    pub trust: ClockTrust,
    /// Ends a wait early.
    pub interrupt: Interrupt,
    /// The last date that this process issued.
    given: Option<Instant>,
}

/// Issued dates, in order, later than all earlier ones.
#[derive(Clone, Debug)]
pub struct Issued {
    /// At least one date.
    pub dates: Vec<Instant>,
    /// Warnings about the memory, for a person.
    pub notices: Vec<Notice>,
}

impl<'a> Distributor<'a> {
    /// The distributor of `prefix`, whose memory is in `dir`.
    pub fn new(
        prefix: Prefix,
        setting: Setting,
        dir: Dir,
        agent: &'a Agent,
        clock: &'a dyn Clock,
    ) -> Distributor<'a> {
        Distributor {
            prefix,
            setting,
            ibips: None,
            dir,
            host_state: HostState::default(),
            collection: None,
            agent,
            clock,
            trust: ClockTrust::Judge,
            interrupt: Interrupt::default(),
            given: None,
        }
    }

    /// Issues up to `count` dates, at least one, durable in the memory.
    ///
    /// Fewer are issued if the next one would have to wait: the caller can use the first ones.
    pub fn issue(
        &mut self,
        count: usize,
        names: &dyn Names,
        patience: Patience,
    ) -> Result<Issued, DistributorError> {
        let mut notices = Vec::new();
        let host_dir = self.open_host(&mut notices)?;
        let mut host =
            self.lock_host(host_dir.as_ref(), &self.waiter(patience.lock), &mut notices)?;
        let mut memory = self.lock_memory(patience.lock)?;
        let basis = self.basis((&host, &memory), names, patience, &mut notices)?;
        let dates = self.decide(count, &basis, names, patience)?;
        let last = dates.last().copied();
        memory.write(last, self.setting, Durable::Yes)?;
        host.write(last, self.setting)?;
        self.given = last;
        Ok(Issued { dates, notices })
    }

    /// Reads the memory for display, without issuing.
    pub fn look(&self) -> Result<Option<slot::MemoryRecord>, DistributorError> {
        HeldMemory::look(&self.dir, (&layout::memory_file(&self.prefix), &self.prefix.subsystem()))
    }

    fn lock_memory(&self, wait: Duration) -> Result<HeldMemory<'_>, DistributorError> {
        let (file, series) = (layout::memory_file(&self.prefix), self.prefix.subsystem());
        HeldMemory::lock(&self.dir, (&file, &series), self.agent, &self.waiter(wait))
    }

    fn waiter(&self, limit: Duration) -> Waiter<'a> {
        Waiter::new(self.clock, &self.interrupt, limit)
    }

    fn decide(
        &self,
        count: usize,
        basis: &Basis,
        names: &dyn Names,
        patience: Patience,
    ) -> Result<Vec<Instant>, DistributorError> {
        let mut dates: Vec<Instant> = Vec::new();
        let mut known = basis.last;
        while dates.len() < count.max(1) {
            let now = self.clock.now();
            // The clock is judged by the known dates: compared with itself, it would always look right.
            let last = known.max(basis.floor);
            let decided = self.judged(known, now, patience).and_then(|()| {
                let step = issue(last, now, self.setting);
                // A microsecond of waiting is not worth a message, nor an incomplete batch.
                if step.wait > BRIEF && !dates.is_empty() {
                    return Ok(None);
                }
                self.wait_for(&step, last, now, patience).map(|()| Some(step.date))
            });
            let date = match decided {
                Ok(Some(date)) => date,
                // The dates decided so far can still be used.
                Ok(None) | Err(_) if !dates.is_empty() => break,
                Ok(None) => continue,
                Err(error) => return Err(error),
            };
            known = Some(date);
            if !names.is_taken(date)? {
                dates.push(date);
            }
        }
        Ok(dates)
    }

    fn judged(
        &self,
        last: Option<Instant>,
        now: Instant,
        patience: Patience,
    ) -> Result<(), DistributorError> {
        let verdict = judge(last, now, patience.date.unwrap_or(DEFAULT_MAX_WAIT));
        match verdict {
            Verdict::Fine => Ok(()),
            Verdict::ClockBehind { last, now, behind } => Err(DistributorError::ClockBehind {
                prefix: self.prefix.clone(),
                last,
                now,
                behind,
            }),
            _ if self.trust == ClockTrust::Accept => Ok(()),
            verdict => {
                Err(DistributorError::ClockDoubtful { prefix: self.prefix.clone(), verdict })
            }
        }
    }

    fn wait_for(
        &self,
        step: &NextDate,
        last: Option<Instant>,
        now: Instant,
        patience: Patience,
    ) -> Result<(), DistributorError> {
        if patience.date.is_some_and(|limit| step.wait > limit.max(BRIEF)) {
            return Err(DistributorError::TooLong {
                prefix: self.prefix.clone(),
                last: last.unwrap_or(step.last),
                now,
                wait: step.wait,
            });
        }
        let waiter = self.waiter(step.wait);
        // A pause may end early, and a clock be set while it lasts.
        while let Some(left) =
            step.creation.duration_since(self.clock.now()).filter(|left| !left.is_zero())
        {
            if left > step.wait + BRIEF {
                let now = self.clock.now();
                let last = last.unwrap_or(step.last);
                let prefix = self.prefix.clone();
                return Err(DistributorError::ClockBehind { prefix, last, now, behind: left });
            }
            waiter.pause(left).map_err(|Interrupted| DistributorError::Interrupted {
                prefix: self.prefix.clone(),
                date: step.date,
            })?;
        }
        Ok(())
    }
}

/// A wait that nobody notices.
const BRIEF: Duration = Duration::from_millis(10);
