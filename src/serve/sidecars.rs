//! Sidecars that stay in memory: each version is read once, however many requests need it.
//!
//! The sidecar of 100,000 files has 18 MB. Reading it takes a second, and a reader who clicks through such an item needs it for
//! each click.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use toml::{Table, Value};

use crate::collection::{CollectionError, KeptSidecar, SidecarCache};
use crate::disk::Version;
use crate::item::{Content, Entry};
use crate::sidecar::Sidecar;

/// Bytes of all that are kept. The last one stays, however large it is.
const MOST: usize = 64 * 1024 * 1024;

/// Sidecars that are read at a time. Each one may take 128 MiB of text through the memory.
const AT_A_TIME: usize = 4;

/// The sidecars of all archives of a process, by the directory of their item.
#[derive(Debug, Default)]
pub(super) struct Sidecars {
    state: Mutex<SidecarState>,
    /// A reading has ended, for threads and for requests without one.
    ended: Condvar,
    ended_for_requests: Notify,
}

#[derive(Debug, Default)]
struct SidecarState {
    kept: HashMap<PathBuf, Kept>,
    /// The directories whose sidecars are being read.
    reading: HashSet<PathBuf>,
    /// Bytes of all that are kept.
    bytes: usize,
    /// Counts the uses.
    uses: u64,
}

#[derive(Debug)]
struct Kept {
    sidecar: Arc<KeptSidecar>,
    bytes: usize,
    last_use: u64,
}

/// The turn to read a sidecar, given back even if the reading panics.
struct ReadingTurn<'a> {
    sidecars: &'a Sidecars,
    path: &'a Path,
}

impl Drop for ReadingTurn<'_> {
    fn drop(&mut self) {
        self.sidecars.lock().reading.remove(self.path);
        self.sidecars.ended.notify_all();
        self.sidecars.ended_for_requests.notify_waiters();
    }
}

impl SidecarCache for Sidecars {
    fn sidecar(
        &self,
        path: &Path,
        version: Version,
        read: &dyn Fn() -> Result<KeptSidecar, CollectionError>,
    ) -> Result<Arc<KeptSidecar>, CollectionError> {
        let mut state = self.lock();
        loop {
            if let Some(kept) = state.find(path, version) {
                return Ok(kept);
            }
            if state.reading.len() < AT_A_TIME && !state.reading.contains(path) {
                break;
            }
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.reading.insert(path.to_owned());
        drop(state);
        let turn = ReadingTurn { sidecars: self, path };
        let mut read = read()?;
        // It is never given out, and may have a line for each file.
        read.sidecar.origin = Table::new();
        let read = Arc::new(read);
        self.lock().insert(path, Arc::clone(&read));
        drop(turn);
        Ok(read)
    }
}

impl Sidecars {
    /// Returns when the sidecar of the item at `path` is not being read. A request that waits here takes no thread from others.
    pub(super) async fn until_read(&self, path: &Path) {
        loop {
            let ended = self.ended_for_requests.notified();
            if !self.lock().reading.contains(path) {
                return;
            }
            ended.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, SidecarState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SidecarState {
    fn find(&mut self, path: &Path, version: Version) -> Option<Arc<KeptSidecar>> {
        self.uses += 1;
        let kept = self.kept.get_mut(path).filter(|kept| kept.sidecar.version == version)?;
        kept.last_use = self.uses;
        Some(Arc::clone(&kept.sidecar))
    }

    fn insert(&mut self, path: &Path, sidecar: Arc<KeptSidecar>) {
        let (bytes, last_use) = (size(&sidecar.sidecar), self.uses);
        self.bytes += bytes;
        if let Some(before) = self.kept.insert(path.to_owned(), Kept { sidecar, bytes, last_use }) {
            self.bytes -= before.bytes;
        }
        if self.bytes <= MOST {
            return;
        }
        // A quarter goes at a time, so that a full cache is not sorted for each new sidecar.
        let mut others: Vec<_> =
            self.kept.iter().map(|(at, it)| (it.last_use, at.clone())).collect();
        others.retain(|(_, at)| at != path);
        others.sort_unstable();
        for (_, at) in others {
            if self.bytes <= MOST / 4 * 3 {
                break;
            }
            self.bytes -= self.kept.remove(&at).map_or(0, |kept| kept.bytes);
        }
    }
}

/// The memory that a sidecar takes, about.
fn size(sidecar: &Sidecar) -> usize {
    /// Of an allocation, beside its bytes.
    const ALLOCATION: usize = 16;
    let of_entry = |entry: &Entry| {
        let target = match &entry.content {
            Content::Link { target } => target.len() + ALLOCATION,
            Content::File { .. } | Content::EmptyDirectory { .. } => 0,
        };
        size_of::<Entry>() + entry.path.as_bytes().len() + ALLOCATION + target
    };
    let entries: usize = sidecar.files.iter().map(of_entry).sum();
    let tables = of_table(sidecar.metadata.table()) + of_table(sidecar.relations.table());
    size_of::<Kept>() + size_of::<Sidecar>() + entries + tables
}

fn of_table(table: &Table) -> usize {
    table.iter().map(|(key, value)| size_of::<String>() + key.len() + of_value(value)).sum()
}

fn of_value(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::String(text) => text.len(),
            Value::Array(values) => values.iter().map(of_value).sum(),
            Value::Table(table) => of_table(table),
            _ => 0,
        }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::custody::{Custody, CustodyId};
    use crate::identity::RepositoryName;
    use crate::item::{PayloadPath, Totals};
    use crate::sidecar::{Files, Seal};

    fn version(number: u8) -> Version {
        Version::from_bytes([number; 32])
    }

    fn sidecar(files: usize, number: u8) -> KeptSidecar {
        let entry = |number| Entry {
            path: PayloadPath::from_text(&format!("{number:0>100}")).unwrap(),
            content: Content::Link { target: Vec::new() },
        };
        let entries: Vec<_> = (0..files).map(entry).collect();
        let name = "example.org/a/2026/11.21.02.13".parse().unwrap();
        let custody = Custody::first(CustodyId::from([0; 8]), "");
        let sidecar = Sidecar {
            payload: Totals::of(&entries),
            files: Files::from(entries),
            ..Sidecar::of_name(name, custody)
        };
        KeptSidecar { sidecar, seal: Seal::Intact, version: version(number) }
    }

    fn place(number: usize) -> PathBuf {
        format!("/root/{number}").into()
    }

    #[test]
    fn a_version_is_read_once_while_others_wait() {
        let (sidecars, readings, begin) =
            (Sidecars::default(), AtomicUsize::new(0), Barrier::new(8));
        let read = || {
            readings.fetch_add(1, Ordering::Relaxed);
            Ok(sidecar(1000, 1))
        };
        std::thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    begin.wait();
                    let found = sidecars.sidecar(&place(1), version(1), &read).unwrap();
                    assert_eq!(found.sidecar.files.len(), 1000);
                });
            }
        });
        assert_eq!(readings.load(Ordering::Relaxed), 1);
        // A new version is read, and takes the place of the old one.
        let again = || {
            readings.fetch_add(1, Ordering::Relaxed);
            Ok(sidecar(1, 2))
        };
        for _ in 0..2 {
            let found = sidecars.sidecar(&place(1), version(2), &again).unwrap();
            assert_eq!(found.sidecar.files.len(), 1);
        }
        assert_eq!((readings.load(Ordering::Relaxed), sidecars.lock().kept.len()), (2, 1));
        assert!(sidecars.lock().bytes < 10_000, "the old one counts no more");
    }

    #[test]
    fn a_failed_reading_lets_the_next_one_try() {
        let sidecars = Sidecars::default();
        let name = "example.org/a/2026/11.21.02.13".parse().unwrap();
        let failed = || Err(CollectionError::NoSidecar { name: RepositoryName::clone(&name) });
        assert!(sidecars.sidecar(&place(1), version(1), &failed).is_err());
        assert!(sidecars.sidecar(&place(1), version(1), &|| Ok(sidecar(1, 1))).is_ok());
        assert!(sidecars.lock().reading.is_empty());
    }

    #[test]
    fn the_memory_is_bounded_and_what_is_used_stays() {
        let sidecars = Sidecars::default();
        let get = |number: usize, files: usize| {
            let read = AtomicUsize::new(0);
            let kept = sidecars.sidecar(&place(number), version(1), &|| {
                read.fetch_add(1, Ordering::Relaxed);
                Ok(sidecar(files, 1))
            });
            kept.unwrap();
            read.into_inner() == 1
        };
        let of_one = size(&sidecar(10_000, 1).sidecar);
        let fit = MOST / of_one;
        assert!(get(0, 10_000));
        for number in 1..=fit * 2 {
            assert!(get(number, 10_000), "{number}");
            assert!(!get(0, 10_000), "it is used all the time: {number}");
            let state = sidecars.lock();
            assert!(state.bytes <= MOST && state.kept.len() <= fit, "{}", state.bytes);
        }
        // One that is larger than all of the room is kept alone.
        let files = MOST / 100;
        assert!(get(1_000_000, files) && !get(1_000_000, files));
        assert_eq!(sidecars.lock().kept.len(), 1);
    }

    /// At most four at a time, and the fifth begins when one of them ends.
    #[test]
    fn few_are_read_at_a_time() {
        let (sidecars, running, most) =
            (Sidecars::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        let begun = Barrier::new(AT_A_TIME);
        std::thread::scope(|threads| {
            for number in 0..AT_A_TIME * 3 {
                let (sidecars, running, most, begun) = (&sidecars, &running, &most, &begun);
                threads.spawn(move || {
                    let read = || {
                        most.fetch_max(
                            running.fetch_add(1, Ordering::SeqCst) + 1,
                            Ordering::SeqCst,
                        );
                        // It passes when as many as may have begun.
                        begun.wait();
                        running.fetch_sub(1, Ordering::SeqCst);
                        Ok(sidecar(1, 1))
                    };
                    sidecars.sidecar(&place(number), version(1), &read).unwrap();
                });
            }
        });
        assert_eq!(most.load(Ordering::SeqCst), AT_A_TIME);
    }
}
