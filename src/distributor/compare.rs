//! A memory beside the names on disk: what the next date has to be later than.

use super::memory::{Found, HeldMemory};
use super::slot::Token;
use super::{DEFAULT_MAX_WAIT, Distributor, DistributorError, Notice, Patience};
use crate::disk::PathError;
use crate::identity::Instant;

/// The names of one prefix on disk, with which a memory is compared.
pub trait Names {
    /// A token that changes whenever names are added or taken away that are dated up to `now` or later.
    fn state(&self, now: Instant) -> Result<String, PathError>;

    /// The dates of the newest name up to `limit` and of the newest beyond.
    fn newest(&self, limit: Instant) -> Result<Newest, PathError>;

    /// The same of all names that are recorded, those included that left. Asked where there is no memory.
    fn newest_recorded(&self, limit: Instant) -> Result<Newest, PathError> {
        let _ = limit;
        Ok(Newest::default())
    }
}

/// The newest names on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Newest {
    /// Of those that can have been given by now.
    pub date: Option<Instant>,
    /// Of those dated in the future.
    pub future: Option<Instant>,
}

impl Newest {
    /// Counts one more name.
    pub fn add(&mut self, date: Instant, limit: Instant) {
        let newest = if date > limit { &mut self.future } else { &mut self.date };
        *newest = (*newest).max(Some(date));
    }

    /// The newest of both.
    #[must_use]
    pub fn or(self, other: Newest) -> Newest {
        Newest { date: self.date.max(other.date), future: self.future.max(other.future) }
    }
}

/// The last date that is known, and what else the next one has to be later than.
pub(super) struct Basis {
    pub(super) last: Option<Instant>,
    /// Now, where dates may have been given of which nothing is known.
    pub(super) floor: Option<Instant>,
    /// The state of the names that all this was found in.
    pub(super) tree: String,
}

impl Distributor<'_> {
    /// Now, and up to when a date can have been given by now.
    pub(super) fn now_and_limit(&self, patience: Patience) -> (Instant, Instant) {
        let now = self.clock.now();
        let wait = patience.date.unwrap_or(DEFAULT_MAX_WAIT).as_nanos();
        let limit = i128::try_from(wait).ok().and_then(|wait| now.checked_add(wait));
        (now, limit.unwrap_or(now))
    }

    /// The last date ever given, as far as memory, names on disk and this process know. The names are
    /// not read if they are as they were.
    pub(super) fn compare(
        &self,
        memory: &mut HeldMemory<'_>,
        names: &dyn Names,
        patience: Patience,
        notices: &mut Vec<Notice>,
    ) -> Result<Basis, DistributorError> {
        self.check_home(memory)?;
        if let Found::Record(record) = &memory.found {
            let tree = names.state(self.clock.now())?;
            if self.given.is_some() || record.tree.as_str() == tree {
                return Ok(Basis { last: record.last.max(self.given), floor: None, tree });
            }
        }
        self.compare_all(memory, names, patience, notices)
    }

    /// The same, the names read whether they have changed or not.
    pub(super) fn compare_all(
        &self,
        memory: &mut HeldMemory<'_>,
        names: &dyn Names,
        patience: Patience,
        notices: &mut Vec<Notice>,
    ) -> Result<Basis, DistributorError> {
        self.check_home(memory)?;
        let (now, limit) = self.now_and_limit(patience);
        let tree = names.state(now)?;
        let mut newest = names.newest(limit)?;
        let record = memory.found.record();
        if record.is_none() {
            newest = newest.or(names.newest_recorded(limit)?);
        }
        notices.extend(self.future_name(newest));
        let known = record.and_then(|record| record.last);
        let is_behind = newest.date > known;
        let prefix = self.prefix.clone();
        notices.extend(match (&memory.found, newest.date) {
            (Found::Lost, newest) => Some(Notice::MemoryDamaged { prefix, newest }),
            (Found::Missing, Some(newest)) => Some(Notice::MemoryMissing { prefix, newest }),
            (Found::Record(_) | Found::Doubtful(_), Some(newest)) if is_behind => {
                Some(Notice::MemoryBehind { prefix, remembered: known, newest })
            }
            _ => None,
        });
        // Items that went away, by migration or by hand, are no reason for doubt: the memory knows
        // their names. But a crash may have taken more than one sync, and without ctimes to rely on
        // nothing else tells that the memory was restored.
        let changed_over_a_boot = record.is_some_and(|record| {
            record.tree.as_str() != tree && record.boot != Token::sanitised(&self.agent.boot_id)
        });
        let is_doubtful = !matches!(memory.found, Found::Record(_))
            || is_behind
            || changed_over_a_boot
            || !self.dir.has_lasting_inodes()?;
        Ok(Basis {
            last: known.max(newest.date).max(self.given),
            floor: is_doubtful.then_some(now),
            tree,
        })
    }

    pub(super) fn future_name(&self, newest: Newest) -> Option<Notice> {
        let date = newest.future?;
        Some(Notice::FutureName { prefix: self.prefix.clone(), date })
    }

    fn check_home(&self, memory: &mut HeldMemory<'_>) -> Result<(), DistributorError> {
        let this = memory.home()?;
        match memory.found.record() {
            Some(record) if record.host != this => Err(DistributorError::OtherMachine {
                prefix: self.prefix.clone(),
                recorded: record.host.to_string(),
                this: this.to_string(),
            }),
            _ => Ok(()),
        }
    }
}
