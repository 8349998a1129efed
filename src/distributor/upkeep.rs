//! The care of a memory: begun with its collection, raised, and taken over by a person.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::compare::{RecordedDates, UNSETTLED};
use super::memory::{HeldMemory, MemoryState};
use super::reserved::Reserved;
use super::slot::MemoryRecord;
use super::{Distributor, DistributorError, Elsewhere, Names, Notice, Patience};
use crate::disk::Dir;
use crate::identity::{Instant, Prefix};

/// The knowledge about earlier names of a new collection's prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Past {
    /// There were no names except those on disk.
    Known,
    /// Another collection may have issued names that are not on disk.
    Unknown,
}

/// Treatment of a last date in the future, when a person accepts the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FutureDate {
    /// No date is issued until then: the clock may be behind.
    Keep,
    /// It is forgotten: it was never issued, or a wrong clock issued it.
    Forget,
}

/// Treatment of a collection that may have future names and cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unseen {
    /// The memory stays unchanged.
    #[default]
    Refuse,
    /// A person has decided that its names do not count.
    Accept,
}

/// Treatment of a missing file of reserved dates, which other collections have names for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingDates {
    /// Nothing is issued and nothing changes.
    #[default]
    Refuse,
    /// It is built again: a person has named the other collections, or has decided that none has future names.
    Rebuild,
}

impl Distributor<'_> {
    /// Reserves the future names of other collections, all of which [`Distributor::adopt`] has to be able to read.
    pub fn reserve_elsewhere(
        &self,
        names: &dyn Names,
        future: FutureDate,
        patience: Patience,
    ) -> Result<(), DistributorError> {
        let mut memory = self.lock_memory(patience.lock)?;
        let mut dates = self.elsewhere(&memory, names, future)?.dates;
        if memory.is_reserved_lost {
            // Collections that share the memory may have learnt of these names from the file alone.
            dates.append(&mut own_names(names, self.clock.now())?.future());
        }
        memory.reserve(dates)
    }

    /// Makes this machine the issuer, by the decision of a person. Dates in the past are never issued again.
    pub fn adopt(
        &self,
        names: &dyn Names,
        future: FutureDate,
        patience: Patience,
    ) -> Result<Vec<Notice>, DistributorError> {
        let mut memory = self.lock_memory(patience.lock)?;
        let (now, limit) = self.now_and_limit(patience);
        let newest = names.newest(limit)?;
        let recorded = own_names(names, now)?;
        let elsewhere = self.elsewhere(&memory, names, future)?;
        let mut last = memory.found.record().and_then(|record| record.last);
        if !matches!(memory.found, MemoryState::Record(_)) {
            last = last.max(recorded.ahead.last().copied());
        }
        let forgotten = last.filter(|last| future == FutureDate::Forget && *last > limit);
        let last = last.filter(|_| forgotten.is_none());
        let last = last.max(newest.date).max(recorded.newest);
        self.judged(last.filter(|last| *last <= limit), now, patience)?;
        let future = recorded.future();
        let tree = if future.is_empty() { names.state(now)? } else { UNSETTLED.to_owned() };
        let mut reserved = memory.reserved.clone();
        reserved.dates.retain(|date| *date > now);
        reserved.dates.extend(elsewhere.dates.into_iter().chain(forgotten));
        reserved.sharing.retain(|_, root| !elsewhere.unseen.contains(root));
        if !reserved.sharing.is_empty() {
            // The inventory here tells nothing to the other collections that share the memory.
            reserved.dates.extend(future);
        }
        memory.set_reserved(reserved)?;
        memory.write(last.max(Some(now)), self.setting, &tree)?;
        Ok(self.future_name(newest).into_iter().collect())
    }

    /// The future names of other collections, all of which have to be readable if the memory forgets dates.
    fn elsewhere(
        &self,
        memory: &HeldMemory<'_>,
        names: &dyn Names,
        future: FutureDate,
    ) -> Result<Elsewhere, DistributorError> {
        let sharing = &memory.reserved.sharing;
        let mut elsewhere = names.elsewhere(Some(sharing), self.clock.now())?;
        let is_intact = matches!(memory.found, MemoryState::Record(_));
        if future == FutureDate::Keep && is_intact {
            elsewhere.unseen.retain(|root| sharing.values().all(|shares| shares != root));
        }
        if self.unseen == Unseen::Refuse && !elsewhere.unseen.is_empty() {
            let (prefix, roots) = (self.prefix.clone(), elsewhere.unseen);
            return Err(DistributorError::Unseen { prefix, roots });
        }
        Ok(elsewhere)
    }

    /// Begins the memory of a new collection: above the existing names, and above the present if other names
    /// may have been issued.
    pub fn begin(
        &self,
        names: &dyn Names,
        past: Past,
        patience: Patience,
    ) -> Result<Vec<Notice>, DistributorError> {
        let mut memory = self.lock_memory(patience.lock)?;
        let (now, limit) = self.now_and_limit(patience);
        let Elsewhere { dates, unseen } = names.elsewhere(Some(&BTreeMap::new()), now)?;
        memory.reserve(dates)?;
        let mut notices = self.unseen_notices(unseen);
        if !matches!(memory.found, MemoryState::Missing) {
            return self.raise(memory, names, patience, notices);
        }
        let newest = names.newest(limit)?;
        let follows = newest.date.is_some() || past == Past::Unknown;
        let last = newest.date.max(follows.then_some(now));
        // The inventory, which has the future names, may not exist yet.
        let has_future = newest.future.is_some();
        let tree = if has_future { UNSETTLED.to_owned() } else { names.state(now)? };
        memory.write(last, self.setting, &tree)?;
        notices.extend(self.future_name(newest));
        Ok(notices)
    }

    /// Raises the memory to the latest name on disk if it is behind.
    pub fn catch_up(
        &self,
        names: &dyn Names,
        patience: Patience,
    ) -> Result<Vec<Notice>, DistributorError> {
        self.raise(self.lock_memory(patience.lock)?, names, patience, Vec::new())
    }

    fn raise(
        &self,
        mut memory: HeldMemory<'_>,
        names: &dyn Names,
        patience: Patience,
        mut notices: Vec<Notice>,
    ) -> Result<Vec<Notice>, DistributorError> {
        let basis = self.compare_all(&mut memory, names, patience, &mut notices)?;
        let known = memory.found.record().and_then(|record| record.last);
        // An implausible clock must not stop issuing until its date has come.
        let believed = self.judged(basis.last, self.clock.now(), patience).is_ok();
        let last = basis.last.max(basis.floor.filter(|_| believed && basis.last.is_some()));
        if last > known {
            memory.write(last, self.setting, &basis.tree)?;
        }
        Ok(notices)
    }

    /// Whether dates are reserved, or other collections share the memory; `None` without the file of both. Takes no
    /// lock.
    pub fn has_reserved(&self) -> Result<Option<bool>, DistributorError> {
        let reserved = Reserved::read(&self.dir, &self.prefix)?;
        Ok(reserved.map(|reserved| reserved.counts(self.clock.now())))
    }

    /// Refuses to go on without reserved dates that the register of the machine knows of.
    pub fn check_reserved(&self, in_register: bool) -> Result<(), DistributorError> {
        let is_missing = in_register && self.has_reserved()?.is_none();
        if is_missing && self.missing_dates == MissingDates::Refuse {
            return Err(DistributorError::reserved_missing(&self.dir, &self.prefix));
        }
        Ok(())
    }

    /// Records durably that the collection at `root` shares the memory.
    pub fn share(&self, id: &str, root: &Path, patience: Patience) -> Result<(), DistributorError> {
        let has = |reserved: &Reserved| reserved.sharing.get(id).is_some_and(|it| it == root);
        if Reserved::read(&self.dir, &self.prefix)?.is_some_and(|reserved| has(&reserved)) {
            return Ok(());
        }
        let mut memory = self.lock_memory(patience.lock)?;
        let mut reserved = memory.reserved.clone();
        reserved.sharing.insert(id.to_owned(), root.to_path_buf());
        memory.set_reserved(reserved)
    }
}

/// The recorded names, and all future ones on disk.
fn own_names(names: &dyn Names, now: Instant) -> Result<RecordedDates, DistributorError> {
    let mut recorded = names.recorded(None, now)?;
    recorded.on_disk.append(&mut names.ahead(now)?);
    Ok(recorded)
}

/// The last date and the reserved dates of a memory in `dir`, as far as they are later than `now`. Takes no lock.
pub fn known_ahead(
    dir: &Dir,
    prefix: &Prefix,
    now: Instant,
) -> Result<Vec<Instant>, DistributorError> {
    let (record, reserved) = look(dir, prefix)?;
    let mut dates = reserved.dates;
    dates.extend(record.and_then(|record| record.last));
    Ok(dates.into_iter().filter(|date| *date > now).collect())
}

/// The collections that share the memory in `dir`, by id. Takes no lock.
pub fn sharing(dir: &Dir, prefix: &Prefix) -> Result<BTreeMap<String, PathBuf>, DistributorError> {
    Ok(look(dir, prefix)?.1.sharing)
}

fn look(dir: &Dir, prefix: &Prefix) -> Result<(Option<MemoryRecord>, Reserved), DistributorError> {
    // The file is written before the record that calls for it.
    let record = HeldMemory::look(dir, prefix)?;
    match Reserved::read(dir, prefix)? {
        None if record.as_ref().is_some_and(MemoryRecord::has_reserved) => {
            Err(DistributorError::reserved_missing(dir, prefix))
        }
        reserved => Ok((record, reserved.unwrap_or_default())),
    }
}
