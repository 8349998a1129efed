//! The temporal distributor: dates that are never given twice [generation standard, section 6].
//!
//! [`algorithm`] is the standard's rule as arithmetic, [`granularity`] what it rounds to, [`slot`]
//! how the memory is written, `memory` the locked file that holds it. [`Distributor`] brings them
//! together with a clock: lock, read, compare with the names on disk, decide, sync, unlock.
//!
//! # What protects a date
//!
//! 1. The memory is written and synced before a date leaves this module.
//! 2. The kernel lock on the memory puts processes in order.
//! 3. The first time a process issues, the memory is compared with the newest name on disk, so that
//!    a lost, restored or copied memory can not repeat a name. The names are not read again while
//!    the directory that holds them is as it was when they were last compared (`tree` in the slot):
//!    a year may hold a million of them.
//! 4. Publishing never replaces. So a name is looked up once, in the step that takes it, and not
//!    also beforehand.
//! 5. Every date lies in the past of a clock that has not gone back behind the last date.

pub mod algorithm;
mod error;
pub mod granularity;
mod memory;
pub mod slot;

use std::time::Duration;

use crate::agent::Agent;
use crate::clock::Clock;
use crate::disk::{Dir, PathError};
use crate::identity::{Instant, Prefix};
use crate::interrupt::Interrupt;
use crate::wait::{Interrupted, Waiter};

pub use algorithm::{Step, Verdict, issue, judge, step};
pub use error::{DistributorError, Notice};
pub use granularity::{Granularity, GranularityError, Setting};
use memory::{Found, HeldMemory, Home};

/// How far a clock may be behind the last date unless told otherwise: the wait is then this long.
pub const DEFAULT_MAX_WAIT: Duration = Duration::from_secs(5);

/// The names of one prefix on disk, with which a memory is compared.
pub trait Names {
    /// A token that changes whenever names are added or taken away.
    fn state(&self) -> Result<String, PathError>;

    /// The date of the newest name.
    fn newest(&self) -> Result<Option<Instant>, PathError>;
}

/// How long a request may take.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For the lock of the memory.
    pub lock: Duration,
    /// For a date. Unless given, a clock that is behind is waited for up to
    /// [`DEFAULT_MAX_WAIT`], and a fixed granularity as long as the standard says.
    pub date: Option<Duration>,
}

/// What to do about a clock that the rules find hard to believe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockTrust {
    /// Refuse to issue.
    #[default]
    Judge,
    /// A person has looked: the clock is right.
    Accept,
}

/// Gives the dates of one prefix.
pub struct Distributor<'a> {
    /// The prefix, one identification subsystem.
    pub prefix: Prefix,
    /// What dates are rounded to.
    pub setting: Setting,
    /// The directory of memories.
    pub dir: Dir,
    /// Who asks.
    pub agent: &'a Agent,
    /// The clock.
    pub clock: &'a dyn Clock,
    /// Whether a clock that looks wrong is believed.
    pub trust: ClockTrust,
    /// Ends a wait early.
    pub interrupt: Interrupt,
    /// The last date this process gave; with it, the memory was compared with the names on disk.
    given: Option<Instant>,
}

/// Dates given, later than all before and in order.
#[derive(Clone, Debug)]
pub struct Issued {
    /// At least one date.
    pub dates: Vec<Instant>,
    /// What was odd about the memory, to be told to a person.
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
        Distributor { prefix, setting, dir, agent, clock, trust, interrupt, given: None }
    }

    /// Gives up to `count` dates, at least one, durable in the memory.
    ///
    /// Fewer are given where the next one would have to wait: the caller can use the first ones.
    pub fn issue(
        &mut self,
        count: usize,
        names: &dyn Names,
        patience: Patience,
    ) -> Result<Issued, DistributorError> {
        let mut memory = self.lock_memory(patience.lock)?;
        let found = memory.read()?;
        let mut notices = Vec::new();
        let home = memory.home()?;
        let (last, tree) = self.compare(&found, &home, names, &mut notices)?;
        let dates = self.decide(count, last, patience)?;
        let last = *dates.last().expect("because at least one date was decided");
        memory.write(&found, last, self.setting, &tree)?;
        self.given = Some(last);
        Ok(Issued { dates, notices })
    }

    /// Remembers that the names on disk, as they are now, are all known to the memory.
    ///
    /// Called after names were published, it saves the next process from reading them all. A name
    /// that something else added in between is not noticed until the next change; publishing would
    /// still refuse to repeat it.
    pub fn settle(&self, names: &dyn Names, patience: Patience) -> Result<(), DistributorError> {
        let mut memory = self.lock_memory(patience.lock)?;
        let found = memory.read()?;
        if let Found::Record(record) = &found {
            memory.write(&found, record.last, record.granularity, &names.state()?)?;
        }
        Ok(())
    }

    /// Makes this machine the one that issues, after a person decided so.
    pub fn adopt(&self, names: &dyn Names, patience: Patience) -> Result<(), DistributorError> {
        let mut memory = self.lock_memory(patience.lock)?;
        let found = memory.read()?;
        if let Some(last) = found.last().max(names.newest()?) {
            memory.write(&found, last, self.setting, &names.state()?)?;
        }
        Ok(())
    }

    /// Raises the memory to the newest name on disk if it is behind.
    pub fn catch_up(
        &self,
        names: &dyn Names,
        patience: Patience,
    ) -> Result<Vec<Notice>, DistributorError> {
        let mut memory = self.lock_memory(patience.lock)?;
        let found = memory.read()?;
        let mut notices = Vec::new();
        let home = memory.home()?;
        let (last, tree) = self.compare(&found, &home, names, &mut notices)?;
        if let Some(last) = last
            && found.last() != Some(last)
        {
            memory.write(&found, last, self.setting, &tree)?;
        }
        Ok(notices)
    }

    /// What the memory says, without issuing: for a person to look at.
    pub fn look(&self) -> Result<Option<slot::Record>, DistributorError> {
        HeldMemory::look(&self.dir, &self.prefix)
    }

    fn lock_memory(&self, wait: Duration) -> Result<HeldMemory<'_>, DistributorError> {
        HeldMemory::lock(&self.dir, &self.prefix, self.agent, &self.waiter(wait))
    }

    fn waiter(&self, limit: Duration) -> Waiter<'a> {
        Waiter::new(self.clock, &self.interrupt, limit)
    }

    /// The last date ever given, as far as memory, names on disk and this process know, and the
    /// state of the names it was found in.
    fn compare(
        &self,
        found: &Found,
        home: &Home,
        names: &dyn Names,
        notices: &mut Vec<Notice>,
    ) -> Result<(Option<Instant>, String), DistributorError> {
        if let Found::Record(record) | Found::Doubtful(record) = found {
            self.check_home(record, home)?;
        }
        let state = names.state()?;
        let known = found.last();
        if self.given.is_some() {
            return Ok((known.max(self.given), state));
        }
        if let Found::Record(record) = found
            && record.tree.as_str() == state
        {
            return Ok((known, state));
        }
        let newest = names.newest()?;
        let prefix = self.prefix.clone();
        match (found, newest) {
            (Found::Lost, newest) => notices.push(Notice::MemoryDamaged { prefix, newest }),
            (Found::Fresh, Some(newest)) => notices.push(Notice::MemoryMissing { prefix, newest }),
            (Found::Record(record) | Found::Doubtful(record), Some(newest))
                if newest > record.last =>
            {
                notices.push(Notice::MemoryBehind { prefix, remembered: record.last, newest });
            }
            _ => {}
        }
        // Dates that were given and stand on no item are forgotten with the memory. They lie in the
        // past, so whatever comes after now is new.
        let forgotten = match (found, newest) {
            (Found::Lost | Found::Doubtful(_), _) | (Found::Fresh, Some(_)) => {
                Some(self.clock.now())
            }
            (Found::Record(_), _) | (Found::Fresh, None) => None,
        };
        Ok((known.max(newest).max(forgotten), state))
    }

    fn check_home(&self, record: &slot::Record, this: &Home) -> Result<(), DistributorError> {
        if record.host == *this {
            return Ok(());
        }
        Err(DistributorError::OtherMachine {
            prefix: self.prefix.clone(),
            recorded: record.host.to_string(),
            this: this.to_string(),
        })
    }

    fn decide(
        &self,
        count: usize,
        mut last: Option<Instant>,
        patience: Patience,
    ) -> Result<Vec<Instant>, DistributorError> {
        let mut dates: Vec<Instant> = Vec::new();
        while dates.len() < count.max(1) {
            let now = self.clock.now();
            let decided = self.judged(last, now, patience).and_then(|()| {
                let step = issue(last, now, self.setting);
                // A microsecond of waiting is not worth a message, nor a batch cut short.
                if step.wait > BRIEF && !dates.is_empty() {
                    return Ok(None);
                }
                self.wait_for(&step, last, now, patience).map(|()| Some(step.date))
            });
            let date = match decided {
                Ok(Some(date)) => date,
                // What was decided before can still be used.
                Ok(None) | Err(_) if !dates.is_empty() => break,
                Ok(None) => continue,
                Err(error) => return Err(error),
            };
            last = Some(date);
            dates.push(date);
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
        step: &Step,
        last: Option<Instant>,
        now: Instant,
        patience: Patience,
    ) -> Result<(), DistributorError> {
        if patience.date.is_some_and(|limit| step.wait > limit) {
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
