//! Host state: what a machine remembers outside of any collection.
//!
//! The last date of each prefix that any collection of the machine issued, and that of the IBIps of each address. So
//! two collections of one host, a clone of a collection, or a second try in another directory never give one name
//! twice. A collection's own memory protects it against power cuts. This one is synced once a second collection issues by it:
//! after a cut, nothing else tells one what the other issued last.

use std::path::PathBuf;

use super::memory::{Durable, HeldMemory, MemoryState};
use super::{Distributor, DistributorError, Notice};
use crate::disk::{Dir, LockError, PathError};
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
    memories: Vec<(HeldMemory<'a>, Durable)>,
}

/// The file beside the memory `file` with the ids of the collections that issued by it.
fn issuers_file(file: &str) -> String {
    format!("{file}.issuers")
}

/// Limit on that file: 4,000 collections.
const MAX_ISSUERS: u64 = 132 * 1024;

/// Whether the memory `file` has to outlast a power cut: `collection` is not the only one that issued by it. The caller has
/// the memory locked.
fn durability(dir: &Dir, file: &str, collection: Option<&str>) -> Result<Durable, PathError> {
    let Some(id) = collection else { return Ok(Durable::No) };
    let name = issuers_file(file);
    let found = dir.open_file_if_there(&name)?;
    let text = found.map_or(Ok(Vec::new()), |mut file| file.read_all(MAX_ISSUERS))?;
    let text = String::from_utf8_lossy(&text);
    let mut ids: Vec<_> = text.lines().collect();
    let is_new = !ids.contains(&id);
    if is_new {
        ids.push(id);
    }
    let durable = if ids.len() > 1 { Durable::Yes } else { Durable::No };
    if is_new {
        let file = dir.open_lock_file(&name)?;
        file.write_all_at(format!("{}\n", ids.join("\n")).as_bytes(), 0)?;
        if durable == Durable::Yes {
            file.sync_data()?;
            dir.sync()?;
        }
    }
    Ok(durable)
}

impl Distributor<'_> {
    /// Opens the directory of the host state, if the caller has one. A user who may not write there goes on without,
    /// which is a notice.
    pub(super) fn open_host(&self, notices: &mut Vec<Notice>) -> Result<Option<Dir>, PathError> {
        let Some(dir) = &self.host_state.dir else { return Ok(None) };
        match Dir::make_with_parents(dir, &self.dir.watcher()) {
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
            let memory = HeldMemory::lock(dir, (&file, &series), self.agent, waiter);
            let collection = self.collection.as_deref();
            match memory.and_then(|memory| Ok((memory, durability(dir, &file, collection)?))) {
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
        self.memories.iter().filter_map(|(memory, _)| memory.last()).max()
    }

    /// Whether a record may have been lost.
    pub(super) fn is_doubtful(&self) -> bool {
        let is_doubtful =
            |found: &MemoryState| matches!(found, MemoryState::Lost | MemoryState::Doubtful(_));
        self.memories.iter().any(|(memory, _)| is_doubtful(&memory.found))
    }

    /// Sets the last date.
    pub(super) fn write(
        &mut self,
        last: Option<Instant>,
        granularity: super::Setting,
    ) -> Result<(), DistributorError> {
        let mut memories = self.memories.iter_mut();
        memories.try_for_each(|(memory, durable)| memory.write(last, granularity, *durable))
    }
}
