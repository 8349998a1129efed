//! The lower bound of the next date: memories, and where they are in doubt the names on disk.

use super::host::HeldHost;
use super::memory::{Durable, HeldMemory, MemoryState, host_of};
use super::{DEFAULT_MAX_WAIT, Distributor, DistributorError, Notice, Patience};
use crate::disk::PathError;
use crate::identity::Instant;

/// The names of one prefix in a collection.
pub trait Names {
    /// The dates of the newest name up to `limit` and of the newest beyond, on disk and in the ledger.
    fn newest(&self, limit: Instant) -> Result<Newest, PathError>;

    /// Whether the tree has a name of this date: a Copy may bring one that was issued elsewhere.
    fn is_taken(&self, date: Instant) -> Result<bool, PathError>;
}

/// The newest names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Newest {
    /// The latest name that can have been issued by now.
    pub date: Option<Instant>,
    /// The latest name dated in the future.
    pub future: Option<Instant>,
    /// The latest recorded name dated in the future that is not on disk, where nothing else protects it.
    pub departed: Option<Instant>,
}

impl Newest {
    /// Counts one more name.
    pub fn add(&mut self, date: Instant, limit: Instant) {
        let newest = if date > limit { &mut self.future } else { &mut self.date };
        *newest = (*newest).max(Some(date));
    }

    /// The later of both.
    #[must_use]
    pub fn or(self, other: Newest) -> Newest {
        Newest {
            date: self.date.max(other.date),
            future: self.future.max(other.future),
            departed: self.departed.max(other.departed),
        }
    }
}

/// The last known date, and a further lower bound of the next one.
pub(super) struct Basis {
    pub(super) last: Option<Instant>,
    /// The present, if unknown dates may have been issued.
    pub(super) floor: Option<Instant>,
}

impl Distributor<'_> {
    /// The present, and the latest date that can have been issued by now.
    fn now_and_limit(&self, patience: Patience) -> (Instant, Instant) {
        let now = self.clock.now();
        let wait = patience.date.unwrap_or(DEFAULT_MAX_WAIT).as_nanos();
        let limit = i128::try_from(wait).ok().and_then(|wait| now.checked_add(wait));
        (now, limit.unwrap_or(now))
    }

    /// The last date ever issued. The names on disk are read only where a memory is in doubt.
    pub(super) fn basis(
        &self,
        (host, memory): (&HeldHost<'_>, &HeldMemory<'_>),
        names: &dyn Names,
        patience: Patience,
        notices: &mut Vec<Notice>,
    ) -> Result<Basis, DistributorError> {
        self.check_host(memory)?;
        let known = memory.last().max(host.last()).max(self.given);
        let is_intact = matches!(memory.found, MemoryState::Record(_));
        if is_intact && !host.is_doubtful() {
            return Ok(Basis { last: known, floor: None });
        }
        let (now, limit) = self.now_and_limit(patience);
        let newest = names.newest(limit)?;
        let prefix = self.prefix.clone();
        notices.extend(self.future_name(newest));
        notices.extend(match (&memory.found, newest.date) {
            (MemoryState::Lost, newest) => Some(Notice::MemoryDamaged { prefix, newest }),
            (MemoryState::Missing, Some(newest)) => Some(Notice::MemoryMissing { prefix, newest }),
            _ => None,
        });
        let last = known.max(newest.date).max(newest.departed);
        Ok(Basis { last, floor: Some(now) })
    }

    fn check_host(&self, memory: &HeldMemory<'_>) -> Result<(), DistributorError> {
        let this = host_of(self.agent);
        match memory.found.record() {
            Some(record) if record.host != this => Err(DistributorError::OtherMachine {
                prefix: self.prefix.clone(),
                recorded: record.host.to_string(),
                this: this.to_string(),
            }),
            _ => Ok(()),
        }
    }

    fn future_name(&self, newest: Newest) -> Option<Notice> {
        let date = newest.future?;
        Some(Notice::FutureName { prefix: self.prefix.clone(), date })
    }

    /// Begins the memory of a new collection, so that a missing one counts as lost from now on. Where names exist, or
    /// may exist out of sight, the memory is at the present: the clock is not judged by an old name. That another
    /// collection of the machine has names of the prefix is a notice, unless the new one takes its place.
    pub fn begin(
        &self,
        names: &dyn Names,
        past: Past,
        patience: Patience,
    ) -> Result<Vec<Notice>, DistributorError> {
        let mut notices = Vec::new();
        let host_dir = self.open_host(&mut notices)?;
        let host = self.lock_host(host_dir.as_ref(), &self.waiter(patience.lock), &mut notices)?;
        let prefix = self.prefix.clone();
        let known = host.last().filter(|_| past == Past::Known);
        notices.extend(known.map(|last| Notice::KnownPrefix { prefix, last }));
        let mut memory = self.lock_memory(patience.lock)?;
        let (now, limit) = self.now_and_limit(patience);
        let newest = names.newest(limit)?;
        let follows = newest.date.is_some() || past == Past::Unknown;
        let last = memory.last().max(newest.date).max(follows.then_some(now));
        memory.write(last, self.setting, Durable::Yes)?;
        notices.extend(self.future_name(newest));
        Ok(notices)
    }

    /// Raises the memory to the latest name on disk and in the ledger.
    pub fn catch_up(
        &self,
        names: &dyn Names,
        patience: Patience,
    ) -> Result<Vec<Notice>, DistributorError> {
        let mut memory = self.lock_memory(patience.lock)?;
        self.check_host(&memory)?;
        let (now, limit) = self.now_and_limit(patience);
        let newest = names.newest(limit)?;
        let is_intact = matches!(memory.found, MemoryState::Record(_));
        let last = memory.last().max(newest.date).max((!is_intact).then_some(now));
        if !is_intact || last > memory.last() {
            memory.write(last, self.setting, Durable::Yes)?;
        }
        Ok(self.future_name(newest).into_iter().collect())
    }

    /// Makes this machine the issuer and raises the memories above the present, by the word of a person: a backup was
    /// put back, or the collection came from another machine.
    pub fn restored(
        &self,
        names: &dyn Names,
        patience: Patience,
    ) -> Result<Vec<Notice>, DistributorError> {
        let mut notices = Vec::new();
        let dir = self.open_host(&mut notices)?;
        let mut host = self.lock_host(dir.as_ref(), &self.waiter(patience.lock), &mut notices)?;
        let mut memory = self.lock_memory(patience.lock)?;
        let (now, limit) = self.now_and_limit(patience);
        let newest = names.newest(limit)?;
        let known = memory.last().max(host.last()).max(newest.date).max(newest.departed);
        let last = known.max(Some(now));
        memory.write(last, self.setting, Durable::Yes)?;
        host.write(last, self.setting)?;
        notices.extend(self.future_name(newest));
        Ok(notices)
    }
}

/// The knowledge about earlier names of a new collection's prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Past {
    /// There were no names except those on disk, and those that the host state knows of.
    Known,
    /// Another collection, which is lost, may have issued names that nothing here knows of.
    Unknown,
}
