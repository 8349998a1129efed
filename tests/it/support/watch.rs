//! Watching file operations: making the n-th fail, and recording their order.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use urepo::disk::{Operation, Watch};

/// How the n-th operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// With this error, once.
    Once(rustix::io::Errno),
    /// For good, and all later ones too: as if the process had been killed there.
    Killed,
}

/// Makes the n-th operation on a collection fail.
pub(crate) struct Faults {
    root: PathBuf,
    /// Only operations of this kind are counted; all unless given.
    only: Option<Operation>,
    at: usize,
    mode: Mode,
    seen: AtomicUsize,
    struck: Mutex<Option<(Operation, PathBuf)>>,
}

impl Faults {
    pub(crate) fn new(root: &Path, at: usize, mode: Mode) -> Faults {
        let (seen, struck) = (AtomicUsize::new(0), Mutex::default());
        Faults { root: root.into(), only: None, at, mode, seen, struck }
    }

    /// The same with the n-th operation of one kind.
    pub(crate) fn of(self, operation: Operation) -> Faults {
        Faults { only: Some(operation), ..self }
    }

    /// The operation that failed first, if it came to that.
    pub(crate) fn struck(&self) -> Option<(Operation, PathBuf)> {
        self.struck.lock().unwrap().clone()
    }
}

impl Watch for Faults {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        let counts = self.only.is_none_or(|only| only == operation);
        let step = usize::from(counts);
        let number = self.seen.fetch_add(step, Ordering::SeqCst) + step;
        let strikes = match self.mode {
            Mode::Once(_) => counts && number == self.at,
            Mode::Killed => number >= self.at,
        };
        if !strikes {
            return Ok(());
        }
        let relative = path.strip_prefix(&self.root).unwrap_or(path).to_path_buf();
        self.struck.lock().unwrap().get_or_insert((operation, relative));
        Err(match self.mode {
            Mode::Once(errno) => errno.into(),
            Mode::Killed => rustix::io::Errno::IO.into(),
        })
    }
}

/// Records what is done, in order.
#[derive(Default)]
pub(crate) struct Trace(pub Mutex<Vec<(Operation, PathBuf)>>);

impl Watch for Trace {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        self.0.lock().unwrap().push((operation, path.to_path_buf()));
        Ok(())
    }
}
