//! The memory of one prefix on disk: the file is lock and memory in one.
//!
//! # A backup restored in place
//!
//! A memory that was replaced by an older one has the right machine, and often the right inode. But
//! nobody can set the time at which a file was last changed (ctime). So the file ends in a line with
//! its own ctime, the *mark*: every writer of the file puts the mark right again, and a file that was
//! changed at another time was changed by somebody else. A process that was killed with the lock
//! leaves a wrong mark too; both are handled alike.

use super::DistributorError;
use super::granularity::Setting;
use super::slot::{self, Contents, MemoryRecord, Token};
use crate::agent::Agent;
use crate::disk::{Dir, HOLDER_END, Lock, LockMode, PathError, StoredFile};
use crate::identity::{Instant, Prefix, SECOND};
use crate::layout;
use crate::wait::Waiter;

/// The file is larger than its slots: behind them stands who holds the lock, and then the mark.
const LARGEST_FILE: u64 = 64 * 1024;

/// The length of the mark.
const MARK: usize = 64;

/// How far the mark may be from the ctime: it is written after the ctime was asked for, and changes it.
const LEEWAY: i128 = SECOND / 100;

/// How often the mark is written until it is near enough.
const ATTEMPTS: usize = 5;

/// What tells a memory from its copies: the machine, the file it is on that machine, and the file
/// system where that has a name of its own.
///
/// A collection that was copied, restored or cloned brings a memory along that another one may still
/// give dates from.
pub(super) type Home = Token<{ slot::NAME }>;

/// What the memory held when it was read.
pub(super) enum MemoryState {
    /// Nothing was ever written.
    Missing,
    /// The last record.
    Record(MemoryRecord),
    /// A record, and a reason to think that there was a later one.
    Doubtful(MemoryRecord),
    /// Something that cannot be read.
    Lost,
}

impl MemoryState {
    /// The last record that can be read.
    pub(super) fn record(&self) -> Option<&MemoryRecord> {
        match self {
            MemoryState::Record(record) | MemoryState::Doubtful(record) => Some(record),
            MemoryState::Missing | MemoryState::Lost => None,
        }
    }
}

/// The memory of a prefix, held alone.
pub(super) struct HeldMemory<'a> {
    lock: Lock,
    dir: &'a Dir,
    prefix: &'a Prefix,
    agent: &'a Agent,
    /// What it held when the lock was taken.
    pub(super) found: MemoryState,
    /// Whether the mark was right then, and nothing but the holder was written since.
    marked: bool,
}

impl<'a> HeldMemory<'a> {
    /// Takes the memory of `prefix` in `dir` and reads it; the file is made if it is missing.
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
        // Before this, nothing may change the file.
        lock.sign(&agent.holder(waiter.clock))?;
        let marked = matches!(found, MemoryState::Record(_));
        Ok(HeldMemory { lock, dir, prefix, agent, found, marked })
    }

    /// Reads a memory without its lock and without making it: for a person to look at.
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

    /// Where this memory is at home.
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

    /// Writes a record after the one that was found, over the older slot, and syncs it.
    pub(super) fn write(
        &mut self,
        last: Option<Instant>,
        granularity: Setting,
        tree: &str,
    ) -> Result<(), DistributorError> {
        self.marked = false;
        let sequence = self.found.record().map_or(0, |record| record.sequence);
        let mut record = MemoryRecord {
            prefix: Token::sanitised(&self.prefix.subsystem()),
            sequence: sequence + 1,
            last,
            granularity,
            boot: Token::sanitised(&self.agent.boot_id),
            host: self.home()?,
            tree: Token::sanitised(tree),
        };
        let file = self.lock.file();
        let write = |record: &MemoryRecord| {
            let offset = slot::offset_for_next(record.sequence - 1) as u64;
            file.write_all_at(&slot::encode(record), offset)
        };
        if sequence == 0 {
            // A new file, or one whose records are lost: nothing of it is worth keeping. From now on a
            // slot without a record is one that was lost.
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
            // The holder was written. An error leaves what a killed process would.
            let _ = mark(self.lock.file());
        }
    }
}

/// Opens the memory again and makes sure that it is the file that is locked.
///
/// On some network file systems a descriptor that was open before still serves the old bytes.
fn open(dir: &Dir, name: &str, lock: &mut Lock) -> Result<StoredFile, DistributorError> {
    let file = dir.open_file(name)?;
    if file.stat()?.identity == lock.file().stat()?.identity {
        return Ok(file);
    }
    let cause = std::io::Error::other("the file was replaced while its lock was taken");
    Err(PathError::new("use the memory", file.path(), cause).into())
}

/// What a memory with these bytes, changed at that time, says.
fn read(
    bytes: &[u8],
    changed: Instant,
    prefix: &Prefix,
    agent: &Agent,
) -> Result<MemoryState, DistributorError> {
    let (record, other) = match slot::read(&bytes[..bytes.len().min(slot::FILE)]) {
        Contents::Fresh => return Ok(MemoryState::Missing),
        Contents::Damaged { .. } => return Ok(MemoryState::Lost),
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
        // When the power goes, a ctime may be lost that was newer than the last sync.
        let rebooted = record.boot != Token::sanitised(&agent.boot_id);
        later <= LEEWAY && (later >= -LEEWAY || rebooted)
    });
    // A slot that cannot be read was most likely cut short before its date was used, but it may have
    // been a later record that went bad.
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
            // The next date is then found to be later than now, which costs nothing but digits.
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
