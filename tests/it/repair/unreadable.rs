//! What can not be read is neither absent nor good, and decides nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::io::Errno;
use urepo::disk::{Operation, Watch, Watcher};
use urepo::repair::{Options, Outcome, RepairError, Unsealed};

use super::{Pair, everything, flip};

/// A path that can not be opened until the mended item takes its place.
struct Rotten {
    path: PathBuf,
    errno: Errno,
    replaced: AtomicBool,
    struck: AtomicBool,
}

impl Rotten {
    fn new(path: PathBuf) -> Arc<Rotten> {
        Rotten::with(path, Errno::IO)
    }

    fn with(path: PathBuf, errno: Errno) -> Arc<Rotten> {
        let (replaced, struck) = (AtomicBool::default(), AtomicBool::default());
        Arc::new(Rotten { path, errno, replaced, struck })
    }
}

impl Watch for Rotten {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        if operation == Operation::Rename && self.path.starts_with(path) {
            self.replaced.store(true, Ordering::SeqCst);
        }
        if operation == Operation::Open
            && path == self.path
            && !self.replaced.load(Ordering::SeqCst)
        {
            self.struck.store(true, Ordering::SeqCst);
            return Err(self.errno.into());
        }
        Ok(())
    }
}

fn repair(pair: &Pair, donors: &[&str], rotten: &Arc<Rotten>) -> Result<Outcome, RepairError> {
    let options = Options::default();
    let outcome = pair.repair_with(donors, options, &Watcher::new(Arc::clone(rotten) as _));
    assert!(rotten.struck.load(Ordering::SeqCst), "it did not come to that");
    outcome
}

/// It may hold the Original, so it has a say where the item's own sidecar has none.
#[test]
fn a_donor_that_can_not_be_read_is_reported_where_it_has_a_say() {
    let pair = Pair::new();
    pair.add_copy("c");
    let theirs = pair.item("b").join("item.toml");
    let rotten = Rotten::new(theirs.clone());
    flip(&pair.item("a").join("doc/a.txt"));
    let outcome = repair(&pair, &["b", "c"], &rotten);
    assert!(matches!(outcome, Ok(Outcome::Repaired(_))), "{outcome:?}");

    fs::write(pair.item("a").join("item.toml"), "rot").unwrap();
    match repair(&pair, &["b", "c"], &Rotten::new(theirs.clone())) {
        Err(RepairError::Disk(error)) => assert_eq!(error.path(), theirs),
        outcome => panic!("{outcome:?}"),
    }
    pair.repair(&["c"]).unwrap();
    assert_eq!(pair.codes(), []);
}

/// An item whose payload can not be listed has not been deleted.
#[test]
fn a_payload_that_can_not_be_entered_is_there() {
    let pair = Pair::new();
    fs::remove_dir_all(pair.root("a").join(".urepo/ledger")).unwrap();
    fs::write(pair.item("a").join("item.toml"), "rot").unwrap();
    let rotten = Rotten::new(pair.item("a").join("doc"));
    let outcome = repair(&pair, &["b"], &rotten);
    assert!(matches!(outcome, Ok(Outcome::Repaired(_))), "{outcome:?}");
    assert_eq!(pair.codes(), []);
}

/// Nobody has it in a better state, so it keeps its place.
#[test]
fn a_file_that_can_not_be_opened_stays() {
    let pair = Pair::new();
    let damaged = pair.item("a").join("doc/a.txt");
    flip(&damaged);
    let bytes = fs::read(&damaged).unwrap();
    fs::write(pair.item("a").join("doc/added"), "added").unwrap();
    repair(&pair, &[], &Rotten::new(damaged.clone())).unwrap();
    assert!(!pair.item("a").join("doc/added").exists());
    assert_eq!(fs::read(&damaged).unwrap(), bytes);
}

/// A person has edited its sidecar, which an error on the way to a file does not undo.
#[test]
fn what_is_to_be_sealed_is_not_replaced_for_a_file_that_can_not_be_read() {
    let options = Options { unsealed: Unsealed::Seal };
    for at in ["doc", "doc/sub", "doc/a.txt"] {
        let pair = Pair::new();
        let sidecar = pair.item("a").join("item.toml");
        let edited = fs::read_to_string(&sidecar).unwrap().replace("A report", "A letter");
        fs::write(&sidecar, &edited).unwrap();
        let rotten = Rotten::new(pair.item("a").join(at));
        match pair.repair_with(&["b"], options, &Watcher::new(Arc::clone(&rotten) as _)) {
            Err(RepairError::Disk(error)) => assert_eq!(error.path(), rotten.path),
            outcome => panic!("{outcome:?}"),
        }
        assert_eq!(fs::read_to_string(&sidecar).unwrap(), edited);
        // Nor for one that has other bytes.
        flip(&pair.item("a").join("doc/a.txt"));
        let refused = pair.repair_with(&["b"], options, &Watcher::default());
        assert!(matches!(refused, Err(RepairError::MoreDiffers { .. })), "{refused:?}");
        assert_eq!(fs::read_to_string(&sidecar).unwrap(), edited);
    }
}

/// Another user has closed it, which says nothing of what is in it: nothing is taken from donors in its place.
#[test]
fn what_is_closed_to_this_user_is_not_damaged() {
    for (closed, plant) in [("a.txt", "added"), ("sub", "added"), ("sub/b.bin", "sub/added")] {
        let pair = Pair::new();
        let doc = pair.item("a").join("doc");
        fs::write(doc.join(plant), "added").unwrap();
        let before = everything(&pair.item("a"));
        let rotten = Rotten::with(doc.join(closed), Errno::ACCESS);
        match repair(&pair, &["b"], &rotten) {
            Err(RepairError::Disk(error)) => assert_eq!(error.path(), doc.join(closed)),
            outcome => panic!("{outcome:?}"),
        }
        assert_eq!(everything(&pair.item("a")), before);
    }
}

/// How often a file is read from.
struct Reads(PathBuf, AtomicUsize);

impl Watch for Reads {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        if operation == Operation::Read && path == self.0 {
            self.1.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }
}

/// A hole of any size in a file of five bytes is not read to its end.
#[test]
fn a_file_that_is_too_large_is_not_read() {
    let pair = Pair::new();
    let path = pair.item("a").join("doc/a.txt");
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 26).unwrap();
    let reads = Arc::new(Reads(path.clone(), AtomicUsize::default()));
    let watcher = Watcher::new(Arc::clone(&reads) as _);
    pair.repair_with(&["b"], Options::default(), &watcher).unwrap();
    assert_eq!(pair.codes(), []);
    assert_eq!(fs::read(&path).unwrap(), b"alpha");
    assert_eq!(reads.1.load(Ordering::SeqCst), 0);
}
