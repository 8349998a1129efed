//! The memory of one prefix on disk: the file is lock and memory in one.

use super::DistributorError;
use super::granularity::Setting;
use super::slot::{self, Contents, Record, SlotError, Token};
use crate::agent::Agent;
use crate::disk::{Dir, Lock, LockMode, StoredFile};
use crate::identity::{Instant, Prefix};
use crate::layout;
use crate::wait::Waiter;

/// The file is larger than its slots: behind them stands who holds the lock.
const LARGEST_FILE: u64 = 64 * 1024;

/// What tells a memory from its copies: the machine, and the file it is on that machine.
///
/// A collection that was copied, restored or cloned brings a memory along that another one may still
/// give dates from.
pub(super) type Home = Token<{ slot::NAME }>;

/// What the memory held when it was read.
pub(super) enum Found {
    /// Nothing was ever written.
    Fresh,
    /// The last record.
    Record(Record),
    /// A record, beside a slot that can not be read: there may have been a later one.
    Doubtful(Record),
    /// Something that can not be read.
    Lost,
}

impl Found {
    /// The last date, if it is known.
    pub(super) fn last(&self) -> Option<Instant> {
        match self {
            Found::Record(record) | Found::Doubtful(record) => Some(record.last),
            Found::Fresh | Found::Lost => None,
        }
    }
}

/// The memory of a prefix, held alone.
pub(super) struct HeldMemory<'a> {
    lock: Lock,
    dir: &'a Dir,
    name: String,
    prefix: &'a Prefix,
    agent: &'a Agent,
}

impl<'a> HeldMemory<'a> {
    /// Takes the memory of `prefix` in `dir`; the file is made if it is missing.
    pub(super) fn lock(
        dir: &'a Dir,
        prefix: &'a Prefix,
        agent: &'a Agent,
        waiter: &Waiter<'_>,
    ) -> Result<HeldMemory<'a>, DistributorError> {
        let name = layout::memory_file(prefix);
        let holder = agent.holder(waiter.clock);
        let lock = Lock::take(dir, &name, LockMode::Exclusive, &holder, waiter)?;
        Ok(HeldMemory { lock, dir, name, prefix, agent })
    }

    /// Reads the memory through a descriptor opened after the lock was taken: on some network file
    /// systems one that was open before still serves the old bytes.
    pub(super) fn read(&mut self) -> Result<Found, DistributorError> {
        let bytes = self.open()?.read_all(LARGEST_FILE)?;
        let slots = &bytes[..bytes.len().min(slot::FILE)];
        match slot::read(slots) {
            Contents::Fresh => Ok(Found::Fresh),
            Contents::Damaged { .. } => Ok(Found::Lost),
            Contents::OtherFormat => {
                Err(DistributorError::NewerMemory { prefix: self.prefix.clone() })
            }
            Contents::Valid { record, other } => {
                let folded = self.prefix.folded();
                if record.prefix != Token::sanitised(&folded) {
                    let found = record.prefix.to_string();
                    return Err(DistributorError::WrongMemory {
                        prefix: self.prefix.clone(),
                        found,
                    });
                }
                // The other slot was most likely cut short before its date was used, but it may have
                // been a later record that went bad.
                let whole = match other {
                    Ok(_) => true,
                    Err(SlotError::Empty) => record.sequence == 1,
                    Err(SlotError::Damaged { .. } | SlotError::OtherFormat) => false,
                };
                Ok(if whole { Found::Record(record) } else { Found::Doubtful(record) })
            }
        }
    }

    /// Reads a memory without its lock and without making it: for a person to look at.
    pub(super) fn look(dir: &Dir, prefix: &Prefix) -> Result<Option<Record>, DistributorError> {
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
        let machine = &self.agent.machine_id;
        if !self.dir.has_lasting_inodes()? {
            return Ok(Token::sanitised(machine));
        }
        let (_, inode) = self.lock.file().stamp()?.identity;
        Ok(Token::sanitised(&format!("{machine:.40}:{inode}")))
    }

    /// Opens the memory anew and makes sure that it is the file that is locked.
    fn open(&mut self) -> Result<StoredFile, DistributorError> {
        let file = self.dir.open_file(&self.name)?;
        if file.stamp()?.identity == self.lock.file().stamp()?.identity {
            return Ok(file);
        }
        let cause = std::io::Error::other("the file was replaced while its lock was taken");
        Err(crate::disk::PathError::new("use the memory", file.path(), cause).into())
    }

    /// Writes the record after `found`, over the older slot, and syncs it.
    pub(super) fn write(
        &mut self,
        found: &Found,
        last: Instant,
        granularity: Setting,
        tree: &str,
    ) -> Result<(), DistributorError> {
        let sequence = match found {
            Found::Record(record) | Found::Doubtful(record) => record.sequence,
            Found::Fresh | Found::Lost => 0,
        };
        let record = Record {
            prefix: Token::sanitised(&self.prefix.folded()),
            sequence: sequence + 1,
            last,
            granularity,
            boot: Token::sanitised(&self.agent.boot_id),
            host: self.home()?,
            tree: Token::sanitised(tree),
        };
        let file = self.lock.file();
        if sequence == 0 {
            // A new file, or one whose records are lost: nothing of it is worth keeping.
            file.write_all_at(&slot::blank(), 0)?;
        }
        let offset = slot::offset_for_next(sequence) as u64;
        file.write_all_at(&slot::encode(&record), offset)?;
        file.sync_data()?;
        if sequence == 0 {
            self.dir.sync()?;
        }
        Ok(())
    }
}
