//! Kernel locks: shared or exclusive, released when their process ends, never removed by hand.

use std::fmt;
use std::fs::TryLockError;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;

use super::file::StoredFile;
use super::watch::Operation;
use super::{Dir, IoContext, PathError};
use crate::identity::Instant;
use crate::wait::{Waited, Waiter};

/// The holder of a lock, as shown to processes that wait for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The process number.
    pub process: u32,
    /// The name of the machine.
    pub machine: String,
    /// The command that it runs: `urepo new`.
    pub command: String,
    /// The time at which it took the lock.
    pub since: Instant,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Holder { process, machine, command, since } = self;
        write!(f, "`{command}` since {since} (process {process} on {machine})")
    }
}

/// The mode of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// Shared with other holders.
    Shared,
    /// Exclusively.
    Exclusive,
}

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Others held it beyond the limit of the wait.
    #[error("`{}` is locked", path.display())]
    Held {
        /// The lock file.
        path: PathBuf,
        /// The holder, if known.
        #[source]
        holder: HeldBy,
    },
    /// A stop was requested while others held it.
    #[error("interrupted while waiting for `{}`", path.display())]
    Interrupted {
        /// The lock file.
        path: PathBuf,
        /// The holder, if known.
        #[source]
        holder: HeldBy,
    },
    /// The lock file cannot be used.
    #[error(transparent)]
    Disk(#[from] PathError),
}

/// The holder of a lock: the text that the holder wrote.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("held by {0}")]
pub struct HeldBy(pub String);

/// A lock file, held. Dropping it releases the lock; so does the end of the process, however it ends.
#[derive(Debug)]
pub struct Lock {
    file: StoredFile,
}

/// The offset of the holder in a lock file, behind all other content.
const HOLDER_OFFSET: u64 = 8192;
const HOLDER_BYTES: usize = 512;

/// A holder that wrote no text.
const UNKNOWN: &str = "another process";

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

    /// The same without writing the holder: the lock file stays unchanged.
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

    /// Locks `file` exclusively if it is free. Nothing is written: the file has content of its own.
    pub(crate) fn of_file(file: StoredFile) -> Result<Option<Lock>, PathError> {
        let locked = try_flock(&file, LockMode::Exclusive)?;
        Ok(locked.then(|| Lock { file }))
    }

    /// Turns an exclusive lock into a shared one. Other processes may take it in between.
    pub fn share(self, waiter: &Waiter<'_>) -> Result<Lock, LockError> {
        wait_for_flock(&self.file, LockMode::Shared, waiter)?;
        Ok(self)
    }

    /// The lock file itself, which may keep more than the lock.
    pub fn file(&mut self) -> &mut StoredFile {
        &mut self.file
    }

    /// Makes the lock file `name` in `dir` with its room for a holder, unless it is there: the first lock on a nearly full
    /// disk takes no more.
    pub(crate) fn prepare(dir: &Dir, name: &str) -> Result<(), PathError> {
        let file = dir.open_lock_file(name)?;
        if file.stat()?.bytes == 0 { write_holder(&file, "") } else { Ok(()) }
    }

    /// Writes the holder, for processes that wait. It is not synced: it means nothing after a power cut.
    pub(crate) fn sign(&self, holder: &Holder) -> Result<(), PathError> {
        match write_holder(&self.file, &holder.to_string()) {
            // The kernel keeps the lock, even if the holder could not be written.
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

/// Locks `file` in `mode`, unless another process holds it.
fn try_flock(file: &StoredFile, mode: LockMode) -> Result<bool, PathError> {
    let announced = file.watcher().before(Operation::Lock, file.path());
    announced.on("lock", file.path())?;
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

/// Locks `file` in `mode`, once it is free.
fn wait_for_flock(file: &StoredFile, mode: LockMode, waiter: &Waiter<'_>) -> Result<(), LockError> {
    let waited = waiter.poll(|| Ok::<_, PathError>(try_flock(file, mode)?.then_some(())))?;
    taken(waited, file.path(), || read_holder(file))
}

/// A directory locked by one process. Dropping it releases the lock; so does the end of the process.
#[derive(Debug)]
pub struct DirLock {
    dir: Dir,
}

impl Drop for DirLock {
    fn drop(&mut self) {
        // The locked directory may stay open for longer. A lock that could not be released ends with the
        // process.
        let unlock = FlockOperation::NonBlockingUnlock;
        let _ = rustix::fs::flock(self.dir.descriptor(), unlock);
    }
}

impl Dir {
    /// Locks this directory itself, unless another process holds the lock.
    pub fn try_lock(&self) -> Result<Option<DirLock>, PathError> {
        let exclusive = FlockOperation::NonBlockingLockExclusive;
        let locked =
            self.step(Operation::Lock, Path::new("")).and_then(|()| {
                match rustix::fs::flock(self.descriptor(), exclusive) {
                    Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
                    outcome => Ok(outcome.map(|()| true)?),
                }
            });
        if !locked.on("lock", self.path())? {
            return Ok(None);
        }
        // The lock belongs to the open file description, which duplicates of the descriptor share.
        Ok(Some(DirLock { dir: self.try_clone()? }))
    }
}

/// The result of waiting for the lock at `path`.
fn taken<T>(waited: Waited<T>, path: &Path, holder: impl Fn() -> String) -> Result<T, LockError> {
    let (path, holder) = (path.to_path_buf(), || HeldBy(holder()));
    match waited {
        Waited::Ready(lock) => Ok(lock),
        Waited::TimedOut => Err(LockError::Held { path, holder: holder() }),
        Waited::Interrupted => Err(LockError::Interrupted { path, holder: holder() }),
    }
}

fn write_holder(file: &StoredFile, holder: &str) -> Result<(), PathError> {
    let mut line = holder.as_bytes().to_vec();
    line.retain(|byte| !byte.is_ascii_control());
    line.resize(HOLDER_BYTES - 1, b' ');
    line.push(b'\n');
    file.write_all_at(&line, HOLDER_OFFSET)
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
