//! Directories that belong to one run, under a kernel lock as long as the run lives: an unlocked stage
//! belonged to a killed run.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;

use super::random::random_hex;
use super::{Dir, DirLock, IoContext, PathError};

/// Number of attempts to create a stage, if others remove it before it is locked.
const ATTEMPTS: usize = 3;

/// A private directory in a shared one. Dropping it removes it.
///
/// Where the file system cannot lock directories, or hides the locks of other machines, a living stage looks
/// like that of a killed run: [`StageLock::try_take`] then returns `None`.
#[derive(Debug)]
pub(crate) struct Stage {
    dir: Dir,
    above: Dir,
    name: String,
    /// Whether it is left, as by a killed process.
    is_left: AtomicBool,
    _lock: Option<DirLock>,
}

/// Who may enter a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Its owner.
    Private,
    /// Everyone who may enter new directories of the process.
    Shared,
}

impl Stage {
    /// Makes a stage in `above`, with a name that begins with `begin`, and locks it.
    pub(crate) fn make(
        above: &Dir,
        begin: &str,
        process: u32,
        access: Access,
    ) -> Result<Stage, PathError> {
        let above = above.try_clone()?;
        for _ in 0..ATTEMPTS {
            let random = random_hex::<8>().on("make the directory", above.path())?;
            let name = format!("{begin}{process}-{random}");
            match access {
                Access::Private => above.make_private_dir(&name)?,
                Access::Shared => above.make_dir(&name)?,
            }
            let locked = lock_new(&above, &name);
            if let Ok(Some((dir, lock))) = locked {
                let is_left = AtomicBool::new(false);
                return Ok(Stage { dir, above, name, is_left, _lock: lock });
            }
            let _ = above.remove_dir(Path::new(&name));
            // Otherwise another process removed it in the moment before it was locked.
            locked?;
        }
        let cause = io::Error::other("other processes keep removing new directories there");
        Err(PathError::new("make a stage in", above.path(), cause))
    }

    /// Whether `name` can be the name of a stage that begins with `begin`.
    pub(crate) fn is_name(name: &str, begin: &str) -> bool {
        let parts = name.strip_prefix(begin).and_then(|rest| rest.split_once('-'));
        parts.is_some_and(|(process, random)| {
            let is_number = process.bytes().all(|byte| byte.is_ascii_digit());
            let is_random = random.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            is_number && !process.is_empty() && is_random && random.len() == 16
        })
    }

    /// The directory.
    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Leaves the stage behind, as a killed process would.
    pub(crate) fn leave(&self) {
        self.is_left.store(true, Ordering::Relaxed);
    }

    /// Removes the stage, unless it is left, and returns an error.
    pub(crate) fn remove(&self) -> Result<(), PathError> {
        if self.is_left.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.above.remove_tree(Path::new(&self.name))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // After an error the directory is left, as by a killed process.
        let _ = self.remove();
    }
}

/// Locks a new stage, if the file system locks directories; `None` if another process holds it or has removed
/// it.
fn lock_new(above: &Dir, name: &str) -> Result<Option<(Dir, Option<DirLock>)>, PathError> {
    let Some(dir) = above.open_dir_if_there(name)? else { return Ok(None) };
    let lock = match dir.try_lock() {
        Ok(Some(lock)) => Some(lock),
        Ok(None) => return Ok(None),
        // Any other error may be temporary: without the lock, others would remove the stage.
        Err(error) if error.is_without_directory_locks() => None,
        Err(error) => return Err(error),
    };
    let is_there = above.stat(name)?.map(|stamp| stamp.identity) == Some(dir.own_stat()?.identity);
    Ok(is_there.then_some((dir, lock)))
}

/// The stage of a killed run, locked so that no other process clears it.
#[derive(Debug)]
pub(crate) struct StageLock {
    /// The stage.
    pub(crate) dir: Dir,
    _lock: DirLock,
}

impl StageLock {
    /// Locks the stage `name` of a run that has ended; `None` if the run may be alive, or the stage is gone.
    pub(crate) fn try_take(above: &Dir, name: &Path) -> Result<Option<StageLock>, PathError> {
        // The lock of another machine may be invisible here.
        if above.network_file_system()?.is_some() {
            return Ok(None);
        }
        let Some(dir) = above.open_dir_if_there(name)? else { return Ok(None) };
        Ok(dir.try_lock()?.map(|lock| StageLock { dir, _lock: lock }))
    }
}

impl PathError {
    /// Whether the file system cannot lock directories: NFS locks only files that are open for writing.
    pub(crate) fn is_without_directory_locks(&self) -> bool {
        [Errno::BADF, Errno::OPNOTSUPP, Errno::NOSYS, Errno::INVAL].iter().any(|it| self.is(*it))
    }
}
