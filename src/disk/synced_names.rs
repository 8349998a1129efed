//! Directories whose own names are known to be on the disk.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fd::AsFd;
use rustix::fs::{AtFlags, StatxFlags};

use super::PathError;

/// The directories whose names this process has synced.
///
/// Another process may have made a directory a moment ago and not have synced its name yet. The first
/// time that a process relies on a directory, it therefore syncs the parent, unless the whole file system
/// was synced since the directory was expected.
#[derive(Clone, Default)]
pub(super) struct SyncedNames(Arc<Mutex<KnownDirs>>);

#[derive(Default)]
struct KnownDirs {
    synced: HashSet<Birth>,
    /// Existing directories whose names may not be synced.
    expected: HashSet<Birth>,
}

/// Device, inode and time of birth, which no two directories share.
type Birth = (u32, u32, u64, i64, u32);

impl SyncedNames {
    /// Calls `sync_parent` unless the name of the directory `dir` is known to be on the disk.
    pub(super) fn ensure(
        &self,
        dir: impl AsFd,
        sync_parent: impl FnOnce() -> Result<(), PathError>,
    ) -> Result<(), PathError> {
        let birth = birth(dir);
        if birth.is_some_and(|birth| self.known().synced.contains(&birth)) {
            return Ok(());
        }
        sync_parent()?;
        self.known().synced.extend(birth);
        Ok(())
    }

    /// Notes that the existing directory `dir` will be relied on.
    pub(super) fn expect(&self, dir: impl AsFd) {
        let birth = birth(dir);
        let mut names = self.known();
        let birth = birth.filter(|birth| !names.synced.contains(birth));
        names.expected.extend(birth);
    }

    /// Calls `sync`, which syncs the whole file system of `dir`, and with it all names expected there before.
    pub(super) fn sync_expected(
        &self,
        dir: impl AsFd,
        sync: impl FnOnce() -> Result<(), PathError>,
    ) -> Result<(), PathError> {
        let device = birth(dir).map(|(major, minor, ..)| (major, minor));
        let is_here = |(major, minor, ..): &Birth| device == Some((*major, *minor));
        let expected: Vec<_> = self.known().expected.extract_if(is_here).collect();
        sync()?;
        self.known().synced.extend(expected);
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, KnownDirs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `None` if the file system records no time of birth: without it a reused inode looks the same.
fn birth(dir: impl AsFd) -> Option<Birth> {
    let wanted = StatxFlags::INO | StatxFlags::BTIME;
    let stat = rustix::fs::statx(dir, "", AtFlags::EMPTY_PATH, wanted).ok()?;
    let found = StatxFlags::from_bits_retain(stat.stx_mask);
    found.contains(wanted).then_some((
        stat.stx_dev_major,
        stat.stx_dev_minor,
        stat.stx_ino,
        stat.stx_btime.tv_sec,
        stat.stx_btime.tv_nsec,
    ))
}
