//! Host state: what a machine remembers outside of any collection.
//!
//! The last date of each prefix that any collection of the machine issued, and that of the IBIps of each address. So
//! two collections of one host, a clone of a collection, or a second try in another directory never give one name
//! twice. A collection's own memory protects it against power cuts; this one is not synced.

use std::path::PathBuf;

use super::memory::{Durable, HeldMemory, MemoryState};
use super::{Distributor, DistributorError, Notice};
use crate::disk::{Dir, LockError, PathError, Watcher};
use crate::identity::Instant;
use crate::layout;
use crate::wait::Waiter;

/// The directory of the host state. `None` where the caller has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostState {
    /// The directory, created when it is first needed.
    pub dir: Option<PathBuf>,
}

/// The memories of the host for one prefix and its IBIps, held exclusively.
pub(super) struct HeldHost<'a> {
    memories: Vec<HeldMemory<'a>>,
}

impl Distributor<'_> {
    /// Opens the directory of the host state, if the caller has one. A user who may not write there goes on without,
    /// which is a notice.
    pub(super) fn open_host(&self, notices: &mut Vec<Notice>) -> Result<Option<Dir>, PathError> {
        let Some(dir) = &self.host_state.dir else { return Ok(None) };
        match Dir::make_with_parents(dir, &Watcher::default()) {
            Ok(dir) => Ok(Some(dir)),
            Err(error) if error.is_refusal() => {
                notices.push(self.without_host(&error));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn without_host(&self, error: &PathError) -> Notice {
        Notice::NoHostState { prefix: self.prefix.clone(), cause: error.to_string() }
    }

    /// Locks the memories of the host, as far as this user may write them.
    pub(super) fn lock_host<'d>(
        &self,
        dir: Option<&'d Dir>,
        waiter: &Waiter<'_>,
        notices: &mut Vec<Notice>,
    ) -> Result<HeldHost<'d>, DistributorError> {
        let mut held = HeldHost { memories: Vec::new() };
        let Some(dir) = dir else { return Ok(held) };
        let names = (layout::memory_file(&self.prefix), self.prefix.subsystem());
        let ibips = self.ibips.as_ref();
        let ibips = ibips.map(|it| (layout::memory_file_of_ibips(it), it.as_str().to_owned()));
        for (file, series) in [Some(names), ibips].into_iter().flatten() {
            match HeldMemory::lock(dir, (&file, &series), self.agent, waiter) {
                Ok(memory) => held.memories.push(memory),
                Err(
                    DistributorError::Disk(error) | DistributorError::Lock(LockError::Disk(error)),
                ) if error.is_refusal() => {
                    notices.push(self.without_host(&error));
                    return Ok(HeldHost { memories: Vec::new() });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(held)
    }
}

impl HeldHost<'_> {
    /// The latest date that any collection of this machine issued.
    pub(super) fn last(&self) -> Option<Instant> {
        self.memories.iter().filter_map(HeldMemory::last).max()
    }

    /// Whether a record may have been lost.
    pub(super) fn is_doubtful(&self) -> bool {
        let is_doubtful = |memory: &HeldMemory<'_>| {
            matches!(memory.found, MemoryState::Lost | MemoryState::Doubtful(_))
        };
        self.memories.iter().any(is_doubtful)
    }

    /// Sets the last date.
    pub(super) fn write(
        &mut self,
        last: Option<Instant>,
        granularity: super::Setting,
    ) -> Result<(), DistributorError> {
        self.memories.iter_mut().try_for_each(|memory| memory.write(last, granularity, Durable::No))
    }
}
