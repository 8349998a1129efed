//! The memory of one prefix on disk: the file is both lock and memory.

use super::DistributorError;
use super::granularity::Setting;
use super::slot::{self, Contents, MemoryRecord, NAME, Token};
use crate::agent::Agent;
use crate::disk::{Dir, Lock, LockMode, PathError, StoredFile};
use crate::identity::Instant;
use crate::wait::Waiter;

/// The file is larger than its slots: the holder of the lock follows them.
const LARGEST_FILE: u64 = 64 * 1024;

/// The contents of a memory when it was read.
pub(super) enum MemoryState {
    /// Nothing was ever written.
    Missing,
    /// The last record.
    Record(MemoryRecord),
    /// A record, though a later one may have existed.
    Doubtful(MemoryRecord),
    /// The contents cannot be read.
    Lost,
}

/// Whether a record has to outlast a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durable {
    /// The memory of a collection is synced before a date is used, and that of the host which several share.
    Yes,
    /// That of the host of one collection.
    No,
}

/// The memory of a prefix, held exclusively.
pub(super) struct HeldMemory<'a> {
    lock: Lock,
    dir: &'a Dir,
    /// The prefix, or that of IBIps.
    series: Token<{ slot::PREFIX }>,
    host: Token<NAME>,
    /// Its contents when the lock was taken.
    pub(super) found: MemoryState,
}

impl MemoryState {
    /// The last readable record.
    pub(super) fn record(&self) -> Option<&MemoryRecord> {
        match self {
            MemoryState::Record(record) | MemoryState::Doubtful(record) => Some(record),
            MemoryState::Missing | MemoryState::Lost => None,
        }
    }
}

/// The name of this machine in memories.
pub(super) fn host_of(agent: &Agent) -> Token<NAME> {
    Token::sanitised(&agent.machine_id)
}

impl<'a> HeldMemory<'a> {
    /// Locks and reads the memory `file` of `series` in `dir`; it is created if missing.
    pub(super) fn lock(
        dir: &'a Dir,
        (file, series): (&str, &str),
        agent: &Agent,
        waiter: &Waiter<'_>,
    ) -> Result<HeldMemory<'a>, DistributorError> {
        let holder = agent.holder(waiter.clock);
        let mut lock = Lock::take(dir, file, LockMode::Exclusive, &holder, waiter)?;
        let bytes = open(dir, file, &mut lock)?.read_all(LARGEST_FILE)?;
        let series = Token::sanitised(series);
        let found = read(&bytes, &series)?;
        Ok(HeldMemory { lock, dir, series, host: host_of(agent), found })
    }

    /// Reads a memory for display, without locking or creating it.
    pub(super) fn look(
        dir: &Dir,
        (file, series): (&str, &str),
    ) -> Result<Option<MemoryRecord>, DistributorError> {
        let Some(mut file) = dir.open_file_if_there(file)? else { return Ok(None) };
        let found = read(&file.read_all(LARGEST_FILE)?, &Token::sanitised(series))?;
        Ok(found.record().cloned())
    }

    /// The last date in it.
    pub(super) fn last(&self) -> Option<Instant> {
        self.found.record().and_then(|record| record.last)
    }

    /// Writes the next record over the older slot.
    pub(super) fn write(
        &mut self,
        last: Option<Instant>,
        granularity: Setting,
        durable: Durable,
    ) -> Result<(), DistributorError> {
        let sequence = self.found.record().map_or(0, |record| record.sequence);
        let (prefix, host) = (self.series.clone(), self.host.clone());
        let mut record = MemoryRecord { prefix, sequence: sequence + 1, last, granularity, host };
        let file = self.lock.file();
        let write = |record: &MemoryRecord| {
            let offset = slot::offset_for_next(record.sequence - 1) as u64;
            file.write_all_at(&slot::encode(record), offset)
        };
        if sequence == 0 {
            // A new file, or one without readable records: nothing in it is worth keeping. From now on, a
            // slot without a record means a lost one.
            file.write_all_at(&slot::blank(), 0)?;
            write(&record)?;
            record.sequence += 1;
        }
        write(&record)?;
        if durable == Durable::Yes {
            file.sync_data()?;
            if sequence == 0 {
                self.dir.sync()?;
            }
        }
        self.found = MemoryState::Record(record);
        Ok(())
    }
}

/// Opens the memory again and makes sure that it is the locked file.
///
/// On `CephFS` and `MooseFS` a descriptor that was opened before the lock was taken still returns the old bytes.
fn open(dir: &Dir, name: &str, lock: &mut Lock) -> Result<StoredFile, DistributorError> {
    let file = dir.open_file(name)?;
    if file.stat()?.identity == lock.file().stat()?.identity {
        return Ok(file);
    }
    let cause = std::io::Error::other("the file was replaced while its lock was taken");
    Err(PathError::new("use the memory", file.path(), cause).into())
}

/// The contents of the memory of `series` with these bytes.
fn read(bytes: &[u8], series: &Token<{ slot::PREFIX }>) -> Result<MemoryState, DistributorError> {
    let series = || series.to_string();
    let (record, other) = match slot::read(&bytes[..bytes.len().min(slot::FILE)]) {
        Contents::Fresh => return Ok(MemoryState::Missing),
        Contents::Damaged { .. } => return Ok(MemoryState::Lost),
        Contents::OtherFormat => return Err(DistributorError::NewerMemory { series: series() }),
        Contents::Valid { record, other } => (record, other),
    };
    if record.prefix.as_str() != series() {
        let found = record.prefix.to_string();
        return Err(DistributorError::WrongMemory { series: series(), found });
    }
    // An unreadable slot was most likely an interrupted write whose date was never used, but it may have been
    // a later record that has rotted.
    Ok(match other {
        Ok(_) => MemoryState::Record(record),
        Err(_) => MemoryState::Doubtful(record),
    })
}
