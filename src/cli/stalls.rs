//! Names the file on which a read does not come back: with a dead server or disk a run would stand still, and
//! nothing else says where.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use urepo::disk::{Operation, Watch};

use super::printer::Printer;

/// A read that takes longer is named.
const PATIENCE: Duration = Duration::from_secs(30);

/// The pause between two looks.
const INTERVAL: Duration = Duration::from_secs(5);

/// What each thread reads now.
#[derive(Default)]
pub(crate) struct Stalls(Mutex<HashMap<ThreadId, Reading>>);

struct Reading {
    operation: Operation,
    path: PathBuf,
    since: Instant,
    is_named: bool,
}

impl Stalls {
    /// Looks at the reads of this process as long as it lives.
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

    /// A warning of each read that is overdue, once.
    fn overdue(&self, now: Instant) -> Vec<String> {
        let mut readings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_overdue = |reading: &&mut Reading| {
            !reading.is_named && now.saturating_duration_since(reading.since) >= PATIENCE
        };
        let name = |reading: &mut Reading| {
            reading.is_named = true;
            let path = reading.path.display();
            let doing = match reading.operation {
                Operation::Open => "opening",
                Operation::List => "listing",
                _ => "reading",
            };
            format!("{doing} `{path}` has taken {} s so far", PATIENCE.as_secs())
        };
        readings.values_mut().filter(is_overdue).map(name).collect()
    }

    fn begin(&self, operation: Operation, path: &Path, since: Instant) {
        let reading = Reading { operation, path: path.to_path_buf(), since, is_named: false };
        let mut readings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        readings.insert(thread::current().id(), reading);
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
        let mut readings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        readings.remove(&thread::current().id());
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
}
