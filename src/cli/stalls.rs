//! Names the file of a read that hangs: with a dead server or disk a run would stand still, and nothing else
//! shows where.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use urepo::disk::{Operation, Watch};

use super::printer::Printer;

/// The time after which a read is named.
const PATIENCE: Duration = Duration::from_secs(30);

/// The pause between two checks.
const INTERVAL: Duration = Duration::from_secs(5);

/// More than the threads of a run: each has a place of its own, so that none waits for another.
const PLACES: usize = 64;

thread_local! {
    static PLACE: ThreadSlot = ThreadSlot::take();
}

/// The places of threads that have ended.
static FREE: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// The place of a thread, which is free again when the thread ends: a long run starts any number of threads.
struct ThreadSlot(usize);

impl ThreadSlot {
    fn take() -> ThreadSlot {
        static TAKEN: AtomicUsize = AtomicUsize::new(0);
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        ThreadSlot(free.unwrap_or_else(|| TAKEN.fetch_add(1, Ordering::Relaxed) % PLACES))
    }
}

impl Drop for ThreadSlot {
    fn drop(&mut self) {
        FREE.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
    }
}

/// The present read of each thread.
pub(crate) struct Stalls([Mutex<PendingRead>; PLACES]);

struct PendingRead {
    operation: Operation,
    path: PathBuf,
    /// Present while it is in progress and has not been named.
    since: Option<Instant>,
}

impl Default for Stalls {
    fn default() -> Stalls {
        let nothing =
            || PendingRead { operation: Operation::Read, path: PathBuf::new(), since: None };
        Stalls(std::array::from_fn(|_| Mutex::new(nothing())))
    }
}

impl Stalls {
    /// Watches the reads of this process as long as it lives.
    pub(crate) fn watch(printer: Printer) -> Arc<Stalls> {
        let stalls = Arc::new(Stalls::default());
        let watched = Arc::clone(&stalls);
        let look = move || {
            loop {
                thread::sleep(INTERVAL);
                for warning in watched.overdue(Instant::now()) {
                    printer.warning(&warning);
                }
            }
        };
        // Without this thread, reads work as well as with it.
        let _ = thread::Builder::new().name("stalls".to_owned()).spawn(look);
        stalls
    }

    /// The present read of this thread.
    fn own(&self) -> MutexGuard<'_, PendingRead> {
        // A thread that is ending has none any more, and no longer waits for reads.
        let place = PLACE.try_with(|place| place.0).unwrap_or_default();
        self.0[place].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A warning of each read that is overdue, once.
    fn overdue(&self, now: Instant) -> Vec<String> {
        let warning = |place: &Mutex<PendingRead>| {
            let mut reading = place.lock().unwrap_or_else(PoisonError::into_inner);
            let is_overdue = |since| now.saturating_duration_since(since) >= PATIENCE;
            reading.since.take_if(|since| is_overdue(*since))?;
            let path = reading.path.display();
            let doing = match reading.operation {
                Operation::Open => "opening",
                Operation::List => "listing",
                _ => "reading",
            };
            Some(format!("{doing} `{path}` has taken {} s so far", PATIENCE.as_secs()))
        };
        self.0.iter().filter_map(warning).collect()
    }

    fn begin(&self, operation: Operation, path: &Path, since: Instant) {
        let mut reading = self.own();
        reading.operation = operation;
        reading.path.as_mut_os_string().clear();
        reading.path.push(path);
        reading.since = Some(since);
    }
}

impl Watch for Stalls {
    fn hears_of(&self, operation: Operation) -> bool {
        matches!(operation, Operation::Open | Operation::List | Operation::Read)
    }

    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        self.begin(operation, path, Instant::now());
        Ok(())
    }

    fn after(&self) {
        self.own().since = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_does_not_come_back_is_named_once() {
        let (stalls, begun) = (Stalls::default(), Instant::now());
        stalls.begin(Operation::Read, Path::new("/archive/file"), begun);
        assert_eq!(stalls.overdue(begun + PATIENCE.saturating_sub(INTERVAL)), [""; 0]);
        let named = stalls.overdue(begun + PATIENCE);
        assert_eq!(named, ["reading `/archive/file` has taken 30 s so far"]);
        assert_eq!(stalls.overdue(begun + 2 * PATIENCE), [""; 0], "it was named");
    }

    #[test]
    fn a_read_that_came_back_is_not_named() {
        let (stalls, begun) = (Stalls::default(), Instant::now());
        stalls.begin(Operation::Open, Path::new("/archive/file"), begun);
        stalls.after();
        assert_eq!(stalls.overdue(begun + PATIENCE), [""; 0]);
    }

    #[test]
    fn threads_that_have_ended_leave_their_places() {
        let (stalls, begun) = (Stalls::default(), Instant::now());
        stalls.begin(Operation::Read, Path::new("/archive/file"), begun);
        for _ in 0..2 * PLACES {
            thread::scope(|threads| {
                let other = threads.spawn(|| {
                    stalls.begin(Operation::Read, Path::new("/archive/other"), begun);
                    stalls.after();
                });
                other.join().unwrap();
            });
        }
        assert_eq!(stalls.overdue(begun + PATIENCE).len(), 1);
    }
}
