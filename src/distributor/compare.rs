//! Comparing a memory with the names on disk, to find the lower bound of the next date.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::memory::{HeldMemory, MemoryState};
use super::slot::{MemoryRecord, Token};
use super::{DEFAULT_MAX_WAIT, Distributor, DistributorError, Notice, Patience};
use crate::disk::PathError;
use crate::identity::Instant;

/// The names of one prefix on disk, for comparison with a memory.
pub trait Names {
    /// A token that changes whenever names are added or removed, also names dated later than `now`.
    fn state(&self, now: Instant) -> Result<String, PathError>;

    /// The dates of the newest name up to `limit` and of the newest beyond.
    fn newest(&self, limit: Instant) -> Result<Newest, PathError>;

    /// The dates of the recorded names, including names that left, from the year of `since` on.
    fn recorded(&self, since: Option<Instant>, now: Instant) -> Result<RecordedDates, PathError> {
        let _ = (since, now);
        Ok(RecordedDates::default())
    }

    /// The dates after `now` of the names on disk, in this year and the next.
    fn ahead(&self, now: Instant) -> Result<BTreeSet<Instant>, PathError> {
        let _ = now;
        Ok(BTreeSet::new())
    }

    /// The dates later than `now` of the names of other collections: of those that a person has named, and where the
    /// memory is in doubt also of those that share it, by id, and of others that are known.
    fn elsewhere(
        &self,
        sharing: Option<&BTreeMap<String, PathBuf>>,
        now: Instant,
    ) -> Result<Elsewhere, PathError> {
        let _ = (sharing, now);
        Ok(Elsewhere::default())
    }
}

/// The future dates that other collections have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elsewhere {
    /// The dates of their names.
    pub dates: BTreeSet<Instant>,
    /// The roots of those that cannot be read.
    pub unseen: Vec<PathBuf>,
}

/// The dates of the names that the inventory has recorded, and future ones on disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedDates {
    /// The newest date that has passed.
    pub newest: Option<Instant>,
    /// Future dates of names that left. Nothing on disk protects them.
    pub ahead: BTreeSet<Instant>,
    /// Future dates of this year and the next, of names on disk. The names of a later year are read again
    /// when that year begins, which changes [`Names::state`].
    pub on_disk: BTreeSet<Instant>,
}

impl RecordedDates {
    /// The future dates.
    pub(super) fn future(mut self) -> BTreeSet<Instant> {
        self.ahead.append(&mut self.on_disk);
        self.ahead
    }
}

/// The newest names on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Newest {
    /// The latest name that can have been issued by now.
    pub date: Option<Instant>,
    /// The latest name dated in the future.
    pub future: Option<Instant>,
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
        Newest { date: self.date.max(other.date), future: self.future.max(other.future) }
    }
}

/// The last known date, and further lower bounds of the next one.
pub(super) struct Basis {
    pub(super) last: Option<Instant>,
    /// The present, if unknown dates may have been issued.
    pub(super) floor: Option<Instant>,
    /// The state of the names when they were compared.
    pub(super) tree: String,
    /// Future dates of recorded names.
    pub(super) skipped: BTreeSet<Instant>,
}

/// The state of the names while recorded ones are dated in the future: the next process compares again.
pub(super) const UNSETTLED: &str = "-";

impl Distributor<'_> {
    /// The present, and the latest date that can have been issued by now.
    pub(super) fn now_and_limit(&self, patience: Patience) -> (Instant, Instant) {
        let now = self.clock.now();
        let wait = patience.date.unwrap_or(DEFAULT_MAX_WAIT).as_nanos();
        let limit = i128::try_from(wait).ok().and_then(|wait| now.checked_add(wait));
        (now, limit.unwrap_or(now))
    }

    /// The last date ever issued, according to memory, names on disk and this process. Unchanged names are
    /// not read again.
    pub(super) fn compare(
        &self,
        memory: &mut HeldMemory<'_>,
        names: &dyn Names,
        patience: Patience,
        notices: &mut Vec<Notice>,
    ) -> Result<Basis, DistributorError> {
        self.check_home(memory)?;
        if let MemoryState::Record(record) = &memory.found {
            let tree = names.state(self.clock.now())?;
            let is_unsettled = record.state() == UNSETTLED;
            let is_known = self.given.is_some() && is_unsettled != self.skipped.is_empty();
            if is_known || record.state() == tree {
                let (last, skipped) = (record.last.max(self.given), self.skipped.clone());
                let tree = if is_unsettled { UNSETTLED.to_owned() } else { tree };
                let floor = self.boot_since(record);
                return Ok(Basis { last, floor, tree, skipped });
            }
        }
        self.compare_all(memory, names, patience, notices)
    }

    /// The same, but the names are always read.
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
        let record = memory.found.record().cloned();
        let record = record.as_ref();
        let known = record.and_then(|record| record.last);
        let is_intact = matches!(memory.found, MemoryState::Record(_));
        let mut recorded = names.recorded(known.filter(|_| is_intact), now)?;
        if newest.future.is_some() {
            // They may not be recorded.
            recorded.on_disk.append(&mut names.ahead(now)?);
        }
        newest.date = newest.date.max(recorded.newest);
        // One that cannot be read now is no reason to end naming.
        let in_doubt = (!is_intact).then(|| memory.reserved.sharing.clone());
        let Elsewhere { dates, unseen } = names.elsewhere(in_doubt.as_ref(), now)?;
        memory.reserve(dates)?;
        for notice in self.unseen_notices(unseen) {
            if !notices.contains(&notice) {
                notices.push(notice);
            }
        }
        if in_doubt.is_some_and(|sharing| !sharing.is_empty()) {
            memory.reserve(recorded.clone().future())?;
        }
        notices.extend(self.future_name(newest));
        let is_behind = newest.date > known;
        let prefix = self.prefix.clone();
        notices.extend(match (&memory.found, newest.date) {
            (MemoryState::Lost, newest) => Some(Notice::MemoryDamaged { prefix, newest }),
            (MemoryState::Outdated, newest) => Some(Notice::MemoryOutdated { prefix, newest }),
            (MemoryState::Missing, Some(newest)) => Some(Notice::MemoryMissing { prefix, newest }),
            (MemoryState::Record(_) | MemoryState::Doubtful(_), Some(newest)) if is_behind => {
                Some(Notice::MemoryBehind { prefix, remembered: known, newest })
            }
            _ => None,
        });
        // Items that left, by migration or by hand, are no reason for doubt: the memory covers their names.
        // But a crash may have lost more than one sync, and without reliable ctimes nothing else shows that
        // the memory was restored.
        let is_of_other_boot = record.is_some_and(|record| self.is_of_other_boot(record));
        let changed_over_a_boot =
            is_of_other_boot && record.is_some_and(|record| record.state() != tree);
        let is_doubtful =
            !is_intact || is_behind || changed_over_a_boot || !self.dir.has_lasting_inodes()?;
        // A person may have reset an intact memory to before these; a lost one ended with them or later.
        let unknown = recorded.ahead.last().copied().filter(|_| !is_intact);
        let skipped = recorded.future();
        let tree = if skipped.is_empty() { tree } else { UNSETTLED.to_owned() };
        let last = known.max(newest.date).max(unknown).max(self.given);
        let floor = if is_doubtful { Some(now) } else { record.and_then(|it| self.boot_since(it)) };
        Ok(Basis { last, floor, tree, skipped })
    }

    fn is_of_other_boot(&self, record: &MemoryRecord) -> bool {
        record.boot != Token::sanitised(&self.agent.boot_id)
    }

    /// When the machine started, if that was after `record` was written. A file system that was rolled back
    /// before that start has lost only earlier dates.
    fn boot_since(&self, record: &MemoryRecord) -> Option<Instant> {
        if self.is_of_other_boot(record) { self.clock.booted() } else { None }
    }

    pub(super) fn unseen_notices(&self, roots: Vec<PathBuf>) -> Vec<Notice> {
        let notice = |root| Notice::Unseen { prefix: self.prefix.clone(), root };
        roots.into_iter().map(notice).collect()
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
