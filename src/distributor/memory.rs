//! The memory of one prefix on disk: the file is both lock and memory.
//!
//! # A backup restored in place
//!
//! A memory that was replaced by an older one has the right machine, and often the right inode. But no
//! program can set the change time (ctime) of a file. So the file ends in a line with its own ctime, the
//! *mark*. Every writer updates the mark, so a wrong mark means that another program changed the file. A
//! process that was killed with the lock leaves a wrong mark too; both cases are handled alike.

use super::DistributorError;
use super::granularity::Setting;
use super::reserved::Reserved;
use super::slot::{self, Contents, Damage, MemoryRecord, SlotError, Token};
use crate::agent::Agent;
use crate::disk::{Dir, HOLDER_END, Lock, LockMode, PathError, StoredFile};
use crate::identity::{Instant, Prefix, SECOND};
use crate::layout;
use crate::wait::Waiter;

/// The file is larger than its slots: the holder of the lock and the mark follow them.
const LARGEST_FILE: u64 = 64 * 1024;

/// The length of the mark.
const MARK: usize = 64;

/// Tolerance between the mark and the ctime: writing the mark changes the ctime.
const LEEWAY: i128 = SECOND / 100;

/// Number of attempts to write a mark within the tolerance.
const ATTEMPTS: usize = 5;

/// The identity of a memory, as opposed to its copies: the machine, the file on that machine, and the id of
/// the file system, if it has one.
///
/// A copied, restored or cloned collection has a memory from which another collection may still issue dates.
pub(super) type Home = Token<{ slot::NAME }>;

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
    /// An older version of the program wrote it.
    Outdated,
}

impl MemoryState {
    /// The last readable record.
    pub(super) fn record(&self) -> Option<&MemoryRecord> {
        match self {
            MemoryState::Record(record) | MemoryState::Doubtful(record) => Some(record),
            MemoryState::Missing | MemoryState::Lost | MemoryState::Outdated => None,
        }
    }
}

/// The memory of a prefix, held exclusively.
pub(super) struct HeldMemory<'a> {
    lock: Lock,
    dir: &'a Dir,
    prefix: &'a Prefix,
    agent: &'a Agent,
    /// Its contents when the lock was taken.
    pub(super) found: MemoryState,
    /// The dates that are skipped.
    pub(super) reserved: Reserved,
    /// Whether their file is missing, though it has to be there.
    pub(super) is_reserved_lost: bool,
    /// When the lock was taken, in whole seconds.
    now: Instant,
    /// Whether the mark was right then, and only the holder has been written since.
    marked: bool,
}

impl<'a> HeldMemory<'a> {
    /// Locks and reads the memory of `prefix` in `dir`; the file is created if missing.
    pub(super) fn lock(
        dir: &'a Dir,
        prefix: &'a Prefix,
        agent: &'a Agent,
        waiter: &Waiter<'_>,
    ) -> Result<HeldMemory<'a>, DistributorError> {
        let name = layout::memory_file(prefix);
        let mut lock = Lock::take_unsigned(dir, &name, LockMode::Exclusive, waiter)?;
        let bytes = open(dir, &name, &mut lock)?.read_all(LARGEST_FILE)?;
        let changed = lock.file().stat()?.changed;
        let found = read(&bytes, changed, prefix, agent)?;
        // Nothing may change the file before this.
        let holder = agent.holder(waiter.clock);
        lock.sign(&holder)?;
        let marked = matches!(found, MemoryState::Record(_));
        let (reserved, is_reserved_lost, now) = (Reserved::default(), false, holder.since);
        let mut memory =
            HeldMemory { lock, dir, prefix, agent, found, reserved, is_reserved_lost, now, marked };
        match Reserved::read(dir, prefix)? {
            Some(reserved) => memory.reserved = reserved,
            None => {
                memory.is_reserved_lost =
                    memory.found.record().is_some_and(MemoryRecord::has_reserved);
            }
        }
        Ok(memory)
    }

    /// Reads a memory for display, without locking or creating it.
    pub(super) fn look(
        dir: &Dir,
        prefix: &Prefix,
    ) -> Result<Option<MemoryRecord>, DistributorError> {
        let Some(mut file) = dir.open_file_if_there(layout::memory_file(prefix))? else {
            return Ok(None);
        };
        let bytes = file.read_all(LARGEST_FILE)?;
        match slot::read(&bytes[..bytes.len().min(slot::FILE)]) {
            Contents::Valid { record, .. } => Ok(Some(record)),
            Contents::Fresh | Contents::Damaged { .. } => Ok(None),
            Contents::OtherFormat => Err(DistributorError::NewerMemory { prefix: prefix.clone() }),
        }
    }

    /// The home of this memory.
    pub(super) fn home(&mut self) -> Result<Home, DistributorError> {
        let mut home = format!("{:.40}", self.agent.machine_id);
        if self.dir.has_lasting_inodes()? {
            let (_, inode) = self.lock.file().stat()?.identity;
            home += &format!(":{inode}");
        }
        if let Some(file_system) = self.dir.lasting_file_system_id()? {
            home += &format!(":{file_system:x}");
        }
        Ok(Token::sanitised(&home))
    }

    /// Reserves dates, durably.
    pub(super) fn reserve(
        &mut self,
        dates: impl IntoIterator<Item = Instant>,
    ) -> Result<(), DistributorError> {
        let mut reserved = self.reserved.clone();
        reserved.dates.extend(dates);
        self.set_reserved(reserved)
    }

    /// Replaces what is reserved, durably, if it is not that already.
    pub(super) fn set_reserved(&mut self, reserved: Reserved) -> Result<(), DistributorError> {
        if self.is_reserved_lost || reserved != self.reserved {
            reserved.write(self.dir, self.prefix)?;
            (self.reserved, self.is_reserved_lost) = (reserved, false);
        }
        Ok(())
    }

    /// Writes the next record over the older slot, and syncs it.
    pub(super) fn write(
        &mut self,
        last: Option<Instant>,
        granularity: Setting,
        state: &str,
    ) -> Result<(), DistributorError> {
        self.marked = false;
        let has_reserved = self.is_reserved_lost || self.reserved.counts(self.now);
        let sequence = self.found.record().map_or(0, |record| record.sequence);
        let mut record = MemoryRecord {
            prefix: Token::sanitised(&self.prefix.subsystem()),
            sequence: sequence + 1,
            last,
            granularity,
            boot: Token::sanitised(&self.agent.boot_id),
            host: self.home()?,
            tree: MemoryRecord::tree_of(state, has_reserved),
        };
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
        mark(file)?;
        file.sync_data()?;
        if sequence == 0 {
            self.dir.sync()?;
        }
        Ok(())
    }
}

impl Drop for HeldMemory<'_> {
    fn drop(&mut self) {
        if self.marked {
            // The holder was written. After an error the mark is left, as by a killed process.
            let _ = mark(self.lock.file());
        }
    }
}

/// Opens the memory again and makes sure that it is the locked file.
///
/// On some network file systems an older descriptor still returns the old bytes.
fn open(dir: &Dir, name: &str, lock: &mut Lock) -> Result<StoredFile, DistributorError> {
    let file = dir.open_file(name)?;
    if file.stat()?.identity == lock.file().stat()?.identity {
        return Ok(file);
    }
    let cause = std::io::Error::other("the file was replaced while its lock was taken");
    Err(PathError::new("use the memory", file.path(), cause).into())
}

/// The contents of a memory with these bytes and this ctime.
fn read(
    bytes: &[u8],
    changed: Instant,
    prefix: &Prefix,
    agent: &Agent,
) -> Result<MemoryState, DistributorError> {
    let (record, other) = match slot::read(&bytes[..bytes.len().min(slot::FILE)]) {
        Contents::Fresh => return Ok(MemoryState::Missing),
        Contents::Damaged { slots } => {
            let older = SlotError::Damaged { why: Damage::OlderFormat };
            let is_outdated = slots.contains(&older);
            return Ok(if is_outdated { MemoryState::Outdated } else { MemoryState::Lost });
        }
        Contents::OtherFormat => {
            return Err(DistributorError::NewerMemory { prefix: prefix.clone() });
        }
        Contents::Valid { record, other } => (record, other),
    };
    if record.prefix != Token::sanitised(&prefix.subsystem()) {
        let found = record.prefix.to_string();
        return Err(DistributorError::WrongMemory { prefix: prefix.clone(), found });
    }
    let is_marked = marked_time(bytes).is_some_and(|marked| {
        let later = changed.nanoseconds() - marked;
        // A power cut may lose a ctime that was newer than the last sync.
        let rebooted = record.boot != Token::sanitised(&agent.boot_id);
        later <= LEEWAY && (later >= -LEEWAY || rebooted)
    });
    // An unreadable slot was most likely an interrupted write whose date was never used, but it may have been
    // a later record that has rotted.
    Ok(if other.is_ok() && is_marked {
        MemoryState::Record(record)
    } else {
        MemoryState::Doubtful(record)
    })
}

/// The time in the mark.
fn marked_time(bytes: &[u8]) -> Option<i128> {
    let start = usize::try_from(HOLDER_END).ok()?;
    let line = std::str::from_utf8(bytes.get(start..start + MARK)?).ok()?;
    line.strip_prefix("changed ")?.trim_end().parse().ok()
}

/// Writes the mark: when the file was last changed.
fn mark(file: &StoredFile) -> Result<(), PathError> {
    let mut changed = file.stat()?.changed.nanoseconds();
    for _ in 0..ATTEMPTS {
        let line = format!("{:<width$}\n", format!("changed {changed}"), width = MARK - 1);
        match file.write_all_at(line.as_bytes(), HOLDER_END) {
            // The next date is then later than the present, which only costs digits.
            Err(error) if error.is_full() => return Ok(()),
            outcome => outcome?,
        }
        let after = file.stat()?.changed.nanoseconds();
        if (after - changed).abs() <= LEEWAY / 2 {
            break;
        }
        changed = after;
    }
    Ok(())
}
