//! A repair that fails or is killed at any file operation loses no byte and can be repeated.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;
use urepo::collection::recover;
use urepo::digest::Digest;
use urepo::disk::{Operation, Watcher};
use urepo::repair::{Options, Outcome};

use super::{Pair, copy_tree, everything, flip};
use crate::support::{Faults, Mode, PATIENCE, TestClock, Trace, agent, staged};

/// An item with every kind of damage, its sidecar `with` it or not.
fn damage(pair: &Pair, with_sidecar: bool) {
    let doc = pair.item("a").join("doc");
    flip(&doc.join("a.txt"));
    fs::remove_file(doc.join("sub/b.bin")).unwrap();
    fs::write(doc.join("added"), "added").unwrap();
    if with_sidecar {
        fs::write(pair.item("a").join("item.toml"), "rot").unwrap();
    }
}

/// Repairs with the n-th operation failing, for every n, and checks the promises each time.
fn every_operation(mode: Mode, with_sidecar: bool) {
    let pair = Pair::new();
    let sidecar = pair.sidecar("a");
    damage(&pair, with_sidecar);
    copy_tree(&pair.root("a"), &pair.root("template"));
    let bytes: BTreeSet<Digest> = files_of(&pair);
    let old = everything(&pair.item("a"));
    let donor = everything(&pair.root("b"));
    let mut strikes = 0;
    for at in 1.. {
        let faults = Arc::new(Faults::new(pair.scratch.path(), at, mode));
        let watcher = Watcher::new(Arc::clone(&faults) as _);
        let outcome = pair.repair_with(&["b"], Options::default(), &watcher);
        let struck = faults.struck();
        let context = format!("{at}: {struck:?}: {:?}", outcome.as_ref().err());
        assert!(bytes.is_subset(&pair.kept()), "bytes are lost: {context}");
        if everything(&pair.item("a")) == old {
            assert!(outcome.is_err(), "{context}");
        } else {
            assert_eq!(pair.codes(), [], "neither the old item nor the mended one: {context}");
        }
        // Again, as after a crash.
        let again = pair.repair(&["b"]);
        assert!(again.is_ok(), "{again:?}: {context}");
        assert_eq!(pair.codes(), [], "{context}");
        assert_eq!(pair.sidecar("a"), sidecar, "{context}");
        let (agent, clock) = (agent(), TestClock::at("2026-11-22T00:00:00Z"));
        recover(&pair.open("a"), &agent, &clock, PATIENCE).unwrap();
        assert_eq!(staged(&pair.root("a")), [""; 0], "{context}");
        assert!(bytes.is_subset(&pair.kept()), "bytes are lost by the second run: {context}");
        assert_eq!(everything(&pair.root("b")), donor, "the donor was changed: {context}");
        if struck.is_none() {
            assert_eq!(again.unwrap(), Outcome::Sound);
            break;
        }
        strikes += 1;
        fs::remove_dir_all(pair.root("a")).unwrap();
        copy_tree(&pair.root("template"), &pair.root("a"));
    }
    assert!(strikes > 60, "only {strikes} operations were made to fail");
}

/// Power may fail at any moment: everything is on the disk before it takes the place of the old item,
/// and the swap is on the disk before anything is said.
#[test]
fn nothing_is_in_its_place_before_it_is_on_the_disk() {
    let pair = Pair::new();
    damage(&pair, true);
    let trace = Arc::new(Trace::default());
    let watcher = Watcher::new(Arc::clone(&trace) as _);
    pair.repair_with(&["b"], Options::default(), &watcher).unwrap();
    let trace = trace.0.lock().unwrap();
    let last = |wanted: &dyn Fn(Operation, &Path) -> bool| {
        trace.iter().rposition(|(operation, path)| wanted(*operation, path)).unwrap()
    };
    let year = pair.item("a").parent().unwrap().to_path_buf();
    let trash = pair.root("a").join(".urepo/trash");
    let is_staged = |path: &Path| path.starts_with(pair.root("a").join(".urepo/staging"));
    let made = last(&|operation, path| {
        let makes = [Operation::Write, Operation::MakeLink, Operation::SetAttributes];
        makes.contains(&operation) && is_staged(path)
    });
    let synced = last(&|operation, _| operation == Operation::SyncFileSystem);
    let read_back = last(&|operation, path| operation == Operation::Read && is_staged(path));
    let swapped = last(&|operation, path| operation == Operation::Rename && path == pair.item("a"));
    let year_synced =
        last(&|operation, path| operation == Operation::SyncDirectory && path == year);
    let trash_synced = last(&|operation, path| {
        operation == Operation::SyncDirectory && path.parent() == Some(&trash)
    });
    let order = [made, synced, read_back, swapped, year_synced];
    assert!(order.is_sorted(), "{order:?}\n{trace:#?}");
    assert!(swapped < trash_synced);
}

/// The digests of all that is in the damaged item.
fn files_of(pair: &Pair) -> BTreeSet<Digest> {
    super::digests_below(&pair.item("a"), |_| true)
}

#[test]
fn killed_at_any_operation() {
    every_operation(Mode::Killed, false);
}

#[test]
fn killed_at_any_operation_with_the_sidecar_lost() {
    every_operation(Mode::Killed, true);
}

#[test]
fn an_io_error_at_any_operation() {
    every_operation(Mode::Once(Errno::IO), false);
}

#[test]
fn an_io_error_at_any_operation_with_the_sidecar_lost() {
    every_operation(Mode::Once(Errno::IO), true);
}

#[test]
fn a_full_disk_at_any_operation() {
    every_operation(Mode::Once(Errno::NOSPC), false);
}
