//! Kernel locks: shared or exclusive, gone with their process, never removed by hand.

use std::fmt;
use std::fs::TryLockError;
use std::time::Duration;

use super::file::StoredFile;
use super::watch::Operation;
use super::{Dir, IoContext, PathError};
use crate::clock::Clock;
use crate::identity::Instant;

/// Who holds a lock, as told to those who wait for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The process number.
    pub process: u32,
    /// The name of the machine.
    pub machine: String,
    /// What it does: `urepo new`.
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
    /// Others held it for longer than one was ready to wait.
    #[error("`{}` is locked", path.display())]
    Held {
        /// The lock file.
        path: std::path::PathBuf,
        /// Who holds it, where known.
        #[source]
        holder: HeldBy,
    },
    /// The lock file can not be used.
    #[error(transparent)]
    Disk(#[from] PathError),
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

impl Lock {
    /// Takes the lock file `name` in `dir`, made if it is missing, waiting up to `wait`.
    pub fn take(
        dir: &Dir,
        name: &str,
        mode: LockMode,
        wait: Duration,
        holder: &Holder,
        clock: &dyn Clock,
    ) -> Result<Lock, LockError> {
        let file = dir.open_lock_file(name)?;
        let mut waited = Duration::ZERO;
        let mut pause = Duration::from_millis(1);
        loop {
            file.watcher().before(Operation::Lock, file.path()).on("lock", file.path())?;
            let attempt = match mode {
                LockMode::Shared => file.as_std().try_lock_shared(),
                LockMode::Exclusive => file.as_std().try_lock(),
            };
            match attempt {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if waited >= wait => {
                    let holder = HeldBy(read_holder(&file));
                    return Err(LockError::Held { path: file.path().to_path_buf(), holder });
                }
                Err(TryLockError::WouldBlock) => {
                    clock.pause(pause);
                    waited += pause;
                    pause = (pause * 2).min(Duration::from_millis(50));
                }
                Err(TryLockError::Error(error)) => return Err(error).on("lock", file.path())?,
            }
        }
        let lock = Lock { file };
        if mode == LockMode::Exclusive {
            match lock.write_holder(holder) {
                // The kernel keeps the lock, whether anybody can read whose it is or not.
                Err(error) if error.is_full() => {}
                outcome => outcome?,
            }
        }
        Ok(lock)
    }

    /// Locks `file` alone if nobody else has it. Nothing is written: it has content of its own.
    pub(crate) fn of_file(file: StoredFile) -> Result<Option<Lock>, PathError> {
        file.watcher().before(Operation::Lock, file.path()).on("lock", file.path())?;
        match file.as_std().try_lock() {
            Ok(()) => Ok(Some(Lock { file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error).on("lock", file.path()),
        }
    }

    /// Locks `file` alone, for as long as it takes: others hold it for a moment only.
    pub(crate) fn wait_for_file(file: StoredFile) -> Result<Lock, PathError> {
        file.watcher().before(Operation::Lock, file.path()).on("lock", file.path())?;
        file.as_std().lock().on("lock", file.path())?;
        Ok(Lock { file })
    }

    /// Shares a lock on `file`, for as long as it takes: others hold it alone for a moment only.
    pub(crate) fn wait_to_share_file(file: StoredFile) -> Result<Lock, PathError> {
        file.watcher().before(Operation::Lock, file.path()).on("lock", file.path())?;
        file.as_std().lock_shared().on("lock", file.path())?;
        Ok(Lock { file })
    }

    /// Lets others share a lock that was held alone.
    pub fn share(self) -> Result<Lock, LockError> {
        self.file.as_std().lock_shared().on("lock", self.file.path())?;
        Ok(self)
    }

    /// The lock file itself, which may keep more than the lock.
    pub fn file(&mut self) -> &mut StoredFile {
        &mut self.file
    }

    /// Tells those who wait who holds this. Not synced: it means nothing after a power cut.
    fn write_holder(&self, holder: &Holder) -> Result<(), PathError> {
        let mut line = holder.to_string().into_bytes();
        line.retain(|byte| !byte.is_ascii_control());
        line.resize(HOLDER_BYTES - 1, b' ');
        line.push(b'\n');
        self.file.write_all_at(&line, HOLDER_OFFSET)
    }
}

/// A directory that one process works in. Dropping it lets go; so does the end of the process.
#[derive(Debug)]
pub struct DirLock {
    _dir: Dir,
}

impl Dir {
    /// Takes a lock on this directory itself, unless another process has it.
    pub fn try_lock(&self) -> Result<Option<DirLock>, PathError> {
        let locked = self.step(Operation::Lock, std::path::Path::new("")).and_then(|()| {
            let exclusive = rustix::fs::FlockOperation::NonBlockingLockExclusive;
            match rustix::fs::flock(self.descriptor(), exclusive) {
                Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
                outcome => Ok(outcome.map(|()| true)?),
            }
        });
        if !locked.on("lock", self.path())? {
            return Ok(None);
        }
        // The lock belongs to what was opened, which its duplicates share.
        Ok(Some(DirLock { _dir: self.try_clone()? }))
    }
}

fn read_holder(file: &StoredFile) -> String {
    use std::os::unix::fs::FileExt;
    let mut line = [0_u8; HOLDER_BYTES];
    let length = file.as_std().read_at(&mut line, HOLDER_OFFSET).unwrap_or(0);
    let text = String::from_utf8_lossy(&line[..length]);
    let text = text.trim_matches(['\0', ' ', '\n']);
    if text.is_empty() { "another process".to_owned() } else { text.to_owned() }
}
