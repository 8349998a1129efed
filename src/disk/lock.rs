//! Kernel locks: shared or exclusive, gone with their process, never removed by hand.

use std::fmt;
use std::fs::TryLockError;

use rustix::fs::FlockOperation;

use super::file::StoredFile;
use super::watch::Operation;
use super::{Dir, IoContext, PathError};
use crate::identity::Instant;
use crate::wait::{Waited, Waiter};

/// Who holds a lock, as told to those who wait for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The process number.
    pub process: u32,
    /// The name of the machine.
    pub machine: String,
    /// The command that it runs: `urepo new`.
    pub command: String,
    /// Since when.
    pub since: Instant,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Holder { process, machine, command, since } = self;
        write!(f, "`{command}` since {since} (process {process} on {machine})")
    }
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// With others who share it.
    Shared,
    /// Alone.
    Exclusive,
}

/// Why a lock was not had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Others held it beyond the limit of the wait.
    #[error("`{}` is locked", path.display())]
    Held {
        /// The lock file.
        path: std::path::PathBuf,
        /// Who holds it, where known.
        #[source]
        holder: HeldBy,
    },
    /// A stop was requested while others held it.
    #[error("interrupted while waiting for `{}`", path.display())]
    Interrupted {
        /// The lock file.
        path: std::path::PathBuf,
        /// Who holds it, where known.
        #[source]
        holder: HeldBy,
    },
    /// The lock file cannot be used.
    #[error(transparent)]
    Disk(#[from] PathError),
}

impl LockError {
    /// The same for those who can only say which file could not be used.
    pub(crate) fn into_path_error(self) -> PathError {
        match self {
            LockError::Held { path, holder } | LockError::Interrupted { path, holder } => {
                let kind = std::io::ErrorKind::WouldBlock;
                PathError::new("lock", path, std::io::Error::new(kind, holder.to_string()))
            }
            LockError::Disk(error) => error,
        }
    }
}

/// Who keeps a lock: the text the holder left.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("held by {0}")]
pub struct HeldBy(pub String);

/// A lock file, held. Dropping it lets go; so does the end of the process, however it ends.
#[derive(Debug)]
pub struct Lock {
    file: StoredFile,
}

/// Where in a lock file its holder is written, behind anything else it keeps.
const HOLDER_OFFSET: u64 = 8192;
const HOLDER_BYTES: usize = 512;

/// A holder that left no text.
const UNKNOWN: &str = "another process";

/// Where the line of the holder ends.
pub(crate) const HOLDER_END: u64 = HOLDER_OFFSET + HOLDER_BYTES as u64;

impl Lock {
    /// Takes the lock file `name` in `dir`, made if it is missing.
    pub fn take(
        dir: &Dir,
        name: &str,
        mode: LockMode,
        holder: &Holder,
        waiter: &Waiter<'_>,
    ) -> Result<Lock, LockError> {
        let lock = Lock::take_unsigned(dir, name, mode, waiter)?;
        if mode == LockMode::Exclusive {
            lock.sign(holder)?;
        }
        Ok(lock)
    }

    /// The same without writing who holds it: the lock file is as the last holder left it.
    pub(crate) fn take_unsigned(
        dir: &Dir,
        name: &str,
        mode: LockMode,
        waiter: &Waiter<'_>,
    ) -> Result<Lock, LockError> {
        Lock::wait_for_file(dir.open_lock_file(name)?, mode, waiter)
    }

    /// Locks `file`, which has content of its own: no holder is written.
    pub(crate) fn wait_for_file(
        file: StoredFile,
        mode: LockMode,
        waiter: &Waiter<'_>,
    ) -> Result<Lock, LockError> {
        wait_for_flock(&file, mode, waiter)?;
        Ok(Lock { file })
    }

    /// Locks `file` alone if nobody else has it. Nothing is written: it has content of its own.
    pub(crate) fn of_file(file: StoredFile) -> Result<Option<Lock>, PathError> {
        let locked = try_flock(&file, LockMode::Exclusive)?;
        Ok(locked.then(|| Lock { file }))
    }

    /// Whether somebody has locked `file` alone. Nobody who asks the same at this moment hinders the answer.
    pub(crate) fn is_held(file: StoredFile) -> Result<bool, PathError> {
        let locked = try_flock(&file, LockMode::Shared)?;
        Ok(locked.then(|| Lock { file }).is_none())
    }

    /// Lets others share a lock that was held alone. Others may take it in between.
    pub fn share(self, waiter: &Waiter<'_>) -> Result<Lock, LockError> {
        wait_for_flock(&self.file, LockMode::Shared, waiter)?;
        Ok(self)
    }

    /// The lock file itself, which may keep more than the lock.
    pub fn file(&mut self) -> &mut StoredFile {
        &mut self.file
    }

    /// Tells those who wait who holds this. Not synced: it means nothing after a power cut.
    pub(crate) fn sign(&self, holder: &Holder) -> Result<(), PathError> {
        let mut line = holder.to_string().into_bytes();
        line.retain(|byte| !byte.is_ascii_control());
        line.resize(HOLDER_BYTES - 1, b' ');
        line.push(b'\n');
        match self.file.write_all_at(&line, HOLDER_OFFSET) {
            // The kernel keeps the lock, whether anybody can read whose it is or not.
            Err(error) if error.is_full() => Ok(()),
            outcome => outcome,
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file is not enough while a process that was forked a moment ago has it open too.
        let _ = self.file.as_std().unlock();
    }
}

/// Locks `file` as `mode` says, unless others have it.
fn try_flock(file: &StoredFile, mode: LockMode) -> Result<bool, PathError> {
    let announced = file.watcher().before(Operation::Lock, file.path());
    let _under_way = announced.on("lock", file.path())?;
    let attempt = match mode {
        LockMode::Shared => file.as_std().try_lock_shared(),
        LockMode::Exclusive => file.as_std().try_lock(),
    };
    match attempt {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error).on("lock", file.path()),
    }
}

/// Locks `file` as `mode` says, once others let go.
fn wait_for_flock(file: &StoredFile, mode: LockMode, waiter: &Waiter<'_>) -> Result<(), LockError> {
    let waited = waiter.poll(|| Ok::<_, PathError>(try_flock(file, mode)?.then_some(())))?;
    let path = file.path().to_path_buf();
    let holder = || HeldBy(read_holder(file));
    match waited {
        Waited::Ready(()) => Ok(()),
        Waited::TimedOut => Err(LockError::Held { path, holder: holder() }),
        Waited::Interrupted => Err(LockError::Interrupted { path, holder: holder() }),
    }
}

/// A directory that one process works in. Dropping it lets go; so does the end of the process.
#[derive(Debug)]
pub struct DirLock {
    dir: Dir,
}

impl Drop for DirLock {
    fn drop(&mut self) {
        // The directory that was locked may stay open for longer. A lock that stays goes with its process.
        let unlock = FlockOperation::NonBlockingUnlock;
        let _ = rustix::fs::flock(self.dir.descriptor(), unlock);
    }
}

impl Dir {
    /// Takes a lock on this directory itself, waiting while another process has it.
    pub(crate) fn wait_for_lock(&self, waiter: &Waiter<'_>) -> Result<DirLock, LockError> {
        let (path, holder) = (self.path().to_path_buf(), HeldBy(UNKNOWN.to_owned()));
        match waiter.poll(|| self.try_lock())? {
            Waited::Ready(lock) => Ok(lock),
            Waited::TimedOut => Err(LockError::Held { path, holder }),
            Waited::Interrupted => Err(LockError::Interrupted { path, holder }),
        }
    }

    /// Takes a lock on this directory itself, unless another process has it.
    pub fn try_lock(&self) -> Result<Option<DirLock>, PathError> {
        self.try_lock_as(FlockOperation::NonBlockingLockExclusive)
    }

    /// The same together with others who share it.
    pub(crate) fn try_lock_shared(&self) -> Result<Option<DirLock>, PathError> {
        self.try_lock_as(FlockOperation::NonBlockingLockShared)
    }

    fn try_lock_as(&self, operation: FlockOperation) -> Result<Option<DirLock>, PathError> {
        let locked = self.step(Operation::Lock, std::path::Path::new("")).and_then(|_under_way| {
            match rustix::fs::flock(self.descriptor(), operation) {
                Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
                outcome => Ok(outcome.map(|()| true)?),
            }
        });
        if !locked.on("lock", self.path())? {
            return Ok(None);
        }
        // The lock belongs to what was opened, which its duplicates share.
        Ok(Some(DirLock { dir: self.try_clone()? }))
    }
}

fn read_holder(file: &StoredFile) -> String {
    use std::os::unix::fs::FileExt;
    let mut line = [0_u8; HOLDER_BYTES];
    let length = file.as_std().read_at(&mut line, HOLDER_OFFSET).unwrap_or(0);
    let text = String::from_utf8_lossy(&line[..length]);
    let text = text.trim_matches(['\0', ' ', '\n']);
    if text.is_empty() { UNKNOWN.to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Watcher;

    #[test]
    fn a_lock_that_was_dropped_is_free_though_a_forked_process_has_the_file() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = Dir::open(scratch.path(), Watcher::default()).unwrap();
        let lock = Lock::of_file(dir.open_lock_file("lock").unwrap()).unwrap().unwrap();
        let inherited = lock.file.as_std().try_clone().unwrap();
        drop(lock);
        assert!(Lock::of_file(dir.open_lock_file("lock").unwrap()).unwrap().is_some());
        drop(inherited);
    }
}
