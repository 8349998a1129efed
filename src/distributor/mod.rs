//! The temporal distributor: dates that are never issued twice [generation standard, section 6].
//!
//! [`algorithm`] is the standard's rule as arithmetic, [`granularity`] the rounding, [`slot`] the format of
//! the memory, and `memory` its locked file. [`Distributor`] combines them with a clock: lock, read, compare
//! with the names on disk, decide, sync, unlock.
//!
//! # What protects a date
//!
//! 1. The memory is written and synced before a date leaves this module.
//! 2. The kernel lock on the memory puts processes in order.
//! 3. A memory that may not be the last one (lost, damaged, changed by another program, behind the names on
//!    disk) is not believed: forgotten dates lie in the past, so the next one is later than *now*. The first
//!    date after a start of the machine is later than the start: the file system, or the whole virtual
//!    machine, may have been rolled back before it.
//! 4. The first time a process issues, the memory is compared with the newest name on disk. The names are not
//!    read again while their directory is unchanged since the last comparison (`tree` in the slot): a year
//!    may hold a million names.
//! 5. Publishing never replaces. So a name is looked up once, in the step that takes it, and not
//!    also beforehand.
//! 6. Every date lies in the past of a clock that has not gone back behind the last date.
//!
//! A name on disk with a future date was not issued here by a correct clock. It is reported and does not
//! count: one wrong name must not stop all issuing until its date has come. Its date is skipped when the clock
//! reaches it. Nothing on disk protects a future name that left. A damaged memory continues above it, and so refuses to issue as the intact one would, until a person resets the memory.
//! If only another collection has a future name, its date is `reserved` when the memory is reset, begun or in doubt. If
//! that file is lost, a person has to name the other collection again.
//!
//! # Limits
//!
//! Nothing shows that a whole file system was rolled back while the machine ran, or a virtual machine
//! together with its main memory: memory, names and ctimes go back together. Forgotten dates of the present
//! minute can then be issued again, because rounding gives a date that is up to a minute old.

pub mod algorithm;
mod compare;
mod error;
pub mod granularity;
mod memory;
mod reserved;
pub mod slot;
mod upkeep;

use std::collections::BTreeSet;
use std::time::Duration;

use crate::agent::Agent;
use crate::clock::Clock;
use crate::disk::Dir;
use crate::identity::{Instant, Prefix};
use crate::interrupt::Interrupt;
use crate::wait::{Interrupted, Waiter};

pub use algorithm::{NextDate, Verdict, issue, judge, step};
use compare::{Basis, UNSETTLED};
pub use compare::{Elsewhere, Names, Newest, RecordedDates};
pub use error::{DistributorError, Notice};
pub use granularity::{Granularity, GranularityError, Setting};
use memory::{HeldMemory, MemoryState};
pub use upkeep::{FutureDate, MissingDates, Past, Unseen, known_ahead, sharing};

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
    /// The directory of memories.
    pub dir: Dir,
    /// The agent.
    pub agent: &'a Agent,
    /// The clock.
    pub clock: &'a dyn Clock,
    /// Whether a clock that looks wrong is believed.
    pub trust: ClockTrust,
    /// Whether a memory is taken back though a collection cannot be read.
    pub unseen: Unseen,
    /// Whether a missing file of reserved dates is built again.
    pub missing_dates: MissingDates,
    /// Ends a wait early.
    pub interrupt: Interrupt,
    /// The last date that this process issued, after which the memory was compared with the names on disk.
    given: Option<Instant>,
    /// Future dates of recorded names.
    skipped: BTreeSet<Instant>,
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
        let (trust, interrupt) = (ClockTrust::Judge, Interrupt::default());
        let (unseen, missing_dates) = (Unseen::Refuse, MissingDates::Refuse);
        let (given, skipped) = (None, BTreeSet::new());
        Distributor {
            prefix,
            setting,
            dir,
            agent,
            clock,
            trust,
            unseen,
            missing_dates,
            interrupt,
            given,
            skipped,
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
        let mut memory = self.lock_memory(patience.lock)?;
        let mut notices = Vec::new();
        let basis = self.compare(&mut memory, names, patience, &mut notices)?;
        let dates = self.decide(count, &basis, &memory.reserved.dates, patience)?;
        let last = dates.last().copied();
        memory.write(last, self.setting, &basis.tree)?;
        drop(memory);
        self.given = last;
        self.skipped = basis.skipped;
        Ok(Issued { dates, notices })
    }

    /// Notes that the memory covers all present names on disk, if it has issued one: the memory of another
    /// subsystem may belong to another machine.
    ///
    /// Called after names were published, it saves the next process from reading them all. A name that
    /// another program added in between is not noticed until the next change; publishing would still refuse
    /// to repeat it.
    pub fn settle(&self, names: &dyn Names, patience: Patience) -> Result<(), DistributorError> {
        if self.given.is_none() {
            return Ok(());
        }
        let mut memory = self.lock_memory(patience.lock)?;
        if let MemoryState::Record(record) = &memory.found {
            let (last, granularity) = (record.last, record.granularity);
            // Another process may have found dates to skip.
            if record.state() != UNSETTLED {
                memory.write(last, granularity, &names.state(self.clock.now())?)?;
            }
        }
        Ok(())
    }

    /// Reads the memory for display, without issuing.
    pub fn look(&self) -> Result<Option<slot::MemoryRecord>, DistributorError> {
        HeldMemory::look(&self.dir, &self.prefix)
    }

    fn lock_memory(&self, wait: Duration) -> Result<HeldMemory<'_>, DistributorError> {
        let memory = HeldMemory::lock(&self.dir, &self.prefix, self.agent, &self.waiter(wait))?;
        if memory.is_reserved_lost && self.missing_dates == MissingDates::Refuse {
            return Err(DistributorError::reserved_missing(&self.dir, &self.prefix));
        }
        Ok(memory)
    }

    fn waiter(&self, limit: Duration) -> Waiter<'a> {
        Waiter::new(self.clock, &self.interrupt, limit)
    }

    fn decide(
        &self,
        count: usize,
        basis: &Basis,
        reserved: &BTreeSet<Instant>,
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
            if !basis.skipped.contains(&date) && !reserved.contains(&date) {
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
