//! Watching file operations: making the n-th fail, and recording their order.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::io::Errno;
use urepo::collection::{Collection, CollectionError, Subsystem, lock_changes};
use urepo::disk::{Feature, Operation, Watch, Watcher};
use urepo::wait::Waiter;

/// The kernel and the file system that a test stands on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum System {
    /// Those of this machine.
    #[default]
    Own,
    /// A network file system: it neither swaps nor refuses names in use, and `syncfs` does nothing.
    Network,
    /// A kernel of years ago.
    Old,
    /// Those of this machine, where also few files are synced with the whole file system, as many are.
    Many,
    /// This machine's kernel, and the file system with this magic number.
    Mounted(i128),
}

impl System {
    /// The systems with other steps: those that lack something, and one that syncs everything at once.
    pub(crate) const OTHERS: [System; 3] = [System::Network, System::Old, System::Many];

    /// The operations to let fail, one after the other: all of them, or some between those of the others.
    pub(crate) fn points(self) -> impl Iterator<Item = usize> {
        let (first, step) = match self {
            System::Own | System::Mounted(_) => (1, 1),
            System::Network => (1, 6),
            System::Old => (3, 6),
            System::Many => (5, 6),
        };
        // Between two users, the faults are a sample of those of one.
        let step = if super::users::common().is_some() { 5 * step } else { step };
        (first..).step_by(step)
    }

    fn lacks(self, feature: Feature) -> Option<io::Error> {
        Some(match (self, feature) {
            (System::Own | System::Many | System::Mounted(_), _)
            | (System::Network, Feature::OpenBeneath) => return None,
            (System::Network, _) => Errno::INVAL.into(),
            (System::Old, _) => Errno::NOSYS.into(),
        })
    }

    fn file_system(self) -> Option<i128> {
        match self {
            System::Mounted(magic) => Some(magic),
            System::Own | System::Network | System::Old | System::Many => None,
        }
    }

    fn few(self) -> Option<usize> {
        (self == System::Many).then_some(0)
    }
}

/// How the n-th operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// With this error, once.
    Once(Errno),
    /// Once, with one of these errors: neighbouring operations with different ones.
    OneOf(&'static [Errno]),
    /// For good, and all later ones too: as if the process had been killed there.
    Killed,
}

impl Mode {
    /// A failing disk, or a full one.
    pub(crate) const DISK: Mode = Mode::OneOf(&[Errno::IO, Errno::NOSPC]);
    /// Whatever a file system may answer.
    pub(crate) const ANY: Mode = Mode::OneOf(&[
        Errno::IO,
        Errno::NOSPC,
        Errno::DQUOT,
        Errno::ACCESS,
        Errno::ROFS,
        Errno::MFILE,
    ]);

    /// The error of the operation number `at`. All have their turn, also where only every n-th operation
    /// is made to fail.
    fn errno(self, at: usize) -> Errno {
        match self {
            Mode::Once(errno) => errno,
            Mode::OneOf(errnos) => errnos[(at + at / errnos.len()) % errnos.len()],
            Mode::Killed => Errno::IO,
        }
    }
}

/// Makes the n-th operation on a collection fail.
pub(crate) struct Faults {
    root: PathBuf,
    /// Only operations of this kind are counted; all unless given.
    only: Option<Operation>,
    /// Only operations that change something are counted.
    changes: bool,
    at: usize,
    mode: Mode,
    system: System,
    /// Between two users, nothing strikes before a file is opened to the group: only its owner does that later.
    spares_attributes: bool,
    seen: AtomicUsize,
    struck: Mutex<Option<(Operation, PathBuf)>>,
}

impl Faults {
    pub(crate) fn new(root: &Path, at: usize, mode: Mode) -> Faults {
        let (seen, struck) = (AtomicUsize::new(0), Mutex::default());
        let (root, system) = (root.into(), System::Own);
        let spares_attributes = super::users::common().is_some();
        let (only, changes) = (None, false);
        Faults { root, only, changes, at, mode, system, spares_attributes, seen, struck }
    }

    /// The same on another system.
    pub(crate) fn on(self, system: System) -> Faults {
        Faults { system, ..self }
    }

    /// The same with the n-th operation of one kind.
    pub(crate) fn of(self, operation: Operation) -> Faults {
        Faults { only: Some(operation), ..self }
    }

    /// The same with a kill before the n-th operation that changes something: one before any other operation
    /// leaves the same on the disk. Errors strike any operation.
    pub(crate) fn of_changes(self) -> Faults {
        Faults { changes: self.mode == Mode::Killed, ..self }
    }

    /// The operation that failed first, if it came to that.
    pub(crate) fn struck(&self) -> Option<(Operation, PathBuf)> {
        self.struck.lock().unwrap().clone()
    }
}

impl Watch for Faults {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        let counts =
            self.only.is_none_or(|only| only == operation) && (!self.changes || changes(operation));
        let is_spared = self.spares_attributes && operation == Operation::SetAttributes;
        let counts = counts && !is_spared;
        let step = usize::from(counts);
        let number = self.seen.fetch_add(step, Ordering::SeqCst) + step;
        let strikes = match self.mode {
            Mode::Once(_) | Mode::OneOf(_) => counts && number == self.at,
            Mode::Killed => number >= self.at,
        };
        if !strikes {
            return Ok(());
        }
        let relative = path.strip_prefix(&self.root).unwrap_or(path).to_path_buf();
        self.struck.lock().unwrap().get_or_insert((operation, relative));
        Err(self.mode.errno(self.at).into())
    }

    fn lacks(&self, feature: Feature) -> Option<io::Error> {
        self.system.lacks(feature)
    }

    fn file_system(&self) -> Option<i128> {
        self.system.file_system()
    }

    fn few(&self) -> Option<usize> {
        self.system.few()
    }
}

/// Whether an operation leaves something else on the disk. What a lock leaves is for other tests.
fn changes(operation: Operation) -> bool {
    match operation {
        Operation::CreateFile
        | Operation::MakeDirectory
        | Operation::MakeLink
        | Operation::Write
        | Operation::SetAttributes
        | Operation::Rename
        | Operation::Remove => true,
        Operation::Open
        | Operation::List
        | Operation::Inspect
        | Operation::Read
        | Operation::SyncFile
        | Operation::SyncDirectory
        | Operation::SyncFileSystem
        | Operation::Lock => false,
    }
}

/// Records what is done, in order.
#[derive(Default)]
pub(crate) struct Trace(pub Mutex<Vec<(Operation, PathBuf)>>, System);

impl Trace {
    pub(crate) fn on(system: System) -> Trace {
        Trace(Mutex::default(), system)
    }
}

impl Watch for Trace {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        self.0.lock().unwrap().push((operation, path.to_path_buf()));
        Ok(())
    }

    fn lacks(&self, feature: Feature) -> Option<io::Error> {
        self.1.lacks(feature)
    }

    fn file_system(&self) -> Option<i128> {
        self.1.file_system()
    }

    fn few(&self) -> Option<usize> {
        self.1.few()
    }
}

/// Somebody who makes a directory just before the process does.
pub(crate) struct Quicker(pub(crate) PathBuf);

impl Watch for Quicker {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        if operation == Operation::MakeDirectory && path == self.0 {
            std::fs::create_dir(path)?;
        }
        Ok(())
    }
}

/// Somebody who makes a collection at a root just before the process makes urepo's own directory there.
pub(crate) struct QuickerFounder(pub(crate) PathBuf);

impl Watch for QuickerFounder {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        if operation == Operation::MakeDirectory && path == self.0.join(".urepo") {
            let subsystem = Subsystem::new("quicker.example.org".parse().unwrap());
            super::init(&self.0, "quicker", subsystem, &Watcher::default()).unwrap();
        }
        Ok(())
    }
}

/// Whether another collection is locked when something is renamed to a path.
pub(crate) struct LockedAt {
    pub(crate) path: PathBuf,
    pub(crate) other: Collection,
    pub(crate) locked: AtomicBool,
}

impl Watch for LockedAt {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        if operation == Operation::Rename && path == self.path {
            let impatient = Waiter::default().up_to(Duration::ZERO);
            let refused = lock_changes([&self.other], &super::agent(), &impatient);
            let is_locked = matches!(refused, Err(CollectionError::Locked { .. }));
            self.locked.store(is_locked, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Everything on the file system with this magic number.
pub(crate) fn mounted(magic: i128) -> Watcher {
    let nothing_fails = Faults::new(Path::new(""), usize::MAX, Mode::Killed);
    Watcher::new(Arc::new(nothing_fails.on(System::Mounted(magic))))
}

/// A watcher that does `act` in place of one operation on one path, or before it.
struct On<F> {
    operation: Operation,
    path: PathBuf,
    act: F,
}

impl<F: Fn() -> io::Result<()> + Send + Sync> Watch for On<F> {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        if operation == self.operation && path == self.path { (self.act)() } else { Ok(()) }
    }
}

/// Does `act` in place of `operation` on `path`, or before it.
pub(crate) fn on(
    operation: Operation,
    path: &Path,
    act: impl Fn() -> io::Result<()> + Send + Sync + 'static,
) -> Watcher {
    Watcher::new(Arc::new(On { operation, path: path.to_path_buf(), act }))
}

/// A disk that can be read only.
pub(crate) struct ReadOnly;

impl Watch for ReadOnly {
    fn before(&self, operation: Operation, _: &Path) -> io::Result<()> {
        match operation {
            Operation::MakeDirectory | Operation::CreateFile | Operation::Write => {
                Err(Errno::ROFS.into())
            }
            _ => Ok(()),
        }
    }
}
